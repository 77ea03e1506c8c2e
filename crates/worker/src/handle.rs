//! The host's handle on one worker.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use machine::Machine;
use machine::shared::SharedMemory;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::process::{Pid, PidfdFlags};

use crate::FrameBytes;
use crate::channel::{Channel, ChannelError};
use crate::protocol::{
    Hello, LINES_MAX, Line, LostReason, PROTOCOL_VERSION, REPLY_BYTES_MAX, REQUEST_BYTES_MAX, Refusal, Reply, Report,
    Setup, Task, TaskError,
};
use crate::report::{with_frame_bytes, with_frame_read};
use crate::silence::{ASK_EVERY, Patience};
use crate::spawner::{SpawnError, Spawner, system};

/// How long a worker that has closed its socket may take to end by itself, so that its own reason is known.
const ENDING: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// Asked while a caller waits: does it want what it waits for no more? Once true, it stays so.
pub type Unless<'a> = &'a dyn Fn() -> bool;

/// A worker process. It ends, and is reaped, when this is dropped.
#[derive(Debug)]
pub struct Worker {
    process: Arc<Process>,
    channel: Channel,
    output: SharedMemory,
    hello: Hello,
    patience: Patience,
    lost: Option<LostReason>,
    /// Its thread must outlive the process.
    _spawner: Spawner,
}

impl Worker {
    /// Starts a worker and waits until it is ready.
    ///
    /// # Errors
    /// The process can't be started, is no worker, or runs another ROM. Nothing is left of it.
    pub fn spawn(spawner: &Spawner) -> Result<Self, SpawnError> {
        let output = SharedMemory::create(spawner.options().output_bytes).map_err(system("output slot"))?;
        let (child, socket) = spawner.start()?;
        let process = Arc::new(Process::new(child)?);
        for direction in [Timeout::Recv, Timeout::Send] {
            let set = set_socket_timeout(&socket, direction, Some(ASK_EVERY));
            set.map_err(system("socket timeout"))?;
        }
        let (silence_max, cpu_max) = spawner.patience();
        let mut worker = Self {
            patience: Patience::new(process.pid, silence_max, cpu_max),
            process,
            channel: Channel::new(socket.into(), REQUEST_BYTES_MAX, REPLY_BYTES_MAX),
            output,
            hello: Hello {
                protocol_version: PROTOCOL_VERSION,
                rom_id: String::new(),
                engine_id: String::new(),
                pid: 0,
                policies: Vec::new(),
            },
            lost: None,
            _spawner: spawner.clone(),
        };
        worker.greet(spawner)?;
        Ok(worker)
    }

    fn greet(&mut self, spawner: &Spawner) -> Result<(), SpawnError> {
        let [store, spill, rom] = spawner.shared()?;
        let setup = Setup {
            output_bytes: self.output.capacity() as u64,
            store_bytes: store.as_ref().map(|(_, bytes)| *bytes),
            spill_bytes: spill.as_ref().map(|(_, bytes)| *bytes),
            rom_bytes: rom.as_ref().map(|(_, bytes)| *bytes),
            key_cpu_limit_ms: spawner.options().key_cpu_limit_ms,
        };
        let mut descriptors = vec![self.output.fd()];
        descriptors.extend([&store, &spill, &rom].into_iter().flatten().map(|(descriptor, _)| descriptor.as_fd()));
        let sent = self.channel.send_with(&setup, &descriptors, &mut || self.patience.wait_on());
        let reply = sent.and_then(|()| self.channel.receive(&mut || self.patience.wait_on()));
        self.hello = match reply {
            Ok(Reply::Hello(hello)) => hello,
            Ok(Reply::Failed(reason)) => return Err(SpawnError::Lost(LostReason::Failed(reason))),
            Ok(_) => return Err(SpawnError::Lost(unexpected())),
            Err(error) => return Err(SpawnError::Lost(self.reason(error))),
        };
        let wanted = spawner.rom().rom_id();
        if self.hello.rom_id != wanted {
            return Err(SpawnError::OtherRom { found: self.hello.rom_id.clone(), wanted: wanted.to_owned() });
        }
        Ok(())
    }

