use wire::{Asked, Batch, StopReason};
use worker::{Drive, Part, Report};

use crate::plan::Chunk;

/// Looks at every frame of a batch from beside the machine: a [`Policy`](crate::Policy) of the workers' that presses a
/// batch's keys as the workers' own batches do, and stops where it has seen what it looks for. Frames then need not come
/// to the host one at a time, as they must for [`Control::stop_when`](crate::Control::stop_when).
pub trait Lookout {
    /// The policy's name.
    fn policy(&self) -> &str;

    /// What the policy is told, for it to press so many of the batch's keys (`part`: the first, counted from 0, and how
    /// many; all without it). Prompts after the last of them are dismissed only where that is the batch's last. `asked`
    /// is what the key before them has answered, as [`Looked::asked`] told.
    ///
    /// # Errors
    /// Why the batch can't be told.
    fn arguments(&self, batch: &Batch, part: Option<(u32, u32)>, asked: Option<Asked>) -> Result<Vec<u8>, String>;

    /// What the policy has brought back. It comes from a worker, and so may be anything.
    ///
    /// # Errors
    /// Why it can't be read.
    fn looked(&self, outcome: &[u8]) -> Result<Looked, String>;
}

/// How far a policy has pressed a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// The batch's own keys that were pressed; dismissals are none of them.
    pub keys_used: u32,
    /// Why it stopped where it has not seen what it looks for. [`StopReason::Done`] also where it may press no more: the
    /// rest then follows.
    pub stop: StopReason,
    /// True when it has seen what it looks for, after the last input.
    pub has_seen: bool,
    /// What its last key has answered, where the game may yet refuse it.
    pub asked: Option<Asked>,
}

/// The most inputs that a policy may press for one chunk.
const INPUTS_MAX: u32 = 2 * wire::KEYS_MAX as u32;

/// The drive of a chunk under a lookout.
pub(crate) fn drive(lookout: &dyn Lookout, chunk: &Chunk) -> Result<Drive, String> {
    let (part, asked) = match chunk.part.clone() {
        Some(Part { from, count, asked }) => (Some((from, count)), asked),
        None => (None, None),
    };
    Ok(Drive::Policy {
        name: lookout.policy().to_owned(),
        arguments: lookout.arguments(&chunk.batch, part, asked)?,
        keys_max: INPUTS_MAX,
        turns_max: None,
    })
}

/// Makes the report of such a drive one of its chunk. What the lookout has seen is told as [`StopReason::Policy`].
pub(crate) fn translate(lookout: &dyn Lookout, chunk: &Chunk, report: &mut Report) -> Result<(), String> {
    let looked = lookout.looked(&report.outcome)?;
    let most = chunk.keys.len().min(report.inputs.len());
    report.keys_used = looked.keys_used.min(u32::try_from(most).unwrap_or(u32::MAX));
    if report.stop != StopReason::Ended {
        report.stop = if looked.has_seen { StopReason::Policy } else { looked.stop };
    }
    report.asked = looked.asked;
    Ok(())
}
