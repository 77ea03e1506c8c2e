//! The two key mixes that speed is told for. Every decision depends on the mix's own generator and the screen only.

use std::collections::VecDeque;

use wire::{COLUMNS, Key, PendingKind, ROWS};

/// Where a mix may look before it chooses a key.
pub(crate) struct View<'a> {
    pub(crate) chars: &'a [u8],
    pub(crate) cursor: (usize, usize),
    pub(crate) pending: Option<PendingKind>,
    pub(crate) turn: i64,
}

/// A stream of numbers that depends on its seed alone (xorshift64*).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(7919).wrapping_add(88_172_645_463_325_252))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(2_685_821_657_736_338_717) >> 16
    }
}

fn pick(number: u64, keys: &[u8]) -> u8 {
    keys[(number % keys.len() as u64) as usize]
}

/// M0: weighted random keys, mostly moves; half of the commands that ask something are backed out of.
pub(crate) struct Random {
    numbers: Numbers,
    escape: bool,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { numbers: Numbers::new(seed), escape: false }
    }

    pub(crate) fn key(&mut self) -> Key {
        if std::mem::take(&mut self.escape) {
            return Key::ESC;
        }
        let number = self.numbers.next();
        let (kind, number) = (number % 100, number >> 8);
        Key(match kind {
            0..66 => pick(number, b"hjklyubn"),
            66..72 => pick(number, b"HJKLYUBN"),
            72..80 => pick(number, b"s>,.s><s"),
            80..90 => pick(number, b"\r \x1b\x1b y\r\x1b"),
            90..98 => {
                self.escape = self.numbers.next() % 2 == 1;
                pick(number, b"eqrwWTPRdDtfzZacokpi;:/x^_@$")
            }
            _ => {
                self.escape = self.numbers.next() % 2 == 1;
                1 + (number % 126) as u8
            }
        })
    }
}

/// M1: a fighter that moves, runs, searches with counts, fights what is beside it and prays when it must: many turns a key.
pub(crate) struct Fighter {
    numbers: Numbers,
    queue: VecDeque<u8>,
    prayed: i64,
    ate: i64,
    last_turn: i64,
    still: u32,
}

impl Fighter {
    pub(crate) fn new(seed: u64) -> Self {
        Self { numbers: Numbers::new(seed), queue: VecDeque::new(), prayed: 0, ate: 0, last_turn: 0, still: 0 }
    }

    pub(crate) fn key(&mut self, view: &View<'_>) -> Key {
        Key(self.byte(view))
    }

    fn byte(&mut self, view: &View<'_>) -> u8 {
        if matches!(view.pending, Some(PendingKind::More | PendingKind::Window)) {
            self.queue.clear();
            return b'\r';
        }
        if view.turn != self.last_turn {
            self.last_turn = view.turn;
            self.still = 0;
        } else {
            self.still += 1;
            if self.still > 8 {
                self.still = 0;
                self.queue.clear();
                return 0x1b;
            }
        }
        if let Some(byte) = self.queue.pop_front() {
            return byte;
        }
        if view.pending != Some(PendingKind::Command) {
            return 0x1b;
        }
        self.command(view)
    }

    fn command(&mut self, view: &View<'_>) -> u8 {
        let line = row(view.chars, ROWS - 1);
        let number = self.numbers.next();
        let (kind, number) = (number % 100, number >> 8);
        let (hp, hp_max) = hit_points(line);
        let starving = has(line, b"Weak") || has(line, b"Faint");
        if (hp < 6 || hp * 7 < hp_max || starving) && view.turn > self.prayed + 1000 {
            self.prayed = view.turn;
            self.queue.extend(b"pray\ry\r");
            return b'#';
        }
        if has(line, b"Hungry") && view.turn > self.ate + 500 {
            self.ate = view.turn;
            self.queue.push_back(b'd');
            return b'e';
        }
        if kind < 90
            && let Some(direction) = enemy(view)
        {
            self.queue.push_back(direction);
            return b'F';
        }
        match kind {
            0..70 => pick(number, b"hjklyubn"),
            70..82 => pick(number, b"HJKLYUBN"),
            _ => {
                self.queue.extend(b"0s");
                b'2'
            }
        }
    }
}

fn row(chars: &[u8], row: usize) -> &[u8] {
    &chars[row * COLUMNS..(row + 1) * COLUMNS]
}

fn has(line: &[u8], word: &[u8]) -> bool {
    line.windows(word.len()).any(|here| here == word)
}

/// `HP:12(16)` as its two numbers; 1 of 1 where it is not shown.
fn hit_points(line: &[u8]) -> (i64, i64) {
    let shown = || {
        let at = line.windows(3).position(|here| here == b"HP:")? + 3;
        let text = std::str::from_utf8(line.get(at..)?).ok()?;
        let (hp, rest) = text.split_once('(')?;
        let (hp_max, _) = rest.split_once(')')?;
        Some((hp.parse().ok()?, hp_max.parse().ok()?))
    };
    shown().unwrap_or((1, 1))
}

/// The direction of a letter beside the hero that is no cat or kitten.
fn enemy(view: &View<'_>) -> Option<u8> {
    const AROUND: [(isize, isize, u8); 8] = [
        (0, -1, b'h'),
        (1, 0, b'j'),
        (-1, 0, b'k'),
        (0, 1, b'l'),
        (-1, -1, b'y'),
        (-1, 1, b'u'),
        (1, -1, b'b'),
        (1, 1, b'n'),
    ];
    let (row, column) = view.cursor;
    AROUND.into_iter().find_map(|(down, right, key)| {
        let row = row.checked_add_signed(down).filter(|row| (2..22).contains(row))?;
        let column = column.checked_add_signed(right).filter(|column| *column < COLUMNS)?;
        let c = view.chars[row * COLUMNS + column];
        let hostile = (c.is_ascii_alphabetic() && c != b'f') || matches!(c, b':' | b'&' | b';');
        hostile.then_some(key)
    })
}
