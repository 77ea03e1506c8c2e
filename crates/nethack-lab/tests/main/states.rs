//! Save states and trees from outside: each command is a process of its own, so all that it knows is in the file.

use std::fs;
use std::process::Command;

use lab::{Control, Lab, LabOptions};
use wire::{Batch, Character, Key, PowerOn, Role, Seed};

use crate::bed::{Bed, Ran, executable};

/// The keys to a place where a game is stopped, in the names that `movie keys` has for them.
const PLACES: [(&str, &str); 8] = [
    ("bare map", "s"),
    ("mid --More--", "# l e v e l c h a n g e ENTER 1 4 ENTER"),
    ("a menu's second page", "O >"),
    ("a half-typed #pr", "# p r"),
    ("a half-typed count", "2 0"),
    ("a position's cursor", "; l l k"),
    ("a half-typed wish", "CTRL_W 2 SPACE b l e s s e d SPACE s"),
    ("a level-up text", "# l e v e l c h a n g e ENTER 2 ENTER"),
];

/// Ordinary keys that depend on a seed.
fn mix(seed: u64, count: usize) -> Vec<Key> {
    const MIX: &[u8] = b"hjklyubnhjklyubnHJKLYUBNssss..,,io:;@rqdtzaPTWV<>\x1b\x1b\x1b\x1b\r\r  ynqa1234";
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Key(MIX[(state % MIX.len() as u64) as usize])
    };
    (0..count).map(|_| next()).collect()
}

fn named(text: &str) -> Vec<Key> {
    text.split_whitespace().map(|name| name.parse().expect("a key")).collect()
}

fn names(keys: &[Key]) -> String {
    keys.iter().map(|key| key.name()).collect::<Vec<_>>().join(" ")
}

fn expect(bed: &Bed, status: i32, arguments: &[&str]) -> Ran {
    let output = Command::new(executable()).args(arguments).current_dir(bed.dir()).output().expect("it runs");
    let ran = Ran::of(&output);
    assert_eq!(ran.status, Some(status), "{arguments:?}\n{}\n{}", ran.out, ran.err);
    ran
}

/// A game in debug mode, so that there are wishes.
fn debug_game() -> PowerOn {
    let character = Character { role: Some(Role::Wizard), ..Character::default() };
    PowerOn { debug: true, character, ..PowerOn::from_seed(Seed(11)) }
}

/// The movie of keys pressed in one go, which knows nothing of save states.
fn played(lab: &Lab, keys: Vec<Key>) -> Vec<u8> {
    let game = lab.new_game(debug_game(), false).expect("a game");
    lab.run(game.machine, game.revision, &Batch::forced(keys), &Control::default()).expect("a run");
    lab.movie(game.machine).expect("a movie")
}

#[test]
fn a_fresh_process_goes_on_from_any_prompt() {
    let bed = Bed::new();
    let lab = Lab::new(LabOptions::new(executable())).expect("a lab");
    // The same ROM from a file of its own, as another build of it is.
    bed.expect(0, "rom export own.rom");
    for (number, (place, keys)) in PLACES.iter().enumerate() {
        let (start, next) = (named(&format!("ENTER ENTER ESC ESC s {keys}")), mix(number as u64 + 1, 200));
        let (movie, state, on) = (format!("{number}.movie"), format!("{number}.state"), format!("{number}.on.movie"));
        fs::write(bed.path(&movie), played(&lab, start.clone())).expect("written");
        expect(&bed, 0, &["state", "save", &movie, "-o", &state]);
        let rom: &[&str] = if number % 2 == 0 { &[] } else { &["--rom", "own.rom"] };
        let pressed = names(&next);
        let load = [rom, &["state", "load", &state, "--json", "--keys", &pressed, "-o", &on]].concat();
        let loaded = expect(&bed, 0, &load).json();
        let straight = ::movie::read(&played(&lab, [start.clone(), next].concat())).expect("a movie").movie;
        let resumed = ::movie::read(&fs::read(bed.path(&on)).expect("read")).expect("a movie").movie;
        // Each check is of the frame and both generators after an input; the last mark has the whole memory's digest.
        let parted = straight.steps.iter().zip(&resumed.steps).position(|(a, b)| a != b);
        assert_eq!(parted, None, "{place}: input {parted:?}, the state is at {}", start.len());
        assert_eq!((straight.steps.len(), &straight.finish), (resumed.steps.len(), &resumed.finish), "{place}");
        assert_eq!(straight.marks.last(), resumed.marks.last(), "{place}");
        assert_eq!(loaded["boundary"], resumed.steps.len(), "{place}");
        let verdict = bed.expect(0, &format!("movie verify {on} --json")).json();
        assert_eq!(verdict["verdict"], "exact", "{place}");
    }
}

