use machine::Stop;
use nle::{Trajectory, compare, import, replay};

use crate::{lines, machine, recordings, zipped};

#[test]
fn every_recording_agrees_on_every_array_at_every_step() {
    let mut held = machine();
    let mut roles = std::collections::BTreeSet::new();
    for path in recordings() {
        let report = compare(&path, &mut held.machine, &mut |_| {}).unwrap();
        assert!(report.difference.is_none(), "{}: {:#?}", path.display(), report.difference);
        assert!(report.agreed > 30, "{}: only {} steps", path.display(), report.agreed);
        roles.insert(path.file_name().unwrap().to_str().unwrap().split('-').next().unwrap().to_owned());
    }
    assert!(roles.len() >= 6, "{roles:?}");
}

#[test]
fn an_import_plays_the_same_game() {
    let mut held = machine();
    for path in recordings() {
        let import = import(&path).unwrap();
        let mut stop = held.machine.power_on(&import.power_on).unwrap();
        for key in &import.keys {
            assert_eq!(stop, Stop::Boundary, "{}", path.display());
            stop = held.machine.press(*key).unwrap();
        }
        assert_eq!(stop != Stop::Boundary, import.done, "{}", path.display());
    }
}

/// One recording with something changed is told apart where it was changed.
fn differs_at(lines: &[String], step: u64, words: &str) {
    let mut held = machine();
    let bytes = zipped(lines.join("\n").as_bytes());
    let report = replay(Trajectory::read(&bytes[..]).unwrap(), &mut held.machine, &mut |_| {}).unwrap();
    let difference = report.difference.expect("a difference");
    assert_eq!((difference.step, report.agreed), (step, step), "{difference:#?}");
    assert!(difference.what.contains(words), "{}", difference.what);
    assert_eq!(difference.ours.len(), 24);
}

fn at_step(lines: &[String], step: u64) -> usize {
    let mark = format!("\"type\":\"step\",\"i\":{step},");
    lines.iter().position(|line| line.contains(&mark)).unwrap()
}

#[test]
fn the_first_difference_is_found() {
    let recorded = lines("valkyrie");
    let mut other = recorded.clone();
    let at = (at_step(&recorded, 100)..).find(|line| recorded[*line].contains("\"blstats\":\"")).unwrap();
    let step = recorded[at].split(',').find_map(|part| part.strip_prefix("\"i\":")).unwrap().parse().unwrap();
    let from = other[at].find("\"blstats\":\"").unwrap() + 11;
    other[at].replace_range(from..from + 8, "00000000");
    differs_at(&other, step, "blstats differ");
}

#[test]
fn ends_must_agree_too() {
    let recorded = lines("tourist");
    let last =
        recorded.iter().rposition(|line| line.contains("\"done\":true,") || line.ends_with("\"done\":true}")).unwrap();
    let last = (0..=last).rev().find(|line| recorded[*line].contains("\"step\"")).unwrap();
    let step = recorded[last].split(',').find_map(|part| part.strip_prefix("\"i\":")).unwrap().parse().unwrap();
    let mut other = recorded.clone();
    other[last] = other[last].replace(",\"done\":true", "");
    differs_at(&other, step, "our game has ended, theirs has not");
    let mut other = lines("valkyrie");
    let at = at_step(&other, 50);
    other[at] = other[at].replacen('}', "},\"done\":true", 1);
    differs_at(&other, 50, "their game has ended, ours has not");
}

#[test]
fn a_difference_shows_both_screens_where_they_are_known() {
    let mut held = machine();
    let mut recorded = lines("wizard");
    recorded[0] = recorded[0].replacen("\"core\":21", "\"core\":20", 1);
    let bytes = zipped(recorded.join("\n").as_bytes());
    let report = replay(Trajectory::read(&bytes[..]).unwrap(), &mut held.machine, &mut |_| {}).unwrap();
    let difference = report.difference.unwrap();
    assert_eq!(difference.step, 0);
    let theirs = difference.theirs.unwrap();
    assert_eq!(theirs.len(), 24);
    assert_ne!(theirs, difference.ours);
}
