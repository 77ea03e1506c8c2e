use std::sync::Arc;

use movie::Account;

use crate::slot::{Held, Origin, Slot};
use crate::{Lab, LabError, Lineage, Luck, MachineId, Revision, Snapshot};

/// What has come of taking a machine's place.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// The new machine.
    pub snapshot: Snapshot,
    /// The fork that holds the old machine's last tip, where it was to be kept.
    pub old_tip: Option<Snapshot>,
    /// Why the old machine's journal did not get its last line, where it did not. All that was pressed is in it.
    pub unended: Option<LabError>,
}

impl Lab {
    /// Has a machine that `make` makes take the place of another. Nobody presses a key on the old one meanwhile: calls
    /// wait for their turn and then find another revision, or no machine. With `keep_tip` its tip stays as a fork of
    /// its game, of which `make` is told. Where `make` makes a machine of an equal power-on record (the game begun again, a
    /// movie or a state of it), that one's account goes on from the old one's, and going back before what was played is
    /// a seek in it. Then the old journal gets its last line, and it is deleted; other forks of it stay.
    ///
    /// # Errors
    /// Refusals of the old machine, and whatever `make` fails with. The old machine then stays as it was.
    pub fn replace(
        &self,
        old: MachineId,
        expected: Option<Revision>,
        keep_tip: bool,
        make: impl FnOnce(Option<MachineId>) -> Result<Snapshot, LabError>,
    ) -> Result<Replaced, LabError> {
        let lab = &self.0;
        let slot = lab.slot(old)?;
        let held = slot.take(expected, lab.limits().queue)?;
        lab.check_machines(1 + usize::from(keep_tip))?;
        lab.leave(&slot);
        let old_tip = keep_tip.then(|| self.keep_tip(&held));
        let tip = old_tip.as_ref().map(|tip| tip.machine);
        let snapshot = make(tip).inspect_err(|_| tip.into_iter().for_each(|tip| lab.remove(tip)))?;
        held.abort(lab.new_revision());
        let unended = held.end_journal().err();
        held.delete(lab.new_revision());
        drop(held);
        lab.remove(old);
        Ok(Replaced { snapshot, old_tip, unended })
    }

    fn keep_tip(&self, held: &Held<'_>) -> Snapshot {
        let (lab, slot) = (&self.0, held.slot());
        let tip = slot.tip();
        let origin = Origin {
            id: lab.new_machine(),
            game: slot.game.clone(),
            power_on: Arc::clone(&slot.power_on),
            lineage: Some(Lineage { parent: slot.id, base: tip.line.end(), luck: Luck::Same }),
            peeks: Arc::clone(&slot.peeks),
            past: Account::default(),
        };
        let kept = Arc::new(Slot::new(origin, lab.new_revision(), tip, None));
        // Room for it was found before; one too many for a moment is better than a tip that is lost.
        lab.insert_always(Arc::clone(&kept));
        kept.snapshot()
    }
}
