use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use movie::Finish;
use wire::{Key, Seed};

use super::{fill_disk, keys, look, power_on, run, text, toy};
use crate::{
    AdoptMode, Boundary, Control, LabError, LedgerStart, Lifecycle, Luck, ResumeFrom, Revision, Stop, Verdict,
};

/// Plays a game with lost keys, forks and adoptions in its journal; gives the journal's bytes.
fn eventful(folder: &Path) -> Vec<u8> {
    let (lab, _) = toy::lab(Some(folder), |options| options.limits.chunk_keys = 16);
    let game = lab.new_game(power_on(1), true).unwrap();
    run(&lab, game.machine, &text(1, 30));
    let luck = Luck::Reseed { core: Seed(5), display: Seed(6) };
    let fork = lab.fork(game.machine, Some(Boundary(20)), luck, 1).unwrap().remove(0);
    run(&lab, fork.machine, &text(2, 15));
    assert!(matches!(run(&lab, game.machine, "aX").stop, Stop::Lost { .. }));
    let now = lab.snapshot(game.machine).unwrap().revision;
    let mode = AdoptMode::State { take_luck: true };
    lab.adopt(game.machine, now, fork.machine, mode, &Control::default()).unwrap();
    let end = run(&lab, game.machine, &text(3, 10)).snapshot;
    std::fs::read(end.journal.unwrap()).unwrap()
}

#[test]
fn a_journal_cut_anywhere_resumes_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let journal = eventful(folder.path());
    let whole = movie::read(&journal).unwrap();
    assert_eq!((whole.movie.account.forks, whole.movie.account.lines), (1, 1));
    let header = journal.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in (header..=journal.len()).step_by(7).chain([journal.len()]) {
        let (lab, _) = toy::lab(Some(folder.path()), |_| {});
        let path = folder.path().join("cut.movie");
        std::fs::write(&path, &journal[..cut]).unwrap();
        let expected = movie::read(&journal[..cut]).unwrap();
        let resumed = lab.resume(&ResumeFrom::File(path.clone()), &Control::default()).unwrap();
        assert_eq!(resumed.inputs, expected.movie.steps.len() as u64, "cut at {cut}");
        let sent = expected.unacknowledged.map(|sent| sent.keys).unwrap_or_default();
        assert_eq!(resumed.unacknowledged, sent, "cut at {cut}");
        let end = run(&lab, resumed.snapshot.machine, "xyz").snapshot;
        assert_eq!(end.boundary.0, resumed.inputs + 3);
        let report = lab.verify(&std::fs::read(&path).unwrap(), None, &Control::default()).unwrap();
        assert_eq!((report.verdict, report.inputs), (Verdict::Exact, end.boundary.0), "cut at {cut}");
        assert_eq!(report.torn_bytes, 0);
    }
}

#[test]
fn the_latest_journal_is_the_one_with_the_highest_number() {
    let folder = tempfile::tempdir().unwrap();
    let (ids, ends) = {
        let (lab, _) = toy::lab(Some(folder.path()), |_| {});
        let games = [1, 2].map(|seed| lab.new_game(power_on(seed), true).unwrap());
        let ends = games.each_ref().map(|game| run(&lab, game.machine, "abc").snapshot);
        let in_use = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap_err();
        assert!(matches!(in_use, LabError::JournalInUse(_)), "{in_use}");
        (games.map(|game| game.game), ends)
    };
    std::fs::write(folder.path().join("note.txt"), "no journal").unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap();
    assert_eq!(resumed.snapshot.game, ids[1]);
    assert_eq!(look(&resumed.snapshot), look(&ends[1]));
    let next = lab.new_game(power_on(3), true).unwrap().journal.unwrap();
    assert!(next.file_name().unwrap().to_str().unwrap().starts_with("0003-g"), "{next:?}");
}

