use std::sync::Arc;

use wire::{Batch, Boundary, Event, PowerOn};
use worker::{Keep, Report};

use crate::engine::Hosted;
use crate::lab::Inner;
use crate::line::{Leg, Line};
use crate::messages::MessageLog;
use crate::slot::Tip;
use crate::store::Kept;
use crate::task::{Job, StartAt, TRIES, Trouble, steps};
use crate::{Control, LabError};

/// A machine in one worker that is led along a line. It belongs to no machine of the lab.
pub(crate) struct Replay<'a> {
    lab: &'a Inner,
    hosted: Box<dyn Hosted + 'a>,
    /// The state that it started from or that was last kept on the way.
    parent: Option<Arc<Kept>>,
}

impl<'a> Replay<'a> {
    /// Powers on; with `keep`, the state there can be kept.
    pub(crate) fn power_on(
        lab: &'a Inner,
        record: &PowerOn,
        control: &Control<'_>,
        keep: bool,
    ) -> Result<(Self, Report), Trouble> {
        let mut hosted = lab.lease(None, control.urgency)?;
        let keep = keep.then(|| lab.store.keep_rule(None));
        let job = Job { from: StartAt::PowerOn(record), event: None, batch: None, part: None, keep, digest: true };
        let report = job.run(hosted.as_mut())?;
        Ok((Self { lab, hosted, parent: None }, report))
    }

    /// Begins at a state.
    pub(crate) fn from_state(
        lab: &'a Inner,
        state: Arc<Kept>,
        control: &Control<'_>,
    ) -> Result<(Self, Report), Trouble> {
        let mut hosted = lab.lease(Some(state.id()), control.urgency)?;
        let from = StartAt::State(&state);
        let job = Job { from, event: None, batch: None, part: None, keep: None, digest: false };
        let report = job.run(hosted.as_mut())?;
        Ok((Self { lab, hosted, parent: Some(state) }, report))
    }

    /// Goes on by a leg. The inputs of the report are fewer than the leg's when the game ends on the way. With `keep`,
    /// the state there can be kept.
    pub(crate) fn go(&mut self, leg: &Leg, keep: bool) -> Result<Report, Trouble> {
        let keep = keep.then(|| self.lab.store.keep_rule(self.parent.as_ref()));
        self.step(leg, keep, (!leg.steps.is_empty()).then(|| Batch::forced(leg.keys())))
    }

    /// Goes on by a leg of a line and compares it with what the line has of it: digests at its beginning, where an
    /// event comes before them, and what it leads to. What an edit says is in no report of the keys after it, so it
    /// gets a report of its own, which is logged here.
    fn go_along(&mut self, line: &Line, leg: &Leg, keep: bool, messages: &mut MessageLog) -> Result<Report, Trouble> {
        let speaks = matches!(leg.event, Some(Event::Edit(_)));
        let marked = leg.event.is_some() && line.mark_at(leg.from).is_some();
        if leg.steps.is_empty() || !(speaks || marked) {
            let report = self.go(leg, keep).map_err(|trouble| as_desync(trouble, leg.from))?;
            return check_leg(leg, line, &report).map(|()| report);
        }
        let event = Leg { event: leg.event.clone(), steps: Vec::new(), before_event: false, ..*leg };
        let report = self.go(&event, false).map_err(|trouble| as_desync(trouble, leg.from))?;
        check_leg(&event, line, &report)?;
        self.lab.log(messages, &report);
        self.go_along(line, &Leg { event: None, ..leg.clone() }, keep, messages)
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, batch: Batch) -> Result<Report, Trouble> {
        let job = Job { from: StartAt::Here, event: None, batch: Some(batch), part: None, keep: None, digest: true };
        job.run(self.hosted.as_mut())
    }

    fn step(&mut self, leg: &Leg, keep: Option<Keep>, batch: Option<Batch>) -> Result<Report, Trouble> {
        let job = Job { from: StartAt::Here, event: leg.event.clone(), batch, part: None, keep, digest: true };
        job.run(self.hosted.as_mut())
    }

    /// Keeps the state that the last report tells of.
    pub(crate) fn keep(&mut self, report: &Report) -> Option<Arc<Kept>> {
        let kept = self.lab.keep(self.hosted.as_mut(), self.parent.as_ref(), report)?;
        self.parent = Some(Arc::clone(&kept));
        Some(kept)
    }
}

