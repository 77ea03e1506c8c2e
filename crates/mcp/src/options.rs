use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lab::{LabError, LabOptions, ResumeFrom};
use wire::PowerOn;

use crate::Roster;

/// How an MCP server is set up.
#[derive(Clone, Debug)]
pub struct McpOptions {
    /// The lab below it: workers, journals (`movies`), limits.
    pub lab: LabOptions,
    /// Where exported movies are written to. Absent: nothing is written, movies are handed out inline only.
    pub out_dir: Option<PathBuf>,
    /// A journal to go on with. `Latest` in a directory without journals begins without a game.
    pub resume: Option<ResumeFrom>,
    /// A game to begin with, where no journal was resumed. All but its seeds also holds for later games that are drawn.
    pub power_on: Option<PowerOn>,
    /// Whether games are played fairly: their seeds are withheld until they are over, and nobody looks ahead or goes
    /// back.
    pub fair: bool,
    /// What is refused.
    pub limits: McpLimits,
    /// Somebody who looks on.
    pub viewer: Option<StartViewer>,
}

/// Begins to show a server's machines, and says where they are to be seen.
#[derive(Clone)]
pub struct StartViewer(pub Arc<Begin>);

/// What is called once, when the machines are there.
pub type Begin = dyn Fn(Roster) -> std::io::Result<String> + Send + Sync;

impl std::fmt::Debug for StartViewer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StartViewer")
    }
}

/// What an MCP server refuses by size or number, beside the limits of its lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpLimits {
    /// Forks at once.
    pub forks: usize,
    /// Keys in one `run`.
    pub run_keys: usize,
    /// Keys in one `fork_run`.
    pub fork_run_keys: usize,
    /// Lines in one `try_lines`; each has at most as many keys as a `run`.
    pub lines: usize,
    /// Bytes of one message from the client.
    pub message_bytes: usize,
    /// How long a call waits for its result before it answers that the work goes on.
    pub wait: Duration,
    /// Bytes of a movie that is handed out inline without being asked for.
    pub inline_bytes: usize,
}

impl McpOptions {
    /// A server over a lab with these options: no directory to export to, no game to begin with, default limits.
    #[must_use]
    pub fn new(lab: LabOptions) -> Self {
        Self {
            lab,
            out_dir: None,
            resume: None,
            power_on: None,
            fair: false,
            limits: McpLimits::default(),
            viewer: None,
        }
    }
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            forks: 1_024,
            run_keys: 3_600,
            fork_run_keys: wire::KEYS_MAX,
            lines: 4_096,
            message_bytes: 1 << 20,
            wait: Duration::from_secs(10),
            inline_bytes: 16 << 10,
        }
    }
}

/// Why a server could not begin or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The lab could not be set up, or the game to begin with could not be made.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The game can't be gone on with fairly.
    #[error(
        "{}: --fair can't go on with this game: {reason}. Leave --fair out to go on with it, or leave --resume out (or give \
         --movies another directory) to begin a fair game", journal.display()
    )]
    NotFair {
        /// Its journal.
        journal: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The directory to export to can't be made.
    #[error("{}: {reason}", path.display())]
    OutDir {
        /// The directory.
        path: PathBuf,
        /// The system's word for it.
        reason: String,
    },
    /// The system gives no threads or no standard streams.
    #[error("can't begin to serve: {0}")]
    Runtime(#[from] std::io::Error),
    /// The client broke the protocol before it was set up.
    #[error("the client broke the protocol: {0}")]
    Protocol(String),
}
