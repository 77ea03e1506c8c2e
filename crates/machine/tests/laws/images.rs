//! Save states.

use machine::{MachineError, SaveState};

use crate::{Numbers, WAYS, machine, press_all, valkyrie};

const HEADER_BYTES: usize = 80;

#[test]
fn load_after_save_is_identity_at_every_kind_of_prompt() {
    let mut held = machine();
    for (name, keys, _) in WAYS {
        let machine = &mut held.machine;
        machine.power_on(&valkyrie(1)).unwrap();
        press_all(machine, keys);
        let state = machine.save().unwrap();
        let (digest, frame, play) = (machine.state_digest(), machine.frame(), machine.play_digest());
        let go_on = |machine: &mut machine::Machine| {
            let mut numbers = Numbers::new(7);
            let keys: Vec<u8> = (0..200).map(|_| numbers.play_key()).collect();
            press_all(machine, &keys);
            machine.state_digest()
        };
        let straight = go_on(machine);
        // From elsewhere: deeper in the game, and from a deeper stack.
        for detour in [&b"O>"[..], b"hhhhjjjj", b"E-\rdeep", b""] {
            press_all(machine, b"\x1b\x1b");
            press_all(machine, detour);
            machine.load(&state).unwrap();
            assert_eq!(machine.state_digest(), digest, "{name}");
            assert_eq!(machine.frame(), frame, "{name}");
            assert_eq!(machine.play_digest(), play, "{name}");
            assert_eq!(machine.save().unwrap(), state, "{name}");
            assert_eq!(go_on(machine), straight, "{name}");
        }
    }
}

#[test]
fn a_state_of_another_kind_is_refused_and_nothing_moves() {
    let mut held = machine();
    let machine = &mut held.machine;
    machine.power_on(&valkyrie(3)).unwrap();
    press_all(machine, b"hjkl");
    let good = machine.save().unwrap().as_bytes().to_vec();
    let digest = machine.state_digest();
    let mut refused = |bytes: Vec<u8>, what: &str| {
        let error = machine.load(&SaveState::from_bytes(bytes)).expect_err(what);
        assert_eq!(machine.state_digest(), digest, "{what}");
        error
    };
    for cut in [0, 1, 8, 79, HEADER_BYTES, good.len() / 2, good.len() - 1] {
        refused(good[..cut].to_vec(), &format!("cut at {cut}"));
    }
    refused([good.clone(), vec![0]].concat(), "one byte more");
    for byte in (0..12).chain(16..HEADER_BYTES) {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[byte] ^= 1 << bit;
            refused(bytes, &format!("bit {bit} of byte {byte}"));
        }
    }
    let mut foreign = good.clone();
    foreign[16] ^= 1;
    let error = refused(foreign, "foreign");
    assert!(matches!(error, MachineError::ForeignRom { .. }), "{error}");
    // The mailbox's first word says why the game stopped: 1 is before the seeds.
    let symbol = |name| rom::built_in().symbols().get(name).unwrap().address as usize;
    let reason = HEADER_BYTES + symbol("mailbox") - symbol("rom_globals_start");
    for never in [0_u32, 1, 4, 5, u32::MAX] {
        let mut bytes = good.clone();
        bytes[reason..reason + 4].copy_from_slice(&never.to_le_bytes());
        refused(bytes, &format!("stopped for {never}"));
    }
    let mut huge = good.clone();
    huge[48..56].copy_from_slice(&u64::MAX.to_le_bytes());
    refused(huge, "huge length");
}

#[test]
fn a_small_buffer_is_refused() {
    let mut held = machine();
    held.machine.power_on(&valkyrie(3)).unwrap();
    let needed = held.machine.image_bytes();
    let mut buffer = vec![0; needed];
    assert!(held.machine.save_image(&mut buffer[..needed - 1]).is_err());
    assert_eq!(held.machine.save_image(&mut buffer).unwrap(), needed);
    assert_eq!(buffer, held.machine.save().unwrap().as_bytes());
}
