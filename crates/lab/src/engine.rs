use worker::{Report, Task, TaskError};

use crate::{Revision, Urgency};

/// What a lab needs of its workers. The real ones are processes; tests put a small machine of their own in place.
pub(crate) trait Engine: Send + Sync {
    /// What the workers run.
    fn identity(&self) -> &Identity;
    /// Waits for a free worker, rather the one in which the revision is resident.
    fn lease(&self, resident: Option<Revision>, urgency: Urgency) -> Result<Box<dyn Hosted + '_>, String>;
    /// How many workers there may be.
    fn workers(&self) -> usize;
    /// How many were lost since the start.
    fn workers_lost(&self) -> u64;
}

/// A worker for as long as a caller has it; back it goes when dropped.
pub(crate) trait Hosted {
    /// Whose machine is in it.
    fn resident(&self) -> Option<Revision>;
    /// Says whose machine is in it now.
    fn set_resident(&mut self, revision: Option<Revision>);
    /// Does a task. After `Lost` or `Hung` the worker is gone.
    fn run(&mut self, task: &Task) -> Result<Report, TaskError>;
    /// Shows the first bytes of its output slot.
    fn output(&mut self, bytes: u64, read: &mut dyn FnMut(&[u8])) -> Result<(), String>;
}

/// What the workers of a lab run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) engine_id: String,
    pub(crate) rom_id: String,
    pub(crate) nethack_version: String,
}
