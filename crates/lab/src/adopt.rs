use std::cell::Cell;
use std::sync::Arc;

use movie::Account;
use wire::{Batch, Boundary, Event, Frame, Key, PlayDigest, StopReason};

use crate::compare::frame_digest;
use crate::lab::Inner;
use crate::line::{Happened, Leg};
use crate::slot::{Held, Origin, Slot, Tip};
use crate::task::{Job, StartAt, TRIES, Trouble};
use crate::{Control, Lab, LabError, Lineage, Luck, MachineId, Revision, Snapshot, Stop};

/// How a machine takes over a fork's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdoptMode {
    /// The machine goes on from where the fork is. Its own tip stays as a new fork.
    State {
        /// That a reseeded fork's luck is to be taken with it.
        take_luck: bool,
    },
    /// The fork's keys since the lines parted are pressed on the machine, and stop at the first frame that is not the
    /// fork's: the honest way to play a line that was found under other luck. Nothing is pressed on a machine that does
    /// not show what the fork's first key was pressed on.
    Replay,
}

/// What an adoption has done.
#[derive(Clone, Debug)]
pub struct Adoption {
    /// The machine afterwards.
    pub snapshot: Snapshot,
    /// The last boundary that both lines had in common.
    pub common: Boundary,
    /// The inputs since then that the machine has taken over.
    pub inputs: u64,
    /// The fork that holds the machine's former tip ([`AdoptMode::State`]).
    pub old_tip: Option<MachineId>,
    /// Where the frames parted ([`AdoptMode::Replay`]). The machine stands there.
    pub parted: Option<Parted>,
    /// Why pressing came to its end ([`AdoptMode::Replay`]); `Condition` where the frames parted.
    pub stop: Stop,
}

/// The first boundary at which the fork's frame and the machine's were not the same.
#[derive(Clone, Debug)]
pub struct Parted {
    /// The fork's boundary after the key; where it was not pressed, the last boundary that both lines had in common.
    pub boundary: Boundary,
    /// The key.
    pub key: Key,
    /// True when the key was pressed and the frames parted after it. False when they differed before the fork's first
    /// key: the machine then stands where it stood.
    pub pressed: bool,
    /// What the fork showed there.
    pub expected: Arc<Frame>,
    /// What the machine shows.
    pub actual: Arc<Frame>,
}

impl Lab {
    /// Has a machine take over a fork's line, from the last boundary that both have in common. The fork, which may be
    /// any machine of the same game, also a fork of a fork or a former tip, stays as it is; where it runs just now, its
    /// last boundary counts. A journal gets the inputs, so its movie still begins at power-on.
    ///
    /// It may also be a machine of another game with an equal power-on record, such as one made from a save state file.
    /// What its line holds beyond the common boundary is then replayed on the way: a file only says that it leads there.
    ///
    /// # Errors
    /// [`LabError::NotAFork`], [`LabError::LuckNeeded`], [`LabError::NothingToReplay`], [`LabError::Desync`] where
    /// another game's line does not replay, other refusals; engine and journal failures.
    pub fn adopt(
        &self,
        machine: MachineId,
        expected: Revision,
        fork: MachineId,
        mode: AdoptMode,
        control: &Control<'_>,
    ) -> Result<Adoption, LabError> {
        let lab = &self.0;
        let (slot, other) = (lab.slot(machine)?, lab.slot(fork)?);
        if machine == fork || (slot.game != other.game && slot.power_on != other.power_on) {
            return Err(LabError::NotAFork { machine, fork });
        }
        let held = slot.take(Some(expected), lab.limits().queue)?;
        match mode {
            AdoptMode::State { take_luck } => lab.adopt_state(&held, &other, take_luck, control),
            AdoptMode::Replay => lab.adopt_replay(&held, &other, control),
        }
    }
}

impl Inner {
    fn adopt_state(
        &self,
        held: &Held<'_>,
        fork: &Slot,
        take_luck: bool,
        control: &Control<'_>,
    ) -> Result<Adoption, LabError> {
        held.check_open()?;
        let slot = held.slot();
        let (old, mut new) = (slot.tip(), fork.tip());
        let common = old.line.common(&new.line);
        if !take_luck && new.line.events_beyond(&old.line).iter().any(is_reseed) {
            return Err(LabError::LuckNeeded(fork.id));
        }
        self.check_machines(1)?;
        if slot.game != fork.game {
            new = self.replayed(slot, (&old, &new), common, control)?;
        }
        let mut journal = held.journal();
        if let Some(journal) = journal.as_mut() {
            if journal.is_closed() {
                return Err(LabError::GameOver(slot.id));
            }
            journal.check_room(0)?;
            journal.peek(&slot.peeks)?;
            journal.adopt(fork.id, common, &new.line)?;
        } else {
            held.tally_peeks();
            held.tally(|account| {
                account.adoptions += 1;
                account.inputs += new.line.end().0 - common.0;
                let (reseeds, edits) = new.line.counts_from(common);
                account.reseeds += reseeds;
                account.debugs += edits;
            });
        }
        let origin = Origin {
            id: self.new_machine(),
            game: slot.game.clone(),
            power_on: Arc::clone(&slot.power_on),
            lineage: Some(Lineage { parent: slot.id, base: common, luck: Luck::Same }),
            peeks: Arc::clone(&slot.peeks),
            past: Account::default(),
        };
        let inputs = new.line.end().0 - common.0;
        let extends = common == old.line.end();
        let old_tip = Arc::new(Slot::new(origin, self.new_revision(), old, None));
        let old_id = old_tip.id;
        // Whoever sees the journal sees the machine where it leads.
        held.publish(self.new_revision(), new, extends);
        drop(journal);
        // The journal has it already, so one machine too many for a moment is better than an adoption half done.
        self.insert_always(old_tip);
        held.tell_ledger()?;
        Ok(Adoption {
            snapshot: held.snapshot(),
            common,
            inputs,
            old_tip: Some(old_id),
            parted: None,
            stop: Stop::Batch(StopReason::Done),
        })
    }

