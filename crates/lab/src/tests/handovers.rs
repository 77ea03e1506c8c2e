//! A new game takes the place of another, with its journal and its ledger, and the process is killed at every step.

use std::path::Path;

use super::{look, power_on, run, text, toy};
use crate::{Control, Journalled, Lab, LabError, Ledger, LedgerStart, Luck, MachineId, ResumeFrom, Snapshot, disk};

/// Makes the new game.
type Make<'a> = &'a dyn Fn(&Lab) -> Result<Snapshot, LabError>;

/// What is kept of the first game, by its number, and how it looks.
type Kept = Vec<(u64, MachineId, (u64, wire::PlayDigest, wire::Frame))>;

/// A game with forks and a note, and the bytes of its state and its movie.
fn before(folder: &Path) -> (Lab, Snapshot, Ledger, Kept) {
    let (lab, _) = toy::lab(Some(folder), |_| {});
    let game = lab.new_game(power_on(1), Journalled::Unnamed).unwrap();
    let ledger = lab.begin_ledger(game.machine, &LedgerStart::default()).unwrap().unwrap();
    run(&lab, game.machine, &text(1, 30));
    let mut kept = Kept::new();
    for number in 1..=4 {
        let fork = lab.fork(game.machine, None, Luck::Same, 1).unwrap().remove(0).machine;
        ledger.keep(&lab, number, fork).unwrap();
        run(&lab, fork, &text(number, 20));
        kept.push((number, fork, look(&lab.snapshot(fork).unwrap())));
    }
    ledger.note("breakpoints", "[1]").unwrap();
    (lab, game, ledger, kept)
}

/// Puts a new game in the first one's place, whose tip is kept as number 5.
fn hand_over(lab: &Lab, game: MachineId, old: &Ledger, kept: &Kept, make: Make<'_>) -> Option<(Snapshot, Ledger)> {
    let mut ledger = None;
    let replaced = lab.replace(game, None, true, |tip| {
        let new = make(lab)?;
        let mut kept: Vec<(u64, MachineId)> = kept.iter().map(|(number, machine, _)| (*number, *machine)).collect();
        kept.push((5, tip.unwrap()));
        let start = LedgerStart { last: 9, reserved: &[7], kept: &kept, notes: &[("game", "second")], old: Some(old) };
        let begun = lab.begin_ledger(new.machine, &start).inspect_err(|_| lab.take_back(new.machine))?;
        ledger = begun;
        Ok(new)
    });
    replaced.ok().map(|replaced| (replaced.snapshot, ledger.unwrap()))
}

/// Every step of a handover: what a process that is killed there leaves behind is all of the one or all of the other.
fn killed_at_every_step(what: &str, make: Make<'_>) {
    let (mut steps, mut olds, mut news) = (0, 0, 0);
    loop {
        let folder = tempfile::tempdir().unwrap();
        let (lab, game, old, kept) = before(folder.path());
        disk::stop_after(Some(steps));
        let new = hand_over(&lab, game.machine, &old, &kept, make);
        let is_stopped = disk::is_stopped();
        drop((lab, old));
        disk::stop_after(None);
        let new_game = new.map(|(new, _)| new.game);

        let (lab, _) = toy::lab(Some(folder.path()), |_| {});
        let at = format!("{what}, killed after {steps} steps");
        let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).expect(&at);
        let reopened = lab.reopen_ledger(resumed.snapshot.machine, &resumed.journal).expect(&at);
        assert!(reopened.damage.is_none() && reopened.lost.is_empty(), "{at}: {reopened:?}");
        assert_eq!(reopened.ledger.note_of("breakpoints").as_deref(), Some("[1]"), "{at}");
        let is_new = resumed.snapshot.game != game.game;
        // Only what was not acknowledged may be lost.
        assert!(is_new || new_game.is_none(), "{at}");
        assert_eq!(reopened.ledger.note_of("game").is_some(), is_new, "{at}");
        assert_eq!((reopened.last, reopened.forks.len()), if is_new { (9, 5) } else { (4, 4) }, "{at}");
        for ((number, fork), (kept, _, expected)) in reopened.forks.iter().zip(&kept) {
            assert_eq!((number, &look(&lab.snapshot(*fork).expect(&at))), (kept, expected), "{at}");
        }
        if is_new {
            news += 1;
        } else {
            olds += 1;
            assert_eq!(resumed.snapshot.boundary.0, 30, "{at}");
        }
        if !is_stopped {
            break;
        }
        steps += 1;
    }
    assert!(steps > 6 && olds > 3 && news > 2, "{what}: {steps} steps, {olds} before and {news} after");
}

#[test]
fn a_new_game_is_there_with_all_that_is_kept_or_not_at_all() {
    killed_at_every_step("a new game", &|lab| lab.new_game(power_on(2), Journalled::Unnamed));
}

#[test]
fn so_is_one_from_a_state_and_one_from_a_movie() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, game, ..) = before(folder.path());
    let state = lab.save_state(game.machine, None, &Control::default()).unwrap();
    let movie = lab.movie(game.machine).unwrap();
    drop(lab);
    killed_at_every_step("a state", &|lab| lab.load_state(&state, Journalled::Unnamed, &Control::default()));
    killed_at_every_step("a movie", &|lab| lab.open_movie(&movie, Journalled::Unnamed, &Control::default()));
}

