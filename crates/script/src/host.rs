use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;
use wire::{Boundary, Ended, Frame, Message};

use crate::limits::{FRAMES_MAX, MESSAGES_MAX, SOURCE_BYTES_MAX};
use crate::pool::{Lease, Pool, deadline};
use crate::protocol::{Job, Reply, RequestRef, SCORES_MAX, TalkError};
use crate::{LimitKind, ScriptError, ScriptLimits, ScriptProgram};

/// Runs scripts in processes of their own. Clones share the processes, of which none is started before the first
/// script; dropping the last clone ends them. Every method blocks and may be called from many threads at once.
#[derive(Clone)]
pub struct Scripts(Arc<Pool>);

/// A boundary as a script is to see it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seen<'a> {
    /// Where in its line it is.
    pub boundary: Boundary,
    /// What is visible.
    pub frame: &'a Frame,
    /// How the game has ended, if it has.
    pub ended: Option<&'a Ended>,
}

/// Where the frames before a script's own come from.
pub trait Past {
    /// At most `count` frames in order of their boundaries, the last of which is that before `before`; fewer only at the
    /// beginning of a game.
    ///
    /// # Errors
    /// Why they can't be had; the script then fails with this reason.
    fn frames(&mut self, before: Boundary, count: usize) -> Result<Vec<(Boundary, Frame)>, String>;

    /// The newest messages of the game, at most `count`, oldest first.
    ///
    /// # Errors
    /// As [`Past::frames`].
    fn messages(&mut self, count: usize) -> Result<Vec<Message>, String>;
}

/// What a script has given.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// Its value; absent where it gave none.
    pub value: Option<Value>,
    /// What it printed, at most [`OUTPUT_BYTES_MAX`](crate::OUTPUT_BYTES_MAX) bytes.
    pub printed: String,
    /// Whether it printed more than that.
    pub printed_truncated: bool,
}

/// How much sooner a script is stopped than its process would be killed, as a part of the time it has.
const STOP_EARLY_PART: u32 = 6;

/// A process, how long it has, and its first reply.
type Begun = (Lease, Instant, Result<Reply, TalkError>);

impl Scripts {
    /// Starts nothing yet.
    #[must_use]
    pub fn new(program: ScriptProgram) -> Self {
        Self(Pool::new(program))
    }

    /// Runs a script on a frame. `source` is an expression, or a chunk that returns its value.
    ///
    /// # Errors
    /// What a script does wrong, the limit that it reached; no process, or a lost one.
    pub fn eval(
        &self,
        source: &str,
        seen: &Seen<'_>,
        limits: &ScriptLimits,
        past: &mut dyn Past,
    ) -> Result<Evaluated, ScriptError> {
        let job = job(source, limits)?;
        let (mut lease, until, mut said) = self.begin(&RequestRef::Eval(&job, seen), limits)?;
        loop {
            said = match said.map_err(|error| lost(&mut lease, limits, &error))? {
                Reply::Evaluated(outcome) => {
                    lease.is_well();
                    return evaluated(outcome?);
                }
                Reply::WantFrames { before, count } => {
                    let wanted = (count as usize).min(FRAMES_MAX);
                    let found = past.frames(before, wanted);
                    match &found {
                        Ok(found) => lease.ask(&RequestRef::Frames(&earlier(found)), until),
                        Err(reason) => lease.ask(&RequestRef::Refused(reason), until),
                    }
                }
                Reply::WantMessages { count } => match past.messages((count as usize).min(MESSAGES_MAX)) {
                    Ok(messages) => lease.ask(&RequestRef::Messages(&messages), until),
                    Err(reason) => lease.ask(&RequestRef::Refused(&reason), until),
                },
                Reply::Ready | Reply::Scored(_) => return Err(out_of_turn()),
            };
        }
    }

    /// Runs one script on many frames and gives its number for each, in order; a frame for which it fails or gives no
    /// finite number has its own error. Each frame has a virtual machine of its own, so that scores do not depend on each
    /// other. `limits.wall` holds for each 64 frames.
    ///
    /// # Errors
    /// A text that is no script; a limit that was reached at any frame; no process, or a lost one.
    pub fn score(
        &self,
        source: &str,
        seen: &[Seen<'_>],
        limits: &ScriptLimits,
    ) -> Result<Vec<Result<f64, String>>, ScriptError> {
        let job = job(source, limits)?;
        let mut scores = Vec::with_capacity(seen.len());
        for some in seen.chunks(SCORES_MAX) {
            let (mut lease, _, said) = self.begin(&RequestRef::Score(&job, some), limits)?;
            match said.map_err(|error| lost(&mut lease, limits, &error))? {
                Reply::Scored(outcome) => {
                    lease.is_well();
                    let some_scores = outcome?;
                    if some_scores.len() != some.len() {
                        return Err(out_of_turn());
                    }
                    scores.extend(some_scores);
                }
                _ => return Err(out_of_turn()),
            }
        }
        Ok(scores)
    }

    /// Has a process begin with a request, and says how long it has. A process that was kept may have been about to die:
    /// the script, which changes nothing, is then given to a new one.
    fn begin(&self, request: &RequestRef<'_>, limits: &ScriptLimits) -> Result<Begun, ScriptError> {
        let mut lease = self.0.lease(false)?;
        let until = deadline(limits.wall);
        let mut said = lease.ask(request, until);
        if matches!(said, Err(TalkError::Closed)) && lease.is_used() {
            drop(lease);
            lease = self.0.lease(true)?;
            said = lease.ask(request, until);
        }
        Ok((lease, until, said))
    }
}

fn earlier(found: &[(Boundary, Frame)]) -> Vec<Seen<'_>> {
    found.iter().map(|(boundary, frame)| Seen { boundary: *boundary, frame, ended: None }).collect()
}

fn job(source: &str, limits: &ScriptLimits) -> Result<Job, ScriptError> {
    if source.len() > SOURCE_BYTES_MAX {
        return Err(ScriptError::TooLong { given: source.len(), max: SOURCE_BYTES_MAX });
    }
    let stop_after = limits.wall.saturating_sub(limits.wall / STOP_EARLY_PART);
    Ok(Job { source: source.to_owned(), limits: *limits, stop_after })
}

fn evaluated(done: crate::protocol::Done) -> Result<Evaluated, ScriptError> {
    let value = done.value.map(|text| serde_json::from_str(&text)).transpose();
    let value = value.map_err(|error| ScriptError::Lost(format!("its value is not JSON: {error}")))?;
    Ok(Evaluated { value, printed: done.printed, printed_truncated: done.printed_truncated })
}

fn out_of_turn() -> ScriptError {
    ScriptError::Lost("it said something out of turn".to_owned())
}

/// What it means that nothing more is heard of a script.
fn lost(lease: &mut Lease, limits: &ScriptLimits, error: &TalkError) -> ScriptError {
    match error {
        TalkError::TimedOut => {
            let max = u64::try_from(limits.wall.as_millis()).unwrap_or(u64::MAX);
            ScriptError::Limit { kind: LimitKind::Time, max, printed: String::new() }
        }
        TalkError::Closed => ScriptError::Lost(lease.end().unwrap_or_else(|| error.to_string())),
        TalkError::Content(_) => ScriptError::Lost(error.to_string()),
    }
}
