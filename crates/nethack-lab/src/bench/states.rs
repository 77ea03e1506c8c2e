//! What states cost: their bytes by how far apart they are, and an exploration that keeps very many.

use std::collections::VecDeque;

use anyhow::{Context, Result, ensure};
use lab::{Control, Lab, State, Tried, Try, Verdict};
use serde::Serialize;
use wire::{Batch, Key, PlayDigest, PowerOn};

use super::in_process::{descent, valkyrie};
use super::mix::Random;
use super::pool::lab;
use super::{now, progress};

/// Forks of one state whose mean is told.
const FORKS: usize = 200;
/// Games of the exploration; every fifth begins deep.
const GAMES: u64 = 20;
/// Levels that the deepest of them has visited.
const LEVELS: u32 = 30;
/// States of a game from which the next lines start.
const FRONTIER: usize = 256;
/// Lines tried at once.
const LINES: usize = 1_000;
/// States whose movie is verified from power-on at the end.
const PROVED: usize = 20;

/// What states cost.
#[derive(Debug, Serialize)]
pub(super) struct States {
    /// States of the exploration, forks 1 to 20 keys apart in several games.
    pub(super) count: usize,
    /// Their mean size in the store, all that they build on included.
    pub(super) bytes_mean: f64,
    /// What the host's process holds beside, for each.
    pub(super) host_bytes_mean: f64,
    /// What a state adds that is a number of keys from the state that it was forked from; early in a game.
    pub(super) bytes_mean_1key: f64,
    pub(super) bytes_mean_10key: f64,
    pub(super) bytes_mean_100key: f64,
    /// The same in a game that has visited 45 levels.
    pub(super) deep_bytes_mean_1key: f64,
    pub(super) deep_bytes_mean_10key: f64,
    pub(super) deep_bytes_mean_100key: f64,
    /// Lines of the exploration, a second, each with its state kept.
    pub(super) kept_per_s: f64,
    /// States loaded again in another order, a second, each compared by play digest.
    pub(super) loaded_per_s: f64,
    /// How many of them were replayed from power-on and compared by state digest.
    pub(super) proved: usize,
    /// Bytes in the spill file at the most.
    pub(super) spill_bytes: u64,
}

/// The keys of the n-th line.
fn keys(line: u64, count: usize) -> Vec<Key> {
    let mut mix = Random::new(line);
    (0..count).map(|_| mix.key()).collect()
}

fn kept(from: &State, keys: Vec<Key>) -> Try {
    Try::batch(from, Batch::forced(keys)).kept()
}

/// The state that keys lead to.
fn lead(lab: &Lab, record: PowerOn, keys: Vec<Key>) -> Result<State> {
    let start = lab.begin(record)?;
    if keys.is_empty() {
        return Ok(start);
    }
    let tried = lab.try_lines(&[kept(&start, keys)], &Control::default())?.pop();
    tried.and_then(|tried| tried.state).context("the state is kept")
}

/// Mean bytes that forks of a state add, so many keys on.
fn marginal(lab: &Lab, from: &State, line_keys: usize) -> Result<f64> {
    let before = lab.info().store_bytes;
    let lines: Vec<Try> = (0..FORKS as u64).map(|line| kept(from, keys(77_000 + line, line_keys))).collect();
    let tried = lab.try_lines(&lines, &Control::default())?;
    Ok((lab.info().store_bytes - before) as f64 / tried.len() as f64)
}

/// A game of the exploration: its newest states, and what it goes on with.
struct Game {
    frontier: VecDeque<State>,
}

/// One state that was reached, and the play digest that was told of it.
type Reached = (State, PlayDigest);

/// Explores until so many states are held.
fn explore(lab: &Lab, count: usize) -> Result<Vec<Reached>> {
    let mut games = Vec::new();
    for game in 1..=GAMES {
        let deep = game % 5 == 0;
        let record = PowerOn { debug: deep, ..valkyrie(game)? };
        let levels = if deep { 2 + (game as u32 * 7) % LEVELS } else { 0 };
        games.push(Game { frontier: VecDeque::from([lead(lab, record, descent(levels))?]) });
    }
    let mut reached: Vec<Reached> = Vec::with_capacity(count);
    let mut numbers = super::mix::Numbers::new(5);
    while reached.len() < count {
        let left = LINES.min(count - reached.len());
        let mut lines = Vec::with_capacity(left);
        let mut owners = Vec::with_capacity(left);
        for _ in 0..left {
            let owner = (numbers.next() % GAMES) as usize;
            let frontier = &games[owner].frontier;
            let from = &frontier[(numbers.next() as usize) % frontier.len()];
            lines.push(kept(from, keys(numbers.next(), 1 + (numbers.next() % 20) as usize)));
            owners.push(owner);
        }
        for (owner, tried) in owners.into_iter().zip(lab.try_lines(&lines, &Control::default())?) {
            let Tried { state, ended, play, no_room, .. } = tried;
            ensure!(!no_room, "the store is full after {} states", reached.len());
            let Some(state) = state else { continue };
            if ended.is_none() {
                let frontier = &mut games[owner].frontier;
                if frontier.len() == FRONTIER {
                    frontier.pop_front();
                }
                frontier.push_back(state.clone());
            }
            reached.push((state, play));
        }
        if reached.len().is_multiple_of(50 * LINES) {
            let info = lab.info();
            eprintln!("  {} states, {} MB in the store", reached.len(), info.store_bytes >> 20);
        }
    }
    Ok(reached)
}