#[test]
fn a_closed_journal_gives_a_machine_that_is_over() {
    let folder = tempfile::tempdir().unwrap();
    for (line, lifecycle) in [("abc", Lifecycle::Aborted), ("abQ", Lifecycle::Ended)] {
        let (lab, _) = toy::lab(Some(folder.path()), |_| {});
        let game = lab.new_game(power_on(1), true).unwrap();
        assert!(matches!(lab.delete(game.machine, None), Err(LabError::GameActive(_))));
        run(&lab, game.machine, line);
        let closed = lab.close(game.machine, None).unwrap();
        lab.close(game.machine, None).unwrap();
        assert_eq!(closed.lifecycle, lifecycle);
        let bytes = std::fs::read(closed.journal.unwrap()).unwrap();
        let recording = movie::read(&bytes).unwrap();
        assert!(recording.is_closed());
        assert_eq!(matches!(recording.movie.finish, Finish::Ended(_)), line.ends_with('Q'));
        lab.delete(game.machine, None).unwrap();
        let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap();
        assert!(resumed.closed);
        assert_eq!(resumed.snapshot.lifecycle, lifecycle);
        assert_eq!(std::fs::read(resumed.journal).unwrap(), bytes);
    }
}

#[test]
fn a_changed_movie_is_told_and_not_gone_on_from() {
    let (lab, _) = toy::lab(None, |_| {});
    let game = lab.new_game(power_on(1), false).unwrap();
    run(&lab, game.machine, &text(1, 40));
    let twin = lab.new_game(power_on(1), false).unwrap();
    let mut other = text(1, 40);
    other.replace_range(23..24, "L");
    run(&lab, twin.machine, &other);
    // The keys of one game under the checks of another.
    let mut changed = movie::read(&lab.movie(game.machine).unwrap()).unwrap().movie;
    let keys = movie::read(&lab.movie(twin.machine).unwrap()).unwrap().movie.steps;
    changed.steps.iter_mut().zip(&keys).for_each(|(step, other)| step.key = other.key);
    let bytes = movie::export(&changed).unwrap();
    let report = lab.verify(&bytes, Some(game.machine), &Control::default()).unwrap();
    let Verdict::Desync(desync) = report.verdict else { panic!("{}", report.verdict) };
    assert_eq!((desync.boundary, desync.key), (Boundary(24), Some(Key(b'L'))));
    let frame = |machine| lab.frame_at(machine, Boundary(24), &Control::default()).unwrap();
    assert_eq!(report.replayed_frame.unwrap().screen, frame(twin.machine).screen);
    assert_eq!(report.recorded_frame.unwrap(), frame(game.machine));
    let refused = lab.open_movie(&bytes, false, &Control::default()).unwrap_err();
    assert_eq!(refused, LabError::Desync { boundary: Boundary(23) });
    assert!(matches!(lab.open_movie(b"junk", false, &Control::default()), Err(LabError::BadMovie(_))));
}

#[test]
fn a_movie_goes_on_in_a_journal_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let game = lab.new_game(power_on(1), false).unwrap();
    run(&lab, game.machine, &text(1, 2_500));
    let opened = lab.open_movie(&lab.movie(game.machine).unwrap(), true, &Control::default()).unwrap();
    let end = run(&lab, opened.machine, "xyz").snapshot;
    assert_eq!(look(&run(&lab, game.machine, "xyz").snapshot), look(&end));
    let report = lab.verify(&std::fs::read(end.journal.unwrap()).unwrap(), None, &Control::default()).unwrap();
    assert_eq!((report.verdict, report.inputs), (Verdict::Exact, 2_503));
}

#[test]
fn a_disk_that_is_full_costs_a_refusal_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let game = lab.new_game(power_on(1), true).unwrap();
    let before = run(&lab, game.machine, "abc").snapshot;
    let path: PathBuf = before.journal.clone().unwrap();
    let written = std::fs::read(&path).unwrap();
    fill_disk(&lab, game.machine, true);
    let error = lab.press(game.machine, before.revision, Key(b'd')).unwrap_err();
    assert!(matches!(error, LabError::Journal { nothing_sent: true, .. }), "{error}");
    let now = lab.snapshot(game.machine).unwrap();
    assert_eq!((look(&now), now.revision), (look(&before), before.revision));
    assert_eq!(std::fs::read(&path).unwrap(), written);
    fill_disk(&lab, game.machine, false);
    let end = run(&lab, game.machine, "d").snapshot;
    let report = lab.verify(&std::fs::read(&path).unwrap(), None, &Control::default()).unwrap();
    assert_eq!((report.verdict, report.inputs), (Verdict::Exact, end.boundary.0));
    let recording = movie::read(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(recording.movie.account.inputs, 4);
}

