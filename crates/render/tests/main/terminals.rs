//! Two terminals side by side, and what they must show.

use render::{Cell, Symbols};
use wire::{COLUMNS, ROWS, Screen};

/// The crates `vt100` and `avt`.
pub(crate) struct Terminals {
    vt100: vt100::Parser,
    avt: avt::Terminal,
}

impl Terminals {
    pub(crate) fn new() -> Self {
        let size = |cells: usize| u16::try_from(cells).ok().and_then(std::num::NonZeroU16::new).expect("a size");
        let vt100 = vt100::Parser::new(size(ROWS), size(COLUMNS), 0);
        Self { vt100, avt: avt::Terminal::new(COLUMNS, ROWS).expect("a size") }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.vt100.process(bytes);
        self.avt.feed(std::str::from_utf8(bytes).expect("recordings are UTF-8"));
    }

    /// Demands that both show a screen, cell by cell. `what` says which screen it is.
    pub(crate) fn check(&self, screen: &Screen, symbols: Symbols, what: &str) {
        let expected = expected(screen, symbols);
        for (at, cell) in expected.iter().enumerate() {
            let (row, column) = (at / COLUMNS, at % COLUMNS);
            let avt = self.avt_cell(row, column);
            assert_eq!(avt, *cell, "{what}: avt, row {row}, column {column}");
            // This one does not know what blinks.
            let steady = Cell { blink: false, ..*cell };
            assert_eq!(self.vt100_cell(row, column), steady, "{what}: vt100, row {row}, column {column}");
        }
        let row = usize::from(screen.cursor.row).min(ROWS - 1);
        let column = usize::from(screen.cursor.column).min(COLUMNS - 1);
        let avt = self.avt.cursor();
        assert_eq!((avt.row, avt.col, avt.visible), (row, column, true), "{what}: avt's cursor");
        let (vt100_row, vt100_column) = self.vt100.screen().cursor_position();
        assert_eq!((usize::from(vt100_row), usize::from(vt100_column)), (row, column), "{what}: vt100's cursor");
    }

    fn avt_cell(&self, row: usize, column: usize) -> Cell {
        let screen = self.avt.screen();
        let cell = &screen.line(row).expect("a row")[column];
        let pen = cell.pen();
        assert_eq!((pen.background(), cell.width()), (None, 1), "row {row}, column {column}");
        Cell {
            symbol: cell.char(),
            color: pen.foreground().map(|color| match color {
                avt::Color::Indexed(color) => nethack_color(color),
                avt::Color::RGB(_) => panic!("no colour is written so"),
            }),
            bold: pen.is_bold(),
            dim: pen.is_faint(),
            underline: pen.is_underline(),
            blink: pen.is_blink(),
            inverse: pen.is_inverse(),
        }
    }

    fn vt100_cell(&self, row: usize, column: usize) -> Cell {
        let cell = self.vt100.screen().cell(row as u16, column as u16).expect("a cell");
        assert_eq!(cell.bgcolor(), vt100::Color::Default);
        Cell {
            symbol: cell.contents().chars().next().unwrap_or(' '),
            color: match cell.fgcolor() {
                vt100::Color::Default => None,
                vt100::Color::Idx(color) => Some(nethack_color(color)),
                vt100::Color::Rgb(..) => panic!("no colour is written so"),
            },
            bold: cell.bold(),
            dim: cell.dim(),
            underline: cell.underline(),
            blink: false,
            inverse: cell.inverse(),
        }
    }
}

/// A terminal's sixteen colours are NetHack's, but for black, which is the terminal's bright black.
fn nethack_color(color: u8) -> u8 {
    match color {
        1..=7 | 9..=15 => color,
        8 => 0,
        other => panic!("no frame is written with the terminal's colour {other}"),
    }
}

/// What the planes of a screen mean, said once more and without the crate's own words for it.
fn expected(screen: &Screen, symbols: Symbols) -> Vec<Cell> {
    let mut cells = vec![Cell::BLANK; ROWS * COLUMNS];
    for (at, cell) in cells.iter_mut().enumerate() {
        let bits = screen.attributes.get(at).copied().unwrap_or(0);
        cell.symbol = screen.chars.get(at).map_or(' ', |byte| symbols.symbol(*byte));
        cell.inverse = bits & 0b1000_0001 != 0;
        cell.underline = bits & 0b0001_0000 != 0;
        let seen = cell.symbol != ' ' || cell.inverse || cell.underline;
        if seen {
            cell.bold = bits & 0b0000_0010 != 0;
            cell.dim = bits & 0b0000_0110 == 0b0000_0100;
            cell.blink = bits & 0b0010_0000 != 0;
            cell.color = screen.colors.get(at).copied().filter(|color| *color < 16 && *color != 8);
        }
    }
    cells
}
