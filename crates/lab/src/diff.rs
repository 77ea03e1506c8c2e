use wire::{Boundary, InventoryItem, Message, Pending};

use crate::MachineId;

/// How two machines of any kind differ at their present boundaries, complete; paging is the caller's.
#[derive(Clone, Debug)]
pub struct Diff {
    /// The first machine.
    pub a: MachineId,
    /// The second.
    pub b: MachineId,
    /// Where each of them is.
    pub boundaries: (Boundary, Boundary),
    /// The last boundary that both lines have in common. Absent when they are not of one game.
    pub common: Option<Boundary>,
    /// The terminal's cells that differ, row by row.
    pub cells: Vec<CellDiff>,
    /// The cursors (row, column), where they differ.
    pub cursor: Option<((u8, u8), (u8, u8))>,
    /// The map's glyphs that differ, row by row.
    pub glyphs: Vec<GlyphDiff>,
    /// The status fields that differ, in the order of `wire::Status`.
    pub status: Vec<FieldDiff>,
    /// Messages of `a` alone, since the lines parted, as far as they are kept.
    pub messages_a: Vec<Message>,
    /// Messages of `b` alone.
    pub messages_b: Vec<Message>,
    /// True when either log lacks messages since the lines parted.
    pub messages_truncated: bool,
    /// The inventory letters that differ, in alphabetic order.
    pub inventory: Vec<ItemDiff>,
    /// What each waits for, where it differs.
    pub pending: Option<Box<(Option<Pending>, Option<Pending>)>>,
    /// The turn of each, also when it is the same.
    pub turns: (i64, i64),
    /// Whether both have ended, or how, where it differs (in words; absent: runs).
    pub ended: Option<(Option<String>, Option<String>)>,
    /// True when everything visible is the same: screen, map, status, inventory, menu, window, pending, turn, end.
    pub visible_same: bool,
    /// True when the play digests agree: frame v1 and both generators.
    pub play_same: bool,
    /// True when the images are the same byte for byte.
    pub images_same: bool,
    /// True when everything visible is the same and the generators are not.
    pub only_random_state: bool,
}

/// A terminal cell that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellDiff {
    /// Row, from 0.
    pub row: u8,
    /// Column, from 0.
    pub column: u8,
    /// Character, colour and attributes in `a`.
    pub a: (char, u8, u8),
    /// The same in `b`.
    pub b: (char, u8, u8),
}

/// A map cell whose glyph differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlyphDiff {
    /// Map row, from 0.
    pub row: u8,
    /// Map column, from 0.
    pub column: u8,
    /// NetHack's glyph number in `a`.
    pub a: i16,
    /// The same in `b`.
    pub b: i16,
}

/// A status field that differs. A field that isn't shown is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDiff {
    /// The field's name in `wire::Status`.
    pub field: &'static str,
    /// Its value in `a` as text.
    pub a: Option<String>,
    /// Its value in `b` as text.
    pub b: Option<String>,
    /// `b` less `a`, for numbers shown in both.
    pub delta: Option<i64>,
}

/// An inventory letter that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemDiff {
    /// The letter.
    pub letter: char,
    /// What it is in `a`.
    pub a: Option<InventoryItem>,
    /// What it is in `b`.
    pub b: Option<InventoryItem>,
}
