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
        "play",
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
    let ran = bed.expect(2, "play");
    assert!(ran.err.contains("terminal"), "{}", ran.err);
}

#[test]
fn help_teaches_each_command_and_the_version_names_the_engine() {
    let bed = Bed::new();
    for command in ["demo", "mcp", "play", "movie verify", "movie show", "movie record", "rom", "bench"] {
        let ran = bed.expect(0, &format!("{command} --help"));
        assert!(ran.out.contains("Usage: nethack-lab"), "{command}: {}", ran.out);
    }
    let help = bed.expect(0, "--help").out;
    assert!(help.contains("Begin with") && !help.contains("worker"), "{help}");
    let engine = bed.expect(0, "rom --json").json();
    let engine = engine["engine_id"].as_str().expect("an engine id").to_owned();
    assert!(bed.expect(0, "--version").out.contains(&engine[..12]));
}
