use machine::{Arrays, Machine, Observation, Stop};
use wire::{Key, PowerOn, Profile, Seed};

use crate::machine;

const KEYS: &[u8] = b"\rhjklyubn.s:,iE-\x1bw\x1bnn20sFhFjz\x1b#pray\ryy\r\r\r\r\rllll>>>";

fn nle(seed: u64) -> PowerOn {
    PowerOn { profile: Profile::Nle13, ..PowerOn::from_seed(Seed(seed)) }
}

/// The state digests along a game, observed or not.
fn digests(machine: &mut Machine, record: &PowerOn, observed: bool) -> Vec<wire::StateDigest> {
    let mut seen = Observation::default();
    let mut stop = machine.power_on(record).unwrap();
    let mut digests = Vec::new();
    for &byte in KEYS.iter().cycle().take(400) {
        if stop != Stop::Boundary {
            break;
        }
        if observed {
            machine.observe_nle(&mut seen, Arrays::ALL);
        }
        digests.push(machine.state_digest());
        stop = machine.press(Key(byte)).unwrap();
    }
    digests
}

#[test]
fn observing_changes_nothing() {
    let mut held = machine();
    for record in [nle(1), nle(2), PowerOn::from_seed(Seed(3))] {
        let alone = digests(&mut held.machine, &record, false);
        assert_eq!(alone, digests(&mut held.machine, &record, true));
        assert!(alone.len() > 100);
    }
}

#[test]
fn only_wanted_arrays_are_written() {
    let mut held = machine();
    held.machine.power_on(&nle(5)).unwrap();
    let mut seen = Observation::default();
    held.machine.observe_nle(&mut seen, Arrays::BLSTATS);
    assert_ne!(seen.blstats, [0; 27]);
    assert_eq!(Observation { blstats: [0; 27], ..seen.clone() }, Observation::default());
    held.machine.observe_nle(&mut seen, Arrays::GLYPHS.and(Arrays::TTY));
    assert_ne!(seen.tty_chars, [[0; 80]; 24]);
    assert_eq!(seen.chars, [[0; 79]; 21]);
}

#[test]
fn a_loaded_state_is_observed_as_it_was() {
    let mut held = machine();
    held.machine.power_on(&nle(9)).unwrap();
    let mut before = Observation::default();
    held.machine.observe_nle(&mut before, Arrays::ALL);
    let state = held.machine.save().unwrap();
    for &byte in KEYS {
        if held.machine.stop() == Some(&Stop::Boundary) {
            held.machine.press(Key(byte)).unwrap();
        }
    }
    let mut after = Observation::default();
    held.machine.observe_nle(&mut after, Arrays::ALL);
    assert_ne!(before, after);
    held.machine.load(&state).unwrap();
    held.machine.observe_nle(&mut after, Arrays::ALL);
    assert_eq!(before, after);
}

/// Every switch of the power-on record changes what is played; without them nothing of NLE's shows.
#[test]
fn the_record_alone_decides() {
    let mut held = machine();
    let mut last = |record: &PowerOn| {
        held.machine.power_on(record).unwrap();
        held.machine.press(Key(b'O')).unwrap();
        (held.machine.play_digest(), held.machine.frame().screen.text())
    };
    let (_, screen) = last(&nle(4));
    assert!(screen.contains("The options are already set perfectly for you!"), "{screen}");
    let (own, screen) = last(&PowerOn::from_seed(Seed(4)));
    assert!(screen.contains("Booleans"), "{screen}");
    assert_eq!(last(&PowerOn::from_seed(Seed(4))).0, own);
    let level = PowerOn { level_seed: Some(Seed(4)), ..PowerOn::from_seed(Seed(4)) };
    assert_ne!(last(&level).0, own);
    assert_ne!(last(&PowerOn { level_seed: Some(Seed(5)), ..level.clone() }).0, last(&level).0);
    assert_ne!(last(&PowerOn { reseed: true, ..PowerOn::from_seed(Seed(4)) }).0, own);
}

/// With a level seed the dungeon is the same whatever the core seed is.
#[test]
fn a_level_seed_fixes_the_level() {
    let mut held = machine();
    let mut level = |core: u64| {
        let record = PowerOn { core_seed: Seed(core), level_seed: Some(Seed(77)), debug: true, ..nle(1) };
        let record = PowerOn {
            options: "time,name:Agent-val-hum-neu-fem,role:val,race:hum,gender:fem,align:neu".into(),
            ..record
        };
        held.machine.power_on(&record).unwrap();
        for &byte in b"\r\r\x06\r" {
            held.machine.press(Key(byte)).unwrap();
        }
        let mut seen = Observation::default();
        held.machine.observe_nle(&mut seen, Arrays::GLYPHS);
        // Where walls, doors and stairs are; pets, things and the hero move about.
        seen.glyphs
            .as_flattened()
            .iter()
            .map(|glyph| if (2360..=2382).contains(glyph) { *glyph } else { 0 })
            .collect::<Vec<_>>()
    };
    let (one, two) = (level(1), level(2));
    let differing = one.iter().zip(&two).filter(|(one, two)| one != two && **one != 0 && **two != 0).count();
    assert_eq!(differing, 0);
    assert!(one.iter().filter(|glyph| **glyph != 0).count() > 100);
}
