use std::ops::Range;

use super::{Drive, Try};

/// The most work that goes to a worker at once, in keys of common play: some milliseconds, which is what a call that
/// wants the worker waits at most. A single line may be longer.
const COST_MAX: u64 = 2_016;
/// The least that is worth a message, where there is more.
const COST_MIN: u64 = 48;
/// The most bytes of lines that go to a worker at once, well below what a message may have.
const BYTES_MAX: usize = 256 << 10;
/// How many groups each worker gets at least, where there are lines enough: so that all end at about the same time.
const GROUPS_PER_WORKER: u64 = 4;

/// What loading a state costs, in keys; what keeping one costs; what a frame costs.
const LOAD: u64 = 3;
const KEEP: u64 = 12;
const FRAME: u64 = 1;

/// Bytes of a line beside its keys: the state's recipe, lengths, names.
const LINE_BYTES: usize = 512;
const SEGMENT_BYTES: usize = 8;

/// What a line weighs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Its work, at most, in keys of common play.
    cost: u64,
    /// Its bytes in a message, about.
    bytes: usize,
}

impl Load {
    pub(super) fn of(line: &Try) -> Self {
        let keys = line.drive.keys_max() as u64;
        let text = match &line.drive {
            Drive::Keys(batch) => batch.segments.len().saturating_mul(SEGMENT_BYTES).saturating_add(batch.len()),
            Drive::Policy { name, arguments, .. } => name.len() + arguments.len(),
        };
        Self {
            cost: LOAD + keys + if line.keep { KEEP } else { 0 } + if line.frame { FRAME } else { 0 },
            bytes: LINE_BYTES.saturating_add(text),
        }
    }
}

/// Cuts lines into groups of neighbours for this many workers.
pub(super) fn groups(loads: &[Load], workers: usize) -> Vec<Range<usize>> {
    let total = loads.iter().map(|load| load.cost).fold(0, u64::saturating_add);
    let most = (total / (workers.max(1) as u64).saturating_mul(GROUPS_PER_WORKER)).clamp(COST_MIN, COST_MAX);
    let mut groups = Vec::new();
    let (mut start, mut cost, mut bytes) = (0, 0_u64, 0_usize);
    for (index, load) in loads.iter().enumerate() {
        (cost, bytes) = (cost.saturating_add(load.cost), bytes.saturating_add(load.bytes));
        let full = cost > most || bytes > BYTES_MAX || index - start >= worker::LINES_MAX;
        if full && index > start {
            groups.push(start..index);
            (start, cost, bytes) = (index, load.cost, load.bytes);
        }
    }
    if start < loads.len() {
        groups.push(start..loads.len());
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(loads: &[Load], workers: usize) -> Vec<usize> {
        let groups = groups(loads, workers);
        let mut next = 0;
        for group in &groups {
            assert_eq!(group.start, next, "no line twice, none left out");
            next = group.end;
            let loads = &loads[group.clone()];
            let sum = |of: fn(&Load) -> u64| loads.iter().map(of).sum::<u64>();
            assert!(loads.len() == 1 || sum(|load| load.cost) <= COST_MAX);
            assert!(loads.len() == 1 || sum(|load| load.bytes as u64) <= BYTES_MAX as u64);
            assert!((1..=worker::LINES_MAX).contains(&loads.len()));
        }
        assert_eq!(next, loads.len());
        groups.iter().map(Range::len).collect()
    }

    #[test]
    fn groups_cover_the_lines_and_keep_their_bounds() {
        let short = Load { cost: 14, bytes: 530 };
        assert!(check(&[], 2).is_empty());
        assert_eq!(check(&[short], 2), [1]);
        // Few lines are not cut to pieces, and many are shared evenly.
        assert_eq!(check(&[short; 6], 2), [3, 3]);
        assert_eq!(check(&[short; 64], 2).len(), 8);
        assert!(check(&vec![short; 10_000], 2).iter().all(|count| *count <= 144));
        assert!(check(&vec![Load { cost: 1, bytes: 600 }; 5_000], 1).contains(&worker::LINES_MAX));
        let long = Load { cost: 100_000, bytes: 600 };
        assert_eq!(check(&[short, long, short, short, long], 2), [1, 1, 2, 1]);
        let heavy = Load { cost: 5, bytes: 200 << 10 };
        assert_eq!(check(&[heavy; 3], 1), [1, 1, 1]);
        let endless = Load { cost: u64::MAX, bytes: usize::MAX };
        assert_eq!(check(&[endless, endless], usize::MAX), [1, 1]);
    }
}
