//! `demo`: one experiment from beginning to end, told on the way.

mod forks;
mod speed;
mod stage;

use std::path::PathBuf;

use anyhow::Context;
use lab::{AdoptMode, Control, Lab, MachineId, Snapshot, Verdict};
use movie::Movie;
use wire::{Key, PowerOn};

use crate::command_line::DemoOptions;
use crate::explorer::Explorer;
use crate::outcome::Outcome;
use crate::setup::{Setup, write_new};

use forks::Fork;
use stage::Stage;

/// Keys played before the forks part.
const MAIN_KEYS: usize = 400;

pub(crate) fn run(setup: &Setup, options: &DemoOptions) -> anyhow::Result<Outcome> {
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from(format!("demo-{}.movie", options.seed)));
    anyhow::ensure!(!out.exists(), "{} exists already: name another file with --out", out.display());
    let lab = setup.lab()?;
    let stage = Stage::new(options.still);
    let info = lab.info();
    stage.title(&format!("NetHack {} as a deterministic machine", info.nethack_version));
    stage.say(&format!(
        "Seed {}, ROM {}… A game is its seed, its hero and its keys: equal inputs give equal bytes.",
        options.seed,
        info.rom_id.get(..12).unwrap_or(&info.rom_id)
    ));
    let (main, explorer) = play_main(&lab, &stage, options)?;
    let forks = forks::explore(&lab, &stage, &main, &explorer)?;
    forks::tell_fate(&stage, &forks);
    let best = forks::best(&forks).context("no fork was made")?;
    compare(&lab, &stage, &forks, best)?;
    repeat(&lab, &stage, &main, best)?;
    adopt(&lab, &stage, &main, best)?;
    let movie = lab.movie(main.machine)?;
    write_new(&out, &movie)?;
    let good = prove(&lab, &stage, &movie, &out)?;
    tamper(&lab, &stage, &movie)?;
    speed::tell(setup, &lab, &stage, main.machine)?;
    stage.title("Your turn");
    let file = out.display();
    stage.commands(&[
        (format!("movie verify {file}"), "anyone can check it, from nothing but the file"),
        (format!("movie show {file} --every 50"), "look at it"),
        (format!("play --movie {file}"), "go on from where the explorer stopped"),
        ("mcp --movies ./movies".to_owned(), "hand the machine to an agent"),
    ]);
    Ok(if good { Outcome::Good } else { Outcome::Failure })
}

/// The explorer plays the main machine.
fn play_main(lab: &Lab, stage: &Stage, options: &DemoOptions) -> anyhow::Result<(Snapshot, Explorer)> {
    stage.title(&format!("1. A game: the explorer presses {MAIN_KEYS} keys"));
    let mut game = lab.new_game(PowerOn::from_seed(options.seed), false)?;
    let mut explorer = Explorer::new(options.seed);
    let mut player = stage.screening();
    for _ in 0..MAIN_KEYS {
        if game.ended.is_some() {
            break;
        }
        let key = explorer.next_key(&game.frame);
        game = lab.press(game.machine, game.revision, key)?.snapshot;
        player.show(&game.frame);
    }
    player.finish(&game.frame);
    anyhow::ensure!(game.ended.is_none(), "this hero died within {MAIN_KEYS} keys: try another --seed");
    Ok((game, explorer))
}

