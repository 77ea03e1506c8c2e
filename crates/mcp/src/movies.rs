use lab::{Difference, Urgency, Verdict, VerifyReport};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use wire::Frame;

use crate::failure::{Code, Failure};
use crate::files::{self, FileName};
use crate::reply::{Blob, Call, RUNNING, Reply};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

/// Forms that a movie can be exported in.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    /// The movie itself.
    Movie,
}

/// `movie_export`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MovieExport {
    /// "main" (default) or a fork's id.
    source: Option<String>,
    /// Write NAME.movie into the server's export directory: 1 to 64 letters, digits, _ or -. Never over a file that is
    /// there.
    name: Option<String>,
    /// Only "movie" in this version.
    format: Option<Format>,
    /// True hands the movie out inline whatever its size; false never does.
    inline: Option<bool>,
}

const EXPORTED: &[Field] = &[
    ("source", Kind::Text, ""),
    ("game", Kind::Text, ""),
    ("boundary", Kind::Integer, ""),
    ("revision", Kind::Integer, ""),
    ("bytes", Kind::Integer, ""),
    ("sha256", Kind::Text, ""),
    ("name", Kind::Text, "The name for movie_verify."),
    ("path", Kind::Text, ""),
    ("uri", Kind::Text, ""),
];

/// Bytes of a movie that is handed out inline when it is asked for.
const INLINE_BYTES_MAX: usize = 8 << 20;

impl ToolArguments for MovieExport {
    const NAME: &'static str = "movie_export";
    const TITLE: &'static str = "Export a movie";
    const TEXT: &'static str = "The movie of a machine: its power-on record, every input and digests, which anyone can \
        replay and verify. With name it goes to a file in the server's export directory, else a small one is handed out \
        inline (an embedded resource, base64), a large one goes to a file of its own name, or with inline true is \
        handed out too. The SHA-256 is told either way.";
    const EFFECT: Effect = Effect::Adds;
    const RESULT: &'static [&'static [Field]] = &[EXPORTED, RUNNING];

    fn call(self, session: &Session, _: &Call<'_>) -> Result<Reply, Failure> {
        let (Some(Format::Movie) | None) = self.format;
        let name = self.name.as_deref().map(FileName::parse).transpose()?;
        if name.is_some() && session.out_dir.is_none() {
            return Err(no_directory());
        }
        if name.is_some() && self.inline == Some(true) {
            return Err(Failure::argument("inline", "give `name` or `inline`, not both"));
        }
        let machine = session.machine(self.source.as_deref())?;
        let snapshot = session.snapshot(machine)?;
        let bytes = session.lab.movie(machine).map_err(|error| session.failure(error, Some(machine)))?;
        let digest = sha256(&bytes);
        let reply = Reply::default()
            .with("source", session.name_of(machine))
            .with("game", snapshot.game.as_str())
            .with("boundary", snapshot.boundary.0)
            .with("revision", snapshot.revision.0)
            .with("bytes", bytes.len())
            .with("sha256", digest.as_str());
        let inline_max = match self.inline {
            Some(true) => INLINE_BYTES_MAX,
            Some(false) => 0,
            None => session.limits.inline_bytes,
        };
        if name.is_none() && bytes.len() <= inline_max {
            return Ok(inline(reply, &digest, bytes));
        }
        let Some(directory) = &session.out_dir else {
            return Err(too_large(bytes.len(), inline_max));
        };
        let own = || FileName::parse(&format!("{}-{}", snapshot.game, &digest[..12]));
        let name = name.map_or_else(own, Ok)?;
        let path = files::write_new(directory, &name, &bytes)?;
        Ok(reply.with("name", name.as_str()).with("path", path.display().to_string()))
    }
}

fn no_directory() -> Failure {
    Failure::new(
        Code::Disabled,
        "the server has no export directory, so nothing can be written under a name: leave `name` out and give `inline` \
         true to get the movie in the answer, or have the server started with --out-dir DIR",
    )
}

fn too_large(bytes: usize, max: usize) -> Failure {
    Failure::new(
        Code::LimitExceeded,
        format!(
            "the movie has {bytes} bytes, {max} are handed out inline here, and the server has no export directory: \
             give inline true for up to {INLINE_BYTES_MAX}"
        ),
    )
    .with("limit", max)
}

fn inline(reply: Reply, digest: &str, bytes: Vec<u8>) -> Reply {
    let uri = format!("nethack-lab://movie/{digest}");
    let mut reply = reply.with("uri", uri.as_str());
    reply.blobs.push(Blob { uri, media_type: "application/x-ndjson", bytes });
    reply
}

/// SHA-256 as 64 hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

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
    ("verdict", Kind::Text, "exact, same-play, altered, desync or cannot-judge."),
    ("reason", Kind::Text, ""),
    ("source", Kind::Text, ""),
    ("name", Kind::Text, ""),
    ("sha256", Kind::Text, ""),
    ("inputs", Kind::Integer, ""),
    ("inputs_recorded", Kind::Integer, ""),
    ("torn_bytes", Kind::Integer, ""),
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
        let (bytes, recorded, origin) = match (&self.name, &self.source) {
            (Some(_), Some(_)) => return Err(Failure::argument("name", "give `source` or `name`, not both")),
            (Some(name), None) => {
                let name = FileName::parse(name)?;
                let directories = [session.out_dir.as_deref(), session.movies.as_deref()];
                let bytes_max = session.lab.info().limits.movie_bytes;
                (files::read(&directories, &name, bytes_max)?, None, ("name", name.as_str().to_owned()))
            }
            (None, source) => {
                let machine = session.machine(source.as_deref())?;
                let bytes = session.lab.movie(machine).map_err(|error| session.failure(error, Some(machine)))?;
                (bytes, Some(machine), ("source", session.name_of(machine)))
            }
        };
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
        Difference::Check { .. } | Difference::Play { .. } => "play",
        Difference::State { .. } => "state",
        Difference::EndedEarly { .. } | Difference::Finish { .. } => "end",
    }
}