#[test]
fn what_is_loaded_is_what_is_shown_and_can_be_saved_again() {
    let bed = Bed::new();
    bed.record("game.movie", 3, 120);
    bed.expect(0, "state save game.movie --at 80 -o early.state");
    let info = bed.expect(0, "state info early.state --json").json();
    assert_eq!((&info["boundary"], &info["rom_is_ours"], &info["seed"]), (&80.into(), &true.into(), &"3".into()));
    let shown = bed.expect(0, "movie show game.movie --at 80").out;
    assert_eq!(bed.expect(0, "state load early.state").out, shown);
    // Twenty keys further, saved again, twenty more: the same as forty.
    let keys = mix(9, 40);
    let (first, second) = keys.split_at(20);
    expect(&bed, 0, &["state", "load", "early.state", "--keys", &names(first), "--save", "later.state"]);
    let twice = expect(&bed, 0, &["state", "load", "later.state", "--json", "--keys", &names(second)]).json();
    let once = expect(&bed, 0, &["state", "load", "early.state", "--json", "--keys", &names(&keys)]).json();
    assert_eq!(twice, once);
    assert!(once["state_digest"].is_string() && once["boundary"].as_u64() > Some(80), "{once}");
    assert_eq!(bed.files(), ["early.state", "game.movie", "later.state"]);
    for arguments in ["state save game.movie -o early.state", "state load early.state --save game.movie"] {
        assert!(bed.expect(1, arguments).err.contains("exists already"), "{arguments}");
    }
    assert!(bed.expect(2, "state save game.movie --at 121 -o x.state").err.contains("last boundary is 120"));
    assert!(expect(&bed, 2, &["state", "load", "early.state", "--keys", "NOKEY"]).err.contains("NOKEY"));
    assert_eq!(bed.files(), ["early.state", "game.movie", "later.state"]);
}

#[test]
fn a_damaged_state_is_refused_and_its_movie_saved() {
    let bed = Bed::new();
    bed.record("game.movie", 5, 60);
    bed.expect(0, "state save game.movie -o game.state");
    let whole = fs::read(bed.path("game.state")).expect("read");
    let flipped = |bit: usize| {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    };
    let bits = whole.len() * 8;
    let cases = [
        flipped(3),
        flipped(65),
        flipped(130),
        flipped(400),
        flipped(bits / 2),
        flipped(bits - 300),
        flipped(bits - 1),
        whole[..whole.len() - 1].to_vec(),
        whole[..whole.len() / 2].to_vec(),
        whole[..10].to_vec(),
        Vec::new(),
        [&whole[..], b"\n"].concat(),
        fs::read(bed.path("game.movie")).expect("read"),
    ];
    for (number, bytes) in cases.iter().enumerate() {
        fs::write(bed.path("bad.state"), bytes).expect("written");
        for command in ["state load bad.state --save new.state -o new.movie", "state info bad.state"] {
            let ran = bed.expect(3, command);
            assert!(ran.err.contains("bad.state: ") && ran.out.is_empty(), "{number}: {command}: {}", ran.err);
        }
        assert_eq!(bed.files(), ["bad.state", "game.movie", "game.state"], "case {number}");
    }
    // The state's own bytes are damaged, the movie before them is not.
    fs::write(bed.path("bad.state"), flipped(bits - 300)).expect("written");
    let refused = bed.expect(3, "state load bad.state").err;
    assert!(refused.contains("the movie inside is whole"), "{refused}");
    let rescued = bed.expect(0, "state movie bad.state -o out.movie");
    assert!(rescued.err.contains("damaged"), "{}", rescued.err);
    assert!(bed.expect(0, "movie verify out.movie").out.contains("exact"));
    bed.expect(0, "state movie game.state -o whole.movie");
    assert_eq!(fs::read(bed.path("whole.movie")).expect("read"), fs::read(bed.path("out.movie")).expect("read"));
}

