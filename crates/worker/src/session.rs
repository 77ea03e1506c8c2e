//! What a worker holds, and how it does a task.

use std::os::fd::OwnedFd;

use machine::shared::SharedMemory;
use machine::{Machine, MachineError, Stop};
use rom::Rom;
use wire::{Check, EndKind, Ended, Event, Frame, Key, Message, Pending, PendingKind, StopReason};

use crate::batch::{Engine, MessageLog, Run, run_batch};
use crate::frame_bytes::pack;
use crate::keep::{Bytes, Shelves, States};
use crate::policy::{Bounds, Eye, Policy, roll_out};
use crate::protocol::{
    Drive, EDIT_REFUSED, Hello, Kept, LINES_MAX, POLICY_BYTES_MAX, PROTOCOL_VERSION, Piece, ROLLOUT_KEYS_MAX, Refusal,
    Reply, Report, Setup, Start, Task,
};

/// How much room the slot must have for the next line: the largest image with its frame.
const ROOM_BYTES: u64 = 8 << 20;
/// How long a reply may get before the rest of the lines waits for the next one. A report is at most as long again.
const LINES_BYTES_MAX: usize = 3 << 20;

/// What a worker holds.
pub(crate) struct Session {
    machine: Machine,
    states: States,
    shelves: Shelves,
    slot: Slot,
    policies: Vec<Box<dyn Policy>>,
    eye: Eye,
    /// Reused for the frames of reports.
    packed: Vec<u8>,
}

/// What came of a task that stops everything else.
enum Stopped {
    /// The last of these inputs took too long.
    Hung(Vec<Key>),
    /// The machine can't be relied on any more.
    Failed(String),
}

/// What came of one task.
enum Done {
    Report(Box<Report<Piece>>),
    Refused(Refusal),
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn refused(reason: impl std::fmt::Display, displaced: bool) -> Done {
    Done::Refused(Refusal { reason: reason.to_string(), displaced })
}

/// The output slot, filled from its start.
struct Slot {
    memory: SharedMemory,
    used: u64,
}

impl Slot {
    fn put(&mut self, bytes: &[u8]) -> Result<Piece, String> {
        let piece = Piece { offset: self.used, bytes: bytes.len() as u64 };
        self.memory.copy_in(usize::try_from(self.used).map_err(text)?, bytes).map_err(text)?;
        self.used += piece.bytes;
        Ok(piece)
    }

    fn has_room(&self) -> bool {
        self.used + ROOM_BYTES <= self.memory.capacity() as u64
    }
}

impl Session {
    /// Maps ROM and shared memory. Runs no game code.
    pub(crate) fn prepare(
        setup: &Setup,
        descriptors: Vec<OwnedFd>,
        policies: Vec<Box<dyn Policy>>,
    ) -> Result<(Self, Hello), String> {
        let mut descriptors = descriptors.into_iter();
        let mut open = |bytes: u64, writable| {
            let descriptor = descriptors.next().ok_or("a descriptor is missing")?;
            let bytes = usize::try_from(bytes).map_err(text)?;
            SharedMemory::open(descriptor, bytes, writable).map_err(text)
        };
        let output = open(setup.output_bytes, true)?;
        let memory = setup.store_bytes.map(|bytes| open(bytes, false)).transpose()?;
        let spill = setup.spill_bytes.map(|bytes| open(bytes, false)).transpose()?;
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
            policies: policies.iter().map(|policy| policy.name().to_owned()).collect(),
        };
        let session = Self {
            machine,
            states: States::default(),
            shelves: Shelves { memory, spill },
            slot: Slot { memory: output, used: 0 },
            policies,
            eye: Eye::default(),
            packed: Vec::new(),
        };
        Ok((session, hello))
    }

    /// Does tasks, as many as there is room for. An error means that the machine can't be relied on any more.
    pub(crate) fn answer(&mut self, tasks: &[Task], pressed: &mut dyn FnMut()) -> Result<Reply, String> {
        if tasks.is_empty() || tasks.len() > LINES_MAX {
            return Err(format!("a request holds {} tasks", tasks.len()));
        }
        self.slot.used = 0;
        let (mut lines, mut bytes) = (Vec::with_capacity(tasks.len()), 0);
        for task in tasks {
            if !lines.is_empty() && (bytes > LINES_BYTES_MAX || !self.slot.has_room()) {
                break;
            }
            // A policy moves the machine without a word to the caller of this, so each line says that it is alive.
            pressed();
            let line = match self.run(task, pressed) {
                Ok(Done::Report(report)) => Ok(*report),
                Ok(Done::Refused(refusal)) => Err(refusal),
                Err(Stopped::Hung(inputs)) => return Ok(Reply::Hung(inputs)),
                Err(Stopped::Failed(reason)) => return Err(reason),
            };
            bytes += line.as_ref().map_or(0, sent_bytes);
            lines.push(line);
        }
        Ok(Reply::Done(lines))
    }

