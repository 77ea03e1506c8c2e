//! The writer: one write a call, nothing after a failed one, nothing that breaks a rule.

use std::io;

use movie::{Finish, JournalWriter, Mark, MarkKind, Refusal, WriteError, read};
use wire::{Boundary, Check, EndKind, Ended, Key, Seed};

use crate::toy::{Play, header};

/// Counts calls and fails at one of them, half of the bytes written.
#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    writes: usize,
    flushes: usize,
    fails_at: Option<usize>,
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        match self.fails_at {
            Some(at) if self.writes > at + 1 => Err(io::ErrorKind::StorageFull.into()),
            Some(at) if self.writes > at => {
                self.bytes.extend(&bytes[..bytes.len() / 2]);
                Ok(bytes.len() / 2)
            }
            _ => {
                self.bytes.extend(bytes);
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushes += 1;
        Ok(())
    }
}

fn refusal<T: std::fmt::Debug>(result: Result<T, WriteError>) -> Refusal {
    match result.unwrap_err() {
        WriteError::Refused(refusal) => refusal,
        other => panic!("{other}"),
    }
}

#[test]
fn each_call_is_one_write_and_one_flush() {
    let mut writer = JournalWriter::create(&header(), Output::default()).unwrap();
    let keys = b"hjkl".map(Key);
    writer.send(&keys).unwrap();
    writer.done(&keys[..2], &[Check(1), Check(2)]).unwrap();
    writer.adopt("f9", Boundary(1), &[], &[]).unwrap();
    writer.end(Finish::Open).unwrap();
    let output = writer.into_inner();
    assert_eq!((output.writes, output.flushes), (5, 5));
    assert_eq!(output.bytes.iter().filter(|byte| **byte == b'\n').count(), 5);
}

#[test]
fn a_failed_write_is_the_last_and_the_journal_goes_on_after_a_cut() {
    let output = Output { fails_at: Some(2), ..Output::default() };
    let mut writer = JournalWriter::create(&header(), output).unwrap();
    writer.send(&[Key(b'h')]).unwrap();
    let error = writer.done(&[Key(b'h')], &[Check(1)]).unwrap_err();
    assert!(matches!(error, WriteError::Io(_)) && writer.is_poisoned());
    assert_eq!(writer.boundary(), Boundary(0));
    assert!(matches!(writer.peek(1, 1), Err(WriteError::Poisoned)));
    assert!(matches!(writer.end(Finish::Open), Err(WriteError::Poisoned)));

    let mut bytes = writer.into_inner().bytes;
    let recording = read(&bytes).unwrap();
    assert!(recording.torn_bytes > 0);
    let unacknowledged = recording.unacknowledged.clone().unwrap();
    assert_eq!((unacknowledged.at, unacknowledged.keys), (Boundary(0), vec![Key(b'h')]));
    bytes.truncate(recording.whole_bytes);
    let mut writer = JournalWriter::resume(&recording, bytes).unwrap();
    writer.done(&[Key(b'h')], &[Check(1)]).unwrap();
    let recording = read(writer.get_ref()).unwrap();
    assert_eq!((recording.movie.steps.len(), recording.unacknowledged), (1, None));
}

#[test]
fn what_breaks_a_rule_is_not_written() {
    let mut writer = JournalWriter::create(&header(), Vec::new()).unwrap();
    let keys = b"hjkl".map(Key);
    let reseed = MarkKind::Reseed { core: Seed(1), display: Seed(2) };
    let bytes = writer.bytes();
    assert_eq!(refusal(writer.done(&keys, &[Check(0); 4])), Refusal::NotSent);
    assert_eq!(refusal(writer.done(&[], &[])), Refusal::NotSent);
    assert_eq!(refusal(writer.send(&[])), Refusal::Keys(0));
    assert_eq!(refusal(writer.send(&vec![keys[0]; movie::LINE_INPUTS_MAX + 1])), Refusal::Keys(100_001));
    let ahead = Refusal::Ahead { to: Boundary(1), at: Boundary(0) };
    assert_eq!(refusal(writer.seek(Boundary(1))), ahead);
    assert_eq!(refusal(writer.adopt("f1", Boundary(1), &[], &[])), ahead);
    for name in ["", "a b", "f/1", &"f".repeat(65)] {
        assert_eq!(refusal(writer.adopt(name, Boundary(0), &[], &[])), Refusal::Name);
    }
    let far = Mark { at: Boundary(3), kind: reseed };
    assert!(matches!(refusal(writer.adopt("f1", Boundary(0), &[], &[far])), Refusal::Boundary { .. }));
    assert_eq!(refusal(writer.debug(&"x".repeat(movie::ARGS_BYTES_MAX + 1))), Refusal::Args(4_097));
    assert_eq!(refusal(writer.peek(u64::MAX, 0)), Refusal::Account);
    assert_eq!(writer.bytes(), bytes);
    assert_eq!(writer.get_ref().len(), bytes);
    assert!(!writer.is_poisoned());

    writer.send(&keys).unwrap();
    let counts = Refusal::Counts { keys: 4, checks: 3 };
    assert_eq!(refusal(writer.done(&keys, &[Check(0); 3])), counts);
    writer.peek(1, 0).unwrap();
    writer.done(&keys, &[Check(0); 4]).unwrap();
    assert_eq!(refusal(writer.done(&keys, &[Check(0); 4])), Refusal::NotSent);
    writer.end(Finish::Open).unwrap();
    assert_eq!(refusal(writer.peek(1, 1)), Refusal::Closed);
    assert_eq!(refusal(writer.end(Finish::Open)), Refusal::Closed);
}

