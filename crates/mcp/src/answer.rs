use wire::{Cursor, Frame, Key, MAP_COLUMNS, MAP_ROWS, PendingKind, Segment};

use crate::failure::{Code, Failure};

/// A structured answer to what the game waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A command's key, with a count before it.
    Command(String, Option<u64>),
    /// An extended command's name.
    Extended(String),
    /// A direction, by word or key.
    Direction(String),
    /// An item's letter, with a count before it.
    Item(String, Option<u64>),
    /// One of the answers; a count where `#` is among them.
    Choice(String, Option<u64>),
    /// A line of text.
    Text(String),
    /// A place on the map.
    Position(Cursor),
    /// What stands there has been read.
    Acknowledge,
    /// Back out.
    Cancel,
}

/// The largest count that is typed before a command or an item.
pub(crate) const COUNT_MAX: u64 = 32_767;
/// Bytes that a line of text takes where the game doesn't say.
const TEXT_BYTES_MAX: usize = 79;
/// Bytes of the longest extended command's name.
const EXTENDED_BYTES_MAX: usize = 32;

/// The directions by word, and their keys.
const DIRECTIONS: [(&str, u8); 11] = [
    ("north", b'k'),
    ("south", b'j'),
    ("west", b'h'),
    ("east", b'l'),
    ("northwest", b'y'),
    ("northeast", b'u'),
    ("southwest", b'b'),
    ("southeast", b'n'),
    ("up", b'<'),
    ("down", b'>'),
    ("self", b'.'),
];

/// The segments that give an answer, each with what it expects, so that none of its keys can mean anything else.
///
/// # Errors
/// `WRONG_PENDING` when the game waits for something else, `INVALID_RESPONSE` when it does not take this answer.
pub(crate) fn plan(frame: &Frame, answer: &Answer, number_pad: bool) -> Result<Vec<Segment>, Failure> {
    use PendingKind::{Choice, Command, Direction, Extended, Item, Position, Text};
    match answer {
        Answer::Command(key, count) => {
            expect(frame, &[Command])?;
            command(key, *count, number_pad)
        }
        Answer::Extended(name) => {
            let kind = expect(frame, &[Command, Extended])?;
            extended(name, kind, typed(frame))
        }
        Answer::Direction(word) => {
            expect(frame, &[Direction])?;
            direction(frame, word)
        }
        Answer::Item(letter, count) => {
            // A menu with one entry is shown as a message, which takes the entry's letter.
            let kind = expect(frame, if picks_at_more(frame) { &[Item, PendingKind::More] } else { &[Item] })?;
            item(frame, kind, letter, *count)
        }
        Answer::Choice(letter, count) => {
            expect(frame, &[Choice])?;
            choice(frame, letter, *count)
        }
        Answer::Text(text) => {
            expect(frame, &[Text])?;
            line(frame, text)
        }
        Answer::Position(target) => {
            expect(frame, &[Position])?;
            let steps =
                moves(frame).map_or(*b"hjkl", |[west, _, north, _, east, _, south, _]| [west, south, north, east]);
            position(frame.screen.cursor, *target, steps)
        }
        Answer::Acknowledge if reads_menu(frame) => Ok(each(vec![Key::SPACE; pages_left(frame)], PendingKind::Menu)),
        Answer::Acknowledge => {
            let kind = expect(frame, &[PendingKind::More, PendingKind::Window])?;
            Ok(vec![one(Key::ENTER, kind)])
        }
        Answer::Cancel => {
            let kinds: Vec<PendingKind> = PendingKind::ALL.into_iter().filter(|kind| *kind != Command).collect();
            let kind = expect(frame, &kinds)?;
            Ok(each(escape(frame, kind), kind))
        }
    }
}

/// The keys that leave a prompt: where something has been typed, the first ESC only takes that back.
pub(crate) fn escape(frame: &Frame, kind: PendingKind) -> Vec<Key> {
    use PendingKind::{Extended, Menu, Text};
    let takes_back = matches!(kind, Text | Extended | Menu) && typed(frame) > 0;
    vec![Key::ESC; 1 + usize::from(takes_back)]
}

/// Whether the game waits at a message that stands for a menu's only entry.
fn picks_at_more(frame: &Frame) -> bool {
    frame.pending.as_ref().is_some_and(|pending| pending.kind == PendingKind::More && !pending.answers.is_empty())
}

/// The keys that move: west and on clockwise. A ROM that doesn't say them has letters, or the digits of a number pad.
fn moves(frame: &Frame) -> Option<[u8; 8]> {
    let told = frame.pending.as_ref()?.answers.as_bytes().first_chunk().copied();
    told.or(frame.number_pad.then_some(*b"47896321"))
}

/// Whether a menu is open from which nothing can be picked.
fn reads_menu(frame: &Frame) -> bool {
    let waits = frame.pending.as_ref().is_some_and(|pending| pending.kind == PendingKind::Menu);
    waits && frame.menu.as_ref().is_some_and(|menu| menu.pick == wire::Pick::None)
}

