use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Kept;

/// A state on the way that a machine came, kept so that one can go back there without a replay of everything. It is the
/// first to go when the store is full.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    kept: Mutex<Option<Arc<Kept>>>,
    /// The newest message at that time.
    last_message: u64,
}

/// All checkpoints of a store, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Weak<Checkpoint>>,
    /// How long the queue may become before those that are gone are taken out of it.
    tidy_at: usize,
}

const TIDY_AT_LEAST: usize = 256;

impl Checkpoint {
    /// The state, unless it was given up.
    pub(crate) fn kept(&self) -> Option<Arc<Kept>> {
        self.state().clone()
    }

    pub(crate) fn last_message(&self) -> u64 {
        self.last_message
    }

    fn state(&self) -> MutexGuard<'_, Option<Arc<Kept>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Checkpoints {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, kept: Arc<Kept>, last_message: u64) -> Arc<Checkpoint> {
        let checkpoint = Arc::new(Checkpoint { kept: Mutex::new(Some(kept)), last_message });
        let mut queue = self.queue();
        queue.waiting.push_back(Arc::downgrade(&checkpoint));
        if queue.waiting.len() > queue.tidy_at.max(TIDY_AT_LEAST) {
            queue.waiting.retain(|checkpoint| checkpoint.strong_count() > 0);
            queue.tidy_at = 2 * queue.waiting.len();
        }
        checkpoint
    }

    /// Gives up the oldest; false when there is none left. What it held may be held by others too.
    pub(crate) fn give_up_one(&self) -> bool {
        loop {
            let Some(oldest) = self.queue().waiting.pop_front() else { return false };
            // Nothing is locked while a state goes.
            let Some(checkpoint) = oldest.upgrade() else { continue };
            let kept = checkpoint.state().take();
            if kept.is_some() {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_gone_do_not_wait_for_ever() {
        let store = super::super::tests::plain_store(1);
        let kept = store.put_keyframe(b"state", &[], 1).unwrap();
        let checkpoints = Checkpoints::default();
        let held: Vec<_> = (0..10).map(|number| checkpoints.add(Arc::clone(&kept), number)).collect();
        for number in 0..10_000 {
            drop(checkpoints.add(Arc::clone(&kept), number));
        }
        let waiting = checkpoints.queue().waiting.len();
        assert!(waiting <= TIDY_AT_LEAST, "{waiting} wait");
        assert!(held.iter().all(|checkpoint| checkpoint.kept().is_some()));
        while checkpoints.give_up_one() {}
        assert!(held.iter().all(|checkpoint| checkpoint.kept().is_none()));
    }
}
