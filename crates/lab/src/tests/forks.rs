use wire::Seed;

use super::{look, power_on, run, text, toy};
use crate::{Boundary, Control, LabError, Luck, Verdict};

const OTHER: Luck = Luck::Reseed { core: Seed(77), display: Seed(78) };

#[test]
fn a_fork_is_a_replay_of_its_line() {
    for seed in 0..20 {
        let (lab, _) = toy::lab(None, |options| options.limits.chunk_keys = 7);
        let game = lab.new_game(power_on(seed), false).unwrap();
        let end = run(&lab, game.machine, &text(seed, 50)).snapshot;
        for at in [0, 1, 25, 49, 50] {
            let fork = lab.fork(game.machine, Some(Boundary(at)), Luck::Same, 1).unwrap().remove(0);
            let rest = &text(seed, 50)[at as usize..];
            let there = if rest.is_empty() { fork } else { run(&lab, fork.machine, rest).snapshot };
            assert_eq!(look(&there), look(&end), "seed {seed}, boundary {at}");
            assert!(lab.diff(game.machine, there.machine).unwrap().images_same);
        }
        let beyond = lab.fork(game.machine, Some(Boundary(51)), Luck::Same, 1).unwrap_err();
        assert!(matches!(beyond, LabError::NoBoundary { .. }), "{beyond}");
    }
}

#[test]
fn other_luck_differs_only_in_the_generators_at_first() {
    let (lab, _) = toy::lab(None, |_| {});
    let game = lab.new_game(power_on(1), false).unwrap();
    run(&lab, game.machine, "abcde");
    let forks = lab.fork(game.machine, None, OTHER, 3).unwrap();
    let diff = lab.diff(game.machine, forks[0].machine).unwrap();
    assert!(diff.only_random_state && diff.visible_same && !diff.play_same && !diff.images_same);
    assert_eq!(diff.common, Some(Boundary(5)));
    assert!(forks.windows(2).all(|pair| pair[0].play != pair[1].play));
    let same = lab.fork(game.machine, None, OTHER, 1).unwrap().remove(0);
    assert!(lab.diff(same.machine, forks[0].machine).unwrap().images_same);
    // Also a reseeded fork's movie proves itself, and forks of forks, reseeded where they were made.
    run(&lab, forks[1].machine, "fghij");
    let deeper = lab.fork(forks[1].machine, None, OTHER, 1).unwrap().remove(0);
    run(&lab, deeper.machine, "klm");
    for machine in [forks[0].machine, forks[1].machine, deeper.machine] {
        let report = lab.verify(&lab.movie(machine).unwrap(), Some(machine), &Control::default()).unwrap();
        assert_eq!(report.verdict, Verdict::Exact);
    }
}

#[test]
fn deleting_frees_exactly_what_was_held() {
    let (lab, _) = toy::lab(None, |_| {});
    let empty = lab.info();
    let game = lab.new_game(power_on(1), false).unwrap();
    run(&lab, game.machine, "abc");
    let one = lab.info();
    // The keyframe of power-on, and what changed since.
    assert_eq!((one.store_keyframes, one.store_deltas, one.store_bytes), (1, 1, 320 + 64));
    let forks = lab.fork(game.machine, None, Luck::Same, 10).unwrap();
    assert_eq!(lab.info().store_bytes, one.store_bytes, "forks share their parent's state");
    forks.iter().zip('a'..).for_each(|(fork, key)| drop(run(&lab, fork.machine, &key.to_string())));
    assert_eq!(lab.info().store_states, 12);
    let twins = lab.fork(game.machine, None, Luck::Same, 2).unwrap();
    twins.iter().for_each(|fork| drop(run(&lab, fork.machine, "a")));
    assert_eq!(lab.info().store_states, 12, "what is equal is stored once");
    twins.iter().for_each(|fork| lab.delete(fork.machine, None).unwrap());
    assert_eq!(lab.info().store_states, 12);
    forks.iter().for_each(|fork| lab.delete(fork.machine, None).unwrap());
    assert_eq!(lab.info().store_bytes, one.store_bytes);
    assert!(matches!(lab.delete(forks[0].machine, None), Err(LabError::UnknownMachine(_))));
    lab.delete(game.machine, None).unwrap();
    let end = lab.info();
    assert_eq!((end.store_bytes, end.store_states, end.machines), (empty.store_bytes, 0, 0));
}

