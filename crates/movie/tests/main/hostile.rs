//! Files that nobody's writer made: refused with their line, never a panic, never a large allocation.

use movie::{ExportError, LineProblem, MarkKind, ReadError, Refusal, Verdict, export, read};
use wire::{Boundary, Key, Seed};

use crate::toy::{Play, ROM, Random, header, verdict};

/// Lines with a right chain, so that nothing but their content can be refused.
fn chained(bodies: &[&str]) -> Vec<u8> {
    let mut chain = "0".repeat(16);
    let mut text = String::new();
    for body in bodies {
        let mut hasher = blake3::Hasher::new();
        hasher.update(chain.as_bytes()).update(body.as_bytes());
        chain = hasher.finalize().to_hex()[..16].to_owned();
        text.push_str(&format!("{},\"chain\":\"{chain}\"}}\n", body.strip_suffix('}').unwrap()));
    }
    text.into_bytes()
}

fn header_body() -> String {
    let power_on = serde_json::to_string(&header().power_on).unwrap();
    format!(
        r#"{{"format":"nethack-lab-movie","version":1,"engine_id":"e","rom_id":"r","nethack_version":"3.6.7","creator":"c","power_on":{power_on}}}"#
    )
}

fn problem(bodies: &[&str]) -> (u64, LineProblem) {
    let header = header_body();
    let all: Vec<&str> = std::iter::once(header.as_str()).chain(bodies.iter().copied()).collect();
    match read(&chained(&all)) {
        Err(ReadError::Line { line, problem }) => (line, problem),
        Err(other) => panic!("{bodies:?}: {other}"),
        Ok(_) => panic!("{bodies:?} were read"),
    }
}

fn refusal(bodies: &[&str]) -> Refusal {
    match problem(bodies) {
        (line, LineProblem::Refused(refusal)) => {
            assert_eq!(line, bodies.len() as u64 + 1, "{bodies:?}");
            refusal
        }
        (line, other) => panic!("{bodies:?}: line {line}: {other}"),
    }
}

const ACCOUNT: &str =
    r#"{"inputs":0,"peeks":0,"forks":0,"lines":0,"seeks":0,"adoptions":0,"reseeds":0,"debugs":0,"lost":0}"#;
const SEND: &str = r#"{"send":{"at":0,"keys":"hj"}}"#;
const ONE: &str = r#"{"inputs":{"at":0,"keys":"h","checks":"AAAAAA=="}}"#;

#[test]
fn a_chain_is_what_the_document_says_it_is() {
    let recording = read(&chained(&[&header_body(), SEND, ONE])).unwrap();
    assert_eq!((recording.broken_chain, recording.lines), (None, 3));
}

#[test]
fn files_that_are_no_movies() {
    for bytes in [&b""[..], b"{", b"{}", header_body().as_bytes()] {
        assert_eq!(read(bytes).unwrap_err(), ReadError::Empty);
    }
    for bytes in [&b"\n"[..], b"hello\n", b"{}\n", b"[]\n", b"\xff\xfe\n", b"{\"format\":\"other\",\"version\":1}\n"] {
        assert_eq!(read(bytes).unwrap_err(), ReadError::NotAMovie, "{bytes:?}");
    }
    for found in [0, 2, 4_294_967_297_u64] {
        let header = header_body().replace("\"version\":1", &format!("\"version\":{found}"));
        let error = read(&chained(&[&header])).unwrap_err();
        assert_eq!(error, ReadError::Version { found });
        assert!(error.to_string().contains(&found.to_string()) && error.to_string().contains("version 1"), "{error}");
    }
    let huge = vec![b'\n'; movie::FILE_BYTES_MAX + 1];
    assert_eq!(read(&huge).unwrap_err(), ReadError::FileBytes(huge.len()));
}

