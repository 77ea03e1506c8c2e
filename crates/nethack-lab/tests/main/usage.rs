//! What is refused before anything is done.

use crate::bed::Bed;

#[test]
fn wrong_commands_exit_with_2_and_leave_nothing() {
    let bed = Bed::new();
    for arguments in [
        "",
        "nonsense",
        "demo --seed x",
        "movie",
        "movie verify",
        "movie verify no-such-file",
        "movie show no-such-file --at 1 --every 2",
        "movie record --seed 1 --keys 0 -o a.movie",
        "movie record --seed 1 --keys 5 --role nobody -o a.movie",
        "movie record --seed 1 --keys 5 --role samurai --race dwarf -o a.movie",
        "movie record --seed 1 --keys 5 --options playmode:debug -o a.movie",
        "movie record --seed 1 --keys 5 --clock -1 -o a.movie",
        "--rom no-such-file rom",
        "mcp --resume latest",
        "play --movie a.movie --seed 1",
        "play --at 1",
        "mcp --movies journals --resume latest --seed 7",
        "mcp --resume a.movie --role samurai",
        "mcp --options playmode:debug",
        "play",
        "play --from a.state --seed 1",
        "state",
        "state save no-such-file -o a.state",
        "state load no-such-file",
        "state info no-such-file",
        "state movie no-such-file -o a.movie",
        "tree info no-such-file",
        "tree check no-such-file",
        "tree rebuild no-such-file -o a.tree",
    ] {
        let ran = bed.expect(2, arguments);
        assert!(!ran.err.is_empty() && ran.out.is_empty(), "{arguments}: {} {}", ran.out, ran.err);
    }
    assert_eq!(bed.files(), Vec::<String>::new());
}

#[test]
fn what_is_impossible_is_answered_with_what_is_possible() {
    let bed = Bed::new();
    let ran = bed.expect(2, "movie record --seed 1 --keys 5 --role samurai --race dwarf -o a.movie");
    assert!(ran.err.contains("lawful male human samurai"), "{}", ran.err);
    let ran = bed.expect(2, "state load no-such-file");
    assert_eq!(ran.err.matches("no-such-file").count(), 1, "{}", ran.err);
    let ran = bed.expect(2, "play");
    assert!(ran.err.contains("terminal"), "{}", ran.err);
}

#[test]
fn help_teaches_each_command_and_the_version_names_the_engine() {
    let bed = Bed::new();
    for command in [
        "demo",
        "mcp",
        "play",
        "movie verify",
        "movie show",
        "movie record",
        "state save",
        "state load",
        "tree save",
        "rom",
        "bench",
    ] {
        let ran = bed.expect(0, &format!("{command} --help"));
        assert!(ran.out.contains("Usage: nethack-lab"), "{command}: {}", ran.out);
    }
    let help = bed.expect(0, "--help").out;
    assert!(help.contains("Begin with"), "{help}");
    assert!(!help.lines().any(|line| line.starts_with("  worker ")), "the worker is internal: {help}");
    let engine = bed.expect(0, "rom --json").json();
    let engine = engine["engine_id"].as_str().expect("an engine id").to_owned();
    assert!(bed.expect(0, "--version").out.contains(&engine[..12]));
}

#[test]
fn a_server_without_a_client_says_nothing_and_leaves_nothing() {
    let bed = Bed::new();
    for arguments in ["mcp", "mcp --seed 7 --role samurai", "mcp --movies journals --resume latest"] {
        let ran = bed.expect(0, arguments);
        assert_eq!(ran.out, "", "{arguments}: standard output belongs to the protocol");
    }
    assert_eq!(std::fs::read_dir(bed.path("journals")).map_or(0, Iterator::count), 0, "no game, no journal");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    use std::process::{Command, Stdio};
    let bed = Bed::new();
    bed.record("game.movie", 11, 60);
    for arguments in [["movie", "show", "game.movie", "--every", "1"], ["movie", "keys", "game.movie", "--json", ""]] {
        let mut child = Command::new(crate::bed::executable())
            .args(arguments.iter().filter(|argument| !argument.is_empty()))
            .current_dir(bed.dir())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the executable runs");
        // Nobody reads.
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("an end");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && err.is_empty(), "{arguments:?}: {} {err}", output.status);
    }
}
