//! The ledger's lines, and `docs/formats/ledger.md` against them.

use std::collections::BTreeSet;

use movie::{
    Account, LINE_BYTES_MAX, LedgerBase, LedgerError, LedgerFork, LedgerParent, LedgerReader, LedgerRecord,
    LedgerWriter, LinePart, Mark, MarkKind, NOTE_BYTES_MAX, Step,
};
use serde_json::Value;
use wire::{Boundary, Check, Key, PlayDigest, PowerOn, Seed, StateDigest};

use crate::toy::header;

const DOCUMENT: &str = include_str!("../../../../docs/formats/ledger.md");

fn steps(text: &str) -> Vec<Step> {
    text.bytes().zip(1..).map(|(byte, check)| Step { key: Key(byte), check: Check(check) }).collect()
}

fn fork(number: u64, base: LedgerBase, part: LinePart) -> LedgerRecord {
    let parent = Some(LedgerParent { fork: Some(0), base: 3, luck: Some([Seed(7), Seed(u64::MAX)]) });
    LedgerRecord::Fork(Box::new(LedgerFork {
        number,
        game: "g00000001-1".to_owned(),
        parent,
        account: Account::default(),
        base,
        part,
    }))
}

/// One record of each kind.
fn records() -> Vec<LedgerRecord> {
    let luck = MarkKind::Reseed { core: Seed(7), display: Seed(u64::MAX) };
    let digests = MarkKind::Digests { play: PlayDigest([0xab; 16]), state: Some(StateDigest([0xcd; 32])) };
    let marks = vec![Mark { at: Boundary(3), kind: luck }, Mark { at: Boundary(5), kind: digests }];
    let part = LinePart { common: Boundary(3), steps: steps("hj"), marks };
    let record = PowerOn::from_seed(Seed(7));
    vec![
        LedgerRecord::Numbers { last: 4 },
        LedgerRecord::Note { name: "breakpoints".to_owned(), text: "[]".to_owned() },
        fork(5, LedgerBase::Journal(1_234), part),
        fork(6, LedgerBase::Fork(5), LinePart { common: Boundary(4), ..LinePart::default() }),
        fork(7, LedgerBase::PowerOn(Box::new(record)), LinePart::default()),
        LedgerRecord::Line {
            fork: 6,
            part: LinePart { common: Boundary(4), steps: steps("\u{1b}"), marks: Vec::new() },
        },
        LedgerRecord::Delete { fork: 5 },
    ]
}

fn written() -> String {
    let header = header();
    let header = movie::LedgerHeader {
        engine_id: header.engine_id,
        rom_id: header.rom_id,
        creator: header.creator,
        journal: "0001-g00000001-1.movie".to_owned(),
    };
    let (mut writer, mut text) = LedgerWriter::begin(&header).unwrap();
    for record in records() {
        let (after, more) = writer.record(&record).unwrap();
        (writer, text) = (after, text + &more);
    }
    text
}

fn read(text: &str) -> Result<Vec<LedgerRecord>, LedgerError> {
    let mut lines = text.lines();
    let (mut reader, _) = LedgerReader::begin(lines.next().unwrap_or_default().as_bytes())?;
    lines.map(|line| reader.record(line.as_bytes())).collect()
}

fn table(first_heading: &str) -> Vec<Vec<String>> {
    let start = format!("| {first_heading} |");
    let lines = DOCUMENT.lines().skip_while(|line| !line.starts_with(&start)).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().replace('`', "")).collect()).collect()
}

#[test]
fn what_is_written_is_read_again() {
    assert_eq!(read(&written()).unwrap(), records());
}

#[test]
fn the_document_says_what_is_written() {
    let text = written();
    let (_, example) = DOCUMENT.split_once("```jsonl\n").unwrap();
    assert!(example.split_once("```").unwrap().0 == text, "the example should be\n{text}");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let mut head: BTreeSet<String> = table("field").into_iter().map(|row| row[0].clone()).collect();
    head.insert("chain".to_owned());
    assert_eq!(head, names(&lines[0]));
    let mut found = BTreeSet::new();
    for line in &lines[1..] {
        let (kind, content) = line.as_object().unwrap().iter().find(|(name, _)| *name != "chain").unwrap();
        found.extend(names(content).into_iter().map(|field| (kind.clone(), field)));
    }
    let told: BTreeSet<_> = table("kind").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    assert_eq!(told, found);
    let bounds: Vec<_> = table("bound").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    let expected = [
        ("LEDGER_BYTES_MAX", movie::LEDGER_BYTES_MAX),
        ("LEDGER_FORKS_MAX", movie::LEDGER_FORKS_MAX as u64),
        ("NOTES_MAX", movie::NOTES_MAX as u64),
        ("NOTE_BYTES_MAX", NOTE_BYTES_MAX as u64),
    ];
    assert_eq!(bounds, expected.map(|(name, value)| (name.to_owned(), value.to_string())));
}

