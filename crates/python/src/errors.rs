//! What Python is told when something is refused or fails.

use machine::MachineError;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

use crate::hub;

create_exception!(nethack_lab, ForeignRomError, PyValueError, "A state of another ROM.");
create_exception!(nethack_lab, StateError, PyValueError, "Bytes that are no state, or are damaged.");
create_exception!(
    nethack_lab,
    EngineError,
    PyRuntimeError,
    "The engine failed; the game can only be begun or loaded anew."
);

/// The sentence for a thread that finds the machine in another one's hands.
const OTHER_THREAD: &str = "another thread of this process plays: a process has one machine, which belongs to the \
     thread that used it first. Call nethack_lab.release() there to hand it on, or use NetHackVectorEnv or processes of \
     your own to play at the same time";

/// The sentence for a forked child whose parent played in another thread than the one that forked.
const PARENTS_THREAD: &str = "the machine belongs to a thread of the parent process, which this forked process does not \
     have: start processes with spawn, or call nethack_lab.release() in that thread before the fork";

/// The exception for what a machine says.
pub(crate) fn machine(error: MachineError) -> PyErr {
    match error {
        MachineError::Occupied if hub::is_parents() => PyRuntimeError::new_err(PARENTS_THREAD),
        MachineError::Occupied => PyRuntimeError::new_err(OTHER_THREAD),
        MachineError::PowerOn(_) | MachineError::Options(_) => PyValueError::new_err(error.to_string()),
        MachineError::Image(_) => StateError::new_err(error.to_string()),
        MachineError::ForeignRom { found, expected } => foreign(&found, &expected),
        MachineError::Off => PyRuntimeError::new_err("no game runs: call reset() first"),
        MachineError::Ended => PyRuntimeError::new_err("the game has ended: reset() begins another"),
        MachineError::Broken => EngineError::new_err(error.to_string()),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}

/// The exception for a state of another ROM.
pub(crate) fn foreign(found: &str, expected: &str) -> PyErr {
    ForeignRomError::new_err(format!(
        "the state belongs to ROM {found}, this package plays ROM {expected}; State.from_bytes(data, rebuild=True) makes \
         it anew from the movie inside, where play is the same"
    ))
}
