//! ttyrec and asciicast, read back by their formats' rules.

use render::{Cast, Pace, Symbols, Ttyrec};
use serde_json::Value;
use wire::{Key, Screen};

use crate::generated::{Dice, next};
use crate::terminals::Terminals;

/// A frame of a ttyrec: microseconds and bytes.
fn ttyrec_frames(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut frames = Vec::new();
    while let Some((header, rest)) = bytes.split_first_chunk::<12>() {
        let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (text, rest) = rest.split_at(number(8) as usize);
        assert!(number(4) < 1_000_000 && !text.is_empty());
        frames.push((u64::from(number(0)) * 1_000_000 + u64::from(number(4)), text.to_vec()));
        bytes = rest;
    }
    assert!(bytes.is_empty(), "{} bytes are left over", bytes.len());
    frames
}

/// The events of an asciicast, after its header: seconds, kind, text.
fn cast_events(text: &str) -> Vec<(f64, String, String)> {
    let mut lines = text.lines();
    let header: Value = serde_json::from_str(lines.next().expect("a header")).expect("JSON");
    assert_eq!((&header["version"], &header["width"], &header["height"]), (&2.into(), &80.into(), &24.into()));
    assert_eq!(header["theme"]["palette"].as_str().map(|palette| palette.split(':').count()), Some(16));
    let parse = |line: &str| serde_json::from_str::<(f64, String, String)>(line).expect("an event");
    lines.map(parse).collect()
}

#[test]
fn both_recordings_hold_each_screen_at_its_time() {
    for seed in 100..120 {
        let mut dice = Dice::new(seed);
        let symbols = [Symbols::Plain, Symbols::Ibm][dice.below(2)];
        let pace = Pace::new(std::num::NonZeroU32::new(1 + dice.below(200) as u32).expect("not 0"));
        let mut screen = Screen::default();
        let screens: Vec<Screen> = std::iter::repeat_with(|| {
            next(&mut dice, &mut screen);
            screen.clone()
        })
        .take(20)
        .collect();
        let (mut ttyrec, mut cast) = (Ttyrec::new(symbols, pace), Cast::new(symbols, pace));
        let (mut bytes, mut text) = (Vec::new(), Cast::header("\"a\"\n\x1b[31m title"));
        for (number, screen) in screens.iter().enumerate() {
            bytes.extend(ttyrec.frame(number as u64 * 7, screen));
            text.push_str(&cast.frame(number as u64 * 7, screen));
            text.push_str(&cast.key(number as u64 * 7, Key(number as u8 * 13)));
        }
        let (frames, events) = (ttyrec_frames(&bytes), cast_events(&text));
        let shown: Vec<_> = events.iter().filter(|(_, kind, _)| kind == "o").collect();
        let keys: Vec<_> = events.iter().filter(|(_, kind, _)| kind == "i").map(|(_, _, key)| key.clone()).collect();
        assert_eq!((frames.len(), shown.len(), keys.len()), (screens.len(), screens.len(), screens.len()));
        let (mut from_ttyrec, mut from_cast) = (Terminals::new(), Terminals::new());
        for (number, screen) in screens.iter().enumerate() {
            let what = format!("seed {seed}, screen {number}");
            let micros = pace.micros(number as u64 * 7);
            assert_eq!(frames[number].0, micros, "{what}");
            assert!((shown[number].0 - micros as f64 / 1e6).abs() < 1e-9, "{what}");
            from_ttyrec.feed(&frames[number].1);
            from_ttyrec.check(screen, symbols, &what);
            from_cast.feed(shown[number].2.as_bytes());
            from_cast.check(screen, symbols, &what);
            assert_eq!(keys[number].chars().map(u32::from).collect::<Vec<_>>(), [number as u32 * 13], "{what}");
        }
    }
}
