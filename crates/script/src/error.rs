use serde::{Deserialize, Serialize};

/// Which of a script's limits was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitKind {
    /// Turns of loops and calls.
    Steps,
    /// Milliseconds of CPU time.
    Time,
    /// Bytes of memory.
    Memory,
}

impl LimitKind {
    /// The word for it in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Time => "time_ms",
            Self::Memory => "memory_bytes",
        }
    }
}

/// Why a script gave no value. Nothing outside it has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ScriptError {
    /// The text is longer than a script may be.
    #[error("the script has {given} bytes, more than {max}")]
    TooLong {
        /// Its bytes.
        given: usize,
        /// The most there may be.
        max: usize,
    },
    /// The text is no script.
    #[error("{}{message}", at(*line))]
    Syntax {
        /// The line, counted from 1.
        line: Option<u32>,
        /// What is wrong there.
        message: String,
    },
    /// It stopped with an error.
    #[error("{}{message}", at(*line))]
    Runtime {
        /// The line, counted from 1.
        line: Option<u32>,
        /// What it said.
        message: String,
        /// What it had printed.
        printed: String,
    },
    /// It reached a limit.
    #[error("the script was stopped at its limit of {} {max}", kind.word())]
    Limit {
        /// Which.
        kind: LimitKind,
        /// The limit.
        max: u64,
        /// What it had printed, where that is still known.
        printed: String,
    },
    /// It ended well, but its value can't be told.
    #[error("the script's value: {0}")]
    Value(String),
    /// What it asked for could not be had.
    #[error("{0}")]
    Past(String),
    /// Whoever wanted its value wants it no more.
    #[error("nobody wants the script's value any more")]
    Cancelled,
    /// Its process ended, gave no answer or said what no script says.
    #[error("the script's process was lost: {0}")]
    Lost(String),
    /// No process could be started for it.
    #[error("no process for scripts can be started: {0}")]
    Spawn(String),
}

fn at(line: Option<u32>) -> String {
    line.map(|line| format!("line {line}: ")).unwrap_or_default()
}
