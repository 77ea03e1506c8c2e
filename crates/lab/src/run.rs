use std::sync::Arc;

use wire::{Batch, Key, Message, PendingKind, StateDigest, StopReason, Texts};
use worker::Report;

use crate::engine::Hosted;
use crate::lab::Inner;
use crate::lookout;
use crate::plan::{Chunk, Plan};
use crate::slot::{Held, Tip};
use crate::task::{Job, StartAt, Trouble, steps};
use crate::words::told;
use crate::{Boundary, Control, Lab, LabError, MachineId, Revision, RunReport, Stop};

/// How many inputs lie between two whole digests of a line.
const DIGESTS_EVERY: u64 = movie::DIGESTS_EVERY;
/// How many workers one key may take with it, sent alone, before it counts as lost.
const LOSSES_MAX: u32 = 2;

impl Lab {
    /// Presses the keys of a batch on a machine, as far as the game takes them for what they were meant as.
    ///
    /// # Errors
    /// Refusals, with nothing changed; [`LabError::Journal`] and [`LabError::EngineFailure`], where the machine stands
    /// at its last boundary.
    pub fn run(
        &self,
        machine: MachineId,
        expected: Revision,
        batch: &Batch,
        control: &Control<'_>,
    ) -> Result<RunReport, LabError> {
        batch.check(self.0.limits().keys)?;
        let slot = self.0.slot(machine)?;
        let held = slot.take(Some(expected), self.0.limits().queue)?;
        held.check_alive()?;
        self.0.press_all(&held, batch, control)
    }

    /// Presses one key, whatever the game waits for.
    ///
    /// # Errors
    /// As [`Lab::run`].
    pub fn press(&self, machine: MachineId, expected: Revision, key: Key) -> Result<RunReport, LabError> {
        self.run(machine, expected, &Batch::forced(vec![key]), &Control::default())
    }
}

impl Inner {
    /// Presses a batch on a machine whose turn it is and that is alive.
    pub(crate) fn press_all(
        &self,
        held: &Held<'_>,
        batch: &Batch,
        control: &Control<'_>,
    ) -> Result<RunReport, LabError> {
        if let Some(lookout) = control.lookout {
            self.check_policy(lookout.policy())?;
        }
        let (revision, tip) = self.with_state(held, control)?;
        let room = tip.state.as_ref().map_or(0, |state| state.keyframe_bytes());
        self.store.check_room(room)?;
        if let Some((book, number)) = held.slot().entered() {
            book.check_room(number, &tip.line, batch.segments.iter().map(|segment| segment.keys.len()).sum())?;
        }
        if held.slot().is_fork() {
            held.slot().peeks.lines.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        let run = Run {
            lab: self,
            held,
            control,
            from: tip.line.end(),
            plan: Plan::new(batch),
            revision,
            tip,
            inputs: Vec::new(),
            messages: Vec::new(),
            truncated: false,
            texts: Texts::default(),
            turns: 0,
            workers_lost: 0,
            careful_until: 0,
        };
        let mut report = run.go()?;
        if report.snapshot.revision == revision {
            // Nothing was pressed, and the same call again is a duplicate nevertheless.
            held.renew(self.new_revision());
            report.snapshot = held.snapshot();
        }
        Ok(report)
    }

    /// The machine's tip with a state, which is made again where it was not kept.
    pub(crate) fn with_state(&self, held: &Held<'_>, control: &Control<'_>) -> Result<(Revision, Tip), LabError> {
        let (revision, mut tip) = held.slot().revised();
        if tip.state.is_none() && tip.ended.is_none() {
            let bulk = Control { cancel: control.cancel, urgency: control.urgency, ..Control::default() };
            let rebuilt = self.rebuild(&held.slot().power_on, &tip.line, &tip.messages, &bulk);
            if let Err(error @ LabError::Desync { .. }) = &rebuilt {
                held.fail(self.new_revision(), &error.to_string());
            }
            let state = rebuilt?.state;
            let state = state.ok_or_else(|| self.store.full(0))?;
            held.keep_state(Arc::clone(&state));
            tip.state = Some(state);
        }
        Ok((revision, tip))
    }
}

/// What came of a chunk: the report, where the machine is now, and the revision of that.
type Done = (Report, Tip, Revision);

/// A call that presses keys, under way.
struct Run<'a> {
    lab: &'a Inner,
    held: &'a Held<'a>,
    control: &'a Control<'a>,
    from: Boundary,
    plan: Plan,
    revision: Revision,
    tip: Tip,
    inputs: Vec<Key>,
    messages: Vec<Message>,
    truncated: bool,
    texts: Texts,
    turns: i64,
    workers_lost: u32,
    /// Until so many keys of the batch are used, inputs go one at a time, since one of them has killed a worker.
    careful_until: usize,
}

