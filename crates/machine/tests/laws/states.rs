//! Keyframes and deltas: whatever is played, they lead back to the very same machine.

use machine::{Codec, Image, KeyframeBytes, Machine, MachineError, Stop};
use wire::{Key, PowerOn, Seed};

use crate::{Numbers, machine, press_all, valkyrie};

fn decode(machine: &Machine, codec: &mut Codec, keyframe: &KeyframeBytes) -> Result<Image, MachineError> {
    let blobs: Vec<_> = keyframe.blobs.iter().map(Vec::as_slice).collect();
    machine.decode_keyframe(codec, &keyframe.body, &blobs)
}

fn play(machine: &mut Machine, numbers: &mut Numbers, keys: u64) {
    for _ in 0..keys {
        if machine.stop() != Some(&Stop::Boundary) {
            break;
        }
        machine.press(Key(numbers.play_key())).unwrap();
    }
}

/// Visits levels in debug mode, so that there are level files.
fn deep(machine: &mut Machine, seed: u64, levels: u32) {
    machine.power_on(&PowerOn { debug: true, ..valkyrie(seed) }).unwrap();
    for level in 2..=levels {
        press_all(machine, format!("\x16{level}\r\r\r\x1b\x1b").as_bytes());
    }
}

fn delta(machine: &Machine, codec: &mut Codec, base: &Image) -> Vec<u8> {
    let mut bytes = Vec::new();
    assert!(machine.delta(codec, base, usize::MAX, &mut bytes).unwrap());
    bytes
}

/// What must be the same after a way there and back.
#[derive(Debug, PartialEq)]
struct Seen {
    frame: wire::Frame,
    play: wire::PlayDigest,
    state: wire::StateDigest,
}

fn seen(machine: &Machine) -> Seen {
    Seen { frame: machine.frame(), play: machine.play_digest(), state: machine.state_digest() }
}

#[test]
fn forks_come_back_as_they_were() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut codec = Codec::default();
    for game in 0..40 {
        let mut numbers = Numbers::new(game + 1);
        if game % 8 == 7 {
            deep(machine, game, 4);
        } else {
            machine.power_on(&PowerOn::from_seed(Seed(game))).unwrap();
        }
        play(machine, &mut numbers, 30);
        let keyframe = machine.keyframe(&mut codec).unwrap();
        let root = decode(machine, &mut codec, &keyframe).unwrap();
        assert_eq!(root, machine.image().unwrap(), "game {game}");
        let mut parent = root.clone();
        for round in 0..30 {
            let name = format!("game {game}, round {round}");
            let before = seen(machine);
            let keys = 1 + numbers.below(20);
            if round % 5 == 4 && machine.stop() == Some(&Stop::Boundary) {
                machine.reseed(Seed(round), Seed(game)).unwrap();
            }
            play(machine, &mut numbers, keys);
            let after = seen(machine);
            let image = machine.image().unwrap();
            let against_parent = delta(machine, &mut codec, &parent);
            let against_root = delta(machine, &mut codec, &root);
            assert_eq!(against_parent, delta(machine, &mut Codec::default(), &parent), "{name}: the same bytes again");
            // Back, by the quick way on every other round, and on by the delta.
            machine.load_from(&parent, round % 2 == 0).unwrap();
            assert_eq!(seen(machine), before, "{name}: back");
            for (base, delta) in [(&root, &against_root), (&parent, &against_parent)] {
                let mut there = base.clone();
                machine.apply(&mut codec, &mut there, delta).unwrap();
                assert_eq!(there, image, "{name}");
            }
            machine.load_from(&image, false).unwrap();
            assert_eq!(seen(machine), after, "{name}: on");
            parent = image;
        }
    }
}

#[test]
fn chains_lead_where_the_machine_went() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut codec = Codec::default();
    deep(machine, 3, 6);
    let keyframe = machine.keyframe(&mut codec).unwrap();
    assert!(keyframe.blobs.len() >= 4, "{} level files", keyframe.blobs.len());
    let root = decode(machine, &mut codec, &keyframe).unwrap();
    let (mut numbers, mut deltas, mut digests) = (Numbers::new(77), Vec::new(), Vec::new());
    let mut parent = root.clone();
    for step in 0..60 {
        if step % 10 == 9 {
            press_all(machine, format!("\x16{}\r\r\r\x1b\x1b", 1 + step % 7).as_bytes());
        }
        play(machine, &mut numbers, 1 + step % 12);
        deltas.push(delta(machine, &mut codec, &parent));
        digests.push(machine.state_digest());
        machine.apply(&mut codec, &mut parent, deltas.last().unwrap()).unwrap();
    }
    let mut image = root;
    for (step, (delta, digest)) in deltas.iter().zip(&digests).enumerate() {
        machine.apply(&mut codec, &mut image, delta).unwrap();
        machine.load_from(&image, false).unwrap();
        assert_eq!(machine.state_digest(), *digest, "step {step}");
    }
}

