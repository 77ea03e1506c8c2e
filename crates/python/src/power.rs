//! Power-on records from what Python gives.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use wire::{Character, Clock, PowerOn, Profile, Seed};

/// What fixes a game, as Python gives it. Seeds have been checked to be whole numbers of 64 bits.
#[derive(FromPyObject)]
pub(crate) struct Given {
    #[pyo3(item)]
    core: u64,
    #[pyo3(item)]
    disp: u64,
    #[pyo3(item)]
    lgen: Option<u64>,
    #[pyo3(item)]
    reseed: bool,
    #[pyo3(item)]
    options: String,
    #[pyo3(item)]
    wizard: bool,
    #[pyo3(item)]
    fix_moon_phase: bool,
    #[pyo3(item)]
    clock: i64,
}

impl Given {
    /// The record that plays NLE's game.
    pub(crate) fn record(self) -> PyResult<PowerOn> {
        let record = PowerOn {
            core_seed: Seed(self.core),
            display_seed: Seed(self.disp),
            level_seed: self.lgen.map(Seed),
            reseed: self.reseed,
            clock: Clock::new(self.clock).map_err(|error| PyValueError::new_err(error.to_string()))?,
            character: Character::default(),
            options: self.options,
            debug: self.wizard,
            profile: if self.fix_moon_phase { Profile::Nle13FixMoonPhase } else { Profile::Nle13 },
        };
        record.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(record)
    }
}
