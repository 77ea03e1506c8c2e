//! Going back along a line.

use std::sync::atomic::Ordering;

use wire::{Key, Seed};

use super::{fill_disk, look, power_on, run, text, toy};
use crate::{Boundary, Control, Lab, LabError, Luck, MachineId, ResumeFrom, Revision, Snapshot, Verdict};

const OTHER: Luck = Luck::Reseed { core: Seed(77), display: Seed(78) };

fn seek(lab: &Lab, machine: MachineId, to: u64) -> Result<Snapshot, LabError> {
    let revision = lab.snapshot(machine).unwrap().revision;
    lab.seek(machine, revision, Boundary(to), &Control::default())
}

/// Keys that workers have pressed while something is done.
fn keys_pressed<R>(faults: &toy::Faults, what: impl FnOnce() -> R) -> (u64, R) {
    let before = faults.keys.load(Ordering::SeqCst);
    let result = what();
    (faults.keys.load(Ordering::SeqCst) - before, result)
}

#[test]
fn going_back_is_never_having_gone_on() {
    for (seed, chunk_keys) in [(1, 1), (2, 7), (3, 64), (4, 512)] {
        let folder = tempfile::tempdir().unwrap();
        let (lab, _) = toy::lab(Some(folder.path()), |options| {
            options.limits.chunk_keys = chunk_keys;
            options.limits.messages = 3_000;
        });
        let line = text(seed, 2_500).replace('c', "cM\r");
        let game = lab.new_game(power_on(seed), true).unwrap();
        let twin = lab.new_game(power_on(seed), false).unwrap();
        let mut ends = vec![(0, look(&twin), lab.messages_after(twin.machine, 0).unwrap())];
        let bounds = [1, 63, 64, 65, 200, 1_000, 1_063, 1_500, 2_300, 2_499, line.len() - 1];
        for (from, to) in [0].into_iter().chain(bounds).zip(bounds) {
            let end = run(&lab, twin.machine, &line[from..to]).snapshot;
            ends.push((to as u64, look(&end), lab.messages_after(twin.machine, 0).unwrap()));
        }
        run(&lab, game.machine, &line);
        for (index, (to, expected, messages)) in ends.iter().enumerate().rev() {
            let there = seek(&lab, game.machine, *to).unwrap();
            assert_eq!(&look(&there), expected, "seed {seed}, boundary {to}");
            assert_eq!(&lab.messages_after(game.machine, 0).unwrap(), messages, "seed {seed}, boundary {to}");
            // Some way on, also with keys that the line did not have, and back again.
            run(&lab, game.machine, if index % 2 == 0 { "zzz" } else { &line[*to as usize..] });
            assert_eq!(&look(&seek(&lab, game.machine, *to).unwrap()), expected, "seed {seed}, boundary {to}");
        }
        let end = run(&lab, game.machine, "abc").snapshot;
        let movie = movie::read(&lab.movie(game.machine).unwrap()).unwrap().movie;
        assert_eq!((movie.steps.len(), movie.account.seeks), (3, 24));
        let journal = std::fs::read(end.journal.as_ref().unwrap()).unwrap();
        let report = lab.verify(&journal, Some(game.machine), &Control::default()).unwrap();
        assert_eq!((report.verdict, report.inputs), (Verdict::Exact, 3));
    }
}

#[test]
fn what_it_costs_does_not_grow_with_the_line() {
    let (lab, faults) = toy::lab(None, |_| {});
    let game = lab.new_game(power_on(5), false).unwrap();
    for part in 0..10 {
        run(&lab, game.machine, &text(part, 5_000));
    }
    let movie = lab.movie(game.machine).unwrap();
    let again = lab.open_movie(&movie, false, &Control::default()).unwrap();
    let info = lab.info();
    // A machine of 50,000 inputs has its tip, some on the way, and what those are stored against.
    assert!(info.store_states <= 2 * 70 * 2, "{info:?}");
    for machine in [game.machine, again.machine] {
        for at in [49_999, 49_900, 49_000, 40_001, 25_000, 2_047, 77, 1] {
            let look = || lab.frame_at(machine, Boundary(at), &Control::default()).unwrap();
            let (keys, _) = keys_pressed(&faults, look);
            assert!(keys <= 2_048 + 512, "boundary {at}: {keys} keys");
            let fork = || lab.fork(machine, Some(Boundary(at)), Luck::Same, 1).unwrap().remove(0);
            let (keys, fork) = keys_pressed(&faults, fork);
            assert!(keys <= 2_048 + 512, "boundary {at}: {keys} keys");
            lab.delete(fork.machine, None).unwrap();
        }
        let (keys, back) = keys_pressed(&faults, || seek(&lab, machine, 30_000).unwrap());
        assert!(keys <= 2_048 + 512 && back.boundary == Boundary(30_000), "{keys} keys");
        lab.delete(machine, None).unwrap();
    }
    assert_eq!((lab.info().store_states, lab.info().store_bytes), (0, 0));
}

