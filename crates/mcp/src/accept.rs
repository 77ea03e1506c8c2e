//! Which single keys `press` takes at which prompt.

use wire::{Frame, Key, Menu, Pending, PendingKind, accepts};

/// The keys that turn the pages of a menu: next, previous, first, last.
pub(crate) const PAGING: [u8; 4] = *b"><^|";
/// The keys with which a menu selects, deselects, inverts and searches.
const MENU_COMMANDS: &[u8] = b",\\@.-~:";

/// Whether `press` sends a key at this prompt. `menu`: the menu that is open.
pub(crate) fn press_accepts(pending: &Pending, menu: Option<&Menu>, key: Key) -> bool {
    match pending.kind {
        PendingKind::Choice => accepts(pending, key, true),
        PendingKind::Text => is_typed(key),
        PendingKind::Menu => menu_accepts(menu, key),
        _ => accepts(pending, key, false),
    }
}

/// The keys that edit a line: what is printable, and what ends, erases or clears it.
fn is_typed(Key(byte): Key) -> bool {
    const CTRL_U: u8 = 0x15;
    matches!(byte, 0x20..=0x7f | b'\r' | b'\n' | 0x1b | 0x08 | CTRL_U)
}

fn menu_accepts(menu: Option<&Menu>, key: Key) -> bool {
    let Key(byte) = key;
    if matches!(byte, b'\r' | b'\n' | b' ' | 0x1b) || PAGING.contains(&byte) {
        return true;
    }
    let Some(menu) = menu else { return false };
    if menu.pick == wire::Pick::None {
        return false;
    }
    let character = char::from(byte);
    let mut entries = menu.entries.iter().filter(|entry| entry.selectable);
    byte.is_ascii_digit()
        || MENU_COMMANDS.contains(&byte)
        || entries.any(|entry| {
            (entry.page == menu.page && entry.accelerator == Some(character)) || entry.group == Some(character)
        })
}

