//! Processes that wait for scripts, and how many there may be.

use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::protocol::{REPLY_BYTES_MAX, REQUEST_BYTES_MAX, Reply, TalkError, hear, packed};
use crate::spawner::Spawner;
use crate::{ScriptError, ScriptProgram};

/// Processes that are kept for the next script.
const WARM_MAX: usize = 2;
/// Scripts that run at once; more wait for their turn.
const RUNNING_MAX: usize = 4;
/// Scripts after which a process is replaced.
const SCRIPTS_MAX: u32 = 64;
/// How long a process may take to start.
const START_MAX: Duration = Duration::from_secs(30);

pub(crate) struct Pool {
    program: ScriptProgram,
    spawner: OnceLock<Spawner>,
    held: Mutex<Held>,
    freed: Condvar,
}

#[derive(Default)]
struct Held {
    warm: Vec<Process>,
    running: usize,
}

impl Pool {
    pub(crate) fn new(program: ScriptProgram) -> Arc<Self> {
        let (spawner, held, freed) = (OnceLock::new(), Mutex::default(), Condvar::new());
        Arc::new(Self { program, spawner, held, freed })
    }

    /// A process, as soon as not too many scripts run: one that waits, or a new one where that is wanted.
    pub(crate) fn lease(self: &Arc<Self>, is_new: bool) -> Result<Lease, ScriptError> {
        let mut held = self.held();
        while held.running >= RUNNING_MAX {
            held = self.freed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        held.running += 1;
        // From here on the lease's end gives the turn back.
        held.warm.retain(|process| !process.is_gone());
        let waiting = if is_new { None } else { held.warm.pop() };
        let mut lease = Lease { pool: Arc::clone(self), process: waiting, is_well: false };
        drop(held);
        if lease.process.is_none() {
            lease.process = Some(self.start()?);
        }
        Ok(lease)
    }

    fn start(&self) -> Result<Process, ScriptError> {
        if self.spawner.get().is_none() {
            // Where two come at once, one of the threads ends at once.
            let _ = self.spawner.set(Spawner::new(self.program.clone())?);
        }
        let spawner = self.spawner.get().ok_or_else(|| ScriptError::Spawn("no thread".to_owned()))?;
        let (child, socket) = spawner.start()?;
        let mut process = Process { child, socket, scripts: 0 };
        match process.hear(deadline(START_MAX)) {
            Ok(Reply::Ready) => Ok(process),
            Ok(_) => Err(ScriptError::Spawn("it said something else than that it is ready".to_owned())),
            Err(error) => Err(ScriptError::Spawn(format!("it does not answer: {error}"))),
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process that is one script's own until this is dropped. Unless it ended well, it is killed then.
pub(crate) struct Lease {
    pool: Arc<Pool>,
    process: Option<Process>,
    is_well: bool,
}

impl Lease {
    /// Says something and hears what comes of it, before the deadline.
    pub(crate) fn ask<T: Serialize>(&mut self, request: &T, deadline: Instant) -> Result<Reply, TalkError> {
        let process = self.process.as_mut().ok_or(TalkError::Closed)?;
        process.say(&packed(request, REQUEST_BYTES_MAX)?, deadline)?;
        process.hear(deadline)
    }

    /// Whether its process has run a script before.
    pub(crate) fn is_used(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.scripts > 0)
    }

    /// The process waits for the next script.
    pub(crate) fn is_well(&mut self) {
        self.is_well = true;
    }

    /// How its process ended, if it has.
    pub(crate) fn end(&mut self) -> Option<String> {
        let process = self.process.as_mut()?;
        // The socket closes a moment before the process can be waited for.
        let _ = process.child.kill();
        process.child.wait().ok().map(|status| status.to_string())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut process = self.process.take();
        if let Some(process) = process.as_mut() {
            process.scripts += 1;
        }
        let mut held = self.pool.held();
        held.running -= 1;
        if self.is_well
            && held.warm.len() < WARM_MAX
            && process.as_ref().is_some_and(|process| process.scripts < SCRIPTS_MAX)
        {
            held.warm.extend(process.take());
        }
        drop(held);
        self.pool.freed.notify_one();
        // What was not put back ends here, outside the lock.
        drop(process);
    }
}

/// A process and the host's end of its socket. It is killed and waited for when this is dropped.
struct Process {
    child: Child,
    socket: UnixStream,
    scripts: u32,
}

impl Process {
    fn is_gone(&self) -> bool {
        // Between two scripts it says nothing: whatever can be read is its end, or makes it unfit.
        let mut byte = [0];
        let _ = self.socket.set_nonblocking(true);
        let read = std::io::Read::read(&mut &self.socket, &mut byte);
        let _ = self.socket.set_nonblocking(false);
        !read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }

    fn say(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), TalkError> {
        use std::io::Write;
        while !bytes.is_empty() {
            self.socket.set_write_timeout(Some(left(deadline)?))?;
            let written = self.socket.write(bytes)?;
            bytes = bytes.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    fn hear(&mut self, deadline: Instant) -> Result<Reply, TalkError> {
        hear(&mut Until { socket: &self.socket, deadline }, REPLY_BYTES_MAX)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads until a deadline, however little comes at a time.
struct Until<'a> {
    socket: &'a UnixStream,
    deadline: Instant,
}

impl std::io::Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let left = left(self.deadline).map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))?;
        self.socket.set_read_timeout(Some(left))?;
        self.socket.read(bytes)
    }
}

fn left(deadline: Instant) -> Result<Duration, TalkError> {
    let left = deadline.saturating_duration_since(now());
    if left.is_zero() { Err(TalkError::TimedOut) } else { Ok(left) }
}

#[expect(clippy::disallowed_methods, reason = "how long a script may run is a matter of the host, not of a machine")]
fn now() -> Instant {
    Instant::now()
}

/// So long from now.
pub(crate) fn deadline(after: Duration) -> Instant {
    now().checked_add(after).unwrap_or_else(now)
}
