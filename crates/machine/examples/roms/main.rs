//! Holds ROM files against each other: that they play alike, and how fast they are. Movies are replayed key by key,
//! every whole frame and both generators compared; the benchmark's two key mixes are played in alternating rounds.
//!
//! - `cargo run --release -p machine --example roms -- ROUNDS ROM ROM... [MOVIE...]` (the name of a ROM ends with `.rom`)
//! - `cargo run --release -p machine --example roms -- games ROM MOVIE... > crates/rom/training/games.txt` writes the
//!   games of the ROM's training run anew.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use machine::{Machine, Stop};
use movie::{Act, Movie};
use rom::Rom;
use wire::{Frame, Key, PowerOn};

#[path = "../../../nethack-lab/src/bench/mix.rs"]
mod mix;
mod script;

use script::{Script, random, turn_heavy};

const KEYS_RANDOM: usize = 100_000;
const KEYS_TURN_HEAVY: usize = 20_000;
const KEYS_A_GAME: usize = 2_000;

/// What is trained with: whole movies but for the longest, and games whose seeds no measurement has.
const TRAINING_SEED: u64 = 1_000_000;
const TRAINING_KEYS: usize = 24_000;
const TRAINING_KEYS_A_GAME: usize = 2_000;
const TRAINING_KEYS_A_MOVIE: usize = 4_000;
const TRAINING_LINE: usize = 100;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let first = arguments.next().and_then(|first| first.into_os_string().into_string().ok()).unwrap_or_default();
    let (roms, movies): (Vec<_>, Vec<_>) =
        arguments.partition(|path| path.extension().is_some_and(|name| name == "rom"));
    let roms = roms.iter().map(|path| Ok(Rom::from_file(path)?)).collect::<Result<Vec<_>>>()?;
    let rom = roms.first().ok_or("which ROMs?")?;
    if first == "games" {
        return write_games(rom, &movies);
    }
    let rounds = first.parse()?;
    for rom in &roms {
        println!("ROM {} of engine {}", rom.rom_id(), rom.engine_id());
    }
    for path in &movies {
        compare(&roms, path)?;
    }
    if rounds > 0 {
        measure(&roms, rounds)?;
    }
    Ok(())
}

/// Replays a movie under each ROM; the first difference is an error.
fn compare(roms: &[Rom], path: &Path) -> Result<()> {
    let movie = movie::read(&std::fs::read(path)?)?.movie;
    let mut first: Option<Vec<blake3::Hash>> = None;
    for rom in roms {
        let plays = plays(rom, &movie)?;
        let Some(first) = &first else {
            first = Some(plays);
            continue;
        };
        let differs = first.iter().zip(&plays).position(|(a, b)| a != b);
        if differs.is_some() || first.len() != plays.len() {
            return Err(format!("{}: ROM {} differs at {differs:?}", path.display(), rom.rom_id()).into());
        }
    }
    println!("{}: {} inputs, the same under each", path.display(), movie.steps.len());
    Ok(())
}

/// A digest of everything visible and of both generators, at each boundary.
fn plays(rom: &Rom, movie: &Movie) -> Result<Vec<blake3::Hash>> {
    let mut machine = Machine::open(rom)?;
    let mut frame = Frame::default();
    let mut look = |machine: &Machine, stop: &Stop| {
        machine.frame_into(&mut frame);
        let play = machine.play_digest();
        blake3::hash(format!("{frame:?} {stop:?} {play:?}").as_bytes())
    };
    let stop = machine.power_on(&movie.header.power_on)?;
    let mut plays = vec![look(&machine, &stop)];
    for act in movie.acts(1) {
        match act {
            Act::Press { steps, .. } => {
                for step in steps {
                    let stop = machine.press(step.key)?;
                    plays.push(look(&machine, &stop));
                }
            }
            Act::Reseed { core, display, .. } => machine.reseed(core, display)?,
            Act::Compare { .. } => {}
            Act::Debug { .. } => return Err("an operator's edit is not understood".into()),
        }
    }
    Ok(plays)
}

/// Every game is played by every ROM in turn, so that all meet the same weather; of several rounds the best counts.
fn measure(roms: &[Rom], rounds: usize) -> Result<()> {
    let scripts = [
        ("random", Script::new(&roms[0], 1, KEYS_RANDOM, KEYS_A_GAME, random)?),
        ("turn-heavy", Script::new(&roms[0], 1, KEYS_TURN_HEAVY, KEYS_A_GAME, turn_heavy)?),
    ];
    for (name, script) in &scripts {
        let mut times = vec![Duration::ZERO; roms.len()];
        for game in 0..script.games.len() {
            let mut best = vec![Duration::MAX; roms.len()];
            let mut ends = None;
            for _ in 0..rounds {
                for (rom, best) in roms.iter().zip(&mut best) {
                    let (time, end) = script.play(game, rom)?;
                    if *ends.get_or_insert(end) != end {
                        return Err(format!("{name} game {game}: ROM {} plays otherwise", rom.rom_id()).into());
                    }
                    *best = time.min(*best);
                }
            }
            for (time, best) in times.iter_mut().zip(best) {
                *time += best;
            }
        }
        let keys: usize = script.games.iter().map(|(_, keys)| keys.len()).sum();
        for (index, time) in times.iter().enumerate() {
            let (rate, ratio) = (keys as f64 / time.as_secs_f64(), times[0].as_secs_f64() / time.as_secs_f64());
            println!("{name}, ROM {index}: {rate:.0} keys/s, {ratio:.3} x the first");
        }
    }
    Ok(())
}

/// Prints the list of crates/rom/build/games.rs.
fn write_games(rom: &Rom, movies: &[PathBuf]) -> Result<()> {
    println!("# Games of the training run; written by the example `roms` of crate machine.");
    for path in movies {
        let movie = movie::read(&std::fs::read(path)?)?.movie;
        let keys: Vec<Key> = movie.steps.iter().take(TRAINING_KEYS_A_MOVIE).map(|step| step.key).collect();
        println!("# {}", path.file_stem().unwrap_or_default().display());
        write_game(&movie.header.power_on, &keys)?;
    }
    let (seed, keys, game) = (TRAINING_SEED, TRAINING_KEYS, TRAINING_KEYS_A_GAME);
    let mixes = [
        ("turn-heavy keys", Script::new(rom, seed, keys, game, turn_heavy)?),
        ("random keys", Script::new(rom, seed, keys, game, random)?),
    ];
    for (name, script) in mixes {
        println!("# {name}");
        for (record, keys) in &script.games {
            write_game(record, keys)?;
        }
    }
    Ok(())
}

fn write_game(record: &PowerOn, keys: &[Key]) -> Result<()> {
    if record.debug || record.profile.is_nle() || record.level_seed.is_some() || record.reseed {
        return Err("only plain games are trained with".into());
    }
    println!("game {} {} {} 0", record.core_seed.0, record.display_seed.0, record.clock.seconds());
    println!("options {}", record.options_text());
    for keys in keys.chunks(TRAINING_LINE) {
        let text: String = keys.iter().map(|key| spelling(key.0)).collect();
        println!("keys {text}");
    }
    Ok(())
}

/// As in movies.
fn spelling(byte: u8) -> String {
    match byte {
        b'^' | b'"' | b'\\' | 0x1c | 0x1e | 0x80.. => format!("^x{byte:02x}"),
        0x20..=0x7e => char::from(byte).to_string(),
        0x7f => "^?".to_string(),
        0..=0x1f => format!("^{}", char::from(byte | 0x40)),
    }
}
