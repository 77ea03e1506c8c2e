//! Save states in a file's bytes: another lab, with workers of its own, goes on from them as if nothing had happened.

use lab::{Control, Lab, LabError, MachineId, Snapshot, StateFile, TreeMode, Verdict};
use wire::{Character, Key, PendingKind, PowerOn, Role, Seed};

use crate::support::{keys, lab, look, power_on, run};

/// Keys by character; `~` is ENTER, `!` is ESC, and a letter after `^` is that of a control key.
fn spelt(text: &str) -> Vec<Key> {
    let mut bytes = text.bytes();
    let mut keys = Vec::new();
    while let Some(byte) = bytes.next() {
        keys.push(Key(match byte {
            b'~' => b'\r',
            b'!' => 0x1b,
            b'^' => bytes.next().unwrap() & 0x1f,
            byte => byte,
        }));
    }
    keys
}

/// Where a machine is stopped: the keys that lead there, and what must be seen of it.
struct Place {
    name: &'static str,
    keys: &'static str,
    kind: PendingKind,
    seen: fn(&Snapshot) -> bool,
}

fn shows(snapshot: &Snapshot, text: &str) -> bool {
    snapshot.frame.screen.text().contains(text)
}

const PLACES: [Place; 9] = [
    Place { name: "bare map", keys: "s", kind: PendingKind::Command, seen: |here| here.frame.messages.is_empty() },
    Place { name: "a text that asks for --More--", keys: "#levelchange~14~", kind: PendingKind::More, seen: |_| true },
    Place {
        name: "a menu's second page",
        keys: "O>",
        kind: PendingKind::Menu,
        seen: |here| here.frame.menu.as_ref().is_some_and(|menu| menu.page == 2),
    },
    Place { name: "a half-typed #pr", keys: "#pr", kind: PendingKind::Extended, seen: |here| shows(here, "# pr") },
    Place { name: "a half-typed count", keys: "20", kind: PendingKind::Count, seen: |here| shows(here, "Count: 20") },
    Place { name: "a position's cursor", keys: ";llk", kind: PendingKind::Position, seen: |_| true },
    Place { name: "a wish", keys: "^W", kind: PendingKind::Text, seen: |here| shows(here, "For what do you wish") },
    Place {
        name: "a half-typed wish",
        keys: "^W2 blessed scr",
        kind: PendingKind::Text,
        seen: |here| shows(here, "2 blessed scr"),
    },
    Place {
        name: "a level-up text",
        keys: "#levelchange~2~",
        kind: PendingKind::Command,
        seen: |here| shows(here, "experience level 2"),
    },
];

/// Debug mode, so that there are wishes.
fn debug_game() -> PowerOn {
    let character = Character { role: Some(Role::Wizard), ..Character::default() };
    PowerOn { debug: true, character, ..PowerOn::from_seed(Seed(11)) }
}

fn at(lab: &Lab, place: &Place) -> Snapshot {
    let game = lab.new_game(debug_game(), false).unwrap();
    run(lab, game.machine, &spelt("~~!!s"));
    run(lab, game.machine, &spelt(place.keys));
    let here = lab.snapshot(game.machine).unwrap();
    let there = here.pending_kind() == Some(place.kind) && (place.seen)(&here);
    assert!(there, "{}: {:?}\n{}", place.name, here.frame.pending, here.frame.screen.text());
    here
}

pub(crate) fn any_prompt_goes_on_in_another_lab() {
    let (here, there) = (lab(None, |_| ()), lab(None, |_| ()));
    for (number, place) in PLACES.iter().enumerate() {
        let before = at(&here, place);
        let bytes = here.save_state(before.machine, None, &Control::default()).unwrap();
        let loaded = there.load_state(&bytes, false, &Control::default()).unwrap();
        assert_eq!(look(&loaded), look(&before), "{}", place.name);
        go_on_alike(&here, &there, (before.machine, loaded.machine), number as u64 + 1, place.name);
        // What was loaded proves itself from power-on.
        let report = there.verify(&there.movie(loaded.machine).unwrap(), None, &Control::default()).unwrap();
        assert_eq!(report.verdict, Verdict::Exact, "{}", place.name);
        here.close(before.machine, None).unwrap();
        there.close(loaded.machine, None).unwrap();
    }
}

