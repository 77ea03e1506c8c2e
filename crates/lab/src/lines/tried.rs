use wire::{Batch, Ended, Frame, Key, Message, Pending, PlayDigest, StopReason, Texts};

use crate::engine::LazyFrame;
use crate::{Luck, State};

/// A line to be tried: from where, with which luck, how it is driven, and what is wanted of where it leads.
///
/// It is made with [`Try::keys`], [`Try::batch`] or [`Try::policy`] and asks for nothing but what is always told; the
/// other methods ask for more.
///
/// ```
/// # fn ask(start: &lab::State) {
/// use lab::{Luck, Try};
/// use wire::Seed;
///
/// let plain = Try::keys(start, b"20s");
/// let kept = Try::keys(start, b"20s").kept().framed();
/// // The same keys under other luck: what may happen instead of what will.
/// let luck = Luck::Reseed { core: Seed(1), display: Seed(2) };
/// let lucky = Try::keys(start, b"20s").with_luck(luck);
/// assert!(!plain.keep && kept.keep && kept.frame && lucky.luck == luck);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Try {
    /// Where it starts.
    pub from: State,
    /// What chance holds for it. [`Luck::Same`] shows what will happen.
    pub luck: Luck,
    /// What presses its keys.
    pub drive: Drive,
    /// Whether the state that it leads to is kept.
    pub keep: bool,
    /// Whether the frame at its end is wanted.
    pub frame: bool,
    /// Whether the messages of all its keys are wanted.
    pub messages: bool,
}

/// What presses the keys of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drive {
    /// The keys of a batch, as far as the game takes them for what they were meant as. An empty one presses nothing.
    Keys(Batch),
    /// A policy that lives in the worker, see [`Policy`](crate::Policy).
    Policy {
        /// Which one.
        name: String,
        /// What it is told before the line's first key. The policy says what they mean.
        arguments: Vec<u8>,
        /// The most keys that it may press.
        keys_max: u32,
        /// The turns after which it is stopped.
        turns_max: Option<u64>,
    },
}

/// What came of a line.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The inputs that were pressed, dismissals included.
    pub inputs: Vec<Key>,
    /// How many keys of the batch are among them; how many a policy has pressed.
    pub keys_used: usize,
    /// Why it ended there.
    pub stop: LineStop,
    /// The turns that passed.
    pub turns: i64,
    /// The turn counter at its end.
    pub turn: i64,
    /// How the game ended, if it has.
    pub ended: Option<Ended>,
    /// What the game waits for; nothing when it has ended.
    pub pending: Option<Pending>,
    /// What the boundary at its end plays like, generators included: equal digests go on alike.
    pub play: PlayDigest,
    /// A policy's outcome; empty for keys.
    pub outcome: Vec<u8>,
    /// The state that it leads to, where it was to be kept. Absent also where the engine failed, and where there was
    /// no room left ([`Tried::no_room`]).
    pub state: Option<State>,
    /// True when the state was to be kept and the store is full. The line is as good as any; dropping states makes
    /// room, and trying it again keeps it.
    pub no_room: bool,
    /// The messages of all its keys, oldest first, where wanted.
    pub messages: Vec<Message>,
    /// True when there were more messages than are told; the oldest are missing then.
    pub messages_truncated: bool,
    /// The texts that were closed, where messages are wanted.
    pub texts: Texts,
    pub(super) frame: Option<LazyFrame>,
}

/// Why a line ended where it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineStop {
    /// For a reason of its own.
    Line(StopReason),
    /// The call was cancelled before it was done.
    Cancelled,
    /// The worker would not do it, for this reason; no key was pressed.
    Refused {
        /// Why, in the worker's or the policy's words.
        reason: String,
    },
    /// Two workers were lost under it, or a key of it or its policy hung. Trying it again is sound: nothing of it has stayed.
    Lost {
        /// What happened last.
        reason: String,
    },
}

impl Try {
    /// Keys that are pressed whatever the game waits for, one for each byte.
    #[must_use]
    pub fn keys(from: &State, keys: impl AsRef<[u8]>) -> Self {
        let keys: Vec<Key> = keys.as_ref().iter().map(|&byte| Key(byte)).collect();
        Self::batch(from, Batch::forced(keys))
    }

    /// Keys that are pressed as a batch says.
    #[must_use]
    pub fn batch(from: &State, batch: Batch) -> Self {
        Self::driven(from, Drive::Keys(batch))
    }

    /// A policy's keys, at most `keys_max` of them.
    #[must_use]
    pub fn policy(from: &State, name: &str, arguments: impl Into<Vec<u8>>, keys_max: u32) -> Self {
        let (name, arguments) = (name.to_owned(), arguments.into());
        Self::driven(from, Drive::Policy { name, arguments, keys_max, turns_max: None })
    }

    fn driven(from: &State, drive: Drive) -> Self {
        Self { from: from.clone(), luck: Luck::Same, drive, keep: false, frame: false, messages: false }
    }

    /// Keeps the state that it leads to.
    #[must_use]
    pub fn kept(self) -> Self {
        Self { keep: true, ..self }
    }

    /// Wants the frame at its end.
    #[must_use]
    pub fn framed(self) -> Self {
        Self { frame: true, ..self }
    }

    /// Wants the messages of all its keys.
    #[must_use]
    pub fn with_messages(self) -> Self {
        Self { messages: true, ..self }
    }

    /// Draws other random numbers from its start on.
    #[must_use]
    pub fn with_luck(self, luck: Luck) -> Self {
        Self { luck, ..self }
    }
}

impl Drive {
    /// The most keys that it presses, dismissals left out.
    #[must_use]
    pub fn keys_max(&self) -> usize {
        match self {
            Self::Keys(batch) => batch.len(),
            Self::Policy { keys_max, .. } => *keys_max as usize,
        }
    }
}

impl Tried {
    /// A line of which nothing is known but why.
    pub(super) fn untried(stop: LineStop) -> Self {
        Self {
            inputs: Vec::new(),
            keys_used: 0,
            stop,
            turns: 0,
            turn: 0,
            ended: None,
            pending: None,
            play: PlayDigest([0; 16]),
            outcome: Vec::new(),
            state: None,
            no_room: false,
            messages: Vec::new(),
            messages_truncated: false,
            texts: Texts::default(),
            frame: None,
        }
    }

    /// What is visible at its end, where wanted. It is read anew by every call. Absent also where a broken engine wrote
    /// none that can be read.
    #[must_use]
    pub fn frame(&self) -> Option<Frame> {
        self.frame.as_ref()?.read()
    }

    /// Whether the line was tried: false where it was cancelled, refused or lost. The other fields say nothing then.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.stop, LineStop::Line(_))
    }
}