/// What `press` would take here, in words.
pub(crate) fn what_is_taken(frame: &Frame) -> String {
    let Some(pending) = &frame.pending else {
        return "nothing: the game is over".to_owned();
    };
    let answers = &pending.answers;
    match pending.kind {
        PendingKind::Choice if answers.is_empty() => "an answer, or ESC".to_owned(),
        PendingKind::Choice => format!("one of {answers:?}, or ESC"),
        PendingKind::Text => "printable characters, ENTER, BACKSPACE, CTRL_U, ESC".to_owned(),
        PendingKind::Menu => {
            "accelerators on this page, counts, `>` `<` `^` `|`, ENTER, ESC; or call select_menu".to_owned()
        }
        PendingKind::More if !answers.is_empty() => format!("{answers} to pick the entry, ENTER, SPACE or ESC"),
        PendingKind::More | PendingKind::Window => "ENTER, SPACE or ESC".to_owned(),
        PendingKind::Direction if pending.prompt.is_empty() => "any key".to_owned(),
        PendingKind::Direction if answers.is_empty() => "h j k l y u b n < > . s, or ESC".to_owned(),
        PendingKind::Direction => format!("one of {answers:?}, or ESC"),
        PendingKind::Item if answers.is_empty() => "an item's letter, `?`, `*`, `-`, or ESC".to_owned(),
        PendingKind::Item => format!("an item's letter (suggested: {answers}), `?`, `*`, `-`, or ESC"),
        PendingKind::Position => {
            "h j k l y u b n and their capitals to move the cursor, `.` to pick, or ESC".to_owned()
        }
        PendingKind::Extended => "letters, ENTER, BACKSPACE, ESC".to_owned(),
        PendingKind::Command | PendingKind::Count | PendingKind::Key => "any key".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use wire::{MenuEntry, Pick, Stage};

    use super::*;

    fn pending(kind: PendingKind, answers: &str) -> Pending {
        Pending {
            kind,
            stage: Stage::Play,
            prompt: "Which?".to_owned(),
            answers: answers.to_owned(),
            default: None,
            capacity: None,
            typed: String::new(),
        }
    }

    fn menu(pick: Pick) -> Menu {
        let entry = |id, accelerator, page| MenuEntry {
            id,
            accelerator: Some(accelerator),
            group: Some(')'),
            text: String::new(),
            selectable: true,
            selected: false,
            count: None,
            page,
        };
        Menu { title: String::new(), pick, page: 1, pages: 2, entries: vec![entry(0, 'a', 1), entry(1, 'b', 2)] }
    }

    /// The keys that a cell of the table in the docs means: names of keys, backticks around characters, words for sets.
    fn keys_of_cell(cell: &str, answers: &str) -> Vec<Key> {
        if let Some(rest) = cell.strip_prefix("any key") {
            let is_nul_out = rest.starts_with(" but NUL");
            assert!(rest.is_empty() || is_nul_out, "{cell}");
            return (u8::from(is_nul_out)..=127).map(Key).collect();
        }
        let mut keys = Vec::new();
        for part in cell.split(", ").flat_map(|part| part.split(' ')) {
            match part.strip_prefix('`').and_then(|part| part.strip_suffix('`')) {
                // A bar would end the cell, so it stands there as a lighter one.
                Some(characters) => keys.extend(characters.replace('\u{2758}', "|").bytes().map(Key)),
                None => match part {
                    "letters" => keys.extend((0..=127_u8).filter(u8::is_ascii_alphabetic).map(Key)),
                    "digits" => keys.extend((b'0'..=b'9').map(Key)),
                    "printable" => keys.extend((0x20..=0x7e).map(Key)),
                    "listed" => keys.extend(answers.bytes().map(Key)),
                    name => keys.push(name.parse().unwrap_or_else(|error| panic!("{cell}: {error}"))),
                },
            }
        }
        keys
    }

    #[test]
    fn the_docs_say_what_press_takes() {
        let docs = include_str!("../../../docs/prompts.md");
        let open = menu(Pick::Any);
        for kind in PendingKind::ALL {
            let row = docs.lines().find(|line| line.starts_with(&format!("| `{kind}` |")));
            let cell = row.unwrap_or_else(|| panic!("no row for {kind}")).split(" | ").nth(2).unwrap().trim();
            // A choice that holds `#` takes a count too, as the docs tell below their table.
            let answers = match kind {
                PendingKind::Menu => "a)",
                PendingKind::Choice => "xyz",
                _ => "xyz#",
            };
            let told = keys_of_cell(cell, answers);
            let asks = pending(kind, answers);
            for key in (0..=127).map(Key) {
                let taken = press_accepts(&asks, Some(&open), key);
                assert_eq!(taken, told.contains(&key), "{kind}: {key:?} {key}, docs: {cell}");
            }
        }
    }

    #[test]
    fn press_takes_what_a_prompt_means_and_nothing_else() {
        use PendingKind::{
            Choice, Command, Count, Direction, Extended, Item, Key as Any, Menu, More, Position, Text, Window,
        };
        let any = menu(Pick::Any);
        let none = menu(Pick::None);
        for (kind, answers, open, taken, refused) in [
            (Command, "", None, "hZ\x1b\r\u{1}", ""),
            (Any, "", None, "hZ\x1b\r\u{1}", ""),
            (Count, "", None, "0s", "\0"),
            (Direction, "", None, "hjklyubn.<>\x1b", "aqHL4\r"),
            (Direction, "47896321><.s", None, "14.<>\x1b", "hL\r"),
            (Item, "ab", None, "abZ?*-$\x1b", "\r\u{1}"),
            (Choice, "ynq", None, "ynq\x1b", "h\r"),
            (Text, "", None, "aZ ~\r\x1b\u{8}\u{15}", "\u{1}\u{10}\0"),
            (More, "", None, "\r\n \x1b", "hy>"),
            (More, "d", None, "\r\n d\x1b", "hy>"),
            (Window, "", None, "\r \x1b", "hy>"),
            (Position, "", None, "hH.,;<m\x1b", "\r\u{1}"),
            (Extended, "", None, "pray\r\x1b", "\u{1}"),
            (Menu, "", Some(&any), "a)><^|,-.~@\\:12\r \x1b", "bhZ$\u{1}"),
            (Menu, "", Some(&none), "><^|\r \x1b", "a),.1"),
            (Menu, "", None, "><^|\r \x1b", "a,1"),
        ] {
            let pending = pending(kind, answers);
            for (keys, expected) in [(taken, true), (refused, false)] {
                for key in keys.chars().map(|c| Key(c as u8)) {
                    assert_eq!(press_accepts(&pending, open, key), expected, "{kind} {key}");
                }
            }
        }
    }

    #[test]
    fn what_is_taken_is_told_of_each_prompt() {
        use PendingKind::{Choice, Command, Count, Direction, Extended, Item, Menu, More, Position, Text, Window};
        assert_eq!(what_is_taken(&Frame::default()), "nothing: the game is over");
        for (kind, prompt, answers, told) in [
            (Command, "", "", "any key"),
            (Count, "", "", "any key"),
            (PendingKind::Key, "", "", "any key"),
            (Choice, "Really?", "", "an answer, or ESC"),
            (Choice, "Really?", "yn", "one of \"yn\", or ESC"),
            (Text, "", "", "printable characters, ENTER, BACKSPACE, CTRL_U, ESC"),
            (Menu, "", "", "accelerators on this page, counts, `>` `<` `^` `|`, ENTER, ESC; or call select_menu"),
            (More, "", "", "ENTER, SPACE or ESC"),
            (More, "", "d", "d to pick the entry, ENTER, SPACE or ESC"),
            (Window, "", "", "ENTER, SPACE or ESC"),
            (Direction, "", "", "any key"),
            (Direction, "Where?", "", "h j k l y u b n < > . s, or ESC"),
            (Direction, "Where?", "4826", "one of \"4826\", or ESC"),
            (Item, "", "", "an item's letter, `?`, `*`, `-`, or ESC"),
            (Item, "", "ab", "an item's letter (suggested: ab), `?`, `*`, `-`, or ESC"),
            (Position, "", "", "h j k l y u b n and their capitals to move the cursor, `.` to pick, or ESC"),
            (Extended, "", "", "letters, ENTER, BACKSPACE, ESC"),
        ] {
            let asks = Pending { prompt: prompt.to_owned(), ..pending(kind, answers) };
            let frame = Frame { pending: Some(asks), ..Frame::default() };
            assert_eq!(what_is_taken(&frame), told, "{kind} {prompt:?} {answers:?}");
        }
    }
}
