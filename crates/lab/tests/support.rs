//! What several tests need.

use std::path::Path;

use lab::{Control, Lab, LabOptions, MachineId, RunReport, Snapshot};
use wire::{Batch, Key, PowerOn, Seed};

/// Makes this executable a worker.
pub(crate) const AS_WORKER: &str = "as-worker";

/// Keys of ordinary play, the more common ones more often: moves, searches, looks, prompts that are opened and left.
const MIX: &[u8] =
    b"hjklyubnhjklyubnHJKLYUBNssss..,,io:;@^ewrqdtzasEFZPRTWV<>\x1b\x1b\x1b\x1b\r\r  ynqa1234\x04\x10\x12\x18";

pub(crate) fn lab(movies: Option<&Path>, change: impl FnOnce(&mut LabOptions)) -> Lab {
    let mut options = LabOptions::new("/proc/self/exe");
    options.arguments = vec![AS_WORKER.into()];
    options.movies = movies.map(Path::to_owned);
    options.workers = 2;
    change(&mut options);
    Lab::new(options).unwrap()
}

pub(crate) fn power_on(seed: u64) -> PowerOn {
    PowerOn::from_seed(Seed(seed))
}

/// A seeded sequence of keys of ordinary play.
pub(crate) fn keys(seed: u64, count: usize) -> Vec<Key> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            Key(MIX[(state % MIX.len() as u64) as usize])
        })
        .collect()
}

pub(crate) fn run(lab: &Lab, machine: MachineId, keys: &[Key]) -> RunReport {
    let revision = lab.snapshot(machine).unwrap().revision;
    lab.run(machine, revision, &Batch::forced(keys.to_vec()), &Control::default()).unwrap()
}

/// What must be the same for two machines to be the same.
pub(crate) fn look(snapshot: &Snapshot) -> (u64, wire::PlayDigest, wire::Frame) {
    (snapshot.boundary.0, snapshot.play, snapshot.frame.as_ref().clone())
}
