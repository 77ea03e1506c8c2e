//! What host and script process say to each other: a length (4 bytes, little-endian, of what follows), the protocol's
//! version (1 byte), a value in postcard's form. Both sides bound both directions before anything is allocated.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wire::{Boundary, Ended, Frame, GlyphNames, Message};

use crate::{ScriptError, ScriptLimits, Seen};

const VERSION: u8 = 3;
/// What a host may say: frames take about 15 kB each.
pub(crate) const REQUEST_BYTES_MAX: usize = 64 << 20;
/// What a script process may say.
pub(crate) const REPLY_BYTES_MAX: usize = 8 << 20;
/// How many frames are scored by one message.
pub(crate) const SCORES_MAX: usize = 64;

/// A boundary as a script sees it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sight {
    pub(crate) boundary: Boundary,
    pub(crate) frame: Frame,
    pub(crate) ended: Option<Ended>,
}

/// A script and what bounds it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) source: String,
    pub(crate) limits: ScriptLimits,
    /// CPU time after which it is stopped, before the host's own limit, so that the process stays.
    pub(crate) stop_after: Duration,
}

/// What a host says. It is written with [`RequestRef`], which has the same form and owns nothing.
#[derive(Debug, Deserialize)]
pub(crate) enum Request {
    /// Run a script on this sight.
    Eval(Job, Box<Sight>),
    /// Run it on each of these, and tell the number that it gives.
    Score(Job, Vec<Sight>),
    /// What was asked for.
    Frames(Vec<Sight>),
    /// What was asked for.
    Messages(Vec<Message>),
    /// What was asked for, as far as it is known.
    Names(Option<GlyphNames>),
    /// It can't be had.
    Refused(String),
}

#[derive(Serialize)]
pub(crate) enum RequestRef<'a> {
    Eval(&'a Job, &'a Seen<'a>),
    Score(&'a Job, &'a [Seen<'a>]),
    Frames(&'a [Seen<'a>]),
    Messages(&'a [Message]),
    Names(Option<&'a GlyphNames>),
    Refused(&'a str),
}

/// What a script has come to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// JSON; nothing where the script gave nothing.
    pub(crate) value: Option<String>,
    pub(crate) printed: String,
    pub(crate) printed_truncated: bool,
}

/// What a script process says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// It is closed in and waits for scripts.
    Ready,
    /// The script wants frames: `count` of them in order, the last of which is that before `before`.
    WantFrames { before: Boundary, count: u32 },
    /// The script wants so many of the newest messages.
    WantMessages { count: u32 },
    /// The script wants what glyphs are called.
    WantNames,
    /// A script has ended.
    Evaluated(Result<Done, ScriptError>),
    /// The score of the next frame. After an error there are no more.
    Scored(Result<Result<f64, String>, ScriptError>),
}

/// Why nothing could be said or heard.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TalkError {
    /// The other side is gone.
    #[error("it is gone")]
    Closed,
    /// It has used its CPU time.
    #[error("it took too long")]
    Overspent,
    /// It has given no answer for too long, and has not used its CPU time either.
    #[error("it gives no answer")]
    Stalled,
    /// Nobody waits any more.
    #[error("nobody waits for it")]
    Cancelled,
    /// Not what it should be.
    #[error("{0}")]
    Content(String),
}

impl From<std::io::Error> for TalkError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Self::Stalled,
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Self::Closed,
            _ => Self::Content(error.to_string()),
        }
    }
}

/// Makes the bytes of a message.
pub(crate) fn packed<T: Serialize>(value: &T, bytes_max: usize) -> Result<Vec<u8>, TalkError> {
    let content = |error: postcard::Error| TalkError::Content(error.to_string());
    let mut bytes = postcard::to_extend(value, vec![0; 5]).map_err(content)?;
    let rest = bytes.len() - 4;
    let length = u32::try_from(rest).ok().filter(|_| rest <= bytes_max);
    let length = length.ok_or_else(|| TalkError::Content(format!("a message of {rest} bytes is over {bytes_max}")))?;
    let [a, b, c, d] = length.to_le_bytes();
    bytes[..5].copy_from_slice(&[a, b, c, d, VERSION]);
    Ok(bytes)
}

/// Says something.
pub(crate) fn say<T: Serialize>(to: &mut impl Write, value: &T, bytes_max: usize) -> Result<(), TalkError> {
    Ok(to.write_all(&packed(value, bytes_max)?)?)
}

/// Hears something.
pub(crate) fn hear<T: DeserializeOwned>(from: &mut impl Read, bytes_max: usize) -> Result<T, TalkError> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let [a, b, c, d, version] = head;
    let bytes = (u32::from_le_bytes([a, b, c, d]) as usize).checked_sub(1);
    let bytes = bytes.filter(|bytes| version == VERSION && *bytes < bytes_max);
    let bytes = bytes.ok_or_else(|| TalkError::Content("it is no message".to_owned()))?;
    let mut body = vec![0; bytes];
    from.read_exact(&mut body)?;
    match postcard::take_from_bytes(&body) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(TalkError::Content(format!("{} bytes too many", rest.len()))),
        Err(error) => Err(TalkError::Content(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard_and_both_forms_are_one() {
        let frame = Frame { turn: 7, ..Frame::default() };
        let job = Job { source: "1".to_owned(), limits: ScriptLimits::default(), stop_after: Duration::from_secs(1) };
        let seen = Seen { boundary: Boundary(3), frame: &frame, ended: None };
        let mut bytes = Vec::new();
        for request in [
            RequestRef::Eval(&job, &seen),
            RequestRef::Score(&job, &[seen]),
            RequestRef::Frames(&[seen, seen]),
            RequestRef::Messages(&[]),
            RequestRef::Names(Some(&GlyphNames::default())),
            RequestRef::Names(None),
            RequestRef::Refused("no"),
        ] {
            say(&mut bytes, &request, REQUEST_BYTES_MAX).unwrap();
        }
        let mut from = bytes.as_slice();
        let mut heard = || hear::<Request>(&mut from, REQUEST_BYTES_MAX).unwrap();
        assert!(matches!(heard(), Request::Eval(job, sight) if job.source == "1" && sight.frame == frame));
        assert!(matches!(heard(), Request::Score(_, sights) if sights[0].boundary == Boundary(3)));
        assert!(matches!(heard(), Request::Frames(sights) if sights.len() == 2));
        assert!(matches!(heard(), Request::Messages(messages) if messages.is_empty()));
        assert!(matches!(heard(), Request::Names(Some(names)) if names == GlyphNames::default()));
        assert!(matches!(heard(), Request::Names(None)));
        assert!(matches!(heard(), Request::Refused(why) if why == "no"));
    }

    #[test]
    fn what_is_no_message_is_refused_before_anything_is_allocated() {
        for bytes in [
            &[][..],
            &[1, 0, 0],
            &[0, 0, 0, 0, VERSION],
            &[2, 0, 0, 0, VERSION + 1, 0],
            &[255, 255, 255, 255, VERSION, 0],
            &[3, 0, 0, 0, VERSION, 0],
            &[3, 0, 0, 0, VERSION, 0, 0],
            &[2, 0, 0, 0, VERSION, 99],
            b"HTTP/1.1 200 OK",
        ] {
            assert!(hear::<Reply>(&mut &*bytes, 1_000).is_err(), "{bytes:?}");
        }
        assert!(matches!(hear::<Reply>(&mut &[2, 0, 0, 0, VERSION, 0][..], 1_000), Ok(Reply::Ready)));
        assert!(packed(&"x".repeat(100), 50).is_err());
    }
}
