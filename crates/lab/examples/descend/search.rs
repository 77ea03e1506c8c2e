use std::collections::BTreeSet;

use lab::{Control, Lab, LabError, State, Tried, Try};
use wire::{Batch, Frame, Key, OnMore, PendingKind, PowerOn, Seed, Segment};

use crate::chance::Chance;
use crate::map::{DIRECTIONS, Map};

/// Lines of one round.
const ROUND: usize = 32;
/// Steps of one line.
const STEPS: usize = 40;
/// Rounds without gain after which it goes back a little.
const PATIENCE: usize = 12;

/// The glyph of the stone that nobody has looked at.
const STONE: i16 = 2359;

/// What a descent has come to.
pub(crate) struct Descent {
    pub(crate) best: State,
    pub(crate) stages: Vec<Stage>,
}

/// When it first came to a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stage {
    pub(crate) depth: i32,
    pub(crate) turn: i64,
    pub(crate) inputs: u64,
    pub(crate) hp: i32,
    /// Lines tried by then, and how many of them ended the game.
    pub(crate) lines: usize,
    pub(crate) deaths: usize,
}

/// Where the descent stands.
#[derive(Clone)]
struct Stand {
    state: State,
    frame: Frame,
    score: i64,
}

/// Goes down as far as `budget` lines lead.
pub(crate) fn descend(lab: &Lab, seed: u64, budget: usize) -> Result<Descent, LabError> {
    let state = lab.begin(PowerOn::from_seed(Seed(seed)))?;
    let frame = lab.look(&state)?;
    let mut here = Stand { score: score(&frame), state, frame };
    let mut best = here.clone();
    let mut trail = vec![here.clone()];
    let mut chance = Chance::new(seed);
    // Places that were tried and gave nothing.
    let mut dull = BTreeSet::new();
    let (mut stages, mut lines, mut deaths, mut patience) = (Vec::new(), 0, 0, PATIENCE);
    while lines < budget {
        let round = candidates(&here, &dull, &mut chance, ROUND.min(budget - lines));
        let tries: Vec<Try> = round.iter().map(|keys| line(&here, keys)).collect();
        let tried = lab.try_lines(&tries, &Control::default())?;
        lines += tries.len();
        deaths += tried.iter().filter(|tried| tried.ended.is_some()).count();
        let stands: Vec<Stand> = tried.iter().filter_map(stand).collect();
        let Some(next) = choice(stands, &here, &mut chance) else {
            here = back(&mut trail);
            continue;
        };
        if next.score > here.score {
            patience = PATIENCE;
        } else {
            dull.insert(place(&here.frame));
            patience -= 1;
        }
        if next.score > best.score {
            if depth(&next.frame) > depth(&best.frame) {
                let hp = next.frame.status.as_ref().map_or(0, |status| status.hp);
                let (turn, inputs) = (next.frame.turn, next.state.boundary().0);
                stages.push(Stage { depth: depth(&next.frame), turn, inputs, hp, lines, deaths });
            }
            best = next.clone();
        }
        here = if patience == 0 { back(&mut trail) } else { next };
        patience = if patience == 0 { PATIENCE } else { patience };
        trail.push(here.clone());
    }
    Ok(Descent { best: best.state, stages })
}

/// The best stand, where it is a gain; one of those that time has led to otherwise.
fn choice(mut stands: Vec<Stand>, here: &Stand, chance: &mut Chance) -> Option<Stand> {
    // The first of the best, so that the choice depends on nothing but the lines.
    let best = (0..stands.len()).rev().max_by_key(|&index| stands[index].score)?;
    if stands[best].score > here.score {
        return Some(stands.swap_remove(best));
    }
    stands.retain(|stand| stand.frame.turn > here.frame.turn);
    let index = chance.below(stands.len());
    (index < stands.len()).then(|| stands.swap_remove(index))
}

/// A stand some steps ago.
fn back(trail: &mut Vec<Stand>) -> Stand {
    let keep = trail.len().saturating_sub(6).max(1);
    trail.truncate(keep);
    trail[keep - 1].clone()
}

fn line(here: &Stand, keys: &[u8]) -> Try {
    let free = here.frame.pending.as_ref().is_some_and(|pending| pending.kind == PendingKind::Command);
    let escape = (!free).then_some(Key::ESC);
    let keys = escape.into_iter().chain(keys.iter().map(|&byte| Key(byte))).collect();
    // Keys that the game does not take for what they are meant as stop the line.
    let segments = vec![Segment { keys, expect: None }];
    let batch = Batch { segments, on_more: OnMore::Dismiss, force: false, turns_max: Some(200) };
    Try::batch(&here.state, batch).kept().framed()
}

fn stand(tried: &Tried) -> Option<Stand> {
    let (state, frame) = (tried.state.clone()?, tried.frame()?);
    tried.ended.is_none().then(|| Stand { score: score(&frame), state, frame })
}

/// Depth above all, then what is known of the level, then health.
fn score(frame: &Frame) -> i64 {
    let Some(status) = &frame.status else { return 0 };
    let known = frame.glyphs.iter().filter(|&&glyph| glyph != STONE).count() as i64;
    let health = i64::from(status.hp) * 100 / i64::from(status.hp_max.max(1));
    i64::from(status.depth) * 100_000 + known * 20 + health * 4 - frame.turn / 10
}

fn depth(frame: &Frame) -> i32 {
    frame.status.as_ref().map_or(0, |status| status.depth)
}

fn place(frame: &Frame) -> (i32, u8, u8) {
    let (row, column) = frame.hero.map_or((0, 0), |hero| (hero.row, hero.column));
    (depth(frame), row, column)
}

/// Keys worth trying: down, to what is not known yet, at what stands in the way, and something at random.
fn candidates(here: &Stand, dull: &BTreeSet<(i32, u8, u8)>, chance: &mut Chance, count: usize) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = vec![b"_>.>".to_vec(), b"10s".to_vec(), b"25s".to_vec()];
    if let Some(map) = Map::read(&here.frame) {
        lines.extend(map.way_down().map(|keys| [keys, b">".to_vec()].concat()));
        lines.extend(map.foes().iter().map(|&key| [b'F', key].repeat(3)));
        for (index, (_, mut keys)) in map.frontiers(12).into_iter().enumerate() {
            keys.truncate(STEPS);
            // Once to open what is closed there, then in and on.
            keys.extend(keys.last().copied().into_iter().flat_map(|key| [key; 3]));
            // Now and then it looks for what is hidden at the end of the way.
            keys.extend(if index % 4 == 3 { &b"15s"[..] } else { b"" });
            lines.push(keys);
        }
        if dull.contains(&place(&here.frame)) {
            // Somewhere else on the level, to search there.
            let goal = chance.next();
            let ways = map.ways(|place| (place as u64).wrapping_mul(goal | 1) >> 58 == 0, 6);
            lines.extend(ways.into_iter().map(|(_, keys)| [keys, b"20s".to_vec()].concat()));
        }
    }
    while lines.len() < count {
        lines.push(runs(chance));
    }
    lines.truncate(count);
    lines
}

/// Some runs at random, with a kick at what does not open.
fn runs(chance: &mut Chance) -> Vec<u8> {
    let mut keys = Vec::new();
    for _ in 0..=chance.below(4) {
        let (key, ..) = DIRECTIONS[chance.below(DIRECTIONS.len())];
        match chance.below(8) {
            0 => keys.extend([0x04, key]),
            _ => keys.push(key.to_ascii_uppercase()),
        }
    }
    keys
}
