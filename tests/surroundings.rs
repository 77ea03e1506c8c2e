//! The same power-on and keys give the same bytes in any surroundings.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The executable that cargo built beside this test.
fn executable() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test.parent().and_then(Path::parent).expect("tests lie in deps/");
    folder.join("nethack-lab")
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("nethack-lab-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    folder
}

/// Records a game of the explorer's in the surroundings that `prepare` gives it, and returns the movie's bytes.
fn recorded(name: &str, prepare: impl FnOnce(&Path) -> Command) -> Vec<u8> {
    let folder = scratch(name);
    let file = folder.join("game.movie");
    let mut command = prepare(&folder);
    command
        .args(["movie", "record", "--policy", "explore", "--seed", "77", "--role", "valkyrie", "--keys", "1500", "-o"]);
    let output = command.arg(&file).output().expect("the executable runs");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(&file).expect("a movie");
    std::fs::remove_dir_all(&folder).expect("the scratch folder goes");
    bytes
}

fn exists(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn a_movie_is_the_same_in_any_surroundings() {
    let plain = recorded("plain", |_| Command::new(executable()));
    let same = |name: &str, bytes: Vec<u8>| assert!(bytes == plain, "{name}: the movie differs");
    same("again", recorded("again", |_| Command::new(executable())));
    same(
        "bare",
        recorded("bare", |folder| {
            let mut command = Command::new(executable());
            command.env_clear().current_dir(folder);
            command
        }),
    );
    same(
        "abroad",
        recorded("abroad", |_| {
            let mut command = Command::new(executable());
            let elsewhere = [
                ("TZ", "Pacific/Kiritimati"),
                ("LANG", "tr_TR.UTF-8"),
                ("LC_ALL", "C"),
                ("USER", "nobody"),
                ("HOME", "/nonexistent"),
                ("TERM", "dumb"),
                ("NETHACKOPTIONS", "name:Eve,playmode:debug"),
                ("HACKDIR", "/etc"),
            ];
            command.envs(elsewhere).current_dir("/");
            command
        }),
    );
    // A year on, at a full moon, a minute before midnight.
    if exists("faketime") {
        same(
            "another day",
            recorded("faked", |_| {
                let mut command = Command::new("faketime");
                command.arg("2002-03-28 23:59:00").arg(executable());
                command
            }),
        );
    } else {
        eprintln!("faketime is not installed: another date was not tried");
    }
}

#[test]
fn a_movie_is_the_same_under_load() {
    let plain = recorded("idle", |_| Command::new(executable()));
    let movies: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..6)
            .map(|number| scope.spawn(move || recorded(&format!("busy{number}"), |_| Command::new(executable()))))
            .collect();
        runs.into_iter().map(|run| run.join().expect("a run")).collect()
    });
    assert!(movies.iter().all(|movie| *movie == plain), "a movie made under load differs");
}
