//! Lines: many sequences of keys tried at once, each from a state, on all workers.

mod crew;
mod groups;
mod tried;

use wire::BatchError;

use crate::lab::Inner;
use crate::{Control, Lab, LabError};
use crew::Crew;

pub use tried::{Drive, LineStop, Tried, Try};

impl Lab {
    /// Tries lines, each from its own state, and tells of each what came of it, in the order given. Nothing else
    /// changes: a line leaves no trace but its result and, where wanted, the state that it leads to. Movies of the
    /// states (and of the machine that they look ahead of) tell how many lines were tried.
    ///
    /// All workers but those kept for interactive calls work on them, a few milliseconds' worth at a time; between
    /// such groups other callers get their turn, in the order in which they came, so that two batches share the workers
    /// evenly and a press of a key waits for one group at most. A single line is never cut: a long rollout
    /// of a policy has its worker until it ends or its call is cancelled.
    ///
    /// A worker that is lost costs time: its lines are tried again one by one, and the line that loses two workers, or
    /// has a key or a policy that hangs ([`LabOptions::key_cpu_ms`](crate::LabOptions::key_cpu_ms)), is told as
    /// [`LineStop::Lost`]. The results do not depend on how many workers there are.
    ///
    /// Progress counts lines. A cancelled call gives what is done; the other lines are [`LineStop::Cancelled`]. It
    /// returns within some 100 ms also when a worker is at a long line: that worker is killed, and replaced for whoever
    /// is next.
    /// [`Control::stop_when`] has no meaning here, and neither has the urgency.
    ///
    /// ```no_run
    /// use lab::{Control, Lab, LabOptions, Try};
    /// use wire::{PowerOn, Seed};
    ///
    /// let lab = Lab::new(LabOptions::new("nethack-lab"))?;
    /// let start = lab.begin(PowerOn::from_seed(Seed(1)))?;
    /// let lines = ["20s", "10j", "10k"].map(|keys| Try::keys(&start, keys).framed());
    /// for tried in lab.try_lines(&lines, &Control::default())? {
    ///     println!("{:?} after {} turns: {:?}", tried.stop, tried.turns, tried.frame());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Before anything is tried: too many lines, keys or inputs ([`LabError::LimitExceeded`], [`LabError::Batch`]), a
    /// policy that the workers don't have ([`LabError::UnknownPolicy`]), a state of another lab
    /// ([`LabError::ForeignState`]). Engine failures.
    pub fn try_lines(&self, tries: &[Try], control: &Control<'_>) -> Result<Vec<Tried>, LabError> {
        let lab = &self.0;
        lab.check_lines(tries)?;
        let results = Crew::new(lab, tries, control.cancel).run(control)?;
        count_lines(tries, &results);
        Ok(results)
    }
}

impl Inner {
    /// Refuses what can be seen to be impossible before anything is tried.
    fn check_lines(&self, tries: &[Try]) -> Result<(), LabError> {
        let limits = self.limits();
        let within = |what, given: usize, max: usize| match given {
            given if given > max => Err(LabError::LimitExceeded { what, given: given as u64, max: max as u64 }),
            _ => Ok(()),
        };
        within("lines in one call", tries.len(), limits.lines)?;
        for line in tries {
            self.check_own(&line.from)?;
            match &line.drive {
                Drive::Keys(batch) => match batch.check(limits.keys) {
                    Ok(()) | Err(BatchError::Empty) => {}
                    Err(error) => return Err(error.into()),
                },
                Drive::Policy { name, arguments, keys_max, .. } => {
                    within("keys of a policy", *keys_max as usize, worker::ROLLOUT_KEYS_MAX as usize)?;
                    within("bytes of a policy's arguments", arguments.len(), worker::POLICY_BYTES_MAX)?;
                    self.check_policy(name)?;
                }
            }
            let end = line.from.boundary().0.saturating_add(line.drive.keys_max() as u64);
            if end > limits.inputs {
                return Err(LabError::LimitExceeded { what: "inputs in one line", given: end, max: limits.inputs });
            }
        }
        Ok(())
    }

    pub(crate) fn check_policy(&self, name: &str) -> Result<(), LabError> {
        let known = &self.engine.identity().policies;
        if known.iter().any(|policy| policy == name) {
            return Ok(());
        }
        Err(LabError::UnknownPolicy { name: name.to_owned(), known: known.clone() })
    }
}

impl Try {
    /// The seeds that it sets; a game that is over draws nothing any more.
    fn seeds(&self) -> Option<(wire::Seed, wire::Seed)> {
        if self.from.ended().is_some() { None } else { self.luck.seeds() }
    }

    /// True when it leads nowhere: no key, and the luck of its state.
    fn stands_still(&self) -> bool {
        self.drive.keys_max() == 0 && self.seeds().is_none()
    }
}

/// Counts the lines that were tried, for the movies.
fn count_lines(tries: &[Try], results: &[Tried]) {
    let mut run: Option<(&Try, u64)> = None;
    for (line, _) in tries.iter().zip(results).filter(|(line, result)| result.is_done() && !line.stands_still()) {
        run = match run {
            Some((first, count)) if first.from.shares_root(&line.from) => Some((first, count + 1)),
            other => {
                if let Some((first, count)) = other {
                    first.from.root().count_lines(count);
                }
                Some((line, 1))
            }
        };
    }
    if let Some((first, count)) = run {
        first.from.root().count_lines(count);
    }
}
