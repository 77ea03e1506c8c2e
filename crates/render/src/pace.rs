use std::num::NonZeroU32;

/// How fast a recording plays. A game has no time of its own between inputs, so it is made: even, and always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    inputs_per_second: NonZeroU32,
}

impl Pace {
    /// So many inputs a second.
    #[must_use]
    pub fn new(inputs_per_second: NonZeroU32) -> Self {
        Self { inputs_per_second }
    }

    /// Microseconds from the beginning of a recording until so many inputs later, rounded down.
    #[must_use]
    pub fn micros(self, inputs: u64) -> u64 {
        let micros = u128::from(inputs) * 1_000_000 / u128::from(self.inputs_per_second.get());
        u64::try_from(micros).unwrap_or(u64::MAX)
    }
}

impl Default for Pace {
    /// Ten inputs a second.
    fn default() -> Self {
        Self::new(const { NonZeroU32::new(10).unwrap() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_even_and_does_not_drift() {
        assert_eq!(Pace::default().micros(1), 100_000);
        let third = Pace::new(NonZeroU32::new(3).unwrap());
        assert_eq!(
            [1, 2, 3, 3_000_000].map(|inputs| third.micros(inputs)),
            [333_333, 666_666, 1_000_000, 1_000_000_000_000]
        );
        assert_eq!(Pace::new(NonZeroU32::MIN).micros(u64::MAX), u64::MAX);
    }
}
