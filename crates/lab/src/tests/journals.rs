use std::path::{Path, PathBuf};

use movie::Finish;
use wire::{Key, Seed};

use super::{fill_disk, look, power_on, run, text, toy};
use crate::{AdoptMode, Boundary, Control, LabError, Lifecycle, Luck, ResumeFrom, Stop, Verdict};

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
