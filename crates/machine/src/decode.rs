//! Reads the frames that a ROM writes: the layouts of `bios/port/frame.h`. They may come from another process, so
//! nothing in them is believed.

use std::fmt::Write;

use wire::{
    COLUMNS, Cursor, Frame, InventoryItem, MAP_COLUMNS, MAP_ROWS, Menu, MenuEntry, Message, Pending, PendingKind, Pick,
    ROWS, Stage, Window,
};

use crate::status::{STATUS_FIELDS, STATUS_NUMBERS, Shown};

const HAS_STATUS: u8 = 1;
const HAS_MENU: u8 = 2;
const HAS_WINDOW: u8 = 4;
const MESSAGES_TRUNCATED: u8 = 8;
const HAS_HERO: u8 = 16;
const POLYMORPHED: u8 = 32;
const WINDOW_IN_PARTS: u8 = 64;
const NUMBER_PAD: u8 = 128;

/// Game text as text: what is not printable ASCII stands as `\xNN`.
pub(crate) fn text(bytes: &[u8]) -> String {
    let mut text = String::new();
    text_into(bytes, &mut text);
    text
}

/// As [`text`], into a string that is there already.
pub(crate) fn text_into(bytes: &[u8], text: &mut String) {
    text.clear();
    match std::str::from_utf8(bytes) {
        Ok(plain) if bytes.iter().all(|byte| (0x20..0x7f).contains(byte)) => text.push_str(plain),
        _ => {
            for &byte in bytes {
                if (0x20..0x7f).contains(&byte) {
                    text.push(char::from(byte));
                } else {
                    let _ = write!(text, "\\x{byte:02x}");
                }
            }
        }
    }
}

/// Bytes that are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no frame: {0}")]
pub struct FrameError(&'static str);

/// The most bytes of a frame.
pub const FRAME_BYTES_MAX: usize = 2 << 20;
/// What a frame has of a machine that is broken: the terminal's planes and the turn. Shorter than any other.
pub(crate) const BROKEN_BYTES: usize = 3 * ROWS * COLUMNS + 8;

/// The fewest bytes of each record.
const MESSAGE_BYTES: usize = 11;
const ITEM_BYTES: usize = 6;
const ENTRY_BYTES: usize = 16;
const LINE_BYTES: usize = 2;

/// Reads a frame's bytes, as [`Machine::frame_bytes_into`](crate::Machine::frame_bytes_into) gives them. They may come
/// from anywhere: what is read has a whole screen, and positions on it.
///
/// # Errors
/// Bytes that are no frame.
pub fn decode_frame(bytes: &[u8]) -> Result<Frame, FrameError> {
    let mut decoded = Frame::default();
    if bytes.len() == BROKEN_BYTES {
        let mut reader = Reader { rest: bytes, short: false };
        planes(&mut reader, &mut decoded);
        decoded.turn = reader.i64();
    } else {
        frame(bytes, &mut decoded)?;
    }
    Ok(decoded)
}

fn planes(reader: &mut Reader<'_>, frame: &mut Frame) {
    for plane in [&mut frame.screen.chars, &mut frame.screen.colors, &mut frame.screen.attributes] {
        plane.clear();
        plane.extend_from_slice(reader.take(ROWS * COLUMNS));
    }
}

/// Takes fields off the front of a frame's bytes. Behind its end there are zeroes, and it remembers.
struct Reader<'a> {
    rest: &'a [u8],
    short: bool,
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> &'a [u8] {
        let taken = self.rest.split_at_checked(bytes);
        self.short |= taken.is_none();
        let (here, rest) = taken.unwrap_or((&[], &[]));
        self.rest = rest;
        here
    }

    /// How many records follow, of which each has this many bytes or more.
    fn count(&self, records: u32, record_bytes: usize) -> Result<usize, FrameError> {
        let records = usize::try_from(records).unwrap_or(usize::MAX);
        if records > self.rest.len() / record_bytes {
            return Err(FrameError("it counts more records than it holds"));
        }
        Ok(records)
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.take(N).try_into().unwrap_or([0; N])
    }

    fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.array())
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.array())
    }

    fn bytes(&mut self) -> &'a [u8] {
        let length = self.u16();
        self.take(usize::from(length))
    }

    fn text(&mut self) -> String {
        text(self.bytes())
    }
}

