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
/// Where lines of prose end.
const WIDTH: usize = 100;

/// Standard output.
pub(super) struct Stage {
    paint: Paint,
    live: bool,
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
        let room = crossterm::terminal::size()
            .is_ok_and(|(columns, rows)| usize::from(columns) > COLUMNS + 1 && usize::from(rows) > ROWS + 3);
        Self { paint, live: paint.is_colored() && std::io::stdout().is_terminal() && room && !still }
    }

    pub(super) fn title(&self, text: &str) {
        outln!("\n{}", self.paint.styled("1;36", text));
    }

    pub(super) fn verdict(&self, good: bool, text: &str) {
        outln!("{}", self.paint.styled(if good { "1;32" } else { "1;33" }, &wrap(text)));
    }

    /// A table; numbers stand to the right.
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
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        outln!("{}", self.paint.styled("2", &line(headings.to_vec())));
        for row in rows {
            let text = line(row.iter().map(String::as_str).collect());
            let dead = row.iter().any(|cell| cell.starts_with("DEAD"));
            outln!("{}", if dead { self.paint.styled("31", &text) } else { text });
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

/// Prose, wrapped; lines that are broken already stay.
pub(super) fn say(text: &str) {
    for line in text.lines() {
        outln!("{}", if line.contains("  ") { line.to_owned() } else { wrap(line) });
    }
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
        let text = self.stage.paint.framed(&frame.screen);
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(format!("{up}{text}").as_bytes()).and_then(|()| out.flush());
        self.shown = true;
    }
}

fn wrap(text: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { continue };
        if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.join("\n")
}
