use std::path::{Path, PathBuf};

use wire::{BatchError, Boundary, EditError, Key, PowerOnError};

use crate::{MachineId, Revision};

/// Why a call gave no result.
///
/// Two kinds, told apart by [`LabError::is_refusal`]: *refused*, where the caller can do better and nothing has changed;
/// and *lost*, where an engine, a worker or a disk failed. Verdicts and ends of games are values, never errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// No machine of this name, or it was deleted.
    #[error("there is no machine {0}")]
    UnknownMachine(MachineId),
    /// The machine has changed since the revision that the call was decided on.
    #[error("the machine is at revision {current}, not {}", .0.expected, current = .0.current)]
    Stale(Box<Stale>),
    /// As many calls as may wait for this machine wait already.
    #[error("{machine}: {queue} calls wait already")]
    Busy {
        /// The machine.
        machine: MachineId,
        /// How many wait.
        queue: usize,
    },
    /// It would exceed a limit.
    #[error("{what}: {given} would exceed the limit of {max}")]
    LimitExceeded {
        /// What is limited.
        what: &'static str,
        /// What was asked for, in all.
        given: u64,
        /// The limit.
        max: u64,
    },
    /// The machine's game has ended or was closed: nothing can be pressed.
    #[error("{0}: the game is over")]
    GameOver(MachineId),
    /// The machine still runs, so this can't be done to it.
    #[error("{0}: the game is not over")]
    GameActive(MachineId),
    /// The machine can't go on; see its snapshot's `failure`.
    #[error("{machine}: it has failed: {reason}")]
    Failed {
        /// The machine.
        machine: MachineId,
        /// Why.
        reason: String,
    },
    /// The two machines do not go back to one power-on, or are one and the same.
    #[error("{fork} is not a fork of {machine}'s game")]
    NotAFork {
        /// The machine that was to take it over.
        machine: MachineId,
        /// The machine that was to be taken over.
        fork: MachineId,
    },
    /// The fork drew other random numbers; to adopt it is to choose one's luck, which has to be said.
    #[error("{0} was reseeded: say that its luck is to be taken, or press its keys on the machine itself")]
    LuckNeeded(MachineId),
    /// A fork without keys of its own has none to press on another machine.
    #[error("{0}: the fork has no inputs of its own")]
    NothingToReplay(MachineId),
    /// The line has no such boundary.
    #[error("{machine} is at boundary {last}; there is no boundary {given}")]
    NoBoundary {
        /// The machine.
        machine: MachineId,
        /// What was asked for.
        given: Boundary,
        /// Its last.
        last: Boundary,
    },
    /// The batch can't be.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The power-on record can't be.
    #[error(transparent)]
    PowerOn(#[from] PowerOnError),
    /// The bytes are no movie, or the movie is damaged.
    #[error("not a movie that can be used: {0}")]
    BadMovie(String),
    /// The movie was made by another engine or ROM than the workers run.
    #[error("the movie belongs to ROM {recorded}, the workers run {running}")]
    RomMismatch {
        /// The movie's.
        recorded: String,
        /// Ours.
        running: String,
    },
    /// Looking at what no player sees and editing were not allowed when the lab was made.
    #[error("debugging is not allowed here")]
    DebugNotAllowed,
    /// A line with so many edits, where debugging is not allowed.
    #[error("it holds an operator's edits ({0}): it is gone on from only where debugging is allowed (--allow-debug)")]
    HoldsEdits(u64),
    /// The edit can't be.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The game refuses the edit.
    #[error("the edit is refused: {0}")]
    EditRefused(String),
    /// There is nothing hidden to look at yet.
    #[error("no game is under way there yet: there is nothing to read before its first command")]
    NotUnderWay,
    /// The bytes are no save state, or they are damaged, or not what they say.
    #[error("not a save state that can be used: {0}")]
    BadState(String),
    /// The bytes are no tree, or they are damaged, or not what they say.
    #[error("not a tree that can be used: {0}")]
    BadTree(String),
    /// A lab can't be set up so.
    #[error("{0}")]
    BadOptions(String),
    /// The state or the tree was made by another engine or ROM than the workers run.
    #[error(transparent)]
    OtherRom(#[from] Box<OtherRom>),
    /// The end of the game left no state of the machine, only its movie.
    #[error("{0}: its end left no state to save, only its movie")]
    NoState(MachineId),
    /// A save state file or a tree can't be written.
    #[error("the file can't be written: {0}")]
    StateFile(String),
    /// The movie does not replay, so it can't be gone on from.
    #[error("the movie does not replay: input {boundary} plays otherwise")]
    Desync {
        /// The boundary at which the input was pressed.
        boundary: Boundary,
    },
    /// The bytes are no ROM.
    #[error("not a ROM that can be used: {0}")]
    BadRom(String),
    /// The lab keeps no journals.
    #[error("no movies directory was given")]
    NoMovies,
    /// There is no journal to go on from.
    #[error("no journal in {}", .0.display())]
    NoJournal(PathBuf),
    /// Another process writes this journal.
    #[error("{} is in use", .0.display())]
    JournalInUse(PathBuf),
    /// The workers have no policy of this name.
    #[error("there is no policy `{name}` in the workers; they have {}", names_text(known))]
    UnknownPolicy {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The state is in the store of another lab.
    #[error("this state belongs to another lab")]
    ForeignState,
    /// Something has changed a machine that was only looked at.
    #[error("{machine} was changed while it was only looked at{}", restored_text(*.restored))]
    Disturbed {
        /// The machine.
        machine: MachineId,
        /// True when it was made again from its line and is what it was, at a new revision.
        restored: bool,
    },
    /// Cancelled before anything was done.
    #[error("cancelled")]
    Cancelled,
    /// This file can't be gone on with.
    #[error("{}: {error}", path.display())]
    InJournal {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, or with going on from it.
        error: Box<LabError>,
    },
    /// A journal or a directory can't be read or written.
    #[error("{}: {reason}{}", path.display(), applied_text(*.applied))]
    Journal {
        /// The file.
        path: PathBuf,
        /// The system's word for it.
        reason: String,
        /// True when no key of this call went to a worker.
        nothing_sent: bool,
        /// How many inputs of this call were pressed before, dismissals included. They stay: the machine is at the
        /// boundary after them.
        applied: u64,
    },
    /// An engine or worker failed and could not be replaced, or the same key killed it twice.
    #[error("engine failure: {reason}")]
    EngineFailure {
        /// What happened.
        reason: String,
        /// The key that killed two workers, with the boundary at which it was pressed. The machine stays there.
        lost: Option<(Boundary, Key)>,
    },
}

/// How a machine stands against an outdated call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The machine.
    pub machine: MachineId,
    /// What the call was decided on.
    pub expected: Revision,
    /// What is.
    pub current: Revision,
    /// The boundary that the machine is at.
    pub boundary: Boundary,
    /// The inputs pressed since, the newest 64 at most. Absent when the revision was never this machine's, is too long
    /// ago, or the line was exchanged since.
    pub since: Option<Vec<Key>>,
    /// How many were pressed since.
    pub since_total: Option<u64>,
}

/// A state or a tree that another ROM reads than the one that runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct OtherRom {
    /// The engine that it is of.
    pub engine_id: String,
    /// The ROM that it is of.
    pub rom_id: String,
    /// The engine that the workers run.
    pub running_engine_id: String,
    /// The ROM that the workers run.
    pub running_rom_id: String,
}