#[test]
fn a_header_alone_is_a_movie_and_two_are_none() {
    let header = header_body();
    let recording = read(&chained(&[&header])).unwrap();
    assert_eq!((recording.movie.boundary(), recording.lines), (Boundary(0), 1));
    assert!(!recording.is_closed());
    assert!(matches!(problem(&[&header]), (2, LineProblem::Content(_))));
    for (from, to) in [
        ("\"creator\":\"c\"", "\"creator\":\"\""),
        ("\"creator\":\"c\"", "\"creator\":\"\\u0000\""),
        ("\"creator\":\"c\",", ""),
        ("\"creator\":\"c\"", "\"creator\":\"c\",\"new\":1"),
        ("\"core_seed\":\"7\"", "\"core_seed\":7"),
        ("\"debug\":false", "\"debug\":false,\"new\":1"),
        ("\"name\":\"Agent\"", "\"name\":\"Agent\",\"new\":1"),
    ] {
        let other = header.replace(from, to);
        assert_ne!(other, header);
        assert!(matches!(read(&chained(&[&other])), Err(ReadError::Line { line: 1, .. })), "{other}");
    }
    let nested = format!("\"new\":{}{},\"creator\"", "[".repeat(400_000), "]".repeat(400_000));
    let other = header.replace("\"creator\"", &nested);
    assert!(matches!(read(&chained(&[&other])), Err(ReadError::Line { line: 1, .. })));
}

