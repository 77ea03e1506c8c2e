use lab::{Policy, Sight};
use wire::{Frame, Key, PendingKind};

use crate::chance::Chance;

/// Keys of the eight directions.
const DIRECTIONS: &[u8] = b"hjklyubn";

/// A policy that walks at random: mostly straight on, now and then another way, down where it can. What it is told are
/// 8 bytes of seed; what it brings back is a [`Report`].
pub(crate) struct Walker {
    chance: Chance,
    direction: u8,
    plan: Vec<Key>,
}

/// What a walker has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) depth: i32,
    pub(crate) row: u8,
    pub(crate) column: u8,
    pub(crate) hp: i32,
    pub(crate) hp_max: i32,
    pub(crate) experience: i32,
    /// Cells of the level that are known.
    pub(crate) known: u32,
}

impl Walker {
    pub(crate) fn new() -> Self {
        Self { chance: Chance::new(0), direction: b'l', plan: Vec::new() }
    }

    fn command(&mut self) -> Key {
        let roll = self.chance.below(64);
        if roll < 10 {
            self.direction = DIRECTIONS[self.chance.below(DIRECTIONS.len())];
        }
        match roll {
            // The keys of a plan are taken from its end.
            60.. => {
                self.plan = b">.>".iter().map(|&byte| Key(byte)).collect();
                Key(b'_')
            }
            56..60 => Key(b's'),
            50..56 => Key(self.direction.to_ascii_uppercase()),
            _ => Key(self.direction),
        }
    }
}

impl Policy for Walker {
    fn name(&self) -> &str {
        "walk"
    }

    fn begin(&mut self, arguments: &[u8]) -> Result<(), String> {
        let seed = <[u8; 8]>::try_from(arguments).map_err(|_| "a walker takes 8 bytes of seed".to_owned())?;
        *self = Self { chance: Chance::new(u64::from_le_bytes(seed)), ..Self::new() };
        self.direction = DIRECTIONS[self.chance.below(DIRECTIONS.len())];
        Ok(())
    }

    fn next(&mut self, sight: &Sight<'_>) -> Option<Key> {
        match sight.pending_kind()? {
            PendingKind::Position => Some(self.plan.pop().unwrap_or(Key::ESC)),
            PendingKind::Command => Some(self.plan.pop().unwrap_or_else(|| self.command())),
            kind => {
                self.plan.clear();
                Some(if matches!(kind, PendingKind::More | PendingKind::Window) { Key::ENTER } else { Key::ESC })
            }
        }
    }

    fn outcome(&mut self, sight: &Sight<'_>) -> Vec<u8> {
        Report::of(sight.frame()).to_bytes()
    }
}

impl Report {
    /// What a frame says.
    pub(crate) fn of(frame: &Frame) -> Self {
        // Glyph 2359 is the stone that nobody has looked at.
        let known = frame.glyphs.iter().filter(|&&glyph| glyph != 2359).count() as u32;
        let (row, column) = frame.hero.map_or((0, 0), |hero| (hero.row, hero.column));
        let status = frame.status.as_ref();
        Self {
            depth: status.map_or(0, |status| status.depth),
            row,
            column,
            hp: status.map_or(0, |status| status.hp),
            hp_max: status.map_or(0, |status| status.hp_max),
            experience: status.and_then(|status| status.experience_level).unwrap_or(0),
            known,
        }
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let numbers = [self.depth, self.hp, self.hp_max, self.experience, self.known as i32];
        let mut bytes = vec![self.row, self.column];
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }

    /// Reads an outcome; nothing where it is none.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&[row, column], rest) = bytes.split_first_chunk()?;
        let mut numbers = rest.chunks_exact(4).map(|chunk| chunk.try_into().map_or(0, i32::from_le_bytes));
        let mut next = || numbers.next();
        let (depth, hp, hp_max, experience, known) = (next()?, next()?, next()?, next()?, next()?);
        Some(Self { depth, row, column, hp, hp_max, experience, known: u32::try_from(known).ok()? })
    }
}
