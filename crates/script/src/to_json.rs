//! A script's value as JSON, within bounds, by raw access: nothing of the script runs here.
//!
//! A table whose keys are exactly 1 to n is an array, also the empty one; any other is an object, whose whole-number keys
//! stand as their digits.

use std::collections::BTreeMap;

use mlua::{Table, Value as LuaValue};
use serde_json::{Map, Number, Value};

use crate::limits::{VALUE_BYTES_MAX, VALUE_DEPTH_MAX, VALUE_ENTRIES_MAX};

/// Numbers below this are exact as integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The value as JSON.
///
/// # Errors
/// What can't be told, and where it lies in the value.
pub(crate) fn to_json(value: &LuaValue) -> Result<Value, String> {
    Conversion { entries: 0, bytes: 0 }.value(value, "it", 0)
}

/// Text as JSON can hold it: bytes that are not UTF-8 stand as `\xNN`.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

struct Conversion {
    entries: usize,
    bytes: usize,
}

impl Conversion {
    fn value(&mut self, value: &LuaValue, path: &str, depth: usize) -> Result<Value, String> {
        self.entries += 1;
        if self.entries > VALUE_ENTRIES_MAX {
            return Err(format!("it has more than {VALUE_ENTRIES_MAX} entries"));
        }
        match value {
            LuaValue::Nil => Ok(Value::Null),
            LuaValue::Boolean(flag) => Ok(Value::Bool(*flag)),
            LuaValue::Integer(number) => Ok(Value::from(*number)),
            LuaValue::Number(number) => self::number(*number, path),
            LuaValue::String(text) => self.text(&text.as_bytes()).map(Value::String),
            LuaValue::Table(table) => self.table(table, path, depth),
            other => Err(format!("{path} is a {}, which JSON has no word for", other.type_name())),
        }
    }

    fn text(&mut self, bytes: &[u8]) -> Result<String, String> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > VALUE_BYTES_MAX {
            return Err(format!("its texts have more than {VALUE_BYTES_MAX} bytes"));
        }
        Ok(text_of(bytes))
    }

    fn table(&mut self, table: &Table, path: &str, depth: usize) -> Result<Value, String> {
        if depth >= VALUE_DEPTH_MAX {
            return Err(format!("its tables lie more than {VALUE_DEPTH_MAX} deep in each other, or one in itself"));
        }
        let mut indexed = BTreeMap::new();
        let mut named = Map::new();
        for pair in table.pairs::<LuaValue, LuaValue>() {
            let (key, value) = pair.map_err(|error| error.to_string())?;
            match key {
                LuaValue::String(name) => {
                    let name = self.text(&name.as_bytes())?;
                    let value = self.value(&value, &inside(path, &name), depth + 1)?;
                    named.insert(name, value);
                }
                LuaValue::Integer(index) => {
                    indexed.insert(index, self.value(&value, &at(path, index), depth + 1)?);
                }
                LuaValue::Number(number) if number.fract() == 0.0 && number.abs() < EXACT => {
                    let index = number as i64;
                    indexed.insert(index, self.value(&value, &at(path, index), depth + 1)?);
                }
                key => return Err(format!("{path} has a key that is a {}: give texts or whole numbers", noun(&key))),
            }
        }
        let is_array = named.is_empty() && indexed.keys().copied().eq(1..=indexed.len() as i64);
        if is_array {
            return Ok(Value::Array(indexed.into_values().collect()));
        }
        for (index, value) in indexed {
            if named.insert(index.to_string(), value).is_some() {
                return Err(format!("{path} has both the number {index} and the text \"{index}\" as a key"));
            }
        }
        Ok(Value::Object(named))
    }
}

fn number(number: f64, path: &str) -> Result<Value, String> {
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Ok(Value::from(number as i64));
    }
    let value = Number::from_f64(number).map(Value::Number);
    value.ok_or_else(|| {
        format!("{path} is {}, which JSON has no word for", if number.is_nan() { "NaN" } else { "infinite" })
    })
}

fn noun(key: &LuaValue) -> &'static str {
    if matches!(key, LuaValue::Number(_)) { "broken number" } else { key.type_name() }
}

fn at(path: &str, index: i64) -> String {
    format!("{}[{index}]", short(path))
}

fn inside(path: &str, name: &str) -> String {
    format!("{}.{}", short(path), name.chars().take(40).collect::<String>())
}

/// A path that stays readable however deep it goes.
fn short(path: &str) -> &str {
    if path.len() > 200 { "…" } else { path }
}