#[test]
fn a_full_store_refuses_and_loses_nothing() {
    let (lab, _) = toy::lab(None, |options| options.limits.store_bytes = 4_096);
    let game = lab.new_game(power_on(1), false).unwrap();
    let end = run(&lab, game.machine, "abc").snapshot;
    let others: Vec<_> = (2..).map_while(|seed| lab.new_game(power_on(seed), false).ok()).collect();
    assert_eq!((others.len(), lab.info().store_bytes), (11, 12 * 320 + 64));
    let error = lab.press(game.machine, end.revision, wire::Key(b'a')).unwrap_err();
    assert!(matches!(error, LabError::LimitExceeded { .. }), "{error}");
    assert!(error.to_string().contains("deleting forks frees room"), "{error}");
    assert_eq!(look(&lab.snapshot(game.machine).unwrap()), look(&end));
    assert!(matches!(lab.new_game(power_on(99), false), Err(LabError::LimitExceeded { .. })));
    lab.delete(others[0].machine, None).unwrap();
    assert_eq!(run(&lab, game.machine, "d").snapshot.boundary.0, 4);
}

#[test]
fn earlier_frames_and_messages_can_be_read_again() {
    let (lab, _) = toy::lab(None, |options| options.limits.messages = 10);
    let game = lab.new_game(power_on(9), false).unwrap();
    let mut frames = vec![game.frame.clone()];
    for key in text(9, 30).chars() {
        frames.push(run(&lab, game.machine, &key.to_string()).snapshot.frame);
    }
    for (at, frame) in frames.iter().enumerate() {
        let again = lab.frame_at(game.machine, Boundary(at as u64), &Control::default()).unwrap();
        assert_eq!(&again, frame, "boundary {at}");
    }
    let page = lab.messages_after(game.machine, 0).unwrap();
    assert!(page.truncated && page.messages.len() >= 10);
    assert_eq!(page.messages.last(), frames.last().unwrap().messages.last());
    let history = lab.history(game.machine, Boundary(10), 5).unwrap();
    assert_eq!(history.steps.len(), 5);
    assert_eq!(history.steps[0].key, wire::Key(text(9, 30).as_bytes()[10]));
}

#[test]
fn the_log_is_the_same_however_the_keys_were_sent() {
    let (lab, _) = toy::lab(None, |options| options.limits.chunk_keys = 7);
    let games = [(); 2].map(|()| lab.new_game(power_on(3), false).unwrap().machine);
    let done = run(&lab, games[0], &text(3, 40));
    text(3, 40).chars().for_each(|key| drop(run(&lab, games[1], &key.to_string())));
    let pages = games.map(|machine| lab.messages_after(machine, 0).unwrap());
    assert_eq!(pages[0], pages[1]);
    assert_eq!(pages[0].messages.iter().map(|message| message.id).collect::<Vec<_>>(), (1..=41).collect::<Vec<_>>());
    assert_eq!(done.messages, pages[0].messages[1..]);
}

#[test]
fn a_diff_names_what_differs() {
    let (lab, _) = toy::lab(None, |_| {});
    let game = lab.new_game(power_on(1), false).unwrap();
    run(&lab, game.machine, "ab");
    let forks = lab.fork(game.machine, None, Luck::Same, 2).unwrap();
    run(&lab, forks[0].machine, "cdefM");
    run(&lab, forks[1].machine, "zQ");
    let diff = lab.diff(forks[0].machine, forks[1].machine).unwrap();
    assert_eq!((diff.boundaries, diff.common), ((Boundary(7), Boundary(4)), Some(Boundary(2))));
    assert_eq!(diff.turns, (6, 3));
    assert_eq!((diff.messages_a.len(), diff.messages_b.len(), diff.messages_truncated), (4, 1, false));
    assert_eq!(diff.ended, Some((None, Some("quit".to_owned()))));
    let pending = diff.pending.unwrap();
    assert!(pending.0.is_some() && pending.1.is_none());
    assert!(!diff.visible_same && !diff.play_same && !diff.images_same && !diff.only_random_state);
    let row = |machine| lab.snapshot(machine).unwrap().frame.screen.row(0);
    let (row_a, row_b) = (row(forks[0].machine), row(forks[1].machine));
    let expected: Vec<_> = row_a.chars().zip(row_b.chars()).filter(|(a, b)| a != b).collect();
    assert_eq!(diff.cells.iter().map(|cell| (cell.a.0, cell.b.0)).collect::<Vec<_>>(), expected);
    // Nothing in common but the looks.
    let twin = lab.new_game(power_on(9), false).unwrap();
    let diff = lab.diff(lab.new_game(power_on(1), false).unwrap().machine, twin.machine).unwrap();
    assert!(diff.only_random_state && diff.common.is_none());
}
