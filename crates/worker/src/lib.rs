//! The worker process, which hosts one machine in a sandbox, and the host's side of it.
//!
//! A host makes a [`Spawner`] and gets workers from it, mostly through a [`Pool`]. Each worker is the host's own (or a
//! given) executable, started again with its standard input as the one socket between the two; there it calls
//! [`worker_main`] and nothing else. One [`Task`] goes in, one [`Report`] or [`TaskError`] comes out.
//!
//! The host keeps the truth: a worker holds nothing that the host could not make again, so it may be killed at any
//! time. Save states travel through shared memory: a store that workers only read, and one output slot for each.
//! No game code runs before the worker has given up files, network, processes and executable memory. What a worker
//! sends is checked like anything else from outside.

mod batch;
mod channel;
mod handle;
mod pool;
mod process;
mod protocol;
mod sandbox;
mod silence;
mod spawner;

pub use handle::Worker;
pub use machine::shared::SharedMemory;
pub use pool::{AcquireKind, Lease, Pool, PoolError, PoolOptions, ResidentTag};
pub use process::worker_main;
pub use protocol::{Hello, LostReason, PROTOCOL_VERSION, Part, Report, Start, Task, TaskError, Want};
pub use rom::{Rom, RomError};
pub use spawner::{SpawnError, Spawner, WorkerOptions};
