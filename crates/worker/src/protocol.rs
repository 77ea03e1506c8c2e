//! What host and worker say to each other.

use serde::{Deserialize, Serialize};
use wire::{Batch, Check, Ended, Frame, Key, Message, Pending, PlayDigest, PowerOn, Seed, StateDigest, StopReason};

/// The version of everything in this file. It stands in every frame on the socket.
pub const PROTOCOL_VERSION: u8 = 1;

/// The most bytes of a frame from host to worker. A batch of one-key segments stays below it.
pub(crate) const REQUEST_BYTES_MAX: usize = 1 << 20;
/// The most bytes of a frame from worker to host.
pub(crate) const REPLY_BYTES_MAX: usize = 8 << 20;

/// The host's first words; after the worker's [`Hello`], [`Task`]s follow. The descriptors come with it: output slot, then store and ROM where there are any.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// Size of the output slot.
    pub(crate) output_bytes: u64,
    /// Size of the store of save states.
    pub(crate) store_bytes: Option<u64>,
    /// Size of the ROM that takes the place of the executable's own.
    pub(crate) rom_bytes: Option<u64>,
    /// CPU time that one key may take.
    pub(crate) key_cpu_limit_ms: u64,
}

/// The worker's first words, said when its sandbox stands and its ROM is mapped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the protocol that it speaks.
    pub protocol_version: u8,
    /// The ROM that it runs.
    pub rom_id: String,
    /// What decides play in it.
    pub engine_id: String,
    /// Its process id.
    pub pid: u32,
}

/// What a worker is to do: start from somewhere, press keys, tell of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Where to start.
    pub start: Start,
    /// New seeds (core, display) for the random generators, set before the first key.
    pub luck: Option<(Seed, Seed)>,
    /// What to press. Absent: nothing.
    pub batch: Option<Batch>,
    /// Which of the batch's keys to press. Absent: all.
    pub part: Option<Part>,
    /// What to tell beyond what is always told.
    pub want: Want,
}

/// Where a task starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    /// Where the worker's last task ended.
    Resident,
    /// A new game.
    PowerOn(PowerOn),
    /// The save state that lies in the store.
    State {
        /// Where it begins.
        offset: u64,
        /// How long it is.
        bytes: u64,
    },
}

/// Some of a batch's keys, so that a long one can be sent in parts that together do what the whole would.
///
/// A segment's expectation is asked for at the segment's first key alone, and prompts after the part's last key are
/// dismissed only when that is the batch's last. `turns_max` counts from the start of the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The first key, counted from 0 over all segments.
    pub from: u32,
    /// How many; what is beyond the batch's last does not count.
    pub count: u32,
}

/// What a report holds beyond what is always told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Want {
    /// A check after every input.
    pub checks: bool,
    /// The frame at the end.
    pub frame: bool,
    /// The save state at the end, in the output slot.
    pub state: bool,
    /// The state digest at the end.
    pub state_digest: bool,
    /// The messages of all inputs.
    pub messages: bool,
}

/// What came of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What was pressed, dismissals included.
    pub inputs: Vec<Key>,
    /// The check after each input, where wanted.
    pub checks: Vec<Check>,
    /// How many of the batch's (or part's) own keys were pressed.
    pub keys_used: u32,
    /// Why it stopped there.
    pub stop: StopReason,
    /// How many turns passed.
    pub turns: i64,
    /// How the game ended, if it has.
    pub ended: Option<Ended>,
    /// What the game waits for now.
    pub pending: Option<Pending>,
    /// The turn counter now.
    pub turn: i64,
    /// The play digest now.
    pub play: PlayDigest,
    /// The state digest now, where wanted.
    pub state_digest: Option<StateDigest>,
    /// The frame now, where wanted. Its messages are those of the last input.
    pub frame: Option<Frame>,
    /// The messages of all inputs (after a power-on also those before the first), where wanted; the newest of them.
    pub messages: Vec<Message>,
    /// True when there were more messages.
    pub messages_truncated: bool,
    /// How long the save state is that stands at the start of the output slot, where wanted. Absent also when the
    /// engine failed, which leaves nothing to save.
    pub state_bytes: Option<u64>,
}

/// What a worker says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// It is ready.
    Hello(Hello),
    /// It still works at the task, between two keys.
    Busy,
    /// The task is done.
    Done(Box<Report>),
    /// The task is refused; nothing has changed.
    Refused(String),
    /// The task is refused, but the resident machine is gone.
    Displaced(String),
    /// The last of these inputs took too long. The worker is of no use any more.
    Hung(Vec<Key>),
    /// The worker is broken and ends.
    Failed(String),
}

/// Why a task gave no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// It can't be done; nothing has changed in the worker.
    #[error("the task is refused: {0}")]
    Refused(String),
    /// It can't be done, and the machine that was resident in the worker has gone. The worker is well.
    #[error("the task is refused after its start: {0}")]
    Displaced(String),
    /// The last of these inputs took more CPU time than a key may. The worker is gone.
    #[error("key {} took more CPU time than a key may", inputs.len())]
    Hung {
        /// What was pressed in this task.
        inputs: Vec<Key>,
    },
    /// The worker is gone; what it pressed is unknown.
    #[error("the worker is lost: {reason}")]
    Lost {
        /// What happened.
        reason: LostReason,
    },
}

/// What happened to a worker that was lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LostReason {
    /// The host killed it.
    #[error("it was killed by its host")]
    Killed,
    /// It was ended by a signal.
    #[error("it was ended by signal {0}")]
    Signal(i32),
    /// It exited.
    #[error("it exited with status {0}")]
    Exit(i32),
    /// It told that it is broken.
    #[error("{0}")]
    Failed(String),
    /// It sent what it must not send, or nothing could be sent to it.
    #[error("the talk with it broke off: {0}")]
    Protocol(String),
    /// It neither answered nor got on with its work.
    #[error("it does not answer")]
    Silent,
    /// A key hung in it, in an earlier task.
    #[error("a key hung in it")]
    Hung,
}
