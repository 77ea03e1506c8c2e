//! Lines with digests right after a reseed: those of a saved state, a tree or a movie whose line ends there.

use wire::Seed;

use super::{look, power_on, run, text, toy};
use crate::{AdoptMode, Boundary, Control, Lab, LabOptions, Luck, ResumeFrom, Snapshot, TreeMode, Verdict};

const OTHER: Luck = Luck::Reseed { core: Seed(77), display: Seed(78) };

fn no_control() -> Control<'static> {
    Control::default()
}

/// A fork with luck of its own on which nothing was pressed, `keys` after power-on.
fn reseeded(lab: &Lab, keys: usize) -> Snapshot {
    let game = lab.new_game(power_on(13), false).unwrap();
    if keys > 0 {
        run(lab, game.machine, &text(13, keys));
    }
    lab.fork(game.machine, None, OTHER, 1).unwrap().remove(0)
}

/// Where a line leads that a reseed is on, at a boundary, by keys alone.
fn arrival(lab: &Lab, line: &str, keys: usize) -> Snapshot {
    let game = lab.new_game(power_on(13), false).unwrap();
    if keys == 0 { game } else { run(lab, game.machine, &line[..keys]).snapshot }
}

/// Asks for every way in which a line is replayed: to the end, to every boundary, back over the reseed.
fn check_replays(lab: &Lab, machine: &Snapshot, reseed_at: usize) {
    let control = no_control();
    let movie = lab.movie(machine.machine).unwrap();
    assert_eq!(lab.verify(&movie, None, &control).unwrap().verdict, Verdict::Exact);
    let again = lab.open_movie(&movie, false, &control).unwrap();
    assert_eq!((look(&again), again.reseeds), (look(machine), machine.reseeds));
    let (end, line) = (machine.boundary.0, text(13, reseed_at));
    for at in 0..end {
        lab.frame_at(machine.machine, Boundary(at), &control).unwrap();
        let fork = lab.fork(machine.machine, Some(Boundary(at)), Luck::Same, 1).unwrap().remove(0);
        if at as usize <= reseed_at {
            assert_eq!(look(&fork), look(&arrival(lab, &line, at as usize)), "boundary {at}");
        }
    }
    let mut shown = 0;
    let count = &mut |_: Boundary, _: &wire::Frame| {
        shown += 1;
        std::ops::ControlFlow::Continue(())
    };
    lab.walk(machine.machine, Boundary(0)..=machine.boundary, &control, count).unwrap();
    assert_eq!(shown, end + 1);
    let back = lab.seek(again.machine, again.revision, Boundary(reseed_at as u64), &control).unwrap();
    assert_eq!((look(&back), back.reseeds), (look(&arrival(lab, &line, reseed_at)), 0), "{reseed_at}");
}

#[test]
fn a_state_saved_right_after_a_reseed_is_replayed_as_any_other() {
    for keys in [0, 1, 6, 64, 130] {
        for (more, chunk_keys) in [(0, 512), (3, 512), (3, 1), (80, 64)] {
            let (lab, _) = toy::lab(None, |options| options.limits.chunk_keys = chunk_keys);
            let fork = reseeded(&lab, keys);
            let bytes = lab.save_state(fork.machine, None, &no_control()).unwrap();
            let mut loaded = lab.load_state(&bytes, false, &no_control()).unwrap();
            if more > 0 {
                loaded = run(&lab, loaded.machine, &text(99, more)).snapshot;
            }
            check_replays(&lab, &loaded, keys);
        }
    }
}

#[test]
fn digests_right_after_a_reseed_are_compared() {
    let (lab, _) = toy::lab(None, |_| ());
    for more in ["", "abc"] {
        let fork = reseeded(&lab, 6);
        let bytes = lab.save_state(fork.machine, None, &no_control()).unwrap();
        let loaded = lab.load_state(&bytes, false, &no_control()).unwrap();
        if !more.is_empty() {
            run(&lab, loaded.machine, more);
        }
        let mut movie = movie::read(&lab.movie(loaded.machine).unwrap()).unwrap().movie;
        for mark in &mut movie.marks {
            if let (6, movie::MarkKind::Digests { state: Some(state), .. }) = (mark.at.0, &mut mark.kind) {
                state.0[0] ^= 1;
            }
        }
        let bytes = movie::export(&movie).unwrap();
        let error = lab.open_movie(&bytes, false, &no_control()).unwrap_err();
        assert_eq!(error, crate::LabError::Desync { boundary: Boundary(6) });
    }
}

#[test]
fn a_tree_with_an_unplayed_reseeded_fork_is_rebuilt() {
    for keys in [0, 6, 70] {
        let (lab, _) = toy::lab(None, |_| ());
        let fork = reseeded(&lab, keys);
        let bytes = lab.export_tree(None, Vec::new(), &no_control()).unwrap();
        for mode in [TreeMode::Load, TreeMode::Rebuild] {
            let (after, _) = toy::lab(None, |_| ());
            let imported = after.import_tree(bytes.as_slice(), mode, false, &no_control()).unwrap();
            let twin = &imported.iter().find(|imported| imported.was == fork.machine).unwrap().snapshot;
            assert_eq!((look(twin), twin.reseeds), (look(&fork), 1), "{mode:?}");
            check_replays(&after, twin, keys);
        }
    }
}

#[test]
fn a_journal_that_begins_or_ends_with_a_reseed_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let lab = || toy::lab(Some(folder.path()), |_: &mut LabOptions| ()).0;
    let first = lab();
    let loaded = {
        let fork = reseeded(&first, 6);
        let bytes = first.save_state(fork.machine, None, &no_control()).unwrap();
        first.load_state(&bytes, true, &no_control()).unwrap()
    };
    let played = run(&first, loaded.machine, "abc").snapshot;
    let adopting = {
        let game = first.new_game(power_on(2), true).unwrap();
        let game = run(&first, game.machine, "defgh").snapshot;
        let fork = first.fork(game.machine, None, OTHER, 1).unwrap().remove(0);
        let mode = AdoptMode::State { take_luck: true };
        first.adopt(game.machine, game.revision, fork.machine, mode, &no_control()).unwrap().snapshot
    };
    drop(first);
    let second = lab();
    for before in [played, adopting] {
        let journal = before.journal.clone().unwrap();
        let resumed = second.resume(&ResumeFrom::File(journal), &no_control()).unwrap().snapshot;
        assert_eq!((look(&resumed), resumed.reseeds), (look(&before), 1));
    }
}
