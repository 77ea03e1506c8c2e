//! What a machine says it waits for.

use wire::{PendingKind, Pick, Stage};

use crate::{WAYS, machine, press_all, valkyrie};

#[test]
fn each_way_leads_to_its_kind() {
    let mut held = machine();
    for (name, keys, kind) in WAYS {
        held.machine.power_on(&valkyrie(1)).unwrap();
        press_all(&mut held.machine, keys);
        let frame = held.machine.frame();
        let pending = frame.pending.as_ref().unwrap();
        assert_eq!(pending.kind, kind, "{name}:\n{:?}", frame.screen);
        assert_eq!(held.machine.pending_kind(), Some(kind), "{name}");
        assert_eq!(pending.stage, Stage::Play, "{name}");
        assert_eq!(frame.menu.is_some(), kind == PendingKind::Menu, "{name}");
        assert_eq!(frame.window.is_some(), kind == PendingKind::Window, "{name}");
    }
}

#[test]
fn questions_say_what_they_take() {
    let mut held = machine();
    let mut pending = |keys: &[u8]| {
        held.machine.power_on(&valkyrie(1)).unwrap();
        press_all(&mut held.machine, keys);
        held.machine.pending().unwrap()
    };
    let save = pending(b"S");
    assert_eq!((save.prompt.as_str(), save.answers.as_str(), save.default), ("Really save?", "yn", Some('n')));
    let drop = pending(b"d");
    assert_eq!(drop.answers, "abcd");
    let text = pending(b"E-\rElbereth");
    assert_eq!((text.capacity, text.typed.as_str()), (Some(80), "Elbereth"));
    assert_eq!(text.prompt, "What do you want to write in the dust here?");
    assert_eq!(pending(b"#pr").typed, "pray");
    assert_eq!(pending(b"123").typed, "123");
    assert_eq!(pending(b"12\x08").typed, "1");
    assert_eq!(pending(b"d12").typed, "12");
}

#[test]
fn menus_come_whole_with_all_their_pages() {
    let mut held = machine();
    held.machine.power_on(&valkyrie(1)).unwrap();
    press_all(&mut held.machine, b"O");
    let menu = held.machine.frame().menu.unwrap();
    assert_eq!(menu.title, "Set what options?");
    assert_eq!((menu.pick, menu.page), (Pick::Any, 1));
    assert!(menu.pages >= 3, "{menu:?}");
    press_all(&mut held.machine, b">");
    let second = held.machine.frame().menu.unwrap();
    assert_eq!(second.page, 2);
    assert_eq!(second.entries, menu.entries);
    let on_second: Vec<_> = second.entries.iter().filter(|entry| entry.page == 2 && entry.selectable).collect();
    let screen = held.machine.frame().screen.text();
    for entry in on_second {
        assert!(screen.contains(entry.text.trim_end()), "{entry:?}\n{screen}");
        let letter = entry.accelerator.unwrap();
        assert!(screen.contains(&format!("{letter} - {}", entry.text.trim_end())), "{entry:?}\n{screen}");
    }
    let first = second.entries.iter().find(|entry| entry.page == 2 && entry.selectable).unwrap();
    press_all(&mut held.machine, &[u8::try_from(first.accelerator.unwrap()).unwrap()]);
    let picked = held.machine.frame().menu.unwrap();
    assert!(picked.entries[first.id as usize].selected);
}

#[test]
fn a_dropped_stack_can_be_counted_in_a_menu() {
    let mut held = machine();
    let mut record = valkyrie(1);
    record.character.role = Some("samurai".parse().unwrap());
    held.machine.power_on(&record).unwrap();
    press_all(&mut held.machine, b"DA");
    // Drops everything but asks for each class first in some menu styles; here all goes at once.
    press_all(&mut held.machine, b"\r");
    press_all(&mut held.machine, b"\x1b\x1b\x1b");
    held.machine.power_on(&record).unwrap();
    press_all(&mut held.machine, b"Da\r");
    let frame = held.machine.frame();
    let menu = frame.menu.unwrap_or_else(|| panic!("{:?}", frame.screen));
    let arrows = menu.entries.iter().find(|entry| entry.text.contains(" ya ")).unwrap();
    let letter = u8::try_from(arrows.accelerator.unwrap()).unwrap();
    press_all(&mut held.machine, &[b'3', letter]);
    let entry = held.machine.frame().menu.unwrap().entries[arrows.id as usize].clone();
    assert_eq!((entry.selected, entry.count), (true, Some(3)));
}

