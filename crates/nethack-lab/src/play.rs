//! `play`: a person plays in the terminal.

mod keeper;
mod keyboard;
mod terminal;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::Context;
use crossterm::event::{self, Event};
use lab::{Boundary, Lab, Snapshot, Stop};
use movie::Movie;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::command_line::PlayOptions;
use crate::movies;
use crate::out::outln;
use crate::outcome::{Outcome, Usage};
use crate::setup::{Setup, read_movie};
use crate::states;

use keeper::Keeper;
use keyboard::Stroke;
use terminal::Terminal;

/// How long the terminal is waited for before it is asked whether it is there, and signals are looked at.
const POLL: Duration = Duration::from_millis(100);

pub(crate) fn run(setup: &Setup, options: &PlayOptions) -> anyhow::Result<Outcome> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let hint = "play needs a terminal on standard input and output (for programs there is `nethack-lab mcp`)";
        return Err(Usage(hint.to_owned()).into());
    }
    terminal::check_size()?;
    let (lab, game, past) = begin(setup, options)?;
    let path = options.out.clone().map_or_else(|| free_path(game.power_on.core_seed.0), Ok)?;
    let keeper = Keeper::new(&lab, &game, past.as_ref(), path)?;
    let began = game.boundary;
    let (events, stopped) = (listen()?, stop_on_signals()?);
    let mut player = Player { lab, game, keeper, began, events, stopped, interrupted: false };
    let played = {
        let terminal = Terminal::enter()?;
        player.play(&terminal)
    };
    // The movie is kept whatever went wrong.
    let kept = player.keeper.finish(&player.lab, &player.game);
    let kept = kept?;
    if terminal::is_gone() {
        // There is nobody to tell anything.
        return Ok(Outcome::Good);
    }
    tell(&player.game, kept);
    played.map(|()| Outcome::Good)
}

/// Says what has come of the game and what can be done with its movie.
fn tell(game: &Snapshot, kept: Option<&Path>) {
    let seed = game.power_on.core_seed;
    if let Some(ended) = &game.ended {
        outln!("The game is over: {}.", ended.text);
    }
    let Some(file) = kept.map(Path::display) else {
        outln!("Seed {seed}: no key was pressed, so no movie is kept.");
        return;
    };
    outln!("Seed {seed}, {} inputs, turn {}: {file}", game.boundary, game.frame.turn);
    if game.ended.is_some() {
        let before = game.boundary.0.saturating_sub(1);
        outln!(
            "Its end is the end of the game; `nethack-lab play --movie {file} --at BOUNDARY` goes on from an earlier \
             boundary, {before} or less."
        );
    } else {
        outln!("Go on with `nethack-lab play --movie {file}`.");
    }
    outln!("Check it with `nethack-lab movie verify {file}`.");
}

/// The game to play, and the movie that it goes on from.
fn begin(setup: &Setup, options: &PlayOptions) -> anyhow::Result<(Lab, Snapshot, Option<Movie>)> {
    if let Some(path) = &options.movie {
        let bytes = read_movie(path)?;
        return go_on(setup, bytes, options.at).with_context(|| path.display().to_string());
    }
    if let Some(path) = &options.from {
        return go_on_from(setup, path);
    }
    let record = options.power_on.power_on(false)?;
    let lab = setup.lab()?;
    let game = lab.new_game(record, false)?;
    Ok((lab, game, None))
}

/// Goes on from a movie's end or from an earlier boundary of it.
fn go_on(setup: &Setup, bytes: Vec<u8>, at: Option<u64>) -> anyhow::Result<(Lab, Snapshot, Option<Movie>)> {
    let (lab, game, past) = movies::open_at(setup, bytes, at)?;
    if let Some(ended) = &game.ended {
        let at = game.boundary;
        let before = at.0.saturating_sub(1);
        let over = format!("the game is over at boundary {at} ({})", ended.text);
        return Err(Usage(format!("{over}: name an earlier boundary with --at, {before} or less")).into());
    }
    Ok((lab, game, Some(past)))
}

/// Goes on from a save state.
fn go_on_from(setup: &Setup, path: &Path) -> anyhow::Result<(Lab, Snapshot, Option<Movie>)> {
    let (lab, game, file) = states::load(setup, path)?;
    if let Some(ended) = &game.ended {
        return Err(Usage(format!("the game is over ({}): there is nothing to go on from", ended.text)).into());
    }
    Ok((lab, game, Some(movies::parse(file.movie())?.movie)))
}

