use std::sync::Arc;

use wire::{Batch, Check, EndKind, Key, PowerOn, PowerOnError, Seed};
use worker::{Part, Report, Start, Task, TaskError, Want};

use crate::engine::Hosted;
use crate::lab::Inner;
use crate::line::Line;
use crate::messages::MessageLog;
use crate::slot::Tip;
use crate::store::State;
use crate::{LabError, Revision, Step, Urgency};

/// How often a task of the lab's own is tried again when its worker is lost.
pub(crate) const TRIES: u32 = 3;

/// What to do from where.
pub(crate) struct Job<'a> {
    pub(crate) from: StartAt<'a>,
    pub(crate) luck: Option<(Seed, Seed)>,
    pub(crate) batch: Option<Batch>,
    pub(crate) part: Option<Part>,
    /// Whether to ask for the state digest.
    pub(crate) digest: bool,
}

/// Where a job starts.
#[derive(Clone, Copy)]
pub(crate) enum StartAt<'a> {
    PowerOn(&'a PowerOn),
    /// A state in the store, which may be resident in a worker under this revision.
    State(&'a State, Option<Revision>),
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
    fn task(&self, resident: Option<Revision>) -> Task {
        let start = match self.from {
            StartAt::PowerOn(record) => Start::PowerOn(record.clone()),
            StartAt::State(_, Some(revision)) if resident == Some(revision) => Start::Resident,
            StartAt::State(state, _) => Start::State { offset: state.offset(), bytes: state.bytes() },
            StartAt::Here => Start::Resident,
        };
        Task {
            start,
            luck: self.luck,
            batch: self.batch.clone(),
            part: self.part,
            want: Want { checks: true, frame: true, state: true, state_digest: self.digest, messages: true },
        }
    }

    /// Has a worker do it. The worker's machine belongs to no revision afterwards, until somebody says so.
    pub(crate) fn run(&self, hosted: &mut dyn Hosted) -> Result<Report, Trouble> {
        let mut task = self.task(hosted.resident());
        let was_resident = task.start == Start::Resident;
        hosted.set_resident(None);
        let mut result = hosted.run(&task);
        if let (Err(TaskError::Refused(_)), true, StartAt::State(state, _)) = (&result, was_resident, self.from) {
            // The worker knows better what it holds; the store has it as well.
            task.start = Start::State { offset: state.offset(), bytes: state.bytes() };
            result = hosted.run(&task);
        }
        match result {
            Ok(report) => checked(report),
            Err(TaskError::Lost { reason }) => Err(Trouble::Lost(reason.to_string())),
            Err(error @ TaskError::Hung { .. }) => Err(Trouble::Hung(error.to_string())),
            Err(TaskError::Refused(text) | TaskError::Displaced(text)) if matches!(self.from, StartAt::PowerOn(_)) => {
                Err(Trouble::Fatal(LabError::PowerOn(PowerOnError::Game(text))))
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
        return Err(Trouble::Hung(ended.text.clone()));
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

impl Inner {
    /// Waits for a worker.
    pub(crate) fn lease(&self, resident: Option<Revision>, urgency: Urgency) -> Result<Box<dyn Hosted + '_>, Trouble> {
        let failed = |reason| Trouble::Fatal(LabError::EngineFailure { reason, lost: None });
        self.engine.lease(resident, urgency).map_err(failed)
    }

    /// Copies the state that a job has left in its worker's output slot into the store. Nothing when there is none
    /// (after some ends), or no room: a machine without a state can be rebuilt.
    pub(crate) fn keep(&self, hosted: &mut dyn Hosted, report: &Report) -> Option<Arc<State>> {
        let mut kept = None;
        let mut copy = |bytes: &[u8]| kept = self.store.put(bytes).ok();
        hosted.output(report.state_bytes?, &mut copy).ok()?;
        kept
    }

    /// The tip that a report leads to from a line and its messages.
    pub(crate) fn tip_after(
        &self,
        mut line: Line,
        mut messages: MessageLog,
        report: &mut Report,
        state: Option<Arc<State>>,
    ) -> Tip {
        steps(report).into_iter().for_each(|step| line.push(step));
        if let Some(digest) = report.state_digest {
            line.mark(report.play, digest);
        }
        let frame = report.frame.take().unwrap_or_default();
        let keep = self.limits().messages;
        messages.extend(&report.messages, keep);
        messages.extend(&frame.messages, keep);
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
