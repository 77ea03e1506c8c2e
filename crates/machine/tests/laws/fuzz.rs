//! Keys without sense.

use machine::Stop;
use wire::{Key, PowerOn, Seed};

use crate::{Numbers, machine};

/// 200,000 keys of all 256 values in at least 50 games. Pure noise never gets far, so each game begins with moves.
#[test]
fn all_bytes_over_fifty_games() {
    let mut held = machine();
    let machine = &mut held.machine;
    let mut kinds = std::collections::BTreeMap::new();
    for seed in 0..50 {
        let mut numbers = Numbers::new(seed + 1000);
        machine.power_on(&PowerOn::from_seed(Seed(seed))).unwrap();
        for boundary in 0..4000 {
            if let Some(Stop::Ended(end)) = machine.stop() {
                assert!(end.kind.is_regular(), "seed {seed} boundary {boundary}: {end:?}");
                machine.power_on(&PowerOn::from_seed(Seed(numbers.below(1 << 40)))).unwrap();
            }
            if let Some(kind) = machine.pending_kind() {
                *kinds.entry(kind).or_insert(0) += 1;
            }
            let sensible = boundary < 1000 || numbers.below(4) == 0;
            let byte = if sensible { numbers.play_key() } else { numbers.below(256) as u8 };
            machine.press(Key(byte)).unwrap_or_else(|error| panic!("seed {seed} boundary {boundary}: {error}"));
            if boundary % 16 == 0 {
                let frame = machine.frame();
                assert_eq!(
                    frame.pending.map(|pending| pending.kind),
                    machine.pending_kind(),
                    "seed {seed} boundary {boundary}"
                );
            }
        }
    }
    assert!(kinds.len() >= 11, "the keys reached only {kinds:?}");
}
