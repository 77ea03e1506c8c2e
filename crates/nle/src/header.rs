use std::collections::BTreeMap;

use serde::Deserialize;
use wire::{Character, Clock, PowerOn, Profile, Seed};

use crate::{Array, NleError};

/// The format's version that is read.
const FORMAT: u64 = 1;

/// How a game was recorded, as far as it matters to play.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Header {
    /// Of the format.
    pub format: u64,
    /// The version of NLE.
    pub nle: String,
    /// Seeds the generator that decides play.
    pub core: u64,
    /// Seeds the generator that decides looks.
    pub disp: u64,
    /// Seeds the generators that make levels, if they are in use.
    pub lgen: Option<u64>,
    /// Whether the game goes back to its first seeds at each level.
    pub reseed: bool,
    /// The whole options text.
    pub nethackoptions: String,
    /// Whether it is played in debug mode.
    pub wizard: bool,
    /// Whether monsters appear by themselves.
    pub spawn_monsters: bool,
    /// Whether the calendar comes from the core seed.
    pub fix_moon_phase: bool,
    /// The clock that was in force.
    pub clock: FrozenClock,
    /// The arrays that are digested.
    pub observation_keys: Vec<Array>,
    #[serde(default)]
    dtypes: BTreeMap<String, String>,
    #[serde(default)]
    shapes: BTreeMap<String, Vec<usize>>,
    #[serde(default)]
    terminal: Option<[usize; 2]>,
}

/// The clock of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct FrozenClock {
    /// Whether it stood still; if not, the recording depends on when it was made.
    pub frozen: bool,
    /// Seconds since 1970-01-01 UTC.
    pub epoch: f64,
}

impl Header {
    /// Refuses what can't be judged: another format, another NLE, arrays of other shapes.
    pub(crate) fn check(&self, line: u64) -> Result<(), NleError> {
        if self.format != FORMAT {
            return Err(NleError::form(line, format!("format {} is unknown, only {FORMAT} is read", self.format)));
        }
        if !self.nle.starts_with("1.3.") {
            return Err(NleError::Unsupported(format!("NLE {:.20}", self.nle)));
        }
        if !self.spawn_monsters {
            return Err(NleError::Unsupported("spawn_monsters off".to_owned()));
        }
        if !self.clock.frozen {
            return Err(NleError::Unsupported("a clock that runs".to_owned()));
        }
        if self.terminal.is_some_and(|size| size != [24, 80]) {
            return Err(NleError::Unsupported("a terminal of another size than 24 × 80".to_owned()));
        }
        if self.observation_keys.is_empty() || self.observation_keys.len() > Array::ALL.len() {
            return Err(NleError::form(line, "observation_keys names no arrays, or some twice"));
        }
        for array in &self.observation_keys {
            let dtype = self.dtypes.get(array.name());
            let shape = self.shapes.get(array.name());
            if dtype.is_some_and(|dtype| dtype != array.dtype()) || shape.is_some_and(|shape| shape != array.shape()) {
                return Err(NleError::form(line, format!("{} has another type or shape", array.name())));
            }
        }
        self.power_on()?.check()?;
        Ok(())
    }

    /// The power-on record that plays the same game.
    ///
    /// # Errors
    /// A clock that is no time.
    pub fn power_on(&self) -> Result<PowerOn, NleError> {
        // Exact for every second of any year that a clock takes.
        let seconds = self.clock.epoch as i64;
        let clock =
            Clock::new(seconds).map_err(|error| NleError::Unsupported(format!("the clock {seconds}: {error}")))?;
        Ok(PowerOn {
            core_seed: Seed(self.core),
            display_seed: Seed(self.disp),
            level_seed: self.lgen.map(Seed),
            reseed: self.reseed,
            clock,
            character: Character::default(),
            options: self.nethackoptions.clone(),
            debug: self.wizard,
            profile: if self.fix_moon_phase { Profile::Nle13FixMoonPhase } else { Profile::Nle13 },
        })
    }
}
