use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wire::Frame;

use crate::Lookout;

/// Asks a call to stop between two chunks of keys. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks. It can't be taken back.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// True once asked.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Inputs done.
    pub done: u64,
    /// Inputs there are, as far as is known.
    pub total: u64,
}

/// Which workers a call may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// All, also those kept for interactive calls.
    #[default]
    Interactive,
    /// Only those for everything.
    Bulk,
}

/// How a call is to be run. `Control::default()` asks for nothing: no progress, no cancellation, interactive.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Looked at before each chunk.
    pub cancel: Option<&'a Cancel>,
    /// Called after each chunk, on the calling thread.
    pub progress: Option<&'a dyn Fn(Progress)>,
    /// Called with the frame of every boundary on the way; `true` stops there. Keys then go to the worker one at a time.
    pub stop_when: Option<&'a dyn Fn(&Frame) -> bool>,
    /// Stops where it has seen what it looks for. Chunks stay whole.
    pub lookout: Option<&'a dyn Lookout>,
    /// Which workers it may use.
    pub urgency: Urgency,
}

impl Control<'_> {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(Cancel::is_cancelled)
    }

    pub(crate) fn report(&self, done: u64, total: u64) {
        if let Some(progress) = self.progress {
            progress(Progress { done, total });
        }
    }
}