#[test]
fn an_adoption_that_was_refused_does_not_come_out_later() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let game = lab.new_game(power_on(1), true).unwrap();
    run(&lab, game.machine, "ab");
    let fork = lab.fork(game.machine, None, Luck::Same, 1).unwrap().remove(0);
    run(&lab, fork.machine, "xyz");
    // This also writes down the peek, so that the adoption is the first line that finds the disk full.
    let before = run(&lab, game.machine, "c").snapshot;
    let adopt = || {
        let mode = AdoptMode::State { take_luck: false };
        lab.adopt(game.machine, before.revision, fork.machine, mode, &Control::default())
    };
    fill_disk(&lab, game.machine, true);
    assert!(matches!(adopt(), Err(LabError::Journal { nothing_sent: true, .. })));
    assert_eq!((lab.snapshot(game.machine).unwrap().revision, lab.machines().len()), (before.revision, 2));
    fill_disk(&lab, game.machine, false);
    let end = run(&lab, game.machine, "d").snapshot;
    let recording = movie::read(&std::fs::read(end.journal.unwrap()).unwrap()).unwrap();
    let keys: Vec<Key> = recording.movie.steps.iter().map(|step| step.key).collect();
    assert_eq!(keys, b"abcd".map(Key));
    assert_eq!((recording.movie.account.adoptions, recording.movie.account.forks), (0, 1));
}

#[test]
fn a_machine_without_a_journal_counts_as_one_with_it() {
    let accounts = [true, false].map(|journalled| {
        let folder = tempfile::tempdir().unwrap();
        let (lab, _) = toy::lab(Some(folder.path()), |options| options.limits.chunk_keys = 16);
        let game = lab.new_game(power_on(1), journalled).unwrap();
        run(&lab, game.machine, &text(1, 30));
        let luck = Luck::Reseed { core: Seed(5), display: Seed(6) };
        let forks = lab.fork(game.machine, Some(Boundary(20)), luck, 3).unwrap();
        run(&lab, forks[0].machine, &text(2, 15));
        run(&lab, forks[1].machine, &text(3, 15));
        assert!(matches!(run(&lab, game.machine, "aX").stop, Stop::Lost { .. }));
        run(&lab, forks[1].machine, &text(4, 5));
        let now = lab.snapshot(game.machine).unwrap().revision;
        let mode = AdoptMode::State { take_luck: true };
        lab.adopt(game.machine, now, forks[1].machine, mode, &Control::default()).unwrap();
        run(&lab, game.machine, &text(5, 10));
        // Looking ahead once more, which nothing has followed yet.
        lab.fork(game.machine, None, Luck::Same, 2).unwrap();
        let movie = lab.movie(game.machine).unwrap();
        assert_eq!(lab.verify(&movie, None, &Control::default()).unwrap().verdict, Verdict::Exact);
        let again = lab.open_movie(&movie, false, &Control::default()).unwrap();
        let account = movie::read(&movie).unwrap().movie.account;
        run(&lab, again.machine, "ab");
        let gone_on = movie::read(&lab.movie(again.machine).unwrap()).unwrap().movie.account;
        assert_eq!(gone_on, movie::Account { inputs: account.inputs + 2, ..account }, "what was, is kept");
        account
    });
    let [journalled, account] = accounts;
    assert_eq!(journalled, account);
    assert_eq!((account.peeks, account.forks, account.lines), (3, 5, 3));
    assert_eq!((account.adoptions, account.lost, account.inputs), (1, 1, 30 + 1 + 20 + 10));
}

