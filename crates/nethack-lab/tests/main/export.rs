//! Recordings and pictures of movies.

use std::fs;
use std::path::Path;

use wire::Key;

use crate::bed::Bed;

/// The frames of a ttyrec: microseconds and bytes.
fn frames(path: &Path) -> Vec<(u64, Vec<u8>)> {
    let bytes = fs::read(path).expect("a ttyrec");
    let mut rest = bytes.as_slice();
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let (header, after) = rest.split_first_chunk::<12>().expect("a header");
        let numbers = header.as_chunks().0;
        let [seconds, micros, length] = [0, 1, 2].map(|at: usize| u64::from(u32::from_le_bytes(numbers[at])));
        let (text, after) = after.split_at(length as usize);
        frames.push((seconds * 1_000_000 + micros, text.to_vec()));
        rest = after;
    }
    frames
}

fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).expect("a cast");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn one_replay_writes_every_format() {
    let bed = Bed::new();
    bed.record("game.movie", 11, 60);
    let told = bed.expect(
        0,
        "movie export game.movie --ttyrec game.ttyrec --cast game.cast --keys --png game.png --text game.txt",
    );
    assert!(told.out.contains("game.ttyrec: 61 frames, 6.0 s, "), "{}", told.out);
    assert!(told.out.contains("game.png: 1 picture of 1280 x 768, "), "{}", told.out);
    assert_eq!(told.err, "", "a short movie is quick");
    let shown = bed.expect(0, "movie show game.movie").out;
    let text = fs::read_to_string(bed.path("game.txt")).expect("a text");
    assert_eq!(text, shown.split_once('\n').expect("a title").1, "the last screen, as `movie show` has it");
    let frames = frames(&bed.path("game.ttyrec"));
    assert_eq!(frames.len(), 61, "a frame for each boundary");
    assert!(frames.iter().enumerate().all(|(at, frame)| frame.0 == at as u64 * 100_000), "ten inputs a second");
    let lines = lines(&bed.path("game.cast"));
    assert_eq!(lines[0]["title"], "NetHack 3.6.7, seed 11");
    let of = |kind: &str| lines.iter().filter(|line| line[1] == kind).collect::<Vec<_>>();
    let (shown, keys) = (of("o"), of("i"));
    assert_eq!((shown.len(), keys.len()), (61, 60));
    let equal = shown.iter().zip(&frames).all(|(line, frame)| line[2].as_str().map(str::as_bytes) == Some(&frame.1));
    assert!(equal, "both recordings show the same");
    let named = bed.expect(0, "movie keys game.movie --json").json();
    let typed: Vec<_> = keys
        .iter()
        .map(|line| Key::name(Key(line[2].as_str().and_then(|key| key.bytes().next()).expect("a key"))))
        .collect();
    assert_eq!(serde_json::json!(typed), named["keys"]);
    assert_eq!(bed.files(), ["game.cast", "game.movie", "game.png", "game.ttyrec", "game.txt"]);
}

#[test]
fn a_part_can_be_asked_for() {
    let bed = Bed::new();
    bed.record("game.movie", 11, 60);
    bed.expect(0, "movie export game.movie --ttyrec part.ttyrec --from 10 --to 30 --every 7 --inputs-per-second 100");
    let times: Vec<_> = frames(&bed.path("part.ttyrec")).iter().map(|frame| frame.0).collect();
    assert_eq!(times, [0, 70_000, 140_000, 160_000], "boundaries 14, 21, 28 and 30");
    bed.expect(0, "movie export game.movie --cast part.cast --keys --from 10 --to 30 --every 7");
    let lines = lines(&bed.path("part.cast"));
    let keys: Vec<_> = lines.iter().filter(|line| line[1] == "i").map(|line| line[0].as_f64()).collect();
    assert_eq!(keys.len(), 16, "inputs 14 to 29");
    assert_eq!((keys[0], keys[15]), (Some(0.1), Some(1.6)));
    let at = |boundary: u32, out: &str| {
        bed.expect(0, &format!("movie export game.movie --text {out} --at {boundary}"));
        fs::read_to_string(bed.path(out)).expect("a text")
    };
    bed.expect(0, "movie export game.movie --png shots --text all.txt --every 25 --scale 1");
    let all = fs::read_to_string(bed.path("all.txt")).expect("a text");
    let screens: Vec<_> = all.split("boundary ").skip(1).filter_map(|screen| screen.split_once(", turn ")).collect();
    assert_eq!(screens.iter().map(|screen| screen.0).collect::<Vec<_>>(), ["0", "25", "50", "60"]);
    assert!(screens[1].1.ends_with(&at(25, "25.txt")) && screens[3].1.ends_with(&at(60, "60.txt")));
    let mut shots: Vec<_> = fs::read_dir(bed.path("shots"))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    shots.sort();
    assert_eq!(shots, ["0000000.png", "0000025.png", "0000050.png", "0000060.png"]);
    bed.expect(0, "movie export game.movie --png one.png --at 50 --scale 1");
    let same = fs::read(bed.path("one.png")).expect("read") == fs::read(bed.path("shots/0000050.png")).expect("read");
    assert!(same, "a picture does not depend on the others");
}

