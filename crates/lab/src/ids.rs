use std::fmt;
use std::sync::Arc;

use wire::{Boundary, Seed};

/// Names a machine of a lab. Never used again, also not after the machine is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineId(pub u64);

/// A number that never repeats in a lab's life; each change of any machine gets a new one, larger than all before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

/// Names one power-on. All machines that go back to it (forks, adopted lines) share it. It says nothing else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId(pub(crate) Arc<str>);

impl GameId {
    /// The id as text: letters, digits and dashes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether a machine that is made has a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journalled {
    /// It has none.
    No,
    /// In a new file of the movies directory.
    Yes,
    /// The same, but nobody finds the file yet: it gets its name with [`Lab::begin_ledger`](crate::Lab::begin_ledger),
    /// once its ledger is there, or is gone with the machine.
    Unnamed,
}

impl From<bool> for Journalled {
    fn from(journalled: bool) -> Self {
        if journalled { Self::Yes } else { Self::No }
    }
}

/// Where a fork comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lineage {
    /// The machine that it was forked from. That one may be gone by now.
    pub parent: MachineId,
    /// At which boundary.
    pub base: Boundary,
    /// With which luck.
    pub luck: Luck,
}

/// What chance holds for a fork.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Luck {
    /// The random numbers that its parent would draw: it shows what will happen.
    #[default]
    Same,
    /// New random numbers, from these seeds on.
    Reseed {
        /// For the generator that decides play.
        core: Seed,
        /// For the generator that decides what things look like.
        display: Seed,
    },
}

impl Luck {
    /// The luck of the fork with this index when several are made at once: the first gets the seeds as given, each
    /// later one seeds that follow from them and its index. `Same` stays the same.
    #[must_use]
    pub fn nth(self, index: u64) -> Self {
        match self {
            Self::Reseed { core, display } if index > 0 => {
                Self::Reseed { core: Seed(mix(core.0, index)), display: Seed(mix(display.0, index)) }
            }
            luck => luck,
        }
    }

    pub(crate) fn seeds(self) -> Option<(Seed, Seed)> {
        match self {
            Self::Same => None,
            Self::Reseed { core, display } => Some((core, display)),
        }
    }
}

/// The finaliser of SplitMix64 over a seed and an index, so that neighbouring indexes give unrelated seeds.
fn mix(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What a machine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// It waits at a boundary and nobody has called.
    Idle,
    /// A call has its turn, but no worker yet.
    Waiting,
    /// A worker runs it.
    Running,
    /// Its game has ended.
    Ended,
    /// It was closed.
    Aborted,
    /// It can't go on: its engine failed for good, or its journal can't be written.
    Failed,
}

impl Lifecycle {
    /// The word for it in JSON and in prose.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Ended => "ended",
            Self::Aborted => "aborted",
            Self::Failed => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_luck_differs_and_repeats() {
        let luck = Luck::Reseed { core: Seed(0), display: Seed(1) };
        assert_eq!(luck.nth(0), luck);
        assert_eq!(luck.nth(1), luck.nth(1));
        let all: std::collections::BTreeSet<u64> =
            (0..100).filter_map(|index| luck.nth(index).seeds()).map(|(core, _)| core.0).collect();
        assert_eq!(all.len(), 100);
        assert_eq!(Luck::Same.nth(7), Luck::Same);
    }
}
