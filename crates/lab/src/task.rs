use std::sync::Arc;

use wire::{Batch, Check, EndKind, Event, Key, PowerOn, PowerOnError};
use worker::{Drive, EDIT_REFUSED, Keep, Part, Piece, Report, Start, StateId, Task, TaskError, Unless, Want};

use crate::engine::Hosted;
use crate::lab::Inner;
use crate::line::Line;
use crate::messages::MessageLog;
use crate::slot::Tip;
use crate::store::Kept;
use crate::words::{WellSpoken, told};
use crate::{LabError, Step, Urgency};

/// How often a task of the lab's own is tried again when its worker is lost.
pub(crate) const TRIES: u32 = 3;

/// How often a worker is asked for before it is believed that there is none to be had.
const LEASES_MAX: u32 = 5;

/// What to do from where.
pub(crate) struct Job<'a> {
    pub(crate) from: StartAt<'a>,
    pub(crate) event: Option<Event>,
    pub(crate) batch: Option<Batch>,
    pub(crate) part: Option<Part>,
    /// Which state to keep at its end.
    pub(crate) keep: Option<Keep>,
    /// Whether to ask for the state digest.
    pub(crate) digest: bool,
}

/// Where a job starts.
#[derive(Clone, Copy)]
pub(crate) enum StartAt<'a> {
    PowerOn(&'a PowerOn),
    /// A state in the store.
    State(&'a Arc<Kept>),
    /// Where the same worker's last job ended.
    Here,
}

/// Why a job gave nothing.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The worker is gone; another may do better.
    Lost(String),
    /// A key took too long and the worker is gone. A loss that is costly to try again.
    Hung(String),
    /// It makes no sense to try again.
    Fatal(LabError),
}

impl Trouble {
    pub(crate) fn into_error(self) -> LabError {
        match self {
            Self::Lost(reason) | Self::Hung(reason) => LabError::EngineFailure { reason, lost: None },
            Self::Fatal(error) => error,
        }
    }
}

impl Job<'_> {
    fn task(&self) -> Task {
        let start = match self.from {
            StartAt::PowerOn(record) => Start::PowerOn(record.clone()),
            StartAt::State(state) => Start::State(state.recipe()),
            StartAt::Here => Start::Resident,
        };
        let drive = match &self.batch {
            Some(batch) => Drive::Batch { batch: batch.clone(), part: self.part.clone() },
            None => Drive::Nothing,
        };
        let want = Want {
            checks: true,
            frame: true,
            keep: self.keep,
            state_digest: self.digest,
            messages: true,
            hidden: None,
        };
        Task { start, event: self.event.clone(), drive, want }
    }

    /// Has a worker do it. Nobody knows what stands in the worker afterwards, until somebody says so.
    pub(crate) fn run(&self, hosted: &mut dyn Hosted) -> Result<Report, Trouble> {
        self.run_as(hosted, None)
    }

    /// The same; with a drive, that presses its keys.
    pub(crate) fn run_as(&self, hosted: &mut dyn Hosted, drive: Option<Drive>) -> Result<Report, Trouble> {
        hosted.set_resident(None);
        let mut task = self.task();
        if let Some(drive) = drive {
            task.drive = drive;
        }
        match hosted.run(&task) {
            Ok(report) => checked(report),
            Err(TaskError::Lost { reason }) => Err(Trouble::Lost(reason.to_string())),
            Err(error @ TaskError::Hung { .. }) => Err(Trouble::Hung(error.to_string())),
            Err(TaskError::Refused(text) | TaskError::Displaced(text)) if matches!(self.from, StartAt::PowerOn(_)) => {
                Err(Trouble::Fatal(LabError::PowerOn(PowerOnError::Game(text))))
            }
            Err(TaskError::Refused(text) | TaskError::Displaced(text)) if text.starts_with(EDIT_REFUSED) => {
                Err(Trouble::Fatal(LabError::EditRefused(told(text.trim_start_matches(EDIT_REFUSED)))))
            }
            Err(error) => Err(Trouble::Fatal(LabError::EngineFailure { reason: error.to_string(), lost: None })),
        }
    }
}

/// Refuses a report that does not hold together, and takes the watchdog's end for what it is: a matter of this host.
fn checked(report: Report) -> Result<Report, Trouble> {
    if let Some(ended) = &report.ended
        && ended.kind == EndKind::Hung
    {
        return Err(Trouble::Hung(told(&ended.text)));
    }
    if report.checks.len() != report.inputs.len() || report.frame.is_none() {
        return Err(Trouble::Lost("a worker told less than it was asked for".to_owned()));
    }
    Ok(report)
}

