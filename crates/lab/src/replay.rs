use wire::{Batch, Boundary, PowerOn, Seed};
use worker::Report;

use crate::engine::Hosted;
use crate::lab::Inner;
use crate::line::{Leg, Line};
use crate::messages::MessageLog;
use crate::slot::Tip;
use crate::task::{Job, StartAt, TRIES, Trouble, steps};
use crate::{Control, LabError};

/// A fresh machine in one worker that is led along a line. It belongs to no machine of the lab.
pub(crate) struct Replay<'a> {
    hosted: Box<dyn Hosted + 'a>,
}

impl<'a> Replay<'a> {
    /// Powers on.
    pub(crate) fn power_on(lab: &'a Inner, record: &PowerOn, control: &Control<'_>) -> Result<(Self, Report), Trouble> {
        let mut hosted = lab.lease(None, control.urgency)?;
        let job = Job { from: StartAt::PowerOn(record), luck: None, batch: None, part: None, digest: true };
        let report = job.run(hosted.as_mut())?;
        Ok((Self { hosted }, report))
    }

    /// Goes on by a leg. The inputs of the report are fewer than the leg's when the game ends on the way.
    pub(crate) fn go(&mut self, leg: &Leg) -> Result<Report, Trouble> {
        self.step(leg.luck, (!leg.steps.is_empty()).then(|| Batch::forced(leg.keys())))
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, batch: Batch) -> Result<Report, Trouble> {
        self.step(None, Some(batch))
    }

    fn step(&mut self, luck: Option<(Seed, Seed)>, batch: Option<Batch>) -> Result<Report, Trouble> {
        let job = Job { from: StartAt::Here, luck, batch, part: None, digest: true };
        job.run(self.hosted.as_mut())
    }

    pub(crate) fn hosted(&mut self) -> &mut dyn Hosted {
        self.hosted.as_mut()
    }
}

impl Inner {
    /// Makes again, by replay from power-on, the tip that a line leads to.
    ///
    /// # Errors
    /// [`LabError::Desync`] when the line does not replay, [`LabError::Cancelled`], engine failures.
    pub(crate) fn rebuild(&self, record: &PowerOn, line: &Line, control: &Control<'_>) -> Result<Tip, LabError> {
        for _ in 1..TRIES {
            match self.try_rebuild(record, line, control) {
                Err(Trouble::Lost(_)) => {}
                result => return result.map_err(Trouble::into_error),
            }
        }
        self.try_rebuild(record, line, control).map_err(Trouble::into_error)
    }

    fn try_rebuild(&self, record: &PowerOn, line: &Line, control: &Control<'_>) -> Result<Tip, Trouble> {
        let (mut replay, mut report) = Replay::power_on(self, record, control)?;
        let mut messages = MessageLog::default();
        for leg in line.legs(Boundary(0), false, self.limits().chunk_keys) {
            if control.is_cancelled() {
                return Err(Trouble::Fatal(LabError::Cancelled));
            }
            messages.extend(&report.messages, self.limits().messages);
            report = replay.go(&leg)?;
            check_leg(&leg, line, &report)?;
            control.report(leg.from.0 + leg.steps.len() as u64, line.end().0);
        }
        let state = self.keep(replay.hosted(), &report);
        let digest = report.state_digest.take();
        report.inputs.clear();
        let mut tip = self.tip_after(line.clone(), messages, &mut report, state);
        if let Some(digest) = digest {
            tip.line.mark(tip.play, digest);
        }
        Ok(tip)
    }
}

/// Compares what a leg has led to with its checks and, where the line has them, with the digests at its end.
fn check_leg(leg: &Leg, line: &Line, report: &Report) -> Result<(), Trouble> {
    let desync = |boundary| Err(Trouble::Fatal(LabError::Desync { boundary }));
    let replayed = steps(report);
    let same = leg.steps.iter().zip(&replayed).take_while(|(a, b)| a == b).count();
    let boundary = Boundary(leg.from.0 + same as u64);
    if same < leg.steps.len() || same < replayed.len() {
        return desync(boundary);
    }
    match line.mark_at(boundary) {
        Some(mark) if mark.play != report.play || Some(mark.state) != report.state_digest => desync(boundary),
        _ => Ok(()),
    }
}
