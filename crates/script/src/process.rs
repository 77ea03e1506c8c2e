//! The script process itself.

use std::cell::{OnceCell, RefCell};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use wire::{Boundary, Frame, GlyphNames, Message};

use crate::offer::{Ask, Nobody};
use crate::protocol::{
    Job, REPLY_BYTES_MAX, REQUEST_BYTES_MAX, Reply, Request, SCORES_MAX, Sight, TalkError, hear, packed, say,
};
use crate::vm::{Scoring, evaluate};
use crate::{ScriptError, ScriptLimits, sandbox};

/// A script process's whole life: serves the host at the other end of standard input until that closes.
///
/// This must be the first and only thing that the process does: it closes all descriptors that it does not know, and
/// gives up what a process may do for good. Nothing is ever written to standard output or error.
#[must_use]
pub fn script_main() -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        // The host sees the end of the process.
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve() -> Result<(), String> {
    sandbox::detach().map_err(text)?;
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map_err(text)?;
    let socket = UnixStream::from(socket);
    warm_up();
    sandbox::enter(socket.as_fd()).map_err(text)?;
    let host = Rc::new(Host(RefCell::new(socket)));
    host.say(&Reply::Ready).map_err(text)?;
    loop {
        let reply = match host.hear() {
            Err(TalkError::Closed) => return Ok(()),
            Err(error) => return Err(error.to_string()),
            Ok(Request::Eval(job, sight)) => {
                let asked = Rc::clone(&host) as Rc<dyn Ask>;
                Reply::Evaluated(evaluate(&job, *sight, asked))
            }
            Ok(Request::Score(_, sights)) if sights.len() > SCORES_MAX => return Err("too many frames".to_owned()),
            Ok(Request::Score(job, sights)) => {
                tell_scores(&host, &job, sights).map_err(text)?;
                continue;
            }
            Ok(_) => return Err("what nobody asked for".to_owned()),
        };
        host.answer(reply).map_err(text)?;
    }
}

/// Tells the score of each sight as soon as it is known, so that the host sees each begin; a limit ends them.
fn tell_scores(host: &Rc<Host>, job: &Job, sights: Vec<Sight>) -> Result<(), TalkError> {
    // Asked for once, however many sights look at cells.
    let (asked, known) = (Rc::clone(host), OnceCell::<Option<GlyphNames>>::new());
    let ask = Nobody(move || known.get_or_init(|| asked.names()).clone());
    let scoring = match Scoring::new(job, Rc::new(ask)) {
        Ok(scoring) => scoring,
        Err(error) => return host.say(&Reply::Scored(Err(error))),
    };
    for sight in sights {
        let score = scoring.score(sight);
        let is_last = score.is_err();
        host.say(&Reply::Scored(score))?;
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Does once what allocates or prepares itself at its first time with calls that the sandbox does not allow.
fn warm_up() {
    let source =
        "pcall(error, 'x') local t = {} for i = 1, 99 do t[i] = tostring(i) end print(#t) error({})".to_owned();
    let job = Job { source, limits: ScriptLimits::default(), stop_after: Duration::from_secs(1) };
    let sight = Sight { boundary: Boundary(0), frame: Frame::default(), ended: None };
    let _ = evaluate(&job, sight, Rc::new(Nobody(|| None)));
    let _ = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(())));
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The other end of the socket.
struct Host(RefCell<UnixStream>);

impl Host {
    fn say(&self, reply: &Reply) -> Result<(), TalkError> {
        say(&mut *self.0.borrow_mut(), reply, REPLY_BYTES_MAX)
    }

    fn hear(&self) -> Result<Request, TalkError> {
        hear(&mut *self.0.borrow_mut(), REQUEST_BYTES_MAX)
    }

    /// A value that is too long to be told is an error of the script's.
    fn answer(&self, reply: Reply) -> Result<(), TalkError> {
        let bytes = match (packed(&reply, REPLY_BYTES_MAX), reply) {
            (Err(_), Reply::Evaluated(_)) => {
                let too_long = ScriptError::Value("it is too long to be told".to_owned());
                packed(&Reply::Evaluated(Err(too_long)), REPLY_BYTES_MAX)
            }
            (packed, _) => packed,
        };
        Ok(self.0.borrow_mut().write_all(&bytes?)?)
    }
}

impl Ask for Host {
    fn sights(&self, before: Boundary, count: usize) -> Result<Vec<Sight>, String> {
        let count = u32::try_from(count).map_err(text)?;
        self.say(&Reply::WantFrames { before, count }).map_err(text)?;
        match self.hear().map_err(text)? {
            Request::Frames(sights) => Ok(sights),
            Request::Refused(reason) => Err(reason),
            _ => Err("the host said something else".to_owned()),
        }
    }

    fn messages(&self, count: usize) -> Result<Vec<Message>, String> {
        let count = u32::try_from(count).map_err(text)?;
        self.say(&Reply::WantMessages { count }).map_err(text)?;
        match self.hear().map_err(text)? {
            Request::Messages(messages) => Ok(messages),
            Request::Refused(reason) => Err(reason),
            _ => Err("the host said something else".to_owned()),
        }
    }

    fn names(&self) -> Option<GlyphNames> {
        self.say(&Reply::WantNames).ok()?;
        match self.hear() {
            Ok(Request::Names(names)) => names,
            _ => None,
        }
    }
}
