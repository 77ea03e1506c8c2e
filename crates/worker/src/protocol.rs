//! What host and worker say to each other.

use serde::{Deserialize, Serialize};
use wire::{
    Asked, Batch, Check, Ended, Event, Frame, Hidden, HiddenPart, Key, Message, Pending, PlayDigest, PowerOn,
    StateDigest, StopReason, Texts,
};

use crate::recipe::{Recipe, StateId};

/// The version of everything in this file. It stands in every frame on the socket.
pub const PROTOCOL_VERSION: u8 = 4;

/// The most bytes of a frame from host to worker. A batch of one-key segments stays below it.
pub(crate) const REQUEST_BYTES_MAX: usize = 1 << 20;
/// The most bytes of a frame from worker to host.
pub(crate) const REPLY_BYTES_MAX: usize = 8 << 20;
/// The most tasks in one message.
pub const LINES_MAX: usize = 256;
/// The most keys that a policy may press in one task.
pub const ROLLOUT_KEYS_MAX: u32 = 500_000;
/// The most bytes that a policy may bring back, or be told before its first key.
pub const POLICY_BYTES_MAX: usize = 64 << 10;

/// How the reason begins for which an edit is refused by the game.
pub const EDIT_REFUSED: &str = "the edit is refused: ";

/// The host's first words; after the worker's [`Hello`], lists of [`Task`]s follow. The descriptors come with
/// it: output slot, then store, spill and ROM where there are any.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// Size of the output slot.
    pub(crate) output_bytes: u64,
    /// Size of the store of states in memory.
    pub(crate) store_bytes: Option<u64>,
    /// Size of the store of states in a file.
    pub(crate) spill_bytes: Option<u64>,
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
    /// The names of its policies.
    pub policies: Vec<String>,
}

/// What a worker is to do: start from somewhere, press keys, tell of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Where to start.
    pub start: Start,
    /// What happens before the first key. An edit that the game refuses refuses the task.
    pub event: Option<Event>,
    /// Where the keys come from.
    pub drive: Drive,
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
    /// A state that lies in the store.
    State(Recipe),
}

/// Where the keys of a task come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Drive {
    /// None is pressed.
    Nothing,
    /// A batch of keys.
    Batch {
        /// What to press.
        batch: Batch,
        /// Which of its keys. Absent: all.
        part: Option<Part>,
    },
    /// A [`Policy`](crate::Policy) of the worker's, which chooses each key when it has seen what the last one did.
    Policy {
        /// Which one.
        name: String,
        /// What it is told before its first key.
        arguments: Vec<u8>,
        /// The most keys that it may press, at most [`ROLLOUT_KEYS_MAX`].
        keys_max: u32,
        /// Stop once this many turns have passed.
        turns_max: Option<u64>,
    },
}

/// Some of a batch's keys, so that a long one can be sent in parts that together do what the whole would.
///
/// A segment's expectation is asked for at the segment's first key alone, and prompts after the part's last key are
/// dismissed only when that is the batch's last. `turns_max` counts from the start of the part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The first key, counted from 0 over all segments.
    pub from: u32,
    /// How many; what is beyond the batch's last does not count.
    pub count: u32,
    /// What the part before has answered last, as its report tells.
    pub asked: Option<Asked>,
}

/// The state to keep at a task's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keep {
    /// The state against which to keep it: that from which the task started, or its keyframe. Where the worker can't,
    /// or with none given, it keeps a keyframe.
    pub against: Option<StateId>,
    /// The longest delta to keep; where it would be longer, it keeps a keyframe.
    pub delta_bytes_max: u64,
}

/// What a report holds beyond what is always told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Want {
    /// A check after every input.
    pub checks: bool,
    /// The frame at the end.
    pub frame: bool,
    /// The state at the end, in the output slot.
    pub keep: Option<Keep>,
    /// The state digest at the end.
    pub state_digest: bool,
    /// The messages of all inputs, and of an edit before them, and the texts that were closed.
    pub messages: bool,
    /// A part of what no player sees, at the end.
    pub hidden: Option<HiddenPart>,
}

/// Bytes in a worker's output slot. They stay as they are until its next task, or its next lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Where they begin.
    pub offset: u64,
    /// How many they are.
    pub bytes: u64,
}

/// A state that was kept, in the output slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kept {
    /// A whole one.
    Keyframe {
        /// All but the larger files of the game.
        body: Piece,
        /// Those files.
        blobs: Vec<Piece>,
    },
    /// What changed against the state that [`Keep::against`] names.
    Delta {
        /// The delta.
        bytes: Piece,
    },
}

/// What came of a task. Lines give their frames as [`FrameBytes`](crate::FrameBytes), to be read on demand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report<F = Frame> {
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
    pub frame: Option<F>,
    /// The messages of all inputs (after a power-on also those before the first), where wanted; the newest of them.
    pub messages: Vec<Message>,
    /// True when there were more messages.
    pub messages_truncated: bool,
    /// The texts that were closed by these inputs, where messages are wanted.
    pub texts: Texts,
    /// What a batch's last key has answered, where the game may yet refuse it.
    pub asked: Option<Asked>,
    /// The state that was kept, where wanted. Absent also when the engine failed, which leaves nothing to keep.
    pub kept: Option<Kept>,
    /// How long the machine's image is now, uncompressed.
    pub image_bytes: u64,
    /// What the policy brought back; empty without one.
    pub outcome: Vec<u8>,
    /// What no player sees, where wanted. Absent also where no game is under way.
    pub hidden: Option<Hidden>,
}

/// Why a line gave no report. The worker is well, and goes on with the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("the line is refused: {reason}")]
pub struct Refusal {
    /// The worker's word.
    pub reason: String,
    /// True when the machine that was resident in the worker has gone.
    pub displaced: bool,
}

/// What came of one of several tasks, as it is sent.
pub(crate) type Line = Result<Report<Piece>, Refusal>;

/// What a worker says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// It is ready.
    Hello(Hello),
    /// It still works, between two keys.
    Busy,
    /// The tasks are done, or as many of them as there was room for; at least one.
    Done(Vec<Line>),
    /// The last of these inputs, all of one task, took too long. The worker is of no use any more.
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
    /// The last of these inputs took more CPU time than a key may, or what chooses keys did. The worker is gone.
    #[error("{} took more CPU time than a key may", who_hung(inputs))]
    Hung {
        /// What was pressed in this task. Empty when a policy hung: what it has pressed is unknown.
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
    /// A key or a policy hung in it, in an earlier task.
    #[error("a key or a policy hung in it")]
    Hung,
}

fn who_hung(inputs: &[Key]) -> String {
    match inputs.len() {
        0 => "a function of a policy".to_owned(),
        count => format!("key {count}"),
    }
}
