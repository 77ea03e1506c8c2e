use lab::{Difference, MachineId, Urgency, Verdict, VerifyReport};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::Frame;

use crate::failure::{Code, Failure};
use crate::files::{self, FileName};
use crate::game::{BEGUN, Heir, begun, succeed};
use crate::output::sha256;
use crate::reply::{Call, RUNNING, Reply};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

/// `movie_verify`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MovieVerify {
    /// "main" (default) or a fork's id: its movie as it would be exported now.
    source: Option<String>,
    /// Instead: a file NAME.movie in the server's export or movies directory.
    name: Option<String>,
}

const VERIFIED: &[Field] = &[
    ("verdict", Kind::Text, ""),
    ("reason", Kind::Text, ""),
    ("source", Kind::Text, ""),
    ("name", Kind::Text, ""),
    ("sha256", Kind::Text, ""),
    ("inputs", Kind::Integer, ""),
    ("inputs_recorded", Kind::Integer, ""),
    ("torn_bytes", Kind::Integer, ""),
    ("remarks", Kind::Text, "An operator's edits, reseeds, debug mode, claimed forks and jumps; absent with none."),
    ("edits", Kind::Integer, ""),
    ("claimed", Kind::Object, "The movie's account: no replay proves it."),
    ("engine_id", Kind::Text, ""),
    ("rom_id", Kind::Text, ""),
    ("power_on", Kind::Object, ""),
    ("play_digest", Kind::Text, ""),
    ("state_digest", Kind::Text, ""),
    ("ended", Kind::Object, ""),
    ("first_difference", Kind::Object, ""),
];

impl ToolArguments for MovieVerify {
    const NAME: &'static str = "movie_verify";
    const TITLE: &'static str = "Verify a movie";
    const TEXT: &'static str = "Replays a movie from power-on in a fresh worker, compares every recorded digest and the \
        final machine, and gives a verdict: exact (same engine bytes, same machine), same-play (another build of the \
        engine, same play), altered (the file was changed but play agrees), desync (with the first input after which \
        play differs), or cannot-judge. Give source or name. Reports progress, can be cancelled.";
    const EFFECT: Effect = Effect::Computes;
    const RESULT: &'static [&'static [Field]] = &[VERIFIED, RUNNING];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let Recorded { bytes, machine: recorded, origin } = recorded(session, self.name, self.source)?;
        let verified = session.lab.verify(&bytes, recorded, &call.control(Urgency::Bulk));
        let report = match verified {
            Ok(report) => report,
            // A file that can't be read gives no verdict on play, and that is a verdict.
            Err(lab::LabError::BadMovie(reason)) => {
                return Ok(Reply::default()
                    .with("verdict", "cannot-judge")
                    .with("reason", format!("cannot-judge: {reason}"))
                    .with(origin.0, origin.1)
                    .with("sha256", sha256(&bytes)));
            }
            Err(error) => return Err(session.failure(error, None)),
        };
        Ok(tell(&report).with(origin.0, origin.1).with("sha256", sha256(&bytes)))
    }
}

