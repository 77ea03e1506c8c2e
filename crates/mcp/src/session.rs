use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use lab::{Cancel, Lab, LabError, Ledger, Lifecycle, MachineId, Revision, Snapshot};
use script::{ScriptProgram, Scripts};
use serde_json::Value;
use wire::{Frame, PowerOn};

use crate::breakpoints::Breakpoints;
use crate::failure::{Code, Failure};
use crate::fair::Fair;
use crate::keeping::Unkept;
use crate::layers::{Layer, Want};
use crate::names::{MAIN, Names};
use crate::operations::Operations;
use crate::options::McpLimits;
use crate::tried::TriedCalls;
use crate::turn::Turn;

/// Frames that were shown, so that a later call can ask what has changed since.
const FRAMES_KEPT: usize = 256;

/// Everything that the tools of one server share. It holds no lock while a lab call runs.
pub(crate) struct Session {
    pub(crate) lab: Lab,
    pub(crate) limits: McpLimits,
    /// Where scripts run.
    pub(crate) scripts: Scripts,
    pub(crate) out_dir: Option<PathBuf>,
    pub(crate) movies: Option<PathBuf>,
    /// Whether the operator lets hidden state be seen and changed.
    pub(crate) allow_debug: bool,
    /// What was resumed at the start, for `info`.
    pub(crate) resumed: Option<Value>,
    /// Where the machines are to be seen, for `info`.
    pub(crate) viewer: OnceLock<String>,
    pub(crate) operations: Operations,
    /// Taken while a game begins, so that two calls can't both find the place free.
    pub(crate) beginning: Turn,
    /// Present where games are played fairly.
    pub(crate) fair: Option<Fair>,
    /// What a game is powered on with where it is drawn; its seeds don't count.
    pub(crate) defaults: Option<PowerOn>,
    /// The file that the forks are kept in.
    pub(crate) ledger: Mutex<Option<Ledger>>,
    /// Forks that are yet to be kept.
    pub(crate) unkept: Mutex<Unkept>,
    names: Mutex<Names>,
    breakpoints: Mutex<Breakpoints>,
    tried: Mutex<TriedCalls>,
    frames: Mutex<VecDeque<(MachineId, Revision, Arc<Frame>)>>,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    last: u64,
    running: Vec<(u64, Option<MachineId>, Cancel)>,
}

impl Session {
    pub(crate) fn new(lab: Lab, limits: McpLimits, out_dir: Option<PathBuf>, movies: Option<PathBuf>) -> Self {
        Self {
            lab,
            limits,
            scripts: Scripts::new(ScriptProgram::new("/proc/self/exe")),
            out_dir,
            movies,
            allow_debug: false,
            resumed: None,
            viewer: OnceLock::new(),
            operations: Operations::default(),
            beginning: Turn::default(),
            fair: None,
            defaults: None,
            ledger: Mutex::default(),
            unkept: Mutex::default(),
            names: Mutex::default(),
            breakpoints: Mutex::default(),
            tried: Mutex::default(),
            frames: Mutex::default(),
            calls: Mutex::default(),
        }
    }

    pub(crate) fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn breakpoints(&self) -> MutexGuard<'_, Breakpoints> {
        self.breakpoints.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tried(&self) -> MutexGuard<'_, TriedCalls> {
        self.tried.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The machine of a name; `main` where none is given.
    ///
    /// # Errors
    /// `NO_GAME`, `UNKNOWN_MACHINE`.
    pub(crate) fn machine(&self, name: Option<&str>) -> Result<MachineId, Failure> {
        let names = self.names();
        match name.unwrap_or(MAIN) {
            MAIN => names.main().ok_or_else(Failure::no_game),
            _ if self.fair.is_some() => Err(only_main()),
            fork => names.fork(fork).ok_or_else(|| unknown(fork)),
        }
    }

    /// The fork of a name.
    ///
    /// # Errors
    /// `UNKNOWN_MACHINE`, also for `main`.
    pub(crate) fn fork(&self, name: &str) -> Result<MachineId, Failure> {
        if name == MAIN {
            return Err(Failure::argument("fork", "argument `fork` is \"main\": give a fork's id, as in \"f1\""));
        }
        if self.fair.is_some() {
            return Err(only_main());
        }
        self.names().fork(name).ok_or_else(|| unknown(name))
    }

    pub(crate) fn name_of(&self, machine: MachineId) -> String {
        self.names().name_of(machine)
    }

    /// The failure of a lab call, with where its machine stands.
    pub(crate) fn failure(&self, error: LabError, machine: Option<MachineId>) -> Failure {
        if let Some(failure) = self.too_late(&error) {
            return failure;
        }
        let failure = Failure::from_lab(error, &self.names());
        match machine.map(|machine| (self.name_of(machine), self.lab.snapshot(machine))) {
            Some((name, Ok(snapshot))) => failure.at(&name, &snapshot),
            _ => failure,
        }
    }

