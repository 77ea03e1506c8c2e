use std::sync::{Condvar, Mutex, PoisonError};

/// Lets callers through one at a time, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Turnstile {
    queue: Mutex<Queue>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    serving: u64,
}

/// Holds the turn until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a>(&'a Turnstile);

impl Turnstile {
    /// Waits for the turn; at once `Err(waiting)` when `depth` callers wait already.
    pub(crate) fn take(&self, depth: usize) -> Result<Turn<'_>, usize> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = queue.next - queue.serving;
        let waiting = usize::try_from(ahead.saturating_sub(1)).unwrap_or(usize::MAX);
        if ahead > 0 && waiting >= depth {
            return Err(waiting);
        }
        let ticket = queue.next;
        queue.next += 1;
        while queue.serving != ticket {
            queue = self.moved.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(Turn(self))
    }

    /// How many wait behind the one that has its turn.
    pub(crate) fn waiting(&self) -> usize {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        usize::try_from((queue.next - queue.serving).saturating_sub(1)).unwrap_or(usize::MAX)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.serving += 1;
        drop(queue);
        self.0.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_order_and_the_queue_has_an_end() {
        let turnstile = Turnstile::default();
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let first = turnstile.take(3).unwrap();
            for index in 0..3 {
                let (turnstile, order) = (&turnstile, &order);
                scope.spawn(move || {
                    let _turn = turnstile.take(3).unwrap();
                    order.lock().unwrap().push(index);
                });
                while turnstile.waiting() <= index {
                    std::thread::yield_now();
                }
            }
            assert_eq!(turnstile.take(3).err(), Some(3));
            drop(first);
        });
        assert_eq!(*order.lock().unwrap(), [0, 1, 2]);
        assert!(turnstile.take(0).is_ok());
    }
}
