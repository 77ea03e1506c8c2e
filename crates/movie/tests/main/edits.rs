//! Files changed by hand: the change is told, and where play differs, the input is named.

use movie::{Difference, Movie, Verdict, export, read};
use wire::{Boundary, Key};

use crate::toy::{Play, ROM, judge, verdict};

fn is_good(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Exact | Verdict::SamePlay)
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// A movie of 40 keys that are all one character of its file, digests in between.
fn plain() -> (Movie, Vec<u8>) {
    let mut play = Play::new(5);
    for _ in 0..4 {
        let keys = b"yhdjYkeldy".map(Key);
        play.press(&keys, &keys);
        play.digests();
    }
    play.end();
    let recording = read(play.bytes()).unwrap();
    let bytes = recording.export().unwrap();
    (recording.movie, bytes)
}

#[test]
fn no_byte_can_be_changed_unseen() {
    let journal = Play::closed(4, 14);
    let (_, exported) = plain();
    for bytes in [journal.bytes(), &exported] {
        for at in 0..bytes.len() {
            for other in [bytes[at] ^ 1, bytes[at] ^ 0x20, bytes[at] ^ 0x80, b'\n', b'"', b'0'] {
                if other == bytes[at] {
                    continue;
                }
                let mut edited = bytes.to_vec();
                edited[at] = other;
                let verdict = verdict(&edited, ROM);
                assert!(!is_good(&verdict), "byte {at} as {other:#x}: {verdict}");
            }
        }
    }
}

#[test]
fn no_line_can_be_removed_repeated_or_swapped_unseen() {
    for seed in 0..20 {
        let play = Play::closed(seed, 20);
        let all = lines(play.bytes());
        for at in 0..all.len() - 1 {
            let removed = [&all[..at], &all[at + 1..]].concat();
            let repeated = [&all[..=at], &all[at..]].concat();
            let mut swapped = all.clone();
            swapped.swap(at, at + 1);
            for (what, edited) in [("removed", removed), ("repeated", repeated), ("swapped", swapped)] {
                let verdict = verdict(&edited.concat(), ROM);
                assert!(!is_good(&verdict), "seed {seed}, line {} {what}: {verdict}", at + 1);
            }
        }
    }
}

#[test]
fn a_line_that_was_changed_without_effect_is_named() {
    let play = Play::closed(9, 0);
    let keys = b"hjkl".map(Key);
    let mut writer =
        movie::JournalWriter::resume(&read(&play.bytes()[..play.stages[1].0]).unwrap(), Vec::new()).unwrap();
    writer.peek(17, 3).unwrap();
    writer.send(&keys).unwrap();
    let text = String::from_utf8([&play.bytes()[..play.stages[1].0], writer.get_ref()].concat()).unwrap();
    assert_eq!(verdict(text.as_bytes(), ROM), Verdict::Exact);
    let edited = text.replace("\"forks\":17", "\"forks\":0");
    assert_eq!(verdict(edited.as_bytes(), ROM), Verdict::Altered { line: 3 });
    let recording = read(edited.as_bytes()).unwrap();
    assert_eq!(recording.broken_chain, Some(3));
    assert!(recording.export().is_err());
    let edited = text.replacen("\"creator\":\"toy 1\"", "\"creator\":\"toy 2\"", 1);
    assert_eq!(verdict(edited.as_bytes(), ROM), Verdict::Altered { line: 1 });
}

/// Where in the file the key of each step stands.
fn places(text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    for (start, _) in text.match_indices("\"keys\":\"") {
        let start = start + "\"keys\":\"".len();
        let length = text[start..].find('"').unwrap();
        places.extend(start..start + length);
    }
    places
}

#[test]
fn a_changed_input_is_named_at_the_first_input_after_which_play_differs() {
    let (movie, bytes) = plain();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let places = places(&text);
    assert_eq!(places.len(), movie.steps.len());
    for (index, place) in places.into_iter().enumerate() {
        let key = movie.steps[index].key.0;
        for other in *b"yYdehQ" {
            if other == key {
                continue;
            }
            let mut edited = bytes.clone();
            edited[place] = other;
            let line = 1 + edited[..place].iter().filter(|byte| **byte == b'\n').count() as u64;
            let verdict = verdict(&edited, ROM);
            let shown = match [key, other] {
                [b'y', b'Y'] | [b'Y', b'y'] => {
                    assert_eq!(verdict, Verdict::Altered { line }, "input {index}");
                    continue;
                }
                [b'd', b'e'] | [b'e', b'd'] if (index + 1) % 10 != 0 => index + 1,
                _ => index,
            };
            let Verdict::Desync(desync) = &verdict else {
                panic!("input {index} as {}: {verdict}", char::from(other));
            };
            assert_eq!(desync.boundary, Boundary(shown as u64 + 1), "input {index} as {}", char::from(other));
            let named = if shown == index { other } else { movie.steps[shown].key.0 };
            assert_eq!(desync.key, Some(Key(named)), "input {index}");
            assert!(matches!(desync.difference, Difference::Check { .. } | Difference::First { .. }), "{verdict}");
        }
    }
}

#[test]
fn a_forged_movie_with_a_whole_chain_is_still_a_desync() {
    let (movie, _) = plain();
    for index in 0..movie.steps.len() {
        let mut forged = movie.clone();
        forged.steps[index].key = Key(b'!');
        let recording = read(&export(&forged).unwrap()).unwrap();
        assert_eq!(recording.broken_chain, None);
        let verdict = judge(&recording, ROM);
        let Verdict::Desync(desync) = &verdict else { panic!("input {index}: {verdict}") };
        assert_eq!(desync.boundary.0, index as u64 + 1);
        forged.steps.remove(index);
        forged.marks.retain(|mark| mark.at.0 <= index as u64);
        let verdict = judge(&read(&export(&forged).unwrap()).unwrap(), ROM);
        assert_eq!(is_good(&verdict), index == 39, "input {index} removed: {verdict}");
    }
}
