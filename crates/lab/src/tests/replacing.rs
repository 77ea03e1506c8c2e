//! A machine takes another's place: all of it happens or nothing does, and nobody acts on the old one.

use std::path::Path;

use movie::{Account, Finish};

use super::{fill_disk, keys, look, power_on, run, text, toy};
use crate::journal::Journal;
use crate::{Control, LabError, Luck, Verdict};

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn the_old_journal_is_closed_and_a_new_one_begun() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let old = lab.new_game(power_on(1), true).unwrap();
    let fork = lab.fork(old.machine, None, Luck::Same, 1).unwrap().remove(0);
    let before = run(&lab, old.machine, &text(1, 30)).snapshot;
    let replaced = lab.replace(old.machine, Some(before.revision), true, |_| lab.new_game(power_on(2), true)).unwrap();
    assert_eq!((replaced.snapshot.boundary.0, replaced.unended), (0, None));
    assert_eq!(lab.snapshot(old.machine).unwrap_err(), LabError::UnknownMachine(old.machine));
    // What was forked before stays, and so does the tip, which still plays in its own game.
    run(&lab, fork.machine, "abc");
    let tip = replaced.old_tip.unwrap();
    assert_eq!((look(&tip), &tip.game, tip.journal.is_none()), (look(&before), &old.game, true));
    let after = run(&lab, tip.machine, "abc").snapshot;
    let report = lab.verify(&lab.movie(tip.machine).unwrap(), None, &Control::default()).unwrap();
    assert_eq!((report.verdict, report.inputs), (Verdict::Exact, after.boundary.0));
    let journal = std::fs::read(old.journal.unwrap()).unwrap();
    let recording = movie::read(&journal).unwrap();
    assert_eq!((&recording.movie.finish, recording.movie.boundary().0), (&Finish::Open, 30));
    assert!(recording.is_closed());
    assert_eq!((files(folder.path()), lab.machines().len()), (2, 3));
}

#[test]
fn what_fails_or_comes_late_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |options| options.limits.machines = 2);
    let old = lab.new_game(power_on(1), true).unwrap();
    let before = run(&lab, old.machine, "abc").snapshot;
    let journal = std::fs::read(before.journal.clone().unwrap()).unwrap();
    let replace = |expected, keep_tip| {
        lab.replace(old.machine, Some(expected), keep_tip, |_| Err(LabError::Cancelled)).unwrap_err()
    };
    assert_eq!(replace(before.revision, false), LabError::Cancelled);
    assert!(matches!(replace(before.revision, true), LabError::LimitExceeded { .. }));
    assert!(matches!(replace(old.revision, false), LabError::Stale(_)));
    assert_eq!(look(&lab.snapshot(old.machine).unwrap()), look(&before));
    assert_eq!(lab.snapshot(old.machine).unwrap().revision, before.revision);
    assert_eq!(std::fs::read(before.journal.unwrap()).unwrap(), journal);
    assert_eq!((files(folder.path()), lab.machines().len()), (1, 1));
    // A game that is over is replaced like any other, and keys that wait for its turn find it gone.
    let over = run(&lab, old.machine, "Q").snapshot;
    std::thread::scope(|scope| {
        let mut late = None;
        let replaced = lab.replace(old.machine, Some(over.revision), false, |_| {
            late = Some(scope.spawn(|| lab.run(old.machine, over.revision, &keys("a"), &Control::default())));
            while lab.snapshot(old.machine).unwrap().queued == 0 {
                std::thread::yield_now();
            }
            lab.new_game(power_on(1), true)
        });
        assert_eq!(replaced.unwrap().snapshot.boundary.0, 0);
        assert_eq!(late.unwrap().join().unwrap().unwrap_err(), LabError::UnknownMachine(old.machine));
    });
    assert_eq!((files(folder.path()), lab.machines().len()), (2, 1));
}