#[test]
fn every_role_comes_to_a_command_and_its_first_search_takes_a_turn() {
    let mut held = machine();
    for role in wire::Role::ALL {
        for seed in 0..40 {
            let mut record = valkyrie(seed);
            record.character.role = Some(*role);
            record.character.race = None;
            held.machine.power_on(&record).unwrap();
            // Some heroes are greeted at such length that it takes a --More--, and the machine says so.
            for _ in 0..4 {
                if held.machine.pending_kind() != Some(PendingKind::More) {
                    break;
                }
                press_all(&mut held.machine, b"\r");
            }
            assert_eq!(held.machine.pending_kind(), Some(PendingKind::Command), "{role} {seed}");
            let before = held.machine.turn();
            // A fast hero may act twice in a turn.
            press_all(&mut held.machine, b"s\r\rs\r\rs");
            assert!(held.machine.turn() > before, "{role} {seed}\n{:?}", held.machine.frame().screen);
        }
    }
}

#[test]
fn messages_have_ids_without_gaps_and_lose_nothing_to_more() {
    let mut held = machine();
    for seed in 0..30 {
        held.machine.power_on(&valkyrie(seed)).unwrap();
        let mut numbers = crate::Numbers::new(seed);
        let mut next = 1;
        let mut seen = String::new();
        for boundary in 0..1500 {
            let frame = held.machine.frame();
            assert!(!frame.messages_truncated, "seed {seed} boundary {boundary}");
            for message in &frame.messages {
                assert_eq!(message.id, next, "seed {seed} boundary {boundary}");
                next += 1;
                seen.push_str(&message.text);
            }
            let top = frame.screen.row(0);
            if frame.pending.as_ref().is_some_and(|pending| pending.kind == PendingKind::More)
                && !top.contains("--More--")
            {
                let text = frame.screen.text();
                assert!(
                    text.contains("--More--") || text.contains("(end)") || text.contains("to continue"),
                    "seed {seed} boundary {boundary}\n{text}"
                );
            }
            if held.machine.stop() != Some(&machine::Stop::Boundary) {
                break;
            }
            press_all(&mut held.machine, &[numbers.play_key()]);
        }
        assert!(next > 3, "seed {seed} said nothing");
        assert!(seen.contains("elcome"), "seed {seed}: {seen}");
    }
}

#[test]
fn escape_at_more_keeps_messages_from_the_screen_but_not_from_the_list() {
    let mut held = machine();
    held.machine.power_on(&valkyrie(1)).unwrap();
    // Engraving says two things, each with its own --More--.
    press_all(&mut held.machine, b"E-");
    press_all(&mut held.machine, b"\x1b");
    let after = held.machine.frame();
    assert_eq!(after.pending.unwrap().kind, PendingKind::Text);
    press_all(&mut held.machine, b"x\r");
    press_all(&mut held.machine, b":");
    let look = held.machine.frame();
    assert!(look.messages.iter().all(|message| message.shown), "{:?}", look.messages);
    assert!(!look.messages.is_empty());
}

#[test]
fn a_message_that_escape_kept_from_the_screen_is_told_so() {
    let mut held = machine();
    let mut said = |keys: &[u8]| {
        let mut record = valkyrie(1);
        record.debug = true;
        held.machine.power_on(&record).unwrap();
        press_all(&mut held.machine, keys);
        let frame = held.machine.frame();
        let waits = frame.pending.as_ref().unwrap().kind;
        let texts: Vec<_> = frame.messages.into_iter().map(|message| (message.text, message.shown)).collect();
        (waits, texts)
    };
    let text = |text: &str, shown: bool| (text.to_owned(), shown);
    let (first, second) = ("Please move the cursor to an unknown object.", "(For instructions type a '?')");
    assert_eq!(said(b"//"), (PendingKind::More, vec![text(first, true)]));
    assert_eq!(said(b"//\r"), (PendingKind::Position, vec![text(second, true)]));
    assert_eq!(said(b"//\x1b"), (PendingKind::Position, vec![text(second, false)]));
    // One of several lines waits for itself, so it has been on the screen whatever answers.
    let wish = format!("\x17very rusty very corroded long sword named {}\r", "x".repeat(40));
    let (waits, texts) = said(wish.as_bytes());
    assert_eq!((waits, texts.len()), (PendingKind::More, 1), "{texts:?}");
    assert!(texts[0].0.len() > 80 && texts[0].1, "{texts:?}");
    let (waits, texts) = said(format!("{wish}\x1b").as_bytes());
    assert_eq!((waits, texts), (PendingKind::Command, vec![]));
}

