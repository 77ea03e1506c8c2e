//! The lab's laws over a small deterministic machine in place of NetHack, so that they take milliseconds and workers
//! die where a test wants them to.

mod adoption;
mod edits;
mod forks;
mod guards;
mod handovers;
mod journals;
mod ledgers;
mod lines;
mod losses;
mod replacing;
mod reseeds;
mod state_document;
mod state_files;
mod timeline;
mod toy;
mod trees;
mod turns;
mod walks;

use wire::{Batch, Key, PowerOn, Seed};

use crate::{Control, Lab, MachineId, RunReport, Snapshot};

fn power_on(seed: u64) -> PowerOn {
    PowerOn::from_seed(Seed(seed))
}

fn keys(text: &str) -> Batch {
    Batch::forced(text.bytes().map(Key).collect())
}

/// A text of plain keys that depends on the seed.
fn text(seed: u64, length: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(b'a' + (state % 20) as u8)
        })
        .collect()
}

fn run(lab: &Lab, machine: MachineId, text: &str) -> RunReport {
    let revision = lab.snapshot(machine).unwrap().revision;
    lab.run(machine, revision, &keys(text), &Control::default()).unwrap()
}

/// What must be the same for two machines to be the same.
fn look(snapshot: &Snapshot) -> (u64, wire::PlayDigest, wire::Frame) {
    (snapshot.boundary.0, snapshot.play, snapshot.frame.as_ref().clone())
}

/// Fills the disk under a machine's journal, or makes room again.
fn fill_disk(lab: &Lab, machine: MachineId, full: bool) {
    let slot = lab.0.slot(machine).unwrap();
    let held = slot.take(None, 16).unwrap();
    held.journal().as_mut().unwrap().fill_disk(full);
}
