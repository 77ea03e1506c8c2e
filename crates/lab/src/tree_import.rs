//! Making the machines of a tree again.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use movie::Finish;

use crate::journal::Journal;
use crate::lab::Inner;
use crate::messages::MessageLog;
use crate::slot::{Origin, Peeks, Slot, Tip};
use crate::state_file::check_rom;
use crate::state_file_parts::check_report;
use crate::tree_file::{Branch, MachineHead, TreeFile};
use crate::tree_states::Planted;
use crate::{Control, GameId, Lab, LabError, Lineage, MachineId, Snapshot};

/// How the machines of a tree come into being.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeMode {
    /// From its states; only those that have none are replayed. Takes the ROM that the tree was written with.
    #[default]
    Load,
    /// By replay of every line from power-on. Takes the same engine, with whichever ROM, and needs no state.
    Rebuild,
}

/// A machine that was made from a tree.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its id in the lab that wrote the tree.
    pub was: MachineId,
    /// What it is here.
    pub snapshot: Snapshot,
}

/// A machine that is about to be taken in.
struct Sprout<'a> {
    head: &'a MachineHead,
    branch: Branch,
    tip: Tip,
}

impl Lab {
    /// Makes all machines of a tree, in its order and all or none: with new ids, games and revisions, their lineage kept
    /// in the new ids. With `journalled`, each machine that is no fork gets a new journal that begins with its line.
    ///
    /// Everything that can be checked is, before there is a machine, as with [`Lab::load_state`].
    ///
    /// # Errors
    /// [`LabError::BadTree`], [`LabError::OtherRom`], [`LabError::Desync`] where a line does not replay,
    /// [`LabError::NoMovies`], [`LabError::Cancelled`], limits; engine and journal failures. Nothing has changed then.
    pub fn import_tree(
        &self,
        input: impl Read,
        mode: TreeMode,
        journalled: bool,
        control: &Control<'_>,
    ) -> Result<Vec<Imported>, LabError> {
        self.import(input, mode, journalled, control).map_err(LabError::of_tree)
    }

    fn import(
        &self,
        input: impl Read,
        mode: TreeMode,
        journalled: bool,
        control: &Control<'_>,
    ) -> Result<Vec<Imported>, LabError> {
        let lab = &self.0;
        lab.check_journalled(journalled.into())?;
        let identity = lab.engine.identity();
        let mut planted = Planted::default();
        let tree = TreeFile::read_states(
            input,
            &mut |head| {
                lab.check_machines(head.machines.len())?;
                lab.check_states(head.states_bytes())?;
                Ok(mode == TreeMode::Rebuild || head.rom_id != identity.rom_id || head.engine_id != identity.engine_id)
            },
            &mut |part| planted.put(lab, &part),
        )?;
        let (engine_id, rom_id) = (identity.engine_id.as_str(), identity.rom_id.as_str());
        if mode == TreeMode::Load || tree.engine_id() != engine_id {
            check_rom((tree.engine_id(), tree.rom_id()), (engine_id, rom_id))?;
        }
        let branches = tree.movies(tree.rom_id() == rom_id)?;
        lab.raise_revisions();
        let mut sprouts = Vec::with_capacity(branches.len());
        let total = branches.len() as u64;
        for (head, branch) in tree.head.machines.iter().zip(branches) {
            if control.is_cancelled() {
                return Err(LabError::Cancelled);
            }
            let image_bytes = head.state.as_ref().and_then(|kept| tree.head.states.get(kept.kept));
            let image_bytes = image_bytes.map_or(0, |state| state.image_bytes);
            let tip = lab.tip_for_tree((head, image_bytes), &branch, &planted, control)?;
            sprouts.push(Sprout { head, branch, tip });
            control.report(sprouts.len() as u64, total);
        }
        let imported = lab.plant(sprouts, journalled)?;
        for (head, imported) in tree.head.machines.iter().zip(&imported) {
            if head.closed {
                self.close(imported.snapshot.machine, None)?;
            }
        }
        imported
            .into_iter()
            .map(|Imported { was, snapshot }| Ok(Imported { was, snapshot: self.snapshot(snapshot.machine)? }))
            .collect()
    }
}