    /// What it said of itself.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// The memory into which it writes states. It holds what the last reports say until the next task.
    #[must_use]
    pub fn output(&self) -> &SharedMemory {
        &self.output
    }

    /// Whether the process still runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.lost.is_none() && self.process.is_running()
    }

    /// Does a task and waits for its report, however long the machine is kept from working.
    ///
    /// # Errors
    /// [`TaskError::Refused`] and [`TaskError::Displaced`] leave a worker of use; after the other two it is gone, and
    /// all that follows is lost too.
    pub fn run(&mut self, task: &Task) -> Result<Report, TaskError> {
        let line = self.run_lines(std::slice::from_ref(task))?.pop();
        match line {
            Some(Ok(report)) => with_frame_read(report).ok_or_else(|| self.give_up(unexpected())),
            Some(Err(Refusal { reason, displaced: true })) => Err(TaskError::Displaced(reason)),
            Some(Err(Refusal { reason, displaced: false })) => Err(TaskError::Refused(reason)),
            None => Err(self.give_up(unexpected())),
        }
    }

    /// Does tasks one after the other, all in one message and one reply, and waits for their reports.
    ///
    /// There may be fewer reports than tasks, but at least one: as many as there was room for, in the tasks' order. The
    /// rest were not begun; send them again, once what the output slot holds has been taken over.
    ///
    /// # Errors
    /// [`TaskError::Refused`] for no task, more than [`LINES_MAX`] or more bytes than a message may hold, of which none
    /// was begun. After the others the worker is gone, with all of these lines, and one of them may be why.
    pub fn run_lines(&mut self, tasks: &[Task]) -> Result<Vec<Result<Report<FrameBytes>, Refusal>>, TaskError> {
        self.run_lines_unless(tasks, &|| false)
    }

    /// The same, unless the caller wants them no more: `stop` is asked some twenty times a second while the worker is
    /// silent, and when it says so, the worker is killed.
    ///
    /// # Errors
    /// As there; [`LostReason::Killed`] when it was stopped.
    pub fn run_lines_unless(
        &mut self,
        tasks: &[Task],
        stop: Unless<'_>,
    ) -> Result<Vec<Result<Report<FrameBytes>, Refusal>>, TaskError> {
        if let Some(reason) = &self.lost {
            return Err(TaskError::Lost { reason: reason.clone() });
        }
        if tasks.is_empty() || tasks.len() > LINES_MAX {
            return Err(TaskError::Refused(format!("{} tasks at once are not 1 to {LINES_MAX}", tasks.len())));
        }
        self.patience.heard();
        match self.channel.send(&tasks, &mut || !stop() && self.patience.wait_on()) {
            Ok(()) => {}
            Err(error @ ChannelError::TooLarge { .. }) => return Err(TaskError::Refused(error.to_string())),
            // A worker that ended may have said why.
            Err(ChannelError::Closed) => {}
            Err(error) => return Err(self.lose(error, stop)),
        }
        loop {
            match self.channel.receive(&mut || !stop() && self.patience.wait_on()) {
                Ok(Reply::Busy) => self.patience.heard(),
                Ok(Reply::Done(lines)) => {
                    return self.checked(lines, tasks).ok_or_else(|| self.give_up(unexpected()));
                }
                Ok(Reply::Hung(inputs)) => {
                    self.give_up(LostReason::Hung);
                    return Err(TaskError::Hung { inputs });
                }
                Ok(Reply::Failed(reason)) => return Err(self.give_up(LostReason::Failed(reason))),
                Ok(Reply::Hello(_)) => return Err(self.give_up(unexpected())),
                Err(error) => return Err(self.lose(error, stop)),
            }
        }
    }

    /// The lines with their frames' bytes; `None` when they are not what they must be.
    fn checked(&self, lines: Vec<Line>, tasks: &[Task]) -> Option<Vec<Result<Report<FrameBytes>, Refusal>>> {
        if lines.is_empty() || lines.len() > tasks.len() {
            return None;
        }
        let pairs = lines.into_iter().zip(tasks);
        let checked = pairs.map(|(line, task)| match line {
            Ok(report) => with_frame_bytes(report, task, &self.output).map(Ok),
            Err(refusal) => Some(Err(refusal)),
        });
        checked.collect()
    }

    /// Ends the process and reaps it.
    pub fn kill(&mut self) {
        self.process.kill();
        self.lost.get_or_insert(LostReason::Killed);
    }

    pub(crate) fn process(&self) -> Arc<Process> {
        Arc::clone(&self.process)
    }

    fn lose(&mut self, error: ChannelError, stop: Unless<'_>) -> TaskError {
        if error == ChannelError::GaveUp && stop() {
            return self.give_up(LostReason::Killed);
        }
        let overspent = self.patience.is_overspent();
        match self.reason(error) {
            LostReason::Silent if overspent => self.hang(),
            LostReason::Exit(Machine::OVERTIME_STATUS) => self.hang(),
            reason => self.give_up(reason),
        }
    }

    /// What is not a key took too long.
    fn hang(&mut self) -> TaskError {
        self.give_up(LostReason::Hung);
        TaskError::Hung { inputs: Vec::new() }
    }

    fn give_up(&mut self, reason: LostReason) -> TaskError {
        self.process.kill();
        self.lost = Some(reason.clone());
        TaskError::Lost { reason }
    }

    /// What became of a process with which one can't talk.
    fn reason(&self, error: ChannelError) -> LostReason {
        match error {
            ChannelError::Closed => self.process.end(),
            ChannelError::GaveUp => LostReason::Silent,
            error => LostReason::Protocol(error.to_string()),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.process.kill();
    }
}

