//! `play`: a person plays in the terminal.

mod keeper;
mod keyboard;
mod terminal;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{self, Event};
use lab::{Boundary, Control, Lab, Snapshot, Stop};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::command_line::PlayOptions;
use crate::out::outln;
use crate::outcome::{Outcome, Usage};
use crate::setup::{Setup, read_movie};

use keeper::Keeper;
use keyboard::Stroke;
use terminal::Terminal;

/// How long the terminal is waited for before signals are looked at again.
const POLL: Duration = Duration::from_millis(100);

pub(crate) fn run(setup: &Setup, options: &PlayOptions) -> anyhow::Result<Outcome> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let hint = "play needs a terminal on standard input and output (for programs there is `nethack-lab mcp`)";
        return Err(Usage(hint.to_owned()).into());
    }
    terminal::check_size()?;
    let (lab, game) = begin(setup, options)?;
    let seed = game.power_on.core_seed;
    let path = options.out.clone().map_or_else(|| free_path(seed.0), Ok)?;
    let keeper = Keeper::new(&lab, &game, path)?;
    let mut player = Player { lab, game, keeper, stopped: stop_on_signals()?, interrupted: false };
    let played = {
        let terminal = Terminal::enter()?;
        player.play(&terminal)
    };
    // The movie is kept whatever went wrong.
    let kept = player.keeper.finish(&player.lab, &player.game);
    let game = &player.game;
    if let Some(ended) = &game.ended {
        outln!("The game is over: {}.", ended.text);
    }
    match kept? {
        Some(path) => outln!(
            "Seed {seed}, {} inputs, turn {}: {file}\nGo on with `nethack-lab play --movie {file}`, check it with \
             `nethack-lab movie verify {file}`.",
            game.boundary,
            game.frame.turn,
            file = path.display(),
        ),
        None => outln!("No key was pressed, so no movie is kept."),
    }
    played.map(|()| Outcome::Good)
}

fn begin(setup: &Setup, options: &PlayOptions) -> anyhow::Result<(Lab, Snapshot)> {
    if let Some(path) = &options.movie {
        let bytes = read_movie(path)?;
        let lab = setup.lab()?;
        let game = lab.open_movie(&bytes, false, &Control::default())?;
        return Ok((lab, game));
    }
    let record = options.power_on.power_on()?;
    let lab = setup.lab()?;
    let game = lab.new_game(record, false)?;
    Ok((lab, game))
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
    stopped: Arc<AtomicBool>,
    /// The last stroke was Ctrl-C.
    interrupted: bool,
}

impl Player {
    fn play(&mut self, terminal: &Terminal) -> anyhow::Result<()> {
        loop {
            terminal.draw(&self.game, &self.note())?;
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
            let report = self.lab.press(self.game.machine, self.game.revision, key)?;
            self.game = report.snapshot;
            if let Stop::Lost { key, reason } = report.stop {
                anyhow::bail!("the engine did not survive key {key} and stands before it: {reason}");
            }
            self.keeper.keep(&self.lab, &self.game)?;
        }
    }

    /// Waits for a stroke; `None` when a signal asks to end.
    fn stroke(&self, terminal: &Terminal) -> anyhow::Result<Option<Stroke>> {
        while !self.stopped.load(Ordering::Relaxed) {
            if !event::poll(POLL)? {
                continue;
            }
            match event::read()? {
                Event::Key(key) => {
                    if let Some(stroke) = keyboard::stroke(key) {
                        return Ok(Some(stroke));
                    }
                }
                Event::Resize(..) => terminal.draw(&self.game, &self.note())?,
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
