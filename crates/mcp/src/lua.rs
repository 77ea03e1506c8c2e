use std::ops::ControlFlow;

use lab::{Boundary, Guard, Urgency};
use schemars::JsonSchema;
use script::{Evaluated, Past, ScriptError, ScriptLimits, Seen};
use serde::Deserialize;
use serde_json::{Map, Value};
use wire::{Frame, GlyphNames, Message};

use crate::failure::{Code, Failure};
use crate::reply::{self, Call, Reply, STANDING};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

/// `lua_eval`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LuaEval {
    /// A Luau expression, or a chunk that returns its value; at most 65,536 bytes.
    source: String,
    /// "main" (default) or a fork's id.
    machine: Option<String>,
}

/// How many bytes of JSON a script's value may have here; what it prints gets what is left of both.
const VALUE_BYTES: usize = 20_000;
const BYTES: usize = 28_000;
/// How much of what a script has printed its failure shows.
const PRINTED_BYTES: usize = 4_000;

const EVALUATED: &[Field] = &[
    ("value", Kind::Any, "Absent for nil. A table with keys 1 to n is an array, any other an object."),
    ("printed", Kind::Text, ""),
    ("truncated", Kind::Flag, "value or printed is cut: return or print less."),
];

impl ToolArguments for LuaEval {
    const NAME: &'static str = "lua_eval";
    const TITLE: &'static str = "Run a script over a machine's frames";
    const TEXT: &'static str = "Runs a Luau script over a copy of what a machine shows and has shown; it can't send keys \
        or change anything. nh has boundary, turn, status, screen (24 rows, nh.screen[row + 1]), map.rows[row], hero and \
        cursor {row, column}, messages, inventory, menu, window, pending, ended; nh.at(row, column) {char, color, glyph, \
        kind, description} (kind: hero, monster, pet, object, closed_door, stairs_down, …; description: \"hill orc\"), nh.cells() all that aren't blank, \
        nh.frames(n) the last n boundaries' views, oldest first (n up to 200), nh.message_log(n) the last n messages. \
        print goes to `printed`. Examples are the resources \
        nethack://lua/… . No io, os, random, require. Limits: 5,000,000 steps, 1.5 s of CPU, 64 MiB.";
    const EFFECT: Effect = Effect::Reads;
    const RESULT: &'static [&'static [Field]] = &[STANDING, EVALUATED];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let machine = session.machine(self.machine.as_deref())?;
        let max = script::SOURCE_BYTES_MAX;
        if self.source.len() > max {
            let message = format!("argument `source` has {} bytes: give at most {max}", self.source.len());
            return Err(Failure::new(Code::LimitExceeded, message).with("field", "source").with("limit", max));
        }
        let failed = |error| session.failure(error, Some(machine));
        let guard = session.lab.guard(machine).map_err(failed)?;
        let snapshot = guard.snapshot();
        let seen = Seen { boundary: snapshot.boundary, frame: &snapshot.frame, ended: snapshot.ended.as_deref() };
        let limits = ScriptLimits::default();
        let mut past = Before { session, call, guard: &guard };
        let outcome = session.scripts.eval(&self.source, &seen, &limits, &mut past, &|| call.cancel.is_cancelled());
        // Whatever came of it, and before anything of it is told.
        session.lab.check_guard(&guard).map_err(failed)?;
        let evaluated = outcome.map_err(|error| Failure::from_script(error).at(&session.name_of(machine), snapshot))?;
        Ok(shown(evaluated).extend(reply::standing(session, &reply::settled(snapshot))))
    }
}

/// What came before, from the machine's own line.
struct Before<'a> {
    session: &'a Session,
    call: &'a Call<'a>,
    guard: &'a Guard,
}

impl Past for Before<'_> {
    fn frames(&mut self, before: Boundary, count: usize) -> Result<Vec<(Boundary, Frame)>, String> {
        let first = Boundary(before.0.saturating_sub(count as u64));
        let Some(last) = before.0.checked_sub(1).map(Boundary) else { return Ok(Vec::new()) };
        let mut frames = Vec::with_capacity(count);
        let control = self.call.control(Urgency::Interactive);
        let walked = self.session.lab.walk_before(self.guard, first..=last, &control, &mut |at, frame| {
            frames.push((at, frame.clone()));
            ControlFlow::Continue(())
        });
        walked.map_err(|error| format!("earlier frames can't be had: {error}"))?;
        Ok(frames)
    }

    fn messages(&mut self, count: usize) -> Result<Vec<Message>, String> {
        Ok(self.guard.messages(count))
    }

    fn names(&mut self) -> Option<GlyphNames> {
        self.session.lab.names(self.guard.snapshot().machine).ok()
    }
}

