use lab::{Journalled, STATE_FILE_BYTES_MAX, StateFile, Urgency};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::failure::{Code, Failure};
use crate::files::{self, FileName};
use crate::forks::check_room;
use crate::game::{BEGUN, Heir, begun, succeed};
use crate::output::{Output, Place, sha256};
use crate::reply::{self, Call, RUNNING, Reply, STANDING};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

/// `state_save`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateSave {
    /// "main" (default) or a fork's id.
    machine: Option<String>,
    /// Writes NAME.state: 1 to 64 letters, digits, _ or -. Never over a file that is there.
    name: String,
}

const SAVED: &[Field] = &[
    ("name", Kind::Text, "For state_load."),
    ("path", Kind::Text, ""),
    ("bytes", Kind::Integer, ""),
    ("sha256", Kind::Text, "The file's."),
    ("state_digest", Kind::Text, "The machine's."),
];

impl ToolArguments for StateSave {
    const NAME: &'static str = "state_save";
    const TITLE: &'static str = "Save a machine to a file";
    const TEXT: &'static str = "Writes a machine as it is now to a file in the server's export directory: its whole \
        memory and the movie that leads there. The machine goes on undisturbed. To go back within this server, \
        fork_create is enough.";
    const EFFECT: Effect = Effect::Adds;
    const RESULT: &'static [&'static [Field]] = &[SAVED, STANDING, RUNNING];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let name = FileName::with_ending(&self.name, files::STATE)?;
        let directory = session.out_dir.as_deref().ok_or_else(no_directory)?;
        name.check_free(directory)?;
        let machine = session.machine(self.machine.as_deref())?;
        let snapshot = session.snapshot(machine)?;
        let failed = |error| session.failure(error, Some(machine));
        let bytes = session.lab.save_state(machine, None, &call.control(Urgency::Bulk)).map_err(failed)?;
        let file = StateFile::read(&bytes).map_err(|error| failed(error.into()))?;
        let mut output = Output::new(Some(directory), 0);
        output.write(&bytes)?;
        if call.cancel.is_cancelled() {
            return Err(failed(lab::LabError::Cancelled));
        }
        let saved = output.finish(Some(name), |_| Err(no_directory()))?;
        let reply = Reply::default()
            .extend(reply::standing(session, &snapshot))
            // The machine may have gone on since it was looked at.
            .with("boundary", file.boundary().0)
            .with("bytes", saved.bytes)
            .with("sha256", saved.sha256)
            .with("state_digest", file.state().to_string());
        match saved.place {
            Place::File { name, path } => Ok(reply.with("name", name).with("path", path)),
            Place::Inline(_) => Err(no_directory()),
        }
    }
}

/// What a save state is loaded as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Into {
    /// A new fork.
    Fork,
    /// The main machine.
    Main,
}

/// `state_load`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateLoad {
    /// A file NAME.state in the server's export directory.
    name: String,
    /// fork without it.
    into: Option<Into>,
    /// Into main: the main machine's, where there is one.
    revision: Option<u64>,
}

const LOADED: &[Field] = &[
    ("name", Kind::Text, ""),
    ("sha256", Kind::Text, ""),
    ("inputs", Kind::Integer, ""),
    ("old_tip", Kind::Text, "The fork that main's former game goes on in."),
];

impl ToolArguments for StateLoad {
    const NAME: &'static str = "state_load";
    const TITLE: &'static str = "Load a machine from a file";
    const TEXT: &'static str = "Makes a machine from a file that state_save wrote: a new fork, or the main machine. Main's \
        old tip then stays as a fork (old_tip), and a new journal begins with the movie of the state. A file that is \
        damaged or of another ROM is refused, and nothing changes. fork_adopt takes a loaded fork into main where both \
        go back to the same power_on.";
    const EFFECT: Effect = Effect::Adds;
    const RESULT: &'static [&'static [Field]] = &[LOADED, BEGUN[0], BEGUN[1], BEGUN[2], BEGUN[3]];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let name = FileName::with_ending(&self.name, files::STATE)?;
        let into_main = self.into == Some(Into::Main);
        if self.revision.is_some() && !into_main {
            return Err(Failure::argument("revision", "`revision` goes with into \"main\""));
        }
        let heir = if into_main { self.heir(session)? } else { None };
        if !into_main || heir.is_some() {
            check_room(session, 1)?;
        }
        let directory = session.out_dir.as_deref().ok_or_else(no_directory)?;
        let bytes_max = usize::try_from(STATE_FILE_BYTES_MAX).unwrap_or(usize::MAX);
        let bytes = files::read(&[Some(directory)], &name, bytes_max)?;
        let control = call.control(Urgency::Bulk);
        let load = |journalled| session.lab.load_state(&bytes, journalled, &control);
        let (snapshot, old_tip) = if into_main {
            let journalled = session.journalled();
            let succession =
                succeed(session, call, heir.unwrap_or(Heir::OfNone), || load(journalled)).map_err(of_file)?;
            (succession.snapshot, succession.old_tip)
        } else {
            let snapshot = load(Journalled::No).map_err(|error| of_file(session.failure(error, None)))?;
            session.add_fork(snapshot.machine)?;
            (snapshot, None)
        };
        Ok(begun(session, call, &snapshot)
            .with("name", name.as_str())
            .with("sha256", sha256(&bytes))
            .with("inputs", snapshot.boundary.0)
            .with("old_tip", old_tip))
    }
}

impl StateLoad {
    /// Whose place a state that is loaded into main takes, if anybody's.
    fn heir(&self, session: &Session) -> Result<Option<Heir>, Failure> {
        let main = session.names().main();
        match (main, self.revision) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(Failure::argument("revision", "there is no game yet: leave `revision` out")),
            (Some(main), None) => {
                let name = crate::names::MAIN;
                let failure = Failure::argument("revision", "into \"main\" needs the main machine's `revision`");
                Err(failure.at(name, &session.snapshot(main)?))
            }
            (Some(main), Some(revision)) => {
                session.current(main, revision)?;
                Ok(Some(Heir::At { revision, keeps_tip: true }))
            }
        }
    }
}

/// A file that can't be used is what its name stands for.
fn of_file(mut failure: Failure) -> Failure {
    if failure.code == Code::InvalidArgument {
        failure.details.entry("field").or_insert(json!("name"));
    }
    failure
}

fn no_directory() -> Failure {
    let message = "the server has no directory for save states: have it started with --out-dir DIR, or keep the machine \
                   with fork_create";
    Failure::new(Code::Disabled, message)
}
