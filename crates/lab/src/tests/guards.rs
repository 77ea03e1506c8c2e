//! Looking at a machine changes nothing, and if it did, that would be seen and undone.

use std::ops::ControlFlow;

use super::{look, power_on, run, text, toy};
use crate::{Boundary, Control, Lab, LabError, Luck, MachineId, Seed};

/// The door that there is not: puts another machine's state under a machine, at its revision.
fn disturb(lab: &Lab, machine: MachineId, with: MachineId) {
    let other = lab.0.slot(with).unwrap().tip().state.unwrap();
    let slot = lab.0.slot(machine).unwrap();
    let held = slot.take(None, 16).unwrap();
    held.keep_state(other);
    drop(held);
}

#[test]
fn who_only_looks_finds_nothing_changed() {
    let (lab, _) = toy::lab(None, |_| {});
    let machine = lab.new_game(power_on(1), false).unwrap().machine;
    run(&lab, machine, &text(1, 300));
    let before = lab.snapshot(machine).unwrap();
    let guard = lab.guard(machine).unwrap();
    assert_eq!(guard.digest(), lab.digest(&lab.state(machine).unwrap()).unwrap());
    assert!(guard.digest().is_some());
    let mut seen = Vec::new();
    lab.walk_before(&guard, Boundary(290)..=Boundary(299), &Control::default(), &mut |at, _| {
        seen.push(at.0);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(seen, (290..300).collect::<Vec<u64>>());
    assert_eq!(guard.messages(5), {
        let all = lab.messages_after(machine, 0).unwrap().messages;
        all[all.len().saturating_sub(5)..].to_vec()
    });
    lab.check_guard(&guard).unwrap();
    let after = lab.snapshot(machine).unwrap();
    assert_eq!((before.revision, look(&before)), (after.revision, look(&after)));
}

#[test]
fn a_machine_that_goes_on_of_itself_is_not_disturbed() {
    let (lab, _) = toy::lab(None, |_| {});
    let machine = lab.new_game(power_on(2), false).unwrap().machine;
    let guard = lab.guard(machine).unwrap();
    run(&lab, machine, "abc");
    lab.check_guard(&guard).unwrap();
    assert_eq!(lab.snapshot(machine).unwrap().boundary, Boundary(3));
    // Nor is one that is no more.
    let fork = lab.fork(machine, None, Luck::Same, 1).unwrap().remove(0);
    let guard = lab.guard(fork.machine).unwrap();
    lab.delete(fork.machine, None).unwrap();
    lab.check_guard(&guard).unwrap();
}

#[test]
fn a_machine_that_was_disturbed_is_restored() {
    for (seed, reseeded) in [(3, false), (4, true)] {
        let (lab, _) = toy::lab(None, |_| {});
        let mut machine = lab.new_game(power_on(seed), false).unwrap().machine;
        run(&lab, machine, &text(seed, 200));
        if reseeded {
            let luck = Luck::Reseed { core: Seed(7), display: Seed(8) };
            machine = lab.fork(machine, None, luck, 1).unwrap().remove(0).machine;
        }
        let other = lab.fork(machine, None, Luck::Same, 1).unwrap().remove(0).machine;
        run(&lab, other, "x");
        let guard = lab.guard(machine).unwrap();
        disturb(&lab, machine, other);
        let disturbed = lab.digest(&lab.state(machine).unwrap()).unwrap();
        assert_ne!(disturbed, guard.digest(), "seed {seed}: the door does not open");
        let error = lab.check_guard(&guard).unwrap_err();
        assert_eq!(error, LabError::Disturbed { machine, restored: true }, "seed {seed}");
        assert!(!error.is_refusal());
        assert_eq!(lab.digest(&lab.state(machine).unwrap()).unwrap(), guard.digest(), "seed {seed}");
        let after = lab.snapshot(machine).unwrap();
        assert!(after.revision > guard.snapshot().revision);
        assert_eq!(look(&after), look(guard.snapshot()), "seed {seed}");
        // It goes on as its twin does.
        let twin = lab.fork(machine, Some(after.boundary), Luck::Same, 1).unwrap().remove(0).machine;
        assert_eq!(run(&lab, machine, "abc").snapshot.play, run(&lab, twin, "abc").snapshot.play, "seed {seed}");
    }
}
