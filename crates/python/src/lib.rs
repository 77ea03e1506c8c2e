//! The native module of the Python package `nethack_lab`.
//!
//! A process has one machine, so all games of a process take turns in it: a game that is not in the machine is an
//! image beside it ([`hub`]). A [`game::Game`] is such a place with the line of keys that led there and the arrays that
//! were seen last; a [`state::State`] is a copy of one that can't change. What a task makes of them is Python's part.

mod arrays;
mod errors;
mod game;
mod hub;
mod line;
mod power;
mod search;
mod sinks;
mod state;
mod state_file;
mod tables;
mod verify;

use pyo3::prelude::*;

/// Games, states and what the built-in ROM tells of itself.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<game::Game>()?;
    module.add_class::<state::State>()?;
    module.add_class::<search::Lab>()?;
    module.add_class::<search::LabState>()?;
    module.add("ForeignRomError", module.py().get_type::<errors::ForeignRomError>())?;
    module.add("EngineError", module.py().get_type::<errors::EngineError>())?;
    module.add("StateError", module.py().get_type::<errors::StateError>())?;
    module.add("ROM_ID", rom::built_in().rom_id())?;
    module.add("ENGINE_ID", rom::built_in().engine_id())?;
    module.add("NLE_OPTIONS", wire::NLE_OPTIONS)?;
    module.add("DEFAULT_CLOCK", wire::Clock::default().seconds())?;
    module.add("CLOCK_MAX", wire::Clock::MAX)?;
    module.add_function(wrap_pyfunction!(hub::release, module)?)?;
    module.add_function(wrap_pyfunction!(tables::rom_read, module)?)?;
    module.add_function(wrap_pyfunction!(tables::rom_symbol, module)?)?;
    module.add_function(wrap_pyfunction!(arrays::array_description, module)?)?;
    module.add_function(wrap_pyfunction!(verify::verify, module)?)?;
    Ok(())
}