#[test]
fn equal_files_are_equal_blobs() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut codec = Codec::default();
    deep(machine, 5, 8);
    let before = machine.keyframe(&mut codec).unwrap();
    press_all(machine, b"20s20s");
    let after = machine.keyframe(&mut codec).unwrap();
    assert_ne!(before.body, after.body);
    assert_eq!(before.blobs, after.blobs);
    let again = machine.keyframe(&mut Codec::default()).unwrap();
    assert_eq!(after, again, "the same machine gives the same bytes");
}

#[test]
fn luck_costs_a_few_bytes() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut codec = Codec::default();
    machine.power_on(&PowerOn::from_seed(Seed(9))).unwrap();
    let base = machine.image().unwrap();
    machine.reseed(Seed(123), Seed(456)).unwrap();
    let seeded = machine.image().unwrap();
    assert_ne!(base, seeded);
    let bytes = delta(machine, &mut codec, &base);
    assert!(bytes.len() < 100, "{} bytes", bytes.len());
    press_all(machine, b"20s20s");
    let later = delta(machine, &mut codec, &base);
    assert!(later.len() < 4_000, "{} bytes", later.len());
    let mut there = base.clone();
    machine.apply(&mut codec, &mut there, &later).unwrap();
    assert_eq!(there, machine.image().unwrap());
    // Seeds that nobody told of cost the tables.
    machine.load_from(&seeded, false).unwrap();
    let untold = delta(machine, &mut codec, &base);
    assert!(untold.len() > 4_000, "{} bytes", untold.len());
    let mut there = base;
    machine.apply(&mut codec, &mut there, &untold).unwrap();
    assert_eq!(there, seeded);
}

#[test]
fn a_delta_over_its_limit_is_not_made() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut codec = Codec::default();
    machine.power_on(&PowerOn::from_seed(Seed(1))).unwrap();
    let base = machine.image().unwrap();
    press_all(machine, b"20s:");
    let bytes = delta(machine, &mut codec, &base).len();
    for (max, made) in [(bytes, true), (bytes - 1, false), (0, false)] {
        assert_eq!(machine.delta(&mut codec, &base, max, &mut Vec::new()).unwrap(), made, "{max}");
    }
}

#[test]
fn damaged_deltas_are_refused() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut codec = Codec::default();
    machine.power_on(&PowerOn::from_seed(Seed(4))).unwrap();
    press_all(machine, b"20s");
    let base = machine.image().unwrap();
    press_all(machine, b"hjkl");
    let bytes = delta(machine, &mut codec, &base);
    let image = machine.image().unwrap();
    let mut tried = |bytes: &[u8]| {
        let mut there = base.clone();
        machine.apply(&mut codec, &mut there, bytes).map(|()| there)
    };
    assert_eq!(tried(&bytes).unwrap(), image);
    for length in 0..bytes.len() {
        assert!(tried(&bytes[..length]).is_err(), "cut to {length}");
    }
    assert!(tried(&[&bytes[..], &[0]].concat()).is_err(), "longer");
    let mut taken = 0;
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        taken += usize::from(tried(&flipped).is_ok_and(|there| there != image));
    }
    // Only the generators' positions are not under the check: another count of results that are left.
    assert!(taken <= 2 * 8 * 12, "{taken} of {} flipped bits go unnoticed", bytes.len() * 8);
    // Another base.
    press_all(machine, b"s");
    let mut other = machine.image().unwrap();
    assert!(machine.apply(&mut Codec::default(), &mut other, &bytes).is_err());
}

/// Where a delta's number begins and ends; numbers are counted from the one behind the version.
fn number_at(bytes: &[u8], number: usize) -> std::ops::Range<usize> {
    let end = |start: usize| start + 1 + bytes[start..].iter().take_while(|byte| **byte & 0x80 != 0).count();
    let start = (0..number).fold(1, |start, _| end(start));
    start..end(start)
}

