use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use worker::{
    AcquireKind, FrameBytes, Lease, Pool, PoolError, PoolOptions, Refusal, Report, ResidentTag, Rom, SharedMemory,
    SpawnError, StateId, Task, TaskError, Unless, WorkerOptions,
};

use crate::engine::{Engine, Hosted, Identity, LazyFrame, LineReport};
use crate::store::{Arena, CopyError, StateMemory, Store};
use crate::task::TRIES;
use crate::{Lab, LabError, LabOptions, Urgency};

/// The least that a store is made with in all: what the first states of a game take.
const STORE_BYTES_MIN: u64 = 1 << 20;
/// The least of memory or of a file: a page.
const SHELF_BYTES_MIN: u64 = 4 << 10;

impl Lab {
    /// Sets up a lab and starts its first worker, so that what is wrong with it shows at once.
    ///
    /// # Errors
    /// [`LabError::EngineFailure`] when no worker can be started or no memory be had; [`LabError::BadRom`],
    /// [`LabError::BadOptions`].
    pub fn new(options: LabOptions) -> Result<Self, LabError> {
        check_store_bytes(options.limits.store_bytes, options.spill.is_some().then_some(options.limits.spill_bytes))?;
        let bytes = |limit: u64| usize::try_from(limit).map_err(|error| failure(&error));
        let memory = SharedMemory::create(bytes(options.limits.store_bytes)?).map_err(|error| failure(&error))?;
        let memory = Arc::new(memory);
        let spill = match &options.spill {
            Some(directory) => {
                let spill = SharedMemory::in_file(directory, bytes(options.limits.spill_bytes)?);
                Some(Arc::new(spill.map_err(|error| failure(&format!("{}: {error}", directory.display())))?))
            }
            None => None,
        };
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
            spill: spill.clone(),
            key_cpu_limit_ms: options.key_cpu_ms,
            ..WorkerOptions::default()
        };
        let workers = options.workers.max(1) + options.reserved;
        let pool = Pool::new(PoolOptions { workers, reserved: options.reserved, worker });
        let pool = pool.map_err(|error| failure(&error))?;
        // The first worker tells for all.
        let first = pool.acquire(AcquireKind::Interactive, None).map_err(|error| failure(&error))?;
        let policies = first.hello().map(|hello| hello.policies.clone()).unwrap_or_default();
        drop(first);
        let rom = pool.spawner().rom();
        let identity = Identity {
            engine_id: rom.engine_id().to_owned(),
            rom_id: rom.rom_id().to_owned(),
            nethack_version: rom.nethack_version().to_owned(),
            policies,
        };
        let arena = |memory: Arc<SharedMemory>| {
            let budget = memory.capacity() as u64;
            Arena::new(Box::new(Memory(memory)), budget)
        };
        let store = Store::new(arena(memory), spill.map(arena));
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
    fn copy_in(&self, offset: u64, bytes: &[u8]) -> Result<(), CopyError> {
        let offset = usize::try_from(offset).map_err(|error| CopyError::Broken(error.to_string()))?;
        self.0.copy_in(offset, bytes).map_err(|error| copy_error(&error))
    }

    fn copy_out(&self, offset: u64, bytes: &mut [u8]) -> Result<(), String> {
        let offset = usize::try_from(offset).map_err(|error| error.to_string())?;
        self.0.copy_out(offset, bytes).map_err(|error| error.to_string())
    }

    fn release(&self, offset: u64, bytes: u64) {
        if let (Ok(offset), Ok(bytes)) = (usize::try_from(offset), usize::try_from(bytes)) {
            // Memory that stays is a loss of memory and of nothing else.
            let _ = self.0.release(offset, bytes);
        }
    }
}

/// A disk without room is no broken one.
fn copy_error(error: &dyn std::error::Error) -> CopyError {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    match source.map(std::io::Error::kind) {
        Some(StorageFull | FileTooLarge | QuotaExceeded) => CopyError::NoRoom,
        _ => CopyError::Broken(error.to_string()),
    }
}

/// Refuses a store that no game has room in.
fn check_store_bytes(memory: u64, spill: Option<u64>) -> Result<(), LabError> {
    let rows = [
        ("bytes of save states in memory", Some(memory), SHELF_BYTES_MIN),
        ("bytes of the spill file", spill, SHELF_BYTES_MIN),
        ("bytes of save states in all", Some(memory.saturating_add(spill.unwrap_or(0))), STORE_BYTES_MIN),
    ];
    for (what, given, least) in rows {
        if let Some(given) = given.filter(|given| *given < least) {
            return Err(LabError::BadOptions(format!("{what}: {given} given, at least {least} are needed")));
        }
    }
    Ok(())
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

    fn lease(&self, resident: Option<StateId>, urgency: Urgency) -> Result<Box<dyn Hosted + '_>, String> {
        let lease = acquire(&|| self.pool.acquire(kind(urgency), resident.map(tag)))?;
        Ok(Box::new(self.process(lease.ok_or("nobody waits for a worker")?)))
    }

    fn lease_unless(
        &self,
        resident: Option<StateId>,
        urgency: Urgency,
        stop: Unless<'_>,
    ) -> Result<Option<Box<dyn Hosted + '_>>, String> {
        let lease = acquire(&|| self.pool.acquire_unless(kind(urgency), resident.map(tag), stop))?;
        Ok(lease.map(|lease| Box::new(self.process(lease)) as Box<dyn Hosted>))
    }

    fn workers(&self) -> usize {
        self.workers
    }

    fn workers_lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// A lease; nothing when nobody wants it any more.
