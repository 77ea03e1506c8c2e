//! `movie`: what a movie holds, whether it is true, and what it shows.

mod keys;
mod replay;
mod show;
mod verify;

use lab::LabError;
use movie::{Finish, MarkKind, Recording};
use serde_json::{Value, json};

use crate::command_line::{MovieCommand, MovieFile};
use crate::out::{out, outln};
use crate::outcome::Outcome;
use crate::record;
use crate::setup::{Setup, read_movie};

pub(crate) use replay::Replay;

pub(crate) fn run(setup: &Setup, command: MovieCommand) -> anyhow::Result<Outcome> {
    match command {
        MovieCommand::Info(options) => info(&options),
        MovieCommand::Verify(options) => verify::run(setup, &options),
        MovieCommand::Show(options) => show::run(setup, &options),
        MovieCommand::Keys(options) => keys::run(&options),
        MovieCommand::Record(options) => record::run(setup, &options),
    }
}

/// Reads a movie, or says why it is none.
fn read(options: &MovieFile) -> anyhow::Result<Recording> {
    parse(&read_movie(&options.file)?)
}

pub(crate) fn parse(bytes: &[u8]) -> anyhow::Result<Recording> {
    movie::read(bytes).map_err(|error| LabError::BadMovie(error.to_string()).into())
}

fn info(options: &MovieFile) -> anyhow::Result<Outcome> {
    let recording = read(options)?;
    let facts = facts(&recording);
    if options.json {
        outln!("{facts}");
    } else {
        out!("{}", as_text(&facts, 0));
    }
    Ok(Outcome::Good)
}

fn facts(recording: &Recording) -> Value {
    let movie = &recording.movie;
    let header = &movie.header;
    let count = |kind: fn(&MarkKind) -> bool| movie.marks.iter().filter(|mark| kind(&mark.kind)).count();
    let finish = match &movie.finish {
        Finish::Unknown => json!("not said: the journal has no last line"),
        Finish::Open => json!("the game goes on"),
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
        "debug_edits": count(|kind| matches!(kind, MarkKind::Debug { .. })),
        "claimed": movie.account,
        "lines": recording.lines,
        "torn_bytes": recording.torn_bytes,
        "altered_at_line": recording.broken_chain,
        "engine_is_ours": header.engine_id == rom::built_in().engine_id(),
        "rom_is_ours": header.rom_id == rom::built_in().rom_id(),
    })
}

/// An object as indented lines, `name value`.
fn as_text(value: &Value, depth: usize) -> String {
    let Value::Object(fields) = value else { return String::new() };
    let indent = "  ".repeat(depth);
    let mut text = String::new();
    for (name, value) in fields {
        let name = name.replace('_', " ");
        match value {
            Value::Object(_) => text.push_str(&format!("{indent}{name}\n{}", as_text(value, depth + 1))),
            Value::Null => {}
            Value::String(value) => text.push_str(&format!("{indent}{name:<16} {value}\n")),
            value => text.push_str(&format!("{indent}{name:<16} {value}\n")),
        }
    }
    text
}
