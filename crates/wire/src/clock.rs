use serde::{Deserialize, Serialize};

/// The one moment that a machine takes for now, in seconds since 1970-01-01 00:00:00 UTC. It stands still for the whole game.
///
/// The game reads the moon's phase, Friday 13th, night, midnight and the hero's birthday from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Clock(i64);

/// Why a number is no clock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "clock {given} is out of range: give seconds since 1970-01-01 UTC from 0 to {max} (9999-12-31)",
    max = Clock::MAX
)]
pub struct ClockError {
    given: i64,
}

impl Clock {
    /// The last second that a clock may show: 9999-12-31 23:59:59 UTC.
    pub const MAX: i64 = 253_402_300_799;

    /// A clock that shows `seconds` since 1970-01-01 00:00:00 UTC.
    ///
    /// # Errors
    /// A moment before 1970 or after the year 9999.
    pub fn new(seconds: i64) -> Result<Self, ClockError> {
        if (0..=Self::MAX).contains(&seconds) { Ok(Self(seconds)) } else { Err(ClockError { given: seconds }) }
    }

    /// Seconds since 1970-01-01 00:00:00 UTC.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.0
    }
}

impl Default for Clock {
    /// 2001-01-02 12:00:00 UTC: a Tuesday at noon, the moon in its first quarter.
    fn default() -> Self {
        Self(978_436_800)
    }
}

impl TryFrom<i64> for Clock {
    type Error = ClockError;

    fn try_from(seconds: i64) -> Result<Self, ClockError> {
        Self::new(seconds)
    }
}

impl From<Clock> for i64 {
    fn from(clock: Clock) -> Self {
        clock.0
    }
}
