//! Millions of loads with keys between them, every thousandth checked by digest:
//! `cargo run --release -p machine --example loads -- [LOADS]`, 5,000,000 unless told otherwise.
//!
//! States of several games, shallow and deep, are taken first, and for each a few ways to go on with the digest that
//! each leads to. Then states are loaded in an order that jumps about, and gone on from. Fails at the first digest that
//! differs, and where memory has grown at the end.

use std::error::Error;

use machine::{Machine, SaveState, Stop};
use wire::{Key, PowerOn, Seed, StateDigest};

const GAMES: u64 = 24;
const STATES_PER_GAME: usize = 5;
const WAYS: usize = 6;
const CHECKED_EVERY: u64 = 1_000;
/// How much a process may have grown by the end, over what it had after a tenth of the loads.
const GROWTH_BYTES_MAX: u64 = 4 << 20;

/// A state, its digest, and ways on from it with the digests they lead to.
struct Place {
    state: SaveState,
    digest: StateDigest,
    ways: Vec<(Vec<Key>, StateDigest)>,
}

/// Numbers that depend on their seed alone (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end
    }

    fn key(&mut self) -> Key {
        let keys: &[u8] = match self.below(10) {
            0..7 => b"hjklyubn",
            7 => b"s>,.s",
            8 => b"\r\x1b y",
            _ => b"eqdwi:;",
        };
        Key(keys[self.below(keys.len() as u64) as usize])
    }
}

fn press_all(machine: &mut Machine, keys: &[Key]) -> Result<(), Box<dyn Error>> {
    for &key in keys {
        if machine.stop() == Some(&Stop::Boundary) {
            machine.press(key)?;
        }
    }
    Ok(())
}

/// Begins a game; every fourth goes down a number of levels first, in debug mode.
fn begin(machine: &mut Machine, game: u64) -> Result<(), Box<dyn Error>> {
    let deep = game % 4 == 3;
    machine.power_on(&PowerOn { debug: deep, ..PowerOn::from_seed(Seed(game)) })?;
    let levels = if deep { 2 + game % 24 } else { 0 };
    for level in 2..=levels {
        let keys: Vec<_> = format!("\x16{level}\r\r\r\x1b\x1b").bytes().map(Key).collect();
        press_all(machine, &keys)?;
    }
    Ok(())
}

fn places(machine: &mut Machine, numbers: &mut Numbers) -> Result<Vec<Place>, Box<dyn Error>> {
    let mut places = Vec::new();
    for game in 1..=GAMES {
        begin(machine, game)?;
        for _ in 0..STATES_PER_GAME {
            let keys: Vec<_> = (0..1 + numbers.below(300)).map(|_| numbers.key()).collect();
            press_all(machine, &keys)?;
            if machine.stop() != Some(&Stop::Boundary) {
                break;
            }
            let (state, digest) = (machine.save()?, machine.state_digest());
            let mut ways = Vec::new();
            for _ in 0..WAYS {
                let way: Vec<_> = (0..1 + numbers.below(4)).map(|_| numbers.key()).collect();
                press_all(machine, &way)?;
                ways.push((way, machine.state_digest()));
                machine.load(&state)?;
            }
            places.push(Place { state, digest, ways });
        }
    }
    Ok(places)
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    status.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn main() -> Result<(), Box<dyn Error>> {
    let loads: u64 = std::env::args().nth(1).unwrap_or_else(|| "5000000".to_owned()).parse()?;
    let mut machine = Machine::open(rom::built_in())?;
    let mut numbers = Numbers(7);
    let places = places(&mut machine, &mut numbers)?;
    println!("{} states of {GAMES} games", places.len());
    let (mut checked, mut warm) = (0, 0);
    for load in 0..loads {
        let place = &places[numbers.below(places.len() as u64) as usize];
        let (way, leads_to) = &place.ways[numbers.below(WAYS as u64) as usize];
        let check = load % CHECKED_EVERY == 0;
        machine.load(&place.state)?;
        if check && machine.state_digest() != place.digest {
            return Err(format!("load {load}: the state is another").into());
        }
        press_all(&mut machine, way)?;
        if check {
            if machine.state_digest() != *leads_to {
                return Err(format!("load {load}: going on led elsewhere").into());
            }
            checked += 1;
        }
        if load == loads / 10 {
            warm = resident_bytes();
        }
        if (load + 1) % 500_000 == 0 {
            eprintln!("{} loads, {} MB resident", load + 1, resident_bytes() >> 20);
        }
    }
    let grown = resident_bytes().saturating_sub(warm);
    println!("{loads} loads, {checked} checked twice, no mismatch; memory grew by {grown} bytes");
    if grown > GROWTH_BYTES_MAX {
        return Err("memory grows".into());
    }
    Ok(())
}
