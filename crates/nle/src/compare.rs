use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use machine::{Arrays, Machine, Observation, Stop};
use wire::Key;

use crate::{Array, Digest, NleError, Screen, Step, Trajectory};

/// What came of a comparison.
#[derive(Clone, Debug)]
pub struct CompareReport {
    /// How many steps agreed in every array, the first one included.
    pub agreed: u64,
    /// The first difference, if there is one.
    pub difference: Option<Difference>,
}

/// Where a recorded game and ours part.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The step, counted from 0.
    pub step: u64,
    /// The key that led to it.
    pub key: Option<Key>,
    /// The arrays that differ, in NLE's order; empty when one game has ended and the other has not.
    pub arrays: Vec<Array>,
    /// What differs, in words.
    pub what: String,
    /// Our terminal, row by row.
    pub ours: Vec<String>,
    /// Theirs, where it was recorded.
    pub theirs: Option<Vec<String>>,
}

/// Plays a recorded game on a machine and compares every array at every step, to the first difference. `progress` is
/// told the number of steps from time to time.
///
/// # Errors
/// A file that is no trajectory; a machine that does not come up.
pub fn compare(path: &Path, machine: &mut Machine, progress: &mut dyn FnMut(u64)) -> Result<CompareReport, NleError> {
    replay(Trajectory::open(path)?, machine, progress)
}

/// As [`compare`], from an open trajectory.
///
/// # Errors
/// As [`compare`].
pub fn replay<R: Read>(
    mut trajectory: Trajectory<R>,
    machine: &mut Machine,
    progress: &mut dyn FnMut(u64),
) -> Result<CompareReport, NleError> {
    let mut judge = Judge::new(&trajectory.header().observation_keys);
    let mut stop = machine.power_on(&trajectory.header().power_on()?)?;
    while let Some(step) = trajectory.step()? {
        if let Some(key) = step.key {
            if stop != Stop::Boundary {
                let difference = judge.difference(&step, Vec::new(), "our game has ended before".to_owned());
                return Ok(judge.report(Some(difference), &mut trajectory));
            }
            stop = machine.press(key)?;
        }
        machine.observe_nle(&mut judge.seen, Arrays::ALL);
        if let Some(difference) = judge.look(&step, &stop) {
            return Ok(judge.report(Some(difference), &mut trajectory));
        }
        judge.agreed += 1;
        if judge.agreed.is_multiple_of(1000) {
            progress(judge.agreed);
        }
    }
    Ok(judge.report(None, &mut trajectory))
}

/// Keeps what was seen and what was expected of it.
struct Judge {
    seen: Observation,
    arrays: Vec<Array>,
    expected: BTreeMap<Array, Digest>,
    /// Each array's bytes and digest when it was digested last.
    digested: BTreeMap<Array, (Vec<u8>, Digest)>,
    bytes: Vec<u8>,
    agreed: u64,
}

impl Judge {
    fn new(arrays: &[Array]) -> Self {
        let mut arrays = arrays.to_vec();
        arrays.sort_unstable();
        Self {
            seen: Observation::default(),
            arrays,
            expected: BTreeMap::new(),
            digested: BTreeMap::new(),
            bytes: Vec::new(),
            agreed: 0,
        }
    }

    fn look(&mut self, step: &Step, stop: &Stop) -> Option<Difference> {
        self.expected.extend(step.changed.iter().map(|(array, digest)| (*array, *digest)));
        let differing: Vec<_> = self.arrays.clone().into_iter().filter(|array| !self.agrees(*array)).collect();
        let ended = *stop != Stop::Boundary;
        let what = if !differing.is_empty() {
            let names: Vec<_> = differing.iter().map(|array| array.name()).collect();
            format!("{} differ", names.join(", "))
        } else if ended && !step.done {
            "our game has ended, theirs has not".to_owned()
        } else if step.done && !ended {
            "their game has ended, ours has not".to_owned()
        } else {
            return None;
        };
        Some(self.difference(step, differing, what))
    }

    fn agrees(&mut self, array: Array) -> bool {
        array.bytes_into(&self.seen, &mut self.bytes);
        let digest = match self.digested.get_mut(&array) {
            Some((bytes, digest)) if *bytes == self.bytes => *digest,
            _ => {
                let digest = Digest::of(&self.bytes);
                self.digested.insert(array, (self.bytes.clone(), digest));
                digest
            }
        };
        self.expected.get(&array).is_some_and(|expected| *expected == digest)
    }

    fn difference(&self, step: &Step, arrays: Vec<Array>, what: String) -> Difference {
        Difference {
            step: step.index,
            key: step.key,
            arrays,
            what,
            ours: self.seen.tty_chars.iter().map(|row| row.iter().map(|byte| char::from(*byte)).collect()).collect(),
            theirs: None,
        }
    }

    fn report<R: Read>(self, difference: Option<Difference>, trajectory: &mut Trajectory<R>) -> CompareReport {
        let difference = difference.map(|difference| {
            let theirs = trajectory.screen_of(difference.step).map(|Screen { rows, .. }| rows);
            Difference { theirs, ..difference }
        });
        CompareReport { agreed: self.agreed, difference }
    }
}
