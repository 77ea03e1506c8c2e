//! What a message must look like before the server behind the gate sees it, so that each that can be answered is answered
//! under its own id.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

pub(crate) const PARSE_ERROR: i32 = -32_700;
pub(crate) const INVALID_REQUEST: i32 = -32_600;
pub(crate) const INVALID_PARAMS: i32 = -32_602;

/// Why a message goes no further.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) code: i32,
    pub(crate) message: String,
    /// The message's own id, where it has one that can be answered.
    pub(crate) id: Option<Value>,
}

/// Checks a line that is not too long.
pub(crate) fn check(line: &[u8]) -> Result<(), Fault> {
    let fault = |code, message: String, id| Fault { code, message, id };
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| fault(PARSE_ERROR, format!("the message is no JSON: {error}"), None))?;
    let Value::Object(message) = &value else {
        return Err(fault(INVALID_REQUEST, "a message is one JSON object a line".to_owned(), None));
    };
    let id = message.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64()).cloned();
    let invalid = |message: &str| Err(fault(INVALID_REQUEST, message.to_owned(), id.clone()));
    let unfit = |message: &str| Err(fault(INVALID_PARAMS, message.to_owned(), id.clone()));
    if let Err(error) = serde_json::from_slice::<Unique>(line) {
        return unfit(&format!("the message is ambiguous: {error}"));
    }
    if message.get("jsonrpc") != Some(&Value::from("2.0")) {
        return invalid("`jsonrpc` must be \"2.0\"");
    }
    let answers = message.contains_key("result") || message.contains_key("error");
    let method = match message.get("method") {
        Some(Value::String(method)) => method,
        None if answers => return Ok(()),
        _ => return invalid("`method` must be a string"),
    };
    let params = match message.get("params") {
        Some(Value::Object(params)) => Some(params),
        None => None,
        Some(_) => return unfit("`params` must be an object"),
    };
    if method == "tools/call" {
        let Some(Value::String(_)) = params.and_then(|params| params.get("name")) else {
            return unfit("`params.name` must be the name of a tool");
        };
        if !matches!(params.and_then(|params| params.get("arguments")), None | Some(Value::Object(_))) {
            return unfit("`params.arguments` must be an object");
        }
    }
    Ok(())
}

/// Any JSON in which no object has the same field twice.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Look)
    }
}

struct Look;

impl<'de> Visitor<'de> for Look {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Unique, A::Error> {
        while list.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Unique, A::Error> {
        let mut names = std::collections::BTreeSet::new();
        while let Some(name) = object.next_key::<String>()? {
            object.next_value::<Unique>()?;
            if let Some(twice) = names.replace(name) {
                let shown: String = twice.chars().take(40).collect();
                return Err(serde::de::Error::custom(format_args!("the field {shown:?} is given twice")));
            }
        }
        Ok(Unique)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_can_be_served_pass_and_others_are_answered_under_their_id() {
        for good in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"info"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"info","arguments":{"a":[{"b":1},{"b":2}]}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        ] {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
        for (bad, code, id) in [
            ("[]", INVALID_REQUEST, None),
            ("{", PARSE_ERROR, None),
            (r#"{"id":5,"method":"ping"}"#, INVALID_REQUEST, Some(5)),
            (r#"{"jsonrpc":"2.0","id":5}"#, INVALID_REQUEST, Some(5)),
            (r#"{"jsonrpc":"2.0","id":5,"method":7}"#, INVALID_REQUEST, Some(5)),
            (r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}"#, INVALID_PARAMS, Some(5)),
            (r#"{"jsonrpc":"2.0","id":5,"method":"tools/call"}"#, INVALID_PARAMS, Some(5)),
            (r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":1}}"#, INVALID_PARAMS, Some(5)),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"info","arguments":"x"}}"#,
                INVALID_PARAMS,
                Some(5),
            ),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"new_game","arguments":{"seed":"1","seed":"2"}}}"#,
                INVALID_PARAMS,
                Some(5),
            ),
        ] {
            let fault = check(bad.as_bytes()).unwrap_err();
            assert_eq!((fault.code, fault.id), (code, id.map(Value::from)), "{bad}");
        }
    }
}