#[test]
fn deltas_that_no_machine_makes_are_refused() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut codec = Codec::default();
    machine.power_on(&PowerOn::from_seed(Seed(4))).unwrap();
    let base = machine.image().unwrap();
    // It changes nothing: at its end there are streams as they are, of which each has no byte.
    let nothing = delta(machine, &mut codec, &base);
    assert!(nothing.ends_with(&[0; 5]));
    let mut tried = |bytes: &[u8]| {
        let mut there = base.clone();
        machine.apply(&mut codec, &mut there, bytes).map(|()| there)
    };
    assert_eq!(tried(&nothing).unwrap(), base);
    // Heap, stack and disk that are larger than their regions, by a line and by far.
    for (number, bytes) in [(4, 64 << 20), (5, 256 << 10), (6, 32_usize << 20)] {
        let line_more = (bytes / 64 + 1) as u64;
        for lines in [line_more, 1 << 49, u64::MAX] {
            let mut wrong = nothing.clone();
            let mut varint: Vec<u8> = (0..10).map(|group| (lines >> (7 * group)) as u8 | 0x80).collect();
            *varint.last_mut().unwrap() &= 1;
            wrong.splice(number_at(&nothing, number), varint);
            assert!(tried(&wrong).is_err(), "number {number}: {lines} lines");
        }
    }
    let other_version = [&[nothing[0] + 1], &nothing[1..]].concat();
    assert!(tried(&other_version).is_err());
    // A byte that no line takes.
    for stream in 1..4 {
        let mut wrong = nothing.clone();
        let place = wrong.len() - 4 + stream;
        wrong[place] = 1;
        wrong.push(7);
        assert!(tried(&wrong).is_err(), "stream {stream}");
    }
}

#[test]
fn damaged_keyframes_are_refused_or_harmless() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut codec = Codec::default();
    deep(machine, 2, 3);
    let keyframe = machine.keyframe(&mut codec).unwrap();
    let before = seen(machine);
    let mut numbers = Numbers::new(5);
    for _ in 0..400 {
        let mut wrong = keyframe.clone();
        match numbers.below(6) {
            0 => wrong.body.truncate(numbers.below(wrong.body.len() as u64) as usize),
            1 => drop(wrong.blobs.pop()),
            2 => wrong.blobs.push(vec![1, 2, 3]),
            3 => wrong.blobs.reverse(),
            4 => {
                let at = numbers.below(64) as usize;
                wrong.body[at] ^= 1 << numbers.below(8);
            }
            _ => {
                let at = numbers.below(wrong.body.len() as u64) as usize;
                wrong.body[at] ^= 1 << numbers.below(8);
            }
        }
        if wrong == keyframe {
            continue;
        }
        if let Ok(image) = decode(machine, &mut codec, &wrong) {
            // It may be an image; nothing runs here, since its code pointers may be anything.
            assert!(image.bytes() < 200 << 20);
        }
    }
    assert_eq!(seen(machine), before);
    let mut foreign = keyframe.clone();
    foreign.body[20] ^= 1;
    assert!(matches!(decode(machine, &mut codec, &foreign), Err(MachineError::ForeignRom { .. })));
}

#[test]
fn images_of_no_boundary_are_refused() {
    let mut held = machine();
    let machine = &mut held.machine;
    machine.power_on(&PowerOn::from_seed(Seed(1))).unwrap();
    let before = seen(machine);
    assert!(machine.load_from(&Image::default(), false).is_err());
    assert!(machine.load_from(&Image::default(), true).is_err());
    assert_eq!(seen(machine), before);
}

#[test]
fn mutated_frames_are_read_without_harm() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut numbers = Numbers::new(8);
    let (mut tried, mut refused) = (0, 0);
    for seed in 0..6 {
        machine.power_on(&valkyrie(seed)).unwrap();
        for way in [&b""[..], b"i", b"d", b"?", b"#", b"\x0f"] {
            press_all(machine, way);
            let mut bytes = Vec::new();
            machine.frame_bytes_into(&mut bytes);
            assert_eq!(machine::decode_frame(&bytes).unwrap(), machine.frame());
            for _ in 0..200 {
                let mut wrong = bytes.clone();
                for _ in 0..1 + numbers.below(4) {
                    // The head's numbers, and what follows it, matter most.
                    let from = 9_078.min(wrong.len() as u64 - 1);
                    let at = from + numbers.below(wrong.len() as u64 - from);
                    wrong[at as usize] = numbers.below(256) as u8;
                }
                if numbers.below(4) == 0 {
                    wrong.truncate(numbers.below(wrong.len() as u64) as usize);
                }
                tried += 1;
                refused += usize::from(machine::decode_frame(&wrong).is_err());
            }
            press_all(machine, b"\x1b\x1b");
        }
    }
    assert!(refused > tried / 10, "{refused} of {tried}");
}