fn shown(evaluated: Evaluated) -> Reply {
    let mut left = VALUE_BYTES;
    let value = evaluated.value.map(|value| fitted(value, &mut left)).unwrap_or_default();
    let room = BYTES - (VALUE_BYTES - left);
    let whole = evaluated.printed.len();
    let printed = cut(evaluated.printed, room);
    let truncated = left == 0 || evaluated.printed_truncated || printed.len() < whole;
    Reply::default()
        .with("value", value)
        .with("printed", (!printed.is_empty()).then_some(printed))
        .with("truncated", truncated.then_some(true))
}

/// As much of a value as fits: what comes once nothing is left is dropped, and `left` is 0 then.
fn fitted(value: Value, left: &mut usize) -> Value {
    let take = |left: &mut usize, bytes: usize| {
        let fits = *left > bytes;
        *left = if fits { *left - bytes } else { 0 };
        fits
    };
    match value {
        Value::Array(items) => {
            take(left, 3);
            let items = items.into_iter().map_while(|item| (*left > 0).then(|| fitted(item, left)));
            Value::Array(items.filter(|item| !item.is_null()).collect())
        }
        Value::Object(fields) => {
            take(left, 3);
            let mut kept = Map::new();
            for (name, value) in fields {
                if !take(left, escaped(&name) + 1) {
                    break;
                }
                kept.insert(name, fitted(value, left));
            }
            Value::Object(kept)
        }
        Value::String(text) => {
            let room = *left;
            if take(left, escaped(&text)) { Value::String(text) } else { Value::String(cut(text, room)) }
        }
        other if take(left, other.to_string().len() + 1) => other,
        _ => Value::Null,
    }
}

/// The bytes of a text in JSON, with its quotes and a separator.
fn escaped(text: &str) -> usize {
    Value::from(text).to_string().len() + 1
}

/// The beginning of a text that takes at most so many bytes in JSON.
fn cut(mut text: String, bytes: usize) -> String {
    let mut taken = 3;
    let end = text.char_indices().find(|(_, c)| {
        taken += Value::from(c.to_string()).to_string().len() - 2;
        taken > bytes
    });
    if let Some((at, _)) = end {
        text.truncate(at);
    }
    text
}

impl Failure {
    /// A script that gave no value.
    pub(crate) fn from_script(error: ScriptError) -> Self {
        let message = error.to_string();
        let failure = |kind: &str| Self::new(Code::ScriptFailed, message.clone()).with("kind", kind);
        let at = |failure: Self, line: Option<u32>| match line {
            Some(line) => failure.with("line", line),
            None => failure,
        };
        let said = |failure: Self, printed: String| match printed.is_empty() {
            true => failure,
            false => failure.with("printed", cut(printed, PRINTED_BYTES)),
        };
        match error {
            ScriptError::TooLong { max, .. } => {
                Self::new(Code::LimitExceeded, message).with("field", "source").with("limit", max)
            }
            ScriptError::Syntax { line, .. } => at(failure("syntax"), line),
            ScriptError::Runtime { line, printed, .. } => said(at(failure("runtime"), line), printed),
            ScriptError::Limit { kind, max, printed } => {
                said(failure("limit").with("limit", kind.word()).with("max", max), printed)
            }
            ScriptError::Value(_) => failure("value"),
            ScriptError::Lost(_) => failure("lost"),
            ScriptError::Cancelled => Self::new(Code::Cancelled, "the call was cancelled"),
            _ => Self::new(Code::EngineFailure, message),
        }
    }
}

#[cfg(test)]
mod tests {
    use script::LimitKind;
    use serde_json::json;

    use super::*;
    use crate::layers::{self, Layer, Want};
    use crate::schema::drop_nulls;

    fn evaluated(value: Value, printed: &str) -> Map<String, Value> {
        let printed = printed.to_owned();
        shown(Evaluated { value: Some(value), printed, printed_truncated: false }).fields
    }

    #[test]
    fn what_is_small_is_whole_and_what_is_large_is_cut() {
        let small = json!({"a": [1, "x", {"b": true}], "c": -1.5, "d": {}, "e": []});
        let fields = evaluated(small.clone(), "hello\n");
        assert_eq!((&fields["value"], &fields["printed"]), (&small, &json!("hello\n")));
        assert!(fields["truncated"].is_null());
        let deep = (0..30).fold(json!("x".repeat(30_000)), |inner, _| json!({"in": [inner]}));
        let rows = json!((0..9_000).map(|at| json!({"row": at, "name": "a \"thing\""})).collect::<Vec<Value>>());
        let names: Map<String, Value> = (0..9_000).map(|at| (format!("name {at}"), json!(at))).collect();
        for value in [rows, json!("\u{1b}".repeat(60_000)), json!("é".repeat(60_000)), deep, json!(names)] {
            for printed in ["", &"\u{7}x".repeat(20_000)] {
                let mut fields = Value::Object(evaluated(value.clone(), printed));
                assert_eq!(fields["truncated"], json!(true));
                drop_nulls(&mut fields);
                let bytes = fields.to_string().len();
                assert!((15_000..29_000).contains(&bytes), "{bytes}");
                assert!(!fields.to_string().contains("null"));
            }
        }
        let printed = evaluated(json!(1), &"x".repeat(60_000));
        assert!(printed["truncated"] == json!(true) && printed["printed"].as_str().unwrap().len() > 27_000);
    }

