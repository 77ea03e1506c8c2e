use serde::{Deserialize, Serialize};
use wire::{Boundary, PowerOn, Seed};

use crate::format::{Account, Entry};
use crate::movie::{Mark, MarkKind, Step};
use crate::text::{Checks, Keys};

/// The `format` of every ledger's header.
pub const LEDGER_FORMAT: &str = "nethack-lab-ledger";
/// The version of the format that is written, and the last that is read.
pub const LEDGER_VERSION: u32 = 1;
/// The largest ledger that is written, in bytes.
pub const LEDGER_BYTES_MAX: u64 = 1 << 30;
/// The most forks that a ledger keeps at once.
pub const LEDGER_FORKS_MAX: usize = 65_536;
/// The most notes that a ledger keeps at once.
pub const NOTES_MAX: usize = 16;
/// The longest text of a note, in bytes.
pub const NOTE_BYTES_MAX: usize = 256 << 10;
/// About how many bytes of inputs and marks go on one line of a ledger.
pub(crate) const LEDGER_LINE_BYTES: usize = 256 << 10;

/// The first line of a ledger: what plays, and beside which journal it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerHeader {
    /// What decides play.
    pub engine_id: String,
    /// The ROM that its forks were played with.
    pub rom_id: String,
    /// Name and version of the program that wrote it.
    pub creator: String,
    /// The file name of the journal.
    pub journal: String,
}

/// One line of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerRecord {
    /// Numbers up to this one were given to forks and are not given again.
    Numbers {
        /// The last of them.
        last: u64,
    },
    /// There is a new fork.
    Fork(Box<LedgerFork>),
    /// A fork's line is another now.
    Line {
        /// Its number.
        fork: u64,
        /// What is new.
        part: LinePart,
    },
    /// A fork is no more.
    Delete {
        /// Its number.
        fork: u64,
    },
    /// Something that is kept for whoever wrote it. A later note of the same name takes its place.
    Note {
        /// 1 to 64 letters, digits, `_` or `-`.
        name: String,
        /// At most [`NOTE_BYTES_MAX`] bytes; empty: there is no note of this name any more.
        text: String,
    },
}

/// A fork, as the line that begins it tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerFork {
    /// Its number; no other fork has or had it.
    pub number: u64,
    /// The game whose line it goes on from.
    pub game: String,
    /// Where it was forked from. Absent for a machine that goes back to its own power-on.
    pub parent: Option<LedgerParent>,
    /// What had happened before it was there.
    pub account: Account,
    /// The line that the first [`LinePart::common`] inputs of its own are those of.
    pub base: LedgerBase,
    /// What it has beyond them.
    pub part: LinePart,
}

/// Where a fork was forked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerParent {
    /// The number of that fork; 0: the machine of the journal; null: a machine that had no name any more.
    pub fork: Option<u64>,
    /// At which boundary.
    pub base: u64,
    /// New generator seeds there, core and display; null: the same luck.
    pub luck: Option<[Seed; 2]>,
}

/// Names a line without doubt, whatever becomes of its machine afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LedgerBase {
    /// The straight line that the first so many bytes of the journal give, which are whole lines.
    Journal(u64),
    /// The line of the fork of this number, as the ledger has told it up to here.
    Fork(u64),
    /// The empty line of this power-on.
    PowerOn(Box<PowerOn>),
}

/// What a line has beyond another's first inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinePart {
    /// How many inputs both have in common.
    pub common: Boundary,
    /// The inputs after them.
    pub steps: Vec<Step>,
    /// What lies between and after these, in order; at `common` too.
    pub marks: Vec<Mark>,
}

/// The header as it stands in the first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LedgerHeaderLine {
    pub(crate) format: String,
    pub(crate) version: u32,
    pub(crate) engine_id: String,
    pub(crate) rom_id: String,
    pub(crate) creator: String,
    pub(crate) journal: String,
}

/// Every other line, without its chain digest.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum LedgerLine {
    Numbers {
        last: u64,
    },
    Fork {
        fork: u64,
        game: String,
        parent: Option<LedgerParent>,
        account: Account,
        base: LedgerBase,
        common: u64,
        line: Vec<Entry>,
    },
    Line {
        fork: u64,
        common: u64,
        line: Vec<Entry>,
    },
    Delete {
        fork: u64,
    },
    Note {
        name: String,
        text: String,
    },
}

impl LinePart {
    /// True when the line is the common part and nothing else.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.marks.is_empty()
    }

    /// The boundary at its end.
    #[must_use]
    pub fn end(&self) -> Boundary {
        Boundary(self.common.0 + self.steps.len() as u64)
    }

    /// The part that entries tell, which must follow one another from `common` on.
    pub(crate) fn of(common: u64, entries: Vec<Entry>) -> Option<Self> {
        let mut part = Self { common: Boundary(common), ..Self::default() };
        for entry in entries {
            if entry.at() != Some(part.end().0) {
                return None;
            }
            match entry {
                Entry::Inputs { keys: Keys(keys), checks: Checks(checks), .. } if keys.len() == checks.len() => {
                    let steps = keys.into_iter().zip(checks).map(|(key, check)| Step { key, check });
                    part.steps.extend(steps);
                }
                Entry::Reseed { core, display, .. } => part.push(MarkKind::Reseed { core, display }),
                Entry::Debug { args, .. } => part.push(MarkKind::Debug { args }),
                Entry::Digests { play, state, .. } => part.push(MarkKind::Digests { play, state }),
                _ => return None,
            }
        }
        Some(part)
    }

    fn push(&mut self, kind: MarkKind) {
        self.marks.push(Mark { at: self.end(), kind });
    }
}
