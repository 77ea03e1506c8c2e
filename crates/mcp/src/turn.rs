//! One at a time, for whoever may be told to stop while it waits.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often one that waits asks whether it is still to wait.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// A turn that one call has at a time.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    taken: Mutex<bool>,
    free: Condvar,
}

/// The turn, until this is dropped.
pub(crate) struct Taken<'a>(&'a Turn);

impl Turn {
    /// Waits for the turn; nothing when `is_cancelled` says so first.
    pub(crate) fn take(&self, is_cancelled: impl Fn() -> bool) -> Option<Taken<'_>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken {
            if is_cancelled() {
                return None;
            }
            (taken, _) = self.free.wait_timeout(taken, ASK_EVERY).unwrap_or_else(PoisonError::into_inner);
        }
        *taken = true;
        Some(Taken(self))
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_waits_for_the_other_or_gives_up() {
        let turn = Turn::default();
        let first = turn.take(|| true).unwrap();
        assert!(turn.take(|| true).is_none());
        std::thread::scope(|scope| {
            let second = scope.spawn(|| turn.take(|| false).is_some());
            drop(first);
            assert!(second.join().unwrap());
        });
        assert!(turn.take(|| true).is_some());
    }
}
