use std::sync::Arc;
use std::sync::atomic::Ordering;

use movie::Account;
use wire::{Boundary, Event, Frame};

use crate::lab::Inner;
use crate::slot::{Origin, Slot, Tip};
use crate::task::{Job, StartAt, TRIES, Trouble};
use crate::{Control, Lab, LabError, Lineage, Luck, MachineId, Snapshot};

impl Lab {
    /// Makes `count` forks of a machine, where it is now or where it was at boundary `at`. A fork is a state and a line,
    /// no process. With [`Luck::Reseed`] the later of them get seeds of their own, see [`Luck::nth`]. The machine itself
    /// does not change, and forks need not wait for its turn.
    ///
    /// # Errors
    /// [`LabError::NoBoundary`], limits; engine failures. No fork is made then.
    pub fn fork(
        &self,
        from: MachineId,
        at: Option<Boundary>,
        luck: Luck,
        count: usize,
    ) -> Result<Vec<Snapshot>, LabError> {
        let lab = &self.0;
        let parent = lab.slot(from)?;
        lab.check_machines(count)?;
        let control = Control::default();
        let tip = lab.tip_at(&parent, at, &control)?;
        if luck != Luck::Same && tip.ended.is_some() {
            return Err(LabError::GameOver(from));
        }
        let mut slots = Vec::with_capacity(count);
        for index in 0..count as u64 {
            let luck = luck.nth(index);
            let lineage = Lineage { parent: from, base: tip.line.end(), luck };
            let tip = match luck {
                Luck::Same => tip.clone(),
                Luck::Reseed { .. } => lab.reseeded(&tip, luck, &control)?,
            };
            let origin = Origin {
                id: lab.new_machine(),
                game: parent.game.clone(),
                power_on: Arc::clone(&parent.power_on),
                lineage: Some(lineage),
                peeks: Arc::clone(&parent.peeks),
                past: Account::default(),
            };
            slots.push(Arc::new(Slot::new(origin, lab.new_revision(), tip, None)));
        }
        lab.insert(slots.clone())?;
        parent.peeks.forks.fetch_add(count as u64, Ordering::Relaxed);
        Ok(slots.iter().map(|slot| slot.snapshot()).collect())
    }

    /// The frame of an earlier boundary of a machine, made again by replay from the nearest state before it.
    ///
    /// # Errors
    /// [`LabError::NoBoundary`], [`LabError::Cancelled`]; engine failures.
    pub fn frame_at(
        &self,
        machine: MachineId,
        boundary: Boundary,
        control: &Control<'_>,
    ) -> Result<Arc<Frame>, LabError> {
        let slot = self.0.slot(machine)?;
        Ok(self.0.tip_at(&slot, Some(boundary), control)?.frame)
    }
}

impl Inner {
    /// Where a machine was at a boundary, or is now.
    pub(crate) fn tip_at(&self, slot: &Slot, at: Option<Boundary>, control: &Control<'_>) -> Result<Tip, LabError> {
        let tip = slot.tip();
        let at = at.unwrap_or(tip.line.end());
        if at > tip.line.end() {
            return Err(LabError::NoBoundary { machine: slot.id, given: at, last: tip.line.end() });
        }
        if at == tip.line.end() && (tip.state.is_some() || tip.ended.is_some()) {
            return Ok(tip);
        }
        self.rebuild(&slot.power_on, &tip.line.prefix(at), &tip.messages, control)
    }

    /// A tip with new random numbers ahead.
    fn reseeded(&self, tip: &Tip, luck: Luck, control: &Control<'_>) -> Result<Tip, LabError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_reseeded(tip, luck, control) {
                Err(Trouble::Lost(_)) if tries < TRIES => {}
                result => return result.map_err(Trouble::into_error),
            }
        }
    }

    fn try_reseeded(&self, tip: &Tip, luck: Luck, control: &Control<'_>) -> Result<Tip, Trouble> {
        let full = || Trouble::Fatal(self.store.full(0));
        let parent = tip.state.as_ref().ok_or_else(full)?;
        let mut hosted = self.lease(Some(parent.id()), control.urgency)?;
        let keep = Some(self.store.keep_rule(Some(parent)));
        let from = StartAt::State(parent);
        let event = luck.seeds().map(|(core, display)| Event::Reseed { core, display });
        let job = Job { from, event: event.clone(), batch: None, part: None, keep, digest: false };
        let mut report = job.run(hosted.as_mut())?;
        let state = self.keep(hosted.as_mut(), Some(parent), &report).ok_or_else(full)?;
        let mut line = tip.line.clone();
        if let Some(event) = event {
            line.happen(event);
        }
        let mut reseeded = self.tip_after(line, tip.messages.clone(), &mut report, Some(state));
        // Nothing visible has changed, and the messages of the last input are still what was last said.
        reseeded.frame = Arc::clone(&tip.frame);
        Ok(reseeded)
    }
}
