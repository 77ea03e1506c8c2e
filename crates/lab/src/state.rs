use std::sync::Arc;
use std::sync::atomic::Ordering;

use movie::{Account, Finish, Movie};
use wire::{Boundary, Ended, Frame, PowerOn, Seed, StateDigest};
use worker::{Drive, Report, Start, StateId, Task, TaskError, Want};

use crate::journal::marks;
use crate::lab::Inner;
use crate::messages::MessageLog;
use crate::path::{Path, Root};
use crate::power::account_of;
use crate::slot::{Origin, Peeks, Slot, Tip};
use crate::store::Kept;
use crate::task::{TRIES, Trouble};
use crate::{Control, Lab, LabError, Lineage, Luck, MachineId, Snapshot, Step, Urgency};

/// A save state that the lab keeps, with all that leads to it: a handle, cheap to clone, to hold, to send about.
///
/// It costs some hundred bytes of the process's memory and what it differs from the state before it; dropping the last
/// clone, and the last state that was reached from it, gives that back. A million of them is no trouble. States are
/// made by [`Lab::begin`], [`Lab::state`] and, most of them, by lines that are kept ([`Lab::try_lines`]).
#[derive(Clone, Debug)]
pub struct State {
    kept: Arc<Kept>,
    path: Arc<Path>,
}

impl State {
    pub(crate) fn new(kept: Arc<Kept>, path: Arc<Path>) -> Self {
        Self { kept, path }
    }

    /// The state that a line has led to from this one.
    pub(crate) fn after(
        &self,
        kept: Arc<Kept>,
        luck: Option<(Seed, Seed)>,
        steps: Box<[Step]>,
        ended: Option<Ended>,
    ) -> Self {
        Self { kept, path: self.path.extended(luck, steps, ended) }
    }

    pub(crate) fn kept(&self) -> &Arc<Kept> {
        &self.kept
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn root(&self) -> &Arc<Root> {
        self.path.root()
    }

    pub(crate) fn shares_root(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.root(), other.root())
    }

    /// How many inputs lie behind it, since power-on.
    #[must_use]
    pub fn boundary(&self) -> Boundary {
        self.path.end()
    }

    /// Its name. Equal names are equal images; the same image reached in another way may have another name, so to ask
    /// whether two states are the same, compare what [`Lab::digest`] says, or the play digests of their lines.
    #[must_use]
    pub fn id(&self) -> StateId {
        self.kept.id()
    }

    /// Bytes that it takes in the store beyond the states that it builds on.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.kept.bytes()
    }

    /// How its game ended; nothing while it goes on.
    #[must_use]
    pub fn ended(&self) -> Option<&Ended> {
        self.path.ended()
    }

    /// What it was powered on with.
    #[must_use]
    pub fn power_on(&self) -> &PowerOn {
        &self.root().power_on
    }
}

impl Lab {
    /// Powers on a game and gives the state at its first boundary. There is no machine of it: it is where a search
    /// begins that needs none.
    ///
    /// # Errors
    /// A record that can't be, no room; engine failures.
    pub fn begin(&self, power_on: PowerOn) -> Result<State, LabError> {
        let lab = &self.0;
        power_on.check()?;
        let tip = lab.power_on(&power_on)?;
        let names = (Arc::new(power_on), lab.new_game_id());
        let root = Root::new(names, tip.line, (None, Arc::default()), Account::default());
        lab.rooted(root, tip.state, tip.ended.as_deref())
    }

    /// The state of a machine where it is now. The machine goes its own way; lines tried from here on count as looking
    /// ahead of it.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`], no room; engine failures.
    pub fn state(&self, machine: MachineId) -> Result<State, LabError> {
        let lab = &self.0;
        let slot = lab.slot(machine)?;
        let tip = lab.tip_at(&slot, None, &Control::default())?;
        let past = slot.account();
        let names = (Arc::clone(&slot.power_on), slot.game.clone());
        let root = Root::new(names, tip.line, (Some(machine), Arc::clone(&slot.peeks)), past);
        lab.rooted(root, tip.state, tip.ended.as_deref())
    }

    /// What is visible in a state.
    ///
    /// # Errors
    /// Engine failures; [`LabError::ForeignState`].
    pub fn look(&self, state: &State) -> Result<Frame, LabError> {
        let report = self.0.inspect(state, Want { frame: true, ..Want::default() })?;
        Ok(report.frame.unwrap_or_default())
    }

    /// The digest of a state's whole image: equal for equal images under one ROM, however they were reached. Absent for
    /// an image that its engine can't read any more, after some ends.
    ///
    /// # Errors
    /// As [`Lab::look`].
    pub fn digest(&self, state: &State) -> Result<Option<StateDigest>, LabError> {
        Ok(self.0.inspect(state, Want { state_digest: true, ..Want::default() })?.state_digest)
    }

