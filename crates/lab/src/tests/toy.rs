use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use wire::{
    Batch, Edit, EndKind, Ended, Event, Frame, Key, Message, OnMore, Pending, PendingKind, PlayDigest, Stage,
    StateDigest, StopReason,
};
use worker::{
    Drive, EDIT_REFUSED, Extent, Keep, Kept, LostReason, Part, Piece, Recipe, Refusal, Report, Shelf, Start, StateId,
    Task, TaskError,
};

use crate::engine::{Engine, Hosted, Identity, LazyFrame, LineReport};
use crate::store::{Arena, CopyError, StateMemory, Store};
use crate::{Lab, LabOptions, Urgency};

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

/// A policy that presses a batch until a turn: it is told the turn, the batch and the part of it that it is to press.
pub(super) const UNTIL: &str = "until-turn";

const MORE: u64 = 1;
const OVER: u64 = 2;
const BROKEN: u64 = 4;
/// Keyframes are this long; deltas have eight bytes for each number that differs, and as many to say which.
pub(super) const STATE_BYTES: usize = 300;

/// What a test does to workers.
#[derive(Default)]
pub(super) struct Faults {
    /// How many of the next tasks kill their worker.
    pub(super) deaths: AtomicU64,
    /// Every so many keys, counted over all workers, one kills its worker. 0: never.
    pub(super) death_every: AtomicU64,
    /// How many keys workers have pressed.
    pub(super) keys: AtomicU64,
    /// The key that breaks the engine. 0: none.
    pub(super) breaking_key: AtomicU64,
    /// What every task fails with, where there is something.
    pub(super) error: Mutex<Option<TaskError>>,
    /// How many more times something can be written to the spill before its disk is full.
    pub(super) spill_writes: AtomicU64,
    /// While true, tasks wait.
    pub(super) gate: Mutex<bool>,
    pub(super) opened: Condvar,
    /// How many tasks wait at the gate or have passed it.
    pub(super) arrived: AtomicU64,
    lost: AtomicU64,
}

type Bytes = Arc<Mutex<Vec<u8>>>;

struct ToyEngine {
    identity: Identity,
    memory: Bytes,
    faults: Arc<Faults>,
    idle: Mutex<Vec<ToyWorker>>,
}

#[derive(Clone, Default)]
struct ToyWorker {
    toy: Option<Toy>,
    resident: Option<StateId>,
    /// The states that it could keep another against.
    known: BTreeMap<StateId, Toy>,
    output: Vec<u8>,
}

struct Leased<'a> {
    engine: &'a ToyEngine,
    worker: Option<ToyWorker>,
}

struct ToyMemory(Bytes);

/// Memory on a disk that becomes full.
struct ToySpill {
    memory: Bytes,
    faults: Arc<Faults>,
}

/// Where the spill lies in the memory that workers see.
const SPILL_AT: u64 = 1 << 20;

/// A lab over toys. Journals go to `movies`.
pub(super) fn lab(movies: Option<&Path>, change: impl FnOnce(&mut LabOptions)) -> (Lab, Arc<Faults>) {
    lab_of("toy", "toy-rom", movies, change)
}

/// A lab over toys of another make.
pub(super) fn lab_of(
    engine_id: &str,
    rom_id: &str,
    movies: Option<&Path>,
    change: impl FnOnce(&mut LabOptions),
) -> (Lab, Arc<Faults>) {
    let mut options = LabOptions::new("none");
    options.movies = movies.map(Path::to_owned);
    change(&mut options);
    let memory = Bytes::default();
    let faults = Arc::new(Faults::default());
    let arena = Arena::new(Box::new(ToyMemory(Arc::clone(&memory))), options.limits.store_bytes);
    let spill = options.spill.is_some().then(|| {
        let spill = ToySpill { memory: Arc::clone(&memory), faults: Arc::clone(&faults) };
        Arena::new(Box::new(spill), options.limits.spill_bytes)
    });
    let store = Store::new(arena, spill);
    let engine = ToyEngine {
        identity: Identity {
            engine_id: engine_id.into(),
            rom_id: rom_id.into(),
            nethack_version: "0".into(),
            policies: vec![UNTIL.to_owned()],
        },
        memory,
        faults: Arc::clone(&faults),
        idle: Mutex::default(),
    };
    (Lab::over(options, Box::new(engine), store), faults)
}

