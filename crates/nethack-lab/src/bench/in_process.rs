//! The machine in this process, without a worker.

use std::hint::black_box;

use anyhow::{Result, ensure};
use machine::{Machine, SaveState, Stop};
use wire::{Frame, Key, PowerOn, Seed};

use super::mix::{Fighter, Random, View};
use super::{ImageBytes, InProcess, KeysPerSecond, median, micros, now, per_repetition, progress};

/// Keys of one round of the random mix, and of the turn-heavy one.
const KEYS_M0: u64 = 100_000;
const KEYS_M1: u64 = 20_000;
/// The deepest level that the deep game visits, by way of all above it.
pub(super) const LEVELS: u32 = 45;

/// A dwarvish Valkyrie: the hero of the turn-heavy mix.
pub(super) fn valkyrie(seed: u64) -> Result<PowerOn> {
    let mut record = PowerOn::from_seed(Seed(seed));
    record.character.role = Some("valkyrie".parse()?);
    record.character.race = Some("dwarf".parse()?);
    Ok(record)
}

/// Keys a second of mix M0, with some work after each key. Games follow one another by seed.
fn random(machine: &mut Machine, mut work: impl FnMut(&Machine)) -> Result<f64> {
    let mut seed = 1;
    let mut mix = Random::new(seed);
    machine.power_on(&PowerOn::from_seed(Seed(seed)))?;
    let start = now();
    for _ in 0..KEYS_M0 {
        if machine.press(mix.key())? != Stop::Boundary {
            seed += 1;
            machine.power_on(&PowerOn::from_seed(Seed(seed)))?;
        }
        work(machine);
    }
    Ok(KEYS_M0 as f64 / start.elapsed().as_secs_f64())
}

/// Keys and turns a second of mix M1. What the mix looks at is taken from frames, whose time is left out.
fn turn_heavy(machine: &mut Machine) -> Result<(f64, f64)> {
    let mut seed = 1;
    let mut mix = Fighter::new(seed);
    machine.power_on(&valkyrie(seed)?)?;
    let mut frame = Frame::default();
    let (mut busy, mut turns) = (0.0, 0);
    for _ in 0..KEYS_M1 {
        machine.frame_into(&mut frame);
        let cursor = (usize::from(frame.screen.cursor.row), usize::from(frame.screen.cursor.column));
        let pending = frame.pending.as_ref().map(|pending| pending.kind);
        let key = mix.key(&View { chars: &frame.screen.chars, cursor, pending, turn: frame.turn });
        let start = now();
        let stop = machine.press(key)?;
        busy += start.elapsed().as_secs_f64();
        turns += machine.turn() - frame.turn;
        if stop != Stop::Boundary {
            seed += 1;
            mix = Fighter::new(seed);
            machine.power_on(&valkyrie(seed)?)?;
        }
    }
    Ok((KEYS_M1 as f64 / busy, turns as f64 / busy))
}

/// The keys that lead a debug-mode game down to a level, by way of all above it.
pub(super) fn descent(levels: u32) -> Vec<Key> {
    (2..=levels).flat_map(|level| format!("\x16{level}\r\r\r\x1b\x1b").into_bytes()).map(Key).collect()
}

/// Brings a machine deep into a game.
fn go_deep(machine: &mut Machine) -> Result<()> {
    machine.power_on(&PowerOn { debug: true, ..valkyrie(1)? })?;
    for key in descent(LEVELS) {
        if machine.stop() == Some(&Stop::Boundary) {
            machine.press(key)?;
        }
    }
    ensure!(machine.stop() == Some(&Stop::Boundary), "the deep game has ended: {:?}", machine.stop());
    Ok(())
}

/// Times of saving and loading, in microseconds.
fn save_and_load(machine: &mut Machine) -> Result<(f64, f64)> {
    let mut state = SaveState::default();
    machine.save_into(&mut state)?;
    let save = median(|| per_repetition(2000, || machine.save_into(&mut state).map_err(Into::into)))?;
    let load = median(|| per_repetition(2000, || machine.load(&state).map_err(Into::into)))?;
    Ok((save, load))
}

pub(super) fn measure() -> Result<InProcess> {
    let mut machine = Machine::open(rom::built_in())?;
    progress("keys");
    let batch = median(|| random(&mut machine, |_| {}))?;
    let mut frame = Frame::default();
    let batch_frames = median(|| random(&mut machine, |machine| machine.frame_into(&mut frame)))?;
    let batch_digests = median(|| {
        random(&mut machine, |machine| {
            black_box(machine.play_digest());
        })
    })?;
    progress("turns");
    let mut turns = Vec::new();
    let batch_m1 = median(|| {
        let (keys, per_second) = turn_heavy(&mut machine)?;
        turns.push(per_second);
        Ok(keys)
    })?;
    turns.sort_by(f64::total_cmp);
    progress("states");
    let mut number = 0;
    let new_game_us = median(|| {
        per_repetition(200, || {
            number += 1;
            Ok(machine.power_on(&PowerOn::from_seed(Seed(number)))?)
        })
    })?;
    let power_on_cold_us = median(|| {
        number += 1;
        let options = format!("fruit:f{number}");
        let start = now();
        machine.power_on(&PowerOn { options, ..PowerOn::from_seed(Seed(number)) })?;
        Ok(micros(start.elapsed()))
    })?;
    machine.power_on(&valkyrie(1)?)?;
    let (save_us, load_us) = save_and_load(&mut machine)?;
    let early = machine.image_bytes();
    let state = machine.save()?;
    let load_key_us = median(|| {
        per_repetition(2000, || {
            machine.load(&state)?;
            Ok(machine.press(Key(b's'))?)
        })
    })?;
    // The same key alone; what the games differ in is in both.
    let key_us = median(|| {
        machine.load(&state)?;
        per_repetition(20, || Ok(machine.press(Key(b's'))?))
    })?;
    let frame_us = median(|| {
        per_repetition(2000, || {
            machine.frame_into(&mut frame);
            Ok(())
        })
    })?;
    let play_digest_us = median(|| per_repetition(2000, || Ok(machine.play_digest())))?;
    let state_digest_us = median(|| per_repetition(200, || Ok(machine.state_digest())))?;
    go_deep(&mut machine)?;
    let (save_deep_us, load_deep_us) = save_and_load(&mut machine)?;
    Ok(InProcess {
        keys_per_s: KeysPerSecond { batch, batch_frames, batch_m1, batch_digests },
        turns_per_s_m1: turns[turns.len() / 2],
        save_us,
        load_us,
        load_key_us,
        key_us,
        save_deep_us,
        load_deep_us,
        frame_us,
        play_digest_us,
        state_digest_us,
        new_game_us,
        power_on_cold_us,
        image_bytes: ImageBytes { early, deep: machine.image_bytes() },
    })
}
