//! Playing, under a terminal of its own.
#![expect(clippy::disallowed_methods, reason = "patience has an end")]

use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

use crate::bed::{Bed, executable};

/// How long the other side may take before a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The executable at a terminal.
struct Seat {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    seen: String,
}

impl Seat {
    fn take(dir: &Path, (rows, cols): (u16, u16), arguments: &str) -> Self {
        let pair = native_pty_system().openpty(PtySize { rows, cols, ..PtySize::default() }).expect("a terminal");
        let mut command = CommandBuilder::new(executable());
        command.args(arguments.split_whitespace());
        command.cwd(dir);
        command.env("TERM", "xterm-256color");
        let child = pair.slave.spawn_command(command).expect("the executable runs");
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let writer = pair.master.take_writer().expect("a writer");
        // The terminal ends with its last user; `pair.slave` is dropped here.
        Self { master: pair.master, child, writer, output, seen: String::new() }
    }

    /// Reads until a text has been shown.
    fn await_text(&mut self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.seen.contains(text) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("{text:?} was not shown ({error}):\n{}", self.seen),
            }
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.writer.write_all(keys).and_then(|()| self.writer.flush()).expect("keys are taken");
    }

    fn signal(&self, signal: Signal) {
        let process = self.child.process_id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        kill_process(process.expect("a process"), signal).expect("sent");
    }

    /// Reads to the end; gives the exit status.
    fn leave(&mut self) -> u32 {
        self.await_end();
        self.child.wait().expect("an end").exit_code()
    }

    fn await_end(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return,
                Err(error) => panic!("it did not end ({error}):\n{}", self.seen),
            }
        }
    }

    /// Both screens were taken and given back, and the cursor with them.
    fn check_restored(&self) {
        let (enter, leave) = (self.seen.rfind("\x1b[?1049h"), self.seen.rfind("\x1b[?1049l"));
        assert!(enter.is_some() && enter < leave, "the other screen was not left:\n{}", self.seen);
        let modes = self.master.get_termios().expect("the terminal's modes");
        let flags = format!("{:?}", modes.local_flags);
        assert!(flags.contains("ICANON") && flags.contains("ECHO"), "the terminal is still raw: {flags}");
    }
}

#[test]
fn a_game_is_played_recorded_and_gone_on_from() {
    let bed = Bed::new();
    let mut seat = Seat::take(bed.dir(), (30, 100), "play --seed 8 --role samurai --name Ann -o ann.movie");
    seat.await_text("input 0");
    seat.press(b"s");
    seat.await_text("input 1");
    seat.press(b"\x1b[C");
    seat.await_text("input 2");
    seat.press(b"\x1c");
    assert_eq!(seat.leave(), 0, "{}", seat.seen);
    seat.check_restored();
    let keys = bed.expect(0, "movie keys ann.movie --json").json();
    assert_eq!(keys["keys"], serde_json::json!(["s", "l"]));
    bed.expect(0, "movie verify ann.movie");
    let mut seat = Seat::take(bed.dir(), (30, 100), "play --movie ann.movie -o more.movie");
    seat.await_text("input 2");
    seat.press(b"s");
    seat.await_text("input 3");
    // The first Ctrl-C is a key of the game, the second one leaves.
    seat.press(b"\x03");
    seat.await_text("Ctrl-C once more leaves");
    seat.press(b"\x03");
    assert_eq!(seat.leave(), 0, "{}", seat.seen);
    seat.check_restored();
    let keys = bed.expect(0, "movie keys more.movie --json").json();
    assert_eq!(keys["keys"], serde_json::json!(["s", "l", "s", "CTRL_C"]));
    bed.expect(0, "movie verify more.movie");
    // And once more, from before the first key.
    let mut seat = Seat::take(bed.dir(), (30, 100), "play --movie more.movie --at 1 -o other.movie");
    seat.await_text("input 1");
    seat.press(b".");
    seat.await_text("input 2");
    seat.press(b"\x1c");
    assert_eq!(seat.leave(), 0, "{}", seat.seen);
    let keys = bed.expect(0, "movie keys other.movie --json").json();
    assert_eq!(keys["keys"], serde_json::json!(["s", "."]));
    let info = bed.expect(0, "movie info other.movie --json").json();
    assert_eq!((&info["claimed"]["inputs"], &info["claimed"]["seeks"]), (&5.into(), &1.into()), "{info}");
    bed.expect(0, "movie verify other.movie");
    assert_eq!(bed.files(), ["ann.movie", "more.movie", "other.movie"]);
}

#[test]
fn a_save_state_is_gone_on_from_at_once() {
    let bed = Bed::new();
    bed.record("game.movie", 8, 40);
    bed.expect(0, "state save game.movie --at 30 -o game.state");
    let mut seat = Seat::take(bed.dir(), (30, 100), "play --from game.state -o on.movie");
    seat.await_text("input 30");
    seat.press(b"s");
    seat.await_text("input 31");
    seat.press(b"\x1c");
    assert_eq!(seat.leave(), 0, "{}", seat.seen);
    let verdict = bed.expect(0, "movie verify on.movie --json").json();
    assert_eq!((&verdict["verdict"], &verdict["inputs"]), (&"exact".into(), &31.into()), "{verdict}");
    assert_eq!(bed.files(), ["game.movie", "game.state", "on.movie"]);
}

