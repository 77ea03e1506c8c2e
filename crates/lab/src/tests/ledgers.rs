use std::path::{Path, PathBuf};

use movie::{LedgerRecord, LedgerWriter};
use wire::{Key, Seed};

use super::{keys, look, power_on, run, text, toy};
use crate::{
    AdoptMode, Boundary, Control, Lab, LabError, Ledger, LedgerStart, Luck, MachineId, Reopened, ResumeFrom, Snapshot,
};

const LUCK: Luck = Luck::Reseed { core: Seed(5), display: Seed(6) };

/// A lab with a journalled game and its ledger.
fn begin(folder: &Path) -> (Lab, Snapshot, Ledger) {
    let (lab, _) = toy::lab(Some(folder), |options| options.limits.chunk_keys = 16);
    let game = lab.new_game(power_on(1), true).unwrap();
    let ledger = lab.begin_ledger(game.machine, &LedgerStart::default()).unwrap().unwrap();
    (lab, game, ledger)
}

fn fork(lab: &Lab, from: MachineId, at: Option<u64>, luck: Luck) -> MachineId {
    lab.fork(from, at.map(Boundary), luck, 1).unwrap().remove(0).machine
}

fn revision(lab: &Lab, machine: MachineId) -> crate::Revision {
    lab.snapshot(machine).unwrap().revision
}

/// A game with forks of every kind; gives the forks by their numbers.
fn eventful(lab: &Lab, game: MachineId, ledger: &Ledger) -> Vec<(u64, MachineId)> {
    run(lab, game, &text(1, 40));
    let mut forks = Vec::new();
    let mut keep = |machine| {
        let number = forks.len() as u64 + 1;
        ledger.keep(lab, number, machine).unwrap();
        forks.push((number, machine));
        machine
    };
    let early = keep(fork(lab, game, Some(10), Luck::Same));
    run(lab, early, &text(2, 700));
    let other = keep(fork(lab, game, None, LUCK));
    let of_fork = keep(fork(lab, early, Some(300), LUCK));
    run(lab, of_fork, &text(3, 50));
    run(lab, other, &text(4, 5));
    lab.seek(game, revision(lab, game), Boundary(20), &Control::default()).unwrap();
    keep(fork(lab, game, None, Luck::Same));
    let mode = AdoptMode::State { take_luck: true };
    let adopted = lab.adopt(game, revision(lab, game), other, mode, &Control::default()).unwrap();
    keep(adopted.old_tip.unwrap());
    let late = keep(fork(lab, game, None, Luck::Same));
    run(lab, late, "abc");
    let seek = lab.seek(early, revision(lab, early), Boundary(400), &Control::default()).unwrap();
    assert_eq!(seek.boundary.0, 400);
    run(lab, early, "xyz");
    keep(fork(lab, early, None, Luck::Same));
    forks
}

fn reopen(folder: &Path) -> (Lab, Snapshot, Reopened) {
    let (lab, _) = toy::lab(Some(folder), |_| {});
    let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap();
    let reopened = lab.reopen_ledger(resumed.snapshot.machine, &resumed.journal).unwrap();
    (lab, resumed.snapshot, reopened)
}

fn ledger_file(folder: &Path) -> PathBuf {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|ending| ending == "ledger"));
    found.sort();
    found.pop().unwrap()
}