/// Sets the best fork beside what would have come otherwise.
fn compare(lab: &Lab, stage: &Stage, forks: &[Fork], best: &Fork) -> anyhow::Result<()> {
    let others = || forks.iter().filter(|fork| fork.snapshot.machine != best.snapshot.machine);
    let Some(other) = others().find(|fork| fork.snapshot.ended.is_none()).or_else(|| others().next()) else {
        return Ok(());
    };
    stage.title(&format!("3. What differs between {} and {}", other.name, best.name));
    let diff = lab.diff(other.snapshot.machine, best.snapshot.machine)?;
    stage.side_by_side(&other.snapshot.frame, &best.snapshot.frame, &other.name, &best.name);
    // Fields that say again what others say.
    let dull = ["title", "depth", "hp_max", "energy", "energy_max"];
    let fields: Vec<String> = diff
        .status
        .iter()
        .filter(|field| !dull.contains(&field.field))
        .map(|field| {
            let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
            format!("{} {} / {}", field.field, value(&field.a), value(&field.b))
        })
        .collect();
    stage.say(&format!(
        "{} cells of the screen and {} glyphs of the map differ; {} items of the inventory. Status: {}.",
        diff.cells.len(),
        diff.glyphs.len(),
        diff.inventory.len(),
        if fields.is_empty() { "the same".to_owned() } else { fields.join(", ") }
    ));
    Ok(())
}

/// Plays the best fork's keys once more: a fork is a replay, byte for byte.
fn repeat(lab: &Lab, stage: &Stage, main: &Snapshot, best: &Fork) -> anyhow::Result<()> {
    let again = lab.fork(main.machine, None, best.luck, 1)?.pop().context("no fork was made")?;
    let batch = wire::Batch::forced(best.keys.clone());
    let again = lab.run(again.machine, again.revision, &batch, &Control::default())?.snapshot;
    let diff = lab.diff(best.snapshot.machine, again.machine)?;
    anyhow::ensure!(diff.images_same, "the same keys gave another image: this must not be");
    stage.say(&format!(
        "{} played once more on a fresh fork, in whatever worker was free: the whole memory of the game is the same, all {} \
         bytes.",
        best.name, again.state_bytes
    ));
    lab.delete(again.machine, None)?;
    Ok(())
}

fn adopt(lab: &Lab, stage: &Stage, main: &Snapshot, best: &Fork) -> anyhow::Result<()> {
    stage.title(&format!("4. Main goes on from {}", best.name));
    let mode = AdoptMode::State { take_luck: true };
    let adoption = lab.adopt(main.machine, main.revision, best.snapshot.machine, mode, &Control::default())?;
    let status = adoption.snapshot.frame.status.clone().unwrap_or_default();
    stage.say(&format!(
        "Adopted: {} inputs later, at turn {}, {} with {} of {} hit points. Main's old line stays as a fork of its \
         own; the movie gets the fork's luck and keys.",
        adoption.inputs, adoption.snapshot.frame.turn, status.level_text, status.hp, status.hp_max
    ));
    Ok(())
}

/// Verifies the movie in a worker that knows nothing of the game.
fn prove(lab: &Lab, stage: &Stage, movie: &[u8], out: &std::path::Path) -> anyhow::Result<bool> {
    stage.title("5. The movie, and its proof");
    let report = lab.verify(movie, None, &Control::default())?;
    let exact = report.verdict == Verdict::Exact;
    let words = if exact { "exact, byte for byte".to_owned() } else { report.verdict.to_string() };
    stage.say(&format!("{}: {} bytes, {} inputs.", out.display(), movie.len(), report.inputs_recorded));
    stage.verdict(exact, &format!("replayed from power-on in a fresh worker: {words}"));
    Ok(exact)
}

/// Shows that a lie is found.
fn tamper(lab: &Lab, stage: &Stage, movie: &[u8]) -> anyhow::Result<()> {
    let mut lie: Movie = movie::read(movie)?.movie;
    let middle = lie.steps.len() / 2;
    let Some(step) = lie.steps.get_mut(middle) else { return Ok(()) };
    let was = step.key;
    step.key = if was == Key(b's') { Key(b'h') } else { Key(b's') };
    let now = step.key;
    let report = lab.verify(&movie::export(&lie)?, None, &Control::default())?;
    stage.verdict(false, &format!("the same with input {middle} changed from {was} to {now}: {}", report.verdict));
    Ok(())
}

/// The machines that a part of the demo made are not needed any more.
fn delete_all(lab: &Lab, machines: impl IntoIterator<Item = MachineId>) -> anyhow::Result<()> {
    for machine in machines {
        lab.delete(machine, None)?;
    }
    Ok(())
}
