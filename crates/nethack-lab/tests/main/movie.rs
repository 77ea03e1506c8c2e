//! Recording, looking at and judging movies.

use std::fs;
use std::path::Path;

use wire::Key;

use crate::bed::Bed;

/// Writes a movie again with one key changed, as somebody with the right tools would.
fn forge(from: &Path, to: &Path, input: usize) {
    let mut movie = ::movie::read(&fs::read(from).expect("read")).expect("a movie").movie;
    let key = &mut movie.steps[input].key;
    *key = if *key == Key(b's') { Key(b'h') } else { Key(b's') };
    fs::write(to, ::movie::export(&movie).expect("a movie")).expect("written");
}

#[test]
fn a_recorded_game_verifies_as_exact_and_shows_its_screens() {
    let bed = Bed::new();
    bed.record("game.movie", 11, 120);
    let info = bed.expect(0, "movie info game.movie --json").json();
    assert_eq!(info["inputs"], 120);
    assert_eq!(info["power_on"]["core_seed"], "11");
    let text = bed.expect(0, "movie info game.movie").out;
    let first: Vec<&str> = text.lines().take(4).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(first, ["seed", "hero", "inputs", "finish"], "{text}");
    let verdict = bed.expect(0, "movie verify game.movie --json").json();
    assert_eq!((&verdict["verdict"], &verdict["inputs"]), (&"exact".into(), &120.into()));
    let last = bed.expect(0, "movie show game.movie").out;
    assert!(last.contains("boundary 120") && last.contains("Dlvl:") && last.contains('@'), "{last}");
    assert_eq!(bed.expect(0, "movie show game.movie --at 120").out, last);
    let screens = bed.expect(0, "movie show game.movie --every 50").out;
    let boundaries: Vec<&str> = screens.lines().filter(|line| line.starts_with("boundary ")).collect();
    assert_eq!(boundaries.len(), 4, "0, 50, 100 and 120: {boundaries:?}");
    assert!(screens.ends_with(&last), "the last screen is the same either way");
    bed.expect(2, "movie show game.movie --at 121");
    let keys = bed.expect(0, "movie keys game.movie --json").json();
    assert_eq!(keys["keys"].as_array().map(Vec::len), Some(120));
    assert_eq!(bed.files(), ["game.movie"]);
}

#[test]
fn a_torn_movie_says_so_beside_its_verdict() {
    let bed = Bed::new();
    let game = fs::read(bed.record("game.movie", 11, 40)).expect("read");
    assert!(!bed.expect(0, "movie verify game.movie").out.contains("end"));
    fs::write(bed.path("torn.movie"), &game[..game.len() - 5]).expect("written");
    let text = bed.expect(0, "movie verify torn.movie").out;
    assert!(text.contains("it has no end line: it may go on") && text.contains("torn bytes"), "{text}");
}

#[test]
fn a_drawn_seed_is_told() {
    let bed = Bed::new();
    let told = bed.expect(0, "movie record --keys 5 -o drawn.movie").out;
    let info = bed.expect(0, "movie info drawn.movie --json").json();
    let seed = info["power_on"]["core_seed"].as_str().expect("a seed");
    assert!(told.contains(&format!("seed {seed},")), "{told}");
}

#[test]
fn equal_records_make_equal_files() {
    let bed = Bed::new();
    let (a, b) = (bed.record("a.movie", 4, 60), bed.record("b.movie", 4, 60));
    assert!(fs::read(a).expect("read") == fs::read(b).expect("read"), "seed 4, 60 keys: the files differ");
}

#[test]
fn a_changed_input_is_named_and_exits_with_1() {
    let bed = Bed::new();
    let game = bed.record("game.movie", 11, 80);
    forge(&game, &bed.path("forged.movie"), 30);
    let verdict = bed.expect(1, "movie verify forged.movie --json").json();
    assert_eq!(verdict["verdict"], "desync");
    assert_eq!(verdict["first_difference"]["input"], 30, "{verdict}");
    let (before, after) =
        (&verdict["first_difference"]["screen_before"], &verdict["first_difference"]["screen_replayed"]);
    assert!(before.is_string() && after.is_string(), "{verdict}");
    let text = bed.expect(1, "movie verify forged.movie").out;
    assert!(text.contains("after input 30"), "{text}");
    let shown = bed.expect(1, "movie show forged.movie");
    assert!(shown.err.contains("not what was recorded"), "{}", shown.err);
}

#[test]
fn another_power_on_is_called_that_and_not_an_input() {
    let bed = Bed::new();
    let game = bed.record("game.movie", 11, 80);
    let mut movie = ::movie::read(&fs::read(game).expect("read")).expect("a movie").movie;
    movie.header.power_on.core_seed.0 += 1;
    fs::write(bed.path("other.movie"), ::movie::export(&movie).expect("a movie")).expect("written");
    let text = bed.expect(1, "movie verify other.movie").out;
    assert!(text.contains("before any input") && text.contains("power-on record or the engine is another"), "{text}");
    // Without a digest of power-on, the first input is the first to tell.
    movie.marks.clear();
    fs::write(bed.path("bare.movie"), ::movie::export(&movie).expect("a movie")).expect("written");
    let text = bed.expect(1, "movie verify bare.movie").out;
    assert!(text.contains("after input 0") && text.contains("power-on record, the engine or this input"), "{text}");
    assert!(!text.contains("in common"), "{text}");
}

