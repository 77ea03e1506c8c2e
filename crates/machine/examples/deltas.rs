//! How many bytes and microseconds deltas and keyframes take: `cargo run --release -p machine --example deltas`.

use std::time::Instant;

use machine::{Codec, Image, Machine, Stop};
use wire::{Key, PowerOn, Seed};

type Error = Box<dyn std::error::Error>;

/// Samples for each row.
const SAMPLES: u64 = 60;

/// A stream of numbers that depends on its seed alone (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(2_685_821_657_736_338_717) >> 33) as usize % end
    }

    /// Weighted random keys, mostly moves.
    fn key(&mut self) -> Key {
        let keys: &[u8] = match self.below(100) {
            0..66 => b"hjklyubn",
            66..72 => b"HJKLYUBN",
            72..80 => b"s>,.s><s",
            80..92 => b"\r \x1b\x1b y\r\x1b",
            _ => b"eqrwWTPRdDtfzZacokpi;:/x^_@$",
        };
        Key(keys[self.below(keys.len())])
    }
}

fn play(machine: &mut Machine, numbers: &mut Numbers, keys: u64) -> Result<bool, Error> {
    for _ in 0..keys {
        if machine.press(numbers.key())? != Stop::Boundary {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Brings a machine deep into a game: debug mode, one level after the other.
fn go_deep(machine: &mut Machine) -> Result<(), Error> {
    let mut record = PowerOn::from_seed(Seed(1));
    record.character.role = Some("valkyrie".parse()?);
    record.debug = true;
    machine.power_on(&record)?;
    for level in 2..=45 {
        for byte in format!("\x16{level}\r\r\r\x1b\x1b").bytes() {
            if machine.stop() == Some(&Stop::Boundary) {
                machine.press(Key(byte))?;
            }
        }
    }
    Ok(())
}

fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

fn micros(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}

#[expect(clippy::disallowed_methods, reason = "it measures")]
fn now() -> Instant {
    Instant::now()
}

fn row(name: &str, machine: &mut Machine, base: &Image, apart: u64) -> Result<(), Error> {
    let mut codec = Codec::default();
    let (mut bytes, mut encode, mut decode, mut back, mut load) = (vec![], vec![], vec![], vec![], vec![]);
    for sample in 0..SAMPLES {
        let mut numbers = Numbers(sample * 7919 + 88_172_645_463_325_252);
        let start = now();
        machine.load_from(base, true)?;
        back.push(micros(start));
        play(machine, &mut numbers, sample % 20)?;
        let parent = machine.image()?;
        if !play(machine, &mut numbers, apart)? {
            continue;
        }
        let mut delta = Vec::new();
        let start = now();
        machine.delta(&mut codec, &parent, usize::MAX, &mut delta)?;
        encode.push(micros(start));
        bytes.push(delta.len() as f64);
        if let Some(folder) = std::env::args().nth(1) {
            std::fs::write(format!("{folder}/{name}-{apart}-{sample}"), &delta)?;
        }
        let mut child = parent.clone();
        let start = now();
        machine.apply(&mut codec, &mut child, &delta)?;
        decode.push(micros(start));
        assert!(child == machine.image()?, "{name} {apart} {sample}");
        let start = now();
        machine.load_from(&parent, false)?;
        load.push(micros(start));
    }
    let mean = bytes.iter().sum::<f64>() / bytes.len() as f64;
    println!(
        "{name:6} {apart:4} keys: {:6.0} B median, {mean:6.0} mean; encode {:6.1} us, decode {:6.1}, return {:6.1}, load {:6.1}",
        median(&mut bytes),
        median(&mut encode),
        median(&mut decode),
        median(&mut back),
        median(&mut load),
    );
    Ok(())
}

fn game(name: &str, machine: &mut Machine) -> Result<(), Error> {
    let base = machine.image()?;
    let mut codec = Codec::default();
    let (mut encode, mut decode) = (vec![], vec![]);
    let mut keyframe = machine.keyframe(&mut codec)?;
    for _ in 0..20 {
        let start = now();
        keyframe = machine.keyframe(&mut codec)?;
        encode.push(micros(start));
        let blobs: Vec<_> = keyframe.blobs.iter().map(Vec::as_slice).collect();
        let start = now();
        let image = machine.decode_keyframe(&mut codec, &keyframe.body, &blobs)?;
        decode.push(micros(start));
        assert!(image == base, "{name}");
    }
    println!(
        "{name}: image {} B, keyframe {} + {} in {} blobs; encode {:.0} us, decode {:.0}",
        base.bytes(),
        keyframe.body.len(),
        keyframe.blobs.iter().map(Vec::len).sum::<usize>(),
        keyframe.blobs.len(),
        median(&mut encode),
        median(&mut decode),
    );
    for apart in [1, 10, 100] {
        row(name, machine, &base, apart)?;
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let mut machine = Machine::open(rom::built_in())?;
    machine.power_on(&PowerOn::from_seed(Seed(3)))?;
    play(&mut machine, &mut Numbers(99), 50)?;
    game("early", &mut machine)?;
    go_deep(&mut machine)?;
    game("deep", &mut machine)
}
