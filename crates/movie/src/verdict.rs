use wire::{Boundary, Check, Ended, Key, PlayDigest, PowerOnError, StateDigest};

use crate::format::Finish;
use crate::reader::ReadError;

/// What a replay from power-on says about a movie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Same ROM, same bytes.
    Exact,
    /// Another ROM, and every play digest agrees.
    SamePlay,
    /// Play agrees, but the file is not as it was written.
    Altered {
        /// The first line, counted from 1, that was changed or lies where it was not.
        line: u64,
    },
    /// Play differs.
    Desync(Desync),
    /// Nothing can be said.
    CannotJudge(CannotJudge),
}

/// Where and how play first differs from the movie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Desync {
    /// The boundary after the first input after which play differs; that input's index is one less.
    pub boundary: Boundary,
    /// That input. `None`: power-on itself differs.
    pub key: Option<Key>,
    /// What differs.
    pub difference: Difference,
}

/// What differs at a boundary. The movie's part is `expected`, the replay's `actual`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The check of an input.
    Check {
        /// In the movie.
        expected: Check,
        /// In the replay.
        actual: Check,
    },
    /// The check of the first input, where the movie has no digest of power-on: play may have parted before any input.
    First {
        /// In the movie.
        expected: Check,
        /// In the replay.
        actual: Check,
    },
    /// The whole play digest.
    Play {
        /// In the movie.
        expected: PlayDigest,
        /// In the replay.
        actual: PlayDigest,
    },
    /// Play is the same and memory is not, under one ROM.
    State {
        /// In the movie.
        expected: StateDigest,
        /// In the replay.
        actual: StateDigest,
    },
    /// The game ended and the movie has more inputs.
    EndedEarly {
        /// How many inputs are left.
        inputs_left: u64,
        /// How the replay ended.
        actual: Box<Ended>,
    },
    /// The game refuses an edit that was made when the movie was.
    Edit {
        /// Why.
        reason: String,
    },
    /// The game did not end as the movie says, or at all, or though it should go on.
    Finish {
        /// In the movie.
        expected: Box<Finish>,
        /// In the replay; `None`: the game goes on.
        actual: Option<Box<Ended>>,
    },
}

/// Why nothing can be said about a movie.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotJudge {
    /// The file can't be read.
    #[error("the file cannot be read: {0}")]
    Read(#[from] ReadError),
    /// Another engine, which plays otherwise.
    #[error("the movie is of engine {movie}, this is engine {ours}")]
    OtherEngine {
        /// The movie's engine id.
        movie: String,
        /// The id of the engine at hand.
        ours: String,
    },
    /// The engine refuses the power-on record.
    #[error("the movie's power-on record is refused: {0}")]
    PowerOn(#[from] PowerOnError),
    /// The movie holds an edit that this version can't make.
    #[error("an operator edited the machine at boundary {0} in a way that this version does not know")]
    Debug(Boundary),
    /// The worker was lost, or the replay was stopped.
    #[error("the replay was not finished: {0}")]
    Worker(String),
    /// The replay left something out.
    #[error("the replay did not show what the movie has at boundary {0}")]
    Incomplete(Boundary),
}

impl Verdict {
    /// The verdict in one word: `exact`, `same-play`, `altered`, `desync`, `cannot-judge`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::SamePlay => "same-play",
            Self::Altered { .. } => "altered",
            Self::Desync(_) => "desync",
            Self::CannotJudge(_) => "cannot-judge",
        }
    }

    /// What `movie verify` exits with: 0 the same, 1 not the same, 3 unknown.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Exact | Self::SamePlay => 0,
            Self::Altered { .. } | Self::Desync(_) => 1,
            Self::CannotJudge(_) => 3,
        }
    }
}

impl From<ReadError> for Verdict {
    fn from(error: ReadError) -> Self {
        Self::CannotJudge(error.into())
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Exact | Self::SamePlay => Ok(()),
            Self::Altered { line } => write!(f, ": line {line} is not as it was written, but play is the same"),
            Self::Desync(desync) => write!(f, ": {desync}"),
            Self::CannotJudge(reason) => write!(f, ": {reason}"),
        }
    }
}

impl std::fmt::Display for Desync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { boundary, key, difference } = self;
        match key {
            Some(key) => {
                let index = boundary.0.saturating_sub(1);
                write!(f, "after input {index} ({key}), at boundary {boundary}, {difference}")
            }
            None => {
                write!(f, "at power-on, before any input, {difference}")?;
                match difference {
                    Difference::Play { .. } => f.write_str(": the power-on record or the engine is another"),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Check { expected: Check(expected), actual: Check(actual) } => {
                write!(f, "play differs: the movie has check {expected:08x}, the replay {actual:08x}")
            }
            Self::First { expected: Check(expected), actual: Check(actual) } => {
                write!(
                    f,
                    "play differs: the movie has check {expected:08x}, the replay {actual:08x}; it is the first to be \
                     compared, so the power-on record, the engine or this input is another"
                )
            }
            Self::Play { expected, actual } => {
                write!(f, "play differs: the movie has digest {expected}, the replay {actual}")
            }
            Self::State { expected, actual } => {
                write!(f, "memory differs though play is the same: the movie has state {expected}, the replay {actual}")
            }
            Self::EndedEarly { inputs_left, actual } => {
                write!(f, "the game ended ({:?}) and the movie has {inputs_left} more inputs", actual.text)
            }
            Self::Edit { reason } => write!(f, "an operator's edit can't be made again: {reason}"),
            Self::Finish { expected, actual } => {
                let replay = actual.as_ref().map_or_else(
                    || "the game goes on".to_owned(),
                    |ended| format!("the game ended ({:?})", ended.text),
                );
                match expected.as_ref() {
                    Finish::Ended(ended) => write!(f, "the movie has an end ({:?}), but {replay}", ended.text),
                    Finish::Open | Finish::Unknown => write!(f, "the movie has no end, but {replay}"),
                }
            }
        }
    }
}