/// The pages of the menu from the one that is shown to its last.
fn pages_left(frame: &Frame) -> usize {
    frame.menu.as_ref().map_or(0, |menu| menu.pages.saturating_sub(menu.page) as usize + 1)
}

/// The call that answers what the game waits for, in words.
pub(crate) fn what_answers(frame: &Frame) -> &'static str {
    let Some(pending) = &frame.pending else {
        return "nothing is waited for: the game is over";
    };
    match pending.kind {
        PendingKind::Command => "press or run sends commands; so does respond with `command` or `extended`",
        PendingKind::Count => "press sends the rest of the count, or the command it is for",
        PendingKind::Direction => "answer it by respond with `direction`",
        PendingKind::Item => "answer it by respond with `item`",
        PendingKind::Choice => "answer it by respond with `choice`",
        PendingKind::Text => "answer it by respond with `text`",
        PendingKind::Menu if reads_menu(frame) => "close it by respond with `acknowledge` true",
        PendingKind::Menu => "answer it by select_menu with `selections` or `cancel`",
        PendingKind::More | PendingKind::Window => "go past it by respond with `acknowledge` true",
        PendingKind::Position => "answer it by respond with `position`",
        PendingKind::Extended => "answer it by respond with `extended`",
        PendingKind::Key => "answer it by press with any key",
    }
}

fn expect(frame: &Frame, kinds: &[PendingKind]) -> Result<PendingKind, Failure> {
    let pending = frame.pending.as_ref().map(|pending| pending.kind);
    if let Some(kind) = pending.filter(|kind| kinds.contains(kind)) {
        return Ok(kind);
    }
    let waits = pending.map_or("nothing", PendingKind::word);
    let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
    let message = format!("the game waits for: {waits}; this answers: {}; {}", words.join(", "), what_answers(frame));
    Err(Failure::new(Code::WrongPending, message).with("pending_kind", waits))
}

fn refused(message: String) -> Failure {
    Failure::new(Code::InvalidResponse, message)
}

fn one(key: Key, kind: PendingKind) -> Segment {
    Segment { keys: vec![key], expect: Some(kind) }
}

/// One segment per key, so that each is sent only while the prompt is open.
fn each(keys: impl IntoIterator<Item = Key>, kind: PendingKind) -> Vec<Segment> {
    keys.into_iter().map(|key| one(key, kind)).collect()
}

fn typed(frame: &Frame) -> usize {
    frame.pending.as_ref().map_or(0, |pending| pending.typed.len())
}

fn check_count(count: Option<u64>) -> Result<String, Failure> {
    match count {
        None => Ok(String::new()),
        Some(count) if (1..=COUNT_MAX).contains(&count) => Ok(count.to_string()),
        Some(count) => Err(refused(format!("count is {count}: give a whole number from 1 to {COUNT_MAX}"))),
    }
}

fn command(key: &str, count: Option<u64>, number_pad: bool) -> Result<Vec<Segment>, Failure> {
    let digits = check_count(count)?;
    let key: Key = key.parse().map_err(|error| {
        let more =
            "a number before it goes into `count`, as in {\"command\": \"s\", \"count\": 20}; run takes several keys";
        Failure::new(Code::InvalidKey, format!("command: {error}; {more}"))
    })?;
    if digits.is_empty() {
        return Ok(vec![one(key, PendingKind::Command)]);
    }
    if number_pad {
        return Err(refused("digits move the hero with number_pad on: give no count".to_owned()));
    }
    let mut segments = Vec::new();
    for (index, digit) in digits.bytes().enumerate() {
        let kind = if index == 0 { PendingKind::Command } else { PendingKind::Count };
        segments.push(one(Key(digit), kind));
    }
    segments.push(one(key, PendingKind::Count));
    Ok(segments)
}

fn extended(name: &str, kind: PendingKind, typed: usize) -> Result<Vec<Segment>, Failure> {
    let name = name.strip_prefix('#').unwrap_or(name);
    let fits =
        (1..=EXTENDED_BYTES_MAX).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'?');
    if !fits {
        return Err(refused(format!("{name:?} names no extended command: give lower-case letters, as in \"pray\"")));
    }
    let mut segments = Vec::new();
    if kind == PendingKind::Command {
        segments.push(one(Key(b'#'), kind));
    } else {
        segments.extend(each(vec![Key(0x08); typed], PendingKind::Extended));
    }
    segments.extend(each(name.bytes().map(Key), PendingKind::Extended));
    segments.push(one(Key::ENTER, PendingKind::Extended));
    Ok(segments)
}

fn direction(frame: &Frame, word: &str) -> Result<Vec<Segment>, Failure> {
    if matches!(word, "n" | "s") {
        return Err(refused(format!(
            "{word:?} could be a point of the compass or a key: give north, south, southeast (key n) or self (key s)"
        )));
    }
    let moves = moves(frame).unwrap_or(*b"hykulnjb");
    let is_direction = |key: &Key| moves.contains(&key.0) || b".s<>".contains(&key.0);
    let known = DIRECTIONS.iter().find(|(name, _)| *name == word).map(|(_, byte)| Key(*byte));
    let given = known.or_else(|| word.parse().ok()).map(|Key(byte)| {
        // The letters of the table stand for directions under every layout of the keys.
        Key(b"hykulnjb".iter().position(|letter| *letter == byte).map_or(byte, |place| moves[place]))
    });
    given.filter(is_direction).map(|key| vec![one(key, PendingKind::Direction)]).ok_or_else(|| {
        let words: Vec<&str> = DIRECTIONS.iter().map(|(name, _)| *name).collect();
        refused(format!("{word:?} is no direction: give one of {} or its key", words.join(", ")))
    })
}