fn acquire(acquire: &dyn Fn() -> Result<Lease, PoolError>) -> Result<Option<Lease>, String> {
    let mut tries = 1;
    loop {
        match acquire() {
            Ok(lease) => return Ok(Some(lease)),
            Err(PoolError::Stopped) => return Ok(None),
            // One that was killed as it started says nothing about the next.
            Err(PoolError::Spawn(SpawnError::Lost(_))) if tries < TRIES => tries += 1,
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn kind(urgency: Urgency) -> AcquireKind {
    match urgency {
        Urgency::Interactive => AcquireKind::Interactive,
        Urgency::Bulk => AcquireKind::Batch,
    }
}

impl Processes {
    fn process(&self, lease: Lease) -> Process<'_> {
        Process { lease, lost: &self.lost }
    }
}

fn tag(StateId(id): StateId) -> ResidentTag {
    let number = u128::from_le_bytes(id);
    ResidentTag { machine: (number >> 64) as u64, revision: number as u64 }
}

impl Process<'_> {
    fn count_loss(&self, error: Option<&TaskError>) {
        if let Some(TaskError::Lost { .. } | TaskError::Hung { .. }) = error {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Hosted for Process<'_> {
    fn set_resident(&mut self, state: Option<StateId>) {
        self.lease.set_resident(state.map(tag));
    }

    fn run(&mut self, task: &Task) -> Result<Report, TaskError> {
        let result = self.lease.run(task);
        self.count_loss(result.as_ref().err());
        result
    }

    fn run_lines(&mut self, tasks: &[Task]) -> Result<Vec<Result<LineReport, Refusal>>, TaskError> {
        self.run_lines_unless(tasks, &|| false)
    }

    fn run_lines_unless(
        &mut self,
        tasks: &[Task],
        stop: Unless<'_>,
    ) -> Result<Vec<Result<LineReport, Refusal>>, TaskError> {
        let result = self.lease.run_lines_unless(tasks, stop);
        // A worker that was stopped on purpose is no loss.
        self.count_loss(result.as_ref().err().filter(|_| !stop()));
        let lazy = |mut report: Report<FrameBytes>| {
            let frame = report.frame.take().map(LazyFrame::Bytes);
            report.with_frame(frame)
        };
        Ok(result?.into_iter().map(|line| line.map(lazy)).collect())
    }

    fn output(&mut self, bytes: u64, read: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let memory = self.lease.output().ok_or("the worker is gone")?;
        let length = usize::try_from(bytes).map_err(|error| error.to_string())?;
        memory.with_bytes(0, length, read).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_without_room_for_a_game_is_refused_with_what_it_takes() {
        let no_program = |memory, spill: Option<u64>| {
            let mut options = LabOptions::new("/nonexistent/program");
            options.limits.store_bytes = memory;
            options.spill = spill.map(|_| std::env::temp_dir());
            options.limits.spill_bytes = spill.unwrap_or(0);
            Lab::new(options).map(|_| ()).unwrap_err()
        };
        for (memory, spill, least) in [
            (0, None, "4096"),
            (5_000, None, "1048576"),
            (8 << 20, Some(0), "4096"),
            (0, Some(8 << 20), "4096"),
            (64 << 10, Some(64 << 10), "1048576"),
        ] {
            let error = no_program(memory, spill);
            assert!(matches!(error, LabError::BadOptions(_)) && error.is_refusal(), "{error}");
            assert!(error.to_string().contains(least), "{error}");
        }
        assert!(matches!(no_program(64 << 10, Some(8 << 20)), LabError::EngineFailure { .. }));
    }

    #[test]
    fn a_disk_without_room_is_not_broken() {
        #[derive(Debug, thiserror::Error)]
        #[error("can't write: {source}")]
        struct Failed {
            source: std::io::Error,
        }
        let error = |errno| copy_error(&Failed { source: std::io::Error::from_raw_os_error(errno) });
        // ENOSPC, EFBIG, EDQUOT; EIO.
        for errno in [28, 27, 122] {
            assert_eq!(error(errno), CopyError::NoRoom, "{errno}");
        }
        assert!(matches!(error(5), CopyError::Broken(_)));
    }
}
