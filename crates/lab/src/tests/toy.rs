use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use wire::{
    EndKind, Ended, Frame, Key, Message, OnMore, Pending, PendingKind, PlayDigest, Stage, StateDigest, StopReason,
};
use worker::{LostReason, Report, Start, Task, TaskError};

use crate::engine::{Engine, Hosted, Identity};
use crate::store::{StateMemory, Store};
use crate::{Lab, LabOptions, Revision, Urgency};

/// A machine of five numbers. Lower-case letters mix the generators and take a turn, `M` raises a `--More--`, `Q` ends
/// the game, `X` kills its worker, `L` only looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Toy {
    core: u64,
    display: u64,
    hidden: u64,
    turn: u64,
    flags: u64,
}

const MORE: u64 = 1;
const OVER: u64 = 2;
const BROKEN: u64 = 4;
/// States are this long, so that each takes a page of its own.
pub(super) const STATE_BYTES: usize = 300;

/// What a test does to workers.
#[derive(Default)]
pub(super) struct Faults {
    /// How many of the next tasks kill their worker.
    pub(super) deaths: AtomicU64,
    /// Every so many keys, counted over all workers, one kills its worker. 0: never.
    pub(super) death_every: AtomicU64,
    keys: AtomicU64,
    /// The key that breaks the engine. 0: none.
    pub(super) breaking_key: AtomicU64,
    /// While true, tasks wait.
    pub(super) gate: Mutex<bool>,
    pub(super) opened: Condvar,
    /// How many tasks wait at the gate or have passed it.
    pub(super) arrived: AtomicU64,
    lost: AtomicU64,
}

type Bytes = Arc<Mutex<BTreeMap<u64, Vec<u8>>>>;

struct ToyEngine {
    identity: Identity,
    memory: Bytes,
    faults: Arc<Faults>,
    idle: Mutex<Vec<ToyWorker>>,
}

#[derive(Clone, Default)]
struct ToyWorker {
    toy: Option<Toy>,
    resident: Option<Revision>,
    output: Vec<u8>,
}

struct Leased<'a> {
    engine: &'a ToyEngine,
    worker: Option<ToyWorker>,
}

struct ToyMemory(Bytes);

/// A lab over toys. Journals go to `movies`.
pub(super) fn lab(movies: Option<&Path>, change: impl FnOnce(&mut LabOptions)) -> (Lab, Arc<Faults>) {
    let mut options = LabOptions::new("none");
    options.movies = movies.map(Path::to_owned);
    change(&mut options);
    let memory = Bytes::default();
    let faults = Arc::new(Faults::default());
    let store = Store::new(Box::new(ToyMemory(Arc::clone(&memory))), options.limits.store_bytes);
    let engine = ToyEngine {
        identity: Identity { engine_id: "toy".into(), rom_id: "toy-rom".into(), nethack_version: "0".into() },
        memory,
        faults: Arc::clone(&faults),
        idle: Mutex::default(),
    };
    (Lab::over(options, Box::new(engine), store), faults)
}

impl StateMemory for ToyMemory {
    fn copy_in(&self, offset: u64, bytes: &[u8]) -> Result<(), String> {
        self.0.lock().unwrap().insert(offset, bytes.to_vec());
        Ok(())
    }

    fn release(&self, _: u64, _: u64) {}
}

