//! An engine that fails is caught, and a state brings the machine back. The failures are made by bending the game's
//! own list of items inside a state.

use machine::{Machine, MachineError, SaveState, Stop};
use wire::{EndKind, Ended, Key};

use crate::{machine, press_all, valkyrie};

const HEADER_BYTES: usize = 80;

/// Where a global of the ROM lies in a state's bytes.
fn offset(name: &str) -> usize {
    let rom = rom::built_in();
    let symbol = rom.symbols().get(name).unwrap_or_else(|| panic!("no {name} in the ROM"));
    let start = rom.symbols().get("rom_globals_start").unwrap();
    HEADER_BYTES + (symbol.address - start.address) as usize
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn press_until_end(machine: &mut Machine) -> Ended {
    for _ in 0..30 {
        if let Stop::Ended(ended) = press_all(machine, b"s") {
            return ended;
        }
    }
    panic!("the broken game goes on:\n{:?}", machine.frame().screen);
}

#[test]
fn a_wild_pointer_is_a_crash_and_a_state_heals_it() {
    let mut held = machine();
    let machine = &mut held.machine;
    machine.power_on(&valkyrie(5)).unwrap();
    let good = machine.save().unwrap();
    let digest = machine.state_digest();
    let mut bytes = good.as_bytes().to_vec();
    bytes[offset("invent")..][..8].copy_from_slice(&16u64.to_le_bytes());
    for _ in 0..3 {
        machine.load(&SaveState::from_bytes(bytes.clone())).unwrap();
        let end = press_until_end(machine);
        assert_eq!((end.kind, end.text.as_str()), (EndKind::Crashed, "SIGSEGV"));
        assert!(matches!(machine.press(Key::ESC), Err(MachineError::Broken)));
        assert!(matches!(machine.save(), Err(MachineError::Broken)));
        assert!(machine.frame().screen.text().contains("Dlvl:1"));
        machine.load(&good).unwrap();
        assert_eq!(machine.state_digest(), digest);
        press_all(machine, b"s");
        assert_eq!(machine.stop(), Some(&Stop::Boundary));
    }
}

#[test]
fn an_endless_key_is_ended_by_the_watchdog() {
    let mut held = machine();
    let machine = &mut held.machine;
    machine.set_key_cpu_limit(200).unwrap();
    machine.power_on(&valkyrie(5)).unwrap();
    let good = machine.save().unwrap();
    let mut bytes = good.as_bytes().to_vec();
    // The first item follows itself; the list's link is an item's first field.
    let first = word(&bytes, offset("invent"));
    let heap = HEADER_BYTES + word(&bytes, 48) as usize;
    let link = heap + (first - 0x100_0000_0000) as usize;
    bytes[link..link + 8].copy_from_slice(&first.to_le_bytes());
    machine.load(&SaveState::from_bytes(bytes)).unwrap();
    let end = press_until_end(machine);
    assert_eq!(end.kind, EndKind::Hung);
    machine.load(&good).unwrap();
    press_all(machine, b"ssss");
    assert_eq!(machine.stop(), Some(&Stop::Boundary));
}

#[test]
fn a_machine_that_is_off_refuses() {
    let mut held = machine();
    assert!(matches!(held.machine.press(Key::ESC), Err(MachineError::Off)));
    assert!(matches!(held.machine.save(), Err(MachineError::Off)));
    assert!(held.machine.stop().is_none());
    let mut record = valkyrie(1);
    record.options = "name:Bob".to_owned();
    assert!(matches!(held.machine.power_on(&record), Err(MachineError::PowerOn(_))));
    assert!(matches!(Machine::open(rom::built_in()), Err(MachineError::Occupied)));
}
