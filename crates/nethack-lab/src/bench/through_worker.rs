//! Fork, key and frame through a worker process: what an experiment with one look costs.

use std::sync::Arc;

use anyhow::{Context, Result};
use wire::{Batch, Key, PowerOn, Seed};
use worker::{SharedMemory, Spawner, Start, Task, Want, Worker, WorkerOptions};

use super::{median, per_repetition, progress};

const STORE_BYTES: usize = 16 << 20;

/// Microseconds for: load a state from the store, press a key, send the frame back.
pub(super) fn measure() -> Result<f64> {
    progress("a worker");
    let store = Arc::new(SharedMemory::create(STORE_BYTES)?);
    let spawner = Spawner::new(WorkerOptions { store: Some(Arc::clone(&store)), ..WorkerOptions::default() })?;
    let mut worker = Worker::spawn(&spawner)?;
    let task = |start: Start, want: Want| Task { start, luck: None, batch: None, part: None, want };
    let report =
        worker.run(&task(Start::PowerOn(PowerOn::from_seed(Seed(1))), Want { state: true, ..Want::default() }))?;
    let bytes = report.state_bytes.context("a new game can be saved")?;
    let mut state = vec![0; usize::try_from(bytes)?];
    worker.output().copy_out(0, &mut state)?;
    store.copy_in(0, &state)?;
    let fork = Task {
        batch: Some(Batch::forced(vec![Key(b's')])),
        ..task(Start::State { offset: 0, bytes }, Want { frame: true, ..Want::default() })
    };
    median(|| per_repetition(1000, || Ok(worker.run(&fork)?)))
}
