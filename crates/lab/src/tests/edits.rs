//! Edits over a toy: events of a line that go wherever the line goes.

use std::path::Path;

use wire::{Edit, Seed};

use super::{fill_disk, look, power_on, run, text, toy};
use crate::{
    AdoptMode, Boundary, Control, Difference, Lab, LabError, LedgerStart, Luck, MachineId, ResumeFrom, Snapshot,
    TreeMode, Verdict,
};

const OTHER: Luck = Luck::Reseed { core: Seed(77), display: Seed(78) };

fn no_control() -> Control<'static> {
    Control::default()
}

fn allowing(movies: Option<&Path>, chunk_keys: usize) -> Lab {
    let change = |options: &mut crate::LabOptions| {
        options.allow_debug = true;
        options.limits.chunk_keys = chunk_keys;
    };
    toy::lab(movies, change).0
}

fn edit(lab: &Lab, machine: MachineId, luck: i32) -> Snapshot {
    let revision = lab.snapshot(machine).unwrap().revision;
    lab.edit(machine, revision, &format!("set luck {luck}").parse().unwrap()).unwrap()
}

/// A line with edits at 0, 5 (two alike, a reseed between others), 64, and its end.
fn edited(lab: &Lab, journalled: bool) -> Snapshot {
    let game = lab.new_game(power_on(5), journalled).unwrap().machine;
    edit(lab, game, 1);
    run(lab, game, &text(1, 5));
    edit(lab, game, 2);
    edit(lab, game, 2);
    run(lab, game, &text(2, 59));
    edit(lab, game, 3);
    run(lab, game, &text(3, 70));
    edit(lab, game, 4)
}

/// All that a refused edit must leave alone.
fn standing(snapshot: &Snapshot) -> (crate::Revision, u64, wire::PlayDigest, wire::Frame, u64) {
    let (boundary, play, frame) = look(snapshot);
    (snapshot.revision, boundary, play, frame, snapshot.edits)
}

fn exact(lab: &Lab, movie: &[u8], name: &str) {
    let report = lab.verify(movie, None, &no_control()).unwrap();
    assert_eq!(report.verdict, Verdict::Exact, "{name}: {}", report.verdict);
}

#[test]
fn an_edit_changes_the_machine_and_not_its_boundary() {
    let lab = allowing(None, 512);
    let game = lab.new_game(power_on(5), false).unwrap();
    let there = edit(&lab, game.machine, 3);
    assert_eq!((there.boundary, there.edits, there.reseeds), (Boundary(0), 1, 0));
    assert!(there.play != game.play && there.revision > game.revision);
    let stale = lab.edit(game.machine, game.revision, &Edit::Map).unwrap_err();
    assert!(matches!(stale, LabError::Stale(_)), "{stale}");
    let refused = lab.edit(game.machine, there.revision, &Edit::Remove { id: 0 }).unwrap_err();
    assert_eq!(refused, LabError::EditRefused("nobody has id 0".to_owned()));
    let broken = lab.edit(game.machine, there.revision, &Edit::Set([].into())).unwrap_err();
    assert!(matches!(broken, LabError::Edit(_)), "{broken}");
    assert_eq!(standing(&lab.snapshot(game.machine).unwrap()), standing(&there));
    let more = run(&lab, game.machine, "abM").snapshot;
    let refused = lab.edit(game.machine, more.revision, &Edit::Map).unwrap_err();
    assert!(matches!(refused, LabError::EditRefused(_)), "{refused}");
    run(&lab, game.machine, "aQ");
    let over = lab.edit(game.machine, lab.snapshot(game.machine).unwrap().revision, &Edit::Map).unwrap_err();
    assert_eq!(over, LabError::GameOver(game.machine));
}

#[test]
fn edits_need_leave() {
    let strict = toy::lab(None, |_| ()).0;
    let game = strict.new_game(power_on(5), false).unwrap();
    assert_eq!(strict.edit(game.machine, game.revision, &Edit::Map).unwrap_err(), LabError::DebugNotAllowed);
    let looked = strict.hidden(game.machine, wire::HiddenPart::Hero).unwrap_err();
    assert_eq!(looked, LabError::DebugNotAllowed);
    assert_eq!(standing(&strict.snapshot(game.machine).unwrap()), standing(&game));
    let lab = allowing(None, 512);
    let there = edited(&lab, false);
    let movie = lab.movie(there.machine).unwrap();
    exact(&strict, &movie, "verify needs no leave");
    let held = LabError::HoldsEdits(5);
    assert_eq!(strict.open_movie(&movie, false, &no_control()).unwrap_err(), held);
    let state = lab.save_state(there.machine, None, &no_control()).unwrap();
    assert_eq!(strict.load_state(&state, false, &no_control()).unwrap_err(), held);
    for mode in [TreeMode::Load, TreeMode::Rebuild] {
        let tree = lab.export_tree(Some(&[there.machine]), Vec::new(), &no_control()).unwrap();
        assert_eq!(strict.import_tree(tree.as_slice(), mode, false, &no_control()).unwrap_err(), held);
    }
}

