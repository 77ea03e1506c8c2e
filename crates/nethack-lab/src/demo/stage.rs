//! Where the demo shows itself.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use wire::{COLUMNS, Frame, MAP_ROWS, ROWS};

use crate::out::outln;
use crate::paint::Paint;

/// How long a frame stays while the game is shown live.
const FRAME_TIME: Duration = Duration::from_millis(6);
/// Columns of each of two maps that stand side by side.
const HALF: usize = 38;
/// Rows of these maps.
const CROP_ROWS: usize = 13;
/// Where lines end on a terminal that is narrow, on one that is wide, and where there is none.
const WIDTH: (usize, usize, usize) = (60, 100, 80);
/// Columns of a framed screen.
const FRAMED: usize = COLUMNS + 2;

/// Standard output.
pub(super) struct Stage {
    paint: Paint,
    live: bool,
    /// Columns of prose.
    width: usize,
    /// Whether frames have room for their sides.
    sides: bool,
}

/// A game that is shown while it is played.
pub(super) struct Screening<'a> {
    stage: &'a Stage,
    shown: bool,
}

impl Stage {
    /// `still`: shows no game while it is played.
    pub(super) fn new(still: bool) -> Self {
        let paint = Paint::for_stdout();
        let is_terminal = std::io::stdout().is_terminal();
        let size = is_terminal.then(|| crossterm::terminal::size().ok()).flatten();
        let columns = size.map(|(columns, _)| usize::from(columns));
        let room = size.is_some_and(|(columns, rows)| usize::from(columns) >= COLUMNS && usize::from(rows) > ROWS + 3);
        let (narrow, wide, without) = WIDTH;
        Self {
            paint,
            live: paint.is_colored() && room && !still,
            width: columns.map_or(without, |columns| columns.clamp(narrow, wide)),
            sides: columns.is_none_or(|columns| columns >= FRAMED),
        }
    }

    /// Prose, wrapped; lines that are broken already stay.
    pub(super) fn say(&self, text: &str) {
        for line in text.lines() {
            outln!("{}", if line.contains("  ") { line.to_owned() } else { wrap(line, self.width) });
        }
    }

    pub(super) fn title(&self, text: &str) {
        outln!("\n{}", self.paint.styled("1;36", text));
    }

    pub(super) fn verdict(&self, good: bool, text: &str) {
        outln!("{}", self.paint.styled(if good { "1;32" } else { "1;33" }, &wrap(text, self.width)));
    }

    /// A table; numbers stand to the right, and the last column is cut where the lines end.
    pub(super) fn table<const N: usize>(&self, headings: &[&str; N], rows: &[[String; N]]) {
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].len());
            cells.chain([headings[column].len()]).max().unwrap_or(0)
        };
        let line = |cells: Vec<&str>| {
            let cells = cells.iter().enumerate().map(|(column, cell)| {
                let width = width(column);
                let number = cell.starts_with(|first: char| first.is_ascii_digit());
                if number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            shortened(cells.collect::<Vec<_>>().join("  ").trim_end(), self.width)
        };
        outln!("{}", self.paint.styled("2", &line(headings.to_vec())));
        for row in rows {
            let text = line(row.iter().map(String::as_str).collect());
            let dead = row.iter().any(|cell| cell.starts_with("DEAD"));
            outln!("{}", if dead { self.paint.styled("31", &text) } else { text });
        }
    }

    /// Commands and what they are for: side by side, or below each other where the lines would not have room.
    pub(super) fn commands(&self, commands: &[(String, &str)]) {
        let longest = |texts: Vec<&str>| texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        let width = longest(commands.iter().map(|(command, _)| command.as_str()).collect());
        let uses = longest(commands.iter().map(|(_, what)| *what).collect());
        let beside = "nethack-lab   ".len() + width + uses <= self.width;
        for (command, what) in commands {
            if beside {
                outln!("nethack-lab {command:<width$}  {what}");
            } else {
                outln!("{what}:\n  nethack-lab {command}");
            }
        }
    }

    /// Two maps, each around its hero.
    pub(super) fn side_by_side(&self, a: &Frame, b: &Frame, name_a: &str, name_b: &str) {
        let crop = |frame: &Frame| {
            let hero = frame.hero.map_or((ROWS / 2, COLUMNS / 2), |hero| (hero.row.into(), hero.column.into()));
            let top = hero.0.saturating_sub(CROP_ROWS / 2).clamp(1, 1 + MAP_ROWS - CROP_ROWS);
            let left = hero.1.saturating_sub(HALF / 2).min(COLUMNS - HALF);
            (top, left)
        };
        let ((top_a, left_a), (top_b, left_b)) = (crop(a), crop(b));
        let bar = self.paint.styled("2", "|");
        let edge = self.paint.styled("2", &format!("+{}+{}+", head(name_a), head(name_b)));
        outln!("{edge}");
        for row in 0..CROP_ROWS {
            let left = self.paint.row(&a.screen, top_a + row, left_a..left_a + HALF);
            let right = self.paint.row(&b.screen, top_b + row, left_b..left_b + HALF);
            outln!("{bar}{left}{bar}{right}{bar}");
        }
        outln!("{}", self.paint.styled("2", &format!("+{0}+{0}+", "-".repeat(HALF))));
    }

    /// Begins to show a game.
    pub(super) fn screening(&self) -> Screening<'_> {
        Screening { stage: self, shown: false }
    }
}

/// The beginning of a text that is too long, with a sign that it goes on.
fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let short: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", short.trim_end())
}

fn head(name: &str) -> String {
    format!("{:-<HALF$}", format!("- {name} "))
}

impl Screening<'_> {
    /// Shows a frame in the place of the one before, where that can be.
    pub(super) fn show(&mut self, frame: &Frame) {
        if self.stage.live {
            self.draw(frame);
            // For the eye alone; nothing waits for it.
            std::thread::sleep(FRAME_TIME);
        }
    }

    /// Leaves the last frame standing.
    pub(super) fn finish(mut self, frame: &Frame) {
        self.draw(frame);
    }

    fn draw(&mut self, frame: &Frame) {
        let up = if self.shown { format!("\x1b[{}A", ROWS + 2) } else { String::new() };
        let text = self.stage.paint.framed(&frame.screen, self.stage.sides);
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(format!("{up}{text}").as_bytes()).and_then(|()| out.flush());
        self.shown = true;
    }
}

fn wrap(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { continue };
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_the_terminal_does() {
        let text = "one two three four five six seven µs µs";
        assert!(wrap(text, 13).lines().all(|line| line.chars().count() <= 13));
        assert_eq!(wrap("µµµ µµµ", 7), "µµµ µµµ");
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("a longer text", 9), "a longer…");
    }
}
