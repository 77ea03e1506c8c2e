use wire::{InventoryItem, Pending, Stage};

use super::*;

fn frame(kind: PendingKind, answers: &str, typed: &str) -> Frame {
    let mut frame = Frame::default();
    frame.screen.cursor = Cursor { row: 10, column: 40 };
    let carried = InventoryItem { letter: 'C', text: "a club".to_owned(), class: 2, glyph: 0 };
    frame.inventory.push(carried);
    frame.pending = Some(Pending {
        kind,
        stage: Stage::Play,
        prompt: String::new(),
        answers: answers.to_owned(),
        default: None,
        capacity: (kind == PendingKind::Text).then_some(8),
        typed: typed.to_owned(),
    });
    frame
}

fn names(segments: &[Segment]) -> String {
    let keys = segments.iter().flat_map(|segment| &segment.keys);
    keys.map(|key| key.name()).collect::<Vec<_>>().join(" ")
}

#[test]
fn answers_become_keys() {
    use PendingKind::{Choice, Command, Direction, Extended, Item, Menu, More, Position, Text, Window};
    let text = |text: &str| text.to_owned();
    for (kind, answers, typed, answer, keys) in [
        (Command, "", "", Answer::Command(text("s"), None), "s"),
        (Command, "", "", Answer::Command(text("s"), Some(20)), "2 0 s"),
        (Command, "", "", Answer::Command(text("CTRL_D"), None), "CTRL_D"),
        (Command, "", "", Answer::Extended(text("pray")), "# p r a y ENTER"),
        (Command, "", "", Answer::Extended(text("#loot")), "# l o o t ENTER"),
        (Extended, "", "pr", Answer::Extended(text("sit")), "BACKSPACE BACKSPACE s i t ENTER"),
        (Direction, "", "", Answer::Direction(text("northwest")), "y"),
        (Direction, "", "", Answer::Direction(text("down")), ">"),
        (Direction, "", "", Answer::Direction(text("l")), "l"),
        (Item, "ab", "", Answer::Item(text("C"), None), "C"),
        (Item, "-ab", "", Answer::Item(text("-"), None), "-"),
        (Item, "", "", Answer::Item(text("?"), None), "?"),
        (Item, "ab", "", Answer::Item(text("b"), Some(12)), "1 2 b"),
        (Item, "$", "", Answer::Item(text("$"), None), "$"),
        (Choice, "ynq", "", Answer::Choice(text("n"), None), "n"),
        (Choice, "yn#aq", "", Answer::Choice(text("#"), Some(12)), "1 2 ENTER"),
        (Direction, "47896321><.s", "", Answer::Direction(text("northwest")), "7"),
        (Direction, "41236987><.s", "", Answer::Direction(text("northwest")), "1"),
        (Direction, "hzkulnjb><.s", "", Answer::Direction(text("y")), "z"),
        (Position, "41236987><", "", Answer::Position(Cursor { row: 11, column: 39 }), "8 4"),
        (More, "d", "", Answer::Item(text("d"), None), "d"),
        (Text, "", "", Answer::Text(text("Elbereth")), "E l b e r e t h ENTER"),
        (Text, "", "xy", Answer::Text(text("a b")), "BACKSPACE BACKSPACE a SPACE b ENTER"),
        (Text, "", "", Answer::Text(String::new()), "ENTER"),
        (Position, "", "", Answer::Position(Cursor { row: 1, column: 57 }), "K k L L l"),
        (Position, "", "", Answer::Position(Cursor { row: 21, column: 0 }), "J j j j H H H H H"),
        (Position, "", "", Answer::Position(Cursor { row: 10, column: 40 }), ""),
        (More, "", "", Answer::Acknowledge, "ENTER"),
        (Window, "", "", Answer::Acknowledge, "ENTER"),
        (Menu, "", "", Answer::Cancel, "ESC"),
        (Menu, "", "12", Answer::Cancel, "ESC ESC"),
        (Text, "", "", Answer::Cancel, "ESC"),
        (Text, "", "Elb", Answer::Cancel, "ESC ESC"),
        (Extended, "", "pray", Answer::Cancel, "ESC ESC"),
        (Item, "ab", "", Answer::Cancel, "ESC"),
    ] {
        let planned = plan(&frame(kind, answers, typed), &answer, false).unwrap();
        assert_eq!(names(&planned), keys, "{answer:?}");
        let first = planned.first().map(|segment| segment.expect);
        assert!(first.is_none_or(|expect| expect == Some(kind)), "{answer:?}");
    }
}

#[test]
fn every_key_of_a_text_expects_its_prompt() {
    let planned = plan(&frame(PendingKind::Text, "", "a"), &Answer::Text("no".to_owned()), false).unwrap();
    assert!(planned.iter().all(|segment| segment.keys.len() == 1 && segment.expect == Some(PendingKind::Text)));
}