#[test]
fn every_way_to_a_boundary_makes_the_edits_again() {
    for chunk_keys in [1, 7, 512] {
        let lab = allowing(None, chunk_keys);
        let there = edited(&lab, false);
        let movie = lab.movie(there.machine).unwrap();
        exact(&lab, &movie, "its movie");
        let again = lab.open_movie(&movie, false, &no_control()).unwrap();
        assert_eq!((look(&again), again.edits), (look(&there), 5));
        assert_eq!(lab.movie(again.machine).unwrap(), movie);
        let state = lab.save_state(there.machine, None, &no_control()).unwrap();
        let loaded = lab.load_state(&state, false, &no_control()).unwrap();
        assert_eq!((look(&loaded), loaded.edits), (look(&there), 5));
        // Boundary by boundary: a fork there is what the first keys and the edits before them lead to.
        let keys = text(1, 5) + &text(2, 59) + &text(3, 70);
        let twin = lab.new_game(power_on(5), false).unwrap().machine;
        for at in 0..=keys.len() {
            let fork = lab.fork(there.machine, Some(Boundary(at as u64)), Luck::Same, 1).unwrap().remove(0);
            if at < keys.len() {
                assert_eq!(look(&fork), look(&lab.snapshot(twin).unwrap()), "{at}");
                exact(&lab, &lab.movie(fork.machine).unwrap(), "a fork's movie");
            }
            match at {
                0 => drop(edit(&lab, twin, 1)),
                5 => drop((edit(&lab, twin, 2), edit(&lab, twin, 2))),
                64 => drop(edit(&lab, twin, 3)),
                _ => {}
            }
            if let Some(key) = keys.get(at..=at) {
                run(&lab, twin, key);
            }
            lab.delete(fork.machine, None).unwrap();
        }
        let mut shown = 0;
        let count = &mut |_: Boundary, _: &wire::Frame| {
            shown += 1;
            std::ops::ControlFlow::Continue(())
        };
        lab.walk(there.machine, Boundary(0)..=there.boundary, &no_control(), count).unwrap();
        assert_eq!(shown, there.boundary.0 + 1);
        let end = there.boundary;
        let back = lab.seek(there.machine, there.revision, end, &no_control()).unwrap();
        assert_eq!((back.boundary, back.edits), (end, 4), "back before the edit at its own boundary");
        let back = lab.seek(there.machine, back.revision, Boundary(5), &no_control()).unwrap();
        assert_eq!((back.boundary, back.edits), (Boundary(5), 1));
    }
}

#[test]
fn journals_hold_edits_over_jumps_and_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let lab = allowing(Some(folder.path()), 512);
    let there = edited(&lab, true);
    let journal = there.journal.clone().unwrap();
    let read = || std::fs::read(&journal).unwrap();
    exact(&lab, &read(), "its journal");
    assert_eq!(movie::read(&read()).unwrap().movie.account.debugs, 5);
    // A fork with an edit and luck of its own is adopted.
    let fork = lab.fork(there.machine, Some(Boundary(70)), OTHER, 1).unwrap().remove(0).machine;
    edit(&lab, fork, -4);
    run(&lab, fork, &text(9, 12));
    let last = edit(&lab, fork, -5);
    let mode = AdoptMode::State { take_luck: true };
    let revision = lab.snapshot(there.machine).unwrap().revision;
    let adopted = lab.adopt(there.machine, revision, fork, mode, &no_control()).unwrap().snapshot;
    assert_eq!((look(&adopted), adopted.edits, adopted.reseeds), (look(&last), 6, 1));
    exact(&lab, &read(), "its journal after an adoption");
    // An edit alone asks for no luck.
    let plain = lab.fork(there.machine, None, Luck::Same, 1).unwrap().remove(0).machine;
    let plain_end = edit(&lab, plain, 9);
    let mode = AdoptMode::State { take_luck: false };
    let adopted = lab.adopt(there.machine, adopted.revision, plain, mode, &no_control()).unwrap().snapshot;
    assert_eq!(look(&adopted), look(&plain_end));
    let sought = lab.seek(there.machine, adopted.revision, Boundary(75), &no_control()).unwrap();
    edit(&lab, there.machine, 8);
    // A full disk: nothing happens and nothing comes out later.
    fill_disk(&lab, there.machine, true);
    let now = lab.snapshot(there.machine).unwrap();
    let failed = lab.edit(there.machine, now.revision, &Edit::Map).unwrap_err();
    assert!(matches!(failed, LabError::Journal { .. }), "{failed}");
    assert_eq!(standing(&lab.snapshot(there.machine).unwrap()), standing(&now));
    fill_disk(&lab, there.machine, false);
    let end = run(&lab, there.machine, &text(4, 20)).snapshot;
    exact(&lab, &read(), "its journal after all");
    assert!(sought.edits < end.edits);
    drop(lab);
    let strict = toy::lab(Some(folder.path()), |_| ()).0;
    let refused = strict.resume(&ResumeFrom::Latest, &no_control()).unwrap_err();
    assert!(matches!(refused.cause(), LabError::HoldsEdits(_)), "{refused}");
    drop(strict);
    let lab = allowing(Some(folder.path()), 512);
    let resumed = lab.resume(&ResumeFrom::Latest, &no_control()).unwrap().snapshot;
    assert_eq!((look(&resumed), resumed.edits), (look(&end), end.edits));
    edit(&lab, resumed.machine, 6);
    exact(&lab, &read(), "its journal after a restart");
}

