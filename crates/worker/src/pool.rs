//! A fixed number of workers for any number of callers.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use machine::shared::SharedMemory;

use crate::FrameBytes;
use crate::handle::{Process, Unless, Worker};
use crate::protocol::{Drive, Hello, Refusal, Report, Start, Task, TaskError};
use crate::silence::ASK_EVERY;
use crate::spawner::{SpawnError, Spawner, WorkerOptions};

/// How a pool is set up.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// How many workers there may be; at least 1.
    pub workers: usize,
    /// How many of them only [`AcquireKind::Interactive`] may use. One is always left for batches.
    pub reserved: usize,
    /// How they are made.
    pub worker: WorkerOptions,
}

/// What a lease is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquireKind {
    /// Somebody waits for it: any worker may be used.
    Interactive,
    /// Long work: the reserved workers are left alone.
    Batch,
}

/// Which machine, at which revision, stands in a worker. The numbers are the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResidentTag {
    /// The machine.
    pub machine: u64,
    /// Its revision.
    pub revision: u64,
}

/// Why there is no lease.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// A worker was needed and could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The pool was shut down.
    #[error("the workers were shut down")]
    Closed,
    /// The caller wanted none any more.
    #[error("nobody waits for a worker any more")]
    Stopped,
}

/// A fixed number of workers, started when they are first needed and replaced when they are lost.
///
/// Callers get workers in the order in which they asked, but one that waits for long work never holds up one that may
/// use a reserved worker. Dropping it, or [`Pool::shutdown`], ends all workers, also leased ones.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    spawner: Spawner,
    batch_leases_max: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug)]
struct State {
    seats: Vec<Seat>,
    /// Those who wait, in the order in which they came.
    queue: VecDeque<(u64, AcquireKind)>,
    next_ticket: u64,
    next_use: u64,
    batch_leases: usize,
    closed: bool,
}

#[derive(Debug)]
enum Seat {
    /// No worker was started, or it was lost.
    Vacant,
    Idle {
        worker: Box<Worker>,
        resident: Option<ResidentTag>,
        last_use: u64,
    },
    /// Leased. The process is known once it runs.
    Taken(Option<Arc<Process>>),
}

impl Pool {
    /// A pool with one worker started, so that what is wrong with them shows at once.
    ///
    /// # Errors
    /// The worker could not be started.
    pub fn new(options: PoolOptions) -> Result<Self, PoolError> {
        let workers = options.workers.max(1);
        let mut seats: Vec<_> = std::iter::repeat_with(|| Seat::Vacant).take(workers).collect();
        let spawner = Spawner::new(options.worker)?;
        if let Some(first) = seats.first_mut() {
            let worker = Box::new(Worker::spawn(&spawner)?);
            *first = Seat::Idle { worker, resident: None, last_use: 0 };
        }
        let state =
            State { seats, queue: VecDeque::new(), next_ticket: 0, next_use: 1, batch_leases: 0, closed: false };
        let batch_leases_max = workers.saturating_sub(options.reserved).max(1);
        let shared = Shared { spawner, batch_leases_max, state: Mutex::new(state), freed: Condvar::new() };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// How its workers are made.
    #[must_use]
    pub fn spawner(&self) -> &Spawner {
        &self.shared.spawner
    }

    /// Waits for a worker: the one in which `prefer` stands if that is idle, else one that holds nothing, else the one
    /// whose last use is longest ago.
    ///
    /// # Errors
    /// The worker had to be started and could not, or the pool is shut down.
    pub fn acquire(&self, kind: AcquireKind, prefer: Option<ResidentTag>) -> Result<Lease, PoolError> {
        self.lease(kind, prefer, None)
    }

    /// The same, unless the caller wants none any more: `stop` is asked some twenty times a second.
    ///
    /// # Errors
    /// As there; [`PoolError::Stopped`].
    pub fn acquire_unless(
        &self,
        kind: AcquireKind,
        prefer: Option<ResidentTag>,
        stop: Unless<'_>,
    ) -> Result<Lease, PoolError> {
        self.lease(kind, prefer, Some(stop))
    }

    fn lease(
        &self,
        kind: AcquireKind,
        prefer: Option<ResidentTag>,
        stop: Option<Unless<'_>>,
    ) -> Result<Lease, PoolError> {
        let (seat, taken) = self.shared.take_seat(kind, prefer, stop)?;
        let mut lease = Lease { shared: Arc::clone(&self.shared), kind, seat, worker: None, resident: None };
        let (worker, resident) = match taken {
            // One that died while nobody used it must not cost anybody a task.
            Some((worker, resident)) if worker.is_running() => (worker, resident),
            _ => (Box::new(Worker::spawn(&self.shared.spawner)?), None),
        };
        let process = worker.process();
        lease.worker = Some(worker);
        lease.resident = resident;
        let mut state = self.shared.lock();
        if let Some(seat) = state.seats.get_mut(seat) {
            *seat = Seat::Taken(Some(process));
        }
        if state.closed {
            // The lock is taken again when the lease goes.
            drop(state);
            return Err(PoolError::Closed);
        }
        drop(state);
        Ok(lease)
    }

    /// How many callers wait for a worker.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.shared.lock().queue.len()
    }

    /// Ends and reaps all workers. Tasks that run are lost, and nothing can be acquired any more.
    pub fn shutdown(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        for seat in &mut state.seats {
            match std::mem::replace(seat, Seat::Vacant) {
                Seat::Taken(process) => {
                    if let Some(process) = &process {
                        process.kill();
                    }
                    *seat = Seat::Taken(process);
                }
                // Dropping an idle worker ends it.
                Seat::Idle { .. } | Seat::Vacant => {}
            }
        }
        self.shared.freed.notify_all();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shutdown();
    }
}

