use std::path::PathBuf;
use std::sync::Arc;

use movie::Step;
use wire::{Boundary, Ended, Frame, Key, Message, PendingKind, PlayDigest, PowerOn, StopReason, Texts};

use crate::{GameId, Lifecycle, Lineage, MachineId, Revision};

/// Everything about a machine at one instant, all from one boundary. Cheap to clone; holds no lock.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The machine.
    pub machine: MachineId,
    /// Its game.
    pub game: GameId,
    /// What it was powered on with.
    pub power_on: Arc<PowerOn>,
    /// Where it was forked from. Absent for a machine that was powered on.
    pub lineage: Option<Lineage>,
    /// Guards every changing call.
    pub revision: Revision,
    /// The revision since which its line has only grown. At an earlier one, a boundary may have shown something else.
    pub line_since: Revision,
    /// How many inputs lie behind it.
    pub boundary: Boundary,
    /// How many of its line's boundaries have a reseed.
    pub reseeds: u64,
    /// How many edits of an operator lie on its line.
    pub edits: u64,
    /// What it is doing.
    pub lifecycle: Lifecycle,
    /// The calls that wait for it, the one that has its turn not counted.
    pub queued: usize,
    /// What is visible.
    pub frame: Arc<Frame>,
    /// How the game ended.
    pub ended: Option<Arc<Ended>>,
    /// What the boundary plays like, generators included.
    pub play: PlayDigest,
    /// Bytes of its image. What it takes in the store is far less, see [`LabInfo`].
    pub state_bytes: u64,
    /// Its journal.
    pub journal: Option<PathBuf>,
    /// Why its lifecycle is `Failed`.
    pub failure: Option<Arc<str>>,
}

impl Snapshot {
    /// What the machine waits for; nothing when it has ended.
    #[must_use]
    pub fn pending_kind(&self) -> Option<PendingKind> {
        self.frame.pending.as_ref().map(|pending| pending.kind)
    }
}

/// Why a call that presses keys came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// For a reason of the batch's own.
    Batch(StopReason),
    /// It was cancelled; what had been pressed stays.
    Cancelled,
    /// The caller's own condition held.
    Condition,
    /// The store has no room left for the machine's state. The machine stands at its last boundary, and goes on from
    /// there once other machines have been deleted.
    NoRoom,
    /// This key killed or hung two workers. It counts as not pressed: the machine is at the boundary before it.
    Lost {
        /// The key.
        key: Key,
        /// What happened to the workers.
        reason: String,
    },
}

/// What a call that presses keys has done.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The boundary that it began at.
    pub from: Boundary,
    /// The inputs that were really pressed, dismissals included.
    pub inputs: Vec<Key>,
    /// How many keys of the batch are among them.
    pub keys_used: usize,
    /// Why it came back.
    pub stop: Stop,
    /// The turns that passed.
    pub turns: i64,
    /// The messages given meanwhile, oldest first.
    pub messages: Vec<Message>,
    /// True when there were more messages than are kept; the oldest are missing then.
    pub messages_truncated: bool,
    /// The texts that were closed meanwhile.
    pub texts: Texts,
    /// How many workers were lost and replaced on the way. The play is the same with and without.
    pub workers_lost: u32,
    /// The machine afterwards.
    pub snapshot: Snapshot,
}

/// Messages of a machine, from its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePage {
    /// Those after the id that was asked for, oldest first.
    pub messages: Vec<Message>,
    /// True when some of those asked for are no longer kept.
    pub truncated: bool,
}

/// Inputs of a machine, from its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryPage {
    /// The boundary at which the first of them was pressed.
    pub from: Boundary,
    /// The inputs, each with the check of the boundary that it led to.
    pub steps: Vec<Step>,
    /// Reseeds at the boundaries of this page.
    pub reseeds: Vec<Reseed>,
    /// An operator's edits at the boundaries of this page, each before its boundary's input.
    pub edits: Vec<(Boundary, wire::Edit)>,
}

/// New generator seeds at a boundary, before its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reseed {
    /// The boundary.
    pub at: Boundary,
    /// For the generator that decides play.
    pub core: wire::Seed,
    /// For the generator that decides what things look like.
    pub display: wire::Seed,
}

/// A lab as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabInfo {
    /// What decides play.
    pub engine_id: String,
    /// The ROM that the workers run.
    pub rom_id: String,
    /// NetHack's version.
    pub nethack_version: String,
    /// How many machines there are.
    pub machines: usize,
    /// Bytes of the states held in memory, rounded up as they lie there.
    pub store_bytes: u64,
    /// Bytes of those held in the spill file.
    pub spill_bytes: u64,
    /// How many different states there are: those of machines, those on their way, and those that others are stored
    /// against.
    pub store_states: usize,
    /// How many of them are stored whole.
    pub store_keyframes: usize,
    /// How many are stored as what changed since another.
    pub store_deltas: usize,
    /// How many different files of the game they share.
    pub store_blobs: usize,
    /// How many workers there may be, those kept for interactive calls included.
    pub workers: usize,
    /// How many workers were lost since the start.
    pub workers_lost: u64,
    /// The newest revision.
    pub revision: Revision,
    /// The limits.
    pub limits: crate::Limits,
    /// The directory of journals.
    pub movies: Option<PathBuf>,
}
