use lab::{Boundary, LabError, MachineId, Revision, Snapshot, Stale};
use serde_json::{Map, Value, json};
use wire::{BatchError, Key};

use crate::names::Names;

/// What kind of thing went wrong with a call; the word that a client can rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    NoGame,
    GameActive,
    GameOver,
    UnknownMachine,
    Stale,
    WrongPending,
    InvalidKey,
    InvalidSelection,
    InvalidResponse,
    InvalidArgument,
    InvalidSeed,
    LimitExceeded,
    Busy,
    RomMismatch,
    RefusedPath,
    FileExists,
    EngineFailure,
    Disabled,
    Cancelled,
    ScriptFailed,
}

impl Code {
    /// All of them, in the order of the documents.
    pub(crate) const ALL: [Self; 20] = [
        Self::NoGame,
        Self::GameActive,
        Self::GameOver,
        Self::UnknownMachine,
        Self::Stale,
        Self::WrongPending,
        Self::InvalidKey,
        Self::InvalidSelection,
        Self::InvalidResponse,
        Self::InvalidArgument,
        Self::InvalidSeed,
        Self::LimitExceeded,
        Self::Busy,
        Self::RomMismatch,
        Self::RefusedPath,
        Self::FileExists,
        Self::EngineFailure,
        Self::Disabled,
        Self::Cancelled,
        Self::ScriptFailed,
    ];

    /// When it is told, for the reference.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::NoGame => "There is no main machine yet: `new_game` makes one.",
            Self::GameActive => "A game runs that would be lost: end it with `quit_game`, or fork.",
            Self::GameOver => "The machine's game has ended; it can be looked at.",
            Self::UnknownMachine => "There is no machine of this id, or no longer.",
            Self::Stale => {
                "The call was decided on an older revision; the error tells the newest and what was pressed since."
            }
            Self::WrongPending => "The game waits for something else; the error tells what.",
            Self::InvalidKey => "There is no key of this name.",
            Self::InvalidSelection => "The menu has no such entry, or doesn't take it so.",
            Self::InvalidResponse => "The prompt doesn't take this answer.",
            Self::InvalidArgument => "`error.field` is missing, unknown, of another type or out of bounds.",
            Self::InvalidSeed => "It is no number from 0 to 2^64-1.",
            Self::LimitExceeded => "More than a limit of this server allows; `info` tells the limits.",
            Self::Busy => "Too many calls wait for this machine, or no worker is free.",
            Self::RomMismatch => "It was made with another ROM; both are named.",
            Self::RefusedPath => {
                "No file of this name is there; or it is no name: 1 to 64 letters, digits, `_` and `-`."
            }
            Self::FileExists => "A file of this name is there; nothing is ever overwritten.",
            Self::EngineFailure => "A worker or the engine failed; the machine stands at its last boundary.",
            Self::Disabled => "The server was started without what this needs; the error says how.",
            Self::Cancelled => "The client or another call ended it; what was pressed by then stays.",
            Self::ScriptFailed => {
                "The script gave no value; `error.kind` is syntax, runtime, value, lost, or limit with `error.limit`."
            }
        }
    }

    /// The word for it in results.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::NoGame => "NO_GAME",
            Self::GameActive => "GAME_ACTIVE",
            Self::GameOver => "GAME_OVER",
            Self::UnknownMachine => "UNKNOWN_MACHINE",
            Self::Stale => "STALE",
            Self::WrongPending => "WRONG_PENDING",
            Self::InvalidKey => "INVALID_KEY",
            Self::InvalidSelection => "INVALID_SELECTION",
            Self::InvalidResponse => "INVALID_RESPONSE",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::InvalidSeed => "INVALID_SEED",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::Busy => "BUSY",
            Self::RomMismatch => "ROM_MISMATCH",
            Self::RefusedPath => "REFUSED_PATH",
            Self::FileExists => "FILE_EXISTS",
            Self::EngineFailure => "ENGINE_FAILURE",
            Self::Disabled => "DISABLED",
            Self::Cancelled => "CANCELLED",
            Self::ScriptFailed => "SCRIPT_FAILED",
        }
    }
}

