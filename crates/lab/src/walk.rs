use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use wire::{Batch, Boundary, EndKind, Frame};
use worker::{Drive, Start, Task, TaskError, Want};

use crate::engine::{Hosted, LineReport};
use crate::lab::Inner;
use crate::line::Leg;
use crate::slot::{Slot, Tip};
use crate::task::{TRIES, Trouble};
use crate::{Control, Lab, LabError, MachineId, Step};

/// How many frames come with one message. A call that is to stop goes on for so many.
const FRAMES: usize = 64;

/// Called with each frame in order; a break ends the walk.
type Look<'a> = &'a mut dyn FnMut(Boundary, &Frame) -> ControlFlow<()>;

impl Lab {
    /// Shows the frames of a machine's line, one for each boundary of `span` in order, made again by replay. They come
    /// from one worker some at a time and are not kept, so that a long line takes no more memory than a short one. A
    /// break ends it. The machine may go on meanwhile: the line is what it was when the call came.
    ///
    /// # Errors
    /// [`LabError::NoBoundary`], [`LabError::Cancelled`], [`LabError::Desync`] when the line does not replay; engine
    /// failures.
    pub fn walk(
        &self,
        machine: MachineId,
        span: RangeInclusive<Boundary>,
        control: &Control<'_>,
        look: Look<'_>,
    ) -> Result<(), LabError> {
        let slot = self.0.slot(machine)?;
        let tip = slot.tip();
        self.walk_line(slot, tip, span, control, look)
    }

    /// Shows the frames of the line that leads to a tip of this machine.
    pub(crate) fn walk_line(
        &self,
        slot: Arc<Slot>,
        tip: Tip,
        span: RangeInclusive<Boundary>,
        control: &Control<'_>,
        look: Look<'_>,
    ) -> Result<(), LabError> {
        let lab = &self.0;
        let machine = slot.id;
        let (from, to) = span.into_inner();
        let last = tip.line.end();
        if let Some(given) = [from, to].into_iter().find(|at| *at > last) {
            return Err(LabError::NoBoundary { machine, given, last });
        }
        let mut walk = Walk { lab, slot, tip, from, to, next: from, control, look };
        let mut losses = 0;
        loop {
            let before = walk.next;
            match walk.go() {
                // Whoever got further than where it stood has shown that it is not the line that kills workers.
                Err(Trouble::Lost(_)) if walk.next > before.next() => losses = 0,
                Err(Trouble::Lost(_)) if losses + 1 < TRIES => losses += 1,
                Err(trouble) => return Err(trouble.into_error()),
                Ok(_) => return Ok(()),
            }
        }
    }
}

/// A walk, through the loss of workers.
struct Walk<'a> {
    lab: &'a Inner,
    slot: Arc<Slot>,
    tip: Tip,
    from: Boundary,
    to: Boundary,
    /// The next boundary to be shown.
    next: Boundary,
    control: &'a Control<'a>,
    look: Look<'a>,
}

impl Walk<'_> {
    /// Goes on with one worker, from the next boundary to the end.
    fn go(&mut self) -> Result<ControlFlow<()>, Trouble> {
        if self.next > self.to {
            return Ok(ControlFlow::Continue(()));
        }
        let tip = self.stand_at(self.next).map_err(Trouble::Fatal)?;
        let from = self.next;
        if self.show(&tip.frame).is_break() || from == self.to {
            return Ok(ControlFlow::Break(()));
        }
        let state = tip.state.as_ref().ok_or_else(|| Trouble::Fatal(self.lab.store.full(0)))?;
        let legs = self.tip.line.prefix(self.to).legs(from, false, FRAMES);
        let mut hosted = self.lab.lease(Some(state.id()), self.control.urgency)?;
        hosted.set_resident(None);
        let mut start = Start::State(state.recipe());
        for leg in legs {
            if self.control.is_cancelled() {
                return Err(Trouble::Fatal(LabError::Cancelled));
            }
            if self.leg(hosted.as_mut(), &leg, &mut start)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.control.report(self.next.0 - 1 - self.from.0, self.to.0 - self.from.0);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The machine at a boundary of its line.
    fn stand_at(&self, at: Boundary) -> Result<Tip, LabError> {
        let tip = &self.tip;
        if at == tip.line.end() && (tip.state.is_some() || tip.ended.is_some()) {
            return Ok(tip.clone());
        }
        // How far it is from the checkpoint before is no part of the walk.
        let control = Control { progress: None, ..*self.control };
        self.lab.rebuild(&self.slot.power_on, &tip.line.prefix(at), &tip.messages, &control)
    }

    fn leg(&mut self, hosted: &mut dyn Hosted, leg: &Leg, start: &mut Start) -> Result<ControlFlow<()>, Trouble> {
        let mut done = 0;
        if leg.steps.is_empty() && leg.event.is_some() {
            let start = std::mem::replace(start, Start::Resident);
            let task = Task { start, event: leg.event.clone(), drive: Drive::Nothing, want: Want::default() };
            hosted.run(&task).map_err(trouble)?;
        }
        while let Some(steps) = leg.steps.get(done..).filter(|steps| !steps.is_empty()) {
            let event = |index| leg.event.clone().filter(|_| done + index == 0);
            let tasks = steps.iter().enumerate().map(|(index, step)| Task {
                start: std::mem::replace(start, Start::Resident),
                event: event(index),
                drive: Drive::Batch { batch: Batch::forced(vec![step.key]), part: None },
                want: Want { checks: true, frame: true, ..Want::default() },
            });
            let tasks: Vec<Task> = tasks.collect();
            let reports = hosted.run_lines(&tasks).map_err(trouble)?;
            if reports.is_empty() || reports.len() > steps.len() {
                return Err(Trouble::Lost("a worker told of other lines than it was given".to_owned()));
            }
            done += reports.len();
            for (step, report) in steps.iter().zip(reports) {
                let report = report.map_err(|refusal| failure(refusal.to_string()))?;
                let frame = frame_after(self.next, *step, &report)?;
                if self.show(&frame).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn show(&mut self, frame: &Frame) -> ControlFlow<()> {
        let at = self.next;
        self.next = at.next();
        (self.look)(at, frame)
    }
}

/// What a step has led to, if it is what it led to before.
fn frame_after(at: Boundary, step: Step, report: &LineReport) -> Result<Frame, Trouble> {
    if let Some(ended) = report.ended.as_ref().filter(|ended| ended.kind == EndKind::Hung) {
        return Err(Trouble::Hung(crate::words::told(&ended.text)));
    }
    if report.inputs != [step.key] || report.checks != [step.check] {
        let boundary = Boundary(at.0.saturating_sub(1));
        return Err(Trouble::Fatal(LabError::Desync { boundary }));
    }
    let frame = report.frame.as_ref().and_then(crate::engine::LazyFrame::read);
    frame.ok_or_else(|| failure(format!("the frame at boundary {at} can't be read")))
}

fn failure(reason: String) -> Trouble {
    Trouble::Fatal(LabError::EngineFailure { reason, lost: None })
}

fn trouble(error: TaskError) -> Trouble {
    match error {
        TaskError::Lost { reason } => Trouble::Lost(reason.to_string()),
        TaskError::Hung { .. } => Trouble::Hung(error.to_string()),
        other => failure(other.to_string()),
    }
}
