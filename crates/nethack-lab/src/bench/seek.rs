//! Coming back to an earlier boundary of a long line.

use anyhow::Result;
use lab::Control;
use serde::Serialize;
use wire::{Batch, Boundary, Key, PowerOn, Seed};

use super::mix::{Numbers, Random};
use super::pool::lab;
use super::{micros, now, progress};

/// Seeks that are timed.
const SEEKS: usize = 200;
/// Keys of one call.
const CALL_KEYS: u64 = 1_000;

/// How long it takes to look at an earlier boundary of a line.
#[derive(Debug, Serialize)]
pub(super) struct Seek {
    /// How many inputs the line has.
    pub(super) inputs: u64,
    pub(super) median_ms: f64,
    pub(super) p99_ms: f64,
}

/// Plays a line of so many inputs; a game that ends early is begun anew with another seed.
pub(super) fn measure(inputs: u64) -> Result<Seek> {
    progress("seeks");
    let lab = lab(2)?;
    let mut seed = 1;
    let machine = loop {
        let game = lab.new_game(PowerOn { debug: true, ..PowerOn::from_seed(Seed(seed)) }, false)?;
        let (mut revision, mut mix) = (game.revision, Random::new(seed));
        let mut done = 0;
        while done < inputs {
            let keys: Vec<Key> = (0..CALL_KEYS.min(inputs - done)).map(|_| mix.key()).collect();
            let report = lab.run(game.machine, revision, &Batch::forced(keys), &Control::default())?;
            (revision, done) = (report.snapshot.revision, report.snapshot.boundary.0);
            if report.snapshot.ended.is_some() {
                break;
            }
        }
        if done >= inputs {
            break game.machine;
        }
        lab.close(game.machine, None)?;
        seed += 1;
    };
    let mut numbers = Numbers::new(3);
    let mut times = Vec::new();
    for _ in 0..SEEKS {
        let to = Boundary(numbers.next() % inputs);
        let start = now();
        lab.frame_at(machine, to, &Control::default())?;
        times.push(micros(start.elapsed()) / 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(Seek { inputs, median_ms: times[SEEKS / 2], p99_ms: times[SEEKS * 99 / 100] })
}