impl Run<'_> {
    fn go(mut self) -> Result<RunReport, LabError> {
        loop {
            if let Some(stop) = self.stop_before() {
                return Ok(self.report(stop));
            }
            if self.tip.state.is_none() {
                return Ok(self.report(Stop::NoRoom));
            }
            let left = self.lab.limits().inputs.saturating_sub(self.tip.line.end().0);
            let most = self.chunk_keys(left);
            // Dismissals count as inputs too, so the last inputs of a full line are counted one by one.
            let single = self.is_careful() || self.control.stop_when.is_some() || left <= most as u64;
            let pending = self.tip.frame.pending.as_ref().map(|pending| pending.kind);
            let Some(chunk) = self.plan.next(pending, most, single) else {
                let is_refused = self.plan.is_refused(&self.tip.frame);
                let stop = if is_refused { StopReason::NotAccepted } else { StopReason::Done };
                return Ok(self.report(Stop::Batch(stop)));
            };
            if left == 0 {
                return Ok(self.report(Stop::Batch(StopReason::InputLimit)));
            }
            match self.journal_room(&chunk) {
                Err(_) if !self.inputs.is_empty() => return Ok(self.report(Stop::Batch(StopReason::InputLimit))),
                result => result?,
            }
            if let Some(stop) = self.press(&chunk)? {
                return Ok(self.report(stop));
            }
        }
    }

    fn stop_before(&self) -> Option<Stop> {
        if self.tip.ended.is_some() {
            return Some(Stop::Batch(StopReason::Ended));
        }
        if self.plan.used() < self.plan.len() && self.plan.turns_spent() {
            return Some(Stop::Batch(StopReason::Turns));
        }
        self.control.is_cancelled().then_some(Stop::Cancelled)
    }

    fn is_careful(&self) -> bool {
        let used = self.plan.used();
        // What is dismissed after the last key belongs to it.
        self.careful_until > 0 && (used < self.careful_until || used == self.plan.len())
    }

    /// As many keys as go at once: so that a chunk ends where digests are due.
    fn chunk_keys(&self, left: u64) -> usize {
        let due = self.digest_due().saturating_sub(self.tip.line.end().0).max(1);
        let most = self.lab.limits().chunk_keys.max(1);
        most.min(usize::try_from(due.min(left)).unwrap_or(most)).max(1)
    }

    fn digest_due(&self) -> u64 {
        self.tip.line.last_mark().map_or(0, |mark| mark.at.0 + DIGESTS_EVERY)
    }

    /// Presses a chunk, through the loss of workers. Gives the reason to stop, if there is one.
    fn press(&mut self, chunk: &Chunk) -> Result<Option<Stop>, LabError> {
        let mut losses = 0;
        loop {
            self.write_ahead(chunk)?;
            match self.attempt(chunk) {
                Ok(report) => return self.take(chunk, report),
                Err(Trouble::Fatal(error)) => return Err(error),
                Err(Trouble::Lost(reason)) if chunk.keys.len() == 1 => {
                    losses += 1;
                    if losses >= LOSSES_MAX {
                        return self.lose(chunk, reason).map(Some);
                    }
                }
                Err(Trouble::Hung(reason)) if chunk.keys.len() == 1 => {
                    losses += if self.is_careful() { LOSSES_MAX } else { 1 };
                    if losses >= LOSSES_MAX {
                        return self.lose(chunk, reason).map(Some);
                    }
                }
                Err(Trouble::Lost(_) | Trouble::Hung(_)) => {
                    self.workers_lost += 1;
                    self.careful_until = self.plan.used() + chunk.keys.len();
                    return Ok(None);
                }
            }
            self.workers_lost += 1;
        }
    }

    fn attempt(&self, chunk: &Chunk) -> Result<Done, Trouble> {
        let parent = self.tip.state.as_ref().ok_or_else(|| Trouble::Lost("no state".to_owned()))?;
        let mut hosted = self.lab.lease(Some(parent.id()), self.control.urgency)?;
        self.held.running(true);
        let job = Job {
            from: StartAt::State(parent),
            event: None,
            batch: Some(chunk.batch.clone()),
            part: chunk.part.clone(),
            keep: Some(self.lab.store.keep_rule(Some(parent))),
            digest: self.tip.line.end().0 + chunk.keys.len() as u64 >= self.digest_due(),
        };
        let result = self.press_chunk(hosted.as_mut(), &job, chunk);
        self.held.running(false);
        let mut report = result?;
        // Before anything else is asked of the worker: what it has kept lies in its slot until then.
        let state = self.lab.keep(hosted.as_mut(), Some(parent), &report);
        if report.ended.is_some() && report.state_digest.is_none() {
            report.state_digest = end_digest(hosted.as_mut());
        }
        let (line, messages) = (self.tip.line.clone(), self.tip.messages.clone());
        drop(hosted);
        let mut tip = self.lab.tip_after(line, messages, &mut report, state);
        self.lab.leave_checkpoint(&mut tip);
        let revision = if report.inputs.is_empty() { self.revision } else { self.lab.new_revision() };
        Ok((report, tip, revision))
    }

    /// Has a worker press a chunk, or the lookout's policy in it.
    fn press_chunk(&self, hosted: &mut dyn Hosted, job: &Job<'_>, chunk: &Chunk) -> Result<Report, Trouble> {
        let Some(lookout) = self.control.lookout else { return job.run(hosted) };
        let broken = |reason: String| Trouble::Fatal(LabError::EngineFailure { reason: told(&reason), lost: None });
        let drive = lookout::drive(lookout, chunk).map_err(broken)?;
        let mut report = job.run_as(hosted, Some(drive))?;
        lookout::translate(lookout, chunk, &mut report).map_err(broken)?;
        Ok(report)
    }

    /// The report of a chunk becomes the machine's present.
    fn take(&mut self, chunk: &Chunk, done: Done) -> Result<Option<Stop>, LabError> {
        let (mut report, tip, revision) = done;
        let pressed = steps(&report);
        let mark = tip.line.last_mark().filter(|mark| mark.at == tip.line.end() && !pressed.is_empty());
        self.turns += report.turns;
        self.inputs.append(&mut report.inputs);
        self.note_messages(&mut report);
        let own = usize::try_from(report.keys_used).unwrap_or(0);
        self.plan.advance(chunk, own, report.turns, report.asked.take());
        self.tip = tip;
        if !pressed.is_empty() {
            self.revision = revision;
            self.held.publish(revision, self.tip.clone(), true);
        }
        if let Some(journal) = self.held.journal().as_mut() {
            let applied = self.inputs.len();
            journal.done(&pressed).map_err(|error| error.after_pressing(applied))?;
            if let Some(mark) = mark {
                journal.digests(&mark).map_err(|error| error.after_pressing(applied))?;
            }
        } else {
            self.held.tally(|account| account.inputs += pressed.len() as u64);
            let applied = self.inputs.len();
            self.held.tell_ledger().map_err(|error| error.after_pressing(applied))?;
        }
        self.control.report(self.plan.used() as u64, self.plan.len() as u64);
        Ok(match report.stop {
            StopReason::Done => None,
            StopReason::Policy => Some(Stop::Condition),
            stop => Some(Stop::Batch(stop)),
        }
        .or_else(|| {
            let condition = self.control.stop_when?;
            condition(&self.tip.frame).then_some(Stop::Condition)
        }))
    }

    fn note_messages(&mut self, report: &mut Report) {
        self.truncated |= report.messages_truncated;
        self.messages.append(&mut report.messages);
        let mut texts = std::mem::take(&mut report.texts);
        let was_open = self.tip.frame.pending.as_ref().is_some_and(|pending| pending.kind == PendingKind::Window);
        if was_open && texts.windows.front() == self.texts.windows.back() {
            // A further page of the text that the chunk before has told.
            texts.windows.pop_front();
        }
        self.texts.extend(texts);
        let over = self.messages.len().saturating_sub(self.lab.limits().messages);
        self.truncated |= over > 0;
        self.messages.drain(..over);
    }

    /// Refuses a chunk whose outcome might not fit into the journal.
    fn journal_room(&self, chunk: &Chunk) -> Result<(), LabError> {
        self.held.journal().as_ref().map_or(Ok(()), |journal| journal.check_room(chunk.keys.len()))
    }

    fn write_ahead(&self, chunk: &Chunk) -> Result<(), LabError> {
        let mut journal = self.held.journal();
        let Some(journal) = journal.as_mut() else {
            self.held.tally_peeks();
            return Ok(());
        };
        let ahead = journal.peek(&self.held.slot().peeks);
        let written = ahead.and_then(|()| journal.send(&chunk.keys));
        // A key that was sent before and killed its worker was not pressed.
        let sent = self.workers_lost > 0 || !self.inputs.is_empty();
        written.map_err(|error| if sent { error.after_pressing(self.inputs.len()) } else { error })
    }

    /// The chunk's one key has killed its workers: it counts as not pressed.
    fn lose(&mut self, chunk: &Chunk, reason: String) -> Result<Stop, LabError> {
        self.workers_lost += 1;
        let key = chunk.keys.first().copied().unwrap_or(Key::ESC);
        if let Some(journal) = self.held.journal().as_mut() {
            journal.lost(key).map_err(|error| error.after_pressing(self.inputs.len()))?;
        } else {
            self.held.tally(|account| account.lost += 1);
        }
        Ok(Stop::Lost { key, reason })
    }

    fn report(self, stop: Stop) -> RunReport {
        RunReport {
            from: self.from,
            inputs: self.inputs,
            keys_used: self.plan.used(),
            stop,
            turns: self.turns,
            messages: self.messages,
            messages_truncated: self.truncated,
            texts: self.texts,
            workers_lost: self.workers_lost,
            snapshot: self.held.snapshot(),
        }
    }
}

/// The state digest of an ended game, where its engine still tells it.
fn end_digest(hosted: &mut dyn Hosted) -> Option<StateDigest> {
    let job = Job { from: StartAt::Here, event: None, batch: None, part: None, keep: None, digest: true };
    job.run(hosted).ok()?.state_digest
}
