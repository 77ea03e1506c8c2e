//! Lines through the pool, against the same lines in processes that know of no pool.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use lab::{Control, Lab, LabOptions, State, Try};
use machine::{Machine, SaveState, Stop};
use serde::Serialize;
use wire::{Batch, Frame, Key, PowerOn, Seed};

use super::mix::Random;
use super::{median, now, progress};

/// Games whose states the lines start from, and how many keys into them those are.
const GAMES: u64 = 16;
const KEYS_BEFORE: usize = 100;
/// Keys of a line.
const LINE_KEYS: usize = 10;
/// Lines of a round.
const LINES: usize = 20_000;

/// What the pool does a second.
#[derive(Debug, Serialize)]
pub(super) struct Pool {
    /// Workers of the pool that work on batches.
    pub(super) workers: usize,
    /// Lines of ten keys with a frame, a second, through one worker.
    pub(super) lines_per_s_1: f64,
    /// The same through all workers.
    pub(super) lines_per_s_all: f64,
    /// What independent processes reach, as many as workers, side by side, each with a machine of its own.
    pub(super) lines_per_s_alone: f64,
    /// How much longer a worker has to do with a line than such a process.
    pub(super) overhead_us_per_line: f64,
    /// Loading a state, a second, and loading it and pressing one key: through all workers, no frame.
    pub(super) restores_per_s: f64,
    pub(super) restore_keys_per_s: f64,
}

/// The keys of one line.
fn keys(line: usize, count: usize) -> Vec<Key> {
    let mut mix = Random::new(1_000 + line as u64);
    (0..count).map(|_| mix.key()).collect()
}

/// The keys that lead to a game's state.
fn opening(game: u64) -> Vec<Key> {
    let mut mix = Random::new(game);
    (0..KEYS_BEFORE).map(|_| mix.key()).collect()
}

/// The hidden `bench --alone LINES`: the lines of this bench in this process; prints how many a second.
pub(super) fn alone(lines: usize) -> Result<f64> {
    let mut machine = Machine::open(rom::built_in())?;
    let mut states: Vec<SaveState> = Vec::new();
    for game in 1..=GAMES {
        machine.power_on(&PowerOn::from_seed(Seed(game)))?;
        press(&mut machine, &opening(game))?;
        states.push(machine.save()?);
    }
    let lines: Vec<Vec<Key>> = (0..lines).map(|line| keys(line, LINE_KEYS)).collect();
    let mut frame = Frame::default();
    let start = now();
    for (state, keys) in states.iter().cycle().zip(&lines) {
        machine.load(state)?;
        press(&mut machine, keys)?;
        machine.frame_into(&mut frame);
    }
    Ok(lines.len() as f64 / start.elapsed().as_secs_f64())
}

fn press(machine: &mut Machine, keys: &[Key]) -> Result<()> {
    for &key in keys {
        if machine.stop() != Some(&Stop::Boundary) {
            break;
        }
        machine.press(key)?;
    }
    Ok(())
}

/// What so many processes reach side by side, each doing its lines alone.
fn side_by_side(processes: usize) -> Result<f64> {
    let start = |_| {
        Command::new("/proc/self/exe")
            .args(["bench", "--alone", &LINES.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting this program again")
    };
    let children = (0..processes).map(start).collect::<Result<Vec<_>>>()?;
    let mut sum = 0.0;
    for child in children {
        let output = child.wait_with_output().context("waiting for it")?;
        ensure!(output.status.success(), "a bench alone ended with {}", output.status);
        sum += String::from_utf8_lossy(&output.stdout).trim().parse::<f64>().context("its figure")?;
    }
    Ok(sum)
}

/// A lab with so many workers for batches.
pub(super) fn lab(workers: usize) -> Result<Lab> {
    let mut options = LabOptions::new("/proc/self/exe");
    options.workers = workers;
    Ok(Lab::new(options)?)
}

fn states(lab: &Lab) -> Result<Vec<State>> {
    let mut states = Vec::new();
    for game in 1..=GAMES {
        let start = lab.begin(PowerOn::from_seed(Seed(game)))?;
        let line = Try::batch(&start, Batch::forced(opening(game))).kept();
        let tried = lab.try_lines(&[line], &Control::default())?.pop().context("a result for each line")?;
        states.push(tried.state.context("its state is kept")?);
    }
    Ok(states)
}

/// Lines a second of one call.
fn lines_per_s(lab: &Lab, lines: &[Try]) -> Result<f64> {
    let start = now();
    let tried = lab.try_lines(lines, &Control::default())?;
    let elapsed = start.elapsed().as_secs_f64();
    ensure!(tried.iter().all(lab::Tried::is_done), "a line was not tried");
    Ok(lines.len() as f64 / elapsed)
}

/// So many lines, from one state after the other.
fn lines(states: &[State], count: usize, line_keys: usize, framed: bool) -> Vec<Try> {
    let line = |(line, state)| Try { frame: framed, ..Try::batch(state, Batch::forced(keys(line, line_keys))) };
    (0..count).zip(states.iter().cycle()).map(line).collect()
}

pub(super) fn measure() -> Result<Pool> {
    progress("the pool");
    let workers = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    let one = lab(1)?;
    let all = lab(workers)?;
    let (few, many) = (states(&one)?, states(&all)?);
    let (lines_1, lines_all) = (lines(&few, LINES, LINE_KEYS, true), lines(&many, LINES, LINE_KEYS, true));
    // In turns, so that what else the machine does is shared by all.
    let (mut single, mut pooled, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..super::ROUNDS {
        single.push(lines_per_s(&one, &lines_1)?);
        alone.push(side_by_side(workers)?);
        pooled.push(lines_per_s(&all, &lines_all)?);
    }
    let middle = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (lines_per_s_1, lines_per_s_alone, lines_per_s_all) =
        (middle(&mut single), middle(&mut alone), middle(&mut pooled));
    let (loads, loads_and_keys) = (lines(&many, LINES, 0, false), lines(&many, LINES, 1, false));
    let per_line = |per_s: f64| workers as f64 / per_s * 1e6;
    Ok(Pool {
        workers,
        lines_per_s_1,
        lines_per_s_all,
        lines_per_s_alone,
        overhead_us_per_line: per_line(lines_per_s_all) - per_line(lines_per_s_alone),
        restores_per_s: median(|| lines_per_s(&all, &loads))?,
        restore_keys_per_s: median(|| lines_per_s(&all, &loads_and_keys))?,
    })
}