#[test]
fn forks_of_every_kind_come_back_and_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut expected = {
        let (lab, game, ledger) = begin(folder.path());
        let forks = eventful(&lab, game.machine, &ledger);
        ledger.note("breakpoints", "[1]").unwrap();
        ledger.note("gone", "x").unwrap();
        ledger.note("gone", "").unwrap();
        let looks = forks.iter().map(|(number, fork)| (*number, look(&lab.snapshot(*fork).unwrap())));
        looks.collect::<Vec<_>>()
    };
    // More than once, since the ledger is written anew each time.
    for round in 0..3 {
        let (lab, main, reopened) = reopen(folder.path());
        assert!(reopened.lost.is_empty() && reopened.damage.is_none(), "{reopened:?}");
        assert_eq!((reopened.last, reopened.torn_bytes), (expected.len() as u64, 0));
        assert_eq!(reopened.ledger.note_of("breakpoints").as_deref(), Some("[1]"));
        assert_eq!(reopened.ledger.note_of("gone"), None);
        assert_eq!(reopened.forks.iter().map(|(number, _)| *number).collect::<Vec<_>>(), {
            expected.iter().map(|(number, _)| *number).collect::<Vec<_>>()
        });
        for ((number, fork), (_, expected)) in reopened.forks.iter().zip(&mut expected) {
            let asleep = lab.asleep(*fork).unwrap();
            assert_eq!(asleep.boundary.0, expected.0, "fork {number}");
            let snapshot = lab.snapshot(*fork).unwrap();
            assert_eq!(look(&snapshot), *expected, "fork {number} in round {round}");
            assert_eq!((snapshot.revision, &snapshot.game), (asleep.revision, &main.game));
            assert!(lab.asleep(*fork).is_none());
            *expected = look(&run(&lab, *fork, "ab").snapshot);
            let report = lab.verify(&lab.movie(*fork).unwrap(), Some(*fork), &Control::default()).unwrap();
            assert_eq!(report.verdict, crate::Verdict::Exact);
        }
        // They are forks of this game still.
        let mode = AdoptMode::State { take_luck: true };
        let (number, last) = *reopened.forks.last().unwrap();
        let adopted = lab.adopt(main.machine, revision(&lab, main.machine), last, mode, &Control::default()).unwrap();
        reopened.ledger.keep(&lab, number + 1, adopted.old_tip.unwrap()).unwrap();
        expected.push((number + 1, look(&lab.snapshot(adopted.old_tip.unwrap()).unwrap())));
    }
}

#[test]
fn a_ledger_cut_anywhere_brings_back_what_was_whole() {
    let folder = tempfile::tempdir().unwrap();
    let forks = {
        let (lab, game, ledger) = begin(folder.path());
        eventful(&lab, game.machine, &ledger).len()
    };
    let file = ledger_file(folder.path());
    let bytes = std::fs::read(&file).unwrap();
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut most = 0;
    for cut in (0..=bytes.len()).step_by(97).chain([header, bytes.len()]) {
        std::fs::write(&file, &bytes[..cut]).unwrap();
        let (lab, _, reopened) = reopen(folder.path());
        // Without its first line it is no ledger.
        assert_eq!(reopened.damage.is_some(), cut < header, "cut at {cut}: {reopened:?}");
        assert_eq!(reopened.last > 1 << 40, cut < header, "cut at {cut}: {reopened:?}");
        assert!(reopened.lost.is_empty(), "cut at {cut}: {reopened:?}");
        let whole = bytes[..cut].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        assert_eq!(reopened.torn_bytes, (cut - whole) as u64, "cut at {cut}");
        most = most.max(reopened.forks.len());
        for (number, fork) in &reopened.forks {
            lab.wake(*fork, &Control::default()).unwrap_or_else(|error| panic!("cut at {cut}: {number}: {error}"));
        }
    }
    assert_eq!(most, forks);
}

#[test]
fn a_changed_line_ends_what_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    {
        let (lab, game, ledger) = begin(folder.path());
        eventful(&lab, game.machine, &ledger);
    }
    let file = ledger_file(folder.path());
    let bytes = std::fs::read(&file).unwrap();
    // As many as may be beside it by now.
    let mut aside: Vec<PathBuf> = Vec::new();
    for at in (0..bytes.len()).step_by(131) {
        let mut other = bytes.clone();
        other[at] ^= 1;
        std::fs::write(&file, &other).unwrap();
        let (lab, _, reopened) = reopen(folder.path());
        assert!(reopened.damage.is_some() || reopened.torn_bytes > 0, "changed at {at}");
        assert!(reopened.forks.iter().all(|(_, fork)| lab.wake(*fork, &Control::default()).is_ok()), "at {at}");
        assert_eq!(reopened.damage.is_some(), reopened.last > 1 << 40, "changed at {at}: {reopened:?}");
        if reopened.damage.is_some() {
            let kept = reopened.aside.unwrap();
            assert!(!aside.contains(&kept), "a file that was kept aside stays");
            assert_eq!(std::fs::read(&kept).unwrap(), other);
            aside.push(kept);
        }
    }
}

