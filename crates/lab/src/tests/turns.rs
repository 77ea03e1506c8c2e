use std::sync::atomic::Ordering;
use std::time::Duration;

use wire::{Key, OnMore, StopReason};

use super::{keys, look, power_on, run, text, toy};
use crate::{Cancel, Control, LabError, Lifecycle, Looked, Lookout, Revision, Stop};

#[test]
fn a_stale_call_changes_nothing_and_learns_what_it_missed() {
    let (lab, _) = toy::lab(None, |_| {});
    let start = lab.new_game(power_on(1), false).unwrap();
    let after = run(&lab, start.machine, "abc").snapshot;
    let error = lab.press(start.machine, start.revision, Key(b'z')).unwrap_err();
    let LabError::Stale(stale) = error else { panic!("{error}") };
    assert_eq!(stale.current, after.revision);
    assert_eq!(stale.since, Some(b"abc".map(Key).to_vec()));
    assert_eq!((stale.since_total, stale.boundary), (Some(3), after.boundary));
    assert_eq!(look(&lab.snapshot(start.machine).unwrap()), look(&after));
    for foreign in [Revision(0), Revision(u64::MAX)] {
        let error = lab.press(start.machine, foreign, Key(b'z')).unwrap_err();
        let LabError::Stale(stale) = error else { panic!("{error}") };
        assert_eq!(stale.since, None);
    }
    assert_eq!(lab.snapshot(start.machine).unwrap().revision, after.revision);
}

#[test]
fn revisions_never_repeat() {
    let (lab, _) = toy::lab(None, |_| {});
    let mut seen = std::collections::BTreeSet::new();
    let game = lab.new_game(power_on(1), false).unwrap();
    assert!(seen.insert(game.revision));
    for _ in 0..5 {
        assert!(seen.insert(run(&lab, game.machine, "a").snapshot.revision));
        for fork in lab.fork(game.machine, None, crate::Luck::Same, 2).unwrap() {
            assert!(seen.insert(fork.revision));
            assert!(seen.insert(run(&lab, fork.machine, "b").snapshot.revision));
        }
    }
    assert!(seen.insert(lab.close(game.machine, None).unwrap().revision));
}

