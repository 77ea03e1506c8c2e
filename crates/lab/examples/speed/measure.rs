use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use lab::{Control, Lab, State, Try};
use machine::{Machine, Stop};
use wire::{Frame, Key, PowerOn, Seed};

/// Makes this executable a process with a machine of its own.
pub(crate) const ALONE: &str = "alone";
/// Keys of a line; keys that lead to where all lines start; different lines.
const KEYS: usize = 10;
const LEAD: usize = 200;
const KINDS: u64 = 64;
/// Lines of one call.
const BATCH: usize = 4_096;
const SEED: u64 = 42;

/// Lines a second in all, and what a line costs a core: medians over rounds.
#[derive(Clone, Debug)]
pub(crate) struct LineFigures {
    pub(crate) workers: usize,
    /// Through `try_lines`: load a state, press ten keys, give the frame, which is read by as many threads.
    pub(crate) lines_per_s: f64,
    /// The same with every state kept.
    pub(crate) kept_lines_per_s: f64,
    /// The same without the pool, in as many processes at once.
    pub(crate) alone_lines_per_s: f64,
    /// The median of the rounds' own ratios.
    pub(crate) ratio: f64,
    /// What the pool adds to a line, in microseconds of one core.
    pub(crate) overhead_us: f64,
    /// What keeping its state adds to a line.
    pub(crate) keep_us: f64,
}

/// How callers share the workers.
#[derive(Clone, Debug)]
pub(crate) struct ShareFigures {
    /// A press of a key while a batch keeps all workers busy, in milliseconds.
    pub(crate) press_ms_median: f64,
    pub(crate) press_ms_p99: f64,
    /// Two equal batches begun at once: the time of the first to end over that of the second.
    pub(crate) evenness: f64,
}

/// Keys of ordinary moves, which ask nothing.
fn keys(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b"hjklyubnhjklyubns"[(state % 17) as usize]
    };
    (0..count).map(|_| next()).collect()
}

/// The state that all lines start from.
fn somewhere(lab: &Lab) -> Result<State, Box<dyn Error>> {
    let start = lab.begin(PowerOn::from_seed(Seed(SEED)))?;
    let lead = Try::keys(&start, keys(SEED, LEAD)).kept();
    Ok(lab.try_lines(&[lead], &Control::default())?.remove(0).state.ok_or("the lead ends the game")?)
}

/// What a call waits while others use the workers. `lines` are those of each of two batches.
pub(crate) fn shares(lab: &Lab, lines: usize) -> Result<ShareFigures, Box<dyn Error>> {
    let from = somewhere(lab)?;
    let batch: Vec<Try> = (0..lines as u64).map(|kind| Try::keys(&from, keys(kind, KEYS)).framed()).collect();
    let run = || {
        let began = now();
        for part in batch.chunks(BATCH) {
            lab.try_lines(part, &Control::default()).map_err(|error| error.to_string())?;
        }
        Ok::<f64, String>(began.elapsed().as_secs_f64())
    };
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(run);
        (run(), one.join())
    });
    let (one, other) = (one?, other.map_err(|_| "a batch panicked")??);
    let game = lab.new_game(PowerOn::from_seed(Seed(SEED)), false)?;
    let over = AtomicBool::new(false);
    let mut presses = std::thread::scope(|scope| {
        let busy = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                run()?;
            }
            Ok::<(), String>(())
        });
        let mut revision = game.revision;
        let mut presses = Vec::new();
        for _ in 0..500 {
            let began = now();
            let done = lab.press(game.machine, revision, Key(b's'));
            presses.push(began.elapsed().as_secs_f64() * 1e3);
            match done {
                Ok(done) => revision = done.snapshot.revision,
                Err(error) => return Err(error.to_string()),
            }
        }
        over.store(true, Ordering::Relaxed);
        busy.join().map_err(|_| "the batch panicked".to_owned())??;
        Ok(presses)
    })?;
    presses.sort_by(f64::total_cmp);
    let at = |part: usize| presses[presses.len() * part / 100];
    Ok(ShareFigures { press_ms_median: at(50), press_ms_p99: at(99), evenness: one.min(other) / one.max(other) })
}

