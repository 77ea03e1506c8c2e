//! `watch`: recordings as a page, from outside.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::bed::{Bed, executable};

/// How long an answer may take, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often and after what pause something is asked for that is to come.
const TRIES: u32 = 3_000;
const BETWEEN: Duration = Duration::from_millis(20);

struct Watcher {
    child: Child,
    address: String,
}

impl Watcher {
    fn over(file: &Path) -> Self {
        let mut child = Command::new(executable())
            .arg("watch")
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the executable runs");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        output.read_line(&mut line).expect("a first line");
        let address = line.trim_end().strip_prefix("http://").and_then(|line| line.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("{line:?} is no address")).to_owned();
        Self { child, address }
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error}: {body}")))
    }

    /// The state, once it is what is waited for.
    fn state(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        self.get_until("/api/machines/main/state", what, holds)
    }

    fn get_until(&self, path: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        for _ in 0..TRIES {
            last = self.get(path).1;
            if holds(&last) {
                return last;
            }
            std::thread::sleep(BETWEEN);
        }
        panic!("{what} does not come: {last}");
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn rows(frame: &Value) -> Vec<String> {
    let row = |runs: &Value| {
        let texts = runs.as_array().expect("runs").iter().map(|run| run[0].as_str().expect("text"));
        texts.collect::<String>().trim_end().to_owned()
    };
    frame["rows"].as_array().expect("rows").iter().map(row).collect()
}

/// How many inputs a file holds.
fn inputs(bed: &Bed, file: &Path) -> u64 {
    let facts = bed.expect(0, &format!("movie info --json {}", file.display())).json();
    facts["inputs"].as_u64().expect("a number")
}

/// The screen as `movie show` has it.
fn shown(bed: &Bed, file: &Path, at: u64) -> Vec<String> {
    let ran = bed.expect(0, &format!("movie show {} --at {at}", file.display()));
    let mut rows: Vec<String> = ran.out.lines().skip(1).map(|row| row.trim_end().to_owned()).collect();
    rows.resize(24, String::new());
    rows
}

/// The children of a process.
fn children(parent: u32) -> Vec<i32> {
    let is_child = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>());
        fields.is_some_and(|fields| fields.get(1) == Some(&parent.to_string().as_str()) && fields[0] != "Z")
    };
    let entries = std::fs::read_dir("/proc").expect("processes");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(is_child).collect()
}

