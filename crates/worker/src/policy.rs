//! Policies: what chooses keys beside the machine, inside its sandbox.

use std::cell::{Cell, OnceCell};

use machine::{Machine, Stop};
use wire::{Ended, Frame, Key, Pending, PendingKind, StopReason};

use crate::batch::{Engine, MessageLog, Run};
use crate::protocol::Want;

/// Chooses the keys of rollouts in a worker, so that thousands of keys cost one message.
///
/// It lives as long as its worker does and serves one rollout after the other; [`Policy::begin`] must forget the one
/// before, since which worker does which rollout is nobody's promise. It is in the sandbox like the machine: no files,
/// no network, no threads. A panic ends the worker, which the host then hears as the reason of its loss. A call of one of
/// these functions that takes more CPU time than a key may ends it too, and is told as
/// [`TaskError::Hung`](crate::TaskError::Hung).
pub trait Policy {
    /// Its name, by which a task asks for it.
    fn name(&self) -> &str;

    /// Prepares for a rollout, before its first key.
    ///
    /// # Errors
    /// Why the arguments are no good; the line is refused with this reason, before anything has changed.
    fn begin(&mut self, arguments: &[u8]) -> Result<(), String>;

    /// The next key; none to stop. It is not asked when the game has ended.
    fn next(&mut self, sight: &Sight<'_>) -> Option<Key>;

    /// What it brings back, at the end of each rollout: at most [`POLICY_BYTES_MAX`](crate::POLICY_BYTES_MAX) bytes, or the line is refused.
    fn outcome(&mut self, sight: &Sight<'_>) -> Vec<u8>;
}

/// What a policy sees at a boundary.
pub struct Sight<'a> {
    machine: &'a Machine,
    eye: &'a Eye,
    keys: u32,
}

impl Sight<'_> {
    /// What kind of answer the game waits for; none when it has ended. Costs next to nothing.
    #[must_use]
    pub fn pending_kind(&self) -> Option<PendingKind> {
        self.machine.pending_kind()
    }

    /// What the game waits for; none when it has ended. Costs a frame.
    #[must_use]
    pub fn pending(&self) -> Option<&Pending> {
        self.frame().pending.as_ref()
    }

    /// NetHack's move counter. Costs next to nothing.
    #[must_use]
    pub fn turn(&self) -> i64 {
        self.machine.turn()
    }

    /// How many keys the policy has pressed in this rollout.
    #[must_use]
    pub fn keys(&self) -> u32 {
        self.keys
    }

    /// How the game ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<&Ended> {
        match self.machine.stop() {
            Some(Stop::Ended(ended)) => Some(ended),
            _ => None,
        }
    }

    /// Everything visible. It is made when first asked for at a boundary.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        self.eye.frame.get_or_init(|| {
            let mut frame = self.eye.spare.take();
            self.machine.frame_into(&mut frame);
            frame
        })
    }
}

/// The frame that policies look at, and its allocations when nobody looks.
#[derive(Default)]
pub(crate) struct Eye {
    frame: OnceCell<Frame>,
    spare: Cell<Frame>,
}

impl Eye {
    /// The machine has moved.
    fn blink(&mut self) {
        if let Some(frame) = self.frame.take() {
            self.spare.set(frame);
        }
    }
}

/// How far a policy may go.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) keys_max: u32,
    pub(crate) turns_max: Option<u64>,
}

/// Presses what a policy chooses, until it or the game stops or a bound is reached.
/// Also gives what the policy brings back.
///
/// # Errors
/// The machine's, which then can't be relied on any more.
pub(crate) fn roll_out(
    machine: &mut Machine,
    (policy, eye): (&mut (dyn Policy + 'static), &mut Eye),
    bounds: Bounds,
    want: Want,
    log: &mut MessageLog,
    pressed: &mut dyn FnMut(),
) -> Result<(Run, Vec<u8>), String> {
    let turn_before = machine.turn();
    let mut run = Run::nothing(StopReason::Done);
    eye.blink();
    run.stop = loop {
        let turns = u64::try_from(machine.turn() - turn_before).unwrap_or(0);
        if machine.has_ended() {
            break StopReason::Ended;
        } else if bounds.turns_max.is_some_and(|max| turns >= max) {
            break StopReason::Turns;
        } else if run.keys_used == bounds.keys_max {
            break StopReason::Done;
        }
        let sight = Sight { machine, eye, keys: run.keys_used };
        let Some(key) = machine.watch(|| policy.next(&sight)) else { break StopReason::Policy };
        if want.messages {
            log.closing(machine);
        }
        machine.press(key).map_err(|error| error.to_string())?;
        eye.blink();
        run.keys_used += 1;
        run.inputs.push(key);
        if want.checks {
            run.checks.push(machine.check());
        }
        if want.messages {
            log.collect(machine);
        }
        pressed();
    };
    run.turns = machine.turn() - turn_before;
    let sight = Sight { machine, eye, keys: run.keys_used };
    let outcome = machine.watch(|| policy.outcome(&sight));
    Ok((run, outcome))
}