    /// The tip of another game's line, made again from the boundary that it has in common with ours.
    fn replayed(
        &self,
        slot: &Slot,
        (ours, theirs): (&Tip, &Tip),
        common: Boundary,
        control: &Control<'_>,
    ) -> Result<Tip, LabError> {
        let line = ours.line.prefix(common).followed_by(&theirs.line);
        let tip = self.rebuild(&slot.power_on, &line, &ours.messages, control)?;
        if tip.play != theirs.play || tip.ended != theirs.ended {
            return Err(LabError::Desync { boundary: line.end() });
        }
        if tip.state.is_none() && tip.ended.is_none() {
            return Err(self.store.full(0));
        }
        Ok(tip)
    }

    fn adopt_replay(&self, held: &Held<'_>, fork: &Slot, control: &Control<'_>) -> Result<Adoption, LabError> {
        held.check_alive()?;
        let slot = held.slot();
        let (ours, theirs) = (slot.tip(), fork.tip());
        let common = ours.line.common(&theirs.line);
        let keys: Vec<Key> = theirs.line.steps_from(common).map(|step| step.key).collect();
        let Some(&first) = keys.first() else {
            return Err(LabError::NothingToReplay(fork.id));
        };
        Batch::forced(keys.clone()).check(self.limits().keys)?;
        let start = self.fork_start(slot, (&ours, &theirs), common, control)?;
        if frame_digest(&ours.frame) != frame_digest(&start.frame) {
            let (expected, actual) = (start.frame, ours.frame);
            let parted = Parted { boundary: common, key: first, pressed: false, expected, actual };
            held.renew(self.new_revision());
            return Ok(Adoption {
                snapshot: held.snapshot(),
                common,
                inputs: 0,
                old_tip: None,
                parted: Some(parted),
                stop: Stop::Condition,
            });
        }
        let seen = self.seen(&start, &theirs.line.legs(common, false, 1), control)?;
        let next = Cell::new(0);
        let parts = |frame: &Frame| {
            let index = next.replace(next.get() + 1);
            seen.get(index) != Some(&frame_digest(frame))
        };
        let pressing = Control { stop_when: Some(&parts), ..*control };
        let report = self.press_all(held, &Batch::forced(keys), &pressing)?;
        let inputs = report.inputs.len() as u64;
        let parted = match (&report.stop, report.inputs.last()) {
            (Stop::Condition, Some(&key)) => {
                let boundary = Boundary(common.0 + inputs);
                let expected = self.tip_at(fork, Some(boundary), &Control::default())?.frame;
                let actual = Arc::clone(&report.snapshot.frame);
                Some(Parted { boundary, key, pressed: true, expected, actual })
            }
            _ => None,
        };
        Ok(Adoption { snapshot: report.snapshot, common, inputs, old_tip: None, parted, stop: report.stop })
    }

    /// Where a fork was when its line left the other's, with a state.
    fn fork_start(
        &self,
        slot: &Slot,
        (ours, theirs): (&Tip, &Tip),
        common: Boundary,
        control: &Control<'_>,
    ) -> Result<Tip, LabError> {
        if ours.line.end() == common && ours.state.is_some() && !ours.line.happens_at(common) {
            return Ok(ours.clone());
        }
        self.rebuild(&slot.power_on, &theirs.line.prefix(common), &theirs.messages, control)
    }

    /// The digests of the frames that a fork saw after each of its keys. They are made before anything is pressed
    /// elsewhere, so that no call ever holds two workers.
    fn seen(&self, start: &Tip, legs: &[Leg], control: &Control<'_>) -> Result<Vec<PlayDigest>, LabError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_seen(start, legs, control) {
                Err(Trouble::Lost(_)) if tries < TRIES => {}
                result => return result.map_err(Trouble::into_error),
            }
        }
    }

    fn try_seen(&self, start: &Tip, legs: &[Leg], control: &Control<'_>) -> Result<Vec<PlayDigest>, Trouble> {
        let no_state = || Trouble::Fatal(self.store.full(0));
        let state = start.state.as_ref().ok_or_else(no_state)?;
        let mut hosted = self.lease(Some(state.id()), control.urgency)?;
        let mut from = StartAt::State(state);
        let mut seen = Vec::with_capacity(legs.len());
        for leg in legs {
            if control.is_cancelled() {
                return Err(Trouble::Fatal(LabError::Cancelled));
            }
            let job = Job {
                from,
                event: leg.event.clone(),
                batch: (!leg.steps.is_empty()).then(|| Batch::forced(leg.keys())),
                part: None,
                keep: None,
                digest: false,
            };
            let report = job.run(hosted.as_mut())?;
            from = StartAt::Here;
            if !leg.steps.is_empty() {
                seen.push(report.frame.as_ref().map_or(PlayDigest([0; 16]), frame_digest));
            }
        }
        Ok(seen)
    }
}

fn is_reseed(happened: &Happened) -> bool {
    matches!(happened.event, Event::Reseed { .. })
}
