//! The worker process itself.

use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use machine::shared::SharedMemory;
use machine::{Machine, MachineError, Stop};
use rom::Rom;
use wire::{Check, EndKind, Ended, Key, Message, Pending, PendingKind, StopReason};

use crate::batch::{Engine, MessageLog, Run, run_batch};
use crate::channel::{Channel, ChannelError};
use crate::protocol::{Hello, PROTOCOL_VERSION, REPLY_BYTES_MAX, REQUEST_BYTES_MAX, Reply, Report, Setup, Start, Task};
use crate::sandbox;
use crate::silence::now;

/// How often a worker tells in a long task that it is alive.
pub(crate) const BUSY_EVERY: Duration = Duration::from_secs(1);

/// What a panic said, for the reply that tells the host of it.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// A worker's whole life: serves the host at the other end of standard input until that closes.
///
/// This must be the first and only thing that a worker process does: it closes all descriptors that it does not know,
/// and takes over the process for good. Nothing is ever written to standard output or error.
#[must_use]
pub fn worker_main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut text) = PANIC.lock() {
            *text = panic.to_string();
        }
    }));
    let Ok(channel) = open_channel() else { return ExitCode::FAILURE };
    // What a worker holds goes with its process: to take it down piece by piece, the sandbox would have to allow more.
    let channel = ManuallyDrop::new(channel);
    if guarded(&channel, || serve(&channel)) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn open_channel() -> Result<Channel, String> {
    sandbox::detach().map_err(text)?;
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map_err(text)?;
    Ok(Channel::new(socket, REPLY_BYTES_MAX, REQUEST_BYTES_MAX))
}

/// Runs the worker; what makes it end early is told to the host. True when it ended as it should.
fn guarded(channel: &Channel, serve: impl FnOnce() -> Result<(), String>) -> bool {
    let reason = match catch_unwind(AssertUnwindSafe(serve)) {
        Ok(Ok(())) => return true,
        Ok(Err(reason)) => reason,
        Err(_) => PANIC.lock().map_or_else(|_| "panic".to_owned(), |text| text.clone()),
    };
    // Where the host can't be told, it sees the end of the process.
    let _ = channel.send(&Reply::Failed(reason), &mut || true);
    false
}

