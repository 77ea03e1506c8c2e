/// Why a file is no trajectory that can be judged.
#[derive(Debug, thiserror::Error)]
pub enum NleError {
    /// The file can't be read.
    #[error("can't read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Not gzip, or damaged.
    #[error("line {line}: the file is not whole gzip data: {source}")]
    Gzip {
        /// How many lines came before.
        line: u64,
        /// What was wrong with it.
        source: std::io::Error,
    },
    /// A line that is too long, or too many lines.
    #[error("line {line}: {what}")]
    Size {
        /// Counted from 1.
        line: u64,
        /// Which limit.
        what: &'static str,
    },
    /// A line that is no JSON of the format.
    #[error("line {line}: {source}")]
    Json {
        /// Counted from 1.
        line: u64,
        /// What was wrong with it.
        source: serde_json::Error,
    },
    /// A line that breaks the format's order or says what can't be.
    #[error("line {line}: {what}")]
    Form {
        /// Counted from 1.
        line: u64,
        /// What was wrong with it.
        what: String,
    },
    /// A header that asks for something that this engine does not imitate.
    #[error("the file needs {0}, which this engine does not imitate")]
    Unsupported(String),
    /// A header whose power-on record is refused.
    #[error("the game can't be powered on as recorded: {0}")]
    PowerOn(#[from] wire::PowerOnError),
    /// The machine can't go on.
    #[error(transparent)]
    Machine(#[from] machine::MachineError),
}

impl NleError {
    pub(crate) fn form(line: u64, what: impl Into<String>) -> Self {
        Self::Form { line, what: what.into() }
    }
}
