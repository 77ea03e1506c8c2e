//! `nethack-lab bench`: how fast this machine is here, measured in one run.

mod in_process;
mod mix;
mod through_worker;

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

use crate::out::outln;

/// What a run measures. Times are medians over rounds, in microseconds; speeds are per second of one thread.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    rom_id: String,
    engine_id: String,
    keys_per_s: KeysPerSecond,
    turns_per_s_m1: f64,
    save_us: f64,
    load_us: f64,
    load_key_us: f64,
    save_deep_us: f64,
    load_deep_us: f64,
    frame_us: f64,
    play_digest_us: f64,
    state_digest_us: f64,
    new_game_us: f64,
    power_on_cold_us: f64,
    fork_key_frame_us: f64,
    image_bytes: ImageBytes,
    load_average: String,
    cores: usize,
}

/// Keys a second: M0 alone, M0 with a frame at each key, the turn-heavy mix M1, and M0 with a play digest at each key.
#[derive(Debug, Serialize)]
struct KeysPerSecond {
    batch: f64,
    batch_frames: f64,
    batch_m1: f64,
    batch_digests: f64,
}

#[derive(Debug, Serialize)]
struct ImageBytes {
    early: usize,
    deep: usize,
}

/// How often each figure is taken.
const ROUNDS: usize = 5;

/// The median of `ROUNDS` measurements.
fn median(mut measure: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut values = (0..ROUNDS).map(|_| measure()).collect::<Result<Vec<_>>>()?;
    values.sort_by(f64::total_cmp);
    Ok(values[ROUNDS / 2])
}

/// The time of one repetition in microseconds.
fn per_repetition<R>(repetitions: u32, mut work: impl FnMut() -> Result<R>) -> Result<f64> {
    let start = now();
    for _ in 0..repetitions {
        black_box(work()?);
    }
    Ok(micros(start.elapsed()) / f64::from(repetitions))
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// The one place where the bench reads a clock.
#[expect(clippy::disallowed_methods, reason = "a bench measures time; nothing of it reaches a machine")]
fn now() -> Instant {
    Instant::now()
}

fn load_average() -> String {
    std::fs::read_to_string("/proc/loadavg")
        .map_or_else(|_| "unknown".to_owned(), |line| line.split(' ').take(3).collect::<Vec<_>>().join(" "))
}

/// Measures everything, with a word on stderr about each step, and prints the figures.
pub(crate) fn run(json: bool) -> Result<()> {
    let load_average = load_average();
    let fork_key_frame_us = through_worker::measure()?;
    let mut figures = in_process::measure()?;
    figures.fork_key_frame_us = fork_key_frame_us;
    figures.load_average = load_average;
    if json {
        outln!("{}", serde_json::to_string_pretty(&figures)?);
    } else {
        print(&figures);
    }
    Ok(())
}

fn progress(what: &str) {
    eprintln!("measuring {what} …");
}

fn print(figures: &Figures) {
    let Figures { keys_per_s, image_bytes, .. } = figures;
    let speeds = [
        ("keys/s, mix M0", keys_per_s.batch),
        ("keys/s, M0 with a frame each", keys_per_s.batch_frames),
        ("keys/s, M0 with a play digest each", keys_per_s.batch_digests),
        ("keys/s, turn-heavy mix M1", keys_per_s.batch_m1),
        ("turns/s, mix M1", figures.turns_per_s_m1),
    ];
    let times = [
        ("save, early game", figures.save_us),
        ("load, early game", figures.load_us),
        ("load and a key", figures.load_key_us),
        ("save, deep game", figures.save_deep_us),
        ("load, deep game", figures.load_deep_us),
        ("frame", figures.frame_us),
        ("play digest", figures.play_digest_us),
        ("state digest", figures.state_digest_us),
        ("new game", figures.new_game_us),
        ("power-on with options not seen before", figures.power_on_cold_us),
        ("fork, key, frame through a worker", figures.fork_key_frame_us),
    ];
    outln!("ROM {}", figures.rom_id);
    outln!(
        "M0 is random keys, mostly moves, half of the questions escaped; M1 is a fighter that runs, rests and fights:"
    );
    outln!("many turns a key. Both are the same keys each time. A run takes about 20 seconds.");
    for (what, speed) in speeds {
        outln!("{what:<40} {speed:>10.0}");
    }
    for (what, time) in times {
        outln!("{what:<40} {time:>10.1} µs");
    }
    outln!("{:<40} {:>10} bytes", "image, early", image_bytes.early);
    outln!("{:<40} {:>10} bytes", "image, deep", image_bytes.deep);
    outln!("load average at the start: {}; {} cores; medians of {ROUNDS} rounds", figures.load_average, figures.cores);
}