impl StateMemory for ToyMemory {
    fn copy_in(&self, offset: u64, bytes: &[u8]) -> Result<(), CopyError> {
        let mut memory = self.0.lock().unwrap();
        let end = offset as usize + bytes.len();
        if memory.len() < end {
            memory.resize(end, 0);
        }
        memory[offset as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn copy_out(&self, offset: u64, bytes: &mut [u8]) -> Result<(), String> {
        bytes.copy_from_slice(&self.0.lock().unwrap()[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn release(&self, _: u64, _: u64) {}
}

impl StateMemory for ToySpill {
    fn copy_in(&self, offset: u64, bytes: &[u8]) -> Result<(), CopyError> {
        let left = &self.faults.spill_writes;
        left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).map_err(|_| CopyError::NoRoom)?;
        ToyMemory(Arc::clone(&self.memory)).copy_in(SPILL_AT + offset, bytes)
    }

    fn copy_out(&self, offset: u64, bytes: &mut [u8]) -> Result<(), String> {
        ToyMemory(Arc::clone(&self.memory)).copy_out(SPILL_AT + offset, bytes)
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

    /// What leads from another toy to this.
    fn delta(&self, base: &Self) -> Vec<u8> {
        let pairs = self.numbers().into_iter().zip(base.numbers()).enumerate().filter(|(_, (ours, old))| ours != old);
        pairs.flat_map(|(index, (ours, old))| [index as u64, ours ^ old]).flat_map(u64::to_le_bytes).collect()
    }

    fn after(&self, delta: &[u8]) -> Self {
        let mut numbers = self.numbers();
        for pair in delta.chunks_exact(16) {
            let (index, change) = pair.split_at(8);
            numbers[u64::from_le_bytes(index.try_into().unwrap()) as usize] ^=
                u64::from_le_bytes(change.try_into().unwrap());
        }
        let [core, display, hidden, turn, flags] = numbers;
        Self { core, display, hidden, turn, flags }
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

    fn happen(&mut self, event: Option<&Event>) -> Result<(), String> {
        match event {
            None => {}
            Some(Event::Reseed { core, display }) => (self.core, self.display) = (core.0, display.0),
            Some(Event::Edit(Edit::Remove { id: 0 })) => return Err("nobody has id 0".to_owned()),
            Some(Event::Edit(edit)) => {
                for byte in edit.to_string().bytes() {
                    self.core = self.core.wrapping_mul(31).wrapping_add(byte.into());
                    self.hidden = self.hidden.rotate_left(7) ^ self.core;
                }
            }
        }
        Ok(())
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

    fn lease(&self, resident: Option<StateId>, _: Urgency) -> Result<Box<dyn Hosted + '_>, String> {
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
    fn set_resident(&mut self, state: Option<StateId>) {
        if let Some(worker) = &mut self.worker {
            worker.resident = state;
        }
    }

    fn run(&mut self, task: &Task) -> Result<Report, TaskError> {
        if let Some(worker) = &mut self.worker {
            worker.output.clear();
        }
        self.run_one(task)
    }

    fn run_lines(&mut self, tasks: &[Task]) -> Result<Vec<Result<LineReport, Refusal>>, TaskError> {
        if let Some(worker) = &mut self.worker {
            worker.output.clear();
        }
        let lines = tasks.iter().map(|task| match self.run_one(task) {
            Ok(report) => Ok(Ok(line_report(report))),
            Err(TaskError::Refused(reason)) => Ok(Err(Refusal { reason, displaced: false })),
            Err(TaskError::Displaced(reason)) => Ok(Err(Refusal { reason, displaced: true })),
            Err(error) => Err(error),
        });
        lines.collect()
    }

    fn output(&mut self, bytes: u64, read: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let worker = self.worker.as_ref().ok_or("gone")?;
        read(worker.output.get(..bytes as usize).ok_or("short")?);
        Ok(())
    }
}

impl Leased<'_> {
    fn run_one(&mut self, task: &Task) -> Result<Report, TaskError> {
        let faults = &self.engine.faults;
        faults.arrived.fetch_add(1, Ordering::SeqCst);
        let gate = faults.gate.lock().unwrap();
        drop(faults.opened.wait_while(gate, |shut| *shut).unwrap());
        let dies = faults.deaths.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok();
        let error = faults.error.lock().unwrap().clone();
        let result = if dies { Err(killed()) } else { error.map_or_else(|| self.work(task), Err) };
        if let Err(TaskError::Lost { .. }) = &result {
            faults.lost.fetch_add(1, Ordering::Relaxed);
            self.worker = None;
        }
        result
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
            Start::State(recipe) => {
                let memory = self.engine.memory.lock().unwrap();
                load(&memory, recipe, &mut worker.known).map_err(TaskError::Refused)?
            }
        };
        toy.happen(task.event.as_ref()).map_err(|reason| TaskError::Refused(format!("{EDIT_REFUSED}{reason}")))?;
        let mut report = report(&toy);
        let turn = toy.turn;
        press_all(&mut toy, task, &mut report, &self.engine.faults)?;
        worker.toy = Some(toy);
        report.kept = task.want.keep.filter(|_| !toy.over()).map(|keep| worker.keep(&toy, keep));
        report.image_bytes = STATE_BYTES as u64;
        report.turns = (toy.turn - turn) as i64;
        report.play = toy.play();
        report.frame = Some(toy.frame(false));
        report.pending = toy.frame(true).pending;
        report.state_digest = task.want.state_digest.then(|| digest(&toy));
        report.ended = toy.over().then(|| toy.ended());
        Ok(report)
    }
}

impl ToyWorker {
    /// Puts a state behind what the output slot holds.
    fn keep(&mut self, toy: &Toy, keep: Keep) -> Kept {
        let base = keep.against.and_then(|id| Some((id, self.known.get(&id)?)));
        let delta = base.map(|(id, base)| (id, toy.delta(base)));
        let (id, bytes, whole) = match delta.filter(|(_, delta)| delta.len() as u64 <= keep.delta_bytes_max) {
            Some((base, delta)) => (StateId::of_delta(base, &delta), delta, false),
            None => (StateId::of_keyframe(&toy.bytes(), []), toy.bytes(), true),
        };
        let piece = Piece { offset: self.output.len() as u64, bytes: bytes.len() as u64 };
        self.output.extend(bytes);
        self.known.insert(id, *toy);
        if whole { Kept::Keyframe { body: piece, blobs: Vec::new() } } else { Kept::Delta { bytes: piece } }
    }
}

/// Makes a state as its recipe says, and checks that each step is what its name says.
fn load(memory: &[u8], recipe: &Recipe, known: &mut BTreeMap<StateId, Toy>) -> Result<Toy, String> {
    let read = |extent: &Extent| {
        let start = extent.offset + if extent.shelf == Shelf::Spill { SPILL_AT } else { 0 };
        memory.get(start as usize..(start + extent.bytes) as usize).ok_or("beyond the store")
    };
    let body = read(&recipe.keyframe.body)?;
    let mut id = StateId::of_keyframe(body, []);
    if id != recipe.keyframe.id || body.len() != STATE_BYTES {
        return Err("no such keyframe".to_owned());
    }
    let mut toy = Toy::from_bytes(body);
    known.insert(id, toy);
    for delta in &recipe.deltas {
        let bytes = read(&delta.bytes)?;
        id = StateId::of_delta(id, bytes);
        if id != delta.id {
            return Err("no such delta".to_owned());
        }
        toy = toy.after(bytes);
    }
    known.insert(id, toy);
    Ok(toy)
}

fn line_report(mut report: Report) -> LineReport {
    let frame = report.frame.take().map(|frame| LazyFrame::Whole(Box::new(frame)));
    report.with_frame(frame)
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
        texts: wire::Texts::default(),
        asked: None,
        kept: None,
        image_bytes: 0,
        outcome: Vec::new(),
        hidden: None,
    }
}

/// What a worker does with a batch, so far as the toy has the prompts for it.
fn press_all(toy: &mut Toy, task: &Task, report: &mut Report, faults: &Faults) -> Result<(), TaskError> {
    let told = match &task.drive {
        Drive::Nothing => return Ok(()),
        Drive::Batch { batch, part } => (u64::MAX, batch.clone(), part.clone()),
        Drive::Policy { arguments, .. } => serde_json::from_slice(arguments).unwrap(),
    };
    press_until(toy, &told, report, faults)?;
    if matches!(task.drive, Drive::Policy { .. }) {
        report.outcome = serde_json::to_vec(&(report.keys_used, report.stop, toy.turn >= told.0)).unwrap();
        report.keys_used = report.inputs.len() as u32;
        report.stop = if toy.over() { StopReason::Ended } else { StopReason::Policy };
    }
    Ok(())
}

fn press_until(
    toy: &mut Toy,
    (until, batch, part): &(u64, Batch, Option<Part>),
    report: &mut Report,
    faults: &Faults,
) -> Result<(), TaskError> {
    let until = *until;
    let keys: Vec<Key> = batch.segments.iter().flat_map(|segment| segment.keys.clone()).collect();
    let (from, count) = part.as_ref().map_or((0, keys.len()), |part| (part.from as usize, part.count as usize));
    let end = (from + count).min(keys.len());
    for &key in &keys[from..end] {
        dismiss(toy, batch.on_more, report);
        if toy.turn >= until {
            return Ok(());
        }
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
        if toy.turn >= until {
            return Ok(());
        }
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
