use wire::{Key, Seed, StopReason};

use super::{look, power_on, run, text, toy};
use crate::state_file::{Contents, write};
use crate::{AdoptMode, Control, Lab, LabError, Luck, MachineId, StateFile, Stop, Verdict};

const STATE: AdoptMode = AdoptMode::State { take_luck: false };
const OTHER: Luck = Luck::Reseed { core: Seed(77), display: Seed(78) };

#[test]
fn an_adopted_line_proves_itself_from_power_on() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |options| options.limits.chunk_keys = 9);
    for seed in 0..6 {
        let game = lab.new_game(power_on(seed), true).unwrap();
        run(&lab, game.machine, &text(seed, 20));
        let luck = if seed % 2 == 0 { Luck::Same } else { OTHER };
        let fork = lab.fork(game.machine, None, luck, 1).unwrap().remove(0);
        let ahead = run(&lab, fork.machine, &text(seed + 100, 30)).snapshot;
        let old = run(&lab, game.machine, &text(seed + 200, 10)).snapshot;
        let mode = AdoptMode::State { take_luck: luck != Luck::Same };
        let done = lab.adopt(game.machine, old.revision, fork.machine, mode, &Control::default()).unwrap();
        assert_eq!((done.common.0, done.inputs), (20, 30));
        assert_eq!(look(&done.snapshot), look(&ahead));
        assert_eq!(look(&lab.snapshot(done.old_tip.unwrap()).unwrap()), look(&old));
        let end = run(&lab, game.machine, &text(seed + 300, 10)).snapshot;
        // And back again: a former tip is adopted like any fork, and then the line that was left.
        let left = lab.fork(game.machine, None, Luck::Same, 1).unwrap().remove(0);
        let back = lab.adopt(game.machine, end.revision, done.old_tip.unwrap(), STATE, &Control::default()).unwrap();
        assert_eq!(look(&back.snapshot), look(&old));
        let again = lab.adopt(game.machine, back.snapshot.revision, left.machine, mode, &Control::default());
        assert_eq!(look(&again.unwrap().snapshot), look(&end), "seed {seed}");
        for machine in [game.machine, fork.machine, done.old_tip.unwrap()] {
            let report = lab.verify(&lab.movie(machine).unwrap(), None, &Control::default()).unwrap();
            assert_eq!(report.verdict, Verdict::Exact, "seed {seed}");
        }
        let journal = std::fs::read(end.journal.unwrap()).unwrap();
        let report = lab.verify(&journal, None, &Control::default()).unwrap();
        assert_eq!((report.verdict, report.inputs), (Verdict::Exact, 60), "seed {seed}");
    }
}

#[test]
fn what_is_no_fork_or_needs_luck_is_refused() {
    let (lab, _) = toy::lab(None, |_| {});
    let game = lab.new_game(power_on(1), false).unwrap();
    let other = lab.new_game(power_on(2), false).unwrap();
    let lucky = lab.fork(game.machine, None, OTHER, 1).unwrap().remove(0);
    let adopt = |fork, mode| lab.adopt(game.machine, game.revision, fork, mode, &Control::default()).unwrap_err();
    assert!(matches!(adopt(other.machine, STATE), LabError::NotAFork { .. }));
    assert!(matches!(adopt(game.machine, STATE), LabError::NotAFork { .. }));
    assert!(matches!(adopt(lucky.machine, STATE), LabError::LuckNeeded(_)));
    assert_eq!(lab.snapshot(game.machine).unwrap().revision, game.revision);
    assert_eq!(lab.machines().len(), 3);
}

/// A save state file of this machine whose movie says that this key was pressed at boundary 4 instead.
fn forged(lab: &Lab, machine: MachineId, key: u8) -> Vec<u8> {
    let bytes = lab.save_state(machine, None, &Control::default()).unwrap();
    let file = StateFile::read(&bytes).unwrap();
    let mut movie = movie::read(file.movie()).unwrap().movie;
    movie.steps[4].key = Key(key);
    let contents = Contents {
        play: file.play(),
        state: file.state(),
        image_bytes: file.image_bytes(),
        body: &file.body,
        blobs: &file.blobs,
    };
    write(&movie.header, file.boundary(), &movie::export(&movie).unwrap(), &contents).unwrap()
}

#[test]
fn a_loaded_state_of_the_same_power_on_is_adopted_if_its_line_replays() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |options| options.limits.chunk_keys = 4);
    let control = Control::default();
    for luck in [Luck::Same, OTHER] {
        let game = lab.new_game(power_on(1), true).unwrap();
        run(&lab, game.machine, "abc");
        let fork = lab.fork(game.machine, None, luck, 1).unwrap().remove(0);
        let ahead = run(&lab, fork.machine, &text(7, 20)).snapshot;
        let old = run(&lab, game.machine, "xyz").snapshot;
        let bytes = lab.save_state(fork.machine, None, &control).unwrap();
        let lying = lab.load_state(&forged(&lab, fork.machine, b'L'), false, &control).unwrap();
        let loaded = lab.load_state(&bytes, false, &control).unwrap();
        assert_ne!(loaded.game, game.game);
        let adopt =
            |fork, take_luck| lab.adopt(game.machine, old.revision, fork, AdoptMode::State { take_luck }, &control);
        if luck != Luck::Same {
            assert_eq!(adopt(loaded.machine, false).unwrap_err(), LabError::LuckNeeded(loaded.machine));
        }
        assert_eq!(adopt(lying.machine, true).unwrap_err(), LabError::Desync { boundary: crate::Boundary(4) });
        let unchanged = lab.snapshot(game.machine).unwrap();
        assert_eq!((unchanged.revision, look(&unchanged)), (old.revision, look(&old)), "{luck:?}");
        let done = adopt(loaded.machine, true).unwrap();
        assert_eq!((done.common.0, done.inputs), (3, 20), "{luck:?}");
        assert_eq!(look(&done.snapshot), look(&ahead), "{luck:?}");
        assert_eq!(look(&lab.snapshot(done.old_tip.unwrap()).unwrap()), look(&old), "{luck:?}");
        assert!(lab.diff(game.machine, fork.machine).unwrap().images_same, "{luck:?}");
        let end = run(&lab, game.machine, "more").snapshot;
        let journal = std::fs::read(end.journal.unwrap()).unwrap();
        let report = lab.verify(&journal, None, &control).unwrap();
        assert_eq!((report.verdict, report.inputs), (Verdict::Exact, end.boundary.0), "{luck:?}");
        // A movie that lies is found out when it is replayed on main, too.
        let replay = |fork| lab.adopt(game.machine, end.revision, fork, AdoptMode::Replay, &control);
        let lied = replay(lying.machine);
        assert!(lied.as_ref().is_ok_and(|done| done.inputs <= 2) || lied.is_err(), "{luck:?}: {lied:?}");
    }
}

