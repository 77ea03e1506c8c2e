use wire::Frame;
use worker::{FrameBytes, Refusal, Report, StateId, Task, TaskError, Unless};

use crate::Urgency;

/// What a lab needs of its workers. The real ones are processes; tests put a small machine of their own in place.
pub(crate) trait Engine: Send + Sync {
    /// What the workers run.
    fn identity(&self) -> &Identity;
    /// Waits for a free worker, rather the one in which this state stands.
    fn lease(&self, resident: Option<StateId>, urgency: Urgency) -> Result<Box<dyn Hosted + '_>, String>;
    /// The same, unless nobody wants it any more, which gives nothing.
    fn lease_unless(
        &self,
        resident: Option<StateId>,
        urgency: Urgency,
        _: Unless<'_>,
    ) -> Result<Option<Box<dyn Hosted + '_>>, String> {
        self.lease(resident, urgency).map(Some)
    }
    /// How many workers there may be.
    fn workers(&self) -> usize;
    /// How many were lost since the start.
    fn workers_lost(&self) -> u64;
}

/// A worker for as long as a caller has it; back it goes when dropped.
pub(crate) trait Hosted {
    /// Says which state stands in it now: a hint as to which worker to take, as each knows itself what it holds.
    fn set_resident(&mut self, state: Option<StateId>);
    /// Does a task. After `Lost` or `Hung` the worker is gone.
    fn run(&mut self, task: &Task) -> Result<Report, TaskError>;
    /// Does tasks one after the other; fewer than were given where its output slot or its reply is full.
    fn run_lines(&mut self, tasks: &[Task]) -> Result<Vec<Result<LineReport, Refusal>>, TaskError>;
    /// The same, unless nobody wants it any more: then the worker may be gone, as after `Lost`.
    fn run_lines_unless(
        &mut self,
        tasks: &[Task],
        _: Unless<'_>,
    ) -> Result<Vec<Result<LineReport, Refusal>>, TaskError> {
        self.run_lines(tasks)
    }
    /// Shows the first bytes of its output slot.
    fn output(&mut self, bytes: u64, read: &mut dyn FnMut(&[u8])) -> Result<(), String>;
}

/// What came of one of several tasks.
pub(crate) type LineReport = Report<LazyFrame>;

/// A frame that is read when it is asked for.
#[derive(Clone, Debug)]
pub(crate) enum LazyFrame {
    /// As the ROM wrote it.
    Bytes(FrameBytes),
    /// As a test made it.
    #[cfg(test)]
    Whole(Box<Frame>),
}

impl LazyFrame {
    /// The frame; nothing when its bytes are none.
    pub(crate) fn read(&self) -> Option<Frame> {
        match self {
            Self::Bytes(bytes) => bytes.decode().ok(),
            #[cfg(test)]
            Self::Whole(frame) => Some(frame.as_ref().clone()),
        }
    }
}

/// What the workers of a lab run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) engine_id: String,
    pub(crate) rom_id: String,
    pub(crate) nethack_version: String,
    /// The policies that the workers have.
    pub(crate) policies: Vec<String>,
}
