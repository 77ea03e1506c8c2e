use std::ops::ControlFlow;

use lab::{Boundary, MachineId, Snapshot, Urgency};
use render::{Cast, Pace, Scale, Symbols, Ttyrec};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::Screen;

use crate::arguments::within;
use crate::failure::{Code, Failure};
use crate::files::{self, FileName};
use crate::output::{INLINE_BYTES_MAX, Output, Place};
use crate::reply::{Blob, Call, RUNNING, Reply};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

/// Forms that a movie can be exported in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    /// The movie itself.
    Movie,
    /// A recording in the ttyrec format.
    Ttyrec,
    /// A recording in the asciicast format, version 2.
    Cast,
    /// A picture of one screen.
    Png,
    /// One screen as plain text.
    Text,
}

impl Format {
    fn word(self) -> &'static str {
        match self {
            Self::Movie => "movie",
            Self::Ttyrec => "ttyrec",
            Self::Cast => "cast",
            Self::Png => "png",
            Self::Text => "text",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Movie => files::MOVIE,
            Self::Ttyrec => ".ttyrec",
            Self::Cast => ".cast",
            Self::Png => ".png",
            Self::Text => ".txt",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Movie => "application/x-ndjson",
            Self::Ttyrec => "application/octet-stream",
            Self::Cast => "application/x-asciicast",
            Self::Png => "image/png",
            Self::Text => "text/plain",
        }
    }

    fn is_recording(self) -> bool {
        matches!(self, Self::Ttyrec | Self::Cast)
    }

    fn is_still(self) -> bool {
        matches!(self, Self::Png | Self::Text)
    }
}

/// `movie_export`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MovieExport {
    /// "main" (default) or a fork's id.
    source: Option<String>,
    /// Write NAME.movie (.ttyrec, .cast, .png, .txt): 1 to 64 letters, digits, _ or -. Never over a file that is there.
    name: Option<String>,
    /// movie without it.
    format: Option<Format>,
    /// Of ttyrec and cast: the first boundary; 0 without it.
    from: Option<u64>,
    /// And the last; the newest without it.
    to: Option<u64>,
    /// Of png and text: the boundary; the newest without it.
    at: Option<u64>,
    /// True hands it out inline whatever its size; false never does.
    inline: Option<bool>,
}

const EXPORTED: &[Field] = &[
    ("source", Kind::Text, ""),
    ("game", Kind::Text, ""),
    ("boundary", Kind::Integer, ""),
    ("revision", Kind::Integer, ""),
    ("format", Kind::Text, ""),
    ("from", Kind::Integer, ""),
    ("to", Kind::Integer, ""),
    ("frames", Kind::Integer, ""),
    ("bytes", Kind::Integer, ""),
    ("sha256", Kind::Text, ""),
    ("name", Kind::Text, "A movie's is for movie_verify."),
    ("path", Kind::Text, ""),
    ("uri", Kind::Text, ""),
];

impl ToolArguments for MovieExport {
    const NAME: &'static str = "movie_export";
    const TITLE: &'static str = "Export a movie";
    const TEXT: &'static str = "The movie of a machine: power-on record, every input and digests, which anyone can \
        replay and verify. Or what was seen: ttyrec and cast are recordings for terminal players, png and text one \
        screen. With name it goes to a file in the server's export directory, else a small one is handed out inline (an \
        image or an embedded resource), a large one goes to a file of its own name. Reports progress, can be cancelled.";
    const EFFECT: Effect = Effect::Adds;
    const RESULT: &'static [&'static [Field]] = &[EXPORTED, RUNNING];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let format = self.format.unwrap_or(Format::Movie);
        let name = self.name.as_deref().map(|name| FileName::with_ending(name, format.ending())).transpose()?;
        let directory = session.out_dir.as_deref();
        if let Some(name) = &name {
            name.check_free(directory.ok_or_else(no_directory)?)?;
            if self.inline == Some(true) {
                return Err(Failure::argument("inline", "give `name` or `inline`, not both"));
            }
        }
        self.check_fields(format)?;
        let machine = session.machine(self.source.as_deref())?;
        let snapshot = session.snapshot(machine)?;
        let (from, to) =
            self.span(snapshot.boundary).map_err(|failure| failure.at(&session.name_of(machine), &snapshot))?;
        let mut output = Output::new(directory, self.held_max(session));
        let source = Source { session, call, snapshot: &snapshot };
        let frames = match format {
            Format::Movie => source.movie(&mut output)?,
            Format::Ttyrec | Format::Cast => source.recording(format, (from, to), &mut output)?,
            Format::Png | Format::Text => source.still(format, to, &mut output)?,
        };
        let own = |digest: &str| {
            let digest = digest.get(..12).unwrap_or(digest);
            FileName::with_ending(&format!("{}-{digest}", snapshot.game), format.ending())
        };
        let exported = output.finish(name, own)?;
        let mut reply = Reply::default()
            .with("source", session.name_of(machine))
            .with("game", snapshot.game.as_str())
            .with("boundary", snapshot.boundary.0)
            .with("revision", snapshot.revision.0)
            .with("format", format.word())
            .with("bytes", exported.bytes)
            .with("sha256", exported.sha256.as_str());
        if format != Format::Movie {
            let from = if format.is_still() { to } else { from };
            reply = reply.with("from", from.0).with("to", to.0).with("frames", frames);
        }
        Ok(match exported.place {
            Place::File { name, path } => reply.with("name", name).with("path", path),
            Place::Inline(bytes) => inline(reply, format, &exported.sha256, bytes),
        })
    }
}

