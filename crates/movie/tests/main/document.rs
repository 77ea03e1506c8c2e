//! Holds `docs/formats/movie.md` against what is written and read.

use std::collections::BTreeSet;

use movie::{Finish, JournalWriter, Mark, MarkKind, Step, read};
use serde_json::Value;
use wire::{Boundary, Check, EndKind, Ended, Key, PlayDigest, Seed, StateDigest};

use crate::toy::{Play, header};

const DOCUMENT: &str = include_str!("../../../../docs/formats/movie.md");

/// The cells of all rows of the table whose first heading is given, marks of code taken off.
fn table(first_heading: &str) -> Vec<Vec<String>> {
    let start = format!("| {first_heading} |");
    let mut lines = DOCUMENT.lines().skip_while(|line| !line.starts_with(&start));
    assert!(lines.next().is_some() && lines.next().is_some(), "no table {first_heading:?}");
    lines
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split(" | ").map(|cell| cell.trim().replace('`', "")).collect())
        .collect()
}

fn first_cells(first_heading: &str) -> BTreeSet<String> {
    table(first_heading).into_iter().map(|row| row[0].clone()).collect()
}

fn fields(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

fn example() -> &'static str {
    let (_, rest) = DOCUMENT.split_once("```jsonl\n").unwrap();
    rest.split_once("```").unwrap().0
}

/// The journal that the document shows.
fn written() -> String {
    let mut play = Play::new(1);
    play.press(b"hjk".map(Key).as_slice(), b"hj".map(Key).as_slice());
    let mut movie = play.line.movie;
    movie.account.inputs = 5;
    let mut writer = JournalWriter::continue_movie(&header(), &movie, Vec::new()).unwrap();
    writer.send(&[Key::ESC, Key(b'"')]).unwrap();
    writer.done(&[Key::ESC], &[Check(1)]).unwrap();
    writer.send(&b"Fh".map(Key)).unwrap();
    writer.done(&[Key(b'F'), Key::ENTER, Key(b'h')], &[Check(2), Check(3), Check(4)]).unwrap();
    writer.peek(2, 40).unwrap();
    writer.send(&[Key(0x80 | b'q')]).unwrap();
    writer.lost(Key(0x80 | b'q')).unwrap();
    writer.seek(Boundary(4)).unwrap();
    let luck = MarkKind::Reseed { core: Seed(u64::MAX), display: Seed(3) };
    let steps = [Step { key: Key(b'l'), check: Check(5) }];
    writer.adopt("f2", Boundary(3), &steps, &[Mark { at: Boundary(3), kind: luck }]).unwrap();
    writer.debug(r#"{"hp":99}"#).unwrap();
    writer.digests(PlayDigest([0xab; 16]), Some(StateDigest([0xcd; 32]))).unwrap();
    let ended = Ended {
        kind: EndKind::Died,
        how: Some(0),
        text: "killed by a newt".to_owned(),
        xlog: Some("points=7".to_owned()),
    };
    writer.end(Finish::Ended(ended)).unwrap();
    String::from_utf8(writer.into_inner()).unwrap()
}

#[test]
fn the_example_is_what_is_written() {
    let written = written();
    assert!(example() == written, "the example in docs/formats/movie.md should be\n{written}");
    let recording = read(example().as_bytes()).unwrap();
    assert!(recording.is_closed() && recording.broken_chain.is_none());
}

#[test]
fn every_line_and_field_is_in_the_tables_and_none_besides() {
    let mut found = BTreeSet::new();
    let lines: Vec<Value> = written().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines[1..] {
        let line = line.as_object().unwrap();
        assert!(line.len() == 2 && line.contains_key("chain"));
        let (kind, content) = line.iter().find(|(name, _)| *name != "chain").unwrap();
        found.extend(fields(content).into_iter().map(|field| (kind.clone(), field)));
    }
    let documented: BTreeSet<_> = table("kind").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    assert_eq!(documented, found);

    let mut head = first_cells("field");
    head.insert("chain".to_owned());
    assert_eq!(head, fields(&lines[0]));
    assert_eq!(first_cells("field of `power_on`"), fields(&lines[0]["power_on"]));
    let end = lines.last().unwrap();
    assert_eq!(first_cells("field of an account"), fields(&end["end"]["account"]));
    for name in fields(&end["end"]["how"]["ended"]).iter().chain(&fields(&lines[0]["power_on"]["character"])) {
        assert!(DOCUMENT.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn the_reader_knows_no_kind_that_the_document_lacks() {
    let text = written();
    let (head, _) = text.split_once('\n').unwrap();
    let unknown = format!("{head}\n{{\"nothing\":{{}},\"chain\":\"0000000000000000\"}}\n");
    let message = read(unknown.as_bytes()).unwrap_err().to_string();
    let (_, known) = message.split_once("expected one of ").unwrap();
    let known = known.split(" at byte").next().unwrap();
    let known: BTreeSet<_> = known.split(", ").map(|name| name.trim_matches('`').to_owned()).collect();
    assert_eq!(known, first_cells("kind"));
}

#[test]
fn the_bounds_are_those_of_the_table() {
    let bounds = [
        ("FILE_BYTES_MAX", movie::FILE_BYTES_MAX as u64),
        ("LINE_BYTES_MAX", movie::LINE_BYTES_MAX as u64),
        ("LINE_INPUTS_MAX", movie::LINE_INPUTS_MAX as u64),
        ("PACKED_INPUTS", movie::PACKED_INPUTS as u64),
        ("INPUTS_MAX", movie::INPUTS_MAX as u64),
        ("MARKS_MAX", movie::MARKS_MAX as u64),
        ("ARGS_BYTES_MAX", movie::ARGS_BYTES_MAX as u64),
        ("NAME_BYTES_MAX", movie::NAME_BYTES_MAX as u64),
        ("HEADER_TEXT_BYTES_MAX", movie::HEADER_TEXT_BYTES_MAX as u64),
        ("COUNT_MAX", movie::COUNT_MAX),
        ("DIGESTS_EVERY", movie::DIGESTS_EVERY),
    ];
    let documented: Vec<_> = table("bound").into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect();
    assert_eq!(documented, bounds.map(|(name, value)| (name.to_owned(), value)));
    let header = table("field");
    assert!(header[0].contains(&movie::FORMAT.to_owned()) && header[1].contains(&movie::VERSION.to_string()));
    assert!(DOCUMENT.starts_with(&format!("# Movie and journal, version {}\n", movie::VERSION)));
}

#[test]
fn the_verdicts_are_those_of_the_table() {
    use movie::{CannotJudge, Desync, Difference, Verdict};
    let difference = Difference::Check { expected: Check(0), actual: Check(1) };
    let verdicts = [
        Verdict::Exact,
        Verdict::SamePlay,
        Verdict::Altered { line: 1 },
        Verdict::Desync(Desync { boundary: Boundary(0), key: None, difference }),
        Verdict::CannotJudge(CannotJudge::Worker(String::new())),
    ];
    let documented: Vec<_> = table("verdict").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    let said = verdicts.map(|verdict| (verdict.name().to_owned(), verdict.exit_code().to_string()));
    assert_eq!(documented, said);
}
