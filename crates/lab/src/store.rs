//! Holds states in memory that is shared with the workers, each as long as somebody holds its handle.
//!
//! A state is a keyframe or a delta against another; both have a name that tells their bytes, so that what is equal
//! is stored once. What does not fit into memory goes to a file, where there is one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use worker::{Keep, Piece, Shelf, StateId};

use crate::LabError;

mod arena;
mod checkpoint;
mod kept;
mod space;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use arena::{Arena, CopyError, StateMemory};
pub(crate) use checkpoint::Checkpoint;
use checkpoint::Checkpoints;
use kept::{Blob, BlobKey, Form, Stored, keyframe_of};
pub(crate) use kept::{CHAIN_MAX, Kept};
use space::room;

/// Bounds of the longest delta, which is otherwise a quarter of its keyframe.
const DELTA_BYTES: (u64, u64) = (4 << 10, 64 << 10);

/// Where states are kept. Clones are the same store.
#[derive(Clone)]
pub(crate) struct Store(Arc<Vault>);

pub(crate) struct Vault {
    memory: Arena,
    spill: Option<Arena>,
    index: Mutex<Index>,
    checkpoints: Checkpoints,
    /// True while the disk under the spill, and not its budget, is what leaves no room.
    disk_is_full: AtomicBool,
}

/// What is there, by name. What is in it is held by others.
#[derive(Default)]
pub(crate) struct Index {
    states: BTreeMap<StateId, Weak<Kept>>,
    blobs: BTreeMap<BlobKey, Weak<Blob>>,
    keyframes: usize,
    deltas: usize,
    blob_count: usize,
}

/// What a store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Bytes in memory, and in the file.
    pub(crate) memory_bytes: u64,
    pub(crate) spill_bytes: u64,
    /// How many states are stored whole, and how many against others.
    pub(crate) keyframes: usize,
    pub(crate) deltas: usize,
    /// How many files of the game.
    pub(crate) blobs: usize,
}

impl Vault {
    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shelf(&self, shelf: Shelf) -> Option<&Arena> {
        match shelf {
            Shelf::Memory => Some(&self.memory),
            Shelf::Spill => self.spill.as_ref(),
        }
    }
}

impl Store {
    pub(crate) fn new(memory: Arena, spill: Option<Arena>) -> Self {
        let (index, checkpoints) = (Mutex::default(), Checkpoints::default());
        Self(Arc::new(Vault { memory, spill, index, checkpoints, disk_is_full: AtomicBool::new(false) }))
    }

    /// What to ask a worker to keep after a task that starts from `parent`.
    #[expect(clippy::unused_self, reason = "how states are kept is the store's to say")]
    pub(crate) fn keep_rule(&self, parent: Option<&Arc<Kept>>) -> Keep {
        Keep {
            against: parent.map(|parent| base_of(parent).id()),
            delta_bytes_max: parent
                .map_or(0, |parent| (parent.keyframe().bytes() / 4).clamp(DELTA_BYTES.0, DELTA_BYTES.1)),
        }
    }

    /// Copies in what a worker has kept by [`Store::keep_rule`] of the same parent. `slot` is the worker's output slot.
    pub(crate) fn put(
        &self,
        parent: Option<&Arc<Kept>>,
        kept: &worker::Kept,
        image_bytes: u64,
        slot: &[u8],
    ) -> Result<Arc<Kept>, LabError> {
        let piece = |piece: &Piece| cut(slot, piece).ok_or_else(|| broken("a worker's state lies outside its slot"));
        match (kept, parent) {
            (worker::Kept::Keyframe { body, blobs }, _) => {
                let blobs = blobs.iter().map(piece).collect::<Result<Vec<_>, _>>()?;
                self.put_keyframe(piece(body)?, &blobs, image_bytes)
            }
            (worker::Kept::Delta { bytes }, Some(parent)) => {
                self.put_delta(base_of(parent), piece(bytes)?, image_bytes)
            }
            (worker::Kept::Delta { .. }, None) => Err(broken("a worker kept a delta against nothing")),
        }
    }

    /// Stores a whole state, unless it is there already.
    pub(crate) fn put_keyframe(&self, body: &[u8], blobs: &[&[u8]], image_bytes: u64) -> Result<Arc<Kept>, LabError> {
        let id = StateId::of_keyframe(body, blobs.iter().copied());
        if let Some(known) = self.find(id) {
            return Ok(known);
        }
        let blobs = blobs.iter().map(|blob| self.put_blob(blob)).collect::<Result<Box<[_]>, _>>()?;
        Ok(self.enter(id, self.store(body)?, image_bytes, Form::Keyframe(blobs)))
    }

    /// Stores a state that a delta leads to from another, unless it is there already.
    pub(crate) fn put_delta(&self, base: &Arc<Kept>, bytes: &[u8], image_bytes: u64) -> Result<Arc<Kept>, LabError> {
        let id = StateId::of_delta(base.id(), bytes);
        if let Some(known) = self.find(id) {
            return Ok(known);
        }
        if base.depth() >= CHAIN_MAX {
            return Err(broken("a chain of deltas is too long"));
        }
        Ok(self.enter(id, self.store(bytes)?, image_bytes, Form::Delta(Arc::clone(base))))
    }

    /// The state of this name, if it is there.
    pub(crate) fn find(&self, id: StateId) -> Option<Arc<Kept>> {
        self.0.index().states.get(&id)?.upgrade()
    }

