//! What a line costs beyond its keys: lines of ten keys from one state, through one worker and in this process.
//! `cargo run --release -p worker --example lines`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use machine::{Codec, Machine, Stop};
use wire::{Batch, Frame, Key, PowerOn, Seed};
use worker::{
    Drive, Extent, Keep, Kept, Keyframe, Recipe, SharedMemory, Shelf, Spawner, Start, StateId, Task, Want, Worker,
    WorkerOptions,
};

type Error = Box<dyn std::error::Error>;

const LINES: usize = 128;
const ROUNDS: usize = 40;

fn keys(number: usize) -> Vec<Key> {
    let moves = b"hjklyubns.";
    (0..10).map(|place| Key(moves[(number * 7 + place * (3 + number % 5)) % moves.len()])).collect()
}

#[expect(clippy::disallowed_methods, reason = "it measures")]
fn now() -> Instant {
    Instant::now()
}

/// Microseconds for each line in this process.
fn in_process(keep: bool) -> Result<f64, Error> {
    let mut machine = Machine::open(rom::built_in())?;
    machine.power_on(&PowerOn::from_seed(Seed(3)))?;
    let image = machine.image()?;
    let (mut codec, mut frame, mut delta) = (Codec::default(), Frame::default(), Vec::new());
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = now();
        for number in 0..LINES {
            machine.load_from(&image, true)?;
            for key in keys(number) {
                if machine.press(key)? != Stop::Boundary {
                    break;
                }
            }
            machine.frame_into(&mut frame);
            if keep {
                delta.clear();
                machine.delta(&mut codec, &image, usize::MAX, &mut delta)?;
            }
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / LINES as f64);
    }
    Ok(best)
}

/// A worker's root state, taken over into a store.
fn root(worker: &mut Worker, store: &SharedMemory) -> Result<Recipe, Error> {
    let want = Want { keep: Some(Keep { against: None, delta_bytes_max: 0 }), ..Want::default() };
    let start = Start::PowerOn(PowerOn::from_seed(Seed(3)));
    let report = worker.run(&Task { start, event: None, drive: Drive::Nothing, want })?;
    let Some(Kept::Keyframe { body, .. }) = report.kept else { return Err("no keyframe".into()) };
    let bytes = worker.output().with_bytes(body.offset as usize, body.bytes as usize, <[u8]>::to_vec)?;
    store.copy_in(0, &bytes)?;
    let body = Extent { shelf: Shelf::Memory, offset: 0, bytes: body.bytes };
    let keyframe = Keyframe { id: StateId::of_keyframe(&bytes, []), body, blobs: Vec::new() };
    Ok(Recipe { keyframe, deltas: Vec::new() })
}

/// Microseconds for each line through a worker, `group` lines in a message.
fn through_worker(worker: &mut Worker, root: &Recipe, group: usize, keep: bool) -> Result<f64, Error> {
    let keep = keep.then_some(Keep { against: Some(root.id()), delta_bytes_max: 1 << 16 });
    let task = |number| Task {
        start: Start::State(root.clone()),
        event: None,
        drive: Drive::Batch { batch: Batch::forced(keys(number)), part: None },
        want: Want { frame: true, keep, ..Want::default() },
    };
    let tasks: Vec<_> = (0..LINES).map(task).collect();
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = now();
        for group in tasks.chunks(group) {
            let lines = worker.run_lines(group)?;
            assert!(lines.len() == group.len() && lines.iter().all(Result::is_ok));
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / LINES as f64);
    }
    Ok(best)
}

fn measure() -> Result<(), Error> {
    let store = Arc::new(SharedMemory::create(16 << 20)?);
    let options = WorkerOptions { store: Some(Arc::clone(&store)), ..WorkerOptions::default() };
    let mut worker = Worker::spawn(&Spawner::new(options)?)?;
    let root = root(&mut worker, &store)?;
    for keep in [false, true] {
        let alone = in_process(keep)?;
        println!("keep {keep}: in process {alone:.1} us a line of 10 keys with its frame");
        for group in [1, 8, 32, 128] {
            let lines = through_worker(&mut worker, &root, group, keep)?;
            println!("  {group:3} lines a message: {lines:.1} us, {:.1} more", lines - alone);
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("worker") {
        return worker::worker_main(Vec::new());
    }
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
