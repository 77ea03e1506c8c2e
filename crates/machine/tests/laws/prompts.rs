//! Keys that upset other servers, in every kind of prompt.

use machine::{MachineError, Stop};
use wire::Key;

use crate::{WAYS, machine, press_all, valkyrie};

#[test]
fn awkward_keys_leave_the_machine_well_defined_in_every_prompt() {
    let mut held = machine();
    let machine = &mut held.machine;
    let awkward: [&[u8]; 14] = [
        b"S",
        b"!",
        b"\x1a",
        b"\x03",
        b"\x1c",
        b"#quit\r",
        b"O",
        b"X",
        b"#exploremode\r",
        &[0x10; 30],
        &[0x12; 5],
        &[0],
        &[0xff; 4],
        b"\x00\x1b\xe1",
    ];
    for (name, keys, _) in WAYS {
        for press in awkward {
            machine.power_on(&valkyrie(1)).unwrap();
            press_all(machine, keys);
            let first = press_all(machine, press);
            let frame = machine.frame();
            match first {
                Stop::Boundary => assert!(frame.pending.is_some(), "{name} {press:?}"),
                Stop::Ended(end) => {
                    assert!(end.kind.is_regular(), "{name} {press:?}: {end:?}");
                    assert!(matches!(machine.press(Key::ESC), Err(MachineError::Ended)));
                    continue;
                }
            }
            // Backing out leads to the map again, where a turn can pass.
            let mut back = false;
            for _ in 0..40 {
                if machine.pending_kind() == Some(wire::PendingKind::Command) {
                    back = true;
                    break;
                }
                press_all(machine, b"\x1b");
                if machine.stop() != Some(&Stop::Boundary) {
                    break;
                }
            }
            let text = machine.frame().screen.text();
            assert!(back, "{name} {press:?}: {:?}\n{text}", machine.stop());
            let before = machine.turn();
            press_all(machine, b"ss");
            press_all(machine, b"\x1b\x1b");
            assert!(machine.turn() > before, "{name} {press:?}\n{text}");
        }
    }
}
