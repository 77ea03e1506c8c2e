//! Luau scripts over frames, in processes of their own that can be killed at any time.
//!
//! A host has a [`Scripts`] and gives it a script's text and what it may see; the executable, started again with a hidden
//! command, does [`script_main`] and nothing else there. A script gets copies and has no way to anything but them: no
//! files, no network, no clock, no randomness, no other script's leavings. Each runs in a virtual machine of its own,
//! whose loops, memory and output are bounded; where one call of a library function runs long nevertheless, the host
//! kills the process once it has used the CPU time of a script, and starts another.
//!
//! What scripts see and what is refused stands in `docs/lua.md`.

mod error;
mod host;
mod limits;
mod pool;
mod process;
mod protocol;
mod sandbox;
mod spawner;

mod glyph;
mod offer;
mod to_json;
mod to_lua;
mod view;
mod vm;

pub use error::{LimitKind, ScriptError};
pub use host::{Evaluated, NamesOf, Past, Scripts, Seen};
pub use limits::{
    FRAMES_MAX, MESSAGES_MAX, OUTPUT_BYTES_MAX, SOURCE_BYTES_MAX, ScriptLimits, VALUE_BYTES_MAX, VALUE_DEPTH_MAX,
    VALUE_ENTRIES_MAX,
};
pub use pool::Unless;
pub use process::script_main;
pub use spawner::ScriptProgram;
pub use view::view;
