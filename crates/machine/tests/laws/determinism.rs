//! Equal records and equal keys give equal bytes.

use machine::{Machine, Stop};
use wire::{PowerOn, Seed, StateDigest};

use crate::{Numbers, machine, press_all, valkyrie};

fn digest_after(machine: &mut Machine, record: &PowerOn, keys: &[u8]) -> StateDigest {
    machine.power_on(record).unwrap();
    press_all(machine, keys);
    machine.state_digest()
}

#[test]
fn a_run_with_detours_is_the_straight_run() {
    let mut held = machine();
    let machine = &mut held.machine;
    for seed in 0..25 {
        let record = PowerOn::from_seed(Seed(seed));
        let mut numbers = Numbers::new(seed);
        let keys: Vec<u8> = (0..2500).map(|_| numbers.play_key()).collect();
        let straight = digest_after(machine, &record, &keys);
        machine.power_on(&record).unwrap();
        for (boundary, &key) in keys.iter().enumerate() {
            if machine.stop() != Some(&Stop::Boundary) {
                break;
            }
            if numbers.below(20) == 0 {
                let state = machine.save().unwrap();
                let elsewhere: Vec<u8> = (0..numbers.below(60)).map(|_| numbers.play_key()).collect();
                press_all(machine, &elsewhere);
                let _ = (machine.frame(), machine.play_digest(), machine.state_digest());
                machine.load(&state).unwrap();
                assert_eq!(machine.save().unwrap(), state, "seed {seed} boundary {boundary}");
            }
            press_all(machine, &[key]);
        }
        assert_eq!(machine.state_digest(), straight, "seed {seed}");
    }
}

#[test]
fn looking_changes_nothing() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut numbers = Numbers::new(5);
    let keys: Vec<u8> = (0..3000).map(|_| numbers.play_key()).collect();
    let blind = digest_after(machine, &valkyrie(5), &keys);
    machine.power_on(&valkyrie(5)).unwrap();
    for &key in &keys {
        press_all(machine, &[key]);
        let before = machine.state_digest();
        let first = machine.frame();
        let _ = (machine.play_digest(), machine.turn(), machine.pending_kind(), machine.save());
        assert_eq!(machine.frame(), first);
        assert_eq!(machine.state_digest(), before);
    }
    assert_eq!(machine.state_digest(), blind);
}

#[test]
fn what_a_machine_did_before_does_not_show() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut numbers = Numbers::new(11);
    let keys: Vec<u8> = (0..1500).map(|_| numbers.play_key()).collect();
    let fresh = digest_after(machine, &valkyrie(11), &keys);
    // Another hero, other options (another boot image), a longer game; then the first again, warm and cold.
    let mut other = PowerOn::from_seed(Seed(12));
    other.options = "!color,fruit:kumquat,pettype:none".to_owned();
    let _ = digest_after(machine, &other, &[keys.clone(), keys.clone()].concat());
    assert_eq!(digest_after(machine, &valkyrie(11), &keys), fresh, "warm");
    drop(held);
    let mut held = crate::machine();
    let _ = digest_after(&mut held.machine, &other, &keys);
    assert_eq!(digest_after(&mut held.machine, &valkyrie(11), &keys), fresh, "cold");
}

#[test]
fn every_part_of_the_record_matters() {
    let mut held = machine();
    let machine = &mut held.machine;
    let base = valkyrie(21);
    let digest = digest_after(machine, &base, b"s");
    let mut others = vec![];
    for seed in [0, 1, (1 << 31) - 1, 1 << 31, u64::from(u32::MAX), (1 << 53) + 1, (1 << 63) - 1, u64::MAX] {
        others.push(PowerOn { core_seed: Seed(seed), ..base.clone() });
    }
    others.push(PowerOn { display_seed: Seed(1), ..base.clone() });
    others.push(PowerOn { options: "!color".to_owned(), ..base.clone() });
    others.push(PowerOn { clock: wire::Clock::new(0).unwrap(), ..base.clone() });
    let mut seen = vec![digest];
    for other in &others {
        let digest = digest_after(machine, other, b"s");
        assert!(!seen.contains(&digest), "{other:?}");
        seen.push(digest);
    }
}

#[test]
fn the_clock_is_the_records() {
    let mut held = machine();
    let machine = &mut held.machine;
    // 2001-01-09 20:24 UTC was a full moon, 2001-04-13 a Friday, 2000-12-25 a new moon.
    for (clock, omen) in [
        (979_041_600, Some("You are lucky!  Full moon tonight.")),
        (987_156_000, Some("Watch out!  Bad things can happen on Friday the 13th.")),
        (977_745_600, Some("Be careful!  New moon tonight.")),
        (wire::Clock::default().seconds(), None),
    ] {
        let record = PowerOn { clock: wire::Clock::new(clock).unwrap(), ..valkyrie(4) };
        machine.power_on(&record).unwrap();
        let mut said = vec![];
        for _ in 0..4 {
            machine.messages_into(&mut said);
            press_all(machine, b"\r");
        }
        let texts: Vec<_> = said.iter().map(|message| message.text.as_str()).collect();
        let omens: Vec<_> =
            texts.iter().filter(|text| text.contains("moon") || text.contains("Friday")).copied().collect();
        assert_eq!(omens, omen.into_iter().collect::<Vec<_>>(), "{clock}: {texts:?}");
    }
}

#[test]
fn a_reseed_changes_what_happens_and_equal_reseeds_do_not() {
    let mut held = machine();
    let machine = &mut held.machine;
    machine.power_on(&valkyrie(6)).unwrap();
    let state = machine.save().unwrap();
    let mut numbers = Numbers::new(6);
    let keys: Vec<u8> = (0..300).map(|_| numbers.play_key()).collect();
    let mut after = |luck: Option<u64>| {
        machine.load(&state).unwrap();
        if let Some(luck) = luck {
            machine.reseed(Seed(luck), Seed(luck)).unwrap();
        }
        press_all(machine, &keys);
        machine.state_digest()
    };
    let same = after(None);
    assert_eq!(after(None), same);
    let other = after(Some(1));
    assert_ne!(other, same);
    assert_eq!(after(Some(1)), other);
    assert_ne!(after(Some(2)), other);
}
