use wire::{COLUMNS, Screen};

use crate::{Symbols, cells};

/// A screen as plain text, UTF-8: 24 lines without trailing blanks, each with its newline.
#[must_use]
pub fn text(screen: &Screen, symbols: Symbols) -> String {
    let mut text = String::new();
    for row in cells(screen, symbols).chunks_exact(COLUMNS) {
        let line: String = row.iter().map(|cell| cell.symbol).collect();
        text.push_str(line.trim_end_matches(' '));
        text.push('\n');
    }
    text
}
