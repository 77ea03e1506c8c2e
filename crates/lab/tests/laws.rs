//! Forks, adoptions, movies.

use lab::{AdoptMode, Boundary, Control, LabError, Luck, Verdict};
use wire::{Batch, Key, OnMore, Seed};

use crate::support::{keys, lab, look, power_on, run};

const OTHER: Luck = Luck::Reseed { core: Seed(0), display: Seed(u64::MAX) };

pub(crate) fn a_fork_is_a_replay() {
    let lab = lab(None, |_| {});
    for seed in 0..6 {
        let line = keys(seed, 400);
        let game = lab.new_game(power_on(seed), false).unwrap();
        let end = run(&lab, game.machine, &line).snapshot;
        for at in [0, 1, 137, 399] {
            if at >= end.boundary.0 {
                continue;
            }
            let fork = lab.fork(game.machine, Some(Boundary(at)), Luck::Same, 1).unwrap().remove(0);
            let there = run(&lab, fork.machine, &line[at as usize..]).snapshot;
            assert_eq!(look(&there), look(&end), "seed {seed}, boundary {at}");
            let diff = lab.diff(game.machine, fork.machine).unwrap();
            assert!(diff.visible_same && diff.play_same, "seed {seed}, boundary {at}");
            assert!(diff.images_same, "seed {seed}, boundary {at}");
        }
    }
}

pub(crate) fn an_adopted_line_verifies_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(Some(folder.path()), |_| {});
    for seed in 10..14 {
        let game = lab.new_game(power_on(seed), true).unwrap();
        run(&lab, game.machine, &keys(seed, 700));
        let luck = if seed % 2 == 0 { Luck::Same } else { OTHER };
        let Ok(mut forks) = lab.fork(game.machine, None, luck, 1) else { continue };
        let fork = forks.remove(0);
        if fork.ended.is_some() {
            continue;
        }
        let ahead = run(&lab, fork.machine, &keys(seed + 100, 900)).snapshot;
        let old = run(&lab, game.machine, &keys(seed + 200, 50)).snapshot;
        let mode = AdoptMode::State { take_luck: true };
        let done = lab.adopt(game.machine, old.revision, fork.machine, mode, &Control::default()).unwrap();
        assert_eq!(look(&done.snapshot), look(&ahead), "seed {seed}");
        let left = lab.snapshot(done.old_tip.unwrap()).unwrap();
        assert_eq!(look(&left), look(&old), "seed {seed}");
        if done.snapshot.ended.is_none() {
            run(&lab, game.machine, &keys(seed + 300, 200));
        }
        for machine in [game.machine, fork.machine, left.machine] {
            let report = lab.verify(&lab.movie(machine).unwrap(), Some(machine), &Control::default()).unwrap();
            assert_eq!(report.verdict, Verdict::Exact, "seed {seed}: {}", report.verdict);
        }
        let journal = std::fs::read(done.snapshot.journal.unwrap()).unwrap();
        let report = lab.verify(&journal, None, &Control::default()).unwrap();
        assert_eq!(report.verdict, Verdict::Exact, "seed {seed}: {}", report.verdict);
        assert_eq!(report.inputs, lab.snapshot(game.machine).unwrap().boundary.0);
    }
}

pub(crate) fn a_reseed_is_only_in_the_generators_at_first() {
    let lab = lab(None, |_| {});
    let game = lab.new_game(power_on(42), false).unwrap();
    run(&lab, game.machine, &[Key(b's'), Key(b's')]);
    let now = lab.snapshot(game.machine).unwrap();
    let lucky = lab.fork(game.machine, None, OTHER, 1).unwrap().remove(0);
    let diff = lab.diff(game.machine, lucky.machine).unwrap();
    assert!(diff.only_random_state && diff.cells.is_empty() && diff.status.is_empty(), "{diff:?}");
    let search = vec![Key(b's'); 60];
    run(&lab, lucky.machine, &search);
    let mode = AdoptMode::State { take_luck: false };
    let refused = lab.adopt(game.machine, now.revision, lucky.machine, mode, &Control::default()).unwrap_err();
    assert_eq!(refused, LabError::LuckNeeded(lucky.machine));
    let done = lab.adopt(game.machine, now.revision, lucky.machine, AdoptMode::Replay, &Control::default()).unwrap();
    match done.parted {
        Some(parted) => {
            assert_eq!(parted.boundary, done.snapshot.boundary);
            let before = Boundary(parted.boundary.0 - 1);
            let frame = |machine| lab.frame_at(machine, before, &Control::default()).unwrap();
            assert_eq!(frame(game.machine).screen, frame(lucky.machine).screen);
        }
        None => assert_eq!(done.inputs, 60),
    }
}