    fn run(&mut self, task: &Task, pressed: &mut dyn FnMut()) -> Result<Done, Stopped> {
        if let Err(reason) = self.prepare_for(task) {
            return Ok(refused(reason, false));
        }
        if let Err(refusal) = self.start(&task.start) {
            return Ok(Done::Refused(refusal));
        }
        let replaced = task.start != Start::Resident;
        let mut log = MessageLog::default();
        if task.want.messages && matches!(task.start, Start::PowerOn(_)) {
            log.collect(&self.machine);
        }
        if let Some(event) = &task.event {
            self.states.moved();
            if let Err(error) = happen(&mut self.machine, event) {
                return Ok(refused(error, replaced));
            }
            if task.want.messages && matches!(event, Event::Edit(_)) {
                log.collect(&self.machine);
            }
        }
        let (run, outcome) = self.drive(task, &mut log, pressed).map_err(Stopped::Failed)?;
        if self.ended().is_some_and(|ended| ended.kind == EndKind::Hung) {
            return Err(Stopped::Hung(run.inputs));
        }
        if outcome.len() > POLICY_BYTES_MAX {
            return Ok(refused(format!("its policy brought back {} bytes", outcome.len()), true));
        }
        let report = self.report(task, run, log, outcome).map_err(Stopped::Failed)?;
        Ok(Done::Report(Box::new(report)))
    }

    /// Presses what is to be pressed; also gives what a policy brings back.
    fn drive(
        &mut self,
        task: &Task,
        log: &mut MessageLog,
        pressed: &mut dyn FnMut(),
    ) -> Result<(Run, Vec<u8>), String> {
        match &task.drive {
            Drive::Nothing => {
                let stop = if self.machine.has_ended() { StopReason::Ended } else { StopReason::Done };
                Ok((Run::nothing(stop), Vec::new()))
            }
            Drive::Batch { batch, part } => {
                self.states.moved();
                let run = run_batch(&mut self.machine, (batch, part.clone()), task.want, log, pressed).map_err(text)?;
                Ok((run, Vec::new()))
            }
            Drive::Policy { name, keys_max, turns_max, .. } => {
                let policy = find(&mut self.policies, name)?;
                self.states.moved();
                let bounds = Bounds { keys_max: *keys_max, turns_max: *turns_max };
                roll_out(&mut self.machine, (policy, &mut self.eye), bounds, task.want, log, pressed)
            }
        }
    }

    /// Refuses what can be seen to be impossible before anything is done, and tells a policy what it is to do.
    fn prepare_for(&mut self, task: &Task) -> Result<(), String> {
        match &task.drive {
            Drive::Nothing => {}
            Drive::Batch { batch, .. } => batch.check(wire::KEYS_MAX).map_err(text)?,
            Drive::Policy { name, arguments, keys_max, .. } => {
                if *keys_max > ROLLOUT_KEYS_MAX || arguments.len() > POLICY_BYTES_MAX {
                    return Err(format!("{keys_max} keys or {} bytes are too many for a policy", arguments.len()));
                }
                let policy = find(&mut self.policies, name)?;
                let begun = self.machine.watch(|| policy.begin(arguments));
                begun.map_err(|reason| format!("the policy {name:?} does not take its arguments: {reason}"))?;
            }
        }
        match &task.start {
            Start::Resident if self.machine.stop().is_none() => Err("no machine is resident".to_owned()),
            Start::Resident | Start::State(_) => Ok(()),
            Start::PowerOn(record) => record.check().map_err(text),
        }
    }