/// Reads the terminal on a thread of its own: one that has gone away may never let a reader go.
fn listen() -> anyhow::Result<Receiver<io::Result<Event>>> {
    let (sender, events) = channel();
    let read = move || {
        loop {
            let event = event::read();
            let failed = event.is_err();
            if sender.send(event).is_err() || failed {
                return;
            }
        }
    };
    std::thread::Builder::new().name("terminal".to_owned()).spawn(read)?;
    Ok(events)
}

/// The first of `play-SEED.movie`, `play-SEED-2.movie` … that is free.
fn free_path(seed: u64) -> anyhow::Result<PathBuf> {
    let first = std::iter::once(format!("play-{seed}.movie"));
    first
        .chain((2..1_000).map(|number| format!("play-{seed}-{number}.movie")))
        .map(PathBuf::from)
        .find(|path| !path.exists())
        .ok_or_else(|| Usage("name the movie with -o: all the usual names are taken".to_owned()).into())
}

/// A flag that each signal to end raises, so that the terminal and the movie are left in order.
fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stopped))?;
    }
    Ok(stopped)
}

struct Player {
    lab: Lab,
    game: Snapshot,
    keeper: Keeper,
    /// Where it goes on from.
    began: Boundary,
    events: Receiver<io::Result<Event>>,
    stopped: Arc<AtomicBool>,
    /// The last stroke was Ctrl-C.
    interrupted: bool,
}

impl Player {
    fn play(&mut self, terminal: &Terminal) -> anyhow::Result<()> {
        loop {
            self.draw(terminal)?;
            let Some(stroke) = self.stroke(terminal)? else { return Ok(()) };
            let key = match stroke {
                Stroke::Leave => return Ok(()),
                Stroke::Interrupt if self.interrupted => return Ok(()),
                Stroke::Interrupt => wire::Key(0x03),
                Stroke::Key(key) => key,
            };
            self.interrupted = stroke == Stroke::Interrupt;
            if self.game.ended.is_some() {
                return Ok(());
            }
            self.press(key)?;
        }
    }

    /// Presses a key; the movie has it before it is shown.
    fn press(&mut self, key: wire::Key) -> anyhow::Result<()> {
        self.keeper.sends(key)?;
        let before = self.game.boundary;
        let report = match self.lab.press(self.game.machine, self.game.revision, key) {
            Ok(report) => report,
            Err(error) => {
                self.keeper.not_pressed()?;
                return Err(error.into());
            }
        };
        self.game = report.snapshot;
        if let Stop::Lost { key, reason } = report.stop {
            self.keeper.lost(key)?;
            anyhow::bail!("the engine did not survive key {key} and stands before it: {reason}");
        }
        if self.game.boundary == before { self.keeper.not_pressed() } else { self.keeper.pressed(key, &self.game) }
    }

    fn draw(&self, terminal: &Terminal) -> io::Result<()> {
        // How to leave is worth a row of the map where there is none to spare.
        let urgent = self.interrupted || self.game.boundary == self.began || self.game.ended.is_some();
        terminal.draw(&self.game, &self.note(), urgent)
    }

    /// Waits for a stroke; `None` when a signal asks to end, or the terminal has gone.
    fn stroke(&self, terminal: &Terminal) -> anyhow::Result<Option<Stroke>> {
        while !self.stopped.load(Ordering::Relaxed) {
            if terminal::is_gone() {
                return Ok(None);
            }
            let event = match self.events.recv_timeout(POLL) {
                Ok(event) => event?,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            };
            match event {
                Event::Key(key) => {
                    if let Some(stroke) = keyboard::stroke(key) {
                        return Ok(Some(stroke));
                    }
                }
                Event::Resize(..) => self.draw(terminal)?,
                _ => {}
            }
        }
        Ok(None)
    }

    fn note(&self) -> String {
        let Boundary(at) = self.game.boundary;
        let seed = self.game.power_on.core_seed;
        let what = match (&self.game.ended, self.interrupted) {
            (Some(_), _) => "the game is over: any key leaves",
            (None, true) => "Ctrl-C once more leaves",
            (None, false) => "Ctrl-\\ leaves",
        };
        format!("nethack-lab  seed {seed}  input {at}  {what}")
    }
}
