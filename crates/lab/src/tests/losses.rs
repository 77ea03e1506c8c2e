use std::sync::atomic::Ordering;

use wire::{Key, OnMore, StopReason};

use super::{keys, look, power_on, run, text, toy};
use crate::{Boundary, Control, Stop, Verdict};

#[test]
fn workers_that_die_on_the_way_change_nothing() {
    let line = text(4, 300).replace('c', "cM");
    let batch = |on_more| wire::Batch { on_more, ..keys(&line) };
    for on_more in [OnMore::Stop, OnMore::Dismiss] {
        let (quiet, _) = toy::lab(None, |_| {});
        let game = quiet.new_game(power_on(4), false).unwrap();
        let expected = quiet.run(game.machine, game.revision, &batch(on_more), &Control::default()).unwrap();
        for every in [2, 3, 7, 50, 299] {
            let folder = tempfile::tempdir().unwrap();
            let (lab, faults) = toy::lab(Some(folder.path()), |options| options.limits.chunk_keys = 40);
            let game = lab.new_game(power_on(4), true).unwrap();
            faults.death_every.store(every, Ordering::SeqCst);
            let done = lab.run(game.machine, game.revision, &batch(on_more), &Control::default()).unwrap();
            faults.death_every.store(0, Ordering::SeqCst);
            assert!(done.workers_lost > 0, "every {every}");
            assert_eq!(done.inputs, expected.inputs, "every {every}");
            assert_eq!(done.stop, Stop::Batch(StopReason::Done));
            assert_eq!(look(&done.snapshot), look(&expected.snapshot), "every {every}");
            let journal = std::fs::read(done.snapshot.journal.unwrap()).unwrap();
            let report = lab.verify(&journal, None, &Control::default()).unwrap();
            assert_eq!((report.verdict, report.inputs), (Verdict::Exact, done.inputs.len() as u64));
        }
    }
}

#[test]
fn a_key_that_kills_again_is_lost_and_the_machine_stays_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let game = lab.new_game(power_on(5), true).unwrap();
    let done = run(&lab, game.machine, "abcXde");
    let Stop::Lost { key, .. } = done.stop else { panic!("{:?}", done.stop) };
    assert_eq!((key, done.inputs.len(), done.snapshot.boundary), (Key(b'X'), 3, Boundary(3)));
    let twin = lab.new_game(power_on(5), false).unwrap();
    assert_eq!(look(&run(&lab, twin.machine, "abc").snapshot), look(&done.snapshot));
    let end = run(&lab, game.machine, "de").snapshot;
    let journal = std::fs::read(end.journal.unwrap()).unwrap();
    let recording = movie::read(&journal).unwrap();
    assert_eq!(recording.lost.iter().map(|lost| (lost.at, lost.key)).collect::<Vec<_>>(), [(Boundary(3), key)]);
    assert_eq!(recording.movie.steps.len(), 5);
    assert_eq!(lab.verify(&journal, None, &Control::default()).unwrap().verdict, Verdict::Exact);
}

#[test]
fn work_of_the_labs_own_survives_a_lost_worker() {
    let (lab, faults) = toy::lab(None, |_| {});
    let lose = || faults.deaths.store(2, Ordering::SeqCst);
    lose();
    let game = lab.new_game(power_on(6), false).unwrap();
    let end = run(&lab, game.machine, &text(6, 30)).snapshot;
    let movie = lab.movie(game.machine).unwrap();
    lose();
    assert_eq!(lab.verify(&movie, None, &Control::default()).unwrap().verdict, Verdict::Exact);
    lose();
    assert_eq!(look(&lab.open_movie(&movie, false, &Control::default()).unwrap()), look(&end));
    lose();
    assert!(lab.frame_at(game.machine, Boundary(7), &Control::default()).is_ok());
    let state = lab.state(game.machine).unwrap();
    let lost = lab.info().workers_lost;
    lose();
    assert!(lab.look(&state).is_ok());
    assert_eq!(lab.info().workers_lost, lost + 2);
    faults.deaths.store(u64::MAX, Ordering::SeqCst);
    let report = lab.verify(&movie, None, &Control::default()).unwrap();
    assert_eq!(report.verdict.name(), "cannot-judge");
    faults.deaths.store(0, Ordering::SeqCst);
}

#[test]
fn a_rom_that_fails_where_the_movie_goes_on_is_no_other_play() {
    let (lab, faults) = toy::lab(None, |options| options.limits.chunk_keys = 2);
    let game = lab.new_game(power_on(7), false).unwrap();
    run(&lab, game.machine, "abczde");
    let movie = lab.movie(game.machine).unwrap();
    let verdict = || lab.verify(&movie, None, &Control::default()).unwrap().verdict;
    for (key, place) in [(b'z', 3), (b'e', 5)] {
        faults.breaking_key.store(u64::from(key), Ordering::SeqCst);
        let verdict = verdict();
        assert_eq!(verdict.name(), "cannot-judge");
        let words = format!("the ROM failed: SIGSEGV at input {place}");
        assert!(verdict.to_string().contains(&words), "{verdict}");
    }
    // Where the movie says so, it is what must happen, and to go on instead is other play.
    let broken = lab.new_game(power_on(7), false).unwrap();
    run(&lab, broken.machine, "abe");
    let movie = lab.movie(broken.machine).unwrap();
    let verdict = || lab.verify(&movie, None, &Control::default()).unwrap().verdict;
    assert_eq!(verdict(), Verdict::Exact);
    faults.breaking_key.store(0, Ordering::SeqCst);
    assert_eq!(verdict().name(), "desync");
}