pub(crate) fn a_prompt_is_not_answered_by_what_a_fork_did() {
    let lab = lab(None, |_| {});
    let game = lab.new_game(power_on(42), false).unwrap();
    let fork = lab.fork(game.machine, None, Luck::Same, 1).unwrap().remove(0);
    run(&lab, fork.machine, &[Key(b'y'), Key(b's')]);
    let pray: Vec<Key> = b"#pray\r".iter().map(|&byte| Key(byte)).collect();
    let asked = run(&lab, game.machine, &pray).snapshot;
    assert!(asked.frame.screen.text().contains("Are you sure you want to pray?"), "{}", asked.frame.screen.text());
    let done = lab.adopt(game.machine, asked.revision, fork.machine, AdoptMode::Replay, &Control::default()).unwrap();
    let parted = done.parted.unwrap();
    assert_eq!((done.inputs, parted.pressed, parted.key), (0, false, Key(b'y')));
    assert_eq!(look(&done.snapshot), look(&asked));
    assert!(done.snapshot.revision > asked.revision, "a call that was taken is not taken again");
    assert_eq!((&parted.expected.screen, &parted.actual.screen), (&game.frame.screen, &asked.frame.screen));
}

pub(crate) fn chunks_make_no_difference() {
    let mut ends = Vec::new();
    for (chunk_keys, careful) in [(1, false), (17, false), (512, false), (512, true)] {
        let lab = lab(None, |options| options.limits.chunk_keys = chunk_keys);
        let game = lab.new_game(power_on(7), false).unwrap();
        let batch = Batch { on_more: OnMore::Dismiss, ..Batch::forced(keys(7, 600)) };
        let never = |_: &wire::Frame| false;
        let control = Control { stop_when: if careful { Some(&never) } else { None }, ..Control::default() };
        let done = lab.run(game.machine, game.revision, &batch, &control).unwrap();
        ends.push((done.inputs, done.keys_used, done.stop, done.turns, done.messages.len(), look(&done.snapshot)));
    }
    assert!(ends.windows(2).all(|pair| pair[0] == pair[1]));
}

pub(crate) fn deleting_frees_everything() {
    let lab = lab(None, |_| {});
    let game = lab.new_game(power_on(1), false).unwrap();
    let one = lab.info();
    let forks = lab.fork(game.machine, None, Luck::Same, 50).unwrap();
    assert_eq!(lab.info().store_bytes, one.store_bytes);
    std::thread::scope(|scope| {
        for part in forks.chunks(10) {
            let lab = &lab;
            scope.spawn(move || {
                part.iter().for_each(|fork| drop(run(lab, fork.machine, &keys(fork.machine.0 % 2, 20))));
            });
        }
    });
    let ends: Vec<_> = forks.iter().map(|fork| look(&lab.snapshot(fork.machine).unwrap())).collect();
    assert!(ends.windows(3).all(|ends| ends[0] == ends[2]));
    assert_eq!(lab.info().store_states, one.store_states + 2, "what is equal is stored once");
    forks.iter().for_each(|fork| lab.delete(fork.machine, None).unwrap());
    assert_eq!(lab.info().store_bytes, one.store_bytes);
    lab.delete(game.machine, None).unwrap();
    assert_eq!((lab.info().store_bytes, lab.info().machines), (0, 0));
}

pub(crate) fn a_death_is_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(Some(folder.path()), |_| {});
    let game = lab.new_game(power_on(5), true).unwrap();
    let quit: Vec<Key> = b"#quit\ryy          \r\r\r\r\r\r".iter().map(|&byte| Key(byte)).collect();
    let done = run(&lab, game.machine, &quit);
    assert!(done.snapshot.ended.is_some(), "{:?}", done.snapshot.frame.screen);
    let report = lab.verify(&lab.movie(game.machine).unwrap(), None, &Control::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Exact, "{}", report.verdict);
    let closed = lab.close(game.machine, None).unwrap();
    let report = lab.verify(&std::fs::read(closed.journal.unwrap()).unwrap(), None, &Control::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Exact, "{}", report.verdict);
    assert_eq!(report.ended.as_ref(), closed.ended.as_deref());
}