impl OtherRom {
    /// True when the engine that runs plays the same, so that a replay of the movie inside rebuilds the state.
    #[must_use]
    pub fn plays_the_same(&self) -> bool {
        self.engine_id == self.running_engine_id
    }
}

impl std::fmt::Display for OtherRom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { engine_id, rom_id, running_engine_id, running_rom_id } = self;
        if self.plays_the_same() {
            let rebuilds =
                "no other ROM reads it, but this one plays the same, and a replay of the movie inside rebuilds it";
            write!(f, "the state belongs to ROM {rom_id}, the workers run {running_rom_id}: {rebuilds}")
        } else {
            let rebuilds = "nothing but its own ROM reads it, and a replay of the movie inside rebuilds it under its own \
                            engine";
            write!(
                f,
                "the state belongs to engine {engine_id}, ROM {rom_id}; the workers run engine {running_engine_id}, ROM \
                 {running_rom_id}: {rebuilds}"
            )
        }
    }
}

impl LabError {
    /// Why bytes could not be read as a movie; of another file of this project, what it is.
    #[must_use]
    pub fn of_movie(bytes: &[u8], error: &movie::ReadError) -> Self {
        let other = crate::kind_of_file(bytes).filter(|_| !crate::kinds::is_movie(bytes));
        Self::BadMovie(other.map_or_else(|| error.to_string(), ToOwned::to_owned))
    }
}

impl From<crate::state_file_envelope::StateFileError> for LabError {
    fn from(error: crate::state_file_envelope::StateFileError) -> Self {
        Self::BadState(error.to_string())
    }
}

impl LabError {
    /// True when the caller can do better and nothing has changed; false when an engine, a worker or a disk failed.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self.cause(),
            Self::EngineFailure { .. }
                | Self::Journal { .. }
                | Self::Failed { .. }
                | Self::StateFile(_)
                | Self::Disturbed { .. }
        )
    }

    /// What is wrong, without the file in which it is.
    #[must_use]
    pub fn cause(&self) -> &Self {
        match self {
            Self::InJournal { error, .. } => error.cause(),
            error => error,
        }
    }

    /// The same where what was read is a tree.
    pub(crate) fn of_tree(self) -> Self {
        match self {
            Self::BadState(reason) => Self::BadTree(reason),
            error => error,
        }
    }

    /// Names the file, where the error does not do so of itself.
    pub(crate) fn in_journal(self, path: &Path) -> Self {
        match self {
            error @ (Self::NoJournal(_) | Self::JournalInUse(_) | Self::Journal { .. } | Self::InJournal { .. }) => {
                error
            }
            error => Self::InJournal { path: path.to_owned(), error: Box::new(error) },
        }
    }

    /// A journal's failure once `applied` inputs were pressed.
    pub(crate) fn after_pressing(self, applied: usize) -> Self {
        match self {
            Self::Journal { path, reason, .. } => {
                Self::Journal { path, reason, nothing_sent: false, applied: applied as u64 }
            }
            error => error,
        }
    }
}

fn restored_text(restored: bool) -> &'static str {
    if restored { ", and was restored" } else { "" }
}

fn names_text(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn applied_text(applied: u64) -> String {
    match applied {
        0 => String::new(),
        1 => " (1 key of this call was pressed before)".to_owned(),
        count => format!(" ({count} keys of this call were pressed before)"),
    }
}
