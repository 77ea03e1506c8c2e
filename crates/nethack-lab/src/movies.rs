//! `movie`: what a movie holds, whether it is true, and what it shows.

mod export;
mod keys;
mod replay;
mod show;
mod verify;

use std::path::Path;

use anyhow::Context;
use lab::{Boundary, Control, Lab, LabError, Snapshot};
use movie::{Finish, MarkKind, Movie, Recording};
use serde_json::{Value, json};

use crate::command_line::{MovieCommand, MovieFile};
use crate::out::{out, outln};
use crate::outcome::{Outcome, Usage};
use crate::record;
use crate::setup::{Setup, read_movie};

pub(crate) use replay::Replay;

pub(crate) fn run(setup: &Setup, command: MovieCommand) -> anyhow::Result<Outcome> {
    match command {
        MovieCommand::Info(options) => info(&options),
        MovieCommand::Verify(options) => verify::run(setup, &options),
        MovieCommand::Show(options) => show::run(setup, &options),
        MovieCommand::Export(options) => export::run(setup, &options),
        MovieCommand::Keys(options) => keys::run(&options),
        MovieCommand::Record(options) => record::run(setup, &options),
    }
}

/// Reads a movie, or says why it is none.
fn read(options: &MovieFile) -> anyhow::Result<Recording> {
    parse_file(&options.file, &read_movie(&options.file)?)
}

/// Reads the bytes of a movie's file, which an error names.
pub(crate) fn parse_file(path: &Path, bytes: &[u8]) -> anyhow::Result<Recording> {
    parse(bytes).with_context(|| path.display().to_string())
}

pub(crate) fn parse(bytes: &[u8]) -> anyhow::Result<Recording> {
    movie::read(bytes).map_err(|error| LabError::of_movie(bytes, &error).into())
}

/// The machine that a movie leads to, at its end or at an earlier boundary, with what the movie has until there.
pub(crate) fn open_at(setup: &Setup, mut bytes: Vec<u8>, at: Option<u64>) -> anyhow::Result<(Lab, Snapshot, Movie)> {
    let recording = parse(&bytes)?;
    let mut past = recording.movie;
    let last = past.boundary();
    let at = at.map_or(last, Boundary);
    if at > last {
        return Err(Usage(format!("--at {at}: the movie's last boundary is {last}")).into());
    }
    // An altered movie is refused below, as it is.
    if at < last && recording.broken_chain.is_none() {
        cut(&mut past, at);
        bytes = movie::export(&past)?;
    }
    let lab = setup.lab()?;
    let game = lab.open_movie(&bytes, false, &Control::default())?;
    Ok((lab, game, past))
}

/// Drops what lies beyond a boundary. The account keeps it: it has happened.
fn cut(movie: &mut Movie, at: Boundary) {
    movie.steps.truncate(usize::try_from(at.0).unwrap_or(usize::MAX));
    movie.marks.retain(|mark| mark.at < at);
    movie.finish = Finish::Open;
    movie.account.seeks += 1;
}

fn info(options: &MovieFile) -> anyhow::Result<Outcome> {
    let recording = read(options)?;
    let facts = facts(&recording);
    if options.json {
        outln!("{facts}");
    } else {
        out!("{}", as_text(&in_order(facts), 0));
    }
    Ok(Outcome::Good)
}

fn facts(recording: &Recording) -> Value {
    let movie = &recording.movie;
    let header = &movie.header;
    let count = |kind: fn(&MarkKind) -> bool| movie.marks.iter().filter(|mark| kind(&mark.kind)).count();
    let edits = count(|kind| matches!(kind, MarkKind::Debug { .. }));
    let finish = match &movie.finish {
        Finish::Unknown => json!("not said: the journal has no last line"),
        // Also that of a game that was quit: the format has one word for both.
        Finish::Open => json!("open: the game had not ended where the movie does"),
        Finish::Ended(ended) => json!({ "kind": ended.kind, "text": ended.text }),
    };
    json!({
        "inputs": movie.steps.len(),
        "finish": finish,
        "power_on": header.power_on,
        "engine_id": header.engine_id,
        "rom_id": header.rom_id,
        "nethack_version": header.nethack_version,
        "creator": header.creator,
        "digests": count(|kind| matches!(kind, MarkKind::Digests { .. })),
        "reseeds": count(|kind| matches!(kind, MarkKind::Reseed { .. })),
        "debug_edits": edits,
        "remarks": movie::Holdings::of(movie).in_words(),
        "claimed": movie.account,
        "file_lines": recording.lines,
        "torn_bytes": recording.torn_bytes,
        "altered_at_line": recording.broken_chain,
        "engine_is_ours": header.engine_id == rom::built_in().engine_id(),
        "rom_is_ours": header.rom_id == rom::built_in().rom_id(),
    })
}

/// What a reader asks for first, and then the rest.
const FIRST: [&str; 11] = [
    "seed",
    "hero",
    "inputs",
    "finish",
    "remarks",
    "engine_id",
    "engine_is_ours",
    "rom_id",
    "rom_is_ours",
    "nethack_version",
    "creator",
];

/// The facts by name, the most asked for first.
fn in_order(mut facts: Value) -> Vec<(String, Value)> {
    let record = &facts["power_on"];
    let (seed, character) = (record["core_seed"].clone(), &record["character"]);
    let words = ["name", "alignment", "gender", "race", "role"].map(|field| character[field].as_str());
    let open = if words.contains(&None) { " (the game draws the rest)" } else { "" };
    let hero = words.into_iter().flatten().collect::<Vec<_>>().join(" ") + open;
    facts["seed"] = seed;
    facts["hero"] = hero.into();
    let Value::Object(mut fields) = facts else { return Vec::new() };
    let mut ordered: Vec<_> = FIRST.iter().filter_map(|name| fields.remove_entry(*name)).collect();
    ordered.extend(fields);
    ordered
}

/// Fields as indented lines, `name value`.
pub(crate) fn as_text(fields: &[(String, Value)], depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let mut text = String::new();
    for (name, value) in fields {
        let name = name.replace('_', " ");
        match value {
            Value::Object(object) => {
                let inner: Vec<_> = object.clone().into_iter().collect();
                text.push_str(&format!("{indent}{name}\n{}", as_text(&inner, depth + 1)));
            }
            Value::Null => {}
            Value::String(value) => text.push_str(&format!("{indent}{name:<16} {value}\n")),
            value => text.push_str(&format!("{indent}{name:<16} {value}\n")),
        }
    }
    text
}
