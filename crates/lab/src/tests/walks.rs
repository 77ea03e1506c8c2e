//! Looking at a whole line, frame by frame.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use wire::{Frame, Seed};

use super::{power_on, run, text, toy};
use crate::{Boundary, Cancel, Control, Lab, LabError, Luck, MachineId, Progress};

fn frames(lab: &Lab, machine: MachineId, (from, to): (u64, u64)) -> Result<Vec<(u64, Frame)>, LabError> {
    let mut frames = Vec::new();
    lab.walk(machine, Boundary(from)..=Boundary(to), &Control::default(), &mut |at, frame| {
        frames.push((at.0, frame.clone()));
        ControlFlow::Continue(())
    })?;
    Ok(frames)
}

/// A fork of a fork, with new luck twice on its way and at its very end.
fn lucky(lab: &Lab, seed: u64) -> MachineId {
    let game = lab.new_game(power_on(seed), false).unwrap();
    let mut machine = game.machine;
    for (part, length) in [130, 64, 211].into_iter().enumerate() {
        run(lab, machine, &text(seed + part as u64, length));
        let luck = Luck::Reseed { core: Seed(part as u64), display: Seed(7) };
        machine = lab.fork(machine, None, luck, 1).unwrap().remove(0).machine;
    }
    machine
}

#[test]
fn every_frame_of_a_line_is_shown_once_and_in_order() {
    for seed in [1, 2] {
        let (lab, _) = toy::lab(None, |options| options.limits.chunk_keys = 50);
        let machine = lucky(&lab, seed);
        let end = lab.snapshot(machine).unwrap().boundary.0;
        assert_eq!(end, 405);
        let whole = frames(&lab, machine, (0, end)).unwrap();
        assert_eq!(whole.len() as u64, end + 1);
        for (at, frame) in &whole {
            let there = lab.frame_at(machine, Boundary(*at), &Control::default()).unwrap();
            assert_eq!(&there.screen, &frame.screen, "seed {seed}, boundary {at}");
            assert_eq!(there.turn, frame.turn, "seed {seed}, boundary {at}");
        }
        for (from, to) in [(0, 0), (end, end), (129, 131), (130, 130), (130, 194), (64, 128), (7, end), (9, 8)] {
            let some = frames(&lab, machine, (from, to)).unwrap();
            let expected = whole.get(from as usize..=to as usize).unwrap_or_default();
            assert_eq!(some, expected, "seed {seed}, {from} to {to}");
        }
        assert!(matches!(frames(&lab, machine, (0, end + 1)), Err(LabError::NoBoundary { .. })));
        assert!(matches!(frames(&lab, machine, (end + 1, 0)), Err(LabError::NoBoundary { .. })));
    }
}

#[test]
fn lost_workers_change_nothing_of_what_is_shown() {
    let (quiet, _) = toy::lab(None, |_| {});
    let machine = lucky(&quiet, 3);
    let expected = frames(&quiet, machine, (5, 405)).unwrap();
    for every in [199, 251, 330] {
        let (lab, faults) = toy::lab(None, |options| options.limits.chunk_keys = 40);
        let machine = lucky(&lab, 3);
        let before = lab.info().workers_lost;
        faults.death_every.store(every, Ordering::SeqCst);
        assert_eq!(frames(&lab, machine, (5, 405)).unwrap(), expected, "every {every}");
        assert!(lab.info().workers_lost > before, "every {every}");
    }
    let (lab, faults) = toy::lab(None, |_| {});
    let machine = lucky(&lab, 3);
    faults.death_every.store(1, Ordering::SeqCst);
    assert!(matches!(frames(&lab, machine, (0, 405)), Err(LabError::EngineFailure { .. })), "no end of losses");
}

#[test]
fn a_walk_tells_how_far_it_is_and_ends_when_it_is_asked_to() {
    let (lab, _) = toy::lab(None, |_| {});
    let game = lab.new_game(power_on(4), false).unwrap();
    run(&lab, game.machine, &text(4, 1_000));
    let cancel = Cancel::default();
    let told = RefCell::new(Vec::new());
    let tell = |progress: Progress| {
        told.borrow_mut().push((progress.done, progress.total));
        if progress.done >= 300 {
            cancel.cancel();
        }
    };
    let control = Control { cancel: Some(&cancel), progress: Some(&tell), ..Control::default() };
    let seen = Cell::new(0);
    let walked = lab.walk(game.machine, Boundary(100)..=Boundary(1_000), &control, &mut |at, _| {
        seen.set(at.0);
        ControlFlow::Continue(())
    });
    assert!(matches!(walked, Err(LabError::Cancelled)), "{walked:?}");
    assert!((400..500).contains(&seen.get()), "{}", seen.get());
    let told = told.into_inner();
    assert!(told.is_sorted() && told.iter().all(|(_, total)| *total == 900) && told.len() > 3, "{told:?}");
    lab.walk(game.machine, Boundary(100)..=Boundary(1_000), &Control::default(), &mut |at, _| {
        seen.set(at.0);
        if at.0 == 777 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!(seen.get(), 777);
}
