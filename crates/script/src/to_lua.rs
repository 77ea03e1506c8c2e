//! Values for scripts: each is the script's own.

use mlua::{Lua, Result, Value as LuaValue};
use serde_json::Value;

/// A Lua value that says the same. Null is nil: what isn't there is absent.
pub(crate) fn to_lua(lua: &Lua, value: &Value) -> Result<LuaValue> {
    Ok(match value {
        Value::Null => LuaValue::Nil,
        Value::Bool(flag) => LuaValue::Boolean(*flag),
        // Lua's numbers are doubles; all of ours are exact there.
        Value::Number(number) => LuaValue::Number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => LuaValue::String(lua.create_string(text)?),
        Value::Array(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for item in items {
                table.raw_push(to_lua(lua, item)?)?;
            }
            LuaValue::Table(table)
        }
        Value::Object(fields) => {
            let table = lua.create_table_with_capacity(0, fields.len())?;
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                table.raw_set(name.as_str(), to_lua(lua, value)?)?;
            }
            LuaValue::Table(table)
        }
    })
}