/// Fills a frame, reusing what it has allocated. After an error it holds some of both.
pub(crate) fn frame(bytes: &[u8], frame: &mut Frame) -> Result<(), FrameError> {
    if bytes.len() > FRAME_BYTES_MAX {
        return Err(FrameError("it is too long"));
    }
    let mut reader = Reader { rest: bytes, short: false };
    planes(&mut reader, frame);
    frame.glyphs.clear();
    let glyphs = reader.take(2 * MAP_ROWS * MAP_COLUMNS).chunks_exact(2);
    frame.glyphs.extend(glyphs.map(|pair| i16::from_le_bytes([pair[0], pair[1]])));
    frame.screen.cursor = cursor(&mut reader);
    let hero = cursor(&mut reader);
    let kind = PendingKind::from_number(reader.u8());
    let stage = stage(reader.u8());
    let flags = reader.u8();
    let default = reader.u8();
    let capacity = reader.u16();
    let pick = reader.u16();
    let (page, pages) = (reader.u16(), reader.u16());
    frame.turn = reader.i64();
    let numbers: [i64; STATUS_NUMBERS] = std::array::from_fn(|_| reader.i64());
    let enabled = reader.i64();
    let first_id = reader.i64();
    let [messages, items, entries, lines] = std::array::from_fn(|_| reader.u32());
    frame.hero = (flags & HAS_HERO != 0).then_some(hero);
    frame.pending = Question { kind, stage, default, capacity }.read(&mut reader);
    if flags & HAS_STATUS == 0 {
        frame.status = None;
    } else {
        let texts: [&[u8]; STATUS_FIELDS] = std::array::from_fn(|_| reader.bytes());
        let shown = Shown { numbers: &numbers, texts: &texts, enabled, polymorphed: flags & POLYMORPHED != 0 };
        shown.read(frame.status.get_or_insert_default());
    }
    frame.number_pad = flags & NUMBER_PAD != 0;
    frame.messages_truncated = flags & MESSAGES_TRUNCATED != 0;
    frame.messages.clear();
    for index in 0..reader.count(messages, MESSAGE_BYTES)? {
        frame.messages.push(message(&mut reader, first_id.wrapping_add(index as i64)));
    }
    let items = reader.count(items, ITEM_BYTES)?;
    frame.inventory.resize_with(items, || InventoryItem { letter: ' ', text: String::new(), class: 0, glyph: 0 });
    for item in &mut frame.inventory {
        read_item(&mut reader, item);
    }
    let entries = reader.count(if flags & HAS_MENU == 0 { 0 } else { entries }, ENTRY_BYTES)?;
    frame.menu = (flags & HAS_MENU != 0).then(|| menu(&mut reader, entries, pick, page, pages));
    let lines = reader.count(if flags & HAS_WINDOW == 0 { 0 } else { lines }, LINE_BYTES)?;
    frame.window = (flags & HAS_WINDOW != 0)
        .then(|| Window { lines: (0..lines).map(|_| reader.text()).collect(), whole: flags & WINDOW_IN_PARTS == 0 });
    sound(&reader, frame)
}

/// What the game waits for, from the bytes of a frame, without the rest of it.
pub(crate) fn pending(bytes: &[u8]) -> Option<Pending> {
    let mut reader = Reader { rest: bytes, short: false };
    reader.take(3 * ROWS * COLUMNS + 2 * MAP_ROWS * MAP_COLUMNS + 4);
    let kind = PendingKind::from_number(reader.u8());
    let stage = stage(reader.u8());
    let _flags = reader.u8();
    let default = reader.u8();
    let capacity = reader.u16();
    reader.take(3 * 2 + 8 + 8 * STATUS_NUMBERS + 2 * 8 + 4 * 4);
    Question { kind, stage, default, capacity }.read(&mut reader).filter(|_| !reader.short)
}

/// What a frame's readers rely on.
fn sound(reader: &Reader<'_>, frame: &Frame) -> Result<(), FrameError> {
    let on_screen = |cursor: &Cursor| usize::from(cursor.row) < ROWS && usize::from(cursor.column) < COLUMNS;
    if reader.short {
        Err(FrameError("it is cut short"))
    } else if !reader.rest.is_empty() {
        Err(FrameError("bytes follow it"))
    } else if !on_screen(&frame.screen.cursor) || frame.hero.is_some_and(|hero| !on_screen(&hero)) {
        Err(FrameError("it names a place outside the screen"))
    } else {
        Ok(())
    }
}

fn stage(number: u8) -> Stage {
    match number {
        0 => Stage::Start,
        1 => Stage::Play,
        _ => Stage::Ending,
    }
}

fn cursor(reader: &mut Reader<'_>) -> Cursor {
    Cursor { row: reader.u8(), column: reader.u8() }
}

fn message(reader: &mut Reader<'_>, id: i64) -> Message {
    let turn = reader.i64();
    let length = reader.u16();
    let shown = reader.u8() != 0;
    let text = text(reader.take(usize::from(length)));
    Message { id: id.unsigned_abs(), turn, text, shown }
}

