use wire::{COLUMNS, MAP_COLUMNS, MAP_ROWS, ROWS};

/// Items that an observation has room for.
const ITEMS: usize = 55;

/// NLE's observation: its arrays in C order, with its shapes, types and meanings. `docs/nle.md` tells what they hold.
///
/// Not among them is `screen_descriptions`: asking NLE for it changes the game.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
#[expect(missing_docs, reason = "the names are NLE's own")]
pub struct Observation {
    pub blstats: [i64; 27],
    pub internal: [i32; 9],
    pub misc: [i32; 3],
    pub program_state: [i32; 6],
    pub glyphs: [[i16; MAP_COLUMNS]; MAP_ROWS],
    pub inv_glyphs: [i16; ITEMS],
    pub chars: [[u8; MAP_COLUMNS]; MAP_ROWS],
    pub colors: [[u8; MAP_COLUMNS]; MAP_ROWS],
    pub specials: [[u8; MAP_COLUMNS]; MAP_ROWS],
    pub message: [u8; 256],
    pub inv_letters: [u8; ITEMS],
    pub inv_oclasses: [u8; ITEMS],
    pub inv_strs: [[u8; 80]; ITEMS],
    pub tty_chars: [[u8; COLUMNS]; ROWS],
    pub tty_colors: [[i8; COLUMNS]; ROWS],
    /// Row and column.
    pub tty_cursor: [u8; 2],
}

impl Default for Observation {
    /// All zero, as NLE's arrays are before it fills them.
    fn default() -> Self {
        Self {
            blstats: [0; 27],
            internal: [0; 9],
            misc: [0; 3],
            program_state: [0; 6],
            glyphs: [[0; MAP_COLUMNS]; MAP_ROWS],
            inv_glyphs: [0; ITEMS],
            chars: [[0; MAP_COLUMNS]; MAP_ROWS],
            colors: [[0; MAP_COLUMNS]; MAP_ROWS],
            specials: [[0; MAP_COLUMNS]; MAP_ROWS],
            message: [0; 256],
            inv_letters: [0; ITEMS],
            inv_oclasses: [0; ITEMS],
            inv_strs: [[0; 80]; ITEMS],
            tty_chars: [[0; COLUMNS]; ROWS],
            tty_colors: [[0; COLUMNS]; ROWS],
            tty_cursor: [0; 2],
        }
    }
}

/// A choice of an observation's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrays(u32);

impl Arrays {
    /// `glyphs`.
    pub const GLYPHS: Self = Self(1);
    /// `chars`, `colors` and `specials`.
    pub const MAPPED: Self = Self(2);
    /// `blstats`.
    pub const BLSTATS: Self = Self(4);
    /// `message`.
    pub const MESSAGE: Self = Self(8);
    /// `inv_glyphs`, `inv_letters`, `inv_oclasses` and `inv_strs`.
    pub const INVENTORY: Self = Self(16);
    /// `internal`, `misc` and `program_state`.
    pub const INTERNAL: Self = Self(32);
    /// `tty_chars`, `tty_colors` and `tty_cursor`.
    pub const TTY: Self = Self(64);
    /// All of them.
    pub const ALL: Self = Self(127);
    /// What the `NetHackChallenge` task is given: all but `internal` and `program_state`, which come along with `misc`.
    pub const CHALLENGE: Self = Self::ALL;

    /// These and those.
    #[must_use]
    pub const fn and(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }
}
