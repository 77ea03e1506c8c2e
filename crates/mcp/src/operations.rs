use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lab::{Cancel, Progress};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::reply::Reply;

/// Calls whose clients were told that the work goes on, with their results once they are there.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    state: Mutex<State>,
    finished: Condvar,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    known: BTreeMap<u64, Operation>,
}

#[derive(Debug)]
struct Operation {
    tool: &'static str,
    cancel: Cancel,
    progress: Option<Progress>,
    result: Option<Result<Reply, Failure>>,
}

/// How many finished operations are remembered.
const FINISHED_MAX: usize = 64;

impl Operations {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call goes on, with what it has told of its progress; gives its id.
    pub(crate) fn begin(&self, tool: &'static str, cancel: &Cancel, progress: Option<Progress>) -> u64 {
        let mut state = self.state();
        state.last += 1;
        let id = state.last;
        state.known.insert(id, Operation { tool, cancel: cancel.clone(), progress, result: None });
        id
    }

    /// A call has come further.
    pub(crate) fn progress(&self, id: u64, progress: Progress) {
        if let Some(operation) = self.state().known.get_mut(&id) {
            operation.progress = Some(progress);
        }
    }

    /// Asks a call to stop; one that has is left as it is.
    ///
    /// # Errors
    /// An id that is not known, or no more.
    pub(crate) fn cancel(&self, name: &str) -> Result<(), Failure> {
        let state = self.state();
        let operation = id_of(name).and_then(|id| state.known.get(&id)).ok_or_else(|| unknown(name))?;
        operation.cancel.cancel();
        Ok(())
    }

    /// The result of a call is there.
    pub(crate) fn finish(&self, id: u64, result: Result<Reply, Failure>) {
        let mut state = self.state();
        if let Some(operation) = state.known.get_mut(&id) {
            operation.result = Some(result);
        }
        let finished: Vec<u64> =
            state.known.iter().filter(|(_, operation)| operation.result.is_some()).map(|(id, _)| *id).collect();
        for id in finished.iter().rev().skip(FINISHED_MAX) {
            state.known.remove(id);
        }
        drop(state);
        self.finished.notify_all();
    }

    /// The operation as a client sees it, waited for at most so long.
    ///
    /// # Errors
    /// An id that is not known, or no more.
    #[expect(clippy::disallowed_methods, reason = "only how long a client waits hangs on this clock")]
    pub(crate) fn look(
        &self,
        name: &str,
        wait: Duration,
        is_cancelled: impl Fn() -> bool,
    ) -> Result<(Value, Option<Reply>), Failure> {
        let id = id_of(name).ok_or_else(|| unknown(name))?;
        let until = Instant::now() + wait;
        let mut state = self.state();
        loop {
            let operation = state.known.get(&id).ok_or_else(|| unknown(name))?;
            let left = until.saturating_duration_since(Instant::now());
            match &operation.result {
                Some(result) => return Ok(show(name, operation.tool, result)),
                None if left.is_zero() || is_cancelled() => {
                    let progress = operation.progress.map(|told| json!({"done": told.done, "total": told.total}));
                    let value = json!({"id": name, "tool": operation.tool, "state": "running", "progress": progress});
                    return Ok((value, None));
                }
                None => {}
            }
            let slice = left.min(Duration::from_millis(100));
            (state, _) = self.finished.wait_timeout(state, slice).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn id_of(name: &str) -> Option<u64> {
    name.strip_prefix("op")?.parse().ok()
}

fn unknown(name: &str) -> Failure {
    let name: String = name.chars().take(40).collect();
    Failure::argument("operation", format!("there is no operation {name:?}, or its result was forgotten"))
}

fn show(name: &str, tool: &str, result: &Result<Reply, Failure>) -> (Value, Option<Reply>) {
    match result {
        Ok(reply) => (json!({"id": name, "tool": tool, "state": "done", "result": reply.fields}), Some(reply.clone())),
        Err(failure) => {
            (json!({"id": name, "tool": tool, "state": "failed", "error": failure.clone().into_value()}), None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_kept_until_there_are_many_newer_ones() {
        let operations = Operations::default();
        let cancel = Cancel::default();
        let first = operations.begin("run", &cancel, Some(Progress { done: 1, total: 9 }));
        let look = |name: &str| operations.look(name, Duration::ZERO, || false);
        assert_eq!(look("op1").unwrap().0["progress"], json!({"done": 1, "total": 9}));
        operations.progress(first, Progress { done: 2, total: 9 });
        let running = json!({"id": "op1", "tool": "run", "state": "running", "progress": {"done": 2, "total": 9}});
        assert_eq!(look("op1").unwrap().0, running);
        operations.cancel("op1").unwrap();
        assert!(cancel.is_cancelled() && operations.cancel("op2").is_err() && operations.cancel("1").is_err());
        operations.finish(first, Ok(Reply::default().with("sent", 3)));
        assert_eq!(look("op1").unwrap().0["result"]["sent"], json!(3));
        for _ in 0..FINISHED_MAX {
            let id = operations.begin("run", &cancel, None);
            operations.finish(id, Err(Failure::no_game()));
        }
        assert_eq!(look("op2").unwrap().0["error"]["code"], json!("NO_GAME"));
        for name in ["op1", "op999", "1", "", "op"] {
            assert!(look(name).is_err(), "{name:?}");
        }
    }
}