#[test]
fn revisions_of_another_run_are_outdated() {
    let folder = tempfile::tempdir().unwrap();
    let before = {
        let (lab, _) = toy::lab(Some(folder.path()), |_| {});
        let game = lab.new_game(power_on(1), true).unwrap();
        assert_eq!(game.revision, Revision(1));
        run(&lab, game.machine, "a").snapshot
    };
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap().snapshot;
    let opened = lab.open_movie(&lab.movie(resumed.machine).unwrap(), false, &Control::default()).unwrap();
    assert!(resumed.revision < opened.revision);
    for machine in [resumed, opened] {
        assert!(machine.revision.0 >= 1_000_000 && machine.revision.0 < 1 << 53, "{}", machine.revision);
        let retried = lab.press(machine.machine, before.revision, Key(b'b')).unwrap_err();
        assert!(matches!(retried, LabError::Stale(_)), "{retried}");
        assert_eq!(look(&run(&lab, machine.machine, "L").snapshot).0, 2);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what revisions begin with follows this clock")]
fn runs_that_follow_each_other_at_once_have_no_revision_in_common() {
    let folder = tempfile::tempdir().unwrap();
    drop(toy::lab(Some(folder.path()), |_| {}).0.new_game(power_on(1), true).unwrap());
    let ms = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let mut seen = BTreeSet::new();
    for host in 0..20 {
        // No process begins in the millisecond in which another has ended.
        let ended = ms();
        while ms() == ended {}
        let (lab, _) = toy::lab(Some(folder.path()), |_| {});
        let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap().snapshot;
        let mut revisions = vec![resumed.revision];
        revisions.extend((0..10).map(|_| run(&lab, resumed.machine, "a").snapshot.revision));
        assert!(revisions.into_iter().all(|revision| seen.insert(revision)), "host {host}: {seen:?}");
    }
}

#[test]
fn a_latest_journal_without_a_whole_first_line_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let end = {
        let (lab, _) = toy::lab(Some(folder.path()), |_| {});
        let game = lab.new_game(power_on(1), true).unwrap();
        run(&lab, game.machine, "abc").snapshot
    };
    let names = || std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names(), 1, "no draft stays");
    let whole = std::fs::read(end.journal.as_ref().unwrap()).unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    // It had that line before it had its name: what is there now is a game that is lost, and no other is gone on with.
    for (name, bytes) in [("0002-gx.movie", &[][..]), ("0003-gx.movie", &whole[..20])] {
        let damaged = folder.path().join(name);
        std::fs::write(&damaged, bytes).unwrap();
        for error in [
            lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap_err(),
            lab.foresee(&ResumeFrom::Latest).unwrap_err(),
        ] {
            assert!(matches!(error.cause(), LabError::BadMovie(_)) && error.is_refusal(), "{error:?}");
            assert!(error.to_string().contains(name), "{error}");
        }
        assert_eq!(std::fs::read(&damaged).unwrap(), bytes);
    }
    let next = lab.new_game(power_on(1), true).unwrap();
    let path = next.journal.unwrap();
    assert!(path.file_name().unwrap().to_str().unwrap().starts_with("0004-g"), "{path:?}");
    lab.close(next.machine, None).unwrap();
    lab.delete(next.machine, None).unwrap();
    for damaged in [path, folder.path().join("0003-gx.movie"), folder.path().join("0002-gx.movie")] {
        std::fs::remove_file(damaged).unwrap();
    }
    let seen = lab.foresee(&ResumeFrom::Latest).unwrap();
    assert_eq!((&seen.journal, seen.is_new), (end.journal.as_ref().unwrap(), false));
    assert_eq!(seen.damage.as_deref(), Some("it is not there"));
    let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap();
    assert_eq!((&resumed.journal, look(&resumed.snapshot)), (end.journal.as_ref().unwrap(), look(&end)));
    // One whose first line is whole and wrong is not passed over, and is named.
    let junk = folder.path().join("0009-gx.movie");
    std::fs::write(&junk, "junk\n").unwrap();
    let error = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap_err();
    assert!(matches!(error.cause(), LabError::BadMovie(_)) && error.is_refusal(), "{error:?}");
    assert!(error.to_string().contains("0009-gx.movie"), "{error}");
}

#[test]
fn an_exported_movie_goes_on_in_a_new_journal() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let game = lab.new_game(power_on(1), false).unwrap();
    let end = run(&lab, game.machine, "abc").snapshot;
    let export = folder.path().join("export.movie");
    let bytes = lab.movie(game.machine).unwrap();
    std::fs::write(&export, &bytes).unwrap();
    let resumed = lab.resume(&ResumeFrom::File(export.clone()), &Control::default()).unwrap();
    assert_eq!((resumed.closed, resumed.inputs, resumed.snapshot.lifecycle), (false, 3, Lifecycle::Idle));
    assert_eq!(
        (resumed.snapshot.frame.clone(), Some(&resumed.journal)),
        (end.frame, resumed.snapshot.journal.as_ref())
    );
    assert!(resumed.journal.file_name().unwrap().to_str().unwrap().starts_with("0001-g"));
    assert!(resumed.is_new && !resumed.journal.exists(), "nobody finds it before its ledger is there");
    lab.begin_ledger(resumed.snapshot.machine, &LedgerStart::default()).unwrap().unwrap();
    run(&lab, resumed.snapshot.machine, "de");
    assert_eq!(std::fs::read(&export).unwrap(), bytes);
    let report = lab.verify(&std::fs::read(resumed.journal).unwrap(), None, &Control::default()).unwrap();
    assert_eq!((report.verdict, report.inputs), (Verdict::Exact, 5));
    // Where there is nowhere to go on, the game is not taken for over.
    let (poor, _) = toy::lab(None, |_| {});
    let error = poor.resume(&ResumeFrom::File(export), &Control::default()).unwrap_err();
    assert_eq!(error.cause(), &LabError::NoMovies);
}