/// A call that gave no result: what a client sees under `error`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) details: Map<String, Value>,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Map::new() }
    }

    /// An argument that is wrong: `field` names it.
    pub(crate) fn argument(field: &str, message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message).with("field", field)
    }

    pub(crate) fn no_game() -> Self {
        Self::new(Code::NoGame, "there is no game: call new_game first")
    }

    /// Nothing can be pressed any more on a machine of this name.
    pub(crate) fn game_over(name: &str) -> Self {
        Self::new(
            Code::GameOver,
            format!(
                "the game of {name} is over: nothing can be pressed. new_game or reset begins another; seek takes main \
                 back to an earlier boundary of this one unless it was quit; so does fork_create, as a fork, and \
                 fork_adopt takes that into main"
            ),
        )
    }

    /// Adds a detail.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Adds where the machine stands, for what is not known yet.
    pub(crate) fn at(mut self, name: &str, snapshot: &Snapshot) -> Self {
        let stand = [
            ("machine", json!(name)),
            ("boundary", json!(snapshot.boundary.0)),
            ("revision", json!(snapshot.revision.0)),
        ];
        for (field, value) in stand {
            self.details.entry(field).or_insert(value);
        }
        self
    }

    /// The object that stands under `error`.
    pub(crate) fn into_value(self) -> Value {
        let mut object = Map::new();
        object.insert("code".to_owned(), json!(self.code.word()));
        object.insert("message".to_owned(), json!(self.message));
        object.extend(self.details);
        Value::Object(object)
    }

    /// The one place where errors of the lab become codes. Machines are called by their names here.
    pub(crate) fn from_lab(error: LabError, names: &Names) -> Self {
        let name = |machine: MachineId| names.name_of(machine);
        match error {
            LabError::UnknownMachine(machine) => {
                Self::new(Code::UnknownMachine, format!("there is no machine {}", name(machine)))
            }
            LabError::Stale(stale) => Self::stale(&name(stale.machine), &stale),
            LabError::Busy { machine, queue } => {
                Self::new(Code::Busy, format!("{queue} calls wait for {} already: try again later", name(machine)))
                    .with("machine", name(machine))
            }
            LabError::LimitExceeded { what, given, max } => {
                Self::new(Code::LimitExceeded, format!("{what}: {given} would exceed the limit of {max}"))
                    .with("limit", max)
            }
            LabError::GameOver(machine) => Self::game_over(&name(machine)).with("machine", name(machine)),
            LabError::GameActive(machine) => {
                Self::new(Code::GameActive, format!("the game of {} is not over", name(machine)))
            }
            LabError::NotAFork { machine, fork } => {
                let (fork, machine) = (name(fork), name(machine));
                let message = format!(
                    "{fork} is no fork of the game of {machine}, nor was it powered on alike: state_save it, and \
                     state_load into main goes on with it"
                );
                Self::argument("fork", message)
            }
            LabError::LuckNeeded(machine) => Self::argument(
                "luck",
                format!(
                    "{} draws other random numbers: give luck \"take\" to take them, or mode \"replay\" to press its \
                     keys under the main machine's own luck",
                    name(machine)
                ),
            ),
            LabError::NothingToReplay(machine) => {
                Self::argument("fork", format!("{} has no inputs of its own to replay", name(machine)))
            }
            LabError::NoBoundary { machine, given, last } => Self::argument(
                "boundary",
                format!("{} is at boundary {last}: there is no boundary {given}", name(machine)),
            ),
            LabError::Batch(error) => Self::from_batch(&error, "keys"),
            LabError::NoState(_) => Self::new(Code::GameOver, "its end left no state to save: movie_export has it all"),
            LabError::OtherRom(other) => {
                let message = format!(
                    "{other}: `nethack-lab state movie` takes it out, for movie_open under a ROM that plays the same"
                );
                Self::roms(message, &other.rom_id, &other.running_rom_id)
            }
            LabError::Failed { machine, reason } => {
                Self::new(Code::EngineFailure, format!("{} has failed: {reason}", name(machine)))
            }
            LabError::EngineFailure { reason, lost } => {
                let failure = Self::new(Code::EngineFailure, format!("engine failure: {reason}"));
                match lost {
                    Some((Boundary(at), key)) => failure.with("lost", json!({"at": at, "key": key.name()})),
                    None => failure,
                }
            }
            LabError::Journal { nothing_sent, applied, .. } => {
                let keys = if nothing_sent { "no key was sent" } else { "keys had been sent: observe shows them" };
                Self::new(Code::EngineFailure, format!("{error}; {keys}"))
                    .with("nothing_sent", nothing_sent)
                    .with("applied", applied)
            }
            other => match other.cause() {
                LabError::RomMismatch { recorded, running } => Self::roms(other.to_string(), recorded, running),
                _ => Self::new(code_of(&other), other.to_string()),
            },
        }
    }

    fn roms(message: String, recorded: &str, running: &str) -> Self {
        Self::new(Code::RomMismatch, message).with("recorded", recorded).with("running", running)
    }

    /// A batch that can't be; `field` says where it stands.
    pub(crate) fn from_batch(error: &BatchError, field: &str) -> Self {
        let code = match error {
            BatchError::Key { .. } | BatchError::Character(_) => Code::InvalidKey,
            BatchError::Length { .. } => Code::LimitExceeded,
            BatchError::Empty => Code::InvalidArgument,
        };
        let message = match error {
            BatchError::Key { error, .. } => format!("{error}; {SEVERAL_KEYS}"),
            _ => error.to_string(),
        };
        Self::new(code, message).with("field", field)
    }

    fn stale(name: &str, stale: &Stale) -> Self {
        let message = format!(
            "{name} is at revision {}, not {}: nothing was done; look at what has changed, then call with the current \
             revision",
            stale.current, stale.expected
        );
        let mut failure = Self::new(Code::Stale, message)
            .with("machine", name)
            .with("boundary", stale.boundary.0)
            .with("revision", stale.current.0);
        if let Some(since) = &stale.since {
            failure = failure.with("inputs_since", key_names(since));
        }
        if let Some(total) = stale.since_total {
            failure = failure.with("inputs_since_total", total);
        }
        failure
    }

    /// A call was decided on a main machine that is no more.
    pub(crate) fn another_game(now: &Snapshot) -> Self {
        let message = format!("main is another game by now, at revision {}: nothing was done", now.revision);
        Self::new(Code::Stale, message).at(crate::names::MAIN, now)
    }

    /// As [`Failure::stale`], for a revision that is not this machine's and about which nothing more is known.
    pub(crate) fn other_revision(name: &str, expected: Revision, snapshot: &Snapshot) -> Self {
        Self::stale(
            name,
            &Stale {
                machine: snapshot.machine,
                expected,
                current: snapshot.revision,
                boundary: snapshot.boundary,
                since: None,
                since_total: None,
            },
        )
    }
}

