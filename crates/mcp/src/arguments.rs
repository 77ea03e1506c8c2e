use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};
use wire::{PendingKind, Seed};

use crate::failure::{Code, Failure};

/// Arguments as they come in.
pub(crate) type Arguments = Map<String, Value>;

/// Reads a tool's arguments.
///
/// # Errors
/// The first field that is missing, unknown, null or of another type, by name.
pub(crate) fn read<T: DeserializeOwned>(arguments: Arguments) -> Result<T, Failure> {
    let value = Value::Object(arguments);
    if let Some(path) = path_of_null(&value) {
        return Err(Failure::argument(&path, format!("argument `{path}` is null: leave out what is not given")));
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let message = in_plain_words(error.inner().to_string());
        let field = if path == "." { quoted(&message).unwrap_or(path) } else { path };
        Failure::argument(&field, format!("argument `{field}`: {message}"))
    })
}

/// The objects that stand within arguments, by the names of their types, each with an example.
const EXAMPLES: [(&str, &str); 11] = [
    ("LineArgument", r#"{"text": "h"}"#),
    ("SegmentArgument", r#"{"text": "q"}"#),
    ("StopArgument", r#"{"on": "new_monster"}"#),
    ("Pick", r#"{"entry_id": 2}"#),
    ("Place", r#"{"row": 5, "column": 40}"#),
    ("PlaceArgument", r#"{"row": 5, "column": 40}"#),
    ("Rectangle", r#"{"top": 1, "left": 0, "bottom": 21, "right": 78}"#),
    ("SetArgument", r#"{"hp": 20}"#),
    ("LevelArgument", r#"{"level": 2}"#),
    ("ItemArgument", r#"{"wish": "3 daggers"}"#),
    ("MonsterArgument", r#"{"kind": "newt", "row": 5, "column": 40}"#),
];

/// What serde calls by the names of Rust, and what it is to a client.
const WORDS: [(&str, &str); 12] = [
    ("u64", "an integer from 0"),
    ("u32", "an integer from 0"),
    ("u8", "an integer from 0 to 255"),
    ("i64", "an integer"),
    ("i32", "an integer"),
    ("f64", "a number"),
    ("a sequence", "a list"),
    ("a map", "an object"),
    // Where one of several words stands.
    ("string or map", "a word"),
    ("map with a single key", "a word"),
    ("value", "a word"),
    ("unit", "a word alone"),
];

/// The names of Rust's types mean nothing to a client: it is told what to give instead.
fn in_plain_words(message: String) -> String {
    let Some((start, expected)) = message.rsplit_once(", expected ") else {
        return message;
    };
    let plain = match expected.strip_prefix("struct ") {
        Some(named) => {
            let name = named.split(' ').next().unwrap_or_default();
            let example = EXAMPLES.iter().find(|(of, _)| *of == name);
            example.map_or_else(|| "an object".to_owned(), |(_, text)| format!("an object, as in {text}"))
        }
        None if is_of_words(expected) => "a word".to_owned(),
        None => {
            let word = WORDS.iter().find(|(name, _)| *name == expected);
            word.map_or(expected, |(_, words)| words).to_owned()
        }
    };
    let begins = [
        ("invalid type: map", "an object"),
        ("invalid value: map", "an object"),
        ("invalid type: sequence", "a list"),
        ("invalid type: newtype variant", "an object"),
        ("invalid type: unit variant", "a word"),
    ];
    let start = match begins.into_iter().find(|(begin, _)| *begin == start) {
        Some((_, what)) => format!("{what} was given"),
        None => start.replacen("unknown variant ", "unknown word ", 1),
    };
    if expected.starts_with("one of ") || expected.starts_with('`') {
        return format!("{start}, expected {plain}");
    }
    format!("{start}: give {plain}")
}

/// Whether serde expects one of several words.
fn is_of_words(expected: &str) -> bool {
    ["enum ", "variant ", "unit variant", "variant identifier"].iter().any(|begin| expected.starts_with(begin))
}

fn path_of_null(value: &Value) -> Option<String> {
    let join = |name: &str, inner: Option<String>| {
        inner.map(|inner| if inner.is_empty() { name.to_owned() } else { format!("{name}.{inner}") })
    };
    match value {
        Value::Null => Some(String::new()),
        Value::Object(object) => object.iter().find_map(|(name, value)| join(name, path_of_null(value))),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, value)| join(&index.to_string(), path_of_null(value)))
        }
        _ => None,
    }
}

/// The first word between backticks: the field that serde's message names.
fn quoted(message: &str) -> Option<String> {
    let (_, rest) = message.split_once('`')?;
    let (name, _) = rest.split_once('`')?;
    Some(name.to_owned())
}

/// Refuses a number out of bounds.
///
/// # Errors
/// The field, its bounds and the value.
pub(crate) fn within(field: &str, value: u64, min: u64, max: u64) -> Result<u64, Failure> {
    if (min..=max).contains(&value) {
        return Ok(value);
    }
    Err(Failure::argument(field, format!("argument `{field}` is {value}: give a whole number from {min} to {max}")))
}

/// As [`within`], for a size that has a default.
pub(crate) fn size_within(
    field: &str,
    value: Option<u64>,
    default: usize,
    min: u64,
    max: u64,
) -> Result<usize, Failure> {
    let Some(value) = value else { return Ok(default) };
    let value = within(field, value, min, max)?;
    usize::try_from(value).map_err(|_| Failure::argument(field, format!("argument `{field}` is too large")))
}

/// A seed: a string, or a number as far as numbers in JSON are exact.
#[derive(Clone, Debug)]
pub(crate) struct SeedArgument(Value);

/// The largest whole number that every JSON reader keeps exactly.
const EXACT_MAX: u64 = (1 << 53) - 1;

impl SeedArgument {
    /// The seed.
    ///
    /// # Errors
    /// Anything that is no seed, by the name of its field.
    pub(crate) fn seed(&self, field: &str) -> Result<Seed, Failure> {
        let Self(value) = self;
        let seed = match value {
            Value::String(text) => text.parse().ok(),
            Value::Number(number) => number.as_u64().filter(|number| *number <= EXACT_MAX).map(Seed),
            _ => None,
        };
        seed.ok_or_else(|| {
            let given: String = value.to_string().chars().take(60).collect();
            let message = format!(
                "argument `{field}` is {given}: give a string with a decimal or 0x… number from 0 to \
                 18446744073709551615, or a whole number up to {EXACT_MAX}"
            );
            Failure::new(Code::InvalidSeed, message).with("field", field)
        })
    }
}

impl<'de> Deserialize<'de> for SeedArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for SeedArgument {
    fn schema_name() -> Cow<'static, str> {
        "Seed".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                {"type": "string"},
                {"type": "integer"},
            ],
        })
    }
}

/// What a segment expects the game to wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindArgument(pub(crate) PendingKind);

impl<'de> Deserialize<'de> for KindArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let found = PendingKind::ALL.into_iter().find(|kind| kind.word() == word);
        found.map(Self).ok_or_else(|| {
            let known: Vec<&str> = PendingKind::ALL.iter().map(|kind| kind.word()).collect();
            de::Error::custom(format!("{word:?} is no pending kind: give one of {}", known.join(", ")))
        })
    }
}

impl JsonSchema for KindArgument {
    fn schema_name() -> Cow<'static, str> {
        "PendingKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = PendingKind::ALL.iter().map(|kind| kind.word()).collect();
        json_schema!({"type": "string", "enum": words})
    }
}

/// Arguments of a tool that takes none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read matters")]
    struct Sample {
        revision: u64,
        seed: Option<SeedArgument>,
        kinds: Option<Vec<KindArgument>>,
    }

    fn refusal(value: Value) -> (String, String) {
        let Value::Object(object) = value else { panic!("no object") };
        let failure = read::<Sample>(object).unwrap_err();
        assert_eq!(failure.code, Code::InvalidArgument);
        (failure.details["field"].as_str().unwrap().to_owned(), failure.message)
    }

    #[test]
    fn refusals_name_the_field_and_the_value() {
        for (value, field, word) in [
            (json!({}), "revision", "missing"),
            (json!({"revision": 1, "more": 2}), "more", "unknown"),
            (json!({"revision": "1"}), "revision", "\"1\""),
            (json!({"revision": 1.0}), "revision", "1.0"),
            (json!({"revision": -1}), "revision", "-1"),
            (json!({"revision": "x"}), "revision", "give an integer from 0"),
            (json!({"revision": null}), "revision", "null"),
            (json!({"revision": 1, "kinds": ["menu", "hat"]}), "kinds[1]", "hat"),
            (json!({"revision": 1, "kinds": ["menu", null]}), "kinds.1", "null"),
        ] {
            let text = value.to_string();
            let (named, message) = refusal(value);
            assert_eq!(named, field, "{text}: {message}");
            assert!(message.contains(word), "{text}: {message}");
        }
    }

    #[test]
    fn seeds_are_exact_or_refused() {
        for (value, seed) in [
            (json!("0"), 0),
            (json!(0), 0),
            (json!("0xffffffffffffffff"), u64::MAX),
            (json!("18446744073709551615"), u64::MAX),
            (json!("9007199254740993"), (1 << 53) + 1),
            (json!(9_007_199_254_740_991_u64), (1 << 53) - 1),
            (json!(2_147_483_648_u64), 1 << 31),
        ] {
            assert_eq!(SeedArgument(value).seed("seed").unwrap(), Seed(seed));
        }
        for value in [
            json!(9_007_199_254_740_992_u64),
            json!(u64::MAX),
            json!(-1),
            json!("-1"),
            json!(42.0),
            json!(1e3),
            json!("42.0"),
            json!(""),
            json!(true),
            json!([1]),
        ] {
            let text = value.to_string();
            let failure = SeedArgument(value).seed("seed").unwrap_err();
            assert_eq!(failure.code, Code::InvalidSeed, "{text}");
            assert!(failure.message.contains(&text), "{text}: {}", failure.message);
        }
    }

    #[test]
    fn bounds_are_told() {
        assert_eq!(within("limit", 3, 1, 3).unwrap(), 3);
        let failure = within("limit", 4, 1, 3).unwrap_err();
        assert!(["limit", "4", "1", "3"].iter().all(|part| failure.message.contains(part)));
        assert_eq!(size_within("limit", None, 7, 1, 3).unwrap(), 7);
    }
}
