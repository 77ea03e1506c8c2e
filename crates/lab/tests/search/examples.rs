//! The examples with small budgets: the same seed gives the same movie, whatever the number of workers.

use lab::{Lab, State, Verdict};

use crate::support::{lab, verdict};
use crate::{descend, go_explore, mcts};

/// Runs a search with one worker and with three; both must come to the same movie, which must verify, and tell the same
/// of how they came to it.
fn repeats(search: impl Fn(&Lab, u64) -> (State, String)) {
    for seed in [1, 7] {
        let found = [1, 3].map(|workers| {
            let lab = lab(|options| options.workers = workers);
            let (best, told) = search(&lab, seed);
            assert_eq!(verdict(&lab, &best), Verdict::Exact, "seed {seed}, {workers} workers");
            assert!(best.boundary().0 > 0, "seed {seed}: {told}");
            (lab.movie_of(&best).unwrap(), told)
        });
        assert!(found[0] == found[1], "seed {seed}: {} against {}", found[0].1, found[1].1);
    }
}

pub(crate) fn a_descent_repeats_itself() {
    repeats(|lab, seed| {
        let descent = descend::descend(lab, seed, 320).unwrap();
        (descent.best, format!("{:?}", descent.stages))
    });
}

pub(crate) fn an_exploration_repeats_itself() {
    repeats(|lab, seed| {
        let archive = go_explore::explore(lab, seed, 512).unwrap();
        let best = archive.best();
        (best.state.clone(), format!("{:?}\n{}", archive.table(), archive.coverage(best.report.depth)))
    });
}

pub(crate) fn a_plan_repeats_itself() {
    repeats(|lab, seed| {
        let plan = mcts::plan(lab, seed, 800).unwrap();
        (plan.end, format!("{:?}", plan.decisions))
    });
}
