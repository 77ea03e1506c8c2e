//! Starting worker processes.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use machine::shared::SharedMemory;
use rom::Rom;
use rustix::fs::{Mode, OFlags};

use crate::LostReason;
use crate::process::BUSY_EVERY;

/// How workers are made. All workers of a [`Spawner`] are alike.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The executable, which must call [`worker_main`](crate::worker_main) when started with `arguments`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Another ROM than the executable's own.
    pub rom: Option<Arc<Rom>>,
    /// Where states are loaded from ([`Shelf::Memory`](crate::Shelf)). Workers can only read it.
    pub store: Option<Arc<SharedMemory>>,
    /// Where others are loaded from ([`Shelf::Spill`](crate::Shelf)). Workers can only read it.
    pub spill: Option<Arc<SharedMemory>>,
    /// The size of a worker's output slot. Memory is used only as far as it is written.
    pub output_bytes: usize,
    /// CPU time that one key may take, and one call of a policy's function.
    pub key_cpu_limit_ms: u64,
    /// How much longer than twice `key_cpu_limit_ms` a worker may be silent before its host looks whether it sleeps. One
    /// that uses far more CPU time than a key may is given up without that.
    pub silence_ms: u64,
}

impl Default for WorkerOptions {
    /// The running executable with the argument `worker`; its own ROM, no stores, 64 MiB of output, a minute of CPU
    /// time for a key.
    fn default() -> Self {
        Self {
            program: "/proc/self/exe".into(),
            arguments: vec!["worker".into()],
            rom: None,
            store: None,
            spill: None,
            output_bytes: 64 << 20,
            key_cpu_limit_ms: 60_000,
            silence_ms: 600_000,
        }
    }
}

/// Why there is no new worker.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The system refused something.
    #[error("no worker can be started: {step}: {reason}")]
    System {
        /// What was tried.
        step: &'static str,
        /// The system's word.
        reason: String,
    },
    /// The process was started, but did not say what a worker says.
    #[error("a worker could not be started: {0}")]
    Lost(LostReason),
    /// The worker runs another ROM than it was to.
    #[error("the worker runs ROM {found}, not {wanted}")]
    OtherRom {
        /// What it runs.
        found: String,
        /// What it was to run.
        wanted: String,
    },
}

/// Makes a word of the system a [`SpawnError`].
pub(crate) fn system<E: std::fmt::Display>(step: &'static str) -> impl FnOnce(E) -> SpawnError {
    move |reason| SpawnError::System { step, reason: reason.to_string() }
}

/// A process that was started, and the host's end of its socket.
pub(crate) type Started = (Child, UnixStream);

type Order = mpsc::SyncSender<std::io::Result<Started>>;

/// Starts workers, all from one thread of its own.
///
/// A worker dies with the *thread* that started it, so that thread lives as long as this or any of the workers.
#[derive(Clone, Debug)]
pub struct Spawner(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: WorkerOptions,
    orders: mpsc::Sender<Order>,
    rom: Option<SharedMemory>,
}

impl Spawner {
    /// Starts the thread. No worker yet.
    ///
    /// # Errors
    /// The system gives no thread, or no memory to hold the ROM.
    pub fn new(options: WorkerOptions) -> Result<Self, SpawnError> {
        let rom = options.rom.as_deref().map(share).transpose()?;
        let (orders, inbox) = mpsc::channel::<Order>();
        let (program, arguments) = (located(&options.program), options.arguments.clone());
        std::thread::Builder::new()
            .name("spawner".to_owned())
            .spawn(move || {
                for order in inbox {
                    // Whoever asked may have gone.
                    let _ = order.send(start(&program, &arguments));
                }
            })
            .map_err(system("thread"))?;
        Ok(Self(Arc::new(Inner { options, orders, rom })))
    }

    /// How it makes workers.
    #[must_use]
    pub fn options(&self) -> &WorkerOptions {
        &self.0.options
    }

    /// The ROM that its workers run.
    #[must_use]
    pub fn rom(&self) -> &Rom {
        self.0.options.rom.as_deref().unwrap_or_else(|| rom::built_in())
    }

    /// Starts a process.
    pub(crate) fn start(&self) -> Result<Started, SpawnError> {
        let (order, started) = mpsc::sync_channel(1);
        self.0.orders.send(order).map_err(system("spawner"))?;
        started.recv().map_err(system("spawner"))?.map_err(system("process"))
    }

    /// The shared memory for a new worker beside its output slot: store, spill and ROM, each to be read only.
    pub(crate) fn shared(&self) -> Result<[Option<(OwnedFd, u64)>; 3], SpawnError> {
        let read_only = |memory: &SharedMemory| Ok((read_only(memory)?, memory.capacity() as u64));
        let store = self.0.options.store.as_deref().map(read_only).transpose()?;
        let spill = self.0.options.spill.as_deref().map(read_only).transpose()?;
        Ok([store, spill, self.0.rom.as_ref().map(read_only).transpose()?])
    }

    /// How long a worker may be silent before its host looks whether it sleeps, and how much CPU time it may use
    /// in silence: what two keys may take, and what passes between two signs of life.
    pub(crate) fn patience(&self) -> (Duration, Duration) {
        let WorkerOptions { key_cpu_limit_ms, silence_ms, .. } = self.0.options;
        let keys = Duration::from_millis(key_cpu_limit_ms.saturating_mul(2));
        (keys.saturating_add(Duration::from_millis(silence_ms)), keys.saturating_add(2 * BUSY_EVERY))
    }
}

/// Where a program lies. Workers start in another folder, and without a search path.
fn located(program: &Path) -> PathBuf {
    if program.components().nth(1).is_some() {
        return std::path::absolute(program).unwrap_or_else(|_| program.to_owned());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file());
    found.unwrap_or_else(|| program.to_owned())
}

fn start(program: &Path, arguments: &[OsString]) -> std::io::Result<Started> {
    let (ours, theirs) = UnixStream::pair()?;
    let child = Command::new(program)
        .args(arguments)
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // The terminal's interrupt is for the host, which decides what becomes of its workers.
        .process_group(0)
        .spawn()
        .map_err(|error| std::io::Error::new(error.kind(), format!("{}: {error}", program.display())))?;
    Ok((child, ours))
}

fn share(rom: &Rom) -> Result<SharedMemory, SpawnError> {
    let memory = SharedMemory::create(rom.bytes().len()).map_err(system("memory for the ROM"))?;
    memory.copy_in(0, rom.bytes()).map_err(system("memory for the ROM"))?;
    Ok(memory)
}

/// Another descriptor of the memory, through which nobody can write or map it to write.
fn read_only(memory: &SharedMemory) -> Result<OwnedFd, SpawnError> {
    let path = format!("/proc/self/fd/{}", memory.fd().as_raw_fd());
    rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(system("read-only memory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        assert_eq!(located(Path::new("/a/b")), Path::new("/a/b"));
        assert!(located(Path::new("./b")).is_absolute() && located(Path::new("a/b")).ends_with("a/b"));
        assert!(located(Path::new("sh")).is_absolute());
        assert_eq!(located(Path::new("no such program")), Path::new("no such program"));
    }
}
