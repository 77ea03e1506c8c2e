//! `nethack-lab bench`: how fast this machine is here, measured in one run.

mod cpu;
mod in_process;
mod mix;
mod peers;
mod pool;
mod print;
mod seek;
mod states;
mod through_worker;

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

use crate::command_line::BenchOptions;
use crate::out::outln;

/// What a run measures. Times are medians over rounds, in microseconds unless their name says otherwise; speeds are per
/// second.
#[derive(Debug, Serialize)]
struct Figures {
    rom_id: String,
    engine_id: String,
    #[serde(flatten)]
    in_process: InProcess,
    fork_key_frame_us: f64,
    pool: pool::Pool,
    states: states::States,
    seek_ms_p99: f64,
    seek: seek::Seek,
    peers: peers::Peers,
    load_average: String,
    cores: usize,
}

/// The machine alone, in this process and on one core.
#[derive(Debug, Serialize)]
struct InProcess {
    keys_per_s: KeysPerSecond,
    turns_per_s_m1: f64,
    save_us: f64,
    load_us: f64,
    load_key_us: f64,
    key_us: f64,
    save_deep_us: f64,
    load_deep_us: f64,
    frame_us: f64,
    play_digest_us: f64,
    state_digest_us: f64,
    new_game_us: f64,
    power_on_cold_us: f64,
    image_bytes: ImageBytes,
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
pub(crate) fn run(options: &BenchOptions) -> Result<()> {
    if let Some(lines) = options.alone {
        outln!("{}", pool::alone(lines)?);
        return Ok(());
    }
    if options.pool {
        outln!("{}", serde_json::to_string_pretty(&pool::measure()?)?);
        return Ok(());
    }
    let load_average = load_average();
    let rom = rom::built_in();
    let seek = seek::measure(options.seek_inputs)?;
    let figures = Figures {
        rom_id: rom.rom_id().to_owned(),
        engine_id: rom.engine_id().to_owned(),
        in_process: in_process::measure()?,
        fork_key_frame_us: through_worker::measure()?,
        pool: pool::measure()?,
        states: states::measure(options.states as usize)?,
        seek_ms_p99: seek.p99_ms,
        seek,
        peers: peers::measure(&options.peers)?,
        load_average,
        cores: std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
    };
    if options.json {
        outln!("{}", serde_json::to_string_pretty(&figures)?);
    } else {
        print::print(&figures);
    }
    Ok(())
}

fn progress(what: &str) {
    eprintln!("measuring {what} …");
}
