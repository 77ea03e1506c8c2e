use std::sync::Arc;

use wire::{Boundary, Edit, Event, GlyphNames, Hidden, HiddenPart, PendingKind};
use worker::{Drive, Start, Task, TaskError, Want};

use crate::lab::Inner;
use crate::slot::{Held, Tip};
use crate::store::Kept;
use crate::task::{Job, StartAt, TRIES, Trouble};
use crate::{Control, Lab, LabError, MachineId, Revision, Snapshot, Urgency};

/// The most edits on one line, far below what a movie may hold.
const EDITS_MAX: u64 = 50_000;

impl Lab {
    /// Edits a machine at its boundary, which stays. The edit goes into its line and its journal, and with them into
    /// every fork, movie, state and tree; a replay makes it again.
    ///
    /// # Errors
    /// [`LabError::DebugNotAllowed`], [`LabError::Edit`], [`LabError::EditRefused`] where the game waits for anything
    /// but a command or finds the edit impossible, other refusals; engine and journal failures. Nothing has changed
    /// then.
    pub fn edit(&self, machine: MachineId, expected: Revision, edit: &Edit) -> Result<Snapshot, LabError> {
        let lab = &self.0;
        lab.check_debug()?;
        edit.check()?;
        let slot = lab.slot(machine)?;
        let held = slot.take(Some(expected), lab.limits().queue)?;
        held.check_alive()?;
        lab.make_edit(&held, edit)?;
        Ok(held.snapshot())
    }

    /// A part of what no player sees of a machine, and the machine as it is there. It does not change.
    ///
    /// # Errors
    /// [`LabError::DebugNotAllowed`], [`LabError::GameOver`], [`LabError::NotUnderWay`];
    /// engine failures.
    pub fn hidden(&self, machine: MachineId, part: HiddenPart) -> Result<(Snapshot, Hidden), LabError> {
        self.0.check_debug()?;
        self.told(machine, part)
    }

    /// What glyphs are called on a machine, as whoever plays it knows.
    ///
    /// # Errors
    /// [`LabError::GameOver`], [`LabError::NotUnderWay`]; engine failures.
    pub fn names(&self, machine: MachineId) -> Result<GlyphNames, LabError> {
        match self.told(machine, HiddenPart::Names)?.1 {
            Hidden::Names(names) if names.are_whole() => Ok(*names),
            _ => Err(LabError::EngineFailure {
                reason: "it does not tell what glyphs are called".to_owned(),
                lost: None,
            }),
        }
    }

    fn told(&self, machine: MachineId, part: HiddenPart) -> Result<(Snapshot, Hidden), LabError> {
        let lab = &self.0;
        let slot = lab.slot(machine)?;
        let (snapshot, tip) = slot.seen();
        let tip = if tip.state.is_some() { tip } else { lab.whole(&slot, tip)? };
        if tip.ended.is_some() {
            return Err(LabError::GameOver(machine));
        }
        let state = tip.state.as_ref().ok_or_else(|| lab.store.full(0))?;
        let hidden = tried(|| lab.look_hidden(state, part))?;
        Ok((snapshot, hidden.ok_or(LabError::NotUnderWay)?))
    }
}

impl Inner {
    pub(crate) fn check_debug(&self) -> Result<(), LabError> {
        if self.options.allow_debug { Ok(()) } else { Err(LabError::DebugNotAllowed) }
    }

    /// A tip with its state, made again where it had none.
    fn whole(&self, slot: &crate::slot::Slot, tip: Tip) -> Result<Tip, LabError> {
        if tip.state.is_some() || tip.ended.is_some() {
            return Ok(tip);
        }
        self.rebuild(&slot.power_on, &tip.line, &tip.messages, &Control::default())
    }

    fn make_edit(&self, held: &Held<'_>, edit: &Edit) -> Result<(), LabError> {
        let slot = held.slot();
        let (_, old) = self.with_state(held, &Control::default())?;
        let (given, max) = (old.line.counts_from(Boundary(0)).1 + 1, EDITS_MAX);
        if given > max {
            return Err(LabError::LimitExceeded { what: "edits of a machine", given, max });
        }
        let pending = old.frame.pending.as_ref().map(|pending| pending.kind);
        if pending != Some(PendingKind::Command) {
            return Err(LabError::EditRefused("the game does not wait for a command".to_owned()));
        }
        if let Some(journal) = held.journal().as_ref() {
            journal.check_room(0)?;
        }
        if let Some((book, number)) = slot.entered() {
            book.check_room(number, &old.line, 1)?;
        }
        let tip = tried(|| self.edited(&old, edit))?;
        let after = tip.line.last_mark().filter(|mark| mark.at == tip.line.end());
        if let Some(journal) = held.journal().as_mut() {
            journal.peek(&slot.peeks)?;
            journal.edit(edit, after.as_ref())?;
        } else {
            held.tally_peeks();
            held.tally(|account| account.debugs += 1);
        }
        held.publish(self.new_revision(), tip, true);
        held.tell_ledger()
    }

    fn edited(&self, old: &Tip, edit: &Edit) -> Result<Tip, Trouble> {
        let full = || Trouble::Fatal(self.store.full(0));
        let parent = old.state.as_ref().ok_or_else(full)?;
        let mut hosted = self.lease(Some(parent.id()), Urgency::Interactive)?;
        let keep = Some(self.store.keep_rule(Some(parent)));
        let event = Event::Edit(edit.clone());
        let from = StartAt::State(parent);
        let job = Job { from, event: Some(event.clone()), batch: None, part: None, keep, digest: true };
        let mut report = job.run(hosted.as_mut())?;
        let state = self.keep(hosted.as_mut(), Some(parent), &report).ok_or_else(full)?;
        let mut line = old.line.clone();
        line.happen(event);
        Ok(self.tip_after(line, old.messages.clone(), &mut report, Some(state)))
    }

    fn look_hidden(&self, state: &Arc<Kept>, part: HiddenPart) -> Result<Option<Hidden>, Trouble> {
        let mut hosted = self.lease(Some(state.id()), Urgency::Interactive)?;
        hosted.set_resident(None);
        let want = Want { hidden: Some(part), ..Want::default() };
        let task = Task { start: Start::State(state.recipe()), event: None, drive: Drive::Nothing, want };
        match hosted.run(&task) {
            Ok(report) => {
                hosted.set_resident(Some(state.id()));
                Ok(report.hidden)
            }
            Err(TaskError::Lost { reason }) => Err(Trouble::Lost(reason.to_string())),
            Err(error) => Err(Trouble::Fatal(LabError::EngineFailure { reason: error.to_string(), lost: None })),
        }
    }
}

/// Tries again what a lost worker has cost.
fn tried<T>(mut attempt: impl FnMut() -> Result<T, Trouble>) -> Result<T, LabError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match attempt() {
            Err(Trouble::Lost(_)) if tries < TRIES => {}
            result => return result.map_err(Trouble::into_error),
        }
    }
}