impl Toy {
    fn numbers(&self) -> [u64; 5] {
        [self.core, self.display, self.hidden, self.turn, self.flags]
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let mut numbers = bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap()));
        let mut next = || numbers.next().unwrap();
        Self { core: next(), display: next(), hidden: next(), turn: next(), flags: next() }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.numbers().iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.resize(STATE_BYTES, 0);
        bytes
    }

    fn press(&mut self, Key(byte): Key) {
        if self.flags & MORE != 0 {
            self.flags &= !MORE;
            return;
        }
        match byte {
            b'M' => self.flags |= MORE,
            b'Q' => self.flags |= OVER,
            b'a'..=b'z' => {
                self.core = self.core.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(u64::from(byte));
                self.hidden = self.hidden.rotate_left(5) ^ (self.core >> 40) ^ u64::from(byte);
                self.turn += 1;
            }
            _ => {}
        }
    }

    fn ended(&self) -> Ended {
        if self.flags & BROKEN != 0 {
            return Ended { kind: EndKind::Crashed, how: None, text: "SIGSEGV".into(), xlog: None };
        }
        Ended { kind: EndKind::Quit, how: Some(11), text: "quit".into(), xlog: None }
    }

    fn over(&self) -> bool {
        self.flags & OVER != 0
    }

    fn play(&self) -> PlayDigest {
        let mut seen = (self.hidden >> 60).to_le_bytes().to_vec();
        seen.extend(self.core.to_le_bytes());
        seen.extend(self.display.to_le_bytes());
        PlayDigest(wire::play_digest([&seen, &[], &[]], [0, 0], self.flags as u8, self.turn as i64, &[]).0)
    }

    fn frame(&self, quiet: bool) -> Frame {
        let mut frame = Frame { turn: self.turn as i64, ..Frame::default() };
        // What chance has done shows only now and then, so that other luck looks the same for a while.
        for (cell, byte) in frame.screen.chars.iter_mut().zip((self.hidden >> 60).to_string().bytes()) {
            *cell = byte;
        }
        let kind = if self.flags & MORE != 0 { PendingKind::More } else { PendingKind::Command };
        frame.pending = (!self.over()).then(|| Pending {
            kind,
            stage: Stage::Play,
            prompt: String::new(),
            answers: String::new(),
            default: None,
            capacity: None,
            typed: String::new(),
        });
        if !quiet {
            frame.messages.push(self.message());
        }
        frame
    }

    fn message(&self) -> Message {
        Message { id: self.turn + 1, turn: self.turn as i64, text: format!("{:x}", self.hidden & 0xfff), shown: true }
    }
}

impl Engine for ToyEngine {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn lease(&self, resident: Option<Revision>, _: Urgency) -> Result<Box<dyn Hosted + '_>, String> {
        let mut idle = self.idle.lock().unwrap();
        let preferred = idle.iter().position(|worker| worker.resident == resident && resident.is_some());
        let worker = match preferred {
            Some(index) => idle.swap_remove(index),
            None => idle.pop().unwrap_or_default(),
        };
        Ok(Box::new(Leased { engine: self, worker: Some(worker) }))
    }

    fn workers(&self) -> usize {
        4
    }

    fn workers_lost(&self) -> u64 {
        self.faults.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Leased<'_> {
    fn drop(&mut self) {
        self.engine.idle.lock().unwrap().extend(self.worker.take());
    }
}

impl Hosted for Leased<'_> {
    fn resident(&self) -> Option<Revision> {
        self.worker.as_ref()?.resident
    }

    fn set_resident(&mut self, revision: Option<Revision>) {
        if let Some(worker) = &mut self.worker {
            worker.resident = revision;
        }
    }

    fn run(&mut self, task: &Task) -> Result<Report, TaskError> {
        let faults = &self.engine.faults;
        faults.arrived.fetch_add(1, Ordering::SeqCst);
        let gate = faults.gate.lock().unwrap();
        drop(faults.opened.wait_while(gate, |shut| *shut).unwrap());
        let dies = faults.deaths.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok();
        let result = if dies { Err(killed()) } else { self.work(task) };
        if let Err(TaskError::Lost { .. }) = &result {
            faults.lost.fetch_add(1, Ordering::Relaxed);
            self.worker = None;
        }
        result
    }

    fn output(&mut self, bytes: u64, read: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let worker = self.worker.as_ref().ok_or("gone")?;
        read(worker.output.get(..bytes as usize).ok_or("short")?);
        Ok(())
    }
}

fn killed() -> TaskError {
    TaskError::Lost { reason: LostReason::Signal(9) }
}