#[test]
fn two_threads_on_one_machine_interleave_without_loss() {
    let (lab, _) = toy::lab(None, |options| options.limits.chunk_keys = 3);
    let game = lab.new_game(power_on(2), false).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let lab = &lab;
            scope.spawn(move || {
                let mut done = 0;
                while done < 20 {
                    let revision = lab.snapshot(game.machine).unwrap().revision;
                    match lab.run(game.machine, revision, &keys(&text(thread, 5)), &Control::default()) {
                        Ok(_) => done += 1,
                        Err(LabError::Stale(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let end = lab.snapshot(game.machine).unwrap();
    assert_eq!(end.boundary.0, 200);
    let steps = lab.history(game.machine, crate::Boundary(0), 1_000).unwrap().steps;
    let again = lab.new_game(power_on(2), false).unwrap();
    let line: String = steps.iter().map(|step| char::from(step.key.0)).collect();
    assert_eq!(look(&run(&lab, again.machine, &line).snapshot), look(&end));
}

#[test]
fn the_queue_is_as_deep_as_it_says_and_other_machines_go_on() {
    let (lab, faults) = toy::lab(None, |options| options.limits.queue = 3);
    let game = lab.new_game(power_on(3), false).unwrap();
    let other = lab.new_game(power_on(4), false).unwrap();
    *faults.gate.lock().unwrap() = true;
    let before = faults.arrived.load(Ordering::SeqCst);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4)
            .map(|_| {
                let call = scope.spawn(|| lab.press(game.machine, game.revision, Key(b'a')).map(|_| ()));
                // The first sits in a worker, the others wait: one after the other, so that all are counted.
                while faults.arrived.load(Ordering::SeqCst) == before {
                    std::thread::yield_now();
                }
                call
            })
            .collect();
        while lab.snapshot(game.machine).unwrap().queued < 3 {
            std::thread::yield_now();
        }
        assert_eq!(lab.snapshot(game.machine).unwrap().lifecycle, Lifecycle::Running);
        let error = lab.press(game.machine, game.revision, Key(b'a')).unwrap_err();
        assert!(matches!(error, LabError::Busy { queue: 3, .. }), "{error}");
        assert_eq!(lab.snapshot(other.machine).unwrap().lifecycle, Lifecycle::Idle);
        *faults.gate.lock().unwrap() = false;
        faults.opened.notify_all();
        let results: Vec<_> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    });
    assert_eq!(lab.snapshot(game.machine).unwrap().boundary.0, 1);
}

#[test]
fn chunks_do_what_the_whole_would() {
    let batch = |on_more, force, turns_max| wire::Batch { on_more, force, turns_max, ..keys("abMcdMMefgMhijQkl") };
    for on_more in [OnMore::Stop, OnMore::Dismiss] {
        for force in [false, true] {
            for turns_max in [None, Some(4)] {
                let batch = batch(on_more, force, turns_max);
                let results: Vec<_> = [1, 2, 3, 100]
                    .map(|chunk_keys| {
                        let (lab, _) = toy::lab(None, |options| options.limits.chunk_keys = chunk_keys);
                        let game = lab.new_game(power_on(5), false).unwrap();
                        let done = lab.run(game.machine, game.revision, &batch, &Control::default()).unwrap();
                        (done.inputs, done.keys_used, done.stop, done.turns, look(&done.snapshot))
                    })
                    .into();
                assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{on_more:?} {force} {results:#?}");
            }
        }
    }
}

#[test]
fn a_run_can_be_cancelled_stopped_and_followed() {
    let (lab, _) = toy::lab(None, |options| options.limits.chunk_keys = 10);
    let game = lab.new_game(power_on(6), false).unwrap();
    let cancel = Cancel::default();
    let control = Control {
        cancel: Some(&cancel),
        progress: Some(&|progress| {
            if progress.done >= 30 {
                cancel.cancel();
            }
        }),
        ..Control::default()
    };
    let done = lab.run(game.machine, game.revision, &keys(&text(1, 100)), &control).unwrap();
    assert_eq!((done.stop, done.inputs.len()), (Stop::Cancelled, 30));
    let control = Control { stop_when: Some(&|frame| frame.turn == 37), ..Control::default() };
    let revision = done.snapshot.revision;
    let done = lab.run(game.machine, revision, &keys(&text(1, 100)), &control).unwrap();
    assert_eq!((done.stop, done.snapshot.boundary.0), (Stop::Condition, 37));
    let seen = lab.wait(game.machine, revision, Duration::ZERO).unwrap().unwrap();
    assert_eq!(seen.revision, done.snapshot.revision);
    assert!(lab.wait(game.machine, seen.revision, Duration::ZERO).unwrap().is_none());
}

/// Looks for a turn, in the worker.
struct Until(u64);

impl Lookout for Until {
    fn policy(&self) -> &str {
        if self.0 == 0 { "unheard-of" } else { toy::UNTIL }
    }

    fn arguments(
        &self,
        batch: &wire::Batch,
        part: Option<(u32, u32)>,
        asked: Option<wire::Asked>,
    ) -> Result<Vec<u8>, String> {
        let part = part.map(|(from, count)| worker::Part { from, count, asked });
        serde_json::to_vec(&(self.0, batch, part)).map_err(|error| error.to_string())
    }

    fn looked(&self, outcome: &[u8]) -> Result<Looked, String> {
        let (keys_used, stop, has_seen) = serde_json::from_slice(outcome).map_err(|error| error.to_string())?;
        Ok(Looked { keys_used, stop, has_seen, asked: None })
    }
}

#[test]
fn a_lookout_stops_where_frames_one_at_a_time_would() {
    let batch = |on_more, turns_max| wire::Batch { on_more, turns_max, ..keys("abMcdMMefgMhijkMlmnopqrs") };
    for (on_more, turns_max) in [(OnMore::Stop, None), (OnMore::Dismiss, None), (OnMore::Dismiss, Some(9))] {
        for turn in [1, 2, 7, 11, 99] {
            let results: Vec<_> = [(1, true), (3, true), (100, true), (3, false)]
                .map(|(chunk_keys, in_worker)| {
                    let (lab, _) = toy::lab(None, |options| options.limits.chunk_keys = chunk_keys);
                    let game = lab.new_game(power_on(6), false).unwrap();
                    let (sees, until) = (|frame: &wire::Frame| frame.turn >= turn, Until(turn as u64));
                    let control = match in_worker {
                        true => Control { lookout: Some(&until), ..Control::default() },
                        false => Control { stop_when: Some(&sees), ..Control::default() },
                    };
                    let done = lab.run(game.machine, game.revision, &batch(on_more, turns_max), &control).unwrap();
                    (done.inputs, done.keys_used, done.stop, done.turns, look(&done.snapshot))
                })
                .into();
            assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{on_more:?} {turn} {results:#?}");
        }
    }
    let (lab, _) = toy::lab(None, |_| {});
    let game = lab.new_game(power_on(6), false).unwrap();
    let control = Control { lookout: Some(&Until(0)), ..Control::default() };
    let error = lab.run(game.machine, game.revision, &keys("a"), &control).unwrap_err();
    assert!(matches!(error, LabError::UnknownPolicy { .. }), "{error}");
    assert_eq!(lab.snapshot(game.machine).unwrap().revision, game.revision);
}

#[test]
fn limits_refuse_and_do_not_cut() {
    let (lab, _) = toy::lab(None, |options| {
        options.limits.inputs = 10;
        options.limits.machines = 3;
        options.limits.keys = 20;
    });
    let game = lab.new_game(power_on(7), false).unwrap();
    let error = lab.run(game.machine, game.revision, &keys(&text(0, 21)), &Control::default()).unwrap_err();
    assert!(matches!(error, LabError::Batch(_)), "{error}");
    let batch = wire::Batch { on_more: OnMore::Dismiss, ..keys("aMbMcMdMeMfMgM") };
    let done = lab.run(game.machine, game.revision, &batch, &Control::default()).unwrap();
    assert_eq!(done.stop, Stop::Batch(StopReason::InputLimit));
    assert_eq!(done.snapshot.boundary.0, 10);
    let error = lab.fork(game.machine, None, crate::Luck::Same, 3).unwrap_err();
    assert!(matches!(error, LabError::LimitExceeded { what: "machines", .. }), "{error}");
    assert_eq!(lab.machines().len(), 1);
}

#[test]
fn an_ended_game_takes_no_key_and_closing_is_harmless() {
    let (lab, _) = toy::lab(None, |_| {});
    let game = lab.new_game(power_on(8), false).unwrap();
    let done = run(&lab, game.machine, "abQcd");
    assert_eq!((done.stop, done.keys_used), (Stop::Batch(StopReason::Ended), 3));
    assert_eq!(done.snapshot.lifecycle, Lifecycle::Ended);
    let error = lab.press(game.machine, done.snapshot.revision, Key(b'a')).unwrap_err();
    assert!(matches!(error, LabError::GameOver(_)), "{error}");
    assert_eq!(lab.close(game.machine, None).unwrap().lifecycle, Lifecycle::Ended);
    let game = lab.new_game(power_on(8), false).unwrap();
    let closed = lab.close(game.machine, Some(game.revision)).unwrap();
    assert_eq!(closed.lifecycle, Lifecycle::Aborted);
    assert_eq!(lab.close(game.machine, None).unwrap().revision, closed.revision);
    assert!(matches!(lab.press(game.machine, closed.revision, Key(b'a')), Err(LabError::GameOver(_))));
}