impl Inner {
    /// Refuses states that the whole store would have no room for, before any of them is read.
    fn check_states(&self, given: u64) -> Result<(), LabError> {
        let max = self.limits().store_bytes.saturating_add(self.limits().spill_bytes);
        if given > max { Err(LabError::LimitExceeded { what: "bytes of save states", given, max }) } else { Ok(()) }
    }

    /// Where a machine of a tree is, from its state or by replay.
    fn tip_for_tree(
        &self,
        (head, image_bytes): (&MachineHead, u64),
        branch: &Branch,
        planted: &Planted,
        control: &Control<'_>,
    ) -> Result<Tip, LabError> {
        let (given, max) = (branch.line.end().0, self.limits().inputs);
        if given > max {
            return Err(LabError::LimitExceeded { what: "inputs of a machine", given, max });
        }
        self.check_edits(&branch.line)?;
        let kept = head.state.as_ref().and_then(|kept| Some((kept.digest, planted.get(kept.kept)?)));
        if let Some((digest, state)) = kept {
            let mut report = self.look_at(state, control)?;
            check_report(&report, (head.play, digest, image_bytes), &head.finish)?;
            let state = Some(Arc::clone(state));
            let mut tip = self.tip_after(branch.line.clone(), MessageLog::default(), &mut report, state);
            self.leave_checkpoint(&mut tip);
            return Ok(tip);
        }
        let silent = Control { progress: None, ..*control };
        let tip = self.rebuild(&branch.header.power_on, &branch.line, &MessageLog::default(), &silent)?;
        let ended = tip.ended.as_deref().map_or(Finish::Open, |ended| Finish::Ended(ended.clone()));
        if tip.play != head.play || ended != head.finish {
            return Err(LabError::Desync { boundary: tip.line.end() });
        }
        Ok(tip)
    }

    /// Takes all machines in, or none.
    fn plant(&self, sprouts: Vec<Sprout<'_>>, journalled: bool) -> Result<Vec<Imported>, LabError> {
        self.check_machines(sprouts.len())?;
        let mut games: BTreeMap<u64, (GameId, Arc<Peeks>)> = BTreeMap::new();
        let mut names: BTreeMap<u64, MachineId> = BTreeMap::new();
        let (mut slots, mut imported) = (Vec::new(), Vec::new());
        for Sprout { head, branch, tip } in sprouts {
            let id = *names.entry(head.machine).or_insert_with(|| self.new_machine());
            let (game, peeks) = games.entry(head.game).or_insert_with(|| (self.new_game_id(), Arc::default())).clone();
            // A parent that is not in the tree keeps a name of its own, which no machine will have.
            let lineage = head.lineage().map(|lineage| {
                let parent = *names.entry(lineage.parent.0).or_insert_with(|| self.new_machine());
                Lineage { parent, ..lineage }
            });
            let power_on = Arc::new(branch.header.power_on.clone());
            let journal = match &self.options.movies {
                Some(movies) if journalled && lineage.is_none() && !head.closed => {
                    let movie = Branch { line: tip.line.clone(), ..branch }.movie();
                    let header = self.header(&power_on);
                    let begun = Journal::continue_movie(movies, &game, &header, &movie, self.limits().movie_bytes);
                    let begun = begun.and_then(|mut journal| journal.give_name().map(|()| journal));
                    Some(begun.inspect_err(|_| remove_journals(&slots))?)
                }
                _ => None,
            };
            let origin = Origin { id, game, power_on, lineage, peeks, past: head.account };
            let slot = Arc::new(Slot::new(origin, self.new_revision(), tip, journal));
            imported.push(Imported { was: MachineId(head.machine), snapshot: slot.snapshot() });
            slots.push(slot);
        }
        self.insert(slots.clone()).inspect_err(|_| remove_journals(&slots))?;
        Ok(imported)
    }
}

/// Takes back the journals of machines that there will not be.
fn remove_journals(slots: &[Arc<Slot>]) {
    for journal in slots.iter().filter_map(|slot| slot.snapshot().journal) {
        // What stays is a journal of nothing but the tree's own line.
        let _ = std::fs::remove_file(journal);
    }
}
