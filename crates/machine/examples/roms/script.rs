//! Games with their keys, taken down once, so that every ROM gets the same.

use std::time::Duration;

use machine::{Machine, Stop};
use rom::Rom;
use wire::{Frame, Key, PlayDigest, PowerOn, Seed};

use crate::Result;
use crate::mix::{Fighter, Random, View};

/// Records and keys.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) games: Vec<(PowerOn, Vec<Key>)>,
}

/// Who plays a game, and what game.
pub(crate) struct Player {
    record: PowerOn,
    key: Box<dyn FnMut(&Frame) -> Key>,
}

impl Script {
    /// Games from the first seed on until so many keys are pressed, at most `game_max` in each.
    pub(crate) fn new(
        rom: &Rom,
        first: u64,
        keys: usize,
        game_max: usize,
        mut player: impl FnMut(u64) -> Result<Player>,
    ) -> Result<Self> {
        let mut machine = Machine::open(rom)?;
        let mut script = Self::default();
        let (mut left, mut frame) = (keys, Frame::default());
        for seed in first.. {
            let Player { record, mut key } = player(seed)?;
            let mut stop = machine.power_on(&record)?;
            let mut pressed = Vec::new();
            while stop == Stop::Boundary && left > 0 && pressed.len() < game_max {
                machine.frame_into(&mut frame);
                let next = key(&frame);
                stop = machine.press(next)?;
                pressed.push(next);
                left -= 1;
            }
            script.games.push((record, pressed));
            if left == 0 {
                break;
            }
        }
        Ok(script)
    }

    /// Plays one game; how much CPU time its keys took, and where it came to.
    pub(crate) fn play(&self, game: usize, rom: &Rom) -> Result<(Duration, PlayDigest)> {
        let (record, keys) = &self.games[game];
        let mut machine = Machine::open(rom)?;
        machine.power_on(record)?;
        let start = cpu_time()?;
        for key in keys {
            machine.press(*key)?;
        }
        Ok((cpu_time()? - start, machine.play_digest()))
    }
}

/// Of this thread, so that what else runs on the machine counts as little as can be.
fn cpu_time() -> Result<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of this function.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if status != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok(Duration::new(u64::try_from(time.tv_sec)?, u32::try_from(time.tv_nsec)?))
}

/// The benchmark's mix M0.
pub(crate) fn random(seed: u64) -> Result<Player> {
    let mut mix = Random::new(seed);
    Ok(Player { record: PowerOn::from_seed(Seed(seed)), key: Box::new(move |_| mix.key()) })
}

/// The benchmark's mix M1.
pub(crate) fn turn_heavy(seed: u64) -> Result<Player> {
    let mut mix = Fighter::new(seed);
    let mut record = PowerOn::from_seed(Seed(seed));
    record.character.role = Some("valkyrie".parse()?);
    record.character.race = Some("dwarf".parse()?);
    let key = move |frame: &Frame| {
        let cursor = (usize::from(frame.screen.cursor.row), usize::from(frame.screen.cursor.column));
        let pending = frame.pending.as_ref().map(|pending| pending.kind);
        mix.key(&View { chars: &frame.screen.chars, cursor, pending, turn: frame.turn })
    };
    Ok(Player { record, key: Box::new(key) })
}
