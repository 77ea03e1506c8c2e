//! The terminal that a person plays in.

use std::io::{self, Write};
use std::sync::Once;

use crossterm::cursor::{MoveTo, Show};
use crossterm::style::{Print, ResetColor};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode, size,
};
use crossterm::{execute, queue};
use lab::Snapshot;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wire::{COLUMNS, ROWS};

use crate::outcome::Usage;
use crate::paint::Paint;

/// The map's last row, which is mostly blank.
const NOTE_ROW: u16 = ROWS as u16 - 3;

/// A terminal in raw mode, on its other screen. It is as it was when this is dropped, also by a panic.
pub(super) struct Terminal(());

/// Refuses a terminal that the game does not fit into.
pub(super) fn check_size() -> anyhow::Result<()> {
    let (columns, rows) = size()?;
    if fits(columns, rows) {
        return Ok(());
    }
    Err(Usage(format!("this terminal has {columns} columns and {rows} rows; NetHack needs {COLUMNS} and {ROWS}"))
        .into())
}

fn fits(columns: u16, rows: u16) -> bool {
    usize::from(columns) >= COLUMNS && usize::from(rows) >= ROWS
}

impl Terminal {
    pub(super) fn enter() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let report = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                // Before the report, which would vanish with the other screen.
                restore();
                report(panic);
            }));
        });
        enable_raw_mode()?;
        let terminal = Self(());
        execute!(io::stdout(), EnterAlternateScreen, Clear(ClearType::All))?;
        Ok(terminal)
    }

    /// Shows a machine, and a note below it where there is room. An urgent note stands on the map where there is none.
    pub(super) fn draw(&self, game: &Snapshot, note: &str, urgent: bool) -> io::Result<()> {
        // Whoever holds a terminal has entered it.
        let Self(()) = self;
        let mut out = io::stdout().lock();
        let (columns, rows) = size()?;
        queue!(out, BeginSynchronizedUpdate, ResetColor)?;
        if !fits(columns, rows) {
            let text = format!("{columns}x{rows} is too small: make this terminal {COLUMNS}x{ROWS}");
            queue!(out, Clear(ClearType::All), MoveTo(0, 0), Print(text), EndSynchronizedUpdate)?;
            return out.flush();
        }
        let screen = &game.frame.screen;
        let paint = Paint::colored();
        for (row, text) in (0_u16..).zip(paint.rows(screen)) {
            queue!(out, MoveTo(0, row), Print(text), Clear(ClearType::UntilNewLine))?;
        }
        if usize::from(rows) > ROWS {
            let note = paint.styled("2", note);
            queue!(out, MoveTo(0, ROWS as u16), Print(note), Clear(ClearType::FromCursorDown))?;
        } else if urgent {
            queue!(out, MoveTo(0, NOTE_ROW), Print(paint.styled("7", note)))?;
        }
        let cursor = screen.cursor;
        queue!(out, MoveTo(cursor.column.into(), cursor.row.into()), Show, EndSynchronizedUpdate)?;
        out.flush()
    }
}

/// Whether the terminal on standard input was closed from the other side.
pub(super) fn is_gone() -> bool {
    let stdin = io::stdin();
    let mut asked = [PollFd::new(&stdin, PollFlags::empty())];
    let answer = poll(&mut asked, Some(&Timespec::default()));
    answer.is_ok() && asked.iter().any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL))
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    // Nothing can be done about a terminal that has gone.
    let _ = execute!(io::stdout(), ResetColor, Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}
