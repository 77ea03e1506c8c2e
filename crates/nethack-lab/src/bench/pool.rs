//! Lines through the pool, against the same lines in processes that know of no pool.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use lab::{Control, Lab, LabOptions, State, Try};
use machine::{Machine, SaveState, Stop};
use serde::Serialize;
use wire::{Batch, Key, PlayDigest, PowerOn, Seed};

use super::mix::Random;
use super::{cpu, median, now, progress};
use crate::out::outln;

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
    /// The one over the other, in each round.
    pub(super) ratio: f64,
    /// How much longer a worker has to do with a line than such a process.
    pub(super) overhead_us_per_line: f64,
    /// CPU time of a line: of host and workers together, and of such a process. The least of all rounds, since what
    /// else the machine does only adds to it.
    pub(super) cpu_us_per_line: f64,
    pub(super) cpu_us_per_line_alone: f64,
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

/// What came of the lines of a process or of a call.
pub(super) struct Done {
    per_s: f64,
    cpu_us_per_line: f64,
    /// Of the play digests at the lines' ends, in order: whoever does the same lines has the same.
    digest: u128,
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.per_s, self.cpu_us_per_line, self.digest)
    }
}

impl std::str::FromStr for Done {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let words: Vec<_> = text.split_ascii_whitespace().collect();
        let [per_s, cpu_us_per_line, digest] = words.as_slice() else { bail!("{text:?} are no figures") };
        Ok(Self { per_s: per_s.parse()?, cpu_us_per_line: cpu_us_per_line.parse()?, digest: digest.parse()? })
    }
}

fn digest_of(digests: impl Iterator<Item = PlayDigest>) -> u128 {
    digests.fold(0, |sum: u128, PlayDigest(digest)| sum.rotate_left(1) ^ u128::from_le_bytes(digest))
}

