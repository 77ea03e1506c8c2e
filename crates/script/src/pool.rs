//! Processes that wait for scripts, and how many there may be.

use std::cell::Cell;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use nix::time::ClockId;
use nix::unistd::Pid;
use serde::Serialize;

use crate::protocol::{REPLY_BYTES_MAX, REQUEST_BYTES_MAX, Reply, TalkError, hear, packed};
use crate::spawner::Spawner;
use crate::{ScriptError, ScriptLimits, ScriptProgram};

/// Processes that are kept for the next script.
const WARM_MAX: usize = 2;
/// Scripts that run at once; more wait for their turn.
const RUNNING_MAX: usize = 4;
/// Scripts after which a process is replaced.
const SCRIPTS_MAX: u32 = 64;
/// How long a process may take to start.
const START_MAX: Duration = Duration::from_secs(30);
/// How often a host that waits asks what its process has used, and whether it is still to wait.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// Asked while a caller waits: does it want what it waits for no more?
pub type Unless<'a> = &'a dyn Fn() -> bool;

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
    pub(crate) fn lease(self: &Arc<Self>, is_new: bool, unless: Unless<'_>) -> Result<Lease, ScriptError> {
        let mut held = self.held();
        while held.running >= RUNNING_MAX {
            if unless() {
                return Err(ScriptError::Cancelled);
            }
            (held, _) = self.freed.wait_timeout(held, ASK_EVERY).unwrap_or_else(PoisonError::into_inner);
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
        match process.hear(&Patience::new(START_MAX, &|| false)) {
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
    /// The patience with a script that begins now.
    pub(crate) fn patience<'a>(&self, limits: &ScriptLimits, unless: Unless<'a>) -> Patience<'a> {
        let used = self.process.as_ref().and_then(Process::cpu_time);
        let cpu = used.map(|used| Budget { max: limits.cpu, until: used + limits.cpu, last: Cell::new(used) });
        Patience { cpu, ..Patience::new(limits.wall, unless) }
    }

    /// Says something and hears what comes of it.
    pub(crate) fn ask<T: Serialize>(&mut self, request: &T, patience: &Patience<'_>) -> Result<Reply, TalkError> {
        let process = self.process.as_mut().ok_or(TalkError::Closed)?;
        process.say(&packed(request, REQUEST_BYTES_MAX)?, patience)?;
        process.hear(patience)
    }

    /// Hears what comes next.
    pub(crate) fn hear(&mut self, patience: &Patience<'_>) -> Result<Reply, TalkError> {
        self.process.as_mut().ok_or(TalkError::Closed)?.hear(patience)
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

    fn say(&mut self, mut bytes: &[u8], patience: &Patience<'_>) -> Result<(), TalkError> {
        use std::io::Write;
        self.socket.set_write_timeout(Some(ASK_EVERY))?;
        while !bytes.is_empty() {
            let written = match self.socket.write(bytes) {
                Err(error) if is_silence(&error) => self.wait_on(patience).map(|()| 0)?,
                written => written?,
            };
            bytes = bytes.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    fn hear(&mut self, patience: &Patience<'_>) -> Result<Reply, TalkError> {
        self.socket.set_read_timeout(Some(ASK_EVERY))?;
        let mut patient = Patient { process: self, patience, gave_up: None };
        let heard = hear(&mut patient, REPLY_BYTES_MAX);
        // Why nothing more was read says more than that nothing was.
        patient.gave_up.map_or(heard, Err)
    }

    /// The CPU time that it has used.
    fn cpu_time(&self) -> Option<Duration> {
        let pid = Pid::from_raw(self.child.id().try_into().ok()?);
        Some(ClockId::pid_cpu_clock_id(pid).ok()?.now().ok()?.into())
    }

    /// Refuses to wait on.
    fn wait_on(&self, patience: &Patience<'_>) -> Result<(), TalkError> {
        if (patience.unless)() {
            return Err(TalkError::Cancelled);
        }
        let spent = patience.cpu.as_ref().zip(self.cpu_time());
        if let Some((budget, used)) = &spent
            && *used >= budget.until
        {
            return Err(TalkError::Overspent);
        }
        if now() < patience.until.get() {
            return Ok(());
        }
        match spent {
            Some((budget, used)) if budget.goes_on(used) => {
                patience.until.set(deadline(patience.wall));
                Ok(())
            }
            _ => Err(TalkError::Stalled),
        }
    }
}

fn is_silence(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// How long to wait for a process.
pub(crate) struct Patience<'a> {
    /// How long it may stand still.
    wall: Duration,
    /// When it is looked at whether it has.
    until: Cell<Instant>,
    cpu: Option<Budget>,
    unless: Unless<'a>,
}

/// The CPU time that a process may use.
struct Budget {
    max: Duration,
    /// What it has used in all when that is spent.
    until: Duration,
    /// What it had used when it was last looked at.
    last: Cell<Duration>,
}

/// A process that has used this part of its CPU time since the last look runs, if slowly; less is a stop.
const GOES_ON_PART: u32 = 20;

impl Budget {
    fn goes_on(&self, used: Duration) -> bool {
        used.saturating_sub(self.last.replace(used)) >= self.max / GOES_ON_PART
    }
}

impl<'a> Patience<'a> {
    fn new(wall: Duration, unless: Unless<'a>) -> Self {
        Self { wall, until: Cell::new(deadline(wall)), cpu: None, unless }
    }

    /// So long it waited for its host.
    pub(crate) fn pause(&mut self, time: Duration) {
        let until = self.until.get_mut();
        *until = until.checked_add(time).unwrap_or(*until);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads as long as there is patience, however little comes at a time.
struct Patient<'a> {
    process: &'a Process,
    patience: &'a Patience<'a>,
    gave_up: Option<TalkError>,
}

impl std::io::Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match (&self.process.socket).read(bytes) {
                Err(error) if is_silence(&error) => {}
                read => return read,
            }
            if let Err(error) = self.process.wait_on(self.patience) {
                self.gave_up = Some(error);
                return Err(std::io::ErrorKind::TimedOut.into());
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a script may run is a matter of the host, not of a machine")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// So long from now.
fn deadline(after: Duration) -> Instant {
    now().checked_add(after).unwrap_or_else(now)
}