#[test]
fn going_back_undoes_the_luck_there() {
    let (lab, _) = toy::lab(None, |_| {});
    let game = lab.new_game(power_on(1), false).unwrap();
    let base = run(&lab, game.machine, &text(1, 100)).snapshot;
    let lucky = lab.fork(game.machine, None, OTHER, 1).unwrap().remove(0);
    let first = look(&lucky);
    for end in ["", "abc"] {
        if !end.is_empty() {
            run(&lab, lucky.machine, end);
        }
        let back = seek(&lab, lucky.machine, 100).unwrap();
        assert_eq!((look(&back), back.reseeds), (look(&base), 0));
        assert_ne!(look(&back), first);
        assert!(lab.diff(game.machine, lucky.machine).unwrap().images_same);
    }
    // Luck on the way stays.
    let lucky = lab.fork(game.machine, None, OTHER, 1).unwrap().remove(0);
    let there = run(&lab, lucky.machine, &text(2, 70)).snapshot;
    run(&lab, lucky.machine, &text(3, 200));
    let back = seek(&lab, lucky.machine, 170).unwrap();
    assert_eq!((look(&back), back.reseeds), (look(&there), 1));
    let movie = lab.movie(lucky.machine).unwrap();
    assert_eq!(movie::read(&movie).unwrap().movie.account.seeks, 1, "also without a journal");
    let report = lab.verify(&movie, None, &Control::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Exact);
}

#[test]
fn what_can_not_be_gone_back_to_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let game = lab.new_game(power_on(2), true).unwrap();
    let end = run(&lab, game.machine, "abcQ").snapshot;
    assert!(end.ended.is_some());
    let there = seek(&lab, game.machine, 4).unwrap();
    assert_eq!(look(&there), look(&end), "it is there already");
    let again = lab.seek(game.machine, end.revision, Boundary(4), &Control::default());
    assert!(matches!(again, Err(LabError::Stale(_))) && there.revision > end.revision, "a duplicate comes too late");
    let end = there;
    let beyond = seek(&lab, game.machine, 5).unwrap_err();
    assert!(matches!(beyond, LabError::NoBoundary { .. }), "{beyond}");
    let stale = lab.seek(game.machine, Revision(0), Boundary(1), &Control::default()).unwrap_err();
    assert!(matches!(stale, LabError::Stale(_)), "{stale}");
    fill_disk(&lab, game.machine, true);
    assert!(matches!(seek(&lab, game.machine, 2).unwrap_err(), LabError::Journal { .. }));
    let now = lab.snapshot(game.machine).unwrap();
    assert_eq!((now.revision, look(&now)), (end.revision, look(&end)));
    fill_disk(&lab, game.machine, false);
    // The end of a game is a boundary like others.
    let back = seek(&lab, game.machine, 3).unwrap();
    assert!(back.ended.is_none() && back.revision > end.revision);
    let stale = lab.press(game.machine, end.revision, Key(b'a')).unwrap_err();
    let LabError::Stale(stale) = stale else { panic!("{stale}") };
    assert_eq!(stale.since, None, "the line was exchanged");
    run(&lab, game.machine, "de");
    lab.close(game.machine, None).unwrap();
    assert!(matches!(seek(&lab, game.machine, 1).unwrap_err(), LabError::GameOver(_)));
}

