//! Maps a ROM into this process and drives the game in it.
//!
//! A [`Machine`] is the game stopped at a boundary: it waits for a key. There is at most one in a process, since a
//! ROM, its heap, its stack and its files have fixed addresses, which makes an image mean the same everywhere.
//! Everything that a game can change lies in those regions, so a [`SaveState`] is a copy of them and loading one is
//! exact. What is kept in numbers is smaller: a keyframe is an image compressed, a delta what changed against another
//! [`Image`].
//!
//! This is the only crate with `unsafe`: `contract` (what the ROM promises), `engine` (calls into it), `memory`
//! (fixed mappings), `signals` (faults and the watchdog) and `shared` (memory shared between processes).

mod boot;
mod codec;
mod contract;
mod decode;
mod delta;
mod disk;
mod engine;
mod error;
mod image;
mod isaac;
mod keyframe;
mod lines;
mod machine;
mod memory;
mod observation;
mod operator;
mod patch;
mod regions;
pub mod shared;
mod signals;
mod status;

pub use codec::{Codec, KeyframeBytes};
pub use decode::{FRAME_BYTES_MAX, FrameError, decode_frame};
pub use error::MachineError;
pub use image::SaveState;
pub use machine::{Machine, Stop};
pub use observation::{Arrays, Observation};
pub use regions::Image;
