//! Plain values that cross a process line: keys, power-on records, frames, pending states, batches and how games end.
//!
//! Nothing here does I/O or holds a machine. Every type has one binary form (postcard) and one
//! human-readable form (JSON), both through serde; what comes from outside is checked by a constructor.

mod asked;
mod batch;
mod character;
mod clock;
mod digest;
mod edit;
mod ended;
mod event;
mod frame;
mod frame_v1;
mod hidden;
mod key;
mod names;
mod nle_options;
mod options;
mod pending;
mod power_on;
mod seed;
mod status;
mod texts;

pub use asked::{ASKED_BYTES_MAX, Asked};
pub use batch::{Batch, BatchError, KEYS_MAX, OnMore, Segment, StopReason, accepts};
pub use character::{Alignment, Character, CharacterError, Gender, Race, Role};
pub use clock::{Clock, ClockError};
pub use digest::{Check, DigestError, PlayDigest, StateDigest};
pub use edit::{Edit, EditError, HeroField, KIND_CHARS_MAX, Mood, Place, WISH_CHARS_MAX};
pub use ended::{EndKind, Ended};
pub use event::Event;
pub use frame::{
    COLUMNS, Cursor, Frame, InventoryItem, MAP_COLUMNS, MAP_ROWS, Menu, MenuEntry, Message, Pick, ROWS, Screen, Window,
};
pub use frame_v1::{GENERATOR_BYTES, play_digest};
pub use hidden::{
    Hidden, HiddenDoor, HiddenDungeon, HiddenHero, HiddenLevel, HiddenMonster, HiddenObject, HiddenPart,
    HiddenProperty, HiddenRoom, HiddenStairs, HiddenTrap,
};
pub use key::{Key, KeyError};
pub use names::GlyphNames;
pub use nle_options::{NLE_OPTIONS, check_nle_options, nle_options_text};
pub use options::{OptionsError, check_options};
pub use pending::{Pending, PendingKind, Stage};
pub use power_on::{DEFAULT_OPTIONS, PowerOn, PowerOnError, Profile};
pub use seed::{Seed, SeedError};
pub use status::{Condition, Status};
pub use texts::{TEXT_BYTES_MAX, TEXT_LINES_MAX, Texts};

use serde::{Deserialize, Serialize};

/// A position in a machine's line: how many inputs lie before it. Boundary 0 is the first wait for a key after power-on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Boundary(pub u64);

impl Boundary {
    /// The boundary after one more input.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl std::fmt::Display for Boundary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