impl Inner {
    /// Makes again the tip that a line leads to, by replay from the nearest checkpoint before it, else from power-on, and
    /// leaves checkpoints on the way. `past` is the log of a machine that has come this way, as far as there is one.
    ///
    /// # Errors
    /// [`LabError::Desync`] when the line does not replay, [`LabError::Cancelled`], engine failures.
    pub(crate) fn rebuild(
        &self,
        record: &PowerOn,
        line: &Line,
        past: &MessageLog,
        control: &Control<'_>,
    ) -> Result<Tip, LabError> {
        for _ in 1..TRIES {
            match self.try_rebuild(record, line, past, control) {
                Err(Trouble::Lost(_)) => {}
                result => return result.map_err(Trouble::into_error),
            }
        }
        self.try_rebuild(record, line, past, control).map_err(Trouble::into_error)
    }

    fn try_rebuild(
        &self,
        record: &PowerOn,
        line: &Line,
        past: &MessageLog,
        control: &Control<'_>,
    ) -> Result<Tip, Trouble> {
        let mut line = line.clone();
        let mut messages = MessageLog::default();
        let mut from = Boundary(0);
        let (mut replay, mut report) = match line.beginning() {
            Some(beginning) => {
                from = beginning.at;
                messages = past.until(beginning.last_message);
                Replay::from_state(self, beginning.state, control)?
            }
            None => Replay::power_on(self, record, control, line.is_new())?,
        };
        line.cut_trail(from);
        let mut state = if line.is_new() { replay.keep(&report) } else { None };
        let legs = line.legs(from, false, self.limits().chunk_keys);
        for (index, leg) in legs.iter().enumerate() {
            if control.is_cancelled() {
                return Err(Trouble::Fatal(LabError::Cancelled));
            }
            self.log(&mut messages, &report);
            let end = Boundary(leg.from.0 + leg.steps.len() as u64);
            let (wanted, last) = (line.wants_checkpoint_at(end), index + 1 == legs.len());
            report = replay.go_along(&line, leg, wanted || last, &mut messages)?;
            state = if wanted || last { replay.keep(&report) } else { None };
            if wanted && let Some(state) = &state {
                self.log(&mut messages, &report);
                line.add_checkpoint(end, self.store.checkpoint(state, messages.last_id()));
            }
            control.report(end.0, line.end().0);
        }
        let digest = report.state_digest.take();
        report.inputs.clear();
        let mut tip = self.tip_after(line, messages, &mut report, state);
        if let Some(digest) = digest {
            tip.line.mark(tip.play, digest);
        }
        Ok(tip)
    }

    /// Makes a checkpoint of a machine's state, where its line is due for one.
    pub(crate) fn leave_checkpoint(&self, tip: &mut Tip) {
        if tip.line.wants_checkpoint()
            && tip.ended.is_none()
            && let Some(state) = &tip.state
        {
            let checkpoint = self.store.checkpoint(state, tip.messages.last_id());
            tip.line.add_checkpoint(tip.line.end(), checkpoint);
        }
    }
}

/// An edit that was made once and is refused in a replay is play that differs.
fn as_desync(trouble: Trouble, boundary: Boundary) -> Trouble {
    match trouble {
        Trouble::Fatal(LabError::EditRefused(_)) => Trouble::Fatal(LabError::Desync { boundary }),
        trouble => trouble,
    }
}

/// Compares what a leg has led to with its checks and, where the line has them, with the digests at its end. Digests at
/// a boundary with an event are of after it, so they say nothing of the keys that lead there.
fn check_leg(leg: &Leg, line: &Line, report: &Report) -> Result<(), Trouble> {
    let desync = |boundary| Err(Trouble::Fatal(LabError::Desync { boundary }));
    let replayed = steps(report);
    let same = leg.steps.iter().zip(&replayed).take_while(|(a, b)| a == b).count();
    let boundary = Boundary(leg.from.0 + same as u64);
    if same < leg.steps.len() || same < replayed.len() {
        return desync(boundary);
    }
    match line.mark_at(boundary).filter(|_| !leg.before_event) {
        Some(mark) if mark.play != report.play || Some(mark.state) != report.state_digest => desync(boundary),
        _ => Ok(()),
    }
}