#[test]
fn a_writer_that_is_killed_leaves_nothing_under_the_name() {
    let bed = Bed::new();
    bed.record("game.movie", 6, 200);
    bed.expect(0, "state save game.movie -o game.state");
    let before = bed.files();
    for command in ["state movie game.state -o out.movie", "rom export out.rom"] {
        // The system kills whoever writes more than 512 bytes.
        let limited = Command::new("sh")
            .args(["-c", "ulimit -c 0 && ulimit -f 1 && exec \"$0\" \"$@\"", executable()])
            .args(command.split(' '))
            .current_dir(bed.dir())
            .output()
            .expect("it runs");
        assert!(!limited.status.success(), "{command}");
        assert_eq!(bed.files(), before, "{command}");
    }
}

/// A ROM that differs in a byte of which no instruction takes notice: other ROM id, same engine id.
fn other_rom(bed: &Bed) {
    bed.expect(0, "rom export own.rom");
    let mut bytes = fs::read(bed.path("own.rom")).expect("read");
    let flags = bed.expect(0, "rom --json").json()["compiler"].as_str().expect("a compiler").to_owned();
    let at = bytes.windows(flags.len()).position(|window| window == flags.as_bytes()).expect("the compiler's name");
    bytes[at] ^= 0x20;
    fs::write(bed.path("other.rom"), bytes).expect("written");
}