impl Leased<'_> {
    fn work(&mut self, task: &Task) -> Result<Report, TaskError> {
        let refused = |reason: &str| TaskError::Refused(reason.to_owned());
        let worker = self.worker.as_mut().ok_or_else(killed)?;
        let mut toy = match &task.start {
            Start::Resident => worker.toy.ok_or_else(|| refused("nothing resident"))?,
            Start::PowerOn(record) => {
                Toy { core: record.core_seed.0, display: record.display_seed.0, ..Toy::default() }
            }
            Start::State { offset, bytes } => {
                let memory = self.engine.memory.lock().unwrap();
                let state = memory.get(offset).filter(|state| state.len() as u64 == *bytes);
                Toy::from_bytes(state.ok_or_else(|| refused("no such state"))?)
            }
        };
        if let Some((core, display)) = task.luck {
            (toy.core, toy.display) = (core.0, display.0);
        }
        let mut report = report(&toy);
        let turn = toy.turn;
        press_all(&mut toy, task, &mut report, &self.engine.faults)?;
        worker.toy = Some(toy);
        worker.output = toy.bytes();
        report.turns = (toy.turn - turn) as i64;
        report.play = toy.play();
        report.frame = Some(toy.frame(false));
        report.pending = toy.frame(true).pending;
        report.state_bytes = (task.want.state && !toy.over()).then_some(STATE_BYTES as u64);
        report.state_digest = task.want.state_digest.then(|| digest(&toy));
        report.ended = toy.over().then(|| toy.ended());
        Ok(report)
    }
}

fn digest(toy: &Toy) -> StateDigest {
    let mut bytes = [0; 32];
    for (place, byte) in
        bytes.iter_mut().zip(toy.numbers().iter().flat_map(|number| number.to_be_bytes().into_iter().rev().take(6)))
    {
        *place = byte;
    }
    StateDigest(bytes)
}

fn report(toy: &Toy) -> Report {
    Report {
        inputs: Vec::new(),
        checks: Vec::new(),
        keys_used: 0,
        stop: StopReason::Done,
        turns: 0,
        ended: None,
        pending: None,
        turn: 0,
        play: toy.play(),
        state_digest: None,
        frame: None,
        messages: Vec::new(),
        messages_truncated: false,
        state_bytes: None,
    }
}

/// What a worker does with a batch, so far as the toy has the prompts for it.
fn press_all(toy: &mut Toy, task: &Task, report: &mut Report, faults: &Faults) -> Result<(), TaskError> {
    let Some(batch) = &task.batch else { return Ok(()) };
    let keys: Vec<Key> = batch.segments.iter().flat_map(|segment| segment.keys.clone()).collect();
    let (from, count) = task.part.map_or((0, keys.len()), |part| (part.from as usize, part.count as usize));
    let end = (from + count).min(keys.len());
    for &key in &keys[from..end] {
        dismiss(toy, batch.on_more, report);
        report.stop = match () {
            () if toy.over() => StopReason::Ended,
            () if batch.turns_max.is_some_and(|max| report.messages.len() as u64 >= max) => StopReason::Turns,
            () if !batch.force && toy.flags & MORE != 0 => StopReason::NotAccepted,
            () => StopReason::Done,
        };
        if report.stop != StopReason::Done {
            return Ok(());
        }
        let every = faults.death_every.load(Ordering::SeqCst);
        let number = faults.keys.fetch_add(1, Ordering::SeqCst) + 1;
        if key == Key(b'X') || (every > 0 && number.is_multiple_of(every)) {
            return Err(killed());
        }
        if u64::from(key.0) == faults.breaking_key.load(Ordering::SeqCst) {
            toy.flags |= OVER | BROKEN;
        }
        input(toy, key, report);
        report.keys_used += 1;
    }
    if end == keys.len() {
        dismiss(toy, batch.on_more, report);
    }
    if toy.over() {
        report.stop = StopReason::Ended;
    }
    Ok(())
}

fn dismiss(toy: &mut Toy, on_more: OnMore, report: &mut Report) {
    while on_more == OnMore::Dismiss && toy.flags & MORE != 0 {
        input(toy, Key::ENTER, report);
    }
}

fn input(toy: &mut Toy, key: Key, report: &mut Report) {
    let turn = toy.turn;
    toy.press(key);
    report.inputs.push(key);
    report.checks.push(toy.play().check());
    if toy.turn > turn {
        report.messages.push(toy.message());
    }
}