    /// Whether a state is in this store, and not in another lab's.
    pub(crate) fn holds(&self, kept: &Kept) -> bool {
        kept.is_in(&self.0)
    }

    /// Holds a state on a line until room is needed.
    pub(crate) fn checkpoint(&self, kept: &Arc<Kept>, last_message: u64) -> Arc<Checkpoint> {
        self.0.checkpoints.add(Arc::clone(kept), last_message)
    }

    #[cfg(test)]
    pub(crate) fn give_up_one(&self) -> bool {
        self.0.checkpoints.give_up_one()
    }

    /// Refuses when so many bytes would not fit by their number, whatever is given up for them.
    pub(crate) fn check_room(&self, bytes: u64) -> Result<(), LabError> {
        let room = room(bytes);
        loop {
            if self.arenas().any(|(_, arena)| arena.used() + room <= arena.budget()) {
                return Ok(());
            }
            if !self.0.checkpoints.give_up_one() {
                return Err(self.full(room));
            }
        }
    }

    /// The refusal for what found no room.
    pub(crate) fn full(&self, room: u64) -> LabError {
        let sum = |of: fn(&Arena) -> u64| self.arenas().map(|(_, arena)| of(arena)).sum::<u64>();
        if self.0.disk_is_full.load(Ordering::Relaxed) {
            let used = sum(Arena::used);
            return LabError::LimitExceeded {
                what: "bytes of save states (the disk of the spill file is full; deleting forks frees room)",
                given: used + room,
                max: used,
            };
        }
        LabError::LimitExceeded {
            what: "bytes of save states (deleting forks frees room)",
            given: sum(Arena::used) + room,
            max: sum(Arena::budget),
        }
    }

    pub(crate) fn usage(&self) -> Usage {
        let index = self.0.index();
        let (keyframes, deltas, blobs) = (index.keyframes, index.deltas, index.blob_count);
        drop(index);
        let spill_bytes = self.0.spill.as_ref().map_or(0, Arena::used);
        Usage { memory_bytes: self.0.memory.used(), spill_bytes, keyframes, deltas, blobs }
    }

    fn arenas(&self) -> impl Iterator<Item = (Shelf, &Arena)> {
        let spill = self.0.spill.as_ref().map(|arena| (Shelf::Spill, arena));
        std::iter::once((Shelf::Memory, &self.0.memory)).chain(spill)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Arc<Blob>, LabError> {
        let mut key = BlobKey::default();
        key.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
        if let Some(known) = self.0.index().blobs.get(&key).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let stored = self.store(bytes)?;
        let mut index = self.0.index();
        if let Some(known) = index.blobs.get(&key).and_then(Weak::upgrade) {
            drop(index);
            return Ok(known);
        }
        let blob = Arc::new(Blob::new(key, stored));
        index.blobs.insert(key, Arc::downgrade(&blob));
        index.blob_count += 1;
        Ok(blob)
    }

    /// Names a state. Somebody may have stored the same meanwhile; then that one counts.
    fn enter(&self, id: StateId, stored: Stored, image_bytes: u64, form: Form) -> Arc<Kept> {
        let mut index = self.0.index();
        if let Some(known) = index.states.get(&id).and_then(Weak::upgrade) {
            // What was stored in vain goes without the lock, which its own end needs.
            drop(index);
            return known;
        }
        let counted = if matches!(form, Form::Keyframe(_)) { &mut index.keyframes } else { &mut index.deltas };
        *counted += 1;
        let kept = Arc::new(Kept::new(id, stored, image_bytes, form));
        index.states.insert(id, Arc::downgrade(&kept));
        kept
    }

    /// Copies bytes to where there is room: memory, else the file; else checkpoints are given up for them.
    fn store(&self, bytes: &[u8]) -> Result<Stored, LabError> {
        let length = u32::try_from(bytes.len()).map_err(|_| broken("a state is too long"))?;
        let room = room(length.into());
        loop {
            let taken = self.arenas().find_map(|(shelf, arena)| Some((shelf, arena.take(room)?)));
            let Some((shelf, offset)) = taken else {
                if self.0.checkpoints.give_up_one() {
                    continue;
                }
                return Err(self.full(room));
            };
            // From here on its drop frees the room, also when copying fails.
            let stored = Stored::new(Arc::clone(&self.0), shelf, offset, length);
            match stored.write(bytes) {
                Ok(()) => {
                    if shelf == Shelf::Spill {
                        self.0.disk_is_full.store(false, Ordering::Relaxed);
                    }
                    return Ok(stored);
                }
                Err(CopyError::Broken(reason)) => return Err(broken(&format!("state memory: {reason}"))),
                // The room goes back first: what is given up next makes room on the disk too.
                Err(CopyError::NoRoom) => drop(stored),
            }
            if !self.0.checkpoints.give_up_one() {
                self.0.disk_is_full.store(true, Ordering::Relaxed);
                return Err(self.full(room));
            }
        }
    }
}

/// What a state that follows is stored against.
fn base_of(parent: &Arc<Kept>) -> &Arc<Kept> {
    if parent.depth() < CHAIN_MAX { parent } else { keyframe_of(parent) }
}

fn cut<'a>(slot: &'a [u8], piece: &Piece) -> Option<&'a [u8]> {
    let start = usize::try_from(piece.offset).ok()?;
    slot.get(start..start.checked_add(usize::try_from(piece.bytes).ok()?)?)
}

fn broken(reason: &str) -> LabError {
    LabError::EngineFailure { reason: reason.to_owned(), lost: None }
}