#[test]
fn another_build_is_named_and_the_movie_rebuilds_the_state() {
    let bed = Bed::new();
    other_rom(&bed);
    let ids = ["rom --json", "--rom other.rom rom --json"].map(|command| {
        let about = bed.expect(0, command).json();
        (about["engine_id"].as_str().expect("an id").to_owned(), about["rom_id"].as_str().expect("an id").to_owned())
    });
    let [(engine, own), (other_engine, other)] = ids;
    assert!(engine == other_engine && own != other);
    bed.record("game.movie", 7, 60);
    bed.expect(0, "state save game.movie -o game.state");
    let ran = bed.expect(3, "--rom other.rom state load game.state");
    for part in ["game.state", &own, &other, "state movie", "the movie inside rebuilds it"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    bed.expect(0, "state movie game.state -o out.movie");
    assert!(bed.expect(0, "--rom other.rom movie verify out.movie").out.contains("same-play"));
    bed.expect(0, "--rom other.rom state save out.movie -o other.state");
    let loaded = [("state load game.state --json"), ("--rom other.rom state load other.state --json")];
    let [before, after] = loaded.map(|command| bed.expect(0, command).json());
    assert_eq!((&before["screen"], &before["play_digest"]), (&after["screen"], &after["play_digest"]));
    bed.expect(3, "state load other.state");
}

#[test]
fn a_tree_is_carried_checked_rebuilt_and_taken_apart() {
    let bed = Bed::new();
    other_rom(&bed);
    bed.record("game.movie", 9, 150);
    bed.expect(0, "tree save game.movie --at 50 --at 100 --at 100 -o game.tree");
    let info = bed.expect(0, "tree info game.tree --json").json();
    let machines = info["machines"].as_array().expect("machines");
    let boundaries: Vec<_> = machines.iter().map(|machine| machine["boundary"].as_u64()).collect();
    assert_eq!(boundaries, [150, 50, 100, 100].map(Some), "{info}");
    assert!(bed.expect(0, "tree info game.tree").out.contains("a fork of m"), "{info}");
    assert!(bed.expect(0, "tree check game.tree").out.contains("4 machines"));
    let ran = bed.expect(3, "--rom other.rom tree check game.tree");
    assert!(ran.err.contains("tree rebuild"), "{}", ran.err);
    bed.expect(0, "--rom other.rom tree rebuild game.tree -o other.tree");
    let checks = [("tree check game.tree --json"), ("--rom other.rom tree check other.tree --json")];
    let [before, after] = checks.map(|command| bed.expect(0, command).json());
    let digests = |checked: &serde_json::Value| -> Vec<serde_json::Value> {
        let machines = checked["machines"].as_array().expect("machines");
        machines.iter().map(|machine| machine["play_digest"].clone()).collect()
    };
    assert_eq!(digests(&before), digests(&after));
    let fork = machines[1]["machine"].as_u64().expect("a number");
    bed.expect(0, &format!("tree movie game.tree --machine {fork} -o fork.movie"));
    assert!(bed.expect(0, "movie verify fork.movie").out.contains("exact: 50 inputs"));
    assert!(bed.expect(2, "tree movie game.tree --machine 999 -o x.movie").err.contains("the tree has"));
    let mut bytes = fs::read(bed.path("game.tree")).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(bed.path("bad.tree"), bytes).expect("written");
    for command in ["tree check bad.tree", "tree info bad.tree", "tree rebuild bad.tree -o x.tree"] {
        let ran = bed.expect(3, command);
        assert!(ran.err.contains("damaged"), "{command}: {}", ran.err);
    }
    assert!(!bed.files().iter().any(|name| name.starts_with("x.")));
}

#[test]
fn what_can_not_be_read_or_written_is_said_before_anything_is_done() {
    let bed = Bed::new();
    bed.record("game.movie", 5, 40);
    bed.expect(0, "state save game.movie -o game.state");
    bed.expect(0, "tree save game.movie -o game.tree");
    let ran = bed.expect(2, "state load game.state -o one --save ./one");
    assert!(ran.err.contains("same file"), "{}", ran.err);
    let ran = bed.expect(2, "tree save game.movie --at 99999 -o x.tree");
    assert!(ran.err.contains("game.movie") && ran.err.contains("99999"), "{}", ran.err);
    fs::create_dir(bed.path("folder")).expect("a directory");
    let fifo = rustix::fs::mknodat(
        rustix::fs::CWD,
        bed.path("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    );
    fifo.expect("a pipe");
    for file in ["folder", "pipe", "/dev/zero"] {
        for command in [
            "state info F",
            "state load F",
            "state movie F -o x.movie",
            "state save F -o x.state",
            "tree info F",
            "tree check F",
            "tree save F -o x.tree",
            "tree rebuild F -o x.tree",
            "tree movie F --machine 1 -o x.movie",
            "movie info F",
            "movie verify F",
            "movie keys F",
        ] {
            let ran = bed.expect(2, &command.replace('F', file));
            assert!(ran.err.contains("not a regular file"), "{command} of {file}: {}", ran.err);
        }
    }
    for command in ["tree info game.state", "tree check game.state"] {
        let ran = bed.expect(3, command);
        assert!(ran.err.contains("not a tree that can be used"), "{command}: {}", ran.err);
    }
    let ran = bed.expect(3, "state info game.tree");
    assert!(ran.err.contains("not a save state that can be used"), "{}", ran.err);
    let help = bed.expect(0, "tree rebuild --help").out;
    assert!(help.contains("tree") && !help.contains("movie") && !help.contains("save state"), "{help}");
    assert!(!bed.files().iter().any(|name| name.starts_with("x.") || name == "one"));
}