#[test]
fn numbers_go_on_beyond_all_where_the_last_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let first = {
        let (lab, game, ledger) = begin(folder.path());
        (1..=40).for_each(|number| {
            ledger.keep(&lab, number, fork(&lab, game.machine, None, Luck::Same)).unwrap();
        });
        std::fs::read(ledger.path()).unwrap()
    };
    let file = ledger_file(folder.path());
    let mut last = 40;
    let ruined: [&dyn Fn(); 4] = [
        &|| std::fs::remove_file(&file).unwrap(),
        &|| std::fs::write(&file, "").unwrap(),
        &|| std::fs::write(&file, vec![0; 5_000]).unwrap(),
        &|| std::fs::write(&file, [&first[..first.len() / 2], b"\n"].concat()).unwrap(),
    ];
    for (number, ruin) in ruined.iter().enumerate() {
        ruin();
        let there = std::fs::read(&file).ok();
        let (lab, main, reopened) = reopen(folder.path());
        assert!(reopened.damage.is_some() && reopened.last > last, "ruin {number}: {reopened:?}");
        assert_eq!(reopened.aside.map(|aside| std::fs::read(aside).unwrap()), there, "ruin {number}");
        last = reopened.last + 1;
        reopened.ledger.keep(&lab, last, fork(&lab, main.machine, None, Luck::Same)).unwrap();
        drop((lab, reopened.ledger));
        // What is written again is whole.
        let (_, _, reopened) = reopen(folder.path());
        assert_eq!((reopened.damage, reopened.last), (None, last), "ruin {number}");
    }
}

/// What stands where a file should, and how it is made.
type Made<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
fn what_is_no_file_is_neither_waited_for_nor_read() {
    let folder = tempfile::tempdir().unwrap();
    let (_, game, _) = begin(folder.path());
    let (journal, ledger) = (game.journal.unwrap(), ledger_file(folder.path()));
    let pipe = |path: &Path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let device = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    let nowhere = |path: &Path| std::os::unix::fs::symlink("nowhere", path).unwrap();
    let itself = |path: &Path| std::os::unix::fs::symlink(path.file_name().unwrap(), path).unwrap();
    let directory = |path: &Path| std::fs::create_dir(path).unwrap();
    let sparse = |path: &Path| std::fs::File::create(path).unwrap().set_len(100 << 30).unwrap();
    let kinds: [Made<'_>; 6] = [
        ("pipe", &pipe),
        ("device", &device),
        ("link to nowhere", &nowhere),
        ("link to itself", &itself),
        ("directory", &directory),
        ("sparse file", &sparse),
    ];
    for (what, make) in kinds {
        for file in [&journal, &ledger] {
            let real = file.with_extension("real");
            std::fs::rename(file, &real).unwrap();
            make(file);
            let (lab, _) = toy::lab(Some(folder.path()), |_| {});
            let resumed = lab.resume(&ResumeFrom::Latest, &Control::default());
            let reopened = resumed.and_then(|resumed| {
                lab.reopen_ledger(resumed.snapshot.machine, &resumed.journal).map(|reopened| reopened.damage)
            });
            let error = reopened.expect_err(what).to_string();
            assert!(error.contains(&*file.to_string_lossy()), "{what}: {error}");
            drop(lab);
            let gone = if what == "directory" { std::fs::remove_dir(file) } else { std::fs::remove_file(file) };
            gone.unwrap();
            std::fs::rename(&real, file).unwrap();
        }
    }
    let (_, _, reopened) = reopen(folder.path());
    assert_eq!(reopened.damage, None, "and nothing came of it");
}

#[test]
fn a_fork_that_does_not_replay_is_dropped_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = {
        let (lab, game, ledger) = begin(folder.path());
        run(&lab, game.machine, "abc");
        let fork = fork(&lab, game.machine, None, Luck::Same);
        ledger.keep(&lab, 1, fork).unwrap();
        run(&lab, fork, "de");
        std::fs::read_to_string(ledger.path()).unwrap()
    };
    let mut lines = text.lines();
    let (mut reader, header) = movie::LedgerReader::begin(lines.next().unwrap().as_bytes()).unwrap();
    let (mut writer, mut forged) = LedgerWriter::begin(&header).unwrap();
    for line in lines {
        let mut record = reader.record(line.as_bytes()).unwrap();
        if let LedgerRecord::Line { part, .. } = &mut record {
            part.steps[1].check.0 ^= 1;
        }
        let (after, more) = writer.record(&record).unwrap();
        writer = after;
        forged += &more;
    }
    std::fs::write(ledger_file(folder.path()), forged).unwrap();
    let (lab, main, reopened) = reopen(folder.path());
    let (number, machine) = reopened.forks[0];
    let error = lab.snapshot(machine).unwrap_err();
    assert!(matches!(error, LabError::Desync { boundary: Boundary(4) }), "{error}");
    assert_eq!(lab.snapshot(machine).unwrap_err(), LabError::UnknownMachine(machine));
    assert_eq!(reopened.ledger.lost()[0].0, number);
    run(&lab, main.machine, "x");
    drop((lab, reopened));
    let (_, _, reopened) = reopen(folder.path());
    assert!(reopened.forks.is_empty());
    assert_eq!(reopened.last, 1);
}

