use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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
    result: Option<Result<Reply, Failure>>,
}

/// How many finished operations are remembered.
const FINISHED_MAX: usize = 64;

impl Operations {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call goes on; gives its id.
    pub(crate) fn begin(&self, tool: &'static str) -> u64 {
        let mut state = self.state();
        state.last += 1;
        let id = state.last;
        state.known.insert(id, Operation { tool, result: None });
        id
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
        let unknown = || {
            let name: String = name.chars().take(40).collect();
            Failure::argument("operation", format!("there is no operation {name:?}, or its result was forgotten"))
        };
        let id: u64 = name.strip_prefix("op").and_then(|digits| digits.parse().ok()).ok_or_else(unknown)?;
        let until = Instant::now() + wait;
        let mut state = self.state();
        loop {
            let operation = state.known.get(&id).ok_or_else(unknown)?;
            let left = until.saturating_duration_since(Instant::now());
            match &operation.result {
                Some(result) => return Ok(show(name, operation.tool, result)),
                None if left.is_zero() || is_cancelled() => {
                    return Ok((json!({"id": name, "tool": operation.tool, "state": "running"}), None));
                }
                None => {}
            }
            let slice = left.min(Duration::from_millis(100));
            (state, _) = self.finished.wait_timeout(state, slice).unwrap_or_else(PoisonError::into_inner);
        }
    }
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
        let first = operations.begin("run");
        let look = |name: &str| operations.look(name, Duration::ZERO, || false);
        assert_eq!(look("op1").unwrap().0["state"], json!("running"));
        operations.finish(first, Ok(Reply::default().with("sent", 3)));
        assert_eq!(look("op1").unwrap().0["result"]["sent"], json!(3));
        for _ in 0..FINISHED_MAX {
            let id = operations.begin("run");
            operations.finish(id, Err(Failure::no_game()));
        }
        assert_eq!(look("op2").unwrap().0["error"]["code"], json!("NO_GAME"));
        for name in ["op1", "op999", "1", "", "op"] {
            assert!(look(name).is_err(), "{name:?}");
        }
    }
}
