//! `movie record`: a game that the explorer plays.

use std::collections::VecDeque;

use anyhow::Context;
use lab::{Boundary, Lab, Luck, Snapshot, Stop};
use wire::{EndKind, Seed};

use crate::command_line::{Policy, RecordOptions};
use crate::explorer::Explorer;
use crate::out::outln;
use crate::outcome::Outcome;
use crate::setup::{Setup, write_new};

/// Inputs between two points to which a recording can go back.
const MARK_EVERY: u64 = 20;
/// How many of these points are kept.
const MARKS_MAX: usize = 200;
/// How many inputs a recording goes back at first; the double at every further try near the same place.
const STEP_BACK: u64 = 60;
/// Tries after which a recording gives up.
const TRIES_MAX: u64 = 2_000;

pub(crate) fn run(setup: &Setup, options: &RecordOptions) -> anyhow::Result<Outcome> {
    let Policy::Explore = options.policy;
    anyhow::ensure!(!options.out.exists(), "{} exists already: name another file", options.out.display());
    let record = options.power_on.power_on(false)?;
    let player_seed = options.player_seed.unwrap_or(record.core_seed);
    let lab = setup.lab()?;
    let game = lab.new_game(record, false)?;
    let mut recorder = Recorder::new(lab, game, player_seed);
    recorder.play(options.keys, options.survive)?;
    let bytes = recorder.lab.movie(recorder.game.machine)?;
    write_new(&options.out, &bytes)?;
    outln!("{}", recorder.summary(&options.out.display().to_string(), bytes.len()));
    Ok(Outcome::Good)
}

struct Recorder {
    lab: Lab,
    game: Snapshot,
    explorer: Explorer,
    player_seed: Seed,
    marks: VecDeque<(Boundary, Explorer)>,
    tries: u64,
    /// The farthest end met so far, and how many of the tries ended near it.
    wall: (Boundary, u32),
}

impl Recorder {
    fn new(lab: Lab, game: Snapshot, player_seed: Seed) -> Self {
        Self {
            lab,
            game,
            explorer: Explorer::new(player_seed),
            player_seed,
            marks: VecDeque::new(),
            tries: 0,
            wall: (Boundary(0), 0),
        }
    }

    fn play(&mut self, keys: u64, survive: bool) -> anyhow::Result<()> {
        while self.game.boundary.0 < keys {
            if self.game.ended.is_some() {
                if !survive {
                    return Ok(());
                }
                self.step_back()?;
            }
            let at = self.game.boundary;
            if survive && at.0.is_multiple_of(MARK_EVERY) && self.marks.back().is_none_or(|mark| mark.0 < at) {
                self.marks.push_back((at, self.explorer.clone()));
                if self.marks.len() > MARKS_MAX {
                    self.marks.pop_front();
                }
            }
            self.press()?;
        }
        Ok(())
    }

    fn press(&mut self) -> anyhow::Result<()> {
        let key = self.explorer.next_key(&self.game.frame);
        let report = self.lab.press(self.game.machine, self.game.revision, key)?;
        if let Stop::Lost { key, reason } = report.stop {
            anyhow::bail!("input {} ({key}) kills its worker: {reason}", report.snapshot.boundary);
        }
        self.game = report.snapshot;
        Ok(())
    }

    /// Goes on from an earlier boundary with other choices.
    fn step_back(&mut self) -> anyhow::Result<()> {
        let end = self.game.boundary;
        let failed = self.game.ended.as_ref().is_some_and(|ended| !ended.kind.is_regular());
        anyhow::ensure!(!failed, "the engine failed at boundary {end}: {:?}", self.game.ended);
        self.tries += 1;
        anyhow::ensure!(self.tries <= TRIES_MAX, "no way was found past boundary {end}");
        self.wall = match self.wall {
            (far, near) if end.0 < far.0 + STEP_BACK => (Boundary(far.0.max(end.0)), near + 1),
            _ => (end, 1),
        };
        let back = STEP_BACK << ((self.wall.1 - 1) / 3).min(6);
        while self.marks.len() > 1 && self.marks.back().is_some_and(|mark| mark.0.0 + back > end.0) {
            self.marks.pop_back();
        }
        let (at, mut explorer) = self.marks.back().cloned().context("there is nothing to go back to")?;
        let before = self.game.machine;
        let fork = self.lab.fork(before, Some(at), Luck::Same, 1)?.pop();
        self.game = fork.context("no fork was made")?;
        self.lab.delete(before, None)?;
        explorer.reseed(Seed(self.player_seed.0.wrapping_add(self.tries)));
        self.explorer = explorer;
        Ok(())
    }

    fn summary(&self, file: &str, bytes: usize) -> String {
        let game = &self.game;
        let status = game.frame.status.clone().unwrap_or_default();
        let end = game.ended.as_ref().map_or_else(
            || "the game goes on".to_owned(),
            |ended| match ended.kind {
                EndKind::Died => ended.text.clone(),
                kind => format!("{kind:?}: {}", ended.text),
            },
        );
        let tries = if self.tries > 0 { format!(", {} steps back", self.tries) } else { String::new() };
        format!(
            "{file}: seed {}, {} inputs, turn {}, {} (Xp {}), {bytes} bytes{tries}: {end}",
            game.power_on.core_seed,
            game.boundary,
            game.frame.turn,
            status.level_text,
            status.experience_level.unwrap_or(0),
        )
    }
}