#[test]
fn every_changed_byte_is_told() {
    let text = written();
    for at in 0..text.len() {
        let mut other = text.clone().into_bytes();
        other[at] ^= 1;
        let Ok(other) = String::from_utf8(other) else { continue };
        assert!(read(&other).is_err(), "byte {at}");
    }
}

#[test]
fn a_long_line_of_inputs_takes_more_lines() {
    let marks: Vec<Mark> = (0..50_000)
        .step_by(10)
        .map(|at| Mark { at: Boundary(at), kind: MarkKind::Reseed { core: Seed(at), display: Seed(1) } })
        .collect();
    let part = LinePart { common: Boundary(0), steps: steps(&"k".repeat(60_000)), marks };
    let (writer, mut text) = LedgerWriter::begin(&movie::LedgerHeader {
        engine_id: "e".to_owned(),
        rom_id: "r".to_owned(),
        creator: "c".to_owned(),
        journal: "j".to_owned(),
    })
    .unwrap();
    let record = fork(1, LedgerBase::Journal(9), part.clone());
    text += &writer.record(&record).unwrap().1;
    assert!(text.lines().count() > 3 && text.lines().all(|line| line.len() <= LINE_BYTES_MAX));
    let mut again = LinePart::default();
    for record in read(&text).unwrap() {
        let more = match record {
            LedgerRecord::Fork(fork) => fork.part,
            LedgerRecord::Line { fork: 1, part } => part,
            other => panic!("{other:?}"),
        };
        assert_eq!(more.common, again.end());
        again.steps.extend(more.steps);
        again.marks.extend(more.marks);
    }
    assert_eq!(again, part);
}

#[test]
fn what_can_not_be_is_refused_by_the_writer() {
    let (writer, _) = LedgerWriter::begin(&movie::LedgerHeader {
        engine_id: "e".to_owned(),
        rom_id: "r".to_owned(),
        creator: "c".to_owned(),
        journal: "j".to_owned(),
    })
    .unwrap();
    let long = "x".repeat(NOTE_BYTES_MAX + 1);
    let beyond = LinePart { common: Boundary(movie::INPUTS_MAX as u64), steps: steps("h"), marks: Vec::new() };
    let early = vec![Mark { at: Boundary(2), kind: MarkKind::Reseed { core: Seed(1), display: Seed(1) } }];
    for record in [
        LedgerRecord::Delete { fork: 0 },
        LedgerRecord::Numbers { last: u64::MAX },
        LedgerRecord::Note { name: "a/b".to_owned(), text: String::new() },
        LedgerRecord::Note { name: "n".to_owned(), text: long },
        LedgerRecord::Line { fork: 1, part: beyond },
        LedgerRecord::Line { fork: 1, part: LinePart { common: Boundary(3), steps: steps("h"), marks: early } },
    ] {
        assert!(writer.record(&record).is_err(), "{record:?}");
    }
    // A note of characters that JSON spells with six bytes each makes a line that no reader would take.
    let note = LedgerRecord::Note { name: "n".to_owned(), text: "\u{1}".repeat(NOTE_BYTES_MAX) };
    let refused = writer.record(&note).map(|_| ());
    assert!(matches!(refused, Err(LedgerError::Refused(movie::Refusal::LineBytes(_)))), "{refused:?}");
    for journal in ["a/b", "", "a\nb"] {
        let header = movie::LedgerHeader {
            engine_id: "e".to_owned(),
            rom_id: "r".to_owned(),
            creator: "c".to_owned(),
            journal: journal.to_owned(),
        };
        assert!(LedgerWriter::begin(&header).is_err());
    }
}