    fn start(&mut self, start: &Start) -> Result<(), Refusal> {
        match start {
            Start::Resident => Ok(()),
            Start::PowerOn(record) => {
                let before = self.machine.stop().is_some().then(|| self.machine.play_digest());
                self.states.forget();
                self.machine.power_on(record).map(drop).map_err(|error| {
                    let after = self.machine.stop().is_some().then(|| self.machine.play_digest());
                    Refusal { reason: text(error), displaced: before != after }
                })
            }
            Start::State(recipe) => self
                .states
                .load(&mut self.machine, &self.shelves, recipe)
                .map_err(|reason| Refusal { reason, displaced: false }),
        }
    }

    fn ended(&self) -> Option<&Ended> {
        match self.machine.stop() {
            Some(Stop::Ended(ended)) => Some(ended),
            _ => None,
        }
    }

    fn report(&mut self, task: &Task, run: Run, log: MessageLog, outcome: Vec<u8>) -> Result<Report<Piece>, String> {
        let want = task.want;
        let (messages, messages_truncated, texts) = log.into_parts();
        let kept = match want.keep {
            Some(keep) => {
                let kept = self.states.keep(&self.machine, keep).map_err(text)?;
                kept.map(|kept| put(&mut self.slot, &kept)).transpose()?
            }
            None => None,
        };
        let machine = &self.machine;
        let (pending, frame) = if want.frame {
            let pending = machine.with_frame(|bytes, pending| {
                pack(bytes, &mut self.packed);
                pending
            });
            (pending, Some(self.slot.put(&self.packed)?))
        } else {
            (machine.pending(), None)
        };
        Ok(Report {
            inputs: run.inputs,
            checks: run.checks,
            keys_used: run.keys_used,
            stop: run.stop,
            turns: run.turns,
            ended: self.ended().cloned(),
            pending,
            turn: machine.turn(),
            play: machine.play_digest(),
            state_digest: want.state_digest.then(|| machine.state_digest()),
            frame,
            messages,
            messages_truncated,
            texts,
            asked: run.asked,
            kept,
            image_bytes: machine.image_bytes() as u64,
            outcome,
            hidden: want.hidden.and_then(|part| machine.watch(|| machine.hidden(part)).ok()),
        })
    }
}

fn happen(machine: &mut Machine, event: &Event) -> Result<(), String> {
    match event {
        Event::Reseed { core, display } => machine.reseed(*core, *display).map_err(text),
        Event::Edit(edit) => match machine.edit(edit) {
            Ok(_) => Ok(()),
            Err(MachineError::EditRefused(reason)) => Err(format!("{EDIT_REFUSED}{reason}")),
            Err(error) => Err(text(error)),
        },
    }
}

fn find<'a>(policies: &'a mut [Box<dyn Policy>], name: &str) -> Result<&'a mut (dyn Policy + 'static), String> {
    let found = policies.iter_mut().find(|policy| policy.name() == name);
    found.map(AsMut::as_mut).ok_or_else(|| format!("there is no policy {name:?}"))
}

fn put(slot: &mut Slot, kept: &Bytes<'_>) -> Result<Kept, String> {
    match kept {
        Bytes::Delta(bytes) => Ok(Kept::Delta { bytes: slot.put(bytes)? }),
        Bytes::Keyframe(keyframe) => Ok(Kept::Keyframe {
            body: slot.put(&keyframe.body)?,
            blobs: keyframe.blobs.iter().map(|blob| slot.put(blob)).collect::<Result<_, _>>()?,
        }),
    }
}

/// About how many bytes a report takes on the socket, rather too many.
fn sent_bytes(report: &Report<Piece>) -> usize {
    let messages: usize = report.messages.iter().map(|message| message.text.len() + 32).sum();
    let texts: usize = report.texts.windows.iter().flatten().map(|line| line.len() + 32).sum();
    report.inputs.len() + 5 * report.checks.len() + messages + texts + report.outcome.len() + 4_096
}

fn read_rom(memory: &SharedMemory, bytes: Option<u64>) -> Result<Rom, String> {
    let bytes = bytes.filter(|bytes| *bytes <= rom::ROM_BYTES_MAX).ok_or("the ROM is too large")?;
    let bytes = usize::try_from(bytes).map_err(text)?;
    let bytes = memory.with_bytes(0, bytes, <[u8]>::to_vec).map_err(text)?;
    Rom::parse(bytes).map_err(text)
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

    fn window(&self) -> Option<Vec<String>> {
        let mut frame = Frame::default();
        self.frame_into(&mut frame);
        frame.window.map(|window| window.lines)
    }
}