#[test]
fn killed_workers_cost_no_frame() {
    let bed = Bed::new();
    let file = bed.record("game.movie", 7, 400);
    let last = inputs(&bed, &file);
    let watcher = Watcher::over(&file);
    watcher.state("the end", |state| state["boundary"] == last);
    let game = watcher.get("/api/machines/main/state").1["game"].clone();
    assert!(!children(watcher.child.id()).is_empty(), "it has workers");
    for path in ["", "?count=20"] {
        for at in [0, last / 3, last / 2, last - 20] {
            for worker in children(watcher.child.id()) {
                let pid = rustix::process::Pid::from_raw(worker).expect("a process");
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            let (status, found) = watcher.get(&format!("/api/machines/main/frames/{at}{path}"));
            assert_eq!(status, 200, "{at}{path}: {found}");
            let frames = found["frames"].as_array().expect("frames");
            assert_eq!(frames.len(), if path.is_empty() { 1 } else { 20 }, "{at}{path}");
            assert!(frames.iter().all(|frame| frame["game"] == game), "{at}{path}: {game}");
        }
    }
}

#[test]
fn frames_of_a_movie_are_those_that_it_shows() {
    let bed = Bed::new();
    let file = bed.record("game.movie", 7, 700);
    let last = inputs(&bed, &file);
    let watcher = Watcher::over(&file);
    let state = watcher.state("the end", |state| state["boundary"] == last);
    assert_eq!(state["kind"], "movie");
    assert_eq!(rows(&state), shown(&bed, &file, last));
    for at in [0, 1, last / 2, last - 1, last] {
        let (status, found) = watcher.get(&format!("/api/machines/main/frames/{at}"));
        assert_eq!((status, found["frames"][0]["boundary"].as_u64()), (200, Some(at)));
        assert_eq!(rows(&found["frames"][0]), shown(&bed, &file, at), "boundary {at}");
    }
    // Many at once are the same as one by one.
    let (_, many) = watcher.get(&format!("/api/machines/main/frames/{}?count=64", last - 60));
    let many = many["frames"].as_array().expect("frames");
    assert_eq!(many.len(), 61);
    for frame in many {
        let (_, one) = watcher.get(&format!("/api/machines/main/frames/{}", frame["boundary"]));
        assert_eq!(one["frames"][0], *frame);
    }
    assert_eq!(watcher.get(&format!("/api/machines/main/frames/{}", last + 1)).0, 404);
    let index = watcher.get_until("/api/machines/main/index", "the index", |index| index["complete"] == true);
    assert_eq!(index["last"], last);
    assert_eq!(index["levels"][0]["boundary"], 0);
    let (_, log) = watcher.get("/api/machines/main/messages?limit=2000");
    let log = log["messages"].as_array().expect("messages");
    assert_eq!(Some(log.len() as u64), index["messages"].as_u64());
    assert!(log.iter().enumerate().all(|(at, message)| message["id"] == at as u64 + 1), "ids count up from 1");
}

#[test]
fn a_file_that_grows_is_followed_and_a_tear_waits_for_its_rest() {
    let bed = Bed::new();
    bed.expect(0, "movie record --seed 8 --role valkyrie --keys 2500 --survive -o game.movie");
    let whole = std::fs::read(bed.path("game.movie")).expect("a movie");
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let ends = lines.iter().enumerate().filter(|(_, line)| line.starts_with(b"{\"inputs\"")).map(|(at, _)| at + 1);
    let ends: Vec<usize> = ends.collect();
    assert!(ends.len() >= 3, "digests part the inputs");
    let file = bed.path("growing.journal");
    let write = |lines: &[&[u8]], torn: &[u8]| {
        std::fs::write(&file, [lines.concat().as_slice(), torn].concat()).expect("the file is written");
    };
    write(&lines[..ends[0]], b"");
    let watcher = Watcher::over(&file);
    let first = inputs(&bed, &file);
    let state = watcher.state("the first part", |state| state["boundary"] == first);
    assert_eq!((&state["kind"], &state["failure"]), (&Value::from("journal"), &Value::Null));
    // Half a line shows nothing new, and is told.
    let next = lines[ends[1] - 1];
    write(&lines[..ends[1] - 1], &next[..next.len() / 2]);
    let state = watcher.state("word of the tear", |state| state["failure"].is_string());
    assert!(state["failure"].as_str().is_some_and(|text| text.contains("torn")), "{state}");
    assert_eq!(state["boundary"], first);
    // Its rest heals it.
    write(&lines[..ends[1]], b"");
    let second = inputs(&bed, &file);
    assert!(second > first);
    let game = state["game"].clone();
    let state = watcher.state("the second part", |state| state["boundary"] == second);
    assert_eq!((rows(&state), &state["failure"]), (shown(&bed, &file, second), &Value::Null));
    // Less than was read is not believed, whatever has become of the rest; what was shown stays.
    let shorter = |watcher: &Watcher| {
        let state = watcher.state("word of what is gone", |state| state["failure"].is_string());
        assert_eq!((state["boundary"].as_u64(), &state["game"]), (Some(second), &game), "{state}");
        state["failure"].as_str().unwrap_or_default().to_owned()
    };
    let healed = |watcher: &Watcher| {
        write(&lines[..ends[1]], b"");
        watcher.state("the file as it was", |state| state["failure"].is_null() && state["boundary"] == second);
    };
    write(&lines[..ends[0]], b"");
    assert!(shorter(&watcher).contains("shorter"));
    healed(&watcher);
    write(&[], b"");
    assert!(shorter(&watcher).contains("shorter"));
    healed(&watcher);
    std::fs::remove_file(&file).expect("it is there");
    assert!(shorter(&watcher).contains("before is shown"));
    healed(&watcher);
    write(&[], b"no movie at all\n");
    assert!(shorter(&watcher).contains("can't be read any more"));
    std::fs::write(&file, &whole).expect("the file is written");
    let state = watcher.state("the whole", |state| state["boundary"] == 2_500);
    assert_eq!(rows(&state), shown(&bed, &file, 2_500));
    let index = watcher.get_until("/api/machines/main/index", "the index", |index| index["through"] == 2_500);
    let turns = index["turns"]["turns"].as_array().expect("turns");
    let last: i64 = turns.iter().filter_map(Value::as_i64).sum();
    assert_eq!(Some(last), state["turn"].as_i64(), "the index leads to the last turn");
    assert_eq!((&state["game"], &state["notice"]), (&game, &Value::Null), "it was the same game all the time");
}

#[test]
fn another_movie_in_the_file_is_another_game_from_its_own_power_on() {
    let bed = Bed::new();
    let (one, two) = (bed.record("one.movie", 11, 120), bed.record("two.movie", 12, 90));
    let file = bed.path("watched.movie");
    // In place, as another file under the name, and where less of the old one was there first.
    let ways: [fn(&Path, &Path); 3] = [
        |from, to| {
            std::fs::copy(from, to).expect("copied");
        },
        |from, to| {
            let beside = to.with_extension("beside");
            std::fs::copy(from, &beside).expect("copied");
            std::fs::rename(beside, to).expect("renamed");
        },
        |from, to| {
            std::fs::write(to, b"").expect("emptied");
            std::fs::copy(from, to).expect("copied");
        },
    ];
    std::fs::copy(&one, &file).expect("copied");
    let watcher = Watcher::over(&file);
    let mut state = watcher.state("the first", |state| state["boundary"] == 120);
    let mut games = vec![state["game"].clone()];
    assert_eq!(state["notice"], Value::Null);
    for (way, replace) in ways.into_iter().enumerate() {
        let (next, last) = if way % 2 == 0 { (&two, inputs(&bed, &two)) } else { (&one, inputs(&bed, &one)) };
        replace(next, &file);
        let before = games.last().cloned();
        state =
            watcher.state("the other", |state| Some(&state["game"]) != before.as_ref() && state["boundary"] == last);
        assert!(!games.contains(&state["game"]), "way {way}: {state}");
        assert!(state["notice"].as_str().is_some_and(|text| text.contains("replaced")), "way {way}: {state}");
        assert_eq!((rows(&state), &state["failure"]), (shown(&bed, next, last), &Value::Null), "way {way}");
        let (_, first) = watcher.get("/api/machines/main/frames/0");
        assert_eq!(rows(&first["frames"][0]), shown(&bed, next, 0), "way {way}");
        let index = watcher.get_until("/api/machines/main/index", "the index", |index| index["complete"] == true);
        assert_eq!(index["last"], last, "way {way}");
        games.push(state["game"].clone());
    }
}

#[test]
fn an_index_is_not_whole_before_it_was_read() {
    let bed = Bed::new();
    let file = bed.record("game.movie", 7, 2_500);
    let last = inputs(&bed, &file);
    let watcher = Watcher::over(&file);
    // Whenever it is asked for, it tells how far the movie goes, and is whole only with all of it.
    watcher.get_until("/api/machines/main/index", "the index", |index| {
        assert_eq!(index["last"], last, "{index}");
        assert_eq!(index["complete"] == true, index["through"] == last, "{index}");
        index["complete"] == true
    });
}

#[test]
fn what_can_not_be_watched_is_said_before_an_address_is() {
    let bed = Bed::new();
    let file = bed.record("game.movie", 9, 20);
    let watcher = Watcher::over(&file);
    let taken = bed.expect(1, &format!("watch {} --listen {}", file.display(), watcher.address));
    assert!(taken.out.is_empty() && taken.err.contains("is in use"), "{}", taken.err);
    let open = bed.expect(1, &format!("watch {} --listen 0.0.0.0:0", file.display()));
    assert!(open.out.is_empty() && open.err.contains("other machines"), "{}", open.err);
    let text = bed.path("no.movie");
    std::fs::write(&text, "no movie\n").expect("the file is written");
    let refused = bed.expect(3, &format!("watch {}", text.display()));
    assert!(refused.out.is_empty(), "{}", refused.out);
    assert!(bed.expect(2, "watch missing.movie").out.is_empty());
    assert!(bed.expect(2, &format!("watch {} --listen nowhere", file.display())).out.is_empty());
}
