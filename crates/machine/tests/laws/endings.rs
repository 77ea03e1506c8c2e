//! How games end.

use machine::{Machine, MachineError, Stop};
use wire::{EndKind, Ended, Key, PowerOn, Seed};

use crate::{Numbers, machine, press_all, valkyrie};

fn ended(machine: &mut Machine, keys: &[u8]) -> Ended {
    match press_all(machine, keys) {
        Stop::Ended(ended) => ended,
        Stop::Boundary => panic!("no end:\n{:?}", machine.frame().screen),
    }
}

/// Presses ENTER through what a game shows at its end.
fn read_on(machine: &mut Machine) -> Ended {
    for _ in 0..40 {
        if let Stop::Ended(ended) = press_all(machine, b"\r") {
            return ended;
        }
    }
    panic!("no end:\n{:?}", machine.frame().screen);
}

#[test]
fn quitting_is_an_end_and_nothing_runs_after_it() {
    let mut held = machine();
    let machine = &mut held.machine;
    machine.power_on(&valkyrie(1)).unwrap();
    press_all(machine, b"#quit\ry");
    let end = read_on(machine);
    assert_eq!((end.kind, end.how), (EndKind::Quit, Some(13)));
    assert!(end.xlog.unwrap().contains("death=quit"));
    assert!(matches!(machine.press(Key::ESC), Err(MachineError::Ended)));
    assert!(machine.frame().pending.is_none());
    let state = machine.save().unwrap();
    machine.power_on(&valkyrie(2)).unwrap();
    let Stop::Ended(loaded) = machine.load(&state).unwrap() else { panic!("the end is lost") };
    assert_eq!(loaded.kind, EndKind::Quit);
}

#[test]
fn saving_is_an_end() {
    let mut held = machine();
    held.machine.power_on(&valkyrie(1)).unwrap();
    let end = ended(&mut held.machine, b"Sy\r\r\r");
    assert_eq!(end.kind, EndKind::Saved);
}

#[test]
fn deaths_say_how_and_why() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut deaths = 0;
    for seed in 0..12 {
        machine.power_on(&PowerOn::from_seed(Seed(seed))).unwrap();
        let mut numbers = Numbers::new(seed);
        for _ in 0..60_000 {
            if machine.stop() != Some(&Stop::Boundary) {
                break;
            }
            press_all(machine, &[numbers.play_key()]);
        }
        let Some(Stop::Ended(end)) = machine.stop().cloned() else { continue };
        assert!(end.kind.is_regular(), "seed {seed}: {end:?}");
        let xlog = end.xlog.clone().unwrap();
        if end.kind == EndKind::Died {
            deaths += 1;
            assert!(!end.text.is_empty() && xlog.contains(&format!("death={}", end.text)), "seed {seed}: {end:?}");
            assert!(end.how.unwrap() < 11, "seed {seed}: {end:?}");
        }
    }
    assert!(deaths >= 6, "only {deaths} of 12 games ended in death");
}

#[test]
fn debug_mode_needs_the_record_to_allow_it() {
    let mut held = machine();
    let machine = &mut held.machine;
    machine.power_on(&valkyrie(1)).unwrap();
    let before = machine.turn();
    press_all(machine, b"X");
    press_all(machine, b"\r");
    let text = machine.frame().screen.text();
    assert!(!text.contains("explore mode?"), "{text}");
    assert_eq!(machine.turn(), before);
    machine.power_on(&PowerOn { debug: true, ..valkyrie(1) }).unwrap();
    press_all(machine, b"\x16");
    assert!(machine.frame().screen.row(0).contains("To what level"), "{:?}", machine.frame().screen);
}

#[test]
fn the_records_options_have_the_last_word_and_bad_values_are_told() {
    let mut held = machine();
    let machine = &mut held.machine;
    let shown = |machine: &mut Machine, options: &str| {
        machine.power_on(&PowerOn { options: options.to_owned(), ..valkyrie(1) }).unwrap();
        press_all(machine, b"\x1b\x1bO");
        let menu = machine.frame().menu.unwrap();
        menu.entries.iter().map(|entry| entry.text.clone()).collect::<Vec<_>>()
    };
    let state = |lines: &[String], name: &str| {
        let line = lines.iter().find(|line| line.split_whitespace().next() == Some(name));
        line.map(|line| line.split_once('[').unwrap().1.trim_end_matches(']').to_owned())
    };
    let plain = shown(machine, "");
    let changed =
        shown(machine, "autopickup,!color,legacy,!mention_walls,!showexp,!time,!verbose,runmode:walk,number_pad:1");
    for name in ["autopickup", "color", "mention_walls", "showexp", "time", "verbose"] {
        assert_ne!(state(&plain, name), state(&changed, name), "{name}");
    }
    assert_eq!(state(&changed, "runmode").as_deref(), Some("walk"));
    assert!(machine.frame().number_pad);
    for bad in ["number_pad:9", "runmode:step", "disclose:+z"] {
        let error = machine.power_on(&PowerOn { options: bad.to_owned(), ..valkyrie(1) }).unwrap_err();
        let MachineError::Options(text) = &error else { panic!("{bad}: {error}") };
        assert!(text.len() < 320 && text.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{bad}: {text}");
    }
}