/// Loads every state once, in an order that jumps about, and compares what it plays like.
fn load_all(lab: &Lab, reached: &[Reached]) -> Result<()> {
    // A step that has no factor in common with the number visits all.
    let count = reached.len();
    let step = (count / 3..).find(|step| gcd(*step, count) == 1).unwrap_or(1);
    let order: Vec<usize> = (0..count).map(|index| index.wrapping_mul(step) % count).collect();
    for some in order.chunks(4 * LINES) {
        let lines: Vec<Try> = some.iter().map(|&index| Try::keys(&reached[index].0, b"")).collect();
        for (&index, tried) in some.iter().zip(lab.try_lines(&lines, &Control::default())?) {
            ensure!(tried.play == reached[index].1, "state {index} was loaded as another");
        }
    }
    Ok(())
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Replays some states from power-on; their movies hold the state digests of the states as they lie in the store.
fn prove(lab: &Lab, reached: &[Reached]) -> Result<usize> {
    let every = (reached.len() / PROVED).max(1);
    let mut proved = 0;
    for (state, _) in reached.iter().step_by(every) {
        let report = lab.verify(&lab.movie_of(state)?, None, &Control::default())?;
        ensure!(report.verdict == Verdict::Exact, "state {} is not what its keys lead to", state.id());
        proved += 1;
    }
    Ok(proved)
}

fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let numbers: Vec<f64> = status.split(' ').filter_map(|number| number.parse().ok()).collect();
    // Resident pages less the shared ones, among which the store's are.
    let private = |resident: &f64, shared: &f64| (resident - shared) * 4096.0;
    numbers.get(1).zip(numbers.get(2)).map_or(0.0, |(resident, shared)| private(resident, shared))
}

pub(super) fn measure(count: usize) -> Result<States> {
    progress("what states cost");
    let lab = lab(std::thread::available_parallelism().map_or(2, usize::from).max(2))?;
    let early = lead(&lab, valkyrie(1)?, keys(1, 100))?;
    let deep = lead(&lab, PowerOn { debug: true, ..valkyrie(1)? }, descent(super::in_process::LEVELS))?;
    let means = |state: &State| -> Result<[f64; 3]> {
        Ok([marginal(&lab, state, 1)?, marginal(&lab, state, 10)?, marginal(&lab, state, 100)?])
    };
    let [bytes_mean_1key, bytes_mean_10key, bytes_mean_100key] = means(&early)?;
    let [deep_bytes_mean_1key, deep_bytes_mean_10key, deep_bytes_mean_100key] = means(&deep)?;
    drop((early, deep));
    let (before, host_before) = (lab.info().store_bytes, resident_bytes());
    let start = now();
    let reached = explore(&lab, count)?;
    let exploring = start.elapsed().as_secs_f64();
    let (info, host) = (lab.info(), resident_bytes());
    let start = now();
    load_all(&lab, &reached)?;
    let loading = start.elapsed().as_secs_f64();
    let proved = prove(&lab, &reached)?;
    let per_state = |bytes: f64| bytes / reached.len() as f64;
    let figures = States {
        count: reached.len(),
        bytes_mean: per_state((info.store_bytes + info.spill_bytes - before) as f64),
        host_bytes_mean: per_state(host - host_before),
        bytes_mean_1key,
        bytes_mean_10key,
        bytes_mean_100key,
        deep_bytes_mean_1key,
        deep_bytes_mean_10key,
        deep_bytes_mean_100key,
        kept_per_s: reached.len() as f64 / exploring,
        loaded_per_s: reached.len() as f64 / loading,
        proved,
        spill_bytes: info.spill_bytes,
    };
    drop(reached);
    let left = lab.info();
    ensure!(
        left.store_bytes + left.spill_bytes == 0,
        "{} bytes stay in the store when all states are dropped",
        left.store_bytes
    );
    Ok(figures)
}
