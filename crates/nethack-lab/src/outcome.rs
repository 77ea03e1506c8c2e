//! What the executable exits with.

use std::process::ExitCode;

use lab::{LabError, Verdict};

/// How a command went, as its exit status says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// 0: done, or the same.
    Good,
    /// 1: desync, altered, or a failure.
    Failure,
    /// 2: the command was given wrongly.
    Usage,
    /// 3: nothing can be said.
    CannotJudge,
}

/// A mistake of whoever gave the command, as opposed to a failure.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Good => 0_u8,
            Outcome::Failure => 1,
            Outcome::Usage => 2,
            Outcome::CannotJudge => 3,
        })
    }
}

impl From<&Verdict> for Outcome {
    fn from(verdict: &Verdict) -> Self {
        match verdict.exit_code() {
            0 => Self::Good,
            1 => Self::Failure,
            _ => Self::CannotJudge,
        }
    }
}

/// What an error exits with.
pub(crate) fn of_error(error: &anyhow::Error) -> Outcome {
    if error.is::<Usage>() || matches!(error.downcast_ref(), Some(LabError::PowerOn(_))) {
        return Outcome::Usage;
    }
    match error.downcast_ref::<LabError>() {
        Some(
            LabError::BadMovie(_)
            | LabError::RomMismatch { .. }
            | LabError::BadState(_)
            | LabError::BadTree(_)
            | LabError::OtherRom(_),
        ) => Outcome::CannotJudge,
        Some(LabError::BadOptions(_)) => Outcome::Usage,
        _ => Outcome::Failure,
    }
}

/// What to do about a movie of another engine.
pub(crate) const OTHER_ROM: &str = "use --rom with the ROM that made it";

/// What to do about a save state or a tree of another ROM.
const TAKE_OUT: &str = "`state movie` and `tree movie` take the movie out, `tree rebuild` replays a whole tree";

/// An error in words, with what can be done about it where that is known.
pub(crate) fn told(error: &anyhow::Error) -> String {
    match error.downcast_ref::<LabError>() {
        Some(LabError::RomMismatch { .. }) => format!("{error:#}: {OTHER_ROM}"),
        Some(LabError::OtherRom(_)) => format!("{error:#}. {OTHER_ROM}; {TAKE_OUT}"),
        _ => format!("{error:#}"),
    }
}