#[test]
fn an_ended_game_goes_on_from_a_fork() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let game = lab.new_game(power_on(1), true).unwrap();
    let alive = run(&lab, game.machine, "abc").snapshot;
    let fork = lab.fork(game.machine, None, Luck::Same, 1).unwrap().remove(0);
    let over = run(&lab, game.machine, "Q").snapshot;
    let done = lab.adopt(game.machine, over.revision, fork.machine, STATE, &Control::default()).unwrap();
    assert_eq!(look(&done.snapshot), look(&alive));
    run(&lab, game.machine, "defQ");
    let report = lab.verify(&lab.movie(game.machine).unwrap(), None, &Control::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Exact);
    assert!(report.ended.is_some());
}

#[test]
fn replaying_stops_where_the_frames_part() {
    let (lab, _) = toy::lab(None, |_| {});
    for seed in 0..10 {
        let game = lab.new_game(power_on(seed), false).unwrap();
        run(&lab, game.machine, &text(seed, 5));
        let forks = [
            lab.fork(game.machine, None, Luck::Same, 1).unwrap().remove(0),
            lab.fork(game.machine, None, OTHER, 1).unwrap().remove(0),
        ];
        let ends = forks.each_ref().map(|fork| run(&lab, fork.machine, &text(seed + 50, 40)).snapshot);
        let mut tries = forks.iter().zip(&ends).rev();
        let (lucky, _) = tries.next().unwrap();
        let now = lab.snapshot(game.machine).unwrap().revision;
        let done = lab.adopt(game.machine, now, lucky.machine, AdoptMode::Replay, &Control::default()).unwrap();
        let parted = done.parted.expect("other luck shows within 40 keys");
        assert_eq!(done.stop, Stop::Condition);
        assert_ne!(parted.expected.screen, parted.actual.screen, "seed {seed}");
        assert_eq!(parted.boundary, done.snapshot.boundary);
        let before = crate::Boundary(parted.boundary.0 - 1);
        let frame = |machine| lab.frame_at(machine, before, &Control::default()).unwrap().screen.clone();
        assert_eq!(frame(game.machine), frame(lucky.machine), "seed {seed}");
        let fresh = lab.fork(game.machine, Some(crate::Boundary(5)), Luck::Same, 1).unwrap().remove(0);
        let (same, end) = tries.next().unwrap();
        let done = lab.adopt(fresh.machine, fresh.revision, same.machine, AdoptMode::Replay, &Control::default());
        let done = done.unwrap();
        assert_eq!((done.stop, done.parted.is_none()), (Stop::Batch(StopReason::Done), true));
        assert_eq!(look(&done.snapshot), look(end));
    }
}

#[test]
fn nothing_is_pressed_on_what_the_fork_never_saw() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| {});
    let game = lab.new_game(power_on(1), true).unwrap();
    let base = run(&lab, game.machine, "abc").snapshot;
    let fork = lab.fork(game.machine, None, OTHER, 1).unwrap().remove(0);
    let replay = |expected| lab.adopt(game.machine, expected, fork.machine, AdoptMode::Replay, &Control::default());
    assert_eq!(replay(base.revision).unwrap_err(), LabError::NothingToReplay(fork.machine));
    run(&lab, fork.machine, "L");
    // Another turn, and a prompt within the same turn.
    for line in ["d", "M"] {
        let before = run(&lab, game.machine, line).snapshot;
        let done = replay(before.revision).unwrap();
        assert_eq!((done.inputs, done.stop, done.common.0), (0, Stop::Condition, 3), "{line}");
        let parted = done.parted.unwrap();
        assert_eq!((parted.boundary.0, parted.key, parted.pressed), (3, wire::Key(b'L'), false));
        assert_eq!(parted.expected.screen, base.frame.screen);
        assert_eq!(parted.actual, before.frame);
        // It was accepted, so the same call again comes too late.
        assert!(done.snapshot.revision > before.revision);
        assert!(matches!(replay(before.revision), Err(LabError::Stale(_))));
        assert_eq!(look(&done.snapshot), look(&before));
        // Back to where the fork was made.
        let back = lab.fork(game.machine, Some(crate::Boundary(3)), Luck::Same, 1).unwrap().remove(0);
        lab.adopt(game.machine, done.snapshot.revision, back.machine, STATE, &Control::default()).unwrap();
    }
    // A key that shows nothing is in nobody's way.
    let before = run(&lab, game.machine, "L").snapshot;
    assert_eq!(replay(before.revision).unwrap().inputs, 1);
}