#[test]
fn answers_that_do_not_fit_are_refused() {
    use PendingKind::{Choice, Command, Direction, Extended, Item, More, Position, Text};
    let text = |text: &str| text.to_owned();
    for (kind, answers, answer, code) in [
        (More, "", Answer::Command(text("s"), None), Code::WrongPending),
        (Command, "", Answer::Text(text("x")), Code::WrongPending),
        (Command, "", Answer::Cancel, Code::WrongPending),
        (Text, "", Answer::Choice(text("y"), None), Code::WrongPending),
        (Choice, "yn", Answer::Acknowledge, Code::WrongPending),
        (Command, "", Answer::Command(text("search"), None), Code::InvalidKey),
        (Command, "", Answer::Command(text("s"), Some(0)), Code::InvalidResponse),
        (Command, "", Answer::Command(text("s"), Some(COUNT_MAX + 1)), Code::InvalidResponse),
        (Extended, "", Answer::Extended(text("")), Code::InvalidResponse),
        (Command, "", Answer::Extended(text("pray\r")), Code::InvalidResponse),
        (Direction, "", Answer::Direction(text("left")), Code::InvalidResponse),
        (Direction, "", Answer::Direction(text("ESC")), Code::InvalidResponse),
        (Direction, "", Answer::Direction(text("L")), Code::InvalidResponse),
        (Choice, "yn", Answer::Choice(text("#"), Some(2)), Code::InvalidResponse),
        (Choice, "yn#aq", Answer::Choice(text("y"), Some(2)), Code::InvalidResponse),
        (Choice, "yn#aq", Answer::Choice(text("#"), Some(0)), Code::InvalidResponse),
        (Item, "ab", Answer::Item(text("Z"), None), Code::InvalidResponse),
        (Item, "ab", Answer::Item(text("-"), None), Code::InvalidResponse),
        (Item, "ab", Answer::Item(text(","), None), Code::InvalidResponse),
        (More, "", Answer::Item(text("d"), None), Code::WrongPending),
        (More, "d", Answer::Item(text("a"), None), Code::InvalidResponse),
        (More, "d", Answer::Item(text("d"), Some(2)), Code::InvalidResponse),
        (Item, "ab", Answer::Item(text("ab"), None), Code::InvalidResponse),
        (Item, "ab", Answer::Item(text("5"), None), Code::InvalidResponse),
        (Item, "ab", Answer::Item(text("ESC"), None), Code::InvalidResponse),
        (Choice, "yn", Answer::Choice(text("q"), None), Code::InvalidResponse),
        (Text, "", Answer::Text(text("123456789")), Code::InvalidResponse),
        (Text, "", Answer::Text(text("é")), Code::InvalidResponse),
        (Text, "", Answer::Text(text("a\n")), Code::InvalidResponse),
        (Position, "", Answer::Position(Cursor { row: 0, column: 3 }), Code::InvalidResponse),
        (Position, "", Answer::Position(Cursor { row: 3, column: 79 }), Code::InvalidResponse),
    ] {
        let failure = plan(&frame(kind, answers, ""), &answer, false).unwrap_err();
        assert_eq!(failure.code, code, "{answer:?}: {}", failure.message);
    }
    let count = Answer::Command("s".to_owned(), Some(5));
    let failure = plan(&frame(Command, "", ""), &count, true).unwrap_err();
    assert_eq!(failure.code, Code::InvalidResponse);
    let over = plan(&Frame::default(), &Answer::Cancel, false).unwrap_err();
    assert_eq!(over.code, Code::WrongPending);
}

#[test]
fn a_number_pad_has_digits_for_directions_and_single_letters_that_mislead_are_refused() {
    let keys = |word: &str, number_pad: bool| {
        let mut frame = frame(PendingKind::Direction, "", "");
        frame.number_pad = number_pad;
        let segments = plan(&frame, &Answer::Direction(word.to_owned()), number_pad);
        segments.map(|segments| segments[0].keys[0]).ok()
    };
    for (word, letter, digit) in
        [("north", b'k', b'8'), ("southwest", b'b', b'1'), ("l", b'l', b'6'), ("up", b'<', b'<')]
    {
        assert_eq!((keys(word, false), keys(word, true)), (Some(Key(letter)), Some(Key(digit))), "{word}");
    }
    assert_eq!((keys("n", false), keys("s", false)), (None, None));
}

#[test]
fn a_menu_with_nothing_to_pick_is_read_to_its_last_page() {
    for (pick, page, pages, keys) in [
        (wire::Pick::None, 1, 1, Some("SPACE")),
        (wire::Pick::None, 1, 3, Some("SPACE SPACE SPACE")),
        (wire::Pick::None, 3, 3, Some("SPACE")),
        (wire::Pick::One, 1, 1, None),
        (wire::Pick::Any, 1, 3, None),
    ] {
        let mut frame = frame(PendingKind::Menu, "", "");
        frame.menu = Some(wire::Menu { title: String::new(), pick, page, pages, entries: Vec::new() });
        let planned = plan(&frame, &Answer::Acknowledge, false);
        let sent = planned.as_ref().map(|segments| names(segments)).ok();
        assert_eq!(sent.as_deref(), keys, "{pick:?} {page} of {pages}");
    }
}
