use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use wire::{Boundary, Ended, Frame, GlyphNames, Message};

use crate::limits::{FRAMES_MAX, MESSAGES_MAX, SOURCE_BYTES_MAX};
use crate::pool::{Lease, Patience, Pool, Unless, now};
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

    /// What glyphs are called, where that is known; asked for where a script looks at cells.
    fn names(&mut self) -> Option<GlyphNames>;
}

/// Where those who score are told what glyphs are called.
pub type NamesOf<'a> = &'a mut dyn FnMut() -> Option<GlyphNames>;

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
/// Processes that a script is given, one after the other, where they don't answer for no fault of its own.
const PROCESSES_MAX: usize = 2;

/// A process, how long it has, and its first reply.
type Begun<'a> = (Lease, Patience<'a>, Result<Reply, TalkError>);

impl Scripts {
    /// Starts nothing yet.
    #[must_use]
    pub fn new(program: ScriptProgram) -> Self {
        Self(Pool::new(program))
    }

    /// Runs a script on a frame. `source` is an expression, or a chunk that returns its value. `unless` is asked some
    /// twenty times a second whether nobody wants it any more; then its process is killed.
    ///
    /// # Errors
    /// What a script does wrong, the limit that it reached; no process, or lost ones; [`ScriptError::Cancelled`].
    pub fn eval(
        &self,
        source: &str,
        seen: &Seen<'_>,
        limits: &ScriptLimits,
        past: &mut dyn Past,
        unless: Unless<'_>,
    ) -> Result<Evaluated, ScriptError> {
        let job = job(source, limits)?;
        again_if_stalled(limits, |is_new| {
            let request = RequestRef::Eval(&job, seen);
            let (mut lease, mut patience, mut said) = self.begin(&request, limits, is_new, unless)?;
            loop {
                said = match said.map_err(|error| Fault::of(&mut lease, limits, &error))? {
                    Reply::Evaluated(outcome) => {
                        lease.is_well();
                        return Ok(evaluated(outcome?)?);
                    }
                    reply => {
                        // The time that its host takes is not the script's.
                        let since = now();
                        let answer = answer(&reply, past)?;
                        patience.pause(now().saturating_duration_since(since));
                        answer.tell(&mut lease, &patience)
                    }
                };
            }
        })
    }

    /// Runs one script on many frames and gives its number for each, in order; a frame for which it fails or gives no
    /// finite number has its own error. Each frame has a virtual machine of its own, so that scores do not depend on each
    /// other. `limits` hold for each frame, however many are given. `names` is asked at most once what glyphs are called,
    /// and only by a script that looks at cells.
    ///
    /// # Errors
    /// A text that is no script; a limit that was reached at any frame; no process, or lost ones; as `unless` says, which
    /// is asked as by [`Scripts::eval`], [`ScriptError::Cancelled`].
    pub fn score(
        &self,
        source: &str,
        seen: &[Seen<'_>],
        limits: &ScriptLimits,
        names: NamesOf<'_>,
        unless: Unless<'_>,
    ) -> Result<Vec<Result<f64, String>>, ScriptError> {
        let job = job(source, limits)?;
        let mut known = None;
        let mut names = || known.get_or_insert_with(&mut *names).clone();
        let mut scores = Vec::with_capacity(seen.len());
        for some in seen.chunks(SCORES_MAX) {
            if unless() {
                return Err(ScriptError::Cancelled);
            }
            scores
                .extend(again_if_stalled(limits, |is_new| self.score_some(&job, some, is_new, (&mut names, unless)))?);
        }
        Ok(scores)
    }

    fn score_some(
        &self,
        job: &Job,
        some: &[Seen<'_>],
        is_new: bool,
        (names, unless): (NamesOf<'_>, Unless<'_>),
    ) -> Result<Vec<Result<f64, String>>, Fault> {
        let limits = &job.limits;
        let mut scores = Vec::with_capacity(some.len());
        let mut has_asked = false;
        let (mut lease, mut patience, mut said) = self.begin(&RequestRef::Score(job, some), limits, is_new, unless)?;
        loop {
            match said.map_err(|error| Fault::of(&mut lease, limits, &error))? {
                Reply::Scored(Ok(score)) => scores.push(score),
                Reply::WantNames if !has_asked => {
                    has_asked = true;
                    let since = now();
                    let answer = Answer::Names(names());
                    patience.pause(now().saturating_duration_since(since));
                    said = answer.tell(&mut lease, &patience);
                    continue;
                }
                Reply::Scored(Err(error)) => {
                    lease.is_well();
                    return Err(error.into());
                }
                _ => return Err(out_of_turn().into()),
            }
            if scores.len() == some.len() {
                lease.is_well();
                return Ok(scores);
            }
            if unless() {
                return Err(ScriptError::Cancelled.into());
            }
            patience = lease.patience(limits, unless);
            said = lease.hear(&patience);
        }
    }

    /// Has a process begin with a request, and says how long it has. A process that was kept may have been about to die:
    /// the script, which changes nothing, is then given to a new one.
    fn begin<'a>(
        &self,
        request: &RequestRef<'_>,
        limits: &ScriptLimits,
        is_new: bool,
        unless: Unless<'a>,
    ) -> Result<Begun<'a>, ScriptError> {
        let mut lease = self.0.lease(is_new, unless)?;
        let mut patience = lease.patience(limits, unless);
        let mut said = lease.ask(request, &patience);
        if matches!(said, Err(TalkError::Closed)) && lease.is_used() {
            drop(lease);
            lease = self.0.lease(true, unless)?;
            patience = lease.patience(limits, unless);
            said = lease.ask(request, &patience);
        }
        Ok((lease, patience, said))
    }
}