/// The hidden `bench --alone LINES`: the lines of this bench in this process, which says when it is ready and begins
/// when it is told to. Each gives what `try_lines` gives: what is pending, the turn, the play digest, the frame's bytes.
pub(super) fn alone(lines: usize) -> Result<Done> {
    let mut machine = Machine::open(rom::built_in())?;
    let mut states: Vec<SaveState> = Vec::new();
    for game in 1..=GAMES {
        machine.power_on(&PowerOn::from_seed(Seed(game)))?;
        press(&mut machine, &opening(game))?;
        states.push(machine.save()?);
    }
    let lines: Vec<Vec<Key>> = (0..lines).map(|line| keys(line, LINE_KEYS)).collect();
    let (mut frame, mut digests) = (Vec::new(), Vec::with_capacity(lines.len()));
    outln!("ready");
    std::io::stdin().lock().read_line(&mut String::new())?;
    let (start, cpu) = (now(), cpu::own_us());
    for (state, keys) in states.iter().cycle().zip(&lines) {
        machine.load(state)?;
        press(&mut machine, keys)?;
        black_box(machine.with_frame(|bytes, pending| {
            frame.clear();
            frame.extend_from_slice(bytes);
            pending
        }));
        black_box((&frame, machine.turn()));
        digests.push(machine.play_digest());
    }
    let (elapsed, cpu) = (start.elapsed().as_secs_f64(), cpu::own_us() - cpu);
    let count = lines.len() as f64;
    Ok(Done { per_s: count / elapsed, cpu_us_per_line: cpu / count, digest: digest_of(digests.into_iter()) })
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

/// What so many processes reach side by side, each doing its lines alone; all begin at the same time.
fn side_by_side(processes: usize) -> Result<Done> {
    let start = |_| {
        Command::new("/proc/self/exe")
            .args(["bench", "--alone", &LINES.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting this program again")
    };
    let mut children = (0..processes).map(start).collect::<Result<Vec<_>>>()?;
    let mut told = Vec::new();
    for child in &mut children {
        let mut lines = BufReader::new(child.stdout.take().context("its output")?).lines();
        lines.next().context("it ended before it began")??;
        told.push(lines);
    }
    for child in &mut children {
        child.stdin.take().context("its input")?.write_all(b"\n")?;
    }
    let mut all = Done { per_s: 0.0, cpu_us_per_line: 0.0, digest: 0 };
    for (child, lines) in children.iter_mut().zip(&mut told) {
        let done: Done = lines.next().context("it told no figures")??.parse()?;
        let status = child.wait()?;
        ensure!(status.success(), "a bench alone ended with {status}");
        all.per_s += done.per_s;
        all.cpu_us_per_line += done.cpu_us_per_line / processes as f64;
        all.digest = done.digest;
    }
    Ok(all)
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

/// The lines of one call.
fn through(lab: &Lab, lines: &[Try]) -> Result<Done> {
    let (start, cpu) = (now(), cpu::family_us());
    let tried = lab.try_lines(lines, &Control::default())?;
    let (elapsed, cpu) = (start.elapsed().as_secs_f64(), cpu::family_us() - cpu);
    ensure!(tried.iter().all(lab::Tried::is_done), "a line was not tried");
    let count = lines.len() as f64;
    let digest = digest_of(tried.iter().map(|tried| tried.play));
    Ok(Done { per_s: count / elapsed, cpu_us_per_line: cpu / count, digest })
}

fn lines_per_s(lab: &Lab, lines: &[Try]) -> Result<f64> {
    Ok(through(lab, lines)?.per_s)
}

/// So many lines, from one state after the other.
fn lines(states: &[State], count: usize, line_keys: usize, framed: bool) -> Vec<Try> {
    let line = |(line, state)| Try { frame: framed, ..Try::batch(state, Batch::forced(keys(line, line_keys))) };
    (0..count).zip(states.iter().cycle()).map(line).collect()
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

pub(super) fn measure() -> Result<Pool> {
    progress("the pool");
    let workers = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    let one = lab(1)?;
    let all = lab(workers)?;
    let (few, many) = (states(&one)?, states(&all)?);
    let (lines_1, lines_all) = (lines(&few, LINES, LINE_KEYS, true), lines(&many, LINES, LINE_KEYS, true));
    // The first round starts the workers.
    lines_per_s(&one, &lines_1)?;
    lines_per_s(&all, &lines_all)?;
    // In turns, so that what else the machine does is shared by all.
    let (mut single, mut pooled, mut alone, mut ratios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut cpu, mut cpu_alone) = (f64::MAX, f64::MAX);
    for _ in 0..super::ROUNDS {
        single.push(lines_per_s(&one, &lines_1)?);
        let by_themselves = side_by_side(workers)?;
        let together = through(&all, &lines_all)?;
        ensure!(by_themselves.digest == together.digest, "the same lines have led elsewhere");
        (cpu, cpu_alone) = (cpu.min(together.cpu_us_per_line), cpu_alone.min(by_themselves.cpu_us_per_line));
        ratios.push(together.per_s / by_themselves.per_s);
        alone.push(by_themselves.per_s);
        pooled.push(together.per_s);
    }
    let [lines_per_s_1, lines_per_s_alone, lines_per_s_all, ratio] = [single, alone, pooled, ratios].map(middle);
    let (loads, loads_and_keys) = (lines(&many, LINES, 0, false), lines(&many, LINES, 1, false));
    let per_line = |per_s: f64| workers as f64 / per_s * 1e6;
    Ok(Pool {
        workers,
        lines_per_s_1,
        lines_per_s_all,
        lines_per_s_alone,
        ratio,
        overhead_us_per_line: per_line(lines_per_s_all) - per_line(lines_per_s_alone),
        cpu_us_per_line: cpu,
        cpu_us_per_line_alone: cpu_alone,
        restores_per_s: median(|| lines_per_s(&all, &loads))?,
        restore_keys_per_s: median(|| lines_per_s(&all, &loads_and_keys))?,
    })
}
