//! Frames as text for a terminal, with colours or without.

use std::io::IsTerminal;
use std::ops::Range;

use wire::{COLUMNS, ROWS, Screen};

/// NetHack's sixteen colours as the terminal's.
const COLORS: [&str; 16] =
    ["90", "31", "32", "33", "34", "35", "36", "37", "39", "91", "92", "93", "94", "95", "96", "97"];

/// NetHack's attribute bits and the terminal's words for them.
const ATTRIBUTES: [(u8, &str); 6] = [(0, "7"), (1, "1"), (2, "2"), (4, "4"), (5, "5"), (7, "7")];

/// How text is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    colored: bool,
}

impl Paint {
    /// Colours where standard output is a terminal that has them, and nobody objects (`NO_COLOR`).
    pub(crate) fn for_stdout() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self { colored: std::io::stdout().is_terminal() && !unwanted && !dumb }
    }

    pub(crate) fn colored() -> Self {
        Self { colored: true }
    }

    pub(crate) fn is_colored(self) -> bool {
        self.colored
    }

    /// A text in one of the terminal's styles, such as `1` for bold.
    pub(crate) fn styled(self, style: &str, text: &str) -> String {
        if self.colored { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Part of a row of a screen, as many columns wide as asked for.
    pub(crate) fn row(self, screen: &Screen, row: usize, columns: Range<usize>) -> String {
        let mut text = String::new();
        let mut now = String::new();
        for column in columns {
            let style = if self.colored { style(screen, row, column) } else { String::new() };
            if style != now {
                text.push_str(if now.is_empty() { "" } else { "\x1b[0m" });
                if !style.is_empty() {
                    text.push_str(&format!("\x1b[{style}m"));
                }
                now = style;
            }
            text.push(screen.at(row, column));
        }
        if !now.is_empty() {
            text.push_str("\x1b[0m");
        }
        text
    }

    /// All rows of a screen, without trailing blanks.
    pub(crate) fn rows(self, screen: &Screen) -> Vec<String> {
        let width = |row| screen.row(row).trim_end().len();
        (0..ROWS).map(|row| self.row(screen, row, 0..width(row).min(COLUMNS))).collect()
    }

    /// A screen in a frame of lines; without sides it is no wider than the screen.
    pub(crate) fn framed(self, screen: &Screen, sides: bool) -> String {
        let corner = if sides { "+" } else { "" };
        let edge = self.styled("2", &format!("{corner}{}{corner}", "-".repeat(COLUMNS)));
        let bar = if sides { self.styled("2", "|") } else { String::new() };
        let mut text = format!("{edge}\n");
        for row in 0..ROWS {
            text.push_str(&format!("{bar}{}{bar}\n", self.row(screen, row, 0..COLUMNS)));
        }
        text + &edge + "\n"
    }
}

fn style(screen: &Screen, row: usize, column: usize) -> String {
    let at = row * COLUMNS + column;
    let color = screen.colors.get(at).copied().unwrap_or(8);
    let attributes = screen.attributes.get(at).copied().unwrap_or(0);
    if screen.at(row, column) == ' ' && attributes == 0 {
        return String::new();
    }
    let mut codes: Vec<&str> =
        ATTRIBUTES.iter().filter(|(bit, _)| attributes >> bit & 1 == 1).map(|(_, code)| *code).collect();
    if let Some(color) = COLORS.get(usize::from(color)).filter(|_| color != 8) {
        codes.push(color);
    }
    codes.join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_attributes_become_codes_and_plain_stays_plain() {
        let mut screen = Screen::default();
        screen.chars[..4].copy_from_slice(b"@d x");
        screen.colors[1] = 1;
        screen.attributes[3] = 0b1000_0010;
        let colored = Paint { colored: true }.rows(&screen);
        assert_eq!(colored[0], "@\x1b[31md\x1b[0m \x1b[1;7mx\x1b[0m");
        assert_eq!(Paint { colored: false }.rows(&screen)[0], "@d x");
        assert_eq!(colored.len(), ROWS);
    }
}