fn read_item(reader: &mut Reader<'_>, item: &mut InventoryItem) {
    item.letter = char::from(reader.u8());
    item.class = reader.u8();
    item.glyph = i16::from_le_bytes(reader.array());
    text_into(reader.bytes(), &mut item.text);
}

fn menu(reader: &mut Reader<'_>, entries: usize, pick: u16, page: u16, pages: u16) -> Menu {
    let entries: Vec<_> = (0..).take(entries).map(|id| entry(reader, id)).collect();
    // A heading is a line by itself, followed by an empty one.
    let title = match entries.as_slice() {
        [first, second, ..] if !first.selectable && !second.selectable && second.text.is_empty() => first.text.clone(),
        _ => String::new(),
    };
    Menu {
        title,
        pick: match pick {
            0 => Pick::None,
            1 => Pick::One,
            _ => Pick::Any,
        },
        page: u32::from(page),
        pages: u32::from(pages),
        entries,
    }
}

fn entry(reader: &mut Reader<'_>, id: u32) -> MenuEntry {
    let count = reader.i64();
    let accelerator = reader.u8();
    let group = reader.u8();
    let selectable = reader.u8() != 0;
    let selected = reader.u8() != 0;
    let page = u32::from(reader.u16());
    let text = reader.text();
    // The port writes "a - " or "a + " before what can be picked.
    let text = match text.get(4..) {
        Some(rest) if selectable && matches!(text.get(1..4), Some(" - " | " + " | " # ")) => rest.to_owned(),
        _ => text,
    };
    let key = |byte: u8| (selectable && byte != 0).then(|| char::from(byte));
    MenuEntry {
        id,
        accelerator: key(accelerator),
        group: key(group),
        text,
        selectable,
        selected,
        count: (selected && count >= 0).then_some(count),
        page,
    }
}

/// The parts of a question that stand in the frame's head.
struct Question {
    kind: Option<PendingKind>,
    stage: Stage,
    default: u8,
    capacity: u16,
}

impl Question {
    fn read(self, reader: &mut Reader<'_>) -> Option<Pending> {
        let prompt = reader.text();
        let listed = reader.bytes();
        let typed = reader.text();
        let kind = self.kind?;
        let answers = match kind {
            PendingKind::Choice => listed.iter().filter(|byte| **byte != 0x1b).map(|byte| char::from(*byte)).collect(),
            PendingKind::Item => suggested(&prompt),
            // Also the letter of a menu's only entry, which is shown as a message.
            PendingKind::Direction | PendingKind::Position | PendingKind::More => {
                listed.iter().map(|byte| char::from(*byte)).collect()
            }
            _ => String::new(),
        };
        Some(Pending {
            kind,
            stage: self.stage,
            prompt,
            answers,
            default: (self.default != 0).then(|| char::from(self.default)),
            capacity: (self.capacity != 0).then_some(self.capacity),
            typed,
        })
    }
}

/// The letters that an item prompt suggests: `[$a-cf or ?*]` gives `$abcf`.
fn suggested(prompt: &str) -> String {
    let list = prompt.rsplit_once('[').map_or("", |(_, list)| list);
    let list = list.split(']').next().unwrap_or_default();
    // `or ?*` offers menus; bare hands stand apart from the letters: `[- abc or ?*]`.
    let list = list.strip_suffix("or ?*").unwrap_or(list);
    let list: Vec<char> = list.chars().filter(|letter| !matches!(letter, '*' | '?' | ' ')).collect();
    let mut letters = String::new();
    let mut at = 0;
    while let Some(&letter) = list.get(at) {
        match (letter, list.get(at + 1), list.get(at + 2)) {
            (from, Some('-'), Some(&to)) if from.is_ascii_alphabetic() && from < to => {
                letters.extend(from..=to);
                at += 3;
            }
            _ => {
                letters.push(letter);
                at += 1;
            }
        }
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_prompts_name_their_letters() {
        for (prompt, letters) in [
            ("What do you want to drop? [$a-cf or ?*]", "$abcf"),
            ("What do you want to write with? [- abcd or ?*]", "-abcd"),
            ("What do you want to wield? [-ab or ?*]", "-ab"),
            ("What do you want to eat? [*]", ""),
            ("What do you want to call? [a-dA-C or ?*]", "abcdABC"),
            ("no list", ""),
        ] {
            assert_eq!(suggested(prompt), letters, "{prompt}");
        }
    }

    #[test]
    fn a_short_frame_is_read_without_harm() {
        for length in [0, 1, 5760, 9000, 9344] {
            assert!(frame(&vec![0; length], &mut Frame::default()).is_err(), "{length}");
        }
    }

    #[test]
    fn game_text_is_printable() {
        assert_eq!(text(b"a\x1b\xffz"), "a\\x1b\\xffz");
    }
}
