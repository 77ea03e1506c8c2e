//! The host's handle on one worker.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use machine::shared::SharedMemory;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::process::{Pid, PidfdFlags};
use wire::{COLUMNS, Frame, MAP_COLUMNS, MAP_ROWS, ROWS};

use crate::channel::{Channel, ChannelError};
use crate::protocol::{
    Hello, LostReason, PROTOCOL_VERSION, REPLY_BYTES_MAX, REQUEST_BYTES_MAX, Reply, Report, Setup, Task, TaskError,
};
use crate::silence::{LOOK_EVERY, Patience};
use crate::spawner::{SpawnError, Spawner, system};

/// How long a worker that has closed its socket may take to end by itself, so that its own reason is known.
const ENDING: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

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
            let set = set_socket_timeout(&socket, direction, Some(LOOK_EVERY));
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
            },
            lost: None,
            _spawner: spawner.clone(),
        };
        worker.greet(spawner)?;
        Ok(worker)
    }

    fn greet(&mut self, spawner: &Spawner) -> Result<(), SpawnError> {
        let [store, rom] = spawner.shared()?;
        let setup = Setup {
            output_bytes: self.output.capacity() as u64,
            store_bytes: store.as_ref().map(|(_, bytes)| *bytes),
            rom_bytes: rom.as_ref().map(|(_, bytes)| *bytes),
            key_cpu_limit_ms: spawner.options().key_cpu_limit_ms,
        };
        let mut descriptors = vec![self.output.fd()];
        descriptors.extend([&store, &rom].into_iter().flatten().map(|(descriptor, _)| descriptor.as_fd()));
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

    /// The memory into which it writes save states. It holds what the last report says until the next task.
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
        if let Some(reason) = &self.lost {
            return Err(TaskError::Lost { reason: reason.clone() });
        }
        self.patience.heard();
        match self.channel.send(task, &mut || self.patience.wait_on()) {
            Ok(()) => {}
            Err(error @ ChannelError::TooLarge { .. }) => return Err(TaskError::Refused(error.to_string())),
            // A worker that ended may have said why.
            Err(ChannelError::Closed) => {}
            Err(error) => return Err(self.lose(error)),
        }
        loop {
            match self.channel.receive(&mut || self.patience.wait_on()) {
                Ok(Reply::Busy) => self.patience.heard(),
                Ok(Reply::Done(report)) if is_sound(&report, task, self.output.capacity()) => return Ok(*report),
                Ok(Reply::Refused(reason)) => return Err(TaskError::Refused(reason)),
                Ok(Reply::Displaced(reason)) => return Err(TaskError::Displaced(reason)),
                Ok(Reply::Hung(inputs)) => {
                    self.give_up(LostReason::Hung);
                    return Err(TaskError::Hung { inputs });
                }
                Ok(Reply::Failed(reason)) => return Err(self.give_up(LostReason::Failed(reason))),
                Ok(Reply::Hello(_) | Reply::Done(_)) => return Err(self.give_up(unexpected())),
                Err(error) => return Err(self.lose(error)),
            }
        }
    }

    /// Ends the process and reaps it.
    pub fn kill(&mut self) {
        self.process.kill();
        self.lost.get_or_insert(LostReason::Killed);
    }

    pub(crate) fn process(&self) -> Arc<Process> {
        Arc::clone(&self.process)
    }

    fn lose(&mut self, error: ChannelError) -> TaskError {
        let reason = self.reason(error);
        self.give_up(reason)
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

/// Whether a report has the sizes that it must have: a worker that runs a foreign ROM may send anything.
fn is_sound(report: &Report, task: &Task, output_bytes: usize) -> bool {
    let keys = task.batch.as_ref().map_or(0, wire::Batch::len);
    report.keys_used as usize <= keys
        && report.keys_used as usize <= report.inputs.len()
        && report.checks.len() == if task.want.checks { report.inputs.len() } else { 0 }
        && report.frame.is_some() == task.want.frame
        && report.frame.as_ref().is_none_or(is_whole)
        && report.state_digest.is_some() == task.want.state_digest
        && report.state_bytes.is_none_or(|bytes| task.want.state && bytes <= output_bytes as u64)
        && report.ended.is_some() == report.pending.is_none()
}

fn is_whole(frame: &Frame) -> bool {
    let screen = &frame.screen;
    let planes = [&screen.chars, &screen.colors, &screen.attributes];
    planes.iter().all(|plane| plane.len() == ROWS * COLUMNS)
        // There is no map where the engine failed.
        && (frame.glyphs.is_empty() || frame.glyphs.len() == MAP_ROWS * MAP_COLUMNS)
        && [Some(screen.cursor), frame.hero]
            .into_iter()
            .flatten()
            .all(|cursor| usize::from(cursor.row) < ROWS && usize::from(cursor.column) < COLUMNS)
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

#[cfg(test)]
mod tests {
    use wire::{Batch, Check, EndKind, Ended, Key, PlayDigest, StopReason};

    use super::*;
    use crate::protocol::{Start, Want};

    const OUTPUT_BYTES: usize = 100;

    type Wrong = fn(&mut Report);

    /// A task that wants everything, and a report that gives it.
    fn sound() -> (Task, Report) {
        let want = Want { checks: true, frame: true, state: true, state_digest: false, messages: true };
        let batch = Some(Batch::forced(vec![Key::SPACE, Key::SPACE]));
        let task = Task { start: Start::Resident, luck: None, batch, part: None, want };
        let ended = Ended { kind: EndKind::Quit, how: None, text: String::new(), xlog: None };
        let report = Report {
            inputs: vec![Key::SPACE; 3],
            checks: vec![Check(1); 3],
            keys_used: 2,
            stop: StopReason::Ended,
            turns: 1,
            ended: Some(ended),
            pending: None,
            turn: 2,
            play: PlayDigest([0; 16]),
            state_digest: None,
            frame: Some(Frame::default()),
            messages: Vec::new(),
            messages_truncated: false,
            state_bytes: Some(OUTPUT_BYTES as u64),
        };
        (task, report)
    }

    #[test]
    fn only_reports_of_the_right_sizes_are_taken() {
        let (task, report) = sound();
        assert!(is_sound(&report, &task, OUTPUT_BYTES));
        let wrongs: [(&str, Wrong); 9] = [
            ("more keys than there were", |report| report.keys_used = 3),
            ("fewer inputs than keys", |report| report.inputs.truncate(1)),
            ("a check is missing", |report| report.checks.truncate(2)),
            ("no frame", |report| report.frame = None),
            ("an unwanted digest", |report| report.state_digest = Some(wire::StateDigest([0; 32]))),
            ("a state over the slot's end", |report| report.state_bytes = Some(OUTPUT_BYTES as u64 + 1)),
            ("neither end nor prompt", |report| report.ended = None),
            ("a short screen", |report| report.frame.as_mut().unwrap().screen.colors.truncate(9)),
            ("a cursor outside", |report| report.frame.as_mut().unwrap().screen.cursor.row = 24),
        ];
        for (name, wrong) in wrongs {
            let mut report = report.clone();
            wrong(&mut report);
            assert!(!is_sound(&report, &task, OUTPUT_BYTES), "{name}");
        }
    }
}