fn writer() -> (LedgerWriter, String) {
    let [engine_id, rom_id, creator, journal] = ["e", "r", "c", "j"].map(str::to_owned);
    LedgerWriter::begin(&movie::LedgerHeader { engine_id, rom_id, creator, journal }).unwrap()
}

/// A record as it is read again.
fn again(record: &LedgerRecord) -> Result<Vec<LedgerRecord>, LedgerError> {
    let (writer, head) = writer();
    read(&(head + &writer.record(record)?.1))
}

#[test]
fn bounds_are_the_last_that_may_be() {
    let args = |bytes: usize| MarkKind::Debug { args: "x".repeat(bytes) };
    let marked = |kind: MarkKind| LinePart {
        common: Boundary(3),
        steps: steps("hj"),
        marks: vec![Mark { at: Boundary(5), kind }],
    };
    let at =
        |common: usize, text: &str| LinePart { common: Boundary(common as u64), steps: steps(text), marks: Vec::new() };
    let counted = |inputs: u64| match fork(1, LedgerBase::Journal(9), LinePart::default()) {
        LedgerRecord::Fork(fork) => {
            LedgerRecord::Fork(Box::new(LedgerFork { account: Account { inputs, ..Account::default() }, ..*fork }))
        }
        other => other,
    };
    let note = |bytes: usize| LedgerRecord::Note { name: "n".to_owned(), text: "x".repeat(bytes) };
    let line = |part: LinePart| LedgerRecord::Line { fork: 1, part };
    for (last, beyond) in [
        (line(marked(args(movie::ARGS_BYTES_MAX))), line(marked(args(movie::ARGS_BYTES_MAX + 1)))),
        (line(at(movie::INPUTS_MAX - 1, "h")), line(at(movie::INPUTS_MAX - 1, "hj"))),
        (line(at(movie::INPUTS_MAX, "")), line(at(movie::INPUTS_MAX + 1, ""))),
        (counted(movie::COUNT_MAX), counted(movie::COUNT_MAX + 1)),
        (note(NOTE_BYTES_MAX), note(NOTE_BYTES_MAX + 1)),
    ] {
        assert_eq!(again(&last).unwrap(), [last]);
        assert!(matches!(again(&beyond), Err(LedgerError::Value(_))), "{beyond:?}");
    }
}

#[test]
fn a_line_may_be_as_long_as_a_reader_takes() {
    let note = |text: String| LedgerRecord::Note { name: "n".to_owned(), text };
    let (writer, _) = writer();
    let room = LINE_BYTES_MAX - (writer.record(&note(String::new())).unwrap().1.len() - 1);
    let text = "\u{1}".repeat(room / 6) + &"x".repeat(room % 6);
    let whole = note(text.clone());
    assert_eq!(writer.record(&whole).unwrap().1.len() - 1, LINE_BYTES_MAX);
    assert_eq!(again(&whole).unwrap(), [whole]);
    let refused = again(&note(text + "x"));
    assert!(matches!(refused, Err(LedgerError::Refused(movie::Refusal::LineBytes(_)))), "{refused:?}");
}

#[test]
fn lines_of_inputs_alone_and_of_marks_at_each_are_cut() {
    let reseed = |at| Mark { at: Boundary(at), kind: MarkKind::Reseed { core: Seed(at), display: Seed(1) } };
    let edit = |at| Mark { at: Boundary(at), kind: MarkKind::Debug { args: "map".to_owned() } };
    for part in [
        LinePart { common: Boundary(0), steps: steps(&"k".repeat(5_000)), marks: (0..5_000).map(edit).collect() },
        LinePart { common: Boundary(0), steps: steps(&"k".repeat(400_000)), marks: Vec::new() },
        LinePart { common: Boundary(0), steps: steps(&"k".repeat(5_000)), marks: (0..5_000).map(reseed).collect() },
    ] {
        let records = again(&fork(1, LedgerBase::Journal(9), part.clone())).unwrap();
        assert!(records.len() > 2, "{}", records.len());
    }
    assert!(LinePart { common: Boundary(7), ..LinePart::default() }.is_empty());
    let [keys, marks] = [steps("h"), Vec::new()].map(|steps| LinePart { steps, ..LinePart::default() });
    assert!(!keys.is_empty() && !LinePart { marks: vec![reseed(0)], ..marks }.is_empty());
}
