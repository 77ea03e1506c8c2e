//! The worker process, which hosts one machine in a sandbox, and the host's side of it.
//!
//! A host makes a [`Spawner`] and gets workers from it, mostly through a [`Pool`]. Each worker is the host's own (or a
//! given) executable, started again with its standard input as the one socket between the two; there it calls
//! [`worker_main`] and nothing else. One [`Task`] goes in, one [`Report`] or [`TaskError`] comes out; or many at a time, as
//! lines.
//!
//! The host keeps the truth: a worker holds nothing that the host could not make again, so it may be killed at any
//! time. States travel through shared memory: stores that workers only read, and one output slot for each.
//! No game code runs before the worker has given up files, network, processes and executable memory. What a worker
//! sends is checked like anything else from outside.

mod batch;
mod channel;
mod frame_bytes;
mod handle;
mod keep;
mod policy;
mod pool;
mod process;
mod protocol;
mod recipe;
mod report;
mod sandbox;
mod session;
mod silence;
mod spawner;

pub use frame_bytes::FrameBytes;
pub use handle::{Unless, Worker};
pub use machine::FrameError;
pub use machine::shared::SharedMemory;
pub use policy::{Policy, Sight};
pub use pool::{AcquireKind, Lease, Pool, PoolError, PoolOptions, ResidentTag};
pub use process::worker_main;
pub use protocol::{
    Drive, EDIT_REFUSED, Hello, Keep, Kept, LINES_MAX, LostReason, POLICY_BYTES_MAX, PROTOCOL_VERSION, Part, Piece,
    ROLLOUT_KEYS_MAX, Refusal, Report, Start, Task, TaskError, Want,
};
pub use recipe::{Base, CHAIN_MAX, Delta, Extent, Keyframe, Recipe, Shelf, StateId};
pub use rom::{Rom, RomError};
pub use spawner::{SpawnError, Spawner, WorkerOptions};
