use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;

use lab::{Control, Lab, LabOptions, State, Verdict};

/// What every example takes.
pub(crate) struct Arguments {
    /// Of the game and of all the driver's choices.
    pub(crate) seed: u64,
    /// How many lines may be tried.
    pub(crate) lines: usize,
    /// Where the movie goes.
    pub(crate) out: Option<PathBuf>,
    /// How many workers there are; as many as cores when absent. It changes nothing but the time.
    pub(crate) workers: Option<usize>,
}

impl Arguments {
    /// Reads `--seed N --lines N --out FILE --workers N`, all of which may be left out.
    pub(crate) fn read(lines: usize) -> Result<Self, Box<dyn Error>> {
        let usage = || {
            format!(
                "there are --seed N, --lines N (how many are tried, now {lines}), --workers N and --out FILE for the movie"
            )
        };
        let mut arguments = Self { seed: 1, lines, out: None, workers: None };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(usage)?;
            let wrong = |error| format!("{word} {value}: {error}");
            match word.as_str() {
                "--seed" => arguments.seed = value.parse().map_err(wrong)?,
                "--lines" => arguments.lines = value.parse().map_err(wrong)?,
                "--out" => arguments.out = Some(value.into()),
                "--workers" => arguments.workers = Some(value.parse().map_err(wrong)?),
                _ => return Err(usage().into()),
            }
        }
        match &arguments.out {
            Some(out) if out.exists() => Err(format!("{} exists already: name another file", out.display()).into()),
            _ => Ok(arguments),
        }
    }

    /// A lab whose workers are this program.
    pub(crate) fn lab(&self) -> Result<Lab, Box<dyn Error>> {
        let mut options = LabOptions::this_program();
        options.workers = self.workers.unwrap_or(options.workers);
        Ok(Lab::new(options)?)
    }

    /// Shows a state's screen, proves its movie from power-on, and writes it where `--out` says.
    pub(crate) fn conclude(&self, lab: &Lab, best: &State) -> Result<(), Box<dyn Error>> {
        println!("\n{}\n", lab.look(best)?.screen.text());
        let movie = lab.movie_of(best)?;
        let verdict = lab.verify(&movie, None, &Control::default())?.verdict;
        let info = lab.info();
        println!("{} inputs; the movie is {} bytes and verifies: {}", best.boundary(), movie.len(), verdict.name());
        println!("states still held: {}, {} KiB in the store", info.store_states, info.store_bytes >> 10);
        if let Some(out) = &self.out {
            std::fs::OpenOptions::new().write(true).create_new(true).open(out)?.write_all(&movie)?;
            println!("written to {}", out.display());
        }
        if verdict == Verdict::Exact { Ok(()) } else { Err("the movie does not verify".into()) }
    }
}
