use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::LabError;

/// What states are laid out in, so that freeing one gives back whole pages.
const PAGE: u64 = 4_096;

/// Free memory that stays mapped for the next states; what is freed beyond it goes back to the system.
const WARM_BYTES: u64 = 64 << 20;

/// The memory under a store: written by the host alone, read by workers.
pub(crate) trait StateMemory: Send + Sync {
    /// Copies bytes to an offset.
    fn copy_in(&self, offset: u64, bytes: &[u8]) -> Result<(), String>;
    /// Gives pages back to the system; they read as zeros afterwards.
    fn release(&self, offset: u64, bytes: u64);
}

/// Holds save states in shared memory, each as long as somebody holds its handle, and never more than its budget.
#[derive(Clone)]
pub(crate) struct Store(Arc<Shelf>);

struct Shelf {
    memory: Box<dyn StateMemory>,
    budget: u64,
    space: Mutex<Space>,
}

#[derive(Default)]
struct Space {
    /// Free ranges, offset to length, none touching another.
    free: BTreeMap<u64, u64>,
    used: u64,
    states: usize,
    warm: u64,
}

/// A save state in the store. Dropping the last handle frees it.
pub(crate) struct State {
    shelf: Arc<Shelf>,
    offset: u64,
    room: u64,
    bytes: u64,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "State({} bytes at {})", self.bytes, self.offset)
    }
}

impl Store {
    /// A store over memory of `budget` bytes, whole pages of which are used.
    pub(crate) fn new(memory: Box<dyn StateMemory>, budget: u64) -> Self {
        let budget = budget / PAGE * PAGE;
        let mut space = Space::default();
        if budget > 0 {
            space.free.insert(0, budget);
        }
        Self(Arc::new(Shelf { memory, budget, space: Mutex::new(space) }))
    }

    /// Copies a state in.
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<Arc<State>, LabError> {
        let length = bytes.len() as u64;
        let room = length.max(1).div_ceil(PAGE) * PAGE;
        let taken = self.0.space().take(room);
        let offset = taken.ok_or_else(|| self.full(room))?;
        // From here on the state's drop frees the room, also when copying fails.
        let state = State { shelf: Arc::clone(&self.0), offset, room, bytes: length };
        self.0
            .memory
            .copy_in(offset, bytes)
            .map_err(|reason| LabError::EngineFailure { reason: format!("state memory: {reason}"), lost: None })?;
        Ok(Arc::new(state))
    }

    /// Refuses when a state of this size would not fit by number of bytes.
    pub(crate) fn check_room(&self, bytes: u64) -> Result<(), LabError> {
        let room = bytes.max(1).div_ceil(PAGE) * PAGE;
        let fits = self.0.space().used + room <= self.0.budget;
        if fits { Ok(()) } else { Err(self.full(room)) }
    }

    /// The refusal for a state that found no room.
    pub(crate) fn full(&self, room: u64) -> LabError {
        LabError::LimitExceeded {
            what: "bytes of save states (deleting forks frees room)",
            given: self.0.space().used + room,
            max: self.0.budget,
        }
    }

    /// Bytes and number of the states held.
    pub(crate) fn usage(&self) -> (u64, usize) {
        let space = self.0.space();
        (space.used, space.states)
    }
}

impl State {
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let mut space = self.shelf.space();
        if space.warm + self.room > WARM_BYTES {
            self.shelf.memory.release(self.offset, self.room);
        } else {
            space.warm += self.room;
        }
        space.give_back(self.offset, self.room);
    }
}

impl Shelf {
    fn space(&self) -> MutexGuard<'_, Space> {
        self.space.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Space {
    /// The lowest range that is long enough.
    fn take(&mut self, room: u64) -> Option<u64> {
        let (&offset, &length) = self.free.iter().find(|(_, length)| **length >= room)?;
        self.free.remove(&offset);
        if length > room {
            self.free.insert(offset + room, length - room);
        }
        self.used += room;
        self.states += 1;
        self.warm = self.warm.saturating_sub(room);
        Some(offset)
    }

    fn give_back(&mut self, mut offset: u64, room: u64) {
        self.used -= room;
        self.states -= 1;
        let mut length = room;
        if let Some(after) = self.free.remove(&(offset + length)) {
            length += after;
        }
        if let Some((&before, &before_length)) = self.free.range(..offset).next_back()
            && before + before_length == offset
        {
            offset = before;
            length += before_length;
        }
        self.free.insert(offset, length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nowhere;

    impl StateMemory for Nowhere {
        fn copy_in(&self, _: u64, bytes: &[u8]) -> Result<(), String> {
            if bytes.first() == Some(&0xff) { Err("broken".into()) } else { Ok(()) }
        }
        fn release(&self, _: u64, _: u64) {}
    }

    #[test]
    fn accounting_is_exact_and_freed_room_joins() {
        let store = Store::new(Box::new(Nowhere), 10 * PAGE + 17);
        let mut held = Vec::new();
        for pages in [1, 2, 3, 4] {
            held.push(store.put(&vec![0; (pages * PAGE) as usize - 1]).unwrap());
        }
        assert_eq!(store.usage(), (10 * PAGE, 4));
        assert!(matches!(store.put(&[1]), Err(LabError::LimitExceeded { .. })));
        assert!(store.check_room(1).is_err());
        // In every order of freeing, all of it is one range again.
        for order in [[1, 1, 1, 0], [3, 2, 1, 0], [0, 0, 0, 0], [2, 0, 0, 0]] {
            order.iter().for_each(|&index| drop(held.remove(index)));
            assert_eq!(store.usage(), (0, 0));
            drop(store.put(&vec![0; (10 * PAGE) as usize]).unwrap());
            held = [1, 2, 3, 4].map(|pages| store.put(&vec![0; (pages * PAGE) as usize]).unwrap()).into();
        }
    }

    #[test]
    fn a_clone_keeps_a_state_and_a_failed_copy_keeps_nothing() {
        let store = Store::new(Box::new(Nowhere), 4 * PAGE);
        let state = store.put(&[]).unwrap();
        let clone = Arc::clone(&state);
        drop(state);
        assert_eq!(store.usage(), (PAGE, 1));
        assert_eq!((clone.offset(), clone.bytes()), (0, 0));
        drop(clone);
        assert!(matches!(store.put(&[0xff]), Err(LabError::EngineFailure { .. })));
        assert_eq!(store.usage(), (0, 0));
    }
}