    /// The failure of a call whose main machine has given way to another meanwhile.
    fn too_late(&self, error: &LabError) -> Option<Failure> {
        let (machine, expected) = match error {
            LabError::UnknownMachine(machine) => (*machine, None),
            LabError::Stale(stale) => (stale.machine, Some(stale.expected)),
            _ => return None,
        };
        let main = {
            let names = self.names();
            names.main().filter(|_| names.was_main(machine))
        };
        let now = self.lab.snapshot(main?).ok()?;
        Some(match expected {
            Some(expected) => Failure::other_revision(MAIN, expected, &now),
            None => Failure::another_game(&now),
        })
    }

    pub(crate) fn snapshot(&self, machine: MachineId) -> Result<Snapshot, Failure> {
        self.lab.snapshot(machine).map_err(|error| self.failure(error, None))
    }

    /// The machine as it is, for a call that was decided on `revision`.
    ///
    /// # Errors
    /// `STALE`, `GAME_OVER`.
    pub(crate) fn ready(&self, machine: MachineId, revision: u64) -> Result<Snapshot, Failure> {
        let snapshot = self.current(machine, revision)?;
        if crate::reply::is_over(&snapshot) {
            let name = self.name_of(machine);
            return Err(Failure::game_over(&name).at(&name, &snapshot));
        }
        Ok(snapshot)
    }

    /// The machine as it is, over or not, for a call that was decided on `revision`.
    ///
    /// # Errors
    /// `STALE`.
    pub(crate) fn current(&self, machine: MachineId, revision: u64) -> Result<Snapshot, Failure> {
        let snapshot = self.snapshot(machine)?;
        if snapshot.revision.0 != revision {
            return Err(self.stale(&self.name_of(machine), &snapshot, Revision(revision)));
        }
        Ok(snapshot)
    }

    /// The lab tells what was pressed since a revision that is past; one that never was can't be asked about, since by
    /// the time of the question it may have come. Nor is a machine asked that runs: the answer would wait for its turn.
    fn stale(&self, name: &str, snapshot: &Snapshot, expected: Revision) -> Failure {
        let runs = matches!(snapshot.lifecycle, Lifecycle::Waiting | Lifecycle::Running);
        if expected < snapshot.revision && !runs {
            let nothing = wire::Batch::forced(vec![wire::Key::ESC]);
            let asked = self.lab.run(snapshot.machine, expected, &nothing, &lab::Control::default());
            if let Err(error @ LabError::Stale(_)) = asked {
                return self.failure(error, None);
            }
        }
        Failure::other_revision(name, expected, snapshot)
    }

    /// Keeps a frame that is shown.
    pub(crate) fn keep_frame(&self, snapshot: &Snapshot) {
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (snapshot.machine, snapshot.revision);
        if frames.iter().any(|(machine, revision, _)| (*machine, *revision) == key) {
            return;
        }
        if frames.len() >= FRAMES_KEPT {
            frames.pop_front();
        }
        frames.push_back((snapshot.machine, snapshot.revision, Arc::clone(&snapshot.frame)));
    }

    /// What is wanted of a frame, with what glyphs are called on its machine where cells are asked for. Of a game that
    /// is over, it is not known any more.
    pub(crate) fn named<'a>(&self, machine: MachineId, want: &'a Want) -> Cow<'a, Want> {
        if !want.has(Layer::Cells) {
            return Cow::Borrowed(want);
        }
        let names = self.lab.names(machine).ok().map(Arc::new);
        Cow::Owned(Want { names, ..want.clone() })
    }

    /// A frame that was shown, where it is still kept.
    pub(crate) fn kept_frame(&self, machine: MachineId, revision: u64) -> Option<Arc<Frame>> {
        let frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        let mut frames = frames.iter();
        let found = frames.find(|(of, at, _)| *of == machine && at.0 == revision);
        found.map(|(_, _, frame)| Arc::clone(frame))
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call that begins.
    pub(crate) fn begin_call(&self, cancel: &Cancel) -> u64 {
        let mut calls = self.calls();
        calls.last += 1;
        let id = calls.last;
        calls.running.push((id, None, cancel.clone()));
        id
    }

    /// Notes which machine a call works on.
    pub(crate) fn call_works_on(&self, call: u64, machine: MachineId) {
        let mut calls = self.calls();
        if let Some((_, on, _)) = calls.running.iter_mut().find(|(id, ..)| *id == call) {
            *on = Some(machine);
        }
    }

    pub(crate) fn end_call(&self, call: u64) {
        self.calls().running.retain(|(id, ..)| *id != call);
    }

    /// Asks the calls that work on a machine to stop.
    pub(crate) fn cancel_calls_on(&self, machine: MachineId) {
        for (_, on, cancel) in &self.calls().running {
            if *on == Some(machine) {
                cancel.cancel();
            }
        }
    }

    /// Asks all calls to stop.
    pub(crate) fn cancel_all(&self) {
        for (_, _, cancel) in &self.calls().running {
            cancel.cancel();
        }
    }
}

fn only_main() -> Failure {
    Failure::new(Code::Disabled, "the game is played fairly (--fair), so there is no machine but \"main\"")
        .with("field", "machine")
}

fn unknown(name: &str) -> Failure {
    let name: String = name.chars().take(40).collect();
    Failure::new(
        Code::UnknownMachine,
        format!("there is no machine {name:?}: \"main\" and the forks that fork_list names"),
    )
}
