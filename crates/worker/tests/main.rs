//! Workers as they are used: real processes, real sandbox, the real game.
//!
//! This executable is its own worker, as the real one is: it starts itself again with `as-worker`. The other words
//! that it knows stand for processes that a test needs beside itself.

mod game;
mod life;
mod lines;
mod policies;
mod pool;
mod sandbox;
mod states;
mod store;
mod support;
mod talk;

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
        [support::AS_WORKER] => return worker::worker_main(policies::all()),
        [talk::IMPOSTOR, kind] => talk::impostor(kind),
        [life::HOST] => life::host(),
        [life::MANY] => life::many(),
        _ => {}
    }
    let tests = tests! {
        talk: a_worker_says_hello, impostors_are_found_out, nonsense_ends_a_worker, a_ready_worker_ends_as_it_should, too_much_is_refused;
        sandbox: a_worker_is_closed_in, a_rom_that_calls_the_system_is_ended, a_rom_that_loops_is_stopped_by_the_watchdog,
            a_rom_that_sleeps_is_found_out, a_rom_that_faults_is_a_result;
        life: a_worker_ends_with_its_host, a_worker_that_gets_no_processor_is_waited_for, nothing_is_left_of_many_workers;
        pool: a_thousand_tasks_over_three_workers, a_killed_worker_costs_one_task,
            the_first_to_ask_is_the_first_served, reserved_workers_are_kept_from_batches,
            the_worker_in_which_a_machine_stands_is_preferred, a_shutdown_ends_everything,
            who_wants_no_worker_any_more_leaves_the_line;
        game: a_state_goes_from_one_worker_to_another, a_refusal_leaves_the_machine_as_it_was,
            luck_is_what_the_seeds_say, a_report_holds_what_is_wanted, a_foreign_rom_is_another_machine;
        states: recipes_lead_to_the_same_machine, any_worker_takes_any_state, what_was_kept_is_found_again,
            wrong_recipes_are_refused;
        lines: lines_do_what_tasks_do, a_refused_line_costs_no_other, a_full_slot_ends_the_lines,
            a_kill_in_the_middle_loses_the_lines, a_hung_line_tells_its_inputs, impostors_of_lines_are_found_out,
            a_worker_that_uses_processor_time_without_a_word_hangs;
        policies: a_policy_plays, policies_stop_where_they_should, a_policy_that_is_refused_costs_nothing,
            a_panic_in_a_policy_ends_its_worker, a_policy_that_loops_for_ever_hangs,
            a_long_rollout_gives_signs_of_life,
            each_call_of_a_policy_has_the_whole_limit, a_line_that_nobody_wants_any_more_is_stopped;
    };
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}
