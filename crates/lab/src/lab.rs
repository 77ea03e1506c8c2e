use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use wire::{Boundary, Event};

use crate::dormant::Dormitory;
use crate::engine::Engine;
use crate::left::Left;
use crate::line::Happened;
use crate::slot::Slot;
use crate::store::Store;
use crate::{
    Control, GameId, HistoryPage, LabError, LabInfo, LabOptions, Limits, MachineId, MessagePage, Reseed, Revision,
    Snapshot,
};

/// JSON's numbers are exact below it.
const COUNT_END: u64 = 1 << 53;

/// A pool of workers and the machines that run in them. Clones are the same lab; every method blocks until it is done
/// and may be called from many threads at once. Dropping the last clone ends the workers.
#[derive(Clone)]
pub struct Lab(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) options: LabOptions,
    // Before the engine: a state's memory may belong to it.
    machines: RwLock<BTreeMap<MachineId, Arc<Slot>>>,
    pub(crate) store: Store,
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) dormitory: Dormitory,
    pub(crate) left: Left,
    next_machine: AtomicU64,
    next_revision: AtomicU64,
    next_game: AtomicU64,
    nonce: u32,
}

impl Lab {
    pub(crate) fn over(options: LabOptions, engine: Box<dyn Engine>, store: Store) -> Self {
        Self(Arc::new(Inner {
            options,
            machines: RwLock::default(),
            store,
            engine,
            dormitory: Dormitory::default(),
            left: Left::default(),
            next_machine: AtomicU64::new(1),
            next_revision: AtomicU64::new(1),
            next_game: AtomicU64::new(1),
            // Only so that journals of different labs in one directory don't look alike; nothing is computed from it.
            nonce: RandomState::new().hash_one(0_u8) as u32,
        }))
    }

    /// What the lab runs, holds and allows.
    #[must_use]
    pub fn info(&self) -> LabInfo {
        let identity = self.0.engine.identity().clone();
        let usage = self.0.store.usage();
        LabInfo {
            engine_id: identity.engine_id,
            rom_id: identity.rom_id,
            nethack_version: identity.nethack_version,
            machines: self.0.count(),
            store_bytes: usage.memory_bytes,
            spill_bytes: usage.spill_bytes,
            store_states: usage.keyframes + usage.deltas,
            store_keyframes: usage.keyframes,
            store_deltas: usage.deltas,
            store_blobs: usage.blobs,
            workers: self.0.engine.workers(),
            workers_lost: self.0.engine.workers_lost(),
            revision: Revision(self.0.next_revision.load(Ordering::Relaxed) - 1),
            limits: self.0.options.limits.clone(),
            movies: self.0.options.movies.clone(),
        }
    }

    /// All machines by id, forks included, but for those that sleep ([`Lab::asleep`]).
    #[must_use]
    pub fn machines(&self) -> Vec<Snapshot> {
        let machines = self.0.machines.read().unwrap_or_else(PoisonError::into_inner);
        let slots: Vec<Arc<Slot>> = machines.values().cloned().collect();
        drop(machines);
        slots.iter().map(|slot| slot.snapshot()).collect()
    }

    /// A machine as it is now.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`].
    pub fn snapshot(&self, machine: MachineId) -> Result<Snapshot, LabError> {
        Ok(self.0.slot(machine)?.snapshot())
    }

    /// Waits until the machine's revision is past `after`, and gives it; nothing when `timeout` passes first. Long runs
    /// show every chunk, so a viewer can follow. Nothing is locked meanwhile.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`], also when it is deleted meanwhile.
    pub fn wait(&self, machine: MachineId, after: Revision, timeout: Duration) -> Result<Option<Snapshot>, LabError> {
        self.0.slot(machine)?.wait(after, timeout)
    }

    /// The machine's messages after an id, as far as they are kept.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`].
    pub fn messages_after(&self, machine: MachineId, id: u64) -> Result<MessagePage, LabError> {
        Ok(self.0.slot(machine)?.tip().messages.after(id))
    }

    /// At most `count` inputs of the machine's line from a boundary on.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`], [`LabError::NoBoundary`].
    pub fn history(&self, machine: MachineId, from: Boundary, count: usize) -> Result<HistoryPage, LabError> {
        let line = self.0.slot(machine)?.tip().line;
        if from > line.end() {
            return Err(LabError::NoBoundary { machine, given: from, last: line.end() });
        }
        let steps: Vec<_> = line.steps_from(from).take(count).copied().collect();
        let end = Boundary(from.0 + steps.len() as u64);
        let here = |at: Boundary| from <= at && (at < end || at == line.end());
        let (mut reseeds, mut edits) = (Vec::new(), Vec::new());
        for Happened { at, event } in line.events().iter().filter(|happened| here(happened.at)) {
            match event {
                Event::Reseed { core, display } => reseeds.push(Reseed { at: *at, core: *core, display: *display }),
                Event::Edit(edit) => edits.push((*at, edit.clone())),
            }
        }
        Ok(HistoryPage { from, steps, reseeds, edits })
    }