#[test]
fn a_header_needs_its_texts() {
    for text in ["", "a\n", "é", &"x".repeat(129)] {
        let mut header = header();
        header.creator = text.to_owned();
        assert!(matches!(refusal(JournalWriter::create(&header, Vec::new())), Refusal::Header(_)), "{text:?}");
    }
    let mut other = header();
    other.power_on.core_seed = Seed(8);
    let movie = read(Play::closed(1, 1).bytes()).unwrap().movie;
    assert_eq!(refusal(JournalWriter::continue_movie(&other, &movie, Vec::new())), Refusal::PowerOn);
}

#[test]
fn digests_are_due_at_the_start_and_at_the_interval() {
    let mut play = Play::new(1);
    let mut at = Vec::new();
    for _ in 0..350 {
        play.press(&[Key(b'h'); 7], &[Key(b'h'); 7]);
        if play.writer.digests_due() {
            at.push(play.line.at().0);
            play.digests();
        }
    }
    assert_eq!(at, [1_001, 2_002]);
    assert!(!play.writer.digests_due());
    play.writer.seek(Boundary(500)).unwrap();
    assert!(!play.writer.digests_due());
    assert!(JournalWriter::create(&header(), Vec::new()).unwrap().digests_due());
}

#[test]
fn a_resumed_journal_knows_its_length_and_its_last_digests() {
    let mut play = Play::new(1);
    play.press(&[Key(b'h'); 999], &[Key(b'h'); 999]);
    let mut recording = read(play.bytes()).unwrap();
    let mut writer = JournalWriter::resume(&recording, Vec::new()).unwrap();
    assert_eq!(writer.bytes(), play.bytes().len());
    assert!(!writer.digests_due());
    writer.send(&[Key(b'h')]).unwrap();
    writer.done(&[Key(b'h')], &[Check(0)]).unwrap();
    assert!(writer.digests_due());

    // A file may be as long as it may be.
    let mut writer = JournalWriter::resume(&recording, Vec::new()).unwrap();
    writer.peek(3, 3).unwrap();
    recording.whole_bytes = movie::FILE_BYTES_MAX - writer.get_ref().len();
    JournalWriter::resume(&recording, Vec::new()).unwrap().peek(3, 3).unwrap();
    recording.whole_bytes += 1;
    let over = JournalWriter::resume(&recording, Vec::new()).unwrap().peek(3, 3);
    assert_eq!(refusal(over), Refusal::FileBytes(movie::FILE_BYTES_MAX + 1));

    recording.whole_bytes = movie::FILE_BYTES_MAX - 60;
    let mut writer = JournalWriter::resume(&recording, Vec::new()).unwrap();
    assert!(matches!(refusal(writer.peek(100_000, 100_000)), Refusal::FileBytes(_)));
    assert!(writer.get_ref().is_empty());
}

#[test]
fn a_resumed_journal_knows_where_its_last_digests_are() {
    let mut play = Play::new(1);
    play.press(&[Key(b'h'); 1_200], &[Key(b'h'); 1_200]);
    play.digests();
    play.press(&[Key(b'h'); 900], &[Key(b'h'); 900]);
    let writer = JournalWriter::resume(&read(play.bytes()).unwrap(), Vec::new()).unwrap();
    assert!(!writer.digests_due(), "900 inputs after the last");
}

#[test]
fn a_line_may_be_as_long_as_a_reader_takes() {
    let line = |bytes: usize| {
        let mut writer = JournalWriter::create(&header(), Vec::new()).unwrap();
        let head = writer.bytes();
        let ended = Ended { kind: EndKind::Died, how: None, text: "x".repeat(bytes), xlog: None };
        let written = writer.end(Finish::Ended(ended));
        written.map(|()| (writer.bytes() - head - 1, writer.get_ref().clone()))
    };
    let room = movie::LINE_BYTES_MAX - line(0).unwrap().0;
    let (bytes, file) = line(room).unwrap();
    assert_eq!(bytes, movie::LINE_BYTES_MAX);
    assert!(matches!(read(&file).unwrap().movie.finish, Finish::Ended(ended) if ended.text.len() == room));
    assert_eq!(refusal(line(room + 1)), Refusal::LineBytes(movie::LINE_BYTES_MAX + 1));
}

#[test]
fn a_line_that_no_reader_would_take_is_not_written() {
    let mut writer = JournalWriter::create(&header(), Vec::new()).unwrap();
    let bytes = writer.bytes();
    let text = "x".repeat(movie::LINE_BYTES_MAX);
    let ended = Ended { kind: EndKind::Died, how: None, text, xlog: None };
    assert!(matches!(refusal(writer.end(Finish::Ended(ended))), Refusal::LineBytes(_)));
    assert_eq!(writer.get_ref().len(), bytes);
    writer.end(Finish::Open).unwrap();
}
