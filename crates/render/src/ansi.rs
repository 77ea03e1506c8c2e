use wire::{COLUMNS, Cursor, ROWS, Screen};

use crate::Symbols;
use crate::cell::{self, Cell, cells};

/// Unchanged cells that are written anew rather than jumped over: a jump costs about as many bytes.
const GAP_CELLS: usize = 6;

/// The bytes that make a terminal of 80 × 24 show a screen, whatever it showed before. UTF-8; at the end the
/// terminal's style is plain and its cursor where the screen has it.
#[must_use]
pub fn whole(screen: &Screen, symbols: Symbols) -> String {
    let mut pen = Pen::default();
    pen.put("\x1b[0m\x1b[H\x1b[2J");
    pen.changes(&vec![Cell::BLANK; ROWS * COLUMNS], &cells(screen, symbols));
    pen.finish(cell::cursor(screen))
}

/// The bytes that make a terminal which shows `before` show `after`. Never empty: the cursor is always set.
#[must_use]
pub fn difference(before: &Screen, after: &Screen, symbols: Symbols) -> String {
    let mut pen = Pen::default();
    pen.changes(&cells(before, symbols), &cells(after, symbols));
    pen.finish(cell::cursor(after))
}

/// Paints one screen after the other: the first one whole, then what differs.
#[derive(Clone, Debug)]
pub struct Painter {
    symbols: Symbols,
    shown: Option<Vec<Cell>>,
}

impl Painter {
    /// A painter that has shown nothing yet.
    #[must_use]
    pub fn new(symbols: Symbols) -> Self {
        Self { symbols, shown: None }
    }

    /// The bytes that show the next screen; never empty.
    pub fn paint(&mut self, screen: &Screen) -> String {
        let next = cells(screen, self.symbols);
        let mut pen = Pen::default();
        match &self.shown {
            Some(shown) => pen.changes(shown, &next),
            None => {
                pen.put("\x1b[0m\x1b[H\x1b[2J");
                pen.changes(&vec![Cell::BLANK; ROWS * COLUMNS], &next);
            }
        }
        self.shown = Some(next);
        pen.finish(cell::cursor(screen))
    }
}

/// Writes cells for a terminal whose style is plain when it begins.
struct Pen {
    out: String,
    style: Cell,
}

impl Default for Pen {
    fn default() -> Self {
        Self { out: String::new(), style: Cell::BLANK }
    }
}

impl Pen {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn changes(&mut self, before: &[Cell], after: &[Cell]) {
        let rows = before.chunks_exact(COLUMNS).zip(after.chunks_exact(COLUMNS));
        for (row, (before, after)) in rows.enumerate() {
            self.row(row, before, after);
        }
    }

    fn row(&mut self, row: usize, before: &[Cell], after: &[Cell]) {
        let width = |cells: &[Cell]| cells.iter().rposition(|cell| *cell != Cell::BLANK).map_or(0, |last| last + 1);
        let end = width(after);
        let mut column = 0;
        while let Some(start) = (column..end).find(|&column| before[column] != after[column]) {
            column = run_end(before, after, start, end);
            self.go(row, start);
            for cell in &after[start..column] {
                self.cell(*cell);
            }
        }
        if width(before) > end {
            self.go(row, end);
            self.plain();
            self.put("\x1b[K");
        }
    }

    fn go(&mut self, row: usize, column: usize) {
        self.put(&format!("\x1b[{};{}H", row + 1, column + 1));
    }

    fn cell(&mut self, cell: Cell) {
        let style = Cell { symbol: ' ', ..cell };
        if style != self.style {
            self.put(&sequence(style));
            self.style = style;
        }
        self.out.push(cell.symbol);
    }

    fn plain(&mut self) {
        if self.style != Cell::BLANK {
            self.put("\x1b[0m");
            self.style = Cell::BLANK;
        }
    }

    fn finish(mut self, cursor: Cursor) -> String {
        self.plain();
        self.go(usize::from(cursor.row), usize::from(cursor.column));
        self.out
    }
}

/// Where the run of changed cells that begins at `start` is over, small gaps included.
fn run_end(before: &[Cell], after: &[Cell], start: usize, end: usize) -> usize {
    let mut last = start;
    for column in start..end {
        if before[column] != after[column] {
            last = column;
        } else if column - last > GAP_CELLS {
            break;
        }
    }
    last + 1
}

/// The sequence that sets a style from any other.
fn sequence(style: Cell) -> String {
    let mut codes = "\x1b[0".to_owned();
    let attributes =
        [(style.bold, ";1"), (style.dim, ";2"), (style.underline, ";4"), (style.blink, ";5"), (style.inverse, ";7")];
    for (_, code) in attributes.iter().filter(|(is, _)| *is) {
        codes.push_str(code);
    }
    match style.color {
        Some(0) => codes.push_str(";90"),
        Some(color @ 1..=7) => codes.push_str(&format!(";{}", 30 + color)),
        Some(color) => codes.push_str(&format!(";{}", 82 + color)),
        None => {}
    }
    codes + "m"
}
