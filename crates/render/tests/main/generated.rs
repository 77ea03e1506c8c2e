//! Screens that no game writes.

use render::{Painter, Symbols, difference, text, whole};
use wire::{COLUMNS, Cursor, ROWS, Screen};

use crate::terminals::Terminals;

/// A small generator, so that a failure's seed brings the same screens back.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }
}

/// What somebody might want to see interpreted.
const HOSTILE: [&[u8]; 9] = [
    b"\x1b[2J\x1b[H",
    b"\x1b]0;title\x07",
    b"<script>alert(1)</script>",
    b"\"],\"o\",\"\\u001b[31m",
    b"\r\n\x08\x7f\x00\x0e\x0f",
    b"\x9b31m\x90q\x9c",
    b"caf\xe9 \xc3\xa9 \xad \xa0 \xff",
    b"{{7*7}} %s %n \\x1b",
    b"\xe2\x80\xae\xf0\x9f\x98\x80",
];

/// The screen after another: a few changes, a hostile text, or all anew.
pub(crate) fn next(dice: &mut Dice, screen: &mut Screen) {
    let cells = ROWS * COLUMNS;
    match dice.below(8) {
        0 => {
            screen.chars = (0..cells).map(|_| dice.byte()).collect();
            screen.colors = (0..cells).map(|_| dice.byte() % 20).collect();
            screen.attributes = (0..cells).map(|_| dice.byte()).collect();
        }
        1 => *screen = Screen::default(),
        2 => {
            let planes = [&mut screen.chars, &mut screen.colors, &mut screen.attributes];
            for plane in planes {
                plane.resize(dice.below(cells + 100), 0);
            }
        }
        3 | 4 => {
            let text = HOSTILE[dice.below(HOSTILE.len())];
            let start = dice.below(cells);
            for (cell, byte) in screen.chars.iter_mut().skip(start).zip(text) {
                *cell = *byte;
            }
        }
        _ => {
            for _ in 0..dice.below(40) {
                let (at, [char, color, attributes]) = (dice.below(cells), [0; 3].map(|_| dice.byte()));
                let planes = [&mut screen.chars, &mut screen.colors, &mut screen.attributes];
                for (plane, value) in planes.into_iter().zip([char, color % 18, attributes]) {
                    plane.get_mut(at).into_iter().for_each(|cell| *cell = value);
                }
            }
        }
    }
    screen.cursor = Cursor { row: dice.byte() % 30, column: dice.byte() % 100 };
}

#[test]
fn terminals_show_every_screen_however_it_is_painted() {
    for seed in 0..60 {
        let mut dice = Dice::new(seed);
        let symbols = [Symbols::Plain, Symbols::Dec, Symbols::Ibm][dice.below(3)];
        let (mut screen, mut painter) = (Screen::default(), Painter::new(symbols));
        let (mut painted, mut differing) = (Terminals::new(), Terminals::new());
        differing.feed(whole(&screen, symbols).as_bytes());
        for number in 0..12 {
            let before = screen.clone();
            next(&mut dice, &mut screen);
            let what = format!("seed {seed}, screen {number}, {symbols:?}");
            let bytes = painter.paint(&screen);
            assert!(!bytes.is_empty());
            painted.feed(bytes.as_bytes());
            painted.check(&screen, symbols, &what);
            differing.feed(difference(&before, &screen, symbols).as_bytes());
            differing.check(&screen, symbols, &what);
        }
        // A terminal in any state is brought to the last screen.
        let mut dirty = Terminals::new();
        dirty.feed(b"\x1b[5;9Hgarbage\x1b[1;4;31m\x1b[24;80Hx");
        dirty.feed(whole(&screen, symbols).as_bytes());
        dirty.check(&screen, symbols, &format!("seed {seed}, whole"));
    }
}

#[test]
fn no_control_character_but_our_own_sequences_is_written() {
    for seed in 0..200 {
        let mut dice = Dice::new(seed);
        let mut screen = Screen::default();
        for _ in 0..5 {
            next(&mut dice, &mut screen);
        }
        for symbols in [Symbols::Plain, Symbols::Dec, Symbols::Ibm] {
            let bytes = whole(&screen, symbols);
            for sequence in bytes.split('\x1b').skip(1) {
                let end = sequence.find(|c: char| c.is_ascii_alphabetic()).expect("a sequence ends");
                assert!(sequence.starts_with('['), "seed {seed}: {sequence:?}");
                assert!("HJKm".contains(&sequence[end..=end]), "seed {seed}: {sequence:?}");
                let shown = &sequence[end + 1..];
                assert!(shown.chars().all(|symbol| !symbol.is_control()), "seed {seed}: {shown:?}");
            }
            let text = text(&screen, symbols);
            assert!(text.chars().all(|symbol| symbol == '\n' || !symbol.is_control()), "seed {seed}: {text:?}");
            assert_eq!(text.lines().count(), ROWS);
            assert!(text.lines().all(|line| !line.ends_with(' ')), "seed {seed}: {text:?}");
        }
    }
}

#[test]
fn a_small_change_takes_few_bytes() {
    let mut screen = Screen::default();
    screen.chars.fill(b'.');
    let before = screen.clone();
    screen.chars[500] = b'@';
    let bytes = difference(&before, &screen, Symbols::Plain);
    assert_eq!(bytes, "\x1b[7;21H@\x1b[1;1H");
    assert_eq!(difference(&screen, &screen, Symbols::Plain), "\x1b[1;1H");
}