#[test]
fn lines_that_cannot_be_understood() {
    let deep = format!(r#"{{"debug":{{"at":0,"args":{}{}}}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    for body in [
        "{}",
        "{{}",
        r#"{"future":{"at":0}}"#,
        r#"{"send":{"at":0,"keys":"h","new":1}}"#,
        r#"{"send":{"at":0}}"#,
        r#"{"send":{"at":0,"at":0,"keys":"h"}}"#,
        r#"{"send":{"at":-1,"keys":"h"}}"#,
        r#"{"send":{"at":0.0,"keys":"h"}}"#,
        r#"{"send":{"at":0,"keys":["h"]}}"#,
        r#"{"send":{"at":0,"keys":"é"}}"#,
        r#"{"send":{"at":0,"keys":"^"}}"#,
        r#"{"send":{"at":0,"keys":"h"},"seek":{"at":0,"to":0}}"#,
        r#"{"inputs":{"at":0,"keys":"h","checks":"AAAA"}}"#,
        r#"{"reseed":{"at":0,"core":1,"display":"1"}}"#,
        r#"{"digests":{"at":0,"play":"00"}}"#,
        r#"{"end":{"at":0,"how":"won","account":{}}}"#,
        &deep,
        &format!(
            r#"{{"end":{{"at":0,"how":{{"ended":{{"kind":"died","how":1,"text":"","xlog":null,"new":1}}}},"account":{ACCOUNT}}}}}"#
        ),
    ] {
        let (line, problem) = problem(&[body]);
        let LineProblem::Content(text) = &problem else { panic!("{body}: {problem}") };
        assert_eq!(line, 2);
        assert!(text.len() < 1_000 && text.is_ascii(), "{text}");
    }
    let message = problem(&[r#"{"future":{"at":0}}"#]).1.to_string();
    assert!(message.contains("future") && message.contains("newer version"), "{message}");
}

#[test]
fn lines_that_are_no_lines() {
    let head = chained(&[&header_body()]);
    let read_with = |tail: &[u8]| read(&[head.as_slice(), tail].concat());
    let at_2 = |problem| ReadError::Line { line: 2, problem };
    assert_eq!(read_with(b"\xff\xfe\n").unwrap_err(), at_2(LineProblem::NotUtf8));
    assert_eq!(read_with(b"\n").unwrap_err(), at_2(LineProblem::NoChain));
    assert_eq!(read_with(b"{\"send\":{\"at\":0,\"keys\":\"h\"}}\n").unwrap_err(), at_2(LineProblem::NoChain));
    // A last line without its newline, and more behind its end.
    let run_on = b"{\"send\":{\"at\":0,\"keys\":\"h\"},\"chain\":\"0123456789abcdef\"}x";
    assert_eq!(read_with(run_on).unwrap_err(), at_2(LineProblem::NoChain));
    let long = vec![b'x'; movie::LINE_BYTES_MAX + 1];
    assert_eq!(read_with(&long).unwrap_err(), at_2(LineProblem::Bytes));
    for torn in [&b"\xff"[..], b"{\"send\":", &[0; 4096], &long[..movie::LINE_BYTES_MAX]] {
        let recording = read_with(torn).unwrap();
        assert_eq!((recording.whole_bytes, recording.torn_bytes), (head.len(), torn.len()));
    }
}

#[test]
fn lines_that_break_a_rule() {
    let boundary = |stated, actual| Refusal::Boundary { stated: Boundary(stated), actual: Boundary(actual) };
    assert_eq!(refusal(&[ONE, ONE]), boundary(0, 1));
    assert_eq!(refusal(&[r#"{"digests":{"at":1,"play":"00000000000000000000000000000000"}}"#]), boundary(1, 0));
    assert_eq!(refusal(&[r#"{"done":{"at":0,"n":0,"checks":""}}"#]), Refusal::NotSent);
    let counts = |keys, checks| Refusal::Counts { keys, checks };
    assert_eq!(refusal(&[SEND, r#"{"done":{"at":0,"n":3,"checks":""}}"#]), counts(2, 3));
    assert_eq!(refusal(&[SEND, r#"{"done":{"at":0,"n":18446744073709551615,"checks":""}}"#]), counts(2, u64::MAX));
    assert_eq!(refusal(&[SEND, r#"{"done":{"at":0,"n":1,"checks":""}}"#]), counts(1, 0));
    assert_eq!(refusal(&[SEND, r#"{"done":{"at":0,"n":1,"keys":"xy","checks":"AAAAAA=="}}"#]), counts(2, 1));
    assert_eq!(refusal(&[r#"{"send":{"at":0,"keys":""}}"#]), Refusal::Keys(0));
    assert_eq!(refusal(&[r#"{"lost":{"at":0,"key":"ab"}}"#]), Refusal::Keys(2));
    let ahead = Refusal::Ahead { to: Boundary(1), at: Boundary(0) };
    assert_eq!(refusal(&[r#"{"seek":{"at":0,"to":1}}"#]), ahead);
    assert_eq!(refusal(&[r#"{"adopt":{"at":0,"from":"f1","base":1,"lines":0}}"#]), ahead);
    let adopt = r#"{"adopt":{"at":0,"from":"f1","base":0,"lines":2}}"#;
    assert_eq!(refusal(&[adopt, ONE, r#"{"peek":{"at":1,"forks":1,"lines":0}}"#]), Refusal::Adoption(1));
    assert_eq!(refusal(&[r#"{"adopt":{"at":0,"from":"a/b","base":0,"lines":0}}"#]), Refusal::Name);
    let peek = r#"{"peek":{"at":0,"forks":9007199254740991,"lines":0}}"#;
    assert_eq!(refusal(&[peek, peek]), Refusal::Account);
    let past = format!(r#"{{"past":{{"account":{ACCOUNT}}}}}"#);
    assert_eq!(refusal(&[&past, &past]), Refusal::Past);
    let end = format!(r#"{{"end":{{"at":0,"how":"open","account":{ACCOUNT}}}}}"#);
    assert_eq!(refusal(&[&end, &end]), Refusal::Closed);
    assert_eq!(refusal(&[SEND, ONE, &end.replace("\"at\":0", "\"at\":1")]), Refusal::Account);
    let args = "x".repeat(movie::ARGS_BYTES_MAX + 1);
    assert_eq!(refusal(&[&format!(r#"{{"debug":{{"at":0,"args":"{args}"}}}}"#)]), Refusal::Args(args.len()));
}

#[test]
fn a_send_that_nothing_follows_counts_nothing() {
    let later = r#"{"send":{"at":0,"keys":"x"}}"#;
    let done = r#"{"done":{"at":0,"n":1,"checks":"AAAAAA=="}}"#;
    let header = header_body();
    let recording = read(&chained(&[&header, SEND])).unwrap();
    assert_eq!(recording.unacknowledged.unwrap().keys, b"hj".map(Key));
    let recording = read(&chained(&[&header, SEND, later, done])).unwrap();
    assert_eq!(recording.unacknowledged, None);
    assert_eq!(recording.movie.steps.iter().map(|step| step.key).collect::<Vec<_>>(), [Key(b'x')]);
    assert_eq!(recording.movie.account.inputs, 1);
    let lost = r#"{"lost":{"at":0,"key":"h"}}"#;
    let recording = read(&chained(&[&header, SEND, lost])).unwrap();
    assert_eq!((recording.unacknowledged, recording.movie.steps.len()), (None, 0));
    assert_eq!((recording.lost[0].at, recording.lost[0].key), (Boundary(0), Key(b'h')));
}

#[test]
fn a_lost_key_is_forgotten_once_its_boundary_is() {
    let lost = r#"{"lost":{"at":1,"key":"x"}}"#;
    let with = |bodies: &[&str]| {
        let header = header_body();
        let all: Vec<&str> = [header.as_str(), ONE, lost].iter().chain(bodies).copied().collect();
        let recording = read(&chained(&all)).unwrap();
        assert_eq!(recording.movie.account.lost, 1);
        recording.lost.len()
    };
    assert_eq!(with(&[]), 1);
    assert_eq!(with(&[r#"{"seek":{"at":1,"to":1}}"#]), 1);
    assert_eq!(with(&[r#"{"seek":{"at":1,"to":0}}"#]), 0);
    let adopt = r#"{"adopt":{"at":1,"from":"f1","base":0,"lines":1}}"#;
    assert_eq!(with(&[adopt, ONE]), 0);
    assert_eq!(with(&[adopt]), 1);
}

#[test]
fn limits_of_a_line_and_of_a_movie() {
    let mut movie = Play::new(1).line.movie;
    movie.marks.clear();
    let step = movie::Step { key: Key(b'h'), check: wire::Check(0) };
    movie.steps = vec![step; movie::INPUTS_MAX];
    movie.account.inputs = 1_000_000;
    let bytes = export(&movie).unwrap();
    assert_eq!(read(&bytes).unwrap().movie.steps.len(), movie::INPUTS_MAX);
    movie.steps.push(step);
    movie.account.inputs += 1;
    assert_eq!(export(&movie), Err(ExportError::Refused(Refusal::Inputs(1_000_001))));

    let mut movie = Play::new(1).line.movie;
    let reseed = MarkKind::Reseed { core: Seed(1), display: Seed(1) };
    movie.marks = vec![movie::Mark { at: Boundary(0), kind: reseed }; movie::MARKS_MAX];
    movie.account.reseeds = 250_000;
    assert_eq!(read(&export(&movie).unwrap()).unwrap().movie.marks.len(), movie::MARKS_MAX);
    movie.marks.push(movie.marks[0].clone());
    movie.account.reseeds += 1;
    assert_eq!(export(&movie), Err(ExportError::Refused(Refusal::Marks)));
}

#[test]
fn noise_in_a_journal_is_never_exact_and_never_a_panic() {
    let mut random = Random(99);
    for seed in 0..1_500 {
        let play = Play::closed(seed % 10, 12);
        let mut bytes = play.bytes().to_vec();
        for _ in 0..=random.below(4) {
            let from = random.below(bytes.len() as u64 - 1) as usize;
            let to = (from + random.below(40) as usize).min(bytes.len() - 1);
            let new: Vec<u8> = (0..random.below(40)).map(|_| random.below(256) as u8).collect();
            bytes.splice(from..to, new);
        }
        let changed = bytes.as_slice() != play.bytes() && bytes.ends_with(b"\n");
        let verdict = verdict(&bytes, ROM);
        assert!(!(changed && verdict == Verdict::Exact), "seed {seed}: {verdict}");
    }
}