/// Presses the next 200 inputs on both and compares every frame, and the memory at the end.
fn go_on_alike(here: &Lab, there: &Lab, machines: (MachineId, MachineId), seed: u64, name: &str) {
    for (index, key) in keys(seed, 200).into_iter().enumerate() {
        let pressed = [(here, machines.0), (there, machines.1)].map(|(lab, machine)| run(lab, machine, &[key]));
        let [before, after] = &pressed;
        assert_eq!(look(&after.snapshot), look(&before.snapshot), "{name}: seed {seed}, input {index} ({key})");
        assert_eq!((&after.inputs, after.turns), (&before.inputs, before.turns), "{name}: input {index}");
        if before.snapshot.ended.is_some() {
            break;
        }
    }
    let digest = |lab: &Lab, machine| lab.digest(&lab.state(machine).unwrap()).unwrap();
    assert_eq!(digest(there, machines.1), digest(here, machines.0), "{name}");
}

pub(crate) fn a_damaged_state_changes_nothing() {
    let (here, there) = (lab(None, |_| ()), lab(None, |_| ()));
    let game = here.new_game(power_on(3), false).unwrap();
    run(&here, game.machine, &keys(3, 60));
    let bytes = here.save_state(game.machine, None, &Control::default()).unwrap();
    // Somebody plays there meanwhile, and goes on undisturbed.
    let other = there.new_game(power_on(4), false).unwrap();
    let before = there.snapshot(other.machine).unwrap();
    let info = there.info();
    let refused = |bytes: &[u8], what: &str| {
        let result = there.load_state(bytes, false, &Control::default()).map(|snapshot| snapshot.machine);
        assert!(matches!(result, Err(LabError::BadState(_))), "{what}: {result:?}");
    };
    let bits = bytes.len() * 8;
    for bit in (0..2_048).chain((2_048..bits).step_by(bits / 400)).chain(bits - 512..bits) {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        refused(&other, &format!("bit {bit}"));
    }
    for length in (0..64).chain((64..bytes.len()).step_by(bytes.len() / 100)).chain(bytes.len() - 64..bytes.len()) {
        refused(&bytes[..length], &format!("{length} bytes"));
    }
    refused(&[&bytes[..], &[0]].concat(), "a byte more");
    let after = there.info();
    assert_eq!((after.machines, after.store_bytes, after.revision), (info.machines, info.store_bytes, info.revision));
    assert_eq!(look(&there.snapshot(other.machine).unwrap()), look(&before));
    assert!(StateFile::read(&bytes).is_ok());
    there.load_state(&bytes, false, &Control::default()).unwrap();
}

/// A file with other bytes in it, and a digest as if it were true.
fn sealed_anew(bytes: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut other = bytes[..bytes.len() - 32].to_vec();
    change(&mut other);
    let digest = blake3::hash(&other);
    other.extend(digest.as_bytes());
    other
}