    /// The movie of what leads to a state: every input since power-on, with its account of the lines that were tried
    /// in the search around it. It verifies like any other.
    ///
    /// # Errors
    /// As [`Lab::look`]; [`LabError::BadMovie`] when it would be too long.
    pub fn movie_of(&self, state: &State) -> Result<Vec<u8>, LabError> {
        let lab = &self.0;
        let report = lab.inspect(state, Want { state_digest: true, ..Want::default() })?;
        let mut line = state.path().line();
        if let Some(digest) = report.state_digest {
            line.mark(report.play, digest);
        }
        let movie = Movie {
            header: lab.header(state.power_on()),
            steps: line.steps_from(Boundary(0)).copied().collect(),
            marks: marks(&line),
            finish: match state.ended() {
                Some(ended) => Finish::Ended(ended.clone()),
                None => Finish::Open,
            },
            account: account_of(&line, state.root().account()),
        };
        movie::export(&movie).map_err(|error| LabError::BadMovie(error.to_string()))
    }

    /// A machine that stands at a state, as a fork of the machine that the search began with, if it was one.
    ///
    /// # Errors
    /// As [`Lab::look`]; limits.
    pub fn fork_state(&self, state: &State) -> Result<Snapshot, LabError> {
        let lab = &self.0;
        lab.check_machines(1)?;
        let report = lab.inspect(state, Want { frame: true, ..Want::default() })?;
        let frame = report.frame.unwrap_or_default();
        let mut messages = MessageLog::default();
        messages.extend(&frame.messages, lab.limits().messages);
        let tip = Tip {
            line: state.path().line(),
            state: Some(Arc::clone(state.kept())),
            frame: Arc::new(frame),
            play: report.play,
            ended: state.ended().cloned().map(Arc::new),
            messages,
        };
        let slot = Arc::new(Slot::new(lab.origin_of(state), lab.new_revision(), tip, None));
        lab.insert(vec![Arc::clone(&slot)])?;
        if state.root().machine.is_some() {
            state.root().peeks.forks.fetch_add(1, Ordering::Relaxed);
        }
        Ok(slot.snapshot())
    }
}

impl Inner {
    fn rooted(&self, root: Root, kept: Option<Arc<Kept>>, ended: Option<&Ended>) -> Result<State, LabError> {
        let kept = kept.ok_or_else(|| self.store.full(0))?;
        Ok(State::new(kept, Path::start(Arc::new(root), ended.cloned())))
    }

    /// Refuses a state that lies in another lab's store.
    pub(crate) fn check_own(&self, state: &State) -> Result<(), LabError> {
        if self.store.holds(state.kept()) { Ok(()) } else { Err(LabError::ForeignState) }
    }

    /// What a machine is that was made from a state.
    fn origin_of(&self, state: &State) -> Origin {
        let root = state.root();
        let luck = state.path().first_luck();
        let luck = luck.map_or(Luck::Same, |(core, display)| Luck::Reseed { core, display });
        let lineage = root.machine.map(|parent| Lineage { parent, base: root.line.end(), luck });
        // A machine of its own tells itself what was tried before; a fork's parent tells it.
        let (peeks, past) = match lineage {
            Some(_) => (Arc::clone(&root.peeks), Account::default()),
            None => (Arc::new(Peeks::default()), account_of(&state.path().line(), root.account())),
        };
        Origin {
            id: self.new_machine(),
            game: root.game.clone(),
            power_on: Arc::clone(&root.power_on),
            lineage,
            peeks,
            past,
        }
    }

    /// Has a worker look at a state.
    fn inspect(&self, state: &State, want: Want) -> Result<Report, LabError> {
        self.check_own(state)?;
        let start = Start::State(state.kept().recipe());
        let task = Task { start, event: None, drive: Drive::Nothing, want };
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_inspect(state.id(), &task) {
                Err(Trouble::Lost(_)) if tries < TRIES => {}
                result => return result.map_err(Trouble::into_error),
            }
        }
    }

    fn try_inspect(&self, id: StateId, task: &Task) -> Result<Report, Trouble> {
        let mut hosted = self.lease(Some(id), Urgency::Interactive)?;
        hosted.set_resident(None);
        match hosted.run(task) {
            Ok(report) => {
                hosted.set_resident(Some(id));
                Ok(report)
            }
            Err(TaskError::Lost { reason }) => Err(Trouble::Lost(reason.to_string())),
            Err(error) => Err(Trouble::Fatal(LabError::EngineFailure { reason: error.to_string(), lost: None })),
        }
    }
}
