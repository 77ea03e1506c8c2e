use std::sync::Arc;
use std::time::Duration;

use render::Symbols;
use wire::{Ended, Frame, Key};

use crate::Index;

/// What the page shows: machines that somebody else runs. Every method may block for a short while and is called from
/// threads made for that; none may change a machine.
pub trait Source: Send + Sync + 'static {
    /// What it is.
    fn kind(&self) -> Kind;

    /// A line for the page's heading: a file's name, for example.
    fn title(&self) -> String;

    /// A number that is another one whenever a machine has changed, come or gone. Cheap: asked several times a second
    /// while somebody watches.
    fn mark(&self) -> u64;

    /// All machines, the main one first.
    fn machines(&self) -> Vec<Published>;

    /// One machine as it is now.
    fn look(&self, id: &str) -> Option<Published>;

    /// Waits until a machine's revision is past `after`, or the time is over.
    fn wait(&self, id: &str, after: u64, timeout: Duration) -> Waited;

    /// Frames of a machine's line, from one boundary on: one at least, `count` at most.
    ///
    /// # Errors
    /// Why there is none.
    fn frames(&self, id: &str, from: u64, count: usize) -> Result<Vec<At>, Refusal>;

    /// The messages of a machine after an id, oldest first, at most `limit`.
    fn messages(&self, id: &str, after: u64, limit: usize) -> Vec<Logged>;

    /// The newest messages of a machine, oldest first, at most `count`.
    fn last_messages(&self, id: &str, count: usize) -> Vec<Logged>;

    /// The keys that were pressed from a boundary on, at most `count`.
    fn keys(&self, id: &str, from: u64, count: usize) -> Vec<Key>;

    /// Turns, levels and ends by boundary, where they are kept.
    fn index(&self, id: &str) -> Option<Arc<Index>>;
}

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Games that are played.
    Live,
    /// A movie: nothing is added to it.
    Movie,
    /// A journal that somebody may still be writing.
    Journal,
}

impl Kind {
    /// The word for it in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Movie => "movie",
            Self::Journal => "journal",
        }
    }
}

/// A machine at one instant. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Published {
    /// Its name in addresses: 1 to 24 letters and digits, such as `main` or `f1`.
    pub id: String,
    /// Its game.
    pub game: String,
    /// Where it was forked from.
    pub lineage: Option<Lineage>,
    /// A number that never comes again; larger after every change.
    pub revision: u64,
    /// Another number once its line was taken back: a boundary seen before may show something else now.
    pub line: u64,
    /// How many inputs lie behind it.
    pub boundary: u64,
    /// `idle`, `waiting`, `running`, `ended`, `aborted` or `failed`.
    pub lifecycle: &'static str,
    /// How its game ended.
    pub ended: Option<Arc<Ended>>,
    /// Why it can't go on, or can't be trusted.
    pub failure: Option<Arc<str>>,
    /// How its game came to be shown, where that is to be told: in place of another, for example.
    pub notice: Option<Arc<str>>,
    /// What is visible.
    pub frame: Arc<Frame>,
    /// What the bytes on its screen stand for.
    pub symbols: Symbols,
}

/// Where a fork comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lineage {
    /// The machine that it was forked from; absent when that is no more.
    pub parent: Option<String>,
    /// At which boundary.
    pub base: u64,
    /// Whether it got random numbers of its own there.
    pub reseeded: bool,
}

/// What a wait has led to.
#[derive(Clone, Debug)]
pub enum Waited {
    /// The machine after a change.
    Changed(Box<Published>),
    /// The time is over.
    Unchanged,
    /// There is no such machine, or no longer.
    Gone,
}

/// A frame of a line.
#[derive(Clone, Debug)]
pub struct At {
    /// Its game, as in [`Published::game`].
    pub game: String,
    /// Its boundary.
    pub boundary: u64,
    /// The key that led to it; absent at power-on.
    pub key: Option<Key>,
    /// What was visible.
    pub frame: Arc<Frame>,
    /// What the bytes on its screen stand for.
    pub symbols: Symbols,
    /// How the game ended there.
    pub ended: Option<Arc<Ended>>,
}

/// A message and where it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The message.
    pub message: wire::Message,
    /// The boundary at which it was there to be read; absent where that isn't kept.
    pub boundary: Option<u64>,
}

/// Why there is no such frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No such machine, or no longer.
    #[error("there is no such machine")]
    UnknownMachine,
    /// Beyond the end of its line.
    #[error("the last boundary is {last}")]
    NoBoundary {
        /// The last boundary.
        last: u64,
    },
    /// The source has not come so far yet.
    #[error("boundary {through} is as far as it goes by now: ask again")]
    NotYet {
        /// How far it has come.
        through: u64,
    },
    /// It can't be made.
    #[error("{0}")]
    Failed(String),
}