/// The inputs of a report with their checks.
pub(crate) fn steps(report: &Report) -> Vec<Step> {
    let pair = |(&key, &check): (&Key, &Check)| Step { key, check };
    report.inputs.iter().zip(&report.checks).map(pair).collect()
}

/// Asks for a worker until there is one.
fn leased<T>(lease: impl Fn() -> Result<T, String>) -> Result<T, Trouble> {
    let mut tries = 0;
    loop {
        tries += 1;
        match lease() {
            Ok(hosted) => return Ok(hosted),
            // One that is killed while it starts says nothing about the next.
            Err(_) if tries < LEASES_MAX => {}
            Err(reason) => {
                return Err(Trouble::Fatal(LabError::EngineFailure { reason: told(&reason), lost: None }));
            }
        }
    }
}

fn well_spoken<'a>(hosted: Box<dyn Hosted + 'a>) -> Box<dyn Hosted + 'a> {
    Box::new(WellSpoken(hosted))
}

impl Inner {
    /// Waits for a worker, rather the one in which this state stands.
    pub(crate) fn lease(&self, resident: Option<StateId>, urgency: Urgency) -> Result<Box<dyn Hosted + '_>, Trouble> {
        leased(|| self.engine.lease(resident, urgency)).map(well_spoken)
    }

    /// The same, unless nobody wants it any more, which gives nothing.
    pub(crate) fn lease_unless(
        &self,
        resident: Option<StateId>,
        urgency: Urgency,
        stop: Unless<'_>,
    ) -> Result<Option<Box<dyn Hosted + '_>>, Trouble> {
        Ok(leased(|| self.engine.lease_unless(resident, urgency, stop))?.map(well_spoken))
    }

    /// Copies the state that a job has left in its worker's output slot into the store; the job started from `parent`
    /// and kept by the store's rule for it. Nothing when there is none, after some ends.
    pub(crate) fn keep_child<F>(
        &self,
        hosted: &mut dyn Hosted,
        parent: Option<&Arc<Kept>>,
        report: &Report<F>,
    ) -> Result<Option<Arc<Kept>>, LabError> {
        let Some(kept) = &report.kept else { return Ok(None) };
        let mut stored = None;
        let mut copy = |slot: &[u8]| stored = Some(self.store.put(parent, kept, report.image_bytes, slot));
        let shown = hosted.output(end_of(kept), &mut copy);
        shown.map_err(|reason| LabError::EngineFailure { reason, lost: None })?;
        stored.transpose()
    }

    /// The same, with nothing also where there is no room: a machine without a state can be rebuilt. The worker then
    /// stands at the state.
    pub(crate) fn keep(
        &self,
        hosted: &mut dyn Hosted,
        parent: Option<&Arc<Kept>>,
        report: &Report,
    ) -> Option<Arc<Kept>> {
        let kept = self.keep_child(hosted, parent, report).ok().flatten()?;
        hosted.set_resident(Some(kept.id()));
        Some(kept)
    }

    /// Adds a report's messages to a log: those of all its inputs, and those that are on its frame.
    pub(crate) fn log(&self, messages: &mut MessageLog, report: &Report) {
        let keep = self.limits().messages;
        messages.extend(&report.messages, keep);
        if let Some(frame) = &report.frame {
            messages.extend(&frame.messages, keep);
        }
    }

    /// The tip that a report leads to from a line and its messages.
    pub(crate) fn tip_after(
        &self,
        mut line: Line,
        mut messages: MessageLog,
        report: &mut Report,
        state: Option<Arc<Kept>>,
    ) -> Tip {
        steps(report).into_iter().for_each(|step| line.push(step));
        if let Some(digest) = report.state_digest {
            line.mark(report.play, digest);
        }
        self.log(&mut messages, report);
        let frame = report.frame.take().unwrap_or_default();
        Tip {
            line,
            state,
            frame: Arc::new(frame),
            play: report.play,
            ended: report.ended.clone().map(Arc::new),
            messages,
        }
    }
}

/// How much of a slot a state takes.
pub(crate) fn end_of(kept: &worker::Kept) -> u64 {
    let end = |piece: &Piece| piece.offset.saturating_add(piece.bytes);
    match kept {
        worker::Kept::Keyframe { body, blobs } => blobs.iter().map(end).fold(end(body), u64::max),
        worker::Kept::Delta { bytes } => end(bytes),
    }
}
