use lab::{Control, Lab, LabError, Luck, State, Tried, Try};
use wire::{Batch, Key, OnMore, PowerOn, Seed, Segment};

use crate::chance::Chance;
use crate::tree::Tree;
use crate::walker::Report;

/// Outcomes tried before each decision, and how many at once.
const OUTCOMES: usize = 192;
const ROUND: usize = 32;
/// Keys that a scout goes on with from each outcome.
const KEYS: u32 = 80;

/// What the hero may do next.
const ACTIONS: [(&str, Action); 6] = [
    ("explore", Action::Policy("scout", 20)),
    ("stroll", Action::Policy("walk", 20)),
    ("down", Action::Keys(b"_>.>")),
    ("back", Action::Keys(b"_<.")),
    ("search", Action::Keys(b"8s")),
    ("rest", Action::Keys(b"20s")),
];

/// How an action is done.
#[derive(Clone, Copy)]
enum Action {
    /// Keys, after whatever prompt there is was left.
    Keys(&'static [u8]),
    /// A policy, and how many keys it may press.
    Policy(&'static str, u32),
}

/// What was decided, and where it led to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decision {
    pub(crate) report: Report,
    pub(crate) turn: i64,
    pub(crate) choice: &'static str,
    /// Visits and value (in hundredths) of the three actions that were tried most.
    pub(crate) values: Vec<(&'static str, u32, u32)>,
}

/// A game that was planned.
pub(crate) struct Plan {
    pub(crate) end: State,
    pub(crate) decisions: Vec<Decision>,
}

/// Plays until `budget` lines are used or the game ends.
pub(crate) fn plan(lab: &Lab, seed: u64, budget: usize) -> Result<Plan, LabError> {
    let mut here = lab.begin(PowerOn::from_seed(Seed(seed)))?;
    let mut chance = Chance::new(seed);
    let mut decisions = Vec::new();
    // Each outcome costs its own line and a scout's; each decision is played once.
    let cost = 2 * OUTCOMES + 1;
    for _ in 0..budget / cost {
        let values = ponder(lab, &here, &mut chance)?;
        let mut order: Vec<usize> = (0..ACTIONS.len()).collect();
        order.sort_by_key(|&action| std::cmp::Reverse(values[action].0));
        let (choice, _) = ACTIONS[order[0]];
        // The game's own luck, which no outcome has shown.
        let played = lab.try_lines(&[act(&here, order[0], &mut chance).framed()], &Control::default())?.remove(0);
        let Some(state) = played.state.clone() else { break };
        here = state;
        let told = order.iter().take(3).map(|&action| {
            let (visits, value) = values[action];
            (ACTIONS[action].0, visits, (value * 100.0) as u32)
        });
        let report = played.frame().map_or_else(Report::default, |frame| Report::of(&frame));
        decisions.push(Decision { report, turn: played.turn, choice, values: told.collect() });
        if played.ended.is_some() {
            break;
        }
    }
    Ok(Plan { end: here, decisions })
}

/// Visits and value of each action from a state.
fn ponder(lab: &Lab, here: &State, chance: &mut Chance) -> Result<Vec<(u32, f64)>, LabError> {
    let mut tree = Tree::new(here.clone(), ACTIONS.len());
    for _ in 0..OUTCOMES / ROUND {
        let leaves: Vec<_> = (0..ROUND).map(|_| tree.select()).collect();
        let throws: Vec<Try> =
            leaves.iter().map(|leaf| act(&leaf.state, leaf.action, chance).with_luck(throw(chance))).collect();
        let outcomes = lab.try_lines(&throws, &Control::default())?;
        // From where the game has ended nobody walks on; the others keep their order.
        let alive = outcomes.iter().filter_map(|outcome| outcome.state.as_ref().filter(|_| outcome.ended.is_none()));
        let walks: Vec<Try> =
            alive.map(|state| Try::policy(state, "scout", chance.next().to_le_bytes(), KEYS)).collect();
        let mut walked = lab.try_lines(&walks, &Control::default())?.into_iter();
        for (leaf, outcome) in leaves.iter().zip(outcomes) {
            let state = outcome.state.filter(|_| outcome.ended.is_none());
            let value = if state.is_some() { walked.next().map_or(0.0, |walk| value(&walk)) } else { 0.0 };
            tree.learn(leaf, state, value);
        }
    }
    Ok(tree.values())
}

fn act(from: &State, action: usize, chance: &mut Chance) -> Try {
    match ACTIONS[action].1 {
        Action::Policy(name, keys) => Try::policy(from, name, chance.next().to_le_bytes(), keys).kept(),
        Action::Keys(keys) => {
            let keys = [0x1b].iter().chain(keys).map(|&byte| Key(byte)).collect();
            let segments = vec![Segment { keys, expect: None }];
            Try::batch(from, Batch { segments, on_more: OnMore::Dismiss, force: false, turns_max: Some(60) }).kept()
        }
    }
}

fn throw(chance: &mut Chance) -> Luck {
    Luck::Reseed { core: Seed(chance.next()), display: Seed(chance.next()) }
}

/// How good the end of a walk is: nothing for the dead.
fn value(walk: &Tried) -> f64 {
    let Some(report) = Report::from_bytes(&walk.outcome).filter(|_| walk.ended.is_none()) else { return 0.0 };
    let health = f64::from(report.hp) / f64::from(report.hp_max.max(1));
    let known = f64::from(report.known.min(1_000)) / 1_000.0;
    f64::from(report.depth) + known + f64::from(report.experience) * 0.2 + health * 0.5
}
