use wire::{COLUMNS, Cursor, ROWS, Screen};

use crate::Symbols;

/// One cell as a terminal shows it. What can't be seen is not in it: a blank without inverse or underline is
/// [`Cell::BLANK`], whatever colour it was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The character, one column wide, never a control character.
    pub symbol: char,
    /// NetHack's colour, 0 to 15 without 8; absent for the terminal's own foreground.
    pub color: Option<u8>,
    /// Whether it is bold.
    pub bold: bool,
    /// Whether it is dim; a bold cell is not.
    pub dim: bool,
    /// Whether it is underlined.
    pub underline: bool,
    /// Whether it blinks.
    pub blink: bool,
    /// Whether foreground and background change places.
    pub inverse: bool,
}

/// NetHack's number for "no colour".
const NO_COLOR: u8 = 8;

impl Cell {
    /// An empty cell.
    pub const BLANK: Self =
        Self { symbol: ' ', color: None, bold: false, dim: false, underline: false, blink: false, inverse: false };

    fn new(symbol: char, color: u8, attributes: u8) -> Self {
        let has = |bit: u8| attributes >> bit & 1 == 1;
        let cell = Self {
            symbol,
            color: (color < 16 && color != NO_COLOR).then_some(color),
            bold: has(1),
            dim: has(2) && !has(1),
            underline: has(4),
            blink: has(5),
            inverse: has(0) || has(7),
        };
        if symbol == ' ' && !cell.underline && !cell.inverse { Self::BLANK } else { cell }
    }
}

/// The cells of a screen, `ROWS` × `COLUMNS`, row by row. Cells that the screen's planes do not reach are blank.
#[must_use]
pub fn cells(screen: &Screen, symbols: Symbols) -> Vec<Cell> {
    let at = |plane: &[u8], cell: usize, otherwise| plane.get(cell).copied().unwrap_or(otherwise);
    (0..ROWS * COLUMNS)
        .map(|cell| {
            let symbol = symbols.symbol(at(&screen.chars, cell, b' '));
            Cell::new(symbol, at(&screen.colors, cell, NO_COLOR), at(&screen.attributes, cell, 0))
        })
        .collect()
}

/// The cursor, inside the screen.
pub(crate) fn cursor(screen: &Screen) -> Cursor {
    let Cursor { row, column } = screen.cursor;
    Cursor { row: row.min(ROWS as u8 - 1), column: column.min(COLUMNS as u8 - 1) }
}
