//! How far the ROM is optimised. Every level plays the same game and has the same
//! engine id; only the ROM id and the speed differ.

use anyhow::{Result, bail};

use crate::toolchain::Toolchain;

/// Chooses the level; without it, the best one that the compiler can do.
pub(crate) const LEVEL_VARIABLE: &str = "NETHACK_LAB_ROM_LEVEL";

/// From the quickest to build to the quickest to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Each file by itself.
    Plain,
    /// All files as one program.
    Whole,
    /// As one program, after a training run that says what is called how often.
    Trained,
}

/// For the linker to see all files as one program.
pub(crate) const WHOLE: [&str; 2] = ["-flto", "-fno-fat-lto-objects"];

/// Where the counts of a training run lie, below the output folder.
pub(crate) const COUNTS: &str = "counts";

/// Reads the counts. What the run never came by is optimised as if there had been
/// none: most of the game is rare. What it came by often may grow for its speed.
pub(crate) const TRAINED: [&str; 4] =
    ["-O3", "-fprofile-use=counts", "-fprofile-partial-training", "-Wno-missing-profile"];

/// Counts as it runs. The list of counters lies in a section, for want of a loader;
/// each counter in one of its own, so that the linker script tells it from the game's
/// variables. The optimisation is that of [`TRAINED`]: a function is counted as it is
/// after its smallest callees have become part of it.
pub(crate) const TRAINER: [&str; 5] =
    ["-O3", "-fprofile-generate", "-fprofile-update=single", "-fprofile-info-section=gcov_info", "-fdata-sections"];

impl Level {
    /// The level that the user wants, or the best that the compiler can do.
    pub(crate) fn choose(toolchain: &Toolchain) -> Result<Self> {
        let best = toolchain.level_max;
        let wanted = std::env::var_os(LEVEL_VARIABLE).filter(|value| !value.is_empty());
        let Some(wanted) = wanted else {
            if best < Self::Trained {
                let name = best.name();
                println!("cargo::warning=this compiler can't train the ROM: it is built {name}, and slower for it");
            }
            return Ok(best);
        };
        let levels = [Self::Plain, Self::Whole, Self::Trained];
        match levels.into_iter().find(|level| wanted == level.name()) {
            Some(level) if level <= best => Ok(level),
            Some(_) => bail!("{LEVEL_VARIABLE} is {}, which this compiler can't do", wanted.display()),
            None => bail!("{LEVEL_VARIABLE} is {}, not plain, whole or trained", wanted.display()),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Whole => "whole",
            Self::Trained => "trained",
        }
    }

    /// What the level adds to the flags of each of the ROM's files.
    pub(crate) fn flags(self) -> Vec<&'static str> {
        let whole: &[&str] = if self >= Self::Whole { &WHOLE } else { &[] };
        let trained: &[&str] = if self >= Self::Trained { &TRAINED } else { &[] };
        [whole, trained].concat()
    }
}
