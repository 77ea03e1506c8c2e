use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use wire::{Boundary, Frame, Message, StateDigest};

use crate::lab::Inner;
use crate::slot::{Slot, Tip};
use crate::{Control, Lab, LabError, MachineId, Revision, Snapshot};

/// A machine as it was when somebody began to look at it, to whom the lab promises that looking changes nothing: whoever
/// is done has [`Lab::check_guard`] see whether that held. The machine may go on meanwhile by calls of its own.
pub struct Guard {
    slot: Arc<Slot>,
    snapshot: Snapshot,
    revision: Revision,
    tip: Tip,
    digest: Option<StateDigest>,
}

impl Guard {
    /// The machine at that instant.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The digest of its image; absent where the game's end left none that can be read.
    #[must_use]
    pub fn digest(&self) -> Option<StateDigest> {
        self.digest
    }

    /// The newest messages at that instant, at most `count` and as far as they are kept, oldest first.
    #[must_use]
    pub fn messages(&self, count: usize) -> Vec<Message> {
        let messages = &self.tip.messages;
        messages.after(messages.last_id().saturating_sub(count as u64)).messages
    }
}

impl Lab {
    /// Begins to look at a machine: takes the digest of its image, made anew by a worker.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`]; engine failures.
    pub fn guard(&self, machine: MachineId) -> Result<Guard, LabError> {
        let lab = &self.0;
        let slot = lab.slot(machine)?;
        let (snapshot, revision, tip) = loop {
            let (revision, tip) = slot.revised();
            let snapshot = slot.snapshot();
            if snapshot.revision == revision {
                break (snapshot, revision, tip);
            }
        };
        let digest = lab.image_digest(&tip)?;
        Ok(Guard { slot, snapshot, revision, tip, digest })
    }

    /// Shows the frames of the line that led to where a guard stands, as [`Lab::walk`] does.
    ///
    /// # Errors
    /// As [`Lab::walk`].
    pub fn walk_before(
        &self,
        guard: &Guard,
        span: RangeInclusive<Boundary>,
        control: &Control<'_>,
        look: &mut dyn FnMut(Boundary, &Frame) -> ControlFlow<()>,
    ) -> Result<(), LabError> {
        self.walk_line(Arc::clone(&guard.slot), guard.tip.clone(), span, control, look)
    }

    /// Whether looking has changed nothing: the image that was looked at, and the machine if it stands at the same
    /// revision, have the digest that they had. A machine that has changed is made again from its line, which gives it a
    /// new revision.
    ///
    /// # Errors
    /// [`LabError::Disturbed`] when something had changed; engine failures.
    pub fn check_guard(&self, guard: &Guard) -> Result<(), LabError> {
        let lab = &self.0;
        let machine = guard.slot.id;
        let (revision, now) = guard.slot.revised();
        if revision != guard.revision {
            // It has gone on by a call that named its revision; what was looked at must be what it was.
            let same = lab.image_digest(&guard.tip)? == guard.digest;
            return if same { Ok(()) } else { Err(LabError::Disturbed { machine, restored: false }) };
        }
        let same_line = now.line.end() == guard.tip.line.end() && now.play == guard.tip.play;
        if same_line && lab.image_digest(&now)? == guard.digest {
            return Ok(());
        }
        Err(LabError::Disturbed { machine, restored: lab.restore(guard)? })
    }
}

impl Inner {
    /// The digest of the image that a tip has now, whatever its line says of it.
    fn image_digest(&self, tip: &Tip) -> Result<Option<StateDigest>, LabError> {
        tip.state.as_ref().map_or(Ok(None), |state| self.kept_digest(state))
    }

    /// Makes a machine again as its guard found it. False when it has gone on meanwhile, or can't be made the same.
    fn restore(&self, guard: &Guard) -> Result<bool, LabError> {
        let held = match guard.slot.take(Some(guard.revision), self.limits().queue) {
            Ok(held) => held,
            Err(LabError::Stale(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        let Tip { line, messages, .. } = &guard.tip;
        let tip = self.rebuild(&guard.slot.power_on, line, messages, &Control::default())?;
        let same = self.image_digest(&tip)? == guard.digest;
        if same {
            held.publish(self.new_revision(), tip, true);
        }
        Ok(same)
    }
}