fn serve(channel: &Channel) -> Result<(), String> {
    let (setup, descriptors) = match channel.receive_with::<Setup>(&mut || true) {
        Err(ChannelError::Closed) => return Ok(()),
        received => received.map_err(text)?,
    };
    let (session, hello) = Session::prepare(&setup, descriptors)?;
    let mut session = ManuallyDrop::new(session);
    let shared_bytes = setup.output_bytes.saturating_add(setup.store_bytes.unwrap_or(0));
    sandbox::enter(channel.socket(), shared_bytes).map_err(text)?;
    channel.send(&Reply::Hello(hello), &mut || true).map_err(text)?;
    loop {
        let task = match channel.receive::<Task>(&mut || true) {
            Err(ChannelError::Closed) => return Ok(()),
            received => received.map_err(text)?,
        };
        let mut said = now();
        let mut pressed = || {
            if said.elapsed() >= BUSY_EVERY {
                // A host that is gone shows when the task's reply can't be sent.
                let _ = channel.send(&Reply::Busy, &mut || true);
                said = now();
            }
        };
        let reply = session.answer(&task, &mut pressed)?;
        channel.send(&reply, &mut || true).map_err(text)?;
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// What a worker holds.
struct Session {
    machine: Machine,
    output: SharedMemory,
    store: Option<SharedMemory>,
}

impl Session {
    /// Maps ROM and shared memory. Runs no game code.
    fn prepare(setup: &Setup, descriptors: Vec<OwnedFd>) -> Result<(Self, Hello), String> {
        let mut descriptors = descriptors.into_iter();
        let mut open = |bytes: u64, writable| {
            let descriptor = descriptors.next().ok_or("a descriptor is missing")?;
            let bytes = usize::try_from(bytes).map_err(text)?;
            SharedMemory::open(descriptor, bytes, writable).map_err(text)
        };
        let output = open(setup.output_bytes, true)?;
        let store = setup.store_bytes.map(|bytes| open(bytes, false)).transpose()?;
        let foreign = setup.rom_bytes.map(|bytes| open(bytes, false)).transpose()?;
        let foreign = foreign.map(|memory| read_rom(&memory, setup.rom_bytes)).transpose()?;
        let rom = foreign.as_ref().unwrap_or_else(|| rom::built_in());
        let mut machine = Machine::open(rom).map_err(text)?;
        machine.set_key_cpu_limit(setup.key_cpu_limit_ms).map_err(text)?;
        let hello = Hello {
            protocol_version: PROTOCOL_VERSION,
            rom_id: rom.rom_id().to_owned(),
            engine_id: rom.engine_id().to_owned(),
            pid: std::process::id(),
        };
        Ok((Self { machine, output, store }, hello))
    }

    /// Does a task. An error means that the machine can't be relied on any more.
    fn answer(&mut self, task: &Task, pressed: &mut dyn FnMut()) -> Result<Reply, String> {
        if let Err(reason) = self.check(task) {
            return Ok(Reply::Refused(reason));
        }
        if let Err(reason) = self.start(&task.start) {
            return Ok(reason);
        }
        if let Some((core, display)) = task.luck
            && let Err(error) = self.machine.reseed(core, display)
        {
            let replaced = task.start != Start::Resident;
            return Ok(if replaced { Reply::Displaced(text(error)) } else { Reply::Refused(text(error)) });
        }
        let mut log = MessageLog::default();
        if task.want.messages && matches!(task.start, Start::PowerOn(_)) {
            log.collect(&self.machine);
        }
        let run = match &task.batch {
            Some(batch) => {
                run_batch(&mut self.machine, (batch, task.part), task.want, &mut log, pressed).map_err(text)?
            }
            None => Run::nothing(if self.machine.has_ended() { StopReason::Ended } else { StopReason::Done }),
        };
        if self.ended().is_some_and(|ended| ended.kind == EndKind::Hung) {
            return Ok(Reply::Hung(run.inputs));
        }
        self.report(task, run, log).map(|report| Reply::Done(Box::new(report)))
    }

    /// Refuses what can be seen to be impossible before anything is done.
    fn check(&self, task: &Task) -> Result<(), String> {
        if let Some(batch) = &task.batch {
            batch.check(wire::KEYS_MAX).map_err(text)?;
        }
        match &task.start {
            Start::Resident if self.machine.stop().is_none() => Err("no machine is resident".to_owned()),
            Start::Resident => Ok(()),
            Start::PowerOn(record) => record.check().map_err(text),
            Start::State { .. } if self.store.is_none() => Err("there is no store".to_owned()),
            Start::State { .. } => Ok(()),
        }
    }

    fn start(&mut self, start: &Start) -> Result<(), Reply> {
        let before = self.machine.stop().is_some().then(|| self.machine.play_digest());
        let started = match (start, &self.store) {
            (Start::PowerOn(record), _) => self.machine.power_on(record).map_err(text),
            (Start::State { offset, bytes }, Some(store)) => load(&mut self.machine, store, *offset, *bytes),
            _ => return Ok(()),
        };
        started.map(drop).map_err(|reason| {
            let after = self.machine.stop().is_some().then(|| self.machine.play_digest());
            if before == after { Reply::Refused(reason) } else { Reply::Displaced(reason) }
        })
    }

    fn ended(&self) -> Option<&Ended> {
        match self.machine.stop() {
            Some(Stop::Ended(ended)) => Some(ended),
            _ => None,
        }
    }

    fn report(&mut self, task: &Task, run: Run, log: MessageLog) -> Result<Report, String> {
        let want = task.want;
        let (messages, messages_truncated) = log.into_parts();
        let state_bytes = if want.state { self.save()? } else { None };
        let machine = &self.machine;
        Ok(Report {
            inputs: run.inputs,
            checks: run.checks,
            keys_used: run.keys_used,
            stop: run.stop,
            turns: run.turns,
            ended: self.ended().cloned(),
            pending: machine.pending(),
            turn: machine.turn(),
            play: machine.play_digest(),
            state_digest: want.state_digest.then(|| machine.state_digest()),
            frame: want.frame.then(|| machine.frame()),
            messages,
            messages_truncated,
            state_bytes,
        })
    }

    /// Saves into the output slot; `None` after a failure of the engine, which leaves nothing to save.
    fn save(&mut self) -> Result<Option<u64>, String> {
        let machine = &self.machine;
        let capacity = self.output.capacity();
        match self.output.with_bytes_mut(0, capacity, |slot| machine.save_image(slot)).map_err(text)? {
            Ok(bytes) => Ok(Some(bytes as u64)),
            Err(MachineError::Broken) => Ok(None),
            Err(error) => Err(text(error)),
        }
    }
}

fn read_rom(memory: &SharedMemory, bytes: Option<u64>) -> Result<Rom, String> {
    let bytes = bytes.filter(|bytes| *bytes <= rom::ROM_BYTES_MAX).ok_or("the ROM is too large")?;
    let bytes = usize::try_from(bytes).map_err(text)?;
    let bytes = memory.with_bytes(0, bytes, <[u8]>::to_vec).map_err(text)?;
    Rom::parse(bytes).map_err(text)
}

fn load(machine: &mut Machine, store: &SharedMemory, offset: u64, bytes: u64) -> Result<Stop, String> {
    let (offset, bytes) = (usize::try_from(offset).map_err(text)?, usize::try_from(bytes).map_err(text)?);
    store.with_bytes(offset, bytes, |image| machine.load_image(image)).map_err(text)?.map_err(text)
}

impl Engine for Machine {
    type Error = MachineError;

    fn press(&mut self, key: Key) -> Result<(), MachineError> {
        Self::press(self, key).map(drop)
    }

    fn has_ended(&self) -> bool {
        matches!(self.stop(), Some(Stop::Ended(_)))
    }

    fn pending_kind(&self) -> Option<PendingKind> {
        Self::pending_kind(self)
    }

    fn pending(&self) -> Option<Pending> {
        Self::pending(self)
    }

    fn turn(&self) -> i64 {
        Self::turn(self)
    }

    fn check(&self) -> Check {
        self.play_digest().check()
    }

    fn messages_into(&self, messages: &mut Vec<Message>) -> bool {
        Self::messages_into(self, messages)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    fn told(serve: impl FnOnce() -> Result<(), String>) -> (bool, Result<Reply, ChannelError>) {
        let (host, worker) = UnixStream::pair().unwrap();
        let worker = Channel::new(worker.into(), REPLY_BYTES_MAX, REQUEST_BYTES_MAX);
        let well = guarded(&worker, serve);
        drop(worker);
        (well, Channel::new(host.into(), REQUEST_BYTES_MAX, REPLY_BYTES_MAX).receive(&mut || true))
    }

    #[test]
    fn the_host_is_told_why_a_worker_ends() {
        assert_eq!(told(|| Ok(())), (true, Err(ChannelError::Closed)));
        let (well, reply) = told(|| Err("no good".to_owned()));
        assert_eq!((well, reply), (false, Ok(Reply::Failed("no good".to_owned()))));
        std::panic::set_hook(Box::new(|panic| *PANIC.lock().unwrap() = panic.to_string()));
        let (well, reply) = told(|| panic!("broken here"));
        let _ = std::panic::take_hook();
        let Ok(Reply::Failed(reason)) = reply else { panic!("{reply:?}") };
        assert!(!well && reason.contains("broken here") && reason.contains("process.rs"), "{reason}");
    }
}