fn item(frame: &Frame, kind: PendingKind, letter: &str, count: Option<u64>) -> Result<Vec<Segment>, Failure> {
    let digits = check_count(count)?;
    let answers = frame.pending.as_ref().map(|pending| pending.answers.as_str()).unwrap_or_default();
    let key = letter.parse().ok().filter(|Key(byte)| {
        let letter = char::from(*byte);
        let is_carried = || frame.inventory.iter().any(|item| item.letter == letter);
        let is_menu = kind == PendingKind::Item && matches!(letter, '?' | '*');
        answers.contains(letter) || (kind == PendingKind::Item && is_carried()) || is_menu
    });
    let Some(key) = key else {
        return Err(refused(format!(
            "{letter:?} is no item here: give the letter of one that is carried (suggested: {answers:?}), `?` or `*`"
        )));
    };
    if kind == PendingKind::More && count.is_some() {
        return Err(refused("no count is taken here: give the letter alone".to_owned()));
    }
    // After a digit the game may wait for the rest of a count instead.
    let mut keys = digits.bytes().map(Key).chain([key]);
    let mut segments: Vec<Segment> = keys.next().map(|key| one(key, kind)).into_iter().collect();
    segments.extend(keys.map(|key| Segment { keys: vec![key], expect: None }));
    Ok(segments)
}

fn choice(frame: &Frame, letter: &str, count: Option<u64>) -> Result<Vec<Segment>, Failure> {
    let answers = frame.pending.as_ref().map(|pending| pending.answers.as_str()).unwrap_or_default();
    if count.is_some() {
        let digits = check_count(count)?;
        if letter != "#" || !answers.contains('#') {
            return Err(refused(format!(
                "a count goes with the choice \"#\" where it is offered, not among {answers:?}"
            )));
        }
        return Ok(each(digits.bytes().map(Key).chain([Key::ENTER]), PendingKind::Choice));
    }
    let key: Option<Key> = letter.parse().ok();
    let is_offered =
        |Key(byte): &Key| if answers.is_empty() { *byte != 0x1b } else { answers.contains(char::from(*byte)) };
    key.filter(is_offered)
        .map(|key| vec![one(key, PendingKind::Choice)])
        .ok_or_else(|| refused(format!("{letter:?} is not among the answers {answers:?}; give cancel to back out")))
}

fn line(frame: &Frame, text: &str) -> Result<Vec<Segment>, Failure> {
    if let Some(character) = text.chars().find(|character| !(' '..='~').contains(character)) {
        return Err(refused(format!("the text holds {character:?}: only printable ASCII characters can be typed")));
    }
    let capacity = frame.pending.as_ref().and_then(|pending| pending.capacity);
    let max = capacity.map_or(TEXT_BYTES_MAX, usize::from);
    if text.len() > max {
        return Err(refused(format!("the text has {} bytes: this prompt takes {max}", text.len())));
    }
    let erase = vec![Key(0x08); typed(frame)];
    let keys = erase.into_iter().chain(text.bytes().map(Key)).chain([Key::ENTER]);
    Ok(each(keys, PendingKind::Text))
}

/// Moves the cursor to a place, eight cells at a time where it can. Picking it is another step, once it is there.
/// `one`: the keys that move a cell west, south, north and east; leaps of eight are capital letters in every layout.
fn position(from: Cursor, to: Cursor, [west, south, north, east]: [u8; 4]) -> Result<Vec<Segment>, Failure> {
    let on_map = (1..=MAP_ROWS).contains(&usize::from(to.row)) && usize::from(to.column) < MAP_COLUMNS;
    if !on_map {
        return Err(refused(format!(
            "row {}, column {} is not on the map: rows go from 1 to {MAP_ROWS}, columns from 0 to {}",
            to.row,
            to.column,
            MAP_COLUMNS - 1
        )));
    }
    let rows = i32::from(to.row) - i32::from(from.row);
    let columns = i32::from(to.column) - i32::from(from.column);
    let mut keys = steps(rows, [b'K', north, b'J', south]);
    keys.extend(steps(columns, [b'H', west, b'L', east]));
    Ok(each(keys, PendingKind::Position))
}

/// Keys that go so many cells: `keys` are eight back, one back, eight on, one on.
fn steps(distance: i32, [far_back, back, far_on, on]: [u8; 4]) -> Vec<Key> {
    let (far, near) = if distance < 0 { (far_back, back) } else { (far_on, on) };
    let cells = distance.unsigned_abs() as usize;
    let mut keys = vec![Key(far); cells / 8];
    keys.extend(vec![Key(near); cells % 8]);
    keys
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
