//! What holds for every machine, whatever is played. One machine at a time: each test takes the process's one place.

mod determinism;
mod endings;
mod failures;
mod fuzz;
mod images;
mod operator;
mod pendings;
mod prompts;
mod states;

use std::sync::{Mutex, MutexGuard, PoisonError};

use machine::{Machine, Stop};
use wire::{Key, PendingKind, PowerOn, Seed};

static PLACE: Mutex<()> = Mutex::new(());

/// A machine with the process's one place for it.
pub(crate) struct Held {
    pub(crate) machine: Machine,
    _place: MutexGuard<'static, ()>,
}

pub(crate) fn machine() -> Held {
    let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
    let machine = Machine::open(rom::built_in()).expect("the place is free");
    Held { machine, _place: place }
}

/// A human Valkyrie's game.
pub(crate) fn valkyrie(seed: u64) -> PowerOn {
    let mut record = PowerOn::from_seed(Seed(seed));
    record.character.role = Some("valkyrie".parse().expect("a role"));
    record.character.race = Some("human".parse().expect("a race"));
    record
}

/// Presses keys until they are used up or the game has ended.
pub(crate) fn press_all(machine: &mut Machine, keys: &[u8]) -> Stop {
    for &byte in keys {
        if machine.stop() != Some(&Stop::Boundary) {
            break;
        }
        machine.press(Key(byte)).expect("at a boundary");
    }
    machine.stop().expect("powered on").clone()
}

/// Numbers for choosing keys; depends on the seed alone.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    /// A key of a player who mostly moves, now and then commands, and backs out of most questions.
    pub(crate) fn play_key(&mut self) -> u8 {
        let keys: &[u8] = match self.below(100) {
            0..60 => b"hjklyubn",
            60..68 => b"HJKLYUBN",
            68..76 => b"s>,.s><s",
            76..90 => b"\r \x1b\x1b y\r\x1b",
            _ => b"eqrwWTPRdDtfzZacokpi;:/x^_@$",
        };
        keys[self.below(keys.len() as u64) as usize]
    }
}

/// Ways to a prompt of each kind at the start of a human Valkyrie's game.
pub(crate) const WAYS: [(&str, &[u8], PendingKind); 19] = [
    ("the bare map", b"", PendingKind::Command),
    ("a --More--", b"E-", PendingKind::More),
    ("an empty line", b"E-\r", PendingKind::Text),
    ("a half-typed line", b"E-\rElbe", PendingKind::Text),
    ("half a count", b"20", PendingKind::Count),
    ("a fight's direction", b"F", PendingKind::Direction),
    ("a kick's direction", b"\x04", PendingKind::Direction),
    ("an item", b"d", PendingKind::Item),
    ("an item with a count", b"d3", PendingKind::Count),
    ("a choice", b"S", PendingKind::Choice),
    ("a menu", b"i", PendingKind::Menu),
    ("an item's menu", b"d*", PendingKind::Menu),
    ("a menu's second page", b"O>", PendingKind::Menu),
    ("a menu with a count", b"D5", PendingKind::Menu),
    ("a position", b";", PendingKind::Position),
    ("a position moved to", b"_hhk", PendingKind::Position),
    ("an extended command", b"#pr", PendingKind::Extended),
    ("a window of text", b"#conduct\r", PendingKind::Window),
    ("a single key", b"&\r", PendingKind::Key),
];