#[test]
fn trees_carry_edits() {
    let lab = allowing(None, 512);
    let there = edited(&lab, false);
    let fork = lab.fork(there.machine, Some(Boundary(64)), OTHER, 1).unwrap().remove(0).machine;
    edit(&lab, fork, 5);
    run(&lab, fork, &text(7, 30));
    let fork = edit(&lab, fork, 6);
    let tree = lab.export_tree(Some(&[there.machine, fork.machine]), Vec::new(), &no_control()).unwrap();
    for mode in [TreeMode::Load, TreeMode::Rebuild] {
        let other = allowing(None, 64);
        let imported = other.import_tree(tree.as_slice(), mode, false, &no_control()).unwrap();
        let looks: Vec<_> = imported.iter().map(|made| (look(&made.snapshot), made.snapshot.edits)).collect();
        assert_eq!(looks, [(look(&there), 5), (look(&fork), 5)]);
    }
}

#[test]
fn a_changed_edit_is_a_desync() {
    let lab = allowing(None, 512);
    let there = edited(&lab, false);
    let recording = movie::read(&lab.movie(there.machine).unwrap()).unwrap();
    let judged = |from: &str, to: &str| {
        let mut movie = recording.movie.clone();
        let mut changed = 0;
        for mark in &mut movie.marks {
            if let movie::MarkKind::Debug { args } = &mut mark.kind
                && args == from
            {
                to.clone_into(args);
                changed += 1;
            }
        }
        assert!(changed > 0, "{from}");
        lab.verify(&movie::export(&movie).unwrap(), None, &no_control()).unwrap().verdict
    };
    let Verdict::Desync(desync) = judged("set luck 3", "set luck 9") else { panic!() };
    assert_eq!(desync.boundary, Boundary(64), "the digests after the edit tell");
    let Verdict::Desync(desync) = judged("set luck 4", "set luck 9") else { panic!() };
    assert!(matches!(desync.difference, Difference::Play { .. }), "the digests after the last edit tell");
    let Verdict::Desync(desync) = judged("set luck 1", "remove 0") else { panic!() };
    assert_eq!(desync.difference, Difference::Edit { reason: "nobody has id 0".to_owned() });
    assert_eq!(judged("set luck 1", "set mana 1").name(), "cannot-judge");
}

#[test]
fn lost_workers_lose_no_edit() {
    let (lab, faults) = toy::lab(None, |options| options.allow_debug = true);
    let game = lab.new_game(power_on(5), false).unwrap().machine;
    run(&lab, game, &text(1, 20));
    faults.deaths.store(2, std::sync::atomic::Ordering::SeqCst);
    let there = edit(&lab, game, 3);
    assert_eq!(there.edits, 1);
    faults.deaths.store(9, std::sync::atomic::Ordering::SeqCst);
    let failed = lab.edit(game, there.revision, &Edit::Map).unwrap_err();
    assert!(matches!(failed, LabError::EngineFailure { .. }), "{failed}");
    assert_eq!(standing(&lab.snapshot(game).unwrap()), standing(&there));
    faults.deaths.store(0, std::sync::atomic::Ordering::SeqCst);
    exact(&lab, &lab.movie(game).unwrap(), "its movie");
}

#[test]
fn ledgers_carry_the_edits_of_forks() {
    let folder = tempfile::tempdir().unwrap();
    let lab = allowing(Some(folder.path()), 512);
    let game = lab.new_game(power_on(5), true).unwrap().machine;
    let ledger = lab.begin_ledger(game, &LedgerStart::default()).unwrap().unwrap();
    run(&lab, game, &text(1, 30));
    let fork = lab.fork(game, Some(Boundary(12)), Luck::Same, 1).unwrap().remove(0).machine;
    ledger.keep(&lab, 1, fork).unwrap();
    edit(&lab, fork, 3);
    edit(&lab, fork, 3);
    run(&lab, fork, &text(2, 10));
    let there = edit(&lab, fork, -3);
    drop((ledger, lab));
    let reopen = |lab: &Lab| {
        let resumed = lab.resume(&ResumeFrom::Latest, &no_control()).unwrap();
        lab.reopen_ledger(resumed.snapshot.machine, &resumed.journal)
    };
    let strict = toy::lab(Some(folder.path()), |_| ()).0;
    let refused = reopen(&strict).unwrap_err();
    assert_eq!(refused.cause(), &LabError::HoldsEdits(3));
    assert!(refused.to_string().contains(".ledger"), "{refused}");
    drop(strict);
    let lab = allowing(Some(folder.path()), 512);
    let forks = reopen(&lab).unwrap().forks;
    assert_eq!(forks.len(), 1, "nothing was forgotten");
    let again = lab.snapshot(forks[0].1).unwrap();
    assert_eq!((look(&again), again.edits), (look(&there), 3));
}