/// What is said beside a name that is no key: most often it is several keys.
const SEVERAL_KEYS: &str = "several keys go into `text`, as in {\"text\": \"20s\"}";

/// Names of keys, as results show them.
pub(crate) fn key_names(keys: &[Key]) -> Value {
    keys.iter().map(|key| key.name()).collect()
}

fn code_of(error: &LabError) -> Code {
    match error.cause() {
        LabError::JournalInUse(_) => Code::Busy,
        LabError::NoMovies | LabError::NoJournal(_) | LabError::DebugNotAllowed | LabError::HoldsEdits(_) => {
            Code::Disabled
        }
        LabError::Cancelled => Code::Cancelled,
        error if error.is_refusal() => Code::InvalidArgument,
        _ => Code::EngineFailure,
    }
}

#[cfg(test)]
mod tests {
    use wire::KeyError;

    use super::*;

    fn names() -> Names {
        let mut names = Names::default();
        names.set_main(MachineId(7));
        names.add_fork(MachineId(8));
        names
    }

    #[test]
    fn errors_of_the_lab_have_codes_and_call_machines_by_name() {
        let (main, fork) = (MachineId(7), MachineId(8));
        let key_error: KeyError = "nokey".parse::<Key>().unwrap_err();
        for (error, code, word) in [
            (LabError::UnknownMachine(MachineId(9)), Code::UnknownMachine, "no more"),
            (LabError::Busy { machine: fork, queue: 16 }, Code::Busy, "f1"),
            (LabError::LimitExceeded { what: "machines", given: 9, max: 8 }, Code::LimitExceeded, "8"),
            (LabError::GameOver(main), Code::GameOver, "main"),
            (LabError::GameActive(main), Code::GameActive, "main"),
            (LabError::Failed { machine: main, reason: "gone".to_owned() }, Code::EngineFailure, "gone"),
            (LabError::NotAFork { machine: main, fork }, Code::InvalidArgument, "f1"),
            (LabError::LuckNeeded(fork), Code::InvalidArgument, "take"),
            (LabError::NothingToReplay(fork), Code::InvalidArgument, "f1"),
            (
                LabError::NoBoundary { machine: fork, given: Boundary(9), last: Boundary(3) },
                Code::InvalidArgument,
                "f1 is at boundary 3",
            ),
            (LabError::Batch(BatchError::Empty), Code::InvalidArgument, "at least one"),
            (LabError::Batch(BatchError::Character('é')), Code::InvalidKey, "é"),
            (LabError::Batch(BatchError::Key { index: 2, error: key_error }), Code::InvalidKey, "nokey"),
            (LabError::Batch(BatchError::Length { given: 9, max: 8 }), Code::LimitExceeded, "8"),
            (LabError::BadMovie("torn".to_owned()), Code::InvalidArgument, "torn"),
            (LabError::RomMismatch { recorded: "a".to_owned(), running: "b".to_owned() }, Code::RomMismatch, "ROM a"),
            (
                LabError::OtherRom(Box::new(lab::OtherRom {
                    engine_id: "e".to_owned(),
                    rom_id: "old".to_owned(),
                    running_engine_id: "e".to_owned(),
                    running_rom_id: "new".to_owned(),
                })),
                Code::RomMismatch,
                "the movie inside rebuilds it: `nethack-lab state movie`",
            ),
            (LabError::BadState("cut".to_owned()), Code::InvalidArgument, "cut"),
            (LabError::NoState(main), Code::GameOver, "movie_export"),
            (LabError::NoMovies, Code::Disabled, "movies"),
            (LabError::JournalInUse("x.movie".into()), Code::Busy, "x.movie"),
            (LabError::Cancelled, Code::Cancelled, "cancelled"),
            (
                LabError::Journal { path: "j".into(), reason: "full".to_owned(), nothing_sent: true, applied: 0 },
                Code::EngineFailure,
                "no key was sent",
            ),
            (
                LabError::EngineFailure { reason: "died".to_owned(), lost: Some((Boundary(4), Key(b'x'))) },
                Code::EngineFailure,
                "died",
            ),
        ] {
            let text = error.to_string();
            let failure = Failure::from_lab(error, &names());
            assert_eq!(failure.code, code, "{text}");
            assert!(failure.message.contains(word), "{text}: {}", failure.message);
        }
    }

    #[test]
    fn stale_tells_where_the_machine_is_and_what_was_pressed_since() {
        let stale = Stale {
            machine: MachineId(7),
            expected: Revision(3),
            current: Revision(5),
            boundary: Boundary(12),
            since: Some(vec![Key(b'h'), Key::ESC]),
            since_total: Some(2),
        };
        let value = Failure::from_lab(LabError::Stale(Box::new(stale)), &names()).into_value();
        let expected = json!({
            "code": "STALE",
            "message": value["message"],
            "machine": "main",
            "boundary": 12,
            "revision": 5,
            "inputs_since": ["h", "ESC"],
            "inputs_since_total": 2,
        });
        assert_eq!(value, expected);
    }
}
