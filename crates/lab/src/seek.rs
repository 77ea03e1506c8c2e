use crate::lab::Inner;
use crate::slot::Held;
use crate::{Boundary, Control, Lab, LabError, MachineId, Revision, Snapshot};

impl Lab {
    /// Takes a machine back to an earlier boundary of its line, as it first came there: before any reseed or edit
    /// at that boundary. The inputs beyond it are gone from the line; fork first to keep them. Also a game that has ended goes
    /// back. What it costs depends on the nearest state on the way, not on the length of the line. A journal notes it.
    /// At its own boundary nothing happens; the revision is a new one all the same.
    ///
    /// # Errors
    /// [`LabError::NoBoundary`], [`LabError::Cancelled`], other refusals; engine and journal failures. The machine then
    /// stays where it was.
    pub fn seek(
        &self,
        machine: MachineId,
        expected: Revision,
        to: Boundary,
        control: &Control<'_>,
    ) -> Result<Snapshot, LabError> {
        let lab = &self.0;
        let slot = lab.slot(machine)?;
        let held = slot.take(Some(expected), lab.limits().queue)?;
        held.check_open()?;
        lab.go_back(&held, to, control)?;
        Ok(held.snapshot())
    }
}

impl Inner {
    fn go_back(&self, held: &Held<'_>, to: Boundary, control: &Control<'_>) -> Result<(), LabError> {
        let slot = held.slot();
        let old = slot.tip();
        let end = old.line.end();
        if to > end {
            return Err(LabError::NoBoundary { machine: slot.id, given: to, last: end });
        }
        let line = old.line.prefix(to);
        if to == end && line.events().len() == old.line.events().len() {
            held.renew(self.new_revision());
            return Ok(());
        }
        if let Some(journal) = held.journal().as_ref() {
            if journal.is_closed() {
                return Err(LabError::GameOver(slot.id));
            }
            journal.check_room(0)?;
        }
        let tip = self.rebuild(&slot.power_on, &line, &old.messages, control)?;
        if tip.state.is_none() {
            return Err(self.store.full(0));
        }
        let mut journal = held.journal();
        if let Some(journal) = journal.as_mut() {
            journal.peek(&slot.peeks)?;
            journal.seek(to)?;
        } else {
            held.tally_peeks();
            held.tally(|account| account.seeks += 1);
        }
        // Whoever sees the journal sees the machine where it leads.
        held.publish(self.new_revision(), tip, false);
        drop(journal);
        held.tell_ledger()
    }
}