#[test]
fn a_number_that_was_taken_is_kept_for_whom_it_was_taken() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, game, old, kept) = before(folder.path());
    old.reserve(7).unwrap();
    let (new, ledger) =
        hand_over(&lab, game.machine, &old, &kept, &|lab| lab.new_game(power_on(2), Journalled::Unnamed)).unwrap();
    let fork = || lab.fork(new.machine, None, Luck::Same, 1).unwrap().remove(0).machine;
    assert!(ledger.keep(&lab, 6, fork()).is_err() && ledger.keep(&lab, 8, fork()).is_err());
    ledger.keep(&lab, 7, fork()).unwrap();
    ledger.keep(&lab, 10, fork()).unwrap();
}

#[test]
fn a_resume_that_is_killed_loses_nothing_and_repeats_no_number() {
    for is_damaged in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (lab, _, ledger, kept) = before(folder.path());
        let path = ledger.path();
        drop((lab, ledger));
        if is_damaged {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes.extend(b"{}\n");
            std::fs::write(&path, bytes).unwrap();
        }
        // Far fewer would do.
        let mut is_whole = false;
        for steps in 0..100 {
            disk::stop_after(Some(steps));
            let (lab, _) = toy::lab(Some(folder.path()), |_| {});
            let resumed = lab.resume(&ResumeFrom::Latest, &Control::default());
            let reopened = resumed.and_then(|resumed| lab.reopen_ledger(resumed.snapshot.machine, &resumed.journal));
            let is_stopped = disk::is_stopped();
            drop(lab);
            disk::stop_after(None);
            let numbers = |reopened: &crate::Reopened| reopened.forks.iter().map(|(number, _)| *number).collect();
            if let Ok(reopened) = reopened {
                let numbers: Vec<u64> = numbers(&reopened);
                assert_eq!(numbers, [1, 2, 3, 4], "damaged {is_damaged}, killed after {steps} steps");
                assert_eq!(reopened.last > 1 << 40, is_damaged, "killed after {steps} steps");
                if !is_stopped {
                    is_whole = steps > 1;
                    break;
                }
            }
        }
        assert!(is_whole, "damaged {is_damaged}: there is something to stop at, and an end of it");
        let asides = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let asides = asides.filter(|name| name.to_str().unwrap().contains("damaged")).count();
        assert_eq!(asides, usize::from(is_damaged), "it is kept aside once");
        let (lab, _) = toy::lab(Some(folder.path()), |_| {});
        let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap();
        let reopened = lab.reopen_ledger(resumed.snapshot.machine, &resumed.journal).unwrap();
        assert_eq!((reopened.damage, reopened.last > 1 << 40), (None, is_damaged));
        assert_eq!(look(&lab.snapshot(reopened.forks[3].1).unwrap()), kept[3].2);
    }
}

#[test]
fn a_handover_that_fails_leaves_no_file_and_no_machine() {
    let folder = tempfile::tempdir().unwrap();
    let files = || {
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let (lab, game, old, kept) = before(folder.path());
    let (were, machines, now) = (files(), lab.machines().len(), lab.snapshot(game.machine).unwrap());
    let no_ledger = |lab: &Lab| {
        let new = lab.new_game(power_on(2), Journalled::Unnamed)?;
        // Somebody has put a directory where the ledger is to be.
        let ledger = new.journal.clone().unwrap().with_extension("ledger");
        std::fs::create_dir_all(ledger.join("x")).unwrap();
        Ok(new)
    };
    assert!(hand_over(&lab, game.machine, &old, &kept, &no_ledger).is_none());
    assert!(hand_over(&lab, game.machine, &old, &kept, &|_| Err(LabError::Cancelled)).is_none());
    let left: Vec<_> = files().difference(&were).cloned().collect();
    assert!(left.len() == 1 && left[0].to_str().unwrap().ends_with(".ledger"), "{left:?}");
    assert_eq!(lab.machines().len(), machines);
    let after = lab.snapshot(game.machine).unwrap();
    assert_eq!((after.revision, after.lifecycle), (now.revision, now.lifecycle));
    // The old one goes on keeping.
    run(&lab, kept[0].1, "ab");
    drop((lab, old));
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap();
    let reopened = lab.reopen_ledger(resumed.snapshot.machine, &resumed.journal).unwrap();
    assert_eq!(lab.snapshot(reopened.forks[0].1).unwrap().boundary.0, 30 + 20 + 2);
}

#[test]
fn a_game_that_can_not_be_written_as_over_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, game, _, _) = before(folder.path());
    super::fill_disk(&lab, game.machine, true);
    let before = lab.snapshot(game.machine).unwrap();
    assert!(matches!(lab.close(game.machine, None), Err(LabError::Journal { .. })));
    let after = lab.snapshot(game.machine).unwrap();
    assert_eq!((after.lifecycle, after.revision), (before.lifecycle, before.revision));
    super::fill_disk(&lab, game.machine, false);
    run(&lab, game.machine, "a");
    assert_eq!(lab.close(game.machine, None).unwrap().lifecycle, crate::Lifecycle::Aborted);
    drop(lab);
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap();
    assert_eq!((resumed.closed, resumed.inputs), (true, 31));
}
