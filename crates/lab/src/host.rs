use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use worker::{
    AcquireKind, Lease, Pool, PoolOptions, Report, ResidentTag, Rom, SharedMemory, Task, TaskError, WorkerOptions,
};

use crate::engine::{Engine, Hosted, Identity};
use crate::store::{StateMemory, Store};
use crate::{Lab, LabError, LabOptions, Revision, Urgency};

impl Lab {
    /// Sets up a lab and starts its first worker, so that what is wrong with it shows at once.
    ///
    /// # Errors
    /// [`LabError::EngineFailure`] when no worker can be started or no memory be had; [`LabError::BadRom`].
    pub fn new(options: LabOptions) -> Result<Self, LabError> {
        let budget = usize::try_from(options.limits.store_bytes).map_err(|error| failure(&error))?;
        let memory = Arc::new(SharedMemory::create(budget).map_err(|error| failure(&error))?);
        let rom = match &options.rom {
            Some(bytes) => {
                let rom = Rom::parse(bytes.clone()).map_err(|error| LabError::BadRom(error.to_string()))?;
                Some(Arc::new(rom))
            }
            None => None,
        };
        let worker = WorkerOptions {
            program: options.program.clone(),
            arguments: options.arguments.clone(),
            rom,
            store: Some(Arc::clone(&memory)),
            key_cpu_limit_ms: options.key_cpu_ms,
            ..WorkerOptions::default()
        };
        let workers = options.workers.max(1) + options.reserved;
        let pool = Pool::new(PoolOptions { workers, reserved: options.reserved, worker });
        let pool = pool.map_err(|error| failure(&error))?;
        let rom = pool.spawner().rom();
        let identity = Identity {
            engine_id: rom.engine_id().to_owned(),
            rom_id: rom.rom_id().to_owned(),
            nethack_version: rom.nethack_version().to_owned(),
        };
        let store = Store::new(Box::new(Memory(memory)), options.limits.store_bytes);
        let engine = Processes { pool, identity, workers, lost: AtomicU64::new(0) };
        Ok(Self::over(options, Box::new(engine), store))
    }
}

fn failure(error: &dyn std::fmt::Display) -> LabError {
    LabError::EngineFailure { reason: error.to_string(), lost: None }
}

/// Shared memory, of which the store sees to it that no two states overlap.
struct Memory(Arc<SharedMemory>);

impl StateMemory for Memory {
    fn copy_in(&self, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let offset = usize::try_from(offset).map_err(|error| error.to_string())?;
        self.0.copy_in(offset, bytes).map_err(|error| error.to_string())
    }

    fn release(&self, offset: u64, bytes: u64) {
        if let (Ok(offset), Ok(bytes)) = (usize::try_from(offset), usize::try_from(bytes)) {
            // Memory that stays is a loss of memory and of nothing else.
            let _ = self.0.release(offset, bytes);
        }
    }
}

/// Worker processes.
struct Processes {
    pool: Pool,
    identity: Identity,
    workers: usize,
    lost: AtomicU64,
}

/// A worker process for the time being.
struct Process<'a> {
    lease: Lease,
    lost: &'a AtomicU64,
}

impl Engine for Processes {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn lease(&self, resident: Option<Revision>, urgency: Urgency) -> Result<Box<dyn Hosted + '_>, String> {
        let kind = match urgency {
            Urgency::Interactive => AcquireKind::Interactive,
            Urgency::Bulk => AcquireKind::Batch,
        };
        let lease = self.pool.acquire(kind, resident.map(tag)).map_err(|error| error.to_string())?;
        Ok(Box::new(Process { lease, lost: &self.lost }))
    }

    fn workers(&self) -> usize {
        self.workers
    }

    fn workers_lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// A revision belongs to one machine and never comes again, so it names both.
fn tag(Revision(revision): Revision) -> ResidentTag {
    ResidentTag { machine: 0, revision }
}

impl Hosted for Process<'_> {
    fn resident(&self) -> Option<Revision> {
        self.lease.resident().map(|tag| Revision(tag.revision))
    }

    fn set_resident(&mut self, revision: Option<Revision>) {
        self.lease.set_resident(revision.map(tag));
    }

    fn run(&mut self, task: &Task) -> Result<Report, TaskError> {
        let result = self.lease.run(task);
        if let Err(TaskError::Lost { .. } | TaskError::Hung { .. }) = &result {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        result
    }

    fn output(&mut self, bytes: u64, read: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let memory = self.lease.output().ok_or("the worker is gone")?;
        let length = usize::try_from(bytes).map_err(|error| error.to_string())?;
        memory.with_bytes(0, length, read).map_err(|error| error.to_string())
    }
}
