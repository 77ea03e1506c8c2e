use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use wire::Event;
use worker::{Kept, Piece, Refusal, Start, StateId, Task, TaskError, Want};

use super::groups::{Load, groups};
use super::{Drive, LineStop, Tried, Try};
use crate::engine::{Hosted, LineReport};
use crate::lab::Inner;
use crate::task::Trouble;
use crate::{Cancel, Control, LabError, State, Step, Urgency};

/// How many workers a line may take with it, tried alone, before it counts as lost.
const LOSSES_MAX: u32 = 2;

/// Those who try the lines of one call: as many threads as there are workers for it, each with one group at a time.
pub(super) struct Crew<'a> {
    lab: &'a Inner,
    tries: &'a [Try],
    groups: Vec<Range<usize>>,
    cancel: Option<&'a Cancel>,
    /// The next group that nobody has taken.
    next: AtomicUsize,
    /// How many lines are done.
    done: AtomicU64,
    results: Vec<OnceLock<Vec<Tried>>>,
    failure: Mutex<Option<LabError>>,
}

/// What came of a group.
enum Outcome {
    /// The results of its first lines; at least one.
    Done(Vec<Tried>),
    /// The worker was lost, with all that it had done.
    Lost { reason: String, hung: bool },
    /// The worker refused all of it.
    Refused(String),
    /// The call is to stop.
    Stopped,
}

impl<'a> Crew<'a> {
    pub(super) fn new(lab: &'a Inner, tries: &'a [Try], cancel: Option<&'a Cancel>) -> Self {
        let loads: Vec<Load> = tries.iter().map(Load::of).collect();
        let groups = groups(&loads, lab.bulk_workers());
        let results = groups.iter().map(|_| OnceLock::new()).collect();
        Self {
            lab,
            tries,
            groups,
            cancel,
            next: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            results,
            failure: Mutex::new(None),
        }
    }

