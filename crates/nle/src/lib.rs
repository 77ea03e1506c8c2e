//! Trajectories of NLE, the NetHack Learning Environment: reads a recorded game, plays its keys on a machine and tells
//! whether every array of every step is the same.
//!
//! The format is gzip of JSON lines: a header, a line for each step with the SHA-256 of the arrays that changed, now
//! and then a screen for humans, and an end with totals. `docs/nle.md` describes it.

mod arrays;
mod compare;
mod error;
mod header;
mod lines;
mod trajectory;

pub use arrays::{Array, Digest};
pub use compare::{CompareReport, Difference, compare, replay};
pub use error::NleError;
pub use header::Header;
pub use trajectory::{Import, Screen, Step, Trajectory, import};