#[test]
fn what_is_there_is_never_touched_and_nothing_half_is_left() {
    let bed = Bed::new();
    bed.record("game.movie", 11, 30);
    fs::write(bed.path("kept"), "mine").expect("written");
    fs::create_dir(bed.path("shots")).expect("made");
    for arguments in ["--ttyrec kept", "--cast kept", "--png kept", "--text kept", "--png shots --every 5"] {
        let ran = bed.expect(1, &format!("movie export game.movie {arguments}"));
        assert!(ran.err.contains("exists already"), "{arguments}: {}", ran.err);
    }
    bed.expect(1, "movie export game.movie --ttyrec new.ttyrec --text kept");
    bed.expect(1, "movie export game.movie --ttyrec twice --cast twice");
    bed.expect(1, "movie export game.movie --ttyrec no/where.ttyrec");
    assert_eq!(fs::read_to_string(bed.path("kept")).expect("read"), "mine");
    assert_eq!(bed.files(), ["game.movie", "kept", "shots"]);
}

#[test]
fn wrong_wishes_exit_with_2() {
    let bed = Bed::new();
    bed.record("game.movie", 11, 30);
    for arguments in [
        "",
        "--png x --at 31",
        "--png x --from 3",
        "--text x --png y --from 3 --to 9",
        "--ttyrec -",
        "--cast -",
        "--png -",
        "--png - --every 5",
        "--text -",
        "--ttyrec x --to 31",
        "--ttyrec x --at 3",
        "--ttyrec x --from 20 --to 10",
        "--png x --at 3 --every 2",
        "--png x --scale 3",
        "--png x --every 0",
        "--ttyrec x --keys",
        "--cast x --inputs-per-second 0",
    ] {
        bed.expect(2, &format!("movie export game.movie {arguments}"));
    }
    bed.expect(2, "movie export nowhere.movie --ttyrec x");
    assert_eq!(bed.files(), ["game.movie"]);
}

#[test]
fn nothing_is_exported_of_a_movie_that_does_not_replay() {
    let bed = Bed::new();
    let game = bed.record("game.movie", 11, 80);
    let mut movie = ::movie::read(&fs::read(&game).expect("read")).expect("a movie").movie;
    let key = &mut movie.steps[30].key;
    *key = if *key == Key(b's') { Key(b'h') } else { Key(b's') };
    fs::write(bed.path("forged.movie"), ::movie::export(&movie).expect("a movie")).expect("written");
    movie.header.engine_id = "0".repeat(64);
    fs::write(bed.path("other.movie"), ::movie::export(&movie).expect("a movie")).expect("written");
    fs::write(bed.path("text.movie"), "no movie\n").expect("written");
    let before = bed.files();
    // Not even a part that lies before the difference: the movie is not what it says.
    for arguments in ["--ttyrec x --to 10", "--png x --at 80", "--png shots --every 10"] {
        let ran = bed.expect(1, &format!("movie export forged.movie {arguments}"));
        assert!(ran.err.contains("does not replay here") && ran.err.contains("after input 30"), "{}", ran.err);
    }
    let other = bed.expect(3, "movie export other.movie --ttyrec x");
    assert!(other.err.contains("use --rom with the ROM that made it"), "{}", other.err);
    bed.expect(3, "movie export text.movie --ttyrec x");
    assert_eq!(bed.files(), before);
}

#[test]
fn an_edited_text_is_told_and_a_torn_journal_is_exported_to_its_tear() {
    let bed = Bed::new();
    let game = bed.record("game.movie", 11, 40);
    let text = fs::read_to_string(game).expect("read");
    let creator = format!("nethack-lab {}", env!("CARGO_PKG_VERSION"));
    fs::write(bed.path("edited.movie"), text.replacen(&creator, "nethack-lab 9.9.9", 1)).expect("written");
    let edited = bed.expect(0, "movie export edited.movie --ttyrec edited.ttyrec");
    assert!(edited.err.contains("altered"), "{}", edited.err);
    fs::write(bed.path("torn.movie"), &text[..text.len() - 5]).expect("written");
    bed.expect(0, "movie export torn.movie --ttyrec torn.ttyrec");
    assert_eq!(frames(&bed.path("edited.ttyrec")), frames(&bed.path("torn.ttyrec")));
}

#[test]
fn a_worker_exports_the_same_bytes() {
    let bed = Bed::new();
    bed.record("game.movie", 11, 60);
    bed.expect(0, "rom export own.rom");
    for (rom, name) in [("", "here"), ("--rom own.rom", "worker")] {
        let part = "--from 5 --to 55 --every 5";
        bed.expect(0, &format!("{rom} movie export game.movie --cast {name}.cast --keys {part}"));
        bed.expect(0, &format!("{rom} movie export game.movie --png {name}.png --at 33"));
    }
    for (here, worker) in [("here.cast", "worker.cast"), ("here.png", "worker.png")] {
        let same = fs::read(bed.path(here)).expect("read") == fs::read(bed.path(worker)).expect("read");
        assert!(same, "{here} and {worker} differ");
    }
}

#[test]
fn a_game_that_ended_is_exported_to_its_last_screen() {
    let bed = Bed::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../movies/healer.movie");
    let golden = golden.display();
    bed.expect(0, &format!("movie export {golden} --ttyrec end.ttyrec --text end.txt"));
    let inputs = bed.expect(0, &format!("movie info {golden} --json")).json()["inputs"].as_u64().expect("a number");
    assert_eq!(frames(&bed.path("end.ttyrec")).len() as u64, inputs + 1);
    let shown = bed.expect(0, &format!("movie show {golden}")).out;
    let text = fs::read_to_string(bed.path("end.txt")).expect("a text");
    assert_eq!(text, shown.split_once('\n').expect("a title").1);
}
