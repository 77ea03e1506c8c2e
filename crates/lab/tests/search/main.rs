//! Lines, policies and searches with the real game in real worker processes, and the examples with small budgets.
//!
//! This executable is its own worker. With `as-host ROUNDS` (or `as-host 300s`) it is a host whose workers are
//! killed: a few rounds are among the tests, and more can be had by hand.

#[path = "../../examples/driver/chance.rs"]
mod chance;
#[path = "../../examples/descend/search.rs"]
mod descend;
mod examples;
#[path = "../../examples/go_explore/search.rs"]
mod go_explore;
mod lines;
mod losses;
#[path = "../../examples/driver/map.rs"]
mod map;
#[path = "../../examples/mcts/search.rs"]
mod mcts;
mod policies;
#[path = "../../examples/driver/scout.rs"]
mod scout;
mod support;
#[path = "../../examples/mcts/tree.rs"]
mod tree;
#[path = "../../examples/driver/walker.rs"]
mod walker;

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
    if let Some(code) = lab::serve_if_worker(policies::all) {
        return code;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, rounds] = words.as_slice()
        && word == losses::AS_HOST
    {
        return losses::host(rounds);
    }
    let tests = tests! {
        lines: lines_are_what_machines_do, a_chain_and_a_fan_load_and_go, everything_is_given_back;
        policies: a_rollout_is_its_keys, what_a_policy_refuses_is_told, a_policy_that_panics_costs_its_own_line,
            a_policy_that_loops_costs_its_own_line, a_cancel_ends_a_line_that_is_under_way;
        examples: a_descent_repeats_itself, an_exploration_repeats_itself, a_plan_repeats_itself;
        losses: killed_and_stopped_workers_lose_nothing;
    };
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}
