use std::sync::{Mutex, MutexGuard, PoisonError};

use super::space::{PAGE, Space};

/// Free memory that stays mapped for the next states, at most; half of it goes back to the system once there is more.
const WARM_BYTES: u64 = 64 << 20;

/// Why bytes can't be copied into the memory under a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CopyError {
    /// The disk under it is full, whatever its budget.
    NoRoom,
    /// It is broken.
    Broken(String),
}

/// The memory under a store: written by the host alone, read by workers.
pub(crate) trait StateMemory: Send + Sync {
    /// Copies bytes to an offset.
    fn copy_in(&self, offset: u64, bytes: &[u8]) -> Result<(), CopyError>;
    /// Copies bytes from an offset.
    fn copy_out(&self, offset: u64, bytes: &mut [u8]) -> Result<(), String>;
    /// Gives pages back to the system; they read as zeros afterwards.
    fn release(&self, offset: u64, bytes: u64);
}

/// Memory of which rooms are given out, up to a budget.
pub(crate) struct Arena {
    memory: Box<dyn StateMemory>,
    budget: u64,
    space: Mutex<Space>,
}

impl Arena {
    /// Over memory of `budget` bytes, of which whole pages are used.
    pub(crate) fn new(memory: Box<dyn StateMemory>, budget: u64) -> Self {
        let budget = budget / PAGE * PAGE;
        Self { memory, budget, space: Mutex::new(Space::new(budget)) }
    }

    fn space(&self) -> MutexGuard<'_, Space> {
        self.space.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that may be given out.
    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// Bytes given out.
    pub(crate) fn used(&self) -> u64 {
        self.space().used()
    }

    /// Bytes that take memory, given out or not yet back with the system.
    #[cfg(test)]
    pub(crate) fn warm(&self) -> u64 {
        self.space().warm()
    }

    pub(crate) fn take(&self, room: u64) -> Option<u64> {
        self.space().take(room)
    }

    pub(crate) fn give_back(&self, offset: u64, room: u64) {
        let mut space = self.space();
        space.give_back(offset, room);
        // A store that holds nothing takes nothing.
        let empty = space.used() == 0;
        if empty || space.warm() > WARM_BYTES {
            space.cool(if empty { 0 } else { WARM_BYTES / 2 }, |offset, bytes| self.memory.release(offset, bytes));
        }
    }

    pub(crate) fn copy_in(&self, offset: u64, bytes: &[u8]) -> Result<(), CopyError> {
        self.memory.copy_in(offset, bytes)
    }

    pub(crate) fn copy_out(&self, offset: u64, bytes: &mut [u8]) -> Result<(), String> {
        self.memory.copy_out(offset, bytes)
    }
}