    /// Ends a machine's game. Its last frame stays readable; its lifecycle is `Aborted` unless the game had ended of
    /// itself. Repeating it is harmless. A journal gets its last line.
    ///
    /// # Errors
    /// Refusals; [`LabError::Journal`] when the last line can't be written. The game goes on then: whoever resumed its
    /// journal would find that it does.
    pub fn close(&self, machine: MachineId, expected: Option<Revision>) -> Result<Snapshot, LabError> {
        let slot = self.0.slot(machine)?;
        let held = slot.take(expected, self.0.options.limits.queue)?;
        held.end_journal()?;
        if held.check_alive().is_ok() {
            held.abort(self.0.new_revision());
        }
        drop(held);
        Ok(slot.snapshot())
    }

    /// Writes what is still to be written of a machine into its journal.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`]; [`LabError::Journal`] when that can't be done.
    pub fn write_out(&self, machine: MachineId) -> Result<(), LabError> {
        self.0.slot(machine)?.journal_place().map(|_| ())
    }

    /// Deletes a machine and frees its state. Forks of it stay. A journalled machine must be over first.
    ///
    /// # Errors
    /// [`LabError::GameActive`] for a journalled machine whose game runs; other refusals.
    pub fn delete(&self, machine: MachineId, expected: Option<Revision>) -> Result<(), LabError> {
        if self.0.delete_asleep(machine, expected)? {
            return Ok(());
        }
        let slot = self.0.slot(machine)?;
        let held = slot.take(expected, self.0.options.limits.queue)?;
        if held.journal().is_some() && !slot.is_over() {
            return Err(LabError::GameActive(machine));
        }
        held.end_journal()?;
        if let Some((book, number)) = slot.entered() {
            book.forget(number)?;
        }
        held.delete(self.0.new_revision());
        drop(held);
        self.0.remove(machine);
        // Another ledger may have begun to keep it meanwhile. What it can't write down now the next process finds.
        if let Some((book, number)) = slot.entered() {
            let _ = book.forget(number);
        }
        Ok(())
    }
}

impl Inner {
    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// How many workers a batch of lines may use.
    pub(crate) fn bulk_workers(&self) -> usize {
        self.options.workers.max(1)
    }

    pub(crate) fn slot(&self, machine: MachineId) -> Result<Arc<Slot>, LabError> {
        self.slot_or_wake(machine, &Control::default())
    }

    /// The machine of an id, where it does not sleep.
    pub(crate) fn awake(&self, machine: MachineId) -> Option<Arc<Slot>> {
        self.machines.read().unwrap_or_else(PoisonError::into_inner).get(&machine).cloned()
    }

    pub(crate) fn machine_ids(&self) -> Vec<MachineId> {
        self.machines.read().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    /// How many machines there are, those that sleep included.
    pub(crate) fn count(&self) -> usize {
        self.dormitory.len() + self.machines.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub(crate) fn new_revision(&self) -> Revision {
        Revision(self.next_revision.fetch_add(1, Ordering::Relaxed))
    }

    /// Has later revisions begin far from those that another run of the host gave, so that a call which was decided on
    /// one of them, and is made again here, is refused. They stay below 2^53.
    pub(crate) fn raise_revisions(&self) {
        self.next_revision.fetch_max(beyond_all(), Ordering::Relaxed);
    }

    pub(crate) fn new_machine(&self) -> MachineId {
        MachineId(self.next_machine.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn new_game_id(&self) -> GameId {
        let number = self.next_game.fetch_add(1, Ordering::Relaxed);
        GameId(format!("g{:08x}-{number}", self.nonce).into())
    }

    /// Refuses when so many more machines would be too many.
    pub(crate) fn check_machines(&self, more: usize) -> Result<(), LabError> {
        check_count(self.count(), more, self.limits().machines)
    }

    /// Takes machines in, all or none.
    pub(crate) fn insert(&self, slots: Vec<Arc<Slot>>) -> Result<(), LabError> {
        let asleep = self.dormitory.len();
        let mut machines = self.machines.write().unwrap_or_else(PoisonError::into_inner);
        check_count(asleep + machines.len(), slots.len(), self.limits().machines)?;
        machines.extend(slots.into_iter().map(|slot| (slot.id, slot)));
        Ok(())
    }

    /// Forgets a machine that was deleted.
    pub(crate) fn remove(&self, machine: MachineId) {
        self.machines.write().unwrap_or_else(PoisonError::into_inner).remove(&machine);
    }

    /// Takes in a machine whatever their number.
    pub(crate) fn insert_always(&self, slot: Arc<Slot>) {
        let mut machines = self.machines.write().unwrap_or_else(PoisonError::into_inner);
        machines.insert(slot.id, slot);
    }
}

/// A number beyond all that another run of the host can have counted to, where the last one is not known: microseconds
/// since 1970, for no host makes or changes a million machines a second. It is below 2^53.
#[expect(clippy::disallowed_methods, reason = "numbers of revisions and forks reach no machine")]
pub(crate) fn beyond_all() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or_default() % COUNT_END
}

fn check_count(now: usize, more: usize, max: usize) -> Result<(), LabError> {
    match now.saturating_add(more) {
        given if given > max => Err(LabError::LimitExceeded { what: "machines", given: given as u64, max: max as u64 }),
        _ => Ok(()),
    }
}
