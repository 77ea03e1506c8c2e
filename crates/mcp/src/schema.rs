use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// A JSON Schema whose outermost type is an object.
pub(crate) type Schema = Map<String, Value>;

/// The schema of a tool's arguments, free of what makes strict clients warn: references, Rust's number formats, and
/// `null` beside another type (a field that may be left out is not one that may be null).
pub(crate) fn of_arguments<T: JsonSchema>() -> Schema {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    clean(&mut schema);
    let mut object = match schema {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    for unused in ["title", "description"] {
        object.remove(unused);
    }
    object.entry("properties").or_insert_with(|| json!({}));
    object
}

fn clean(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(object) => {
            object.values_mut().for_each(clean);
            clean_object(object);
        }
        _ => {}
    }
}

fn clean_object(object: &mut Map<String, Value>) {
    let is_number_format = |format: &Value| {
        let text = format.as_str().unwrap_or_default();
        text.starts_with("int") || text.starts_with("uint") || text == "double"
    };
    if object.get("format").is_some_and(is_number_format) {
        object.remove("format");
    }
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    }
    if object.contains_key("description")
        && let Some(Value::Object(items)) = object.get_mut("items")
    {
        // The list says what they are.
        items.remove("description");
    }
    if object.get("minimum").and_then(Value::as_u64) == Some(0) && !object.contains_key("maximum") {
        object.remove("minimum");
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(choices)) = object.get("oneOf") {
        // Words that are each described: one list of words is what more clients understand.
        let words: Option<Vec<Value>> = choices.iter().map(|choice| choice.get("const").cloned()).collect();
        if let Some(words) = words {
            object.remove("oneOf");
            object.insert("type".to_owned(), json!("string"));
            object.insert("enum".to_owned(), json!(words));
        }
    }
    if let Some(Value::Array(mut choices)) = object.remove("anyOf") {
        choices.retain(|choice| choice.get("type") != Some(&json!("null")));
        match choices.as_slice() {
            [Value::Object(one)] => {
                for (name, value) in one {
                    object.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
            _ => {
                object.insert("anyOf".to_owned(), Value::Array(choices));
            }
        }
    }
}

/// The kinds of field that results have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Integer,
    /// Yes or no.
    Flag,
    /// A list of texts.
    Texts,
    /// A list of objects.
    Objects,
    /// Any value that isn't null.
    Any,
    /// An object.
    Object,
    /// An object with these fields of its own, each of which may be absent.
    Record(&'static [Field]),
}

/// A field of a result: name, kind, and what it says.
pub(crate) type Field = (&'static str, Kind, &'static str);

/// The fields of shared groups that every schema names.
const ALWAYS_NAMED: [&str; 3] = ["revision", "pending", "operation"];

/// The schema of a result: these fields, each of which may be absent, or `error`. Of the groups that `told` names, which
/// another tool's schema tells of, only the fields that a client needs to go on are named.
pub(crate) fn of_result(groups: &[&[Field]], told: &[&[Field]]) -> Schema {
    let first = |fields: &[Field]| fields.first().map(|field| field.0);
    let mut properties = Map::new();
    for group in groups {
        let is_told = told.iter().any(|other| first(other) == first(group));
        let named = group.iter().filter(|field| !is_told || ALWAYS_NAMED.contains(&field.0));
        properties.extend(named.map(|field| (field.0.to_owned(), of_field(field, !is_told))));
    }
    properties.insert("error".to_owned(), json!({"type": "object"}));
    let schema = json!({"type": "object", "properties": properties});
    match schema {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn of_field((_, kind, description): &Field, in_full: bool) -> Value {
    let mut schema = match kind {
        Kind::Text => json!({"type": "string"}),
        Kind::Integer => json!({"type": "integer"}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Objects => json!({"type": "array"}),
        Kind::Any => {
            let kinds = ["string", "number", "boolean", "array", "object"];
            json!({"anyOf": kinds.map(|kind| json!({"type": kind}))})
        }
        Kind::Record(fields) if in_full => {
            let inner: Map<String, Value> =
                fields.iter().map(|field| (field.0.to_owned(), of_field(field, true))).collect();
            json!({"type": "object", "properties": inner})
        }
        Kind::Object | Kind::Record(_) => json!({"type": "object"}),
    };
    if in_full && !description.is_empty() {
        schema["description"] = json!(description);
    }
    schema
}

/// Drops every field that is null, at any depth: a field that isn't shown is absent.
pub(crate) fn drop_nulls(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        Value::Object(object) => {
            object.retain(|_, value| !value.is_null());
            object.values_mut().for_each(drop_nulls);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    use super::*;

    #[derive(JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Sample {
        /// How many.
        count: Option<u64>,
        list: Option<Vec<Inner>>,
        inner: Option<Inner>,
    }

    #[derive(JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Inner {
        number: u8,
    }

    #[test]
    fn schemas_are_plain() {
        let schema = of_arguments::<Sample>();
        let text = serde_json::to_string(&schema).unwrap();
        for unwanted in ["null", "format", "$ref", "$defs", "$schema", "anyOf"] {
            assert!(!text.contains(unwanted), "{unwanted} in {text}");
        }
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["properties"]["count"]["type"], json!("integer"));
        assert_eq!(schema["properties"]["count"]["description"], json!("How many."));
        assert_eq!(schema["properties"]["inner"]["additionalProperties"], json!(false));
    }

    #[test]
    fn nulls_are_dropped_at_any_depth() {
        let mut value = json!({"a": null, "b": [{"c": null, "d": 0}], "e": false});
        drop_nulls(&mut value);
        assert_eq!(value, json!({"b": [{"d": 0}], "e": false}));
    }
}
