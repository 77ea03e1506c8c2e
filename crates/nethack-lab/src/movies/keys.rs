//! `movie keys`: the inputs of a movie by name.

use serde_json::json;
use wire::Key;

use crate::command_line::MovieFile;
use crate::out::outln;
use crate::outcome::Outcome;

/// Keys in one line of text.
const LINE_KEYS: usize = 20;

pub(super) fn run(options: &MovieFile) -> anyhow::Result<Outcome> {
    let recording = super::read(options)?;
    let names: Vec<String> = recording.movie.steps.iter().map(|step| Key::name(step.key)).collect();
    if options.json {
        outln!("{}", json!({ "keys": names }));
        return Ok(Outcome::Good);
    }
    for (line, names) in names.chunks(LINE_KEYS).enumerate() {
        outln!("{:>7}  {}", line * LINE_KEYS, names.join(" "));
    }
    Ok(Outcome::Good)
}