fn unexpected() -> LostReason {
    LostReason::Protocol("it said what it must not say".to_owned())
}

/// A child process. Any thread may end it, also while another waits for its answer.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    child: Mutex<Child>,
    pidfd: OwnedFd,
    killed: AtomicBool,
}

impl Process {
    fn new(mut child: Child) -> Result<Self, SpawnError> {
        let opened = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or("no process id");
        let opened = opened.map_err(system("process id")).and_then(|pid| {
            let pidfd = rustix::process::pidfd_open(pid, PidfdFlags::empty());
            Ok((pid, pidfd.map_err(system("process descriptor"))?))
        });
        match opened {
            Ok((pid, pidfd)) => Ok(Self { pid, child: Mutex::new(child), pidfd, killed: AtomicBool::new(false) }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    fn is_running(&self) -> bool {
        matches!(self.lock().try_wait(), Ok(None))
    }

    /// Ends the process if it runs, and reaps it.
    pub(crate) fn kill(&self) {
        let mut child = self.lock();
        if matches!(child.try_wait(), Ok(None)) {
            self.killed.store(true, Ordering::Release);
            let _ = child.kill();
        }
        let _ = child.wait();
    }

    /// Lets the process end by itself for a while, then ends it; tells how it went.
    fn end(&self) -> LostReason {
        let mut ended = [PollFd::new(&self.pidfd, PollFlags::IN)];
        // An interrupted wait only costs the process's own reason.
        let _ = poll(&mut ended, Some(&ENDING));
        let status = self.lock().try_wait();
        match status {
            _ if self.killed.load(Ordering::Acquire) => LostReason::Killed,
            Ok(Some(status)) => how_it_ended(status),
            _ => {
                self.kill();
                LostReason::Protocol("it closed its socket".to_owned())
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn how_it_ended(status: ExitStatus) -> LostReason {
    match (status.signal(), status.code()) {
        (Some(signal), _) => LostReason::Signal(signal),
        (None, code) => LostReason::Exit(code.unwrap_or_default()),
    }
}
