//! `nle`: recorded games of NLE, compared with our own play or made into movies.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use lab::{Control, Snapshot};
use machine::Machine;
use nle::{Difference, Import, NleError};
use wire::{Batch, KEYS_MAX};

use crate::out::outln;
use crate::outcome::{Outcome, Usage};
use crate::setup::{Setup, open_file, write_new};

#[derive(Subcommand, Debug)]
pub(crate) enum NleCommand {
    /// Replay recorded games of NLE and compare every array at every step
    #[command(
        after_help = "Exit status: 0 all agree; 1 a difference; 2 a file that can't be judged.\n\nExample:\n  nethack-lab \
                            nle compare fixtures/nle/*.traj.gz"
    )]
    Compare(CompareOptions),
    /// Make a movie of a recorded game
    #[command(after_help = "Example:\n  nethack-lab nle import game.traj.gz -o game.movie")]
    Import(ImportOptions),
}

/// `nle compare`
#[derive(Args, Debug)]
pub(crate) struct CompareOptions {
    /// Trajectories (docs/nle.md has the format)
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// `nle import`
#[derive(Args, Debug)]
pub(crate) struct ImportOptions {
    /// The trajectory
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Where the movie is written; an existing file is never touched
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

pub(crate) fn run(setup: &Setup, command: NleCommand) -> anyhow::Result<Outcome> {
    match command {
        NleCommand::Compare(options) => compare(setup, &options),
        NleCommand::Import(options) => import(setup, &options),
    }
}

fn compare(setup: &Setup, options: &CompareOptions) -> anyhow::Result<Outcome> {
    if !setup.is_built_in() {
        let hint = "nle compare plays in this process, and so the built-in ROM only: leave --rom out";
        return Err(Usage(hint.to_owned()).into());
    }
    let mut machine = Machine::open(rom::built_in())?;
    let mut outcome = Outcome::Good;
    for file in &options.files {
        // Refuses what is no regular file, which might be waited for.
        if let Err(error) = open_file(file) {
            eprintln!("nethack-lab: {error}");
            outcome = Outcome::Usage;
            continue;
        }
        match nle::compare(file, &mut machine, &mut |_| {}) {
            Ok(report) => match report.difference {
                None => outln!("{}: all {} steps agree", file.display(), report.agreed),
                Some(difference) => {
                    print!("{}: {} steps agree; {}", file.display(), report.agreed, told(&difference));
                    outcome = if outcome == Outcome::Usage { outcome } else { Outcome::Failure };
                }
            },
            Err(NleError::Machine(error)) => return Err(error.into()),
            Err(error) => {
                eprintln!("nethack-lab: {}: {error}", file.display());
                outcome = Outcome::Usage;
            }
        }
    }
    Ok(outcome)
}

fn told(difference: &Difference) -> String {
    let key = difference.key.map_or_else(String::new, |key| format!(" after key {}", wire::Key::name(key)));
    let mut text =
        format!("step {}{key}: {}\nours\n{}\n", difference.step, difference.what, difference.ours.join("\n"));
    if let Some(theirs) = &difference.theirs {
        text.push_str(&format!("theirs\n{}\n", theirs.join("\n")));
    }
    text
}

fn import(setup: &Setup, options: &ImportOptions) -> anyhow::Result<Outcome> {
    anyhow::ensure!(!options.out.exists(), "{} exists already", options.out.display());
    let Import { power_on, keys, .. } = read(&options.file)?;
    let lab = setup.lab()?;
    let mut game: Snapshot = lab.new_game(power_on, false)?;
    for keys in keys.chunks(KEYS_MAX) {
        let report = lab.run(game.machine, game.revision, &Batch::forced(keys.to_vec()), &Control::default())?;
        anyhow::ensure!(
            report.keys_used == keys.len(),
            "the game stopped before its recording does: {:?}",
            report.stop
        );
        game = report.snapshot;
    }
    let bytes = lab.movie(game.machine)?;
    write_new(&options.out, &bytes).context("the movie")?;
    outln!("{}: {} inputs, turn {}, {} bytes", options.out.display(), game.boundary, game.frame.turn, bytes.len());
    Ok(Outcome::Good)
}

fn read(file: &Path) -> anyhow::Result<Import> {
    open_file(file)?;
    nle::import(file).map_err(|error| Usage(format!("{}: {error}", file.display())).into())
}