pub(crate) fn a_forged_state_costs_its_worker_at_most() {
    let lab = lab(None, |_| ());
    let game = lab.new_game(power_on(6), false).unwrap();
    run(&lab, game.machine, &keys(6, 80));
    let before = lab.snapshot(game.machine).unwrap();
    let bytes = lab.save_state(game.machine, None, &Control::default()).unwrap();
    let stored = StateFile::read(&bytes).unwrap().stored_bytes() as usize;
    let state = bytes.len() - 32 - stored..bytes.len() - 32;
    let info = lab.info();
    for index in 0..200 {
        let bit = 8 * state.start + index * (8 * stored - 1) / 199;
        let forged = sealed_anew(&bytes, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        match lab.load_state(&forged, false, &Control::default()) {
            Err(LabError::BadState(_)) => {}
            // A compressed stream can say the same in two ways.
            Ok(loaded) => {
                assert!(lab.diff(game.machine, loaded.machine).unwrap().images_same, "bit {bit}");
                lab.delete(loaded.machine, None).unwrap();
            }
            Err(error) => panic!("bit {bit}: {error:?}"),
        }
    }
    for fill in [0, 0x55, 0xff] {
        let forged = sealed_anew(&bytes, |bytes| bytes[state.clone()].fill(fill));
        assert!(matches!(lab.load_state(&forged, false, &Control::default()), Err(LabError::BadState(_))), "{fill}");
    }
    assert_eq!((lab.info().machines, lab.info().store_bytes), (info.machines, info.store_bytes));
    assert_eq!(look(&lab.snapshot(game.machine).unwrap()), look(&before));
    let loaded = lab.load_state(&sealed_anew(&bytes, |_| ()), false, &Control::default()).unwrap();
    go_on_alike(&lab, &lab, (game.machine, loaded.machine), 6, "after forgeries");
}

pub(crate) fn an_ended_game_is_loaded_as_ended() {
    let (here, there) = (lab(None, |_| ()), lab(None, |_| ()));
    let game = here.new_game(debug_game(), false).unwrap();
    for key in spelt("~~!!s#quit~ynnnn~~~~~~!!!!!!") {
        if here.snapshot(game.machine).unwrap().ended.is_none() {
            run(&here, game.machine, &[key]);
        }
    }
    let before = here.snapshot(game.machine).unwrap();
    assert!(before.ended.is_some(), "{}", before.frame.screen.text());
    let bytes = here.save_state(game.machine, None, &Control::default()).unwrap();
    let loaded = there.load_state(&bytes, false, &Control::default()).unwrap();
    assert_eq!((look(&loaded), &loaded.ended), (look(&before), &before.ended));
    assert_eq!(loaded.lifecycle, lab::Lifecycle::Ended);
}

pub(crate) fn a_tree_goes_on_in_another_lab() {
    let (here, there) = (lab(None, |_| ()), lab(None, |_| ()));
    let game = here.new_game(PowerOn { debug: true, ..power_on(5) }, false).unwrap();
    run(&here, game.machine, &keys(5, 300));
    let luck = lab::Luck::Reseed { core: Seed(1), display: Seed(2) };
    let forks: Vec<_> = [(0, lab::Luck::Same), (100, luck), (300, lab::Luck::Same), (299, luck)]
        .into_iter()
        .map(|(at, luck)| here.fork(game.machine, Some(lab::Boundary(at)), luck, 1).unwrap().remove(0).machine)
        .collect();
    for (seed, fork) in forks.iter().enumerate().skip(1) {
        run(&here, *fork, &keys(seed as u64, 40));
    }
    let bytes = here.export_tree(None, Vec::new(), &Control::default()).unwrap();
    // A keyframe or two, and deltas.
    assert!(bytes.len() < 300_000, "{} bytes", bytes.len());
    let imported = there.import_tree(bytes.as_slice(), TreeMode::Load, false, &Control::default()).unwrap();
    assert_eq!(imported.len(), 5);
    let rebuilt = there.import_tree(bytes.as_slice(), TreeMode::Rebuild, false, &Control::default()).unwrap();
    let digest = |lab: &Lab, machine| lab.digest(&lab.state(machine).unwrap()).unwrap();
    for (loaded, rebuilt) in imported.iter().zip(&rebuilt) {
        let before = here.snapshot(loaded.was).unwrap();
        assert_eq!(look(&loaded.snapshot), look(&before), "{}", loaded.was);
        assert_eq!(digest(&there, loaded.snapshot.machine), digest(&here, loaded.was), "{}", loaded.was);
        assert_eq!(digest(&there, rebuilt.snapshot.machine), digest(&here, loaded.was), "{}", loaded.was);
        if before.ended.is_none() {
            go_on_alike(&here, &there, (loaded.was, loaded.snapshot.machine), loaded.was.0, "tree");
        }
    }
}