#[test]
fn numbers_are_never_given_again_and_deletions_stay() {
    let folder = tempfile::tempdir().unwrap();
    {
        let (lab, game, ledger) = begin(folder.path());
        for number in 1..=3 {
            let fork = fork(&lab, game.machine, None, Luck::Same);
            ledger.keep(&lab, number, fork).unwrap();
            assert!(ledger.keep(&lab, number, fork).is_err() && ledger.reserve(number).is_err());
            if number > 1 {
                lab.delete(fork, None).unwrap();
            }
        }
    }
    let (lab, main, reopened) = reopen(folder.path());
    assert_eq!((reopened.last, reopened.forks.len()), (3, 1));
    // One that sleeps is deleted without being woken.
    lab.delete(reopened.forks[0].1, None).unwrap();
    let fork = fork(&lab, main.machine, None, Luck::Same);
    assert!(reopened.ledger.keep(&lab, 3, fork).is_err());
    // A number that was taken is nobody else's, whether or not it comes to be used.
    reopened.ledger.reserve(4).unwrap();
    reopened.ledger.reserve(5).unwrap();
    reopened.ledger.reserve(5).unwrap();
    reopened.ledger.keep(&lab, 6, fork).unwrap();
    reopened.ledger.keep(&lab, 4, self::fork(&lab, main.machine, None, Luck::Same)).unwrap();
    assert!(reopened.ledger.keep(&lab, 4, fork).is_err());
    drop((lab, reopened));
    let (_, _, reopened) = reopen(folder.path());
    let numbers: Vec<u64> = reopened.forks.iter().map(|(number, _)| *number).collect();
    assert_eq!((reopened.last, numbers), (6, vec![4, 6]));
}

#[test]
fn forks_of_an_old_game_go_on_beside_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let (old, expected) = {
        let (lab, game, ledger) = begin(folder.path());
        let forks = eventful(&lab, game.machine, &ledger);
        ledger.note("n", "kept").unwrap();
        let next = lab.new_game(power_on(2), true).unwrap();
        let start =
            LedgerStart { last: forks.len() as u64, kept: &forks, old: Some(&ledger), ..LedgerStart::default() };
        let kept = lab.begin_ledger(next.machine, &start).unwrap().unwrap();
        lab.close(game.machine, None).unwrap();
        lab.delete(game.machine, None).unwrap();
        run(&lab, forks[0].1, "abc");
        lab.delete(forks[1].1, None).unwrap();
        let number = forks.len() as u64 + 1;
        kept.keep(&lab, number, fork(&lab, next.machine, None, Luck::Same)).unwrap();
        let looks = forks.iter().filter(|(number, _)| *number != 2);
        let looks = looks.map(|(number, fork)| (*number, look(&lab.snapshot(*fork).unwrap())));
        (game.game, looks.collect::<Vec<_>>())
    };
    let (lab, main, reopened) = reopen(folder.path());
    assert_eq!(reopened.forks.len(), expected.len() + 1);
    assert_eq!(reopened.ledger.note_of("n").as_deref(), Some("kept"));
    for ((number, machine), (expected_number, expected)) in reopened.forks.iter().zip(&expected) {
        let snapshot = lab.snapshot(*machine).unwrap();
        assert_eq!((number, &look(&snapshot)), (expected_number, expected));
        assert_eq!(snapshot.game, old);
    }
    assert_eq!(lab.snapshot(reopened.forks.last().unwrap().1).unwrap().game, main.game);
    // A game that is begun while forks sleep takes them along too.
    drop((lab, reopened));
    let (lab, main, reopened) = reopen(folder.path());
    let next = lab.new_game(power_on(3), true).unwrap();
    let start = LedgerStart {
        last: reopened.last,
        kept: &reopened.forks,
        old: Some(&reopened.ledger),
        ..LedgerStart::default()
    };
    let ledger = lab.begin_ledger(next.machine, &start).unwrap();
    run(&lab, reopened.forks[0].1, "q");
    lab.close(main.machine, None).unwrap();
    drop((lab, reopened, ledger));
    let (lab, _, reopened) = reopen(folder.path());
    assert_eq!(lab.snapshot(reopened.forks[0].1).unwrap().boundary.0, expected[0].1.0 + 1);
}