#[test]
fn a_journal_does_not_outgrow_what_is_read() {
    assert_eq!(crate::Limits::default().movie_bytes, movie::FILE_BYTES_MAX);
    let folder = tempfile::tempdir().unwrap();
    let max = 80 << 10;
    let (lab, _) = toy::lab(Some(folder.path()), |options| options.limits.movie_bytes = max);
    let game = lab.new_game(power_on(1), true).unwrap();
    let mut full = None;
    for _ in 0..500 {
        let now = lab.snapshot(game.machine).unwrap();
        match lab.run(game.machine, now.revision, &keys("a"), &Control::default()) {
            Ok(done) => assert_eq!(done.inputs.len(), 1),
            Err(error) => {
                full = Some((now, error));
                break;
            }
        }
    }
    let (before, error) = full.expect("the journal comes to its limit");
    assert!(matches!(error, LabError::LimitExceeded { what: "bytes of a journal", .. }), "{error}");
    let now = lab.snapshot(game.machine).unwrap();
    assert_eq!((look(&now), now.revision), (look(&before), before.revision));
    // Nor does it by adoptions.
    let fork = lab.fork(game.machine, None, Luck::Same, 1).unwrap().remove(0);
    run(&lab, fork.machine, &text(1, 600));
    let mode = AdoptMode::State { take_luck: false };
    let error = lab.adopt(game.machine, now.revision, fork.machine, mode, &Control::default()).unwrap_err();
    assert!(matches!(error, LabError::LimitExceeded { what: "bytes of a journal", .. }), "{error}");
    assert_eq!(lab.snapshot(game.machine).unwrap().revision, now.revision);
    let closed = lab.close(game.machine, None).unwrap();
    let journal = std::fs::read(closed.journal.unwrap()).unwrap();
    assert!(journal.len() < max);
    let report = lab.verify(&journal, None, &Control::default()).unwrap();
    assert_eq!((report.verdict, report.inputs), (Verdict::Exact, now.boundary.0));
    // In the middle of a call it is an end like that of a full line.
    let (lab, _) = toy::lab(Some(folder.path()), |options| {
        (options.limits.movie_bytes, options.limits.chunk_keys) = (max, 1);
    });
    let game = lab.new_game(power_on(1), true).unwrap();
    let done = run(&lab, game.machine, &text(1, 500));
    assert_eq!(done.stop, Stop::Batch(wire::StopReason::InputLimit));
    assert!(!done.inputs.is_empty() && done.inputs.len() < 500);
}

#[test]
fn a_disk_that_fills_up_after_pressing_says_how_much_was_pressed() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |options| options.limits.chunk_keys = 4);
    let game = lab.new_game(power_on(1), true).unwrap();
    let before = run(&lab, game.machine, "ab").snapshot;
    let slot = lab.0.slot(game.machine).unwrap();
    // What a round still owes goes out first in the next.
    for (room, applied) in [(0, 0), (1, 4), (2, 4), (3, 4), (4, 8)] {
        let now = lab.snapshot(game.machine).unwrap();
        slot.take(None, 16).unwrap().journal().as_mut().unwrap().fill_disk_after(room);
        let error = lab.run(game.machine, now.revision, &keys("cdefghijkl"), &Control::default()).unwrap_err();
        let LabError::Journal { nothing_sent, applied: told, .. } = error else { panic!("{error}") };
        assert_eq!((told, nothing_sent), (applied, applied == 0), "room for {room} lines");
        assert_eq!(error.to_string().contains("pressed"), applied > 0, "{error}");
        assert_eq!(lab.snapshot(game.machine).unwrap().boundary.0, now.boundary.0 + applied);
        fill_disk(&lab, game.machine, false);
    }
    let end = run(&lab, game.machine, "z").snapshot;
    assert_eq!(end.boundary.0, before.boundary.0 + 21);
    let report = lab.verify(&std::fs::read(end.journal.unwrap()).unwrap(), None, &Control::default()).unwrap();
    assert_eq!((report.verdict, report.inputs), (Verdict::Exact, end.boundary.0));
}
