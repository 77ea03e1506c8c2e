//! The list of games for the training run.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// The list, below the crate's folder: lines `game CORE DISPLAY CLOCK FLAGS`, each
/// followed by `options TEXT` and any number of `keys TEXT`. Keys are spelled as in
/// movies.
pub(crate) const GAMES: &str = "training/games.txt";

#[derive(Default)]
struct Game {
    seeds: [u64; 2],
    clock: i64,
    flags: u32,
    options: String,
    keys: Vec<u8>,
}

/// The games as training/start.c reads them.
pub(crate) fn read_games(path: &Path) -> Result<Vec<u8>> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let mut games: Vec<Game> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let read = match (word, games.last_mut()) {
            ("#" | "", _) => Ok(()),
            ("game", _) => game(rest).map(|game| games.push(game)),
            ("options", Some(game)) => {
                game.options = rest.to_string();
                Ok(())
            }
            ("keys", Some(game)) => keys(rest.as_bytes(), &mut game.keys),
            _ => bail!("{}, line {}: {word} is out of place", path.display(), index + 1),
        };
        read.with_context(|| format!("{}, line {}", path.display(), index + 1))?;
    }
    ensure!(!games.is_empty(), "{} lists no games", path.display());
    games.iter().map(record).collect::<Result<Vec<_>>>().map(|records| records.concat())
}

fn game(line: &str) -> Result<Game> {
    let fields: Vec<&str> = line.split(' ').collect();
    let [core, display, clock, flags] = fields[..] else {
        bail!("a game has two seeds, a clock and flags");
    };
    let seeds = [core.parse()?, display.parse()?];
    Ok(Game { seeds, clock: clock.parse()?, flags: flags.parse()?, ..Game::default() })
}

fn keys(mut text: &[u8], keys: &mut Vec<u8>) -> Result<()> {
    while let Some((&byte, rest)) = text.split_first() {
        let (key, rest) = match (byte, rest) {
            (b'^', [b'x', high, low, rest @ ..]) => {
                (u8::from_str_radix(std::str::from_utf8(&[*high, *low])?, 16)?, rest)
            }
            (b'^', [b'?', rest @ ..]) => (0x7f, rest),
            (b'^', [letter @ 0x40..=0x5f, rest @ ..]) => (letter & 0x1f, rest),
            (0x20..=0x7e, rest) if byte != b'^' => (byte, rest),
            _ => bail!("{byte:#x} begins no key"),
        };
        keys.push(key);
        text = rest;
    }
    Ok(())
}

fn record(game: &Game) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for seed in game.seeds {
        bytes.extend(seed.to_le_bytes());
    }
    bytes.extend(game.clock.to_le_bytes());
    for number in [game.flags, u32::try_from(game.options.len())?, u32::try_from(game.keys.len())?, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(game.options.as_bytes());
    bytes.extend(&game.keys);
    Ok(bytes)
}
