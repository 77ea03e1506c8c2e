use serde::{Deserialize, Serialize};

/// How a game came to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// What kind of end.
    pub kind: EndKind,
    /// NetHack's number for how the game ended, 0 (killed) to 15 (ascended); absent where the game never said.
    pub how: Option<u8>,
    /// Why, in the game's words where it has any: `killed by a jackal`, the panic's text, the signal's name.
    pub text: String,
    /// The record that the game wrote of itself into xlogfile: fields separated by tabs.
    pub xlog: Option<String>,
}

/// The kinds of end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndKind {
    /// The hero died.
    Died,
    /// The hero left the dungeon alive.
    Escaped,
    /// The hero ascended.
    Ascended,
    /// The player quit.
    Quit,
    /// The game was saved; a new game would go on from its save file.
    Saved,
    /// NetHack found itself broken and gave up.
    Panicked,
    /// The engine was stopped by a processor fault.
    Crashed,
    /// One key took longer than the watchdog allows.
    Hung,
    /// The engine asked its BIOS for what it has not got.
    Unsupported,
    /// The engine stopped in another way.
    Exited,
}

impl EndKind {
    /// True for the ends that the rules of the game know; false where the engine failed.
    #[must_use]
    pub fn is_regular(self) -> bool {
        matches!(self, Self::Died | Self::Escaped | Self::Ascended | Self::Quit | Self::Saved)
    }
}