    /// Tries all lines. Progress is told on the calling thread, which works along.
    pub(super) fn run(self, control: &Control<'_>) -> Result<Vec<Tried>, LabError> {
        let total = self.tries.len() as u64;
        let helpers = self.lab.bulk_workers().min(self.groups.len()).saturating_sub(1);
        std::thread::scope(|scope| {
            for helper in 1..=helpers {
                let crew = &self;
                scope.spawn(move || crew.work(seat(helper), &mut |_| {}));
            }
            self.work(seat(0), &mut |done| control.report(done, total));
        });
        if let Some(failure) = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(failure);
        }
        control.report(self.done.into_inner(), total);
        let mut all = Vec::with_capacity(self.tries.len());
        for (group, results) in self.groups.iter().zip(self.results) {
            let untried = || group.clone().map(|_| Tried::untried(LineStop::Cancelled)).collect();
            all.extend(results.into_inner().unwrap_or_else(untried));
        }
        Ok(all)
    }

    /// Takes one group after the other until there is none, or the call is to stop.
    fn work(&self, seat: StateId, after: &mut dyn FnMut(u64)) {
        while !self.is_stopped() {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let (Some(group), Some(place)) = (self.groups.get(index), self.results.get(index)) else { return };
            match self.group(seat, group.clone()) {
                Ok(results) => {
                    let lines = results.iter().filter(|tried| tried.stop != LineStop::Cancelled).count() as u64;
                    let done = self.done.fetch_add(lines, Ordering::Relaxed) + lines;
                    // Nobody else has this index.
                    let _ = place.set(results);
                    after(done);
                }
                Err(error) => {
                    self.failure().get_or_insert(error);
                    return;
                }
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.cancel.is_some_and(Cancel::is_cancelled) || self.failure().is_some()
    }

    fn failure(&self) -> std::sync::MutexGuard<'_, Option<LabError>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All results of a group, through the loss of workers.
    fn group(&self, seat: StateId, group: Range<usize>) -> Result<Vec<Tried>, LabError> {
        let lines = self.tries.get(group).unwrap_or_default();
        let mut results = Vec::with_capacity(lines.len());
        while let Some(rest) = lines.get(results.len()..).filter(|rest| !rest.is_empty()) {
            match self.attempt(seat, rest)? {
                Outcome::Done(some) => results.extend(some),
                Outcome::Stopped => results.extend(rest.iter().map(|_| Tried::untried(LineStop::Cancelled))),
                Outcome::Lost { reason, hung: true } if rest.len() == 1 => {
                    results.push(Tried::untried(LineStop::Lost { reason }));
                }
                // One of the lines may be to blame: from here on each goes alone.
                Outcome::Lost { .. } | Outcome::Refused(_) => {
                    for line in rest {
                        results.push(self.alone(seat, line)?);
                    }
                }
            }
        }
        Ok(results)
    }

    /// The result of a line that is tried alone.
    fn alone(&self, seat: StateId, line: &Try) -> Result<Tried, LabError> {
        let mut losses = 0;
        loop {
            match self.attempt(seat, std::slice::from_ref(line))? {
                Outcome::Done(results) => {
                    let lost = || Tried::untried(LineStop::Lost { reason: "the worker told nothing of it".to_owned() });
                    return Ok(results.into_iter().next().unwrap_or_else(lost));
                }
                Outcome::Stopped => return Ok(Tried::untried(LineStop::Cancelled)),
                Outcome::Refused(reason) => return Ok(Tried::untried(LineStop::Refused { reason })),
                Outcome::Lost { reason, hung } => {
                    losses += if hung { LOSSES_MAX } else { 1 };
                    if losses >= LOSSES_MAX {
                        return Ok(Tried::untried(LineStop::Lost { reason }));
                    }
                }
            }
        }
    }

    /// Sends lines to a worker, once.
    fn attempt(&self, seat: StateId, lines: &[Try]) -> Result<Outcome, LabError> {
        let tasks: Vec<Task> = lines.iter().map(|line| self.task(line)).collect();
        let stop = || self.is_stopped();
        let leased = self.lab.lease_unless(Some(seat), Urgency::Bulk, &stop).map_err(Trouble::into_error)?;
        // Whoever had the worker before may have had it for long.
        let Some(mut hosted) = leased.filter(|_| !stop()) else { return Ok(Outcome::Stopped) };
        let done = hosted.run_lines_unless(&tasks, &stop);
        hosted.set_resident(Some(seat));
        match done {
            Err(_) if self.is_stopped() => Ok(Outcome::Stopped),
            Ok(reports) if reports.is_empty() || reports.len() > lines.len() => {
                Ok(Outcome::Lost { reason: "a worker told of other lines than it was given".to_owned(), hung: false })
            }
            Ok(reports) => self.results(hosted, lines, reports).map(Outcome::Done),
            Err(TaskError::Lost { reason }) => Ok(Outcome::Lost { reason: reason.to_string(), hung: false }),
            Err(error @ TaskError::Hung { .. }) => Ok(Outcome::Lost { reason: error.to_string(), hung: true }),
            Err(error) => Ok(Outcome::Refused(error.to_string())),
        }
    }

    fn task(&self, line: &Try) -> Task {
        let drive = match &line.drive {
            Drive::Keys(batch) if batch.is_empty() => worker::Drive::Nothing,
            Drive::Keys(batch) => worker::Drive::Batch { batch: batch.clone(), part: None },
            Drive::Policy { name, arguments, keys_max, turns_max } => worker::Drive::Policy {
                name: name.clone(),
                arguments: arguments.clone(),
                keys_max: *keys_max,
                turns_max: *turns_max,
            },
        };
        let keep = line.keep && !line.stands_still();
        let kept = line.from.kept();
        Task {
            start: Start::State(kept.recipe()),
            event: line.seeds().map(|(core, display)| Event::Reseed { core, display }),
            drive,
            want: Want {
                checks: keep,
                frame: line.frame,
                keep: keep.then(|| self.lab.store.keep_rule(Some(kept))),
                state_digest: false,
                messages: line.messages,
                hidden: None,
            },
        }
    }

    /// What the reports say, with the states that they have left in the worker's output slot.
    fn results(
        &self,
        mut hosted: Box<dyn Hosted + '_>,
        lines: &[Try],
        reports: Vec<Result<LineReport, Refusal>>,
    ) -> Result<Vec<Tried>, LabError> {
        let end = reports.iter().flatten().filter_map(|report| report.kept.as_ref()).map(slot_end).max();
        let mut pairs = Some(lines.iter().zip(reports));
        let mut results = Ok(Vec::new());
        let mut read = |slot: &[u8]| {
            let pairs = pairs.take().into_iter().flatten();
            results = pairs.map(|(line, report)| self.result(line, report, slot)).collect();
        };
        match end {
            Some(end) => {
                let read = hosted.output(end, &mut read);
                read.map_err(|reason| LabError::EngineFailure { reason, lost: None })?;
            }
            None => {
                // Nothing of it is needed any more; somebody else may have it.
                drop(hosted);
                read(&[]);
            }
        }
        results
    }

    fn result(&self, line: &Try, report: Result<LineReport, Refusal>, slot: &[u8]) -> Result<Tried, LabError> {
        let report = match report {
            Ok(report) => report,
            Err(refusal) => return Ok(Tried::untried(LineStop::Refused { reason: refusal.reason })),
        };
        let (state, no_room) = match self.state_after(line, &report, slot) {
            Err(LabError::LimitExceeded { .. }) => (None, true),
            state => (state?, false),
        };
        let mut messages = report.messages;
        let over = messages.len().saturating_sub(self.lab.limits().messages);
        messages.drain(..over);
        Ok(Tried {
            inputs: report.inputs,
            keys_used: report.keys_used as usize,
            stop: LineStop::Line(report.stop),
            turns: report.turns,
            turn: report.turn,
            ended: report.ended,
            pending: report.pending,
            play: report.play,
            outcome: report.outcome,
            state,
            no_room,
            messages,
            messages_truncated: report.messages_truncated || over > 0,
            texts: report.texts,
            frame: report.frame,
        })
    }

    /// The state that a line has led to, where it is to be kept and can be.
    fn state_after(&self, line: &Try, report: &LineReport, slot: &[u8]) -> Result<Option<State>, LabError> {
        if !line.keep {
            return Ok(None);
        }
        let luck = line.seeds();
        if report.inputs.is_empty() && luck.is_none() {
            return Ok(Some(line.from.clone()));
        }
        let Some(kept) = report.kept.as_ref().filter(|_| report.checks.len() == report.inputs.len()) else {
            return Ok(None);
        };
        let kept = self.lab.store.put(Some(line.from.kept()), kept, report.image_bytes, slot)?;
        let steps = report.inputs.iter().zip(&report.checks).map(|(&key, &check)| Step { key, check }).collect();
        Ok(Some(line.from.after(kept, luck, steps, report.ended.clone())))
    }
}

/// What stands for no state: by it a thread finds the worker that it had last, whose memory is still in a cache.
fn seat(thread: usize) -> StateId {
    let mut id = [0xff; 16];
    let (number, _) = id.split_at_mut(8);
    number.copy_from_slice(&(thread as u64).to_le_bytes());
    StateId(id)
}

/// How far into the output slot a kept state reaches.
fn slot_end(kept: &Kept) -> u64 {
    let end = |piece: &Piece| piece.offset.saturating_add(piece.bytes);
    match kept {
        Kept::Keyframe { body, blobs } => blobs.iter().chain([body]).map(end).max().unwrap_or(0),
        Kept::Delta { bytes } => end(bytes),
    }
}