#[test]
fn a_full_disk_refuses_keys_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let boundary = {
        let (lab, game, ledger) = begin(folder.path());
        let machine = fork(&lab, game.machine, None, Luck::Same);
        ledger.keep(&lab, 1, machine).unwrap();
        ledger.0.pages().file.is_full = true;
        let press = |text: &str| lab.run(machine, revision(&lab, machine), &keys(text), &Control::default());
        let error = press("a").unwrap_err();
        assert!(matches!(error, LabError::Journal { nothing_sent: false, applied: 1, .. }), "{error:?}");
        let error = press("b").unwrap_err();
        assert!(matches!(error, LabError::Journal { nothing_sent: true, applied: 0, .. }), "{error:?}");
        assert_eq!(lab.snapshot(machine).unwrap().boundary.0, 1);
        let another = fork(&lab, game.machine, None, Luck::Same);
        assert!(ledger.keep(&lab, 2, another).is_err() && lab.delete(machine, None).is_err());
        ledger.0.pages().file.is_full = false;
        press("c").unwrap();
        lab.snapshot(machine).unwrap().boundary.0
    };
    let (lab, _, reopened) = reopen(folder.path());
    assert!(reopened.damage.is_none() && reopened.torn_bytes == 0);
    assert_eq!(lab.snapshot(reopened.forks[0].1).unwrap().boundary.0, boundary);
    assert_eq!(lab.history(reopened.forks[0].1, Boundary(0), 9).unwrap().steps[1].key, Key(b'c'));
}

#[test]
fn a_ledger_of_what_is_no_more_is_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    {
        let (lab, game, ledger) = begin(folder.path());
        run(&lab, game.machine, &text(9, 30));
        let kept = fork(&lab, game.machine, None, Luck::Same);
        ledger.keep(&lab, 1, kept).unwrap();
        for number in 2..400 {
            let machine = fork(&lab, game.machine, Some(number % 20), LUCK);
            ledger.keep(&lab, number, machine).unwrap();
            run(&lab, machine, "abcd");
            lab.delete(machine, None).unwrap();
            run(&lab, kept, "e");
        }
        let bytes = std::fs::metadata(ledger.path()).unwrap().len();
        assert!(bytes < 100_000, "{bytes} bytes");
    }
    let (lab, _, reopened) = reopen(folder.path());
    assert_eq!((reopened.last, reopened.forks.len()), (399, 1));
    assert_eq!(lab.snapshot(reopened.forks[0].1).unwrap().boundary.0, 30 + 398);
}

#[test]
fn a_closed_game_keeps_its_forks() {
    let folder = tempfile::tempdir().unwrap();
    {
        let (lab, game, ledger) = begin(folder.path());
        run(&lab, game.machine, "abc");
        ledger.keep(&lab, 1, fork(&lab, game.machine, None, Luck::Same)).unwrap();
        lab.close(game.machine, None).unwrap();
        ledger.keep(&lab, 2, fork(&lab, game.machine, Some(1), Luck::Same)).unwrap();
    }
    for forks in 2..4 {
        let (lab, main, reopened) = reopen(folder.path());
        assert_eq!(reopened.forks.len(), forks);
        for (_, fork) in &reopened.forks {
            run(&lab, *fork, "d");
        }
        reopened.ledger.keep(&lab, forks as u64 + 1, fork(&lab, main.machine, Some(2), LUCK)).unwrap();
    }
    let in_use = reopen(folder.path());
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap();
    let error = lab.reopen_ledger(resumed.snapshot.machine, &resumed.journal).unwrap_err();
    assert!(matches!(error, LabError::JournalInUse(_)), "{error}");
    drop(in_use);
}

#[test]
fn a_fork_that_went_back_comes_back_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let expected = {
        let (lab, game, ledger) = begin(folder.path());
        run(&lab, game.machine, &text(1, 40));
        let back = fork(&lab, game.machine, None, Luck::Same);
        ledger.keep(&lab, 1, back).unwrap();
        run(&lab, back, "abc");
        look(&lab.seek(back, revision(&lab, back), Boundary(20), &Control::default()).unwrap())
    };
    let (lab, _, reopened) = reopen(folder.path());
    assert_eq!(look(&lab.snapshot(reopened.forks[0].1).unwrap()), expected);
}