#[test]
fn a_saved_game_is_over_and_goes_on_from_an_earlier_boundary_only() {
    let bed = Bed::new();
    let mut seat = Seat::take(bed.dir(), (30, 100), "play --seed 8 -o saved.movie");
    seat.await_text("input 0");
    seat.press(b"S");
    seat.await_text("input 1");
    seat.press(b"y");
    seat.await_text("any key leaves");
    seat.press(b"s");
    assert_eq!(seat.leave(), 0, "{}", seat.seen);
    assert!(seat.seen.contains("--movie saved.movie --at BOUNDARY"), "{}", seat.seen);
    assert!(!seat.seen.contains("Go on with"), "{}", seat.seen);
    bed.expect(0, "movie verify saved.movie");
    let mut seat = Seat::take(bed.dir(), (30, 100), "play --movie saved.movie");
    assert_eq!(seat.leave(), 2, "{}", seat.seen);
    assert!(seat.seen.contains("saved.movie: the game is over") && seat.seen.contains("--at"), "{}", seat.seen);
    let mut seat = Seat::take(bed.dir(), (30, 100), "play --movie saved.movie --at 9");
    assert_eq!(seat.leave(), 2, "{}", seat.seen);
    let mut seat = Seat::take(bed.dir(), (30, 100), "play --movie saved.movie --at 1");
    seat.await_text("input 1");
    seat.press(b"\x1c");
    assert_eq!(seat.leave(), 0, "{}", seat.seen);
    assert_eq!(bed.files(), ["saved.movie"]);
}

#[test]
fn a_killed_game_has_lost_no_key_that_was_shown() {
    let bed = Bed::new();
    let mut seat = Seat::take(bed.dir(), (30, 100), "play --seed 8 -o killed.movie");
    for keys in 0..7 {
        seat.await_text(&format!("input {keys}"));
        seat.press(b"s");
    }
    seat.await_text("input 7");
    seat.signal(Signal::KILL);
    seat.await_end();
    let verdict = bed.expect(0, "movie verify killed.movie");
    assert!(verdict.out.contains("exact: 7 inputs"), "{}", verdict.out);
    assert!(verdict.out.contains("it has no end line"), "{}", verdict.out);
    let mut seat = Seat::take(bed.dir(), (30, 100), "play --movie killed.movie -o more.movie");
    seat.await_text("input 7");
    seat.press(b"s");
    seat.await_text("input 8");
    seat.press(b"\x1c");
    assert_eq!(seat.leave(), 0, "{}", seat.seen);
    let verdict = bed.expect(0, "movie verify more.movie").out;
    assert!(verdict.contains("exact: 8 inputs") && !verdict.contains("no end line"), "{verdict}");
}

#[test]
fn a_terminal_that_goes_away_ends_the_game_and_keeps_its_movie() {
    let bed = Bed::new();
    let mut seat = Seat::take(bed.dir(), (30, 100), "play --seed 8 -o alone.movie");
    seat.await_text("input 0");
    seat.press(b"s");
    seat.await_text("input 1");
    let Seat { master, mut child, mut writer, output, .. } = seat;
    // The reader ends with the next text that nobody wants, and the terminal with its last user.
    drop(output);
    writer.write_all(b"s").expect("a key is taken");
    drop((writer, master));
    let mut killer = child.clone_killer();
    let (sender, ended) = channel();
    std::thread::spawn(move || sender.send(child.wait()));
    if ended.recv_timeout(PATIENCE).is_err() {
        killer.kill().expect("killed");
        panic!("it did not end without its terminal");
    }
    let verdict = bed.expect(0, "movie verify alone.movie --json").json();
    assert!(verdict["inputs"].as_u64().is_some_and(|inputs| inputs >= 1), "{verdict}");
    assert!(!bed.expect(0, "movie verify alone.movie").out.contains("no end line"));
    assert_eq!(bed.files(), ["alone.movie"]);
}

#[test]
fn a_signal_leaves_terminal_and_movie_in_order() {
    let bed = Bed::new();
    let mut seat = Seat::take(bed.dir(), (24, 80), "play --seed 8 -o killed.movie");
    // At 24 rows there is no room for the note, so it stands on the map until the first key.
    seat.await_text("Ctrl-\\ leaves");
    seat.press(b"s");
    seat.await_text("T:2");
    seat.signal(Signal::TERM);
    seat.leave();
    seat.check_restored();
    assert!(bed.expect(0, "movie verify killed.movie").out.contains("exact: 1 inputs"));
    assert_eq!(bed.files(), ["killed.movie"]);
}

#[test]
fn a_game_without_a_key_and_a_small_terminal_leave_nothing() {
    let bed = Bed::new();
    let mut seat = Seat::take(bed.dir(), (24, 80), "play --seed 8");
    seat.await_text("Dlvl:1");
    seat.press(b"\x1c");
    assert_eq!(seat.leave(), 0, "{}", seat.seen);
    assert!(seat.seen.contains("Seed 8: no key was pressed"), "{}", seat.seen);
    let mut seat = Seat::take(bed.dir(), (20, 80), "play --seed 8");
    assert_eq!(seat.leave(), 2, "{}", seat.seen);
    assert!(seat.seen.contains("NetHack needs 80 and 24"), "{}", seat.seen);
    assert_eq!(bed.files(), Vec::<String>::new());
}