#[test]
fn directions_places_and_only_entries_name_their_keys() {
    let mut held = machine();
    let mut pending = |options: &str, keys: &[u8]| {
        let mut record = valkyrie(1);
        record.options = options.to_owned();
        held.machine.power_on(&record).unwrap();
        press_all(&mut held.machine, keys);
        held.machine.pending().unwrap()
    };
    assert_eq!(pending("", b"\x04").answers, "hykulnjb><.s");
    assert_eq!(pending("number_pad:-1", b"\x04").answers, "hzkulnjb><.s");
    assert_eq!(pending("number_pad:1", b"\x04").answers, "47896321><.s");
    assert_eq!(pending("number_pad:3", b"\x04").answers, "41236987><.s");
    assert_eq!(pending("number_pad:3", b";").answers, "41236987><");
    assert_eq!(pending("", b"F").answers, "");
    let only = pending("", b"e?");
    assert_eq!((only.kind, only.answers.as_str()), (PendingKind::More, "d"));
    assert_eq!(pending("", b"E-").answers, "");
}

#[test]
fn a_file_is_a_window_page_by_page() {
    let mut held = machine();
    held.machine.power_on(&valkyrie(1)).unwrap();
    press_all(&mut held.machine, b"?b");
    let frame = held.machine.frame();
    assert_eq!(frame.pending.unwrap().kind, PendingKind::Window);
    let window = frame.window.unwrap();
    assert!(!window.whole && window.lines.len() > 20, "{window:?}");
    for (row, line) in window.lines.iter().enumerate() {
        assert_eq!(frame.screen.row(row).trim_end(), line.trim_end(), "row {row}");
    }
    press_all(&mut held.machine, b" ");
    let second = held.machine.frame().window.unwrap();
    assert!(!second.whole && second.lines != window.lines, "{second:?}");
    press_all(&mut held.machine, b"\x1b#conduct\r");
    assert!(held.machine.frame().window.unwrap().whole);
}

#[test]
fn a_text_that_is_shown_before_it_is_whole_is_a_window_too() {
    let mut held = machine();
    held.machine.power_on(&valkyrie(1)).unwrap();
    press_all(&mut held.machine, b"?i");
    let mut pages = 0;
    let mut last = Vec::new();
    while held.machine.pending_kind() == Some(PendingKind::Window) {
        let frame = held.machine.frame();
        let window = frame.window.unwrap();
        assert!(!window.whole && window.lines != last, "{window:?}");
        for (row, line) in window.lines.iter().enumerate() {
            assert_eq!(frame.screen.row(row).trim_end(), line.trim_end(), "page {pages} row {row}");
        }
        last = window.lines;
        pages += 1;
        press_all(&mut held.machine, b" ");
    }
    assert!(pages > 3 && held.machine.pending_kind() == Some(PendingKind::Command), "{pages} pages");
    press_all(&mut held.machine, b"?i\x1b");
    assert_eq!(held.machine.pending_kind(), Some(PendingKind::Command));
    // Another text in the same place is whole again.
    press_all(&mut held.machine, b"#conduct\r");
    assert!(held.machine.frame().window.unwrap().whole);
}

#[test]
fn a_menu_says_what_is_typed_of_a_count_and_that_it_searches() {
    let mut held = machine();
    held.machine.power_on(&valkyrie(1)).unwrap();
    press_all(&mut held.machine, b"D");
    press_all(&mut held.machine, b"12");
    let pending = held.machine.pending().unwrap();
    assert_eq!((pending.kind, pending.typed.as_str()), (PendingKind::Menu, "12"));
    // What the menu doesn't take leaves the count as it is.
    press_all(&mut held.machine, b"&Z");
    assert_eq!(held.machine.pending().unwrap().typed, "12");
    press_all(&mut held.machine, b"\x1b");
    let pending = held.machine.pending().unwrap();
    assert_eq!((pending.kind, pending.typed.as_str()), (PendingKind::Menu, ""));
    held.machine.power_on(&valkyrie(1)).unwrap();
    press_all(&mut held.machine, b"O:");
    let pending = held.machine.pending().unwrap();
    assert_eq!((pending.kind, pending.prompt.as_str()), (PendingKind::Text, "Search for:"));
    press_all(&mut held.machine, b"autod");
    assert_eq!(held.machine.pending().unwrap().typed, "autod");
}
