use serde::{Deserialize, Serialize};
use wire::{Ended, PlayDigest, PowerOn, Seed, StateDigest};

use crate::text::{Checks, Keys};

/// The `format` of every header.
pub const FORMAT: &str = "nethack-lab-movie";
/// The version of the format that is written, and the last that is read.
pub const VERSION: u32 = 1;
/// The largest file that is read or written, in bytes.
pub const FILE_BYTES_MAX: usize = 256 << 20;
/// The longest line, in bytes, without its newline.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// The most inputs that one line holds.
pub const LINE_INPUTS_MAX: usize = 100_000;
/// The most inputs that an exported movie puts on one line.
pub const PACKED_INPUTS: usize = 3_000;
/// The most inputs that a straight line holds.
pub const INPUTS_MAX: usize = 1_000_000;
/// The most lines of the kinds `reseed`, `debug`, `digests` and `lost` together.
pub const MARKS_MAX: usize = 250_000;
/// The longest text of a debug edit's arguments, in bytes.
pub const ARGS_BYTES_MAX: usize = 4_096;
/// The longest name of a fork, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// The longest of the header's texts (ids, versions), in bytes.
pub const HEADER_TEXT_BYTES_MAX: usize = 128;
/// The largest count of an account, so that every JSON reader reads it exactly.
pub const COUNT_MAX: u64 = (1 << 53) - 1;
/// How many inputs lie between two digests of a journal.
pub const DIGESTS_EVERY: u64 = 1_000;

/// The first line: what plays, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What decides play: equal engine ids promise equal play.
    pub engine_id: String,
    /// The ROM that the movie was made with; equal ROM ids promise equal bytes.
    pub rom_id: String,
    /// NetHack's own version, `3.6.7`.
    pub nethack_version: String,
    /// Name and version of the program that wrote the movie.
    pub creator: String,
    /// All that fixes the run.
    pub power_on: PowerOn,
}

/// Why a header can't be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` must be 1 to {HEADER_TEXT_BYTES_MAX} printable ASCII characters")]
pub struct HeaderError {
    field: &'static str,
}

impl Header {
    /// Refuses texts that no id or version has.
    ///
    /// # Errors
    /// The first field that is refused.
    pub fn check(&self) -> Result<(), HeaderError> {
        [
            ("engine_id", &self.engine_id),
            ("rom_id", &self.rom_id),
            ("nethack_version", &self.nethack_version),
            ("creator", &self.creator),
        ]
        .into_iter()
        .find(|(_, text)| {
            !(1..=HEADER_TEXT_BYTES_MAX).contains(&text.len())
                || !text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        })
        .map_or(Ok(()), |(field, _)| Err(HeaderError { field }))
    }
}

/// The header as it stands in the first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeaderLine {
    pub(crate) format: String,
    pub(crate) version: u32,
    pub(crate) engine_id: String,
    pub(crate) rom_id: String,
    pub(crate) nethack_version: String,
    pub(crate) creator: String,
    pub(crate) power_on: PowerOn,
}

impl From<&Header> for HeaderLine {
    fn from(header: &Header) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            engine_id: header.engine_id.clone(),
            rom_id: header.rom_id.clone(),
            nethack_version: header.nethack_version.clone(),
            creator: header.creator.clone(),
            power_on: header.power_on.clone(),
        }
    }
}

impl From<HeaderLine> for Header {
    fn from(line: HeaderLine) -> Self {
        Self {
            engine_id: line.engine_id,
            rom_id: line.rom_id,
            nethack_version: line.nethack_version,
            creator: line.creator,
            power_on: line.power_on,
        }
    }
}

/// Every line but the first: one kind each, without its chain digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Entry {
    /// What the movie that this one goes on from had seen beside the straight line.
    Past { account: Account },
    /// Acknowledged inputs.
    Inputs { at: u64, keys: Keys, checks: Checks },
    /// Keys that are about to be pressed.
    Send { at: u64, keys: Keys },
    /// How many of the keys sent were pressed; `keys` where others were.
    Done {
        at: u64,
        n: u64,
        checks: Checks,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keys: Option<Keys>,
    },
    /// A key that killed its worker and so was never pressed.
    Lost { at: u64, key: Keys },
    /// New generator seeds.
    Reseed { at: u64, core: Seed, display: Seed },
    /// Back to an earlier boundary.
    Seek { at: u64, to: u64 },
    /// A fork's line takes the place of what lies beyond `base`; it follows in as many lines.
    Adopt { at: u64, from: String, base: u64, lines: u64 },
    /// Forks made and lines tried from here.
    Peek { at: u64, forks: u64, lines: u64 },
    /// An operator's edit.
    Debug { at: u64, args: String },
    /// What the machine is here.
    Digests {
        at: u64,
        play: PlayDigest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<StateDigest>,
    },
    /// The end of the movie.
    End { at: u64, how: Finish, account: Account },
}

/// How a movie comes to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The movie does not say: its journal has no last line.
    #[default]
    Unknown,
    /// The game goes on after the last input.
    Open,
    /// The last input (or power-on) ended the game.
    Ended(Ended),
}

/// What happened on the way to a straight line, jumps and peeks included. A claim of whoever wrote the movie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Inputs in all, abandoned ones included.
    pub inputs: u64,
    /// Peeks: how often somebody looked ahead.
    pub peeks: u64,
    /// Forks made, over all peeks.
    pub forks: u64,
    /// Lines tried ahead, over all peeks.
    pub lines: u64,
    /// Seeks.
    pub seeks: u64,
    /// Forks adopted.
    pub adoptions: u64,
    /// Reseeds in all, abandoned ones included.
    pub reseeds: u64,
    /// Debug edits in all, abandoned ones included.
    pub debugs: u64,
    /// Keys that killed their worker.
    pub lost: u64,
}

impl Account {
    fn counts(&self) -> [u64; 9] {
        let Self { inputs, peeks, forks, lines, seeks, adoptions, reseeds, debugs, lost } = *self;
        [inputs, peeks, forks, lines, seeks, adoptions, reseeds, debugs, lost]
    }

    /// The larger of both for every count: what is known of one way that both tell of.
    #[must_use]
    pub fn or_more(&self, other: &Self) -> Self {
        Self {
            inputs: self.inputs.max(other.inputs),
            peeks: self.peeks.max(other.peeks),
            forks: self.forks.max(other.forks),
            lines: self.lines.max(other.lines),
            seeks: self.seeks.max(other.seeks),
            adoptions: self.adoptions.max(other.adoptions),
            reseeds: self.reseeds.max(other.reseeds),
            debugs: self.debugs.max(other.debugs),
            lost: self.lost.max(other.lost),
        }
    }

    /// True when every count is at least the other's.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.counts().iter().zip(other.counts()).all(|(count, other)| *count >= other)
    }

    /// True when no count is over [`COUNT_MAX`].
    pub(crate) fn fits(&self) -> bool {
        self.counts().iter().all(|count| *count <= COUNT_MAX)
    }
}