type Resident = (Box<Worker>, Option<ResidentTag>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits in line for a seat; hands out its number and the worker on it, if there is one.
    fn take_seat(
        &self,
        kind: AcquireKind,
        prefer: Option<ResidentTag>,
        stop: Option<Unless<'_>>,
    ) -> Result<(usize, Option<Resident>), PoolError> {
        let mut state = self.lock();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.queue.push_back((ticket, kind));
        let mut stopped = false;
        while !stopped && !state.closed && state.next_in_line(self.batch_leases_max) != Some(ticket) {
            state = match stop {
                None => self.freed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(_) => self.freed.wait_timeout(state, ASK_EVERY).unwrap_or_else(PoisonError::into_inner).0,
            };
            stopped = stop.is_some_and(|stop| stop());
        }
        state.queue.retain(|(waiting, _)| *waiting != ticket);
        // There may be a seat for the next one too.
        self.freed.notify_all();
        if stopped {
            return Err(PoolError::Stopped);
        }
        let seat = state.best_seat(prefer).filter(|_| !state.closed).ok_or(PoolError::Closed)?;
        state.batch_leases += usize::from(kind == AcquireKind::Batch);
        let before = state.seats.get_mut(seat).map(|seat| std::mem::replace(seat, Seat::Taken(None)));
        Ok(match before {
            Some(Seat::Idle { worker, resident, .. }) => (seat, Some((worker, resident))),
            _ => (seat, None),
        })
    }
}

impl State {
    /// The ticket of the first in line who may have a seat now.
    fn next_in_line(&self, batch_leases_max: usize) -> Option<u64> {
        if self.seats.iter().all(|seat| matches!(seat, Seat::Taken(_))) {
            return None;
        }
        let may = |kind| kind == AcquireKind::Interactive || self.batch_leases < batch_leases_max;
        self.queue.iter().find(|(_, kind)| may(*kind)).map(|(ticket, _)| *ticket)
    }

    fn best_seat(&self, prefer: Option<ResidentTag>) -> Option<usize> {
        let rank = |seat: &Seat| match seat {
            Seat::Idle { resident: Some(tag), .. } if Some(*tag) == prefer => Some((0, 0)),
            Seat::Idle { resident: None, last_use, .. } => Some((1, *last_use)),
            Seat::Vacant => Some((2, 0)),
            Seat::Idle { last_use, .. } => Some((3, *last_use)),
            Seat::Taken(_) => None,
        };
        let ranked = self.seats.iter().enumerate().filter_map(|(index, seat)| Some((rank(seat)?, index)));
        ranked.min().map(|(_, index)| index)
    }
}

/// A worker for the time being. It goes back when this is dropped.
#[derive(Debug)]
pub struct Lease {
    shared: Arc<Shared>,
    kind: AcquireKind,
    seat: usize,
    worker: Option<Box<Worker>>,
    resident: Option<ResidentTag>,
}

impl Lease {
    /// Does a task, as [`Worker::run`]. Whatever may have changed the resident machine takes its tag away.
    ///
    /// # Errors
    /// As there.
    pub fn run(&mut self, task: &Task) -> Result<Report, TaskError> {
        let Some(worker) = &mut self.worker else {
            return Err(TaskError::Lost { reason: crate::LostReason::Killed });
        };
        let looks_only = task.start == Start::Resident && task.event.is_none() && task.drive == Drive::Nothing;
        let done = worker.run(task);
        if !looks_only && !matches!(done, Err(TaskError::Refused(_))) {
            self.resident = None;
        }
        done
    }

    /// Does tasks, as [`Worker::run_lines`]. What was resident in the worker is not any more.
    ///
    /// # Errors
    /// As there.
    pub fn run_lines(&mut self, tasks: &[Task]) -> Result<Vec<Result<Report<FrameBytes>, Refusal>>, TaskError> {
        self.run_lines_unless(tasks, &|| false)
    }

    /// Does tasks, as [`Worker::run_lines_unless`]. What was resident in the worker is not any more.
    ///
    /// # Errors
    /// As there.
    pub fn run_lines_unless(
        &mut self,
        tasks: &[Task],
        stop: Unless<'_>,
    ) -> Result<Vec<Result<Report<FrameBytes>, Refusal>>, TaskError> {
        self.resident = None;
        let Some(worker) = &mut self.worker else {
            return Err(TaskError::Lost { reason: crate::LostReason::Killed });
        };
        worker.run_lines_unless(tasks, stop)
    }

    /// What stands in the worker, if it is known.
    #[must_use]
    pub fn resident(&self) -> Option<ResidentTag> {
        self.resident
    }

    /// Says what stands in the worker now.
    pub fn set_resident(&mut self, tag: Option<ResidentTag>) {
        self.resident = tag;
    }

    /// What the worker said of itself.
    #[must_use]
    pub fn hello(&self) -> Option<&Hello> {
        self.worker.as_deref().map(Worker::hello)
    }

    /// The worker's process id.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.worker.as_deref().map(Worker::pid)
    }

    /// The memory into which the worker writes states; see [`Worker::output`].
    #[must_use]
    pub fn output(&self) -> Option<&SharedMemory> {
        self.worker.as_deref().map(Worker::output)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let worker = self.worker.take().filter(|worker| worker.is_running());
        let mut state = self.shared.lock();
        let last_use = state.next_use;
        state.next_use += 1;
        state.batch_leases -= usize::from(self.kind == AcquireKind::Batch);
        let closed = state.closed;
        if let Some(seat) = state.seats.get_mut(self.seat) {
            *seat = match worker {
                Some(worker) if !closed => Seat::Idle { worker, resident: self.resident, last_use },
                _ => Seat::Vacant,
            };
        }
        drop(state);
        self.shared.freed.notify_all();
    }
}
