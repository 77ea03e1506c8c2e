//! States as bytes: out of the store and into it. What they hold is only ever looked at by workers.

use std::sync::Arc;

use movie::Finish;
use wire::{PlayDigest, StateDigest};
use worker::{Piece, Report};

use crate::lab::Inner;
use crate::store::Kept;
use crate::task::{Job, StartAt, TRIES, Trouble, end_of};
use crate::{Control, LabError};

/// A state in the form that stands by itself, with its digests.
pub(crate) struct Whole {
    pub(crate) play: PlayDigest,
    pub(crate) state: StateDigest,
    pub(crate) image_bytes: u64,
    pub(crate) body: Vec<u8>,
    pub(crate) blobs: Vec<Vec<u8>>,
}

impl Inner {
    /// A state in the form that stands by itself.
    pub(crate) fn whole_state(&self, state: &Arc<Kept>, control: &Control<'_>) -> Result<Whole, LabError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_whole_state(state, control) {
                Err(Trouble::Lost(_)) if tries < TRIES => {}
                result => return result.map_err(Trouble::into_error),
            }
        }
    }

    fn try_whole_state(&self, state: &Arc<Kept>, control: &Control<'_>) -> Result<Whole, Trouble> {
        let told_less = || Trouble::Lost("a worker told less than it was asked for".to_owned());
        let mut hosted = self.lease(Some(state.id()), control.urgency)?;
        let keep = Some(self.store.keep_rule(None));
        let job = Job { from: StartAt::State(state), event: None, batch: None, part: None, keep, digest: true };
        let report = job.run(hosted.as_mut())?;
        let Some(kept) = &report.kept else { return Err(told_less()) };
        let mut pieces = None;
        hosted.output(end_of(kept), &mut |slot| pieces = keyframe_in(kept, slot)).map_err(Trouble::Lost)?;
        let ((body, blobs), digest) = pieces.zip(report.state_digest).ok_or_else(told_less)?;
        Ok(Whole { play: report.play, state: digest, image_bytes: report.image_bytes, body, blobs })
    }

    /// The state digest of what is in the store.
    pub(crate) fn digest_of(&self, state: &Arc<Kept>, control: &Control<'_>) -> Result<StateDigest, LabError> {
        let told_less = || LabError::EngineFailure { reason: "a worker told no digest".to_owned(), lost: None };
        let mut tries = 0;
        loop {
            tries += 1;
            let job =
                Job { from: StartAt::State(state), event: None, batch: None, part: None, keep: None, digest: true };
            let report = self.lease(Some(state.id()), control.urgency).and_then(|mut hosted| job.run(hosted.as_mut()));
            match report {
                Err(Trouble::Lost(_)) if tries < TRIES => {}
                Err(trouble) => return Err(trouble.into_error()),
                Ok(report) => return report.state_digest.ok_or_else(told_less),
            }
        }
    }

    /// Puts a state that came from elsewhere into the store. Nothing looks at what it holds.
    pub(crate) fn put_whole(&self, body: &[u8], blobs: &[Vec<u8>], image_bytes: u64) -> Result<Arc<Kept>, LabError> {
        let blobs: Vec<&[u8]> = blobs.iter().map(Vec::as_slice).collect();
        self.store.put_keyframe(body, &blobs, image_bytes)
    }

    /// Has a worker load a state that came from elsewhere.
    ///
    /// # Errors
    /// [`LabError::BadState`] when it can't, or does not survive it.
    pub(crate) fn look_at(&self, state: &Arc<Kept>, control: &Control<'_>) -> Result<Report, LabError> {
        let refused = |reason: String| LabError::BadState(format!("no worker can load it: {reason}"));
        let mut tries = 0;
        loop {
            if control.is_cancelled() {
                return Err(LabError::Cancelled);
            }
            tries += 1;
            let mut hosted = self.lease(None, control.urgency).map_err(Trouble::into_error)?;
            let job =
                Job { from: StartAt::State(state), event: None, batch: None, part: None, keep: None, digest: true };
            return match job.run(hosted.as_mut()) {
                Ok(report) => Ok(report),
                // Workers die for other reasons too.
                Err(Trouble::Lost(_)) if tries < TRIES => continue,
                Err(Trouble::Fatal(LabError::EngineFailure { reason, .. })) => Err(refused(reason)),
                Err(Trouble::Lost(reason) | Trouble::Hung(reason)) => Err(refused(reason)),
                Err(Trouble::Fatal(error)) => Err(error),
            };
        }
    }
}

/// The body and the blobs of a keyframe that lies in a slot.
fn keyframe_in(kept: &worker::Kept, slot: &[u8]) -> Option<(Vec<u8>, Vec<Vec<u8>>)> {
    let copy = |piece: &Piece| {
        let start = usize::try_from(piece.offset).ok()?;
        let end = start.checked_add(usize::try_from(piece.bytes).ok()?)?;
        slot.get(start..end).map(<[u8]>::to_vec)
    };
    let worker::Kept::Keyframe { body, blobs } = kept else { return None };
    Some((copy(body)?, blobs.iter().map(copy).collect::<Option<_>>()?))
}

/// Refuses a state that turned out to be another than was said.
pub(crate) fn check_report(
    report: &Report,
    (play, state, image_bytes): (PlayDigest, StateDigest, u64),
    finish: &Finish,
) -> Result<(), LabError> {
    let wrong = |what: &str| Err(LabError::BadState(format!("it is not what it says: {what} is another")));
    if report.state_digest != Some(state) {
        return wrong("its state digest");
    }
    if report.play != play {
        return wrong("its play digest");
    }
    if report.image_bytes != image_bytes {
        return wrong("the length of its image");
    }
    match (finish, &report.ended) {
        (Finish::Open, None) => Ok(()),
        (Finish::Ended(recorded), Some(ended)) if recorded == ended => Ok(()),
        _ => wrong("how its game ended"),
    }
}