/// A movie that a call names.
struct Recorded {
    bytes: Vec<u8>,
    /// The machine that it is of, where it is none from a file.
    machine: Option<MachineId>,
    /// The argument that names it, and what it says.
    origin: (&'static str, String),
}

/// The movie of a machine as it would be exported now, main's where nothing is named, or a file's.
fn recorded(session: &Session, name: Option<String>, source: Option<String>) -> Result<Recorded, Failure> {
    match (name, source) {
        (Some(_), Some(_)) => Err(Failure::argument("name", "give `source` or `name`, not both")),
        (Some(name), None) => {
            session.check_fair_file("movie_verify")?;
            let name = FileName::parse(&name)?;
            let directories = [session.out_dir.as_deref(), session.movies.as_deref()];
            let bytes = files::read(&directories, &name, session.lab.info().limits.movie_bytes)?;
            Ok(Recorded { bytes, machine: None, origin: ("name", name.as_str().to_owned()) })
        }
        (None, source) => {
            let machine = session.machine(source.as_deref())?;
            let bytes = session.lab.movie(machine).map_err(|error| session.failure(error, Some(machine)))?;
            Ok(Recorded { bytes, machine: Some(machine), origin: ("source", session.name_of(machine)) })
        }
    }
}

fn tell(report: &VerifyReport) -> Reply {
    let first = match &report.verdict {
        Verdict::Desync(desync) => json!({
            "boundary": desync.boundary.0,
            "input": desync.key.map(|_| desync.boundary.0.saturating_sub(1)),
            "key": desync.key.map(wire::Key::name),
            "what": desync.difference.to_string(),
            "kind": difference_word(&desync.difference),
            "recorded_screen": report.recorded_frame.as_deref().map(screen),
            "replayed_screen": report.replayed_frame.as_deref().map(screen),
        }),
        _ => Value::Null,
    };
    Reply::default()
        .with("verdict", report.verdict.name())
        .with("reason", report.verdict.to_string())
        .with("inputs", report.inputs)
        .with("inputs_recorded", report.inputs_recorded)
        .with("torn_bytes", (report.torn_bytes > 0).then_some(report.torn_bytes))
        .with("remarks", report.holds.in_words())
        .with("edits", report.holds.edits)
        .with("claimed", json!(report.holds.claimed))
        .with("engine_id", report.engine_id.as_str())
        .with("rom_id", report.rom_id.as_str())
        .with("power_on", crate::game::power_on(&report.power_on))
        .with("play_digest", report.play.map(|digest| digest.to_string()))
        .with("state_digest", report.state.map(|digest| digest.to_string()))
        .with("ended", report.ended.as_ref().map(crate::reply::ended))
        .with("first_difference", first)
}

fn screen(frame: &Frame) -> String {
    frame.screen.text().trim_end().to_owned()
}

fn difference_word(difference: &Difference) -> &'static str {
    match difference {
        Difference::Check { .. } | Difference::First { .. } | Difference::Play { .. } | Difference::Edit { .. } => {
            "play"
        }
        Difference::State { .. } => "state",
        Difference::EndedEarly { .. } | Difference::Finish { .. } => "end",
    }
}

/// `movie_open`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MovieOpen {
    /// A file NAME.movie in the server's export or movies directory.
    name: Option<String>,
    /// Instead: "main" or a fork's id.
    source: Option<String>,
}

const OPENED: &[Field] =
    &[("name", Kind::Text, ""), ("source", Kind::Text, ""), ("sha256", Kind::Text, ""), ("inputs", Kind::Integer, "")];

impl ToolArguments for MovieOpen {
    const NAME: &'static str = "movie_open";
    const TITLE: &'static str = "Go on from a movie";
    const TEXT: &'static str = "Makes the main machine from a movie, by replay of all its inputs, and goes on from its end \
        with a new journal. Refused while a game runs (GAME_ACTIVE), and where the movie does not replay. Give name or \
        source. Reports progress, can be cancelled.";
    const EFFECT: Effect = Effect::Adds;
    const RESULT: &'static [&'static [Field]] = &[OPENED, BEGUN[0], BEGUN[1], BEGUN[2], BEGUN[3]];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        if self.name.is_none() && self.source.is_none() {
            return Err(Failure::argument("name", "give `name` or `source`"));
        }
        let Recorded { bytes, origin, .. } = recorded(session, self.name, self.source)?;
        let control = call.control(Urgency::Interactive);
        let opens = || session.lab.open_movie(&bytes, session.journalled(), &control);
        let succession = succeed(session, call, Heir::OfNone, opens).map_err(|mut failure| {
            if failure.code == Code::InvalidArgument {
                failure.details.entry("field").or_insert(json!(origin.0));
            }
            failure
        })?;
        Ok(begun(session, call, &succession.snapshot)
            .with(origin.0, origin.1)
            .with("sha256", sha256(&bytes))
            .with("inputs", succession.snapshot.boundary.0))
    }
}
