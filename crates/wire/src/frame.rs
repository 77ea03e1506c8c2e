use serde::{Deserialize, Serialize};

use crate::{Pending, Status};

/// Rows of the terminal.
pub const ROWS: usize = 24;
/// Columns of the terminal.
pub const COLUMNS: usize = 80;
/// Rows of the map; map row y is shown on terminal row y + 1.
pub const MAP_ROWS: usize = 21;
/// Columns of the map, for the game's columns 1 to 79; map column x is shown on terminal column x.
pub const MAP_COLUMNS: usize = 79;

/// Everything visible at a boundary, all from one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The terminal.
    pub screen: Screen,
    /// NetHack's glyph numbers, `MAP_ROWS` rows of `MAP_COLUMNS`, row by row; empty cells hold the glyph of stone.
    /// An object has the glyph of its looks, as far as the hero can tell them: kinds that look the same have one, and what
    /// was not seen up close has 5976 and its class.
    pub glyphs: Vec<i16>,
    /// NetHack's move counter.
    pub turn: i64,
    /// Where the hero is drawn on the map, terminal coordinates; absent before the start and after the end.
    pub hero: Option<Cursor>,
    /// The status lines; absent until the game has drawn them.
    pub status: Option<Status>,
    /// The messages since the last boundary, oldest first.
    pub messages: Vec<Message>,
    /// True when there were more messages than a frame keeps; the oldest are missing then.
    pub messages_truncated: bool,
    /// What the hero carries, as of the last time that the game told it.
    pub inventory: Vec<InventoryItem>,
    /// The menu that is open.
    pub menu: Option<Menu>,
    /// The window of text that is open.
    pub window: Option<Window>,
    /// Whether digits move the hero (the option `number_pad`), so that a count begins with `n`.
    pub number_pad: bool,
    /// What the game waits for; absent when it has ended.
    pub pending: Option<Pending>,
}

/// The terminal's cells, row by row, and its cursor.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Screen {
    /// `ROWS` × `COLUMNS` bytes as the game wrote them; blank is a space.
    pub chars: Vec<u8>,
    /// A colour for each cell, 0 to 15 as NetHack numbers them; 8 is the terminal's own foreground.
    pub colors: Vec<u8>,
    /// Attributes for each cell: bit 0 standout, 1 bold, 2 dim, 4 underline, 5 blink, 7 inverse.
    pub attributes: Vec<u8>,
    /// Where the cursor is.
    pub cursor: Cursor,
}

/// A cell of the terminal, counted from 0 at the top left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// 0 to `ROWS` - 1.
    pub row: u8,
    /// 0 to `COLUMNS` - 1.
    pub column: u8,
}

/// One message of the game, whole, however it was wrapped or interrupted on the screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Counts up by one from power-on, from 1.
    pub id: u64,
    /// The turn at which it was given.
    pub turn: i64,
    /// The text; bytes that are not printable ASCII stand as `\xNN`.
    pub text: String,
    /// False when it was kept from the screen by ESC at an earlier `--More--`.
    pub shown: bool,
}

/// One thing that the hero carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryItem {
    /// Its letter.
    pub letter: char,
    /// Its name as the game gives it.
    pub text: String,
    /// NetHack's object class, 1 to 17.
    pub class: u8,
    /// NetHack's glyph number.
    pub glyph: i16,
}

/// How many entries of a menu may be picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    /// It is only to be read.
    None,
    /// One entry, which closes the menu.
    One,
    /// Any number.
    Any,
}

/// A menu with the entries of all its pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Menu {
    /// Its heading; may be empty.
    pub title: String,
    /// How many entries may be picked.
    pub pick: Pick,
    /// The page on the screen, counted from 1.
    pub page: u32,
    /// How many pages there are.
    pub pages: u32,
    /// All entries in order.
    pub entries: Vec<MenuEntry>,
}

/// A line of a menu.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MenuEntry {
    /// Its place in the menu, counted from 0; stays the same while the menu is open.
    pub id: u32,
    /// The key that picks it on its page; absent for headings.
    pub accelerator: Option<char>,
    /// The key that picks its whole group.
    pub group: Option<char>,
    /// The text.
    pub text: String,
    /// Whether it can be picked.
    pub selectable: bool,
    /// Whether it is picked now.
    pub selected: bool,
    /// How many of it are picked; absent for all.
    pub count: Option<i64>,
    /// The page that it stands on, counted from 1.
    pub page: u32,
}

/// A window of text that is to be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Its lines, also those of other pages where the whole text is known.
    pub lines: Vec<String>,
    /// False for a file, which the game shows page by page: `lines` are then this page's, and others may follow.
    pub whole: bool,
}

impl Default for Screen {
    fn default() -> Self {
        Self {
            chars: vec![b' '; ROWS * COLUMNS],
            colors: vec![8; ROWS * COLUMNS],
            attributes: vec![0; ROWS * COLUMNS],
            cursor: Cursor::default(),
        }
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "cursor {:?}", self.cursor)?;
        f.write_str(&self.text())
    }
}

impl Screen {
    /// One row as text, as wide as the terminal; bytes above ASCII stand as `?`. Empty for a row that there is not.
    #[must_use]
    pub fn row(&self, row: usize) -> String {
        self.chars.chunks_exact(COLUMNS).nth(row).unwrap_or_default().iter().map(|&byte| printable(byte)).collect()
    }

    /// All rows, without trailing blanks, separated by newlines.
    #[must_use]
    pub fn text(&self) -> String {
        (0..ROWS).map(|row| self.row(row).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// The character of a cell; a space outside the terminal.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> char {
        if row >= ROWS || column >= COLUMNS {
            return ' ';
        }
        self.chars.get(row * COLUMNS + column).map_or(' ', |&byte| printable(byte))
    }
}

fn printable(byte: u8) -> char {
    match byte {
        0x20..=0x7e => char::from(byte),
        0 => ' ',
        _ => '?',
    }
}
