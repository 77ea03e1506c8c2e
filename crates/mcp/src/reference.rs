//! The catalogue as a document for people.

use std::fmt::Write as _;

use serde_json::Value;

use crate::catalogue::{instructions, tools};
use crate::failure::Code;
use crate::records;
use crate::reply::{LAYERS, REPORT, RUNNING, STANDING};
use crate::schema::{self, Field, Schema};
use crate::tool::{Effect, Tool};

const OPENING: &str = "\
# The tools

Every tool of `nethack-lab mcp`, its arguments and what its result holds, written from the code by
`cargo run --release -p mcp --example reference`; a test compares. How they are used together is told in the
[guide](agents.md), what may be sent at which prompt in [prompts](prompts.md).

Arguments are closed: what is missing, unknown, null, of another type or out of bounds is refused, and nothing has
happened. A field of a result that isn't shown is absent; what objects and lists hold is told under [layers and
records](#layers-and-records). A call that changes a machine names the newest `revision` that
it was decided on; on an older one it is refused as `STALE`. Seeds are texts (decimal, or `0x` and hexadecimal, up to
2^64-1) or integers up to 2^53-1, and are always returned as texts. A call that takes longer than the server waits (ten
seconds, `--wait-ms`) answers `running` with an `operation`, and `observe` with that gives the result.
";

/// The catalogue as a document in Markdown: what `docs/tools.md` holds.
#[must_use]
pub fn reference() -> String {
    let tools = tools(true);
    let mut text = OPENING.to_owned();
    text.push_str("\n| tool | what it does to the world |\n|---|---|\n");
    for tool in &tools {
        let _ = writeln!(text, "| [`{0}`](#{0}) | {1} |", tool.name, effect(tool.effect));
    }
    for tool in &tools {
        text.push_str(&section(tool));
    }
    text.push_str(&records::section());
    text.push_str(
        "\n## Errors\n\n`error.code` of a refused call, beside `error.message` and where the machine stands.\n",
    );
    text.push_str("\n| code | when |\n|---|---|\n");
    for code in Code::ALL {
        let _ = writeln!(text, "| `{}` | {} |", code.word(), code.meaning());
    }
    text.push_str("\nA tool that there is not is JSON-RPC's own error -32602.\n");
    text.push_str("\n## What an agent is told first\n\nThe server's `instructions`:\n\n");
    for line in instructions(false).lines() {
        let _ = writeln!(text, "{}", format!("> {line}").trim_end());
    }
    text
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Reads => "reads",
        Effect::Computes => "reads, and may take long",
        Effect::Adds => "adds something; no machine changes",
        Effect::Plays => "changes a machine; wants its `revision`",
        Effect::Ends => "ends or removes something; a second such call changes nothing",
    }
}

fn section(tool: &Tool) -> String {
    let mut text = format!("\n## {}\n\n{}. {}\n", tool.name, tool.title, tool.text);
    let given = rows(&tool.input, &required(&tool.input), "");
    if given.is_empty() {
        text.push_str("\nIt takes no arguments.\n");
    } else {
        let _ = write!(text, "\n| argument | type | |\n|---|---|---|\n{given}");
    }
    let (own, shared): (Vec<&[Field]>, Vec<&[Field]>) =
        tool.result.iter().copied().partition(|group| home(group).is_none_or(|home| home == tool.name));
    let _ = write!(text, "\n| result | type | |\n|---|---|---|\n{}", rows(&schema::of_result(&own, &[]), &[], ""));
    for group in shared {
        if let (Some(home), Some(what)) = (home(group), what_shared(group)) {
            let _ = writeln!(text, "| … | | and {what} (see [`{home}`](#{home})) |");
        }
    }
    text
}

/// The tool that tells of a group of fields which others have too.
fn home(group: &[Field]) -> Option<&'static str> {
    let homes = [(STANDING, "observe"), (LAYERS, "observe"), (REPORT, "run"), (RUNNING, "observe")];
    let is_same = |other: &[Field]| other.first().map(|field| field.0) == group.first().map(|field| field.0);
    homes.into_iter().find(|(other, _)| is_same(other)).map(|(_, home)| home)
}

/// What the fields of a shared group are.
fn what_shared(group: &[Field]) -> Option<&'static str> {
    let texts = [
        (STANDING, "where the machine stands: `machine`, `game`, `boundary`, `revision`, `state`"),
        (LAYERS, "the layers that are shown of it"),
        (REPORT, "what became of the keys: `sent`, `stop`, `turns`"),
        (RUNNING, "where it goes on longer than the server waits, `running` and `operation`"),
    ];
    let is_same = |other: &[Field]| other.first().map(|field| field.0) == group.first().map(|field| field.0);
    texts.into_iter().find(|(other, _)| is_same(other)).map(|(_, text)| text)
}

fn required(schema: &Schema) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A row for each property, and below it those of its own.
fn rows(schema: &Schema, required: &[&str], above: &str) -> String {
    let mut text = String::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if above.is_empty() && name == "error" {
            continue;
        }
        let must = if required.contains(&name.as_str()) { " **required**" } else { "" };
        let meaning = property.get("description").and_then(Value::as_str).unwrap_or_default().replace('|', "\\|");
        let row = format!("| `{above}{name}` | {}{must} | {meaning}", kind(property));
        let _ = writeln!(text, "{} |", row.trim_end());
        for inner in [Some(property), property.get("items")].into_iter().flatten() {
            if let Value::Object(inner) = inner {
                text.push_str(&rows(inner, &self::required(inner), &format!("{above}{name}.")));
            }
        }
    }
    text
}

/// The type of a property, with its bounds or words.
fn kind(property: &Value) -> String {
    if let Some(choices) = property.get("anyOf").and_then(Value::as_array) {
        return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    if let Some(words) = property.get("enum").and_then(Value::as_array) {
        return words
            .iter()
            .map(|word| format!("`{}`", word.as_str().unwrap_or_default()))
            .collect::<Vec<_>>()
            .join(" ");
    }
    let name = property.get("type").and_then(Value::as_str).unwrap_or("any");
    if let ("array", Some(items)) = (name, property.get("items")) {
        return format!("list of {}", kind(items));
    }
    match (property.get("minimum"), property.get("maximum")) {
        (Some(least), Some(most)) => format!("{name}, {least} to {most}"),
        (Some(least), None) => format!("{name}, from {least}"),
        (None, Some(most)) => format!("{name}, up to {most}"),
        (None, None) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_what_the_code_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools.md");
        let document = std::fs::read_to_string(path).unwrap();
        let differs = document.lines().zip(reference().lines()).position(|(a, b)| a != b);
        assert!(document == reference(), "docs/tools.md is old from line {differs:?}: write it anew as it says");
    }

    #[test]
    fn every_argument_is_told_once() {
        let text = reference();
        for tool in tools(true) {
            let start = text.find(&format!("\n## {}\n", tool.name)).unwrap();
            let section = text[start + 1..].split("\n## ").next().unwrap();
            for name in tool.input["properties"].as_object().unwrap().keys() {
                assert!(section.contains(&format!("\n| `{name}` | ")), "{}.{name}", tool.name);
            }
        }
    }
}
