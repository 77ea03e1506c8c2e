//! The process's one machine, and which game sits in it.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use machine::{Machine, MachineError, SaveState, Stop};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use wire::PowerOn;

use crate::errors;

/// Images that are kept for their memory.
const SPARE_MAX: usize = 8;
/// How often, and after what pauses, a machine in another thread's hands is asked for: 20 ms in all.
const ENDING_LOOKS: usize = 100;
const ENDING_PAUSE: Duration = Duration::from_micros(200);

/// The process that opened a machine last.
static OPENED_BY: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static HUB: RefCell<Option<Hub>> = const { RefCell::new(None) };
}

/// A game's place: its image while the game is not in the machine.
#[derive(Default)]
pub(crate) struct Seat {
    parked: Mutex<Option<Arc<SaveState>>>,
}

impl Seat {
    /// The place of a game that is given as its image.
    pub(crate) fn with(image: Arc<SaveState>) -> Arc<Self> {
        Arc::new(Self { parked: Mutex::new(Some(image)) })
    }

    fn parked(&self) -> MutexGuard<'_, Option<Arc<SaveState>>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Hub {
    machine: Machine,
    /// Whose game is in the machine.
    current: Weak<Seat>,
    spare: Vec<SaveState>,
}

impl Hub {
    fn open() -> PyResult<Self> {
        let machine = open_machine().map_err(errors::machine)?;
        OPENED_BY.store(std::process::id(), Ordering::Relaxed);
        Ok(Self { machine, current: Weak::new(), spare: Vec::new() })
    }

    fn holds(&self, seat: &Arc<Seat>) -> bool {
        std::ptr::eq(self.current.as_ptr(), Arc::as_ptr(seat))
    }

    /// Puts the game in the machine aside, unless nobody wants it any more.
    fn park(&mut self) {
        if let Some(seat) = self.current.upgrade() {
            let mut image = self.spare.pop().unwrap_or_default();
            // A broken engine has nothing that could be kept; its game says so when it is asked for.
            if self.machine.save_into(&mut image).is_ok() {
                *seat.parked() = Some(Arc::new(image));
            }
        }
        self.current = Weak::new();
    }

    /// Brings a game into the machine.
    fn bring(&mut self, seat: &Arc<Seat>) -> PyResult<()> {
        if self.holds(seat) {
            return Ok(());
        }
        let Some(image) = seat.parked().take() else {
            return Err(PyRuntimeError::new_err("no game runs: call reset() or load() first"));
        };
        self.park();
        if let Err(error) = self.machine.load(&image) {
            *seat.parked() = Some(image);
            return Err(errors::machine(error));
        }
        self.current = Arc::downgrade(seat);
        if self.spare.len() < SPARE_MAX {
            self.spare.extend(Arc::try_unwrap(image));
        }
        Ok(())
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.park();
    }
}

/// Opens the machine. Python takes a thread for ended a moment before the thread gives the machine back.
fn open_machine() -> Result<Machine, MachineError> {
    for _ in 0..ENDING_LOOKS {
        match Machine::open(rom::built_in()) {
            Err(MachineError::Occupied) if !is_parents() => std::thread::sleep(ENDING_PAUSE),
            other => return other,
        }
    }
    Machine::open(rom::built_in())
}

/// Whether the machine was opened by a process that this one was forked from.
pub(crate) fn is_parents() -> bool {
    OPENED_BY.load(Ordering::Relaxed) != std::process::id()
}

fn with_hub<R>(act: impl FnOnce(&mut Hub) -> PyResult<R>) -> PyResult<R> {
    HUB.with_borrow_mut(|hub| {
        let hub = match hub {
            Some(hub) => hub,
            None => hub.insert(Hub::open()?),
        };
        act(hub)
    })
}

/// Lets something be done with the machine while a game is in it.
pub(crate) fn with<R>(seat: &Arc<Seat>, act: impl FnOnce(&mut Machine) -> PyResult<R>) -> PyResult<R> {
    with_hub(|hub| {
        hub.bring(seat)?;
        act(&mut hub.machine)
    })
}

/// Begins a new game in a place of its own.
pub(crate) fn begin(record: &PowerOn) -> PyResult<(Arc<Seat>, Stop)> {
    with_hub(|hub| {
        record.check().map_err(|error| errors::machine(error.into()))?;
        hub.park();
        let stop = hub.machine.power_on(record).map_err(errors::machine)?;
        let seat = Arc::new(Seat::default());
        hub.current = Arc::downgrade(&seat);
        Ok((seat, stop))
    })
}

/// A copy of a game's image.
pub(crate) fn copy(seat: &Arc<Seat>) -> PyResult<Arc<SaveState>> {
    if let Some(image) = seat.parked().as_ref() {
        return Ok(Arc::clone(image));
    }
    with_hub(|hub| {
        if !hub.holds(seat) {
            return Err(PyRuntimeError::new_err("no game runs: call reset() or load() first"));
        }
        let mut image = hub.spare.pop().unwrap_or_default();
        hub.machine.save_into(&mut image).map_err(errors::machine)?;
        Ok(Arc::new(image))
    })
}

/// Takes the machine from this thread, so that another one can play on. Its games are put aside and can be gone on
/// with in any thread, one thread at a time.
#[pyfunction]
pub(crate) fn release() {
    HUB.with_borrow_mut(|hub| *hub = None);
}