impl MovieExport {
    /// How many bytes may be handed out inline.
    fn held_max(&self, session: &Session) -> usize {
        match self.inline {
            _ if self.name.is_some() => 0,
            Some(true) => INLINE_BYTES_MAX,
            Some(false) => 0,
            None => session.limits.inline_bytes,
        }
    }

    /// Refuses boundaries that the format doesn't ask for.
    fn check_fields(&self, format: Format) -> Result<(), Failure> {
        let word = format.word();
        for (field, given, is_asked) in [
            ("from", self.from, format.is_recording()),
            ("to", self.to, format.is_recording()),
            ("at", self.at, format.is_still()),
        ] {
            if given.is_some() && !is_asked {
                let right = if field == "at" { "png and text" } else { "ttyrec and cast" };
                return Err(Failure::argument(field, format!("`{field}` is for {right}, not for {word}")));
            }
        }
        Ok(())
    }

    /// The first and last boundary that are asked for, of those up to `last`.
    fn span(&self, last: Boundary) -> Result<(Boundary, Boundary), Failure> {
        let at = |field, given: Option<u64>| given.map(|given| within(field, given, 0, last.0)).transpose();
        let to = at("to", self.to)?.or(at("at", self.at)?).unwrap_or(last.0);
        let from = self.from.map(|from| within("from", from, 0, to)).transpose()?;
        Ok((Boundary(from.unwrap_or(0)), Boundary(to)))
    }
}

/// Where an export comes from.
struct Source<'a> {
    session: &'a Session,
    call: &'a Call<'a>,
    snapshot: &'a Snapshot,
}

/// A recording under way.
enum Recorder {
    Ttyrec(Ttyrec),
    Cast(Cast),
}

impl Recorder {
    fn frame(&mut self, inputs: u64, screen: &Screen) -> Vec<u8> {
        match self {
            Self::Ttyrec(ttyrec) => ttyrec.frame(inputs, screen),
            Self::Cast(cast) => cast.frame(inputs, screen).into_bytes(),
        }
    }
}

impl Source<'_> {
    fn machine(&self) -> MachineId {
        self.snapshot.machine
    }

    fn symbols(&self) -> Symbols {
        Symbols::of(&self.snapshot.power_on)
    }

    fn failure(&self, error: lab::LabError) -> Failure {
        self.session.failure(error, Some(self.machine()))
    }

    fn movie(&self, output: &mut Output<'_>) -> Result<u64, Failure> {
        let bytes = self.session.lab.movie(self.machine()).map_err(|error| self.failure(error))?;
        output.write(&bytes)?;
        Ok(0)
    }

    /// Writes a recording; gives the number of its frames.
    fn recording(
        &self,
        format: Format,
        (from, to): (Boundary, Boundary),
        output: &mut Output<'_>,
    ) -> Result<u64, Failure> {
        let mut recorder = match format {
            Format::Cast => {
                let version = self.session.lab.info().nethack_version;
                let title = format!("NetHack {version}, seed {}", self.snapshot.power_on.core_seed);
                output.write(Cast::header(&title).as_bytes())?;
                Recorder::Cast(Cast::new(self.symbols(), Pace::default()))
            }
            _ => Recorder::Ttyrec(Ttyrec::new(self.symbols(), Pace::default())),
        };
        let (mut frames, mut written) = (0, Ok(()));
        let control = self.call.control(Urgency::Bulk);
        let walked = self.session.lab.walk(self.machine(), from..=to, &control, &mut |at, frame| {
            frames += 1;
            written = output.write(&recorder.frame(at.0 - from.0, &frame.screen));
            if written.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        walked.map_err(|error| self.failure(error))?;
        written.map(|()| frames)
    }

    /// Writes one screen.
    fn still(&self, format: Format, at: Boundary, output: &mut Output<'_>) -> Result<u64, Failure> {
        let control = self.call.control(Urgency::Bulk);
        let frame = self.session.lab.frame_at(self.machine(), at, &control).map_err(|error| self.failure(error))?;
        let bytes = match format {
            Format::Png => {
                let png = render::png(&frame.screen, self.symbols(), Scale::Two);
                png.map_err(|error| Failure::new(Code::EngineFailure, error.to_string()))?
            }
            _ => render::text(&frame.screen, self.symbols()).into_bytes(),
        };
        output.write(&bytes)?;
        Ok(1)
    }
}

fn no_directory() -> Failure {
    Failure::new(
        Code::Disabled,
        "the server has no export directory, so nothing can be written under a name: leave `name` out and give `inline` \
         true to get it in the answer, or have the server started with --out-dir DIR",
    )
}

fn inline(reply: Reply, format: Format, digest: &str, bytes: Vec<u8>) -> Reply {
    let uri = format!("nethack-lab://{}/{digest}", format.word());
    let mut reply = reply.with("uri", uri.as_str());
    reply.blobs.push(Blob { uri, media_type: format.media_type(), bytes });
    reply
}
