//! Eight futures of one boundary.
#![expect(clippy::disallowed_methods, reason = "tells how long it took")]

use std::time::Instant;

use lab::{Lab, Luck, Snapshot};
use wire::{EndKind, Key, Message, Seed};

use crate::demo::stage::Stage;
use crate::explorer::Explorer;

/// Keys played on each fork.
const FORK_KEYS: usize = 300;

/// A future that was tried.
pub(super) struct Fork {
    pub(super) name: String,
    pub(super) luck: Luck,
    pub(super) keys: Vec<Key>,
    pub(super) snapshot: Snapshot,
    player: String,
    /// The explorer went on as it would have done on main.
    explorer_is_main: bool,
    turns: i64,
    /// What is worth telling.
    met: Vec<String>,
}

/// What a fork is to try.
struct Plan {
    name: String,
    luck: Luck,
    player: Option<Seed>,
}

fn plans() -> Vec<Plan> {
    (1..=8_u64)
        .map(|number| {
            let same_luck = number <= 4;
            let luck = Luck::Reseed { core: Seed(1_000 + number), display: Seed(2_000 + number) };
            Plan {
                name: format!("f{number}"),
                luck: if same_luck { Luck::Same } else { luck },
                player: (same_luck && number > 1).then_some(Seed(number)),
            }
        })
        .collect()
}

/// Forks the main machine eight times and plays all forks at once.
pub(super) fn explore(lab: &Lab, stage: &Stage, main: &Snapshot, explorer: &Explorer) -> anyhow::Result<Vec<Fork>> {
    stage.title(&format!("2. Eight forks from boundary {}, {FORK_KEYS} keys each", main.boundary));
    stage.say(
        "Same luck: the random numbers that main itself will draw, so f1 is main's own future. New luck: other random numbers \
         from here on, to plan against chance instead of peeking.",
    );
    let started = Instant::now();
    let results: Vec<anyhow::Result<Fork>> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            plans().into_iter().map(|plan| scope.spawn(move || play(lab, main, explorer.clone(), plan))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let forks = results.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    let keys: usize = forks.iter().map(|fork| fork.keys.len()).sum();
    let seconds = started.elapsed().as_secs_f64();
    stage.table(&HEADINGS, &forks.iter().map(row).collect::<Vec<_>>());
    stage.say(&format!(
        "{keys} keys, each with its whole frame read by the explorer, in {seconds:.2} s over {} workers.",
        lab.info().workers
    ));
    Ok(forks)
}

fn play(lab: &Lab, main: &Snapshot, mut explorer: Explorer, plan: Plan) -> anyhow::Result<Fork> {
    let fork = lab.fork(main.machine, Some(main.boundary), plan.luck, 1)?.pop();
    let mut snapshot = fork.ok_or_else(|| anyhow::anyhow!("no fork was made"))?;
    let began = snapshot.frame.turn;
    if let Some(seed) = plan.player {
        explorer.reseed(seed);
    }
    let mut keys = Vec::with_capacity(FORK_KEYS);
    let mut met = Vec::new();
    while keys.len() < FORK_KEYS && snapshot.ended.is_none() {
        let key = explorer.next_key(&snapshot.frame);
        keys.push(key);
        snapshot = lab.press(snapshot.machine, snapshot.revision, key)?.snapshot;
        met.extend(snapshot.frame.messages.iter().filter_map(notable));
    }
    let player = plan.player.map_or_else(|| "as main".to_owned(), |seed| format!("other {seed}"));
    let turns = snapshot.frame.turn - began;
    let explorer_is_main = plan.player.is_none();
    Ok(Fork { name: plan.name, luck: plan.luck, keys, snapshot, player, explorer_is_main, turns, met })
}

/// A message that tells a story.
fn notable(message: &Message) -> Option<String> {
    let telling = [
        "kill",
        "destroy",
        "die",
        "Welcome to exp",
        "fall through",
        "fall into",
        "trap",
        "You find ",
        "You feel",
        "pray",
        "finish eating",
        "You read",
        "potion",
        "hidden",
        "WHAMM",
        "faint",
    ];
    let dull = ["no longer", "You see here", "You hear"];
    let text = message.text.trim();
    (telling.iter().any(|word| text.contains(word)) && !dull.iter().any(|word| text.contains(word)))
        .then(|| text.to_owned())
}

const HEADINGS: [&str; 9] = ["fork", "luck", "player", "keys", "turns", "HP", "Dlvl", "Xp", "what it met, last first"];

fn row(fork: &Fork) -> [String; 9] {
    let status = fork.snapshot.frame.status.clone().unwrap_or_default();
    let luck = if fork.luck == Luck::Same { "same" } else { "new" };
    let story = match &fork.snapshot.ended {
        Some(ended) if ended.kind == EndKind::Died => format!("DEAD, {}", ended.text),
        Some(ended) => ended.text.clone(),
        None => fork.met.iter().rev().take(3).cloned().collect::<Vec<_>>().join(" "),
    };
    let story = if story.is_empty() { "nothing much".to_owned() } else { story };
    [
        fork.name.clone(),
        luck.to_owned(),
        fork.player.clone(),
        fork.keys.len().to_string(),
        fork.turns.to_string(),
        format!("{}/{}", status.hp, status.hp_max),
        status.depth.to_string(),
        format!("{}/{}", status.experience_level.unwrap_or(0), status.experience.unwrap_or(0)),
        story,
    ]
}

/// Says what would have become of main.
pub(super) fn tell_fate(stage: &Stage, forks: &[Fork]) {
    let own = forks.iter().find(|fork| fork.luck == Luck::Same && fork.explorer_is_main);
    let Some(ended) = own.and_then(|fork| fork.snapshot.ended.as_ref()) else { return };
    stage.verdict(
        false,
        &format!("f1 is what main was about to do, and it ends there: {}. Nothing has happened to main.", ended.text),
    );
}

/// The fork that came farthest: alive, deep, experienced, well.
pub(super) fn best(forks: &[Fork]) -> Option<&Fork> {
    forks.iter().max_by_key(|fork| {
        let status = fork.snapshot.frame.status.clone().unwrap_or_default();
        let alive = fork.snapshot.ended.is_none();
        (
            alive,
            status.depth,
            status.experience_level,
            status.experience,
            status.hp,
            std::cmp::Reverse(fork.name.clone()),
        )
    })
}