/// Takes the figures of lines. `lines` are those of each worker in each round.
pub(crate) fn lines(lab: &Lab, workers: usize, lines: usize, rounds: usize) -> Result<LineFigures, Box<dyn Error>> {
    let from = somewhere(lab)?;
    // Starts all workers.
    pooled(lab, &from, workers, workers * 1_000, false)?;
    let (mut pool, mut kept, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        alone.push(side_by_side(workers, lines)?);
        pool.push(pooled(lab, &from, workers, workers * lines, false)?);
        kept.push(pooled(lab, &from, workers, workers * lines / 4, true)?);
    }
    let ratio = median(pool.iter().zip(&alone).map(|(pool, alone)| pool / alone).collect());
    let [pool, kept, alone] = [pool, kept, alone].map(median);
    let core_us = |per_s: f64| workers as f64 * 1e6 / per_s;
    Ok(LineFigures {
        workers,
        lines_per_s: pool,
        kept_lines_per_s: kept,
        alone_lines_per_s: alone,
        ratio,
        overhead_us: core_us(pool) - core_us(alone),
        keep_us: core_us(kept) - core_us(pool),
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[expect(clippy::disallowed_methods, reason = "it measures time; nothing of it reaches a machine")]
fn now() -> Instant {
    Instant::now()
}

fn pooled(lab: &Lab, from: &State, workers: usize, lines: usize, keep: bool) -> Result<f64, Box<dyn Error>> {
    let kinds: Vec<Try> = (0..KINDS).map(|kind| Try::keys(from, keys(kind, KEYS)).framed()).collect();
    let kind = |number: usize| kinds[number % kinds.len()].clone();
    let batches: Vec<Vec<Try>> = (0..lines)
        .step_by(BATCH)
        .map(|first| (first..lines.min(first + BATCH)).map(|n| Try { keep, ..kind(n) }).collect())
        .collect();
    let began = now();
    for batch in &batches {
        let tried = lab.try_lines(batch, &Control::default())?;
        // Whoever asks for frames looks at them, and may do so with more than one thread.
        std::thread::scope(|scope| {
            for part in tried.chunks(BATCH.div_ceil(workers)) {
                scope.spawn(move || part.iter().for_each(|tried| drop(std::hint::black_box(tried.frame()))));
            }
        });
    }
    Ok(lines as f64 / began.elapsed().as_secs_f64())
}

/// Lines a second of this many processes at once.
fn side_by_side(processes: usize, lines: usize) -> Result<f64, Box<dyn Error>> {
    let start = || {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(ALONE).arg(lines.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    };
    let mut children = (0..processes).map(|_| start()).collect::<Result<Vec<Child>, _>>()?;
    let mut told = Vec::new();
    for child in &mut children {
        told.push(BufReader::new(child.stdout.take().ok_or("no output")?).lines());
    }
    // All are ready before the first begins.
    for lines in &mut told {
        lines.next().ok_or("a process has ended early")??;
    }
    for child in &mut children {
        child.stdin.take().ok_or("no input")?.write_all(b"\n")?;
    }
    let mut per_s = 0.0;
    for (child, lines) in children.iter_mut().zip(&mut told) {
        per_s += lines.next().ok_or("a process has ended early")??.parse::<f64>()?;
        child.wait()?;
    }
    Ok(per_s)
}

/// One process alone: says that it is ready, waits for a line, and tells how many lines a second it did.
pub(crate) fn alone(lines: usize) -> Result<(), Box<dyn Error>> {
    let mut machine = Machine::open(rom::built_in())?;
    machine.power_on(&PowerOn::from_seed(Seed(SEED)))?;
    for key in keys(SEED, LEAD) {
        if machine.press(Key(key))? != Stop::Boundary {
            return Err("the lead ends the game".into());
        }
    }
    let state = machine.save()?;
    let kinds: Vec<Vec<u8>> = (0..KINDS).map(|kind| keys(kind, KEYS)).collect();
    let mut frame = Frame::default();
    println!("ready");
    std::io::stdin().lock().read_line(&mut String::new())?;
    let began = now();
    for number in 0..lines {
        machine.load(&state)?;
        for &key in &kinds[number % kinds.len()] {
            if machine.press(Key(key))? != Stop::Boundary {
                break;
            }
        }
        machine.frame_into(&mut frame);
        std::hint::black_box(&frame);
    }
    println!("{}", lines as f64 / began.elapsed().as_secs_f64());
    Ok(())
}
