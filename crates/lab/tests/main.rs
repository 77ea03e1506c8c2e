//! The lab's laws with the real game in real worker processes.
//!
//! This executable is its own worker, as the real one is: it starts itself again with `as-worker`. With `as-host` it
//! is a server that is going to be killed.

mod edits;
mod laws;
mod losses;
mod state_files;
mod support;
mod timeline;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

macro_rules! tests {
    ($($module:ident: $($name:ident),+;)+) => {
        vec![$($(Trial::test(concat!(stringify!($module), "::", stringify!($name)), || {
            $module::$name();
            Ok(())
        })),+),+]
    };
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [support::AS_WORKER] => return worker::worker_main(Vec::new()),
        [losses::AS_HOST, movies] => losses::host(movies),
        [timeline::AS_COUNTED] => {
            timeline::counted();
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let tests = tests! {
        laws: a_fork_is_a_replay, an_adopted_line_verifies_exactly, a_reseed_is_only_in_the_generators_at_first,
            a_prompt_is_not_answered_by_what_a_fork_did, chunks_make_no_difference, deleting_frees_everything, a_death_is_a_result;
        timeline: a_seek_anywhere_is_a_replay, luck_is_what_was_recorded, what_memory_has_no_room_for_lies_in_a_file, chains_and_fans_leave_nothing;
        edits: a_look_changes_nothing, edits_are_replayed_exactly;
        state_files: any_prompt_goes_on_in_another_lab, a_damaged_state_changes_nothing, a_forged_state_costs_its_worker_at_most,
            an_ended_game_is_loaded_as_ended, a_tree_goes_on_in_another_lab;
        losses: killed_workers_lose_nothing, a_killed_host_loses_nothing_acknowledged;
    };
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}