#[test]
fn an_edit_of_the_text_alone_exits_with_1() {
    let bed = Bed::new();
    let game = bed.record("game.movie", 11, 40);
    let text = fs::read_to_string(game).expect("read");
    let creator = format!("nethack-lab {}", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&creator), "the header names its writer");
    fs::write(bed.path("edited.movie"), text.replacen(&creator, "nethack-lab 9.9.9", 1)).expect("written");
    let verdict = bed.expect(1, "movie verify edited.movie --json").json();
    assert_eq!(verdict["verdict"], "altered", "{verdict}");
}

#[test]
fn what_cannot_be_judged_exits_with_3() {
    let bed = Bed::new();
    let game = bed.record("game.movie", 11, 20);
    fs::write(bed.path("text.movie"), "no movie\n").expect("written");
    fs::write(bed.path("empty.movie"), "").expect("written");
    let mut other = ::movie::read(&fs::read(game).expect("read")).expect("a movie").movie;
    other.header.engine_id = "0".repeat(64);
    fs::write(bed.path("other.movie"), ::movie::export(&other).expect("a movie")).expect("written");
    for file in ["text.movie", "empty.movie", "other.movie"] {
        let verdict = bed.expect(3, &format!("movie verify {file} --json")).json();
        assert_eq!(verdict["verdict"], "cannot-judge", "{file}: {verdict}");
        assert!(verdict["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{verdict}");
    }
    for command in ["movie info text.movie", "movie show text.movie"] {
        let ran = bed.expect(3, command);
        assert!(ran.err.contains("text.movie: "), "{command}: {}", ran.err);
    }
    assert!(bed.expect(3, "movie verify other.movie").out.contains("use --rom with the ROM that made it"));
}

#[test]
fn a_game_that_ends_is_recorded_to_its_end_and_steps_back_only_when_asked() {
    let bed = Bed::new();
    // This archaeologist dies within these keys, whatever its end is.
    let seed = 52;
    let record = format!("movie record --seed {seed} --role archeologist --keys 2500");
    bed.expect(0, &format!("{record} -o died.movie"));
    let died = bed.expect(0, "movie info died.movie --json").json();
    assert_eq!(died["finish"]["kind"], "died", "seed {seed}: {died}");
    bed.expect(0, "movie verify died.movie");
    bed.expect(0, &format!("{record} --survive -o lived.movie"));
    let lived = bed.expect(0, "movie verify lived.movie --json").json();
    assert_eq!((&lived["verdict"], &lived["inputs"]), (&"exact".into(), &2500.into()), "seed {seed}");
}

#[test]
fn a_verdict_tells_what_the_movie_holds_and_claims() {
    let bed = Bed::new();
    let game = bed.record("game.movie", 11, 20);
    let plain = bed.expect(0, "movie verify game.movie").out;
    assert!(!plain.contains("operator") && !plain.contains("claims"), "{plain}");
    let verdict = bed.expect(0, "movie verify game.movie --json").json();
    assert_eq!((&verdict["remarks"], &verdict["edits"]), (&serde_json::Value::Null, &0.into()), "{verdict}");
    let mut movie = ::movie::read(&fs::read(game).expect("read")).expect("a movie").movie;
    (movie.account.forks, movie.account.peeks, movie.account.seeks) = (3, 1, 1);
    movie.account.inputs += 5;
    fs::write(bed.path("claims.movie"), ::movie::export(&movie).expect("a movie")).expect("written");
    let remarks = "claims: 1 look ahead, 3 forks, 1 seek, 5 inputs taken back";
    let told = bed.expect(0, "movie verify claims.movie").out;
    assert!(told.contains("exact") && told.contains(remarks), "{told}");
    for command in ["movie verify claims.movie --json", "movie info claims.movie --json"] {
        let object = bed.expect(0, command).json();
        assert_eq!((&object["remarks"], &object["claimed"]["forks"]), (&remarks.into(), &3.into()), "{object}");
    }
}

#[test]
fn another_kind_of_file_is_called_what_it_is() {
    let bed = Bed::new();
    bed.record("game.movie", 11, 20);
    bed.expect(0, "state save game.movie -o game.state");
    bed.expect(0, "tree save game.movie -o game.tree");
    assert!(bed.expect(3, "movie verify game.state").out.contains("`nethack-lab state movie`"));
    assert!(bed.expect(3, "movie info game.state").err.contains("this is a save state"));
    assert!(bed.expect(3, "movie verify game.tree").out.contains("`nethack-lab tree movie`"));
    assert!(bed.expect(3, "state info game.movie").err.contains("`nethack-lab movie info`"));
    assert!(bed.expect(3, "state info game.tree").err.contains("this is a tree"));
    assert!(bed.expect(3, "tree info game.state").err.contains("this is a save state"));
}
