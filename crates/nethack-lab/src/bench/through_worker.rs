//! Fork, key and frame through a worker process: what an experiment with one look costs.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use wire::{Batch, Key, PowerOn, Seed};
use worker::{
    Drive, Extent, Keep, Kept, Keyframe, Piece, Recipe, SharedMemory, Shelf, Spawner, Start, StateId, Task, Want,
    Worker, WorkerOptions,
};

use super::{median, per_repetition, progress};

const STORE_BYTES: usize = 16 << 20;

/// Copies a piece from a worker's output slot into the store; gives the bytes, and where they lie.
fn store(worker: &Worker, store: &SharedMemory, piece: &Piece, at: &mut usize) -> Result<(Vec<u8>, Extent)> {
    let mut bytes = vec![0; usize::try_from(piece.bytes)?];
    worker.output().copy_out(usize::try_from(piece.offset)?, &mut bytes)?;
    store.copy_in(*at, &bytes)?;
    let extent = Extent { shelf: Shelf::Memory, offset: *at as u64, bytes: piece.bytes };
    *at += bytes.len();
    Ok((bytes, extent))
}

/// Microseconds for: load a state from the store, press a key, send the frame back.
pub(super) fn measure() -> Result<f64> {
    progress("a worker");
    let memory = Arc::new(SharedMemory::create(STORE_BYTES)?);
    let spawner = Spawner::new(WorkerOptions { store: Some(Arc::clone(&memory)), ..WorkerOptions::default() })?;
    let mut worker = Worker::spawn(&spawner)?;
    let task = |start: Start, drive, want: Want| Task { start, event: None, drive, want };
    let keep = Some(Keep { against: None, delta_bytes_max: 0 });
    let start = Start::PowerOn(PowerOn::from_seed(Seed(1)));
    let report = worker.run(&task(start, Drive::Nothing, Want { keep, ..Want::default() }))?;
    let Kept::Keyframe { body, blobs } = report.kept.context("a new game can be kept")? else {
        bail!("a new game is kept whole");
    };
    let mut at = 0;
    let (body, body_extent) = store(&worker, &memory, &body, &mut at)?;
    let blobs = blobs.iter().map(|blob| store(&worker, &memory, blob, &mut at)).collect::<Result<Vec<_>>>()?;
    let (blobs, extents): (Vec<_>, Vec<_>) = blobs.into_iter().unzip();
    let blobs: Vec<&[u8]> = blobs.iter().map(Vec::as_slice).collect();
    let id = StateId::of_keyframe(&body, blobs.iter().copied());
    let recipe = Recipe { keyframe: Keyframe { id, body: body_extent, blobs: extents }, deltas: Vec::new() };
    let drive = Drive::Batch { batch: Batch::forced(vec![Key(b's')]), part: None };
    let fork = task(Start::State(recipe), drive, Want { frame: true, ..Want::default() });
    median(|| per_repetition(1000, || Ok(worker.run(&fork)?)))
}