    /// What a value may cost is at least what it takes in JSON, and what fits to the byte is whole.
    #[test]
    fn a_value_costs_what_it_takes() {
        for (value, cost) in [
            (json!(1), 2),
            (json!(-12.5), 6),
            (json!(true), 5),
            (json!("ab"), 5),
            (json!("a\"b"), 7),
            (json!([]), 3),
            (json!([1, 22]), 8),
            (json!({"a": 1}), 10),
            (json!({"a": [1], "bc": "x"}), 23),
        ] {
            assert!(cost >= value.to_string().len(), "{value}");
            let mut left = 100;
            assert_eq!((fitted(value.clone(), &mut left), 100 - left), (value.clone(), cost), "{value}");
            let mut left = cost + 1;
            assert_eq!((fitted(value.clone(), &mut left), left), (value.clone(), 1), "{value}");
            let mut left = cost;
            fitted(value.clone(), &mut left);
            assert_eq!(left, 0, "{value}: nothing is left, so that it is told to be cut");
        }
    }

    #[test]
    fn failures_say_which_limit_and_which_line() {
        let runtime = ScriptError::Runtime { line: Some(3), message: "no".to_owned(), printed: "so far".to_owned() };
        let limit = ScriptError::Limit { kind: LimitKind::Steps, max: 9, printed: String::new() };
        for (error, code, details) in [
            (runtime, Code::ScriptFailed, json!({"kind": "runtime", "line": 3, "printed": "so far"})),
            (limit, Code::ScriptFailed, json!({"kind": "limit", "limit": "steps", "max": 9})),
            (
                ScriptError::Syntax { line: None, message: "no".to_owned() },
                Code::ScriptFailed,
                json!({"kind": "syntax"}),
            ),
            (ScriptError::Value("no".to_owned()), Code::ScriptFailed, json!({"kind": "value"})),
            (ScriptError::Lost("no".to_owned()), Code::ScriptFailed, json!({"kind": "lost"})),
            (ScriptError::TooLong { given: 9, max: 8 }, Code::LimitExceeded, json!({"field": "source", "limit": 8})),
            (ScriptError::Spawn("no".to_owned()), Code::EngineFailure, json!({})),
        ] {
            let failure = Failure::from_script(error);
            assert_eq!((failure.code, Value::Object(failure.details)), (code, details));
        }
    }

    /// One word per concept: what scripts see and what the tools show have the same names and values.
    #[test]
    fn scripts_see_the_layers_by_their_names() {
        let menu = wire::Menu {
            title: "Pick up what?".to_owned(),
            pick: wire::Pick::Any,
            page: 1,
            pages: 2,
            entries: vec![wire::MenuEntry {
                id: 0,
                accelerator: Some('a'),
                group: None,
                text: "a dart".to_owned(),
                selectable: true,
                selected: false,
                count: None,
                page: 1,
            }],
        };
        let pending = wire::Pending {
            kind: wire::PendingKind::Position,
            stage: wire::Stage::Ending,
            prompt: "an object".to_owned(),
            answers: "ab".to_owned(),
            default: Some('a'),
            capacity: Some(7),
            typed: "x".to_owned(),
        };
        let inventory =
            (0..=18).map(|class| wire::InventoryItem { letter: 'a', text: "a thing".to_owned(), class, glyph: 1_906 });
        let plain = Frame {
            turn: 5,
            hero: Some(wire::Cursor { row: 4, column: 9 }),
            status: Some(wire::Status::default()),
            inventory: inventory.collect(),
            pending: Some(pending),
            ..Frame::default()
        };
        let covered = Frame {
            menu: Some(menu),
            window: Some(wire::Window { lines: vec!["a line".to_owned()], whole: true }),
            ..plain.clone()
        };
        let layers = [Layer::Map, Layer::Status, Layer::Inventory, Layer::Menu, Layer::Window, Layer::Pending];
        for frame in [plain, covered] {
            let mut seen = Value::Object(script::view(&Seen { boundary: Boundary(1), frame: &frame, ended: None }));
            let mut shown = Value::Object(layers::show(&frame, &Want::of(Some(layers.to_vec()))));
            drop_nulls(&mut seen);
            drop_nulls(&mut shown);
            if let Some(window) = shown.get_mut("window").and_then(Value::as_object_mut) {
                // Scripts have it whole, so nothing has to say how much there is.
                window.remove("total");
            }
            for (name, value) in shown.as_object().unwrap() {
                assert_eq!(&seen[name], value, "{name}");
            }
        }
    }
}