/// Gives a script, which changes nothing, to another process where the first gives no answer: somebody has stopped
/// it, or the system does not let it run.
fn again_if_stalled<T>(limits: &ScriptLimits, mut run: impl FnMut(bool) -> Result<T, Fault>) -> Result<T, ScriptError> {
    for process in 0..PROCESSES_MAX {
        match run(process > 0) {
            Ok(value) => return Ok(value),
            Err(Fault::Script(error)) => return Err(error),
            Err(Fault::Stalled) => {}
        }
    }
    let wall = limits.wall.as_millis();
    Err(ScriptError::Lost(format!("{PROCESSES_MAX} of them gave no answer for {wall} ms each")))
}

/// Why a process has no value.
enum Fault {
    Script(ScriptError),
    /// It does not answer, and has not used its CPU time.
    Stalled,
}

impl From<ScriptError> for Fault {
    fn from(error: ScriptError) -> Self {
        Self::Script(error)
    }
}

/// What a script has asked for.
enum Answer {
    Frames(Vec<(Boundary, Frame)>),
    Messages(Vec<Message>),
    Names(Option<GlyphNames>),
    Refused(String),
}

fn answer(wanted: &Reply, past: &mut dyn Past) -> Result<Answer, ScriptError> {
    let found = match wanted {
        Reply::WantFrames { before, count } => {
            past.frames(*before, (*count as usize).min(FRAMES_MAX)).map(Answer::Frames)
        }
        Reply::WantMessages { count } => past.messages((*count as usize).min(MESSAGES_MAX)).map(Answer::Messages),
        Reply::WantNames => Ok(Answer::Names(past.names())),
        Reply::Ready | Reply::Scored(_) | Reply::Evaluated(_) => return Err(out_of_turn()),
    };
    Ok(found.unwrap_or_else(Answer::Refused))
}

impl Answer {
    /// Says it.
    fn tell(&self, lease: &mut Lease, patience: &Patience<'_>) -> Result<Reply, TalkError> {
        match self {
            Self::Frames(found) => {
                let sights: Vec<Seen<'_>> =
                    found.iter().map(|(boundary, frame)| Seen { boundary: *boundary, frame, ended: None }).collect();
                lease.ask(&RequestRef::Frames(&sights), patience)
            }
            Self::Messages(messages) => lease.ask(&RequestRef::Messages(messages), patience),
            Self::Names(names) => lease.ask(&RequestRef::Names(names.as_ref()), patience),
            Self::Refused(reason) => lease.ask(&RequestRef::Refused(reason), patience),
        }
    }
}

fn job(source: &str, limits: &ScriptLimits) -> Result<Job, ScriptError> {
    if source.len() > SOURCE_BYTES_MAX {
        return Err(ScriptError::TooLong { given: source.len(), max: SOURCE_BYTES_MAX });
    }
    let stop_after = limits.cpu.saturating_sub(limits.cpu / STOP_EARLY_PART);
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

impl Fault {
    /// What it means that nothing more is heard of a script.
    fn of(lease: &mut Lease, limits: &ScriptLimits, error: &TalkError) -> Self {
        Self::Script(match error {
            TalkError::Stalled => return Self::Stalled,
            TalkError::Overspent => {
                let max = u64::try_from(limits.cpu.as_millis()).unwrap_or(u64::MAX);
                ScriptError::Limit { kind: LimitKind::Time, max, printed: String::new() }
            }
            TalkError::Cancelled => ScriptError::Cancelled,
            TalkError::Closed => ScriptError::Lost(lease.end().unwrap_or_else(|| error.to_string())),
            TalkError::Content(_) => ScriptError::Lost(error.to_string()),
        })
    }
}
