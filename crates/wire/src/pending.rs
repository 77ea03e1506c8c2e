use serde::{Deserialize, Serialize};

/// What a machine waits for at a boundary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// What kind of answer it takes.
    pub kind: PendingKind,
    /// In which part of a game it asks.
    pub stage: Stage,
    /// The question as the game put it; empty where it asks nothing.
    pub prompt: String,
    /// The keys that the question names as answers, one character each: the choices of a yes/no question (`#` there
    /// stands for a count too), the item letters that it suggests, the letter that picks a menu's only entry at a
    /// `--More--`. Of a direction or a position, the keys that move: west and on clockwise to southwest, then down and
    /// up, then those for oneself. Empty where it names none.
    pub answers: String,
    /// What ENTER or SPACE would answer, where the game has a default; ESC answers `q` or else `n` where it can.
    pub default: Option<char>,
    /// How many bytes of text it takes in all.
    pub capacity: Option<u16>,
    /// What has been typed so far of a text, a count (also one in a menu) or an extended command.
    pub typed: String,
}

/// The kinds of answer that the game waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum PendingKind {
    /// A command: the hero is free to act.
    Command = 1,
    /// The rest of a count, or the command or letter that follows it.
    Count = 2,
    /// A direction.
    Direction = 3,
    /// The letter of an item.
    Item = 4,
    /// One of a few keys, as in yes or no.
    Choice = 5,
    /// A line of text.
    Text = 6,
    /// Entries of a menu.
    Menu = 7,
    /// A sign that a message has been read.
    More = 8,
    /// A sign that a page of text has been read.
    Window = 9,
    /// A place on the map.
    Position = 10,
    /// The name of an extended command.
    Extended = 11,
    /// Any single key, taken as it is.
    Key = 12,
}

/// In which part of a game something happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Stage {
    /// Before the hero stands in the dungeon.
    Start = 0,
    /// The game runs.
    #[default]
    Play = 1,
    /// The game is over and shows what there was.
    Ending = 2,
}

impl PendingKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 12] = [
        Self::Command,
        Self::Count,
        Self::Direction,
        Self::Item,
        Self::Choice,
        Self::Text,
        Self::Menu,
        Self::More,
        Self::Window,
        Self::Position,
        Self::Extended,
        Self::Key,
    ];

    /// The kind with this number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// The word for it in JSON and in prose.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Count => "count",
            Self::Direction => "direction",
            Self::Item => "item",
            Self::Choice => "choice",
            Self::Text => "text",
            Self::Menu => "menu",
            Self::More => "more",
            Self::Window => "window",
            Self::Position => "position",
            Self::Extended => "extended",
            Self::Key => "key",
        }
    }
}

impl std::fmt::Display for PendingKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}