#[test]
fn a_last_line_that_can_not_be_written_keeps_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let old = lab.new_game(power_on(1), true).unwrap();
    run(&lab, old.machine, &text(1, 30));
    fill_disk(&lab, old.machine, true);
    let replaced = lab.replace(old.machine, None, false, |_| lab.new_game(power_on(2), false)).unwrap();
    assert!(matches!(replaced.unended, Some(LabError::Journal { .. })), "{:?}", replaced.unended);
    assert_eq!(lab.machines().len(), 1);
    let recording = movie::read(&std::fs::read(old.journal.unwrap()).unwrap()).unwrap();
    assert_eq!((recording.is_closed(), recording.movie.boundary().0), (false, 30));
}

#[test]
fn a_machine_that_is_not_taken_in_leaves_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |options| options.limits.machines = 1);
    let game = lab.new_game(power_on(1), true).unwrap();
    let record = power_on(2);
    let tip = lab.0.power_on(&record).unwrap();
    let id = lab.0.new_game_id();
    let journal = Journal::create(folder.path(), &id, &lab.0.header(&record), 1 << 20).unwrap();
    let refused = lab.0.admit(id, record, tip, Some(journal), Account::default());
    assert!(matches!(refused, Err(LabError::LimitExceeded { .. })));
    assert_eq!(files(folder.path()), 1);
    assert!(game.journal.unwrap().exists());
}

#[test]
fn whoever_goes_back_through_a_file_or_begins_again_is_in_the_account() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let control = Control::default();
    let account = |bytes: &[u8]| movie::read(bytes).unwrap().movie.account;
    let now = |machine| account(&lab.movie(machine).unwrap());
    let first = lab.new_game(power_on(1), true).unwrap();
    run(&lab, first.machine, "ab");
    let state = lab.save_state(first.machine, None, &control).unwrap();
    let movie = lab.movie(first.machine).unwrap();
    // Nothing was played since: it goes on where it was.
    let same = lab.replace(first.machine, None, false, |_| lab.load_state(&state, true, &control)).unwrap().snapshot;
    assert_eq!(now(same.machine), Account { inputs: 2, ..Account::default() });
    let ahead = run(&lab, same.machine, "cde").snapshot;
    let load = |_| lab.load_state(&state, true, &control);
    let loaded = lab.replace(same.machine, Some(ahead.revision), true, load).unwrap().snapshot;
    assert_eq!(now(loaded.machine), Account { inputs: 5, seeks: 1, ..Account::default() });
    run(&lab, loaded.machine, "f");
    // The same for a movie, also when another game lies between.
    let other = lab.replace(loaded.machine, None, false, |_| lab.new_game(power_on(2), true)).unwrap().snapshot;
    assert_eq!(now(other.machine), Account::default());
    let open = |_| lab.open_movie(&movie, true, &control);
    let opened = lab.replace(other.machine, None, false, open).unwrap().snapshot;
    assert_eq!(now(opened.machine), Account { inputs: 6, seeks: 2, ..Account::default() });
    // And for the game itself, begun again.
    let again = lab.replace(opened.machine, None, false, |_| lab.new_game(power_on(1), true)).unwrap().snapshot;
    run(&lab, again.machine, "g");
    assert_eq!(now(again.machine), Account { inputs: 7, seeks: 3, ..Account::default() });
    // Journals say it as exports do, and both verify.
    lab.close(again.machine, None).unwrap();
    for bytes in [std::fs::read(again.journal.unwrap()).unwrap(), lab.movie(again.machine).unwrap()] {
        let report = lab.verify(&bytes, None, &control).unwrap();
        assert_eq!((report.verdict, report.inputs, report.holds.claimed), (Verdict::Exact, 1, now(again.machine)));
        assert_eq!(report.holds.in_words().unwrap(), "claims: 3 seeks, 6 inputs taken back");
    }
    // A lab that knows nothing of it has what the file says.
    let (stranger, _) = toy::lab(None, |_| {});
    let loaded = stranger.load_state(&state, false, &control).unwrap();
    assert_eq!(account(&stranger.movie(loaded.machine).unwrap()), Account { inputs: 2, ..Account::default() });
}