#[test]
fn a_journal_goes_on_after_a_seek() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let game = lab.new_game(power_on(3), true).unwrap();
    run(&lab, game.machine, &text(3, 1_500));
    seek(&lab, game.machine, 900).unwrap();
    let end = run(&lab, game.machine, &text(4, 300)).snapshot;
    let again = seek(&lab, game.machine, 1_100).unwrap();
    drop(lab);
    assert_eq!(end.boundary, Boundary(1_200));
    let (lab, faults) = toy::lab(Some(folder.path()), |_| {});
    let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap();
    assert_eq!((look(&resumed.snapshot), resumed.inputs), (look(&again), 1_100));
    let machine = resumed.snapshot.machine;
    let (keys, _) = keys_pressed(&faults, || seek(&lab, machine, 1_000).unwrap());
    assert!(keys <= 600, "{keys} keys: a replay leaves states on its way");
    let end = run(&lab, machine, "xyz").snapshot;
    let movie = movie::read(&lab.movie(machine).unwrap()).unwrap().movie;
    assert_eq!((movie.account.seeks, movie.account.inputs), (3, 1_803));
    let report = lab.verify(&std::fs::read(end.journal.unwrap()).unwrap(), None, &Control::default()).unwrap();
    assert_eq!((report.verdict, report.inputs), (Verdict::Exact, 1_003));
}

#[test]
fn what_was_tried_before_a_seek_is_journalled_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let game = lab.new_game(power_on(5), true).unwrap();
    run(&lab, game.machine, "abc");
    let root = lab.state(game.machine).unwrap();
    lab.try_lines(&[crate::Try::keys(&root, b"xyz")], &Control::default()).unwrap();
    let back = seek(&lab, game.machine, 1).unwrap();
    // Nothing follows: the journal as it stands tells of both.
    let account = movie::read(&std::fs::read(back.journal.unwrap()).unwrap()).unwrap().movie.account;
    assert_eq!((account.peeks, account.lines, account.seeks), (1, 1, 1));
}

#[test]
fn states_on_the_way_go_before_anything_is_refused() {
    let (lab, faults) = toy::lab(None, |options| options.limits.store_bytes = 2 * 4_096);
    let game = lab.new_game(power_on(4), false).unwrap();
    for key in text(4, 2_000).chars() {
        run(&lab, game.machine, &key.to_string());
    }
    let end = lab.snapshot(game.machine).unwrap();
    let (near, _) = keys_pressed(&faults, || lab.frame_at(game.machine, Boundary(1_990), &Control::default()).unwrap());
    assert!(near <= 64 + 64, "{near}");
    let mut others: Vec<_> = (100..).map_while(|seed| lab.new_game(power_on(seed), false).ok()).collect();
    assert!(others.len() >= 20, "only {} machines found room", others.len());
    let error = lab.new_game(power_on(99), false).unwrap_err();
    assert!(matches!(error, LabError::LimitExceeded { .. }), "{error}");
    // Nothing is left on the way, and everything is still there.
    lab.delete(others.pop().unwrap().machine, None).unwrap();
    lab.delete(others.pop().unwrap().machine, None).unwrap();
    let (far, back) = keys_pressed(&faults, || seek(&lab, game.machine, 1_990).unwrap());
    assert_eq!((far, back.boundary), (1_990, Boundary(1_990)));
    let there = run(&lab, game.machine, &text(4, 2_000)[1_990..]).snapshot;
    assert_eq!(look(&there), look(&end));
}

#[test]
fn a_seek_survives_lost_workers_or_changes_nothing() {
    let (lab, faults) = toy::lab(None, |_| {});
    let game = lab.new_game(power_on(6), false).unwrap();
    let end = run(&lab, game.machine, &text(6, 700)).snapshot;
    let twin = lab.new_game(power_on(6), false).unwrap();
    let there = run(&lab, twin.machine, &text(6, 700)[..650]).snapshot;
    faults.deaths.store(u64::MAX, Ordering::SeqCst);
    let error = seek(&lab, game.machine, 650).unwrap_err();
    assert!(matches!(error, LabError::EngineFailure { .. }), "{error}");
    faults.deaths.store(2, Ordering::SeqCst);
    let now = lab.snapshot(game.machine).unwrap();
    assert_eq!((now.revision, look(&now)), (end.revision, look(&end)));
    assert_eq!(look(&seek(&lab, game.machine, 650).unwrap()), look(&there));
}
