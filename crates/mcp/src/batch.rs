use schemars::JsonSchema;
use serde::Deserialize;
use wire::{Batch, BatchError, OnMore, Segment};

use crate::arguments::{KindArgument, within};
use crate::failure::Failure;

/// Keys that belong together.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SegmentArgument {
    /// Names of keys. Give either `keys` or `text`.
    keys: Option<Vec<String>>,
    /// A text of which each character is one key.
    text: Option<String>,
    /// What the game must wait for before these keys are sent. They then count as answers to it.
    expect: Option<KindArgument>,
}

/// What a batch does at a --More-- or a page of text that comes up.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnMoreArgument {
    /// It stops there.
    Stop,
    /// It presses ENTER and goes on; the messages are in the result all the same.
    Dismiss,
}

/// The parts of a batch, as the tools that take one have them.
#[derive(Debug, Default)]
pub(crate) struct BatchParts {
    pub(crate) keys: Option<Vec<String>>,
    pub(crate) text: Option<String>,
    pub(crate) segments: Option<Vec<SegmentArgument>>,
    pub(crate) on_more: Option<OnMoreArgument>,
    pub(crate) turns_max: Option<u64>,
    pub(crate) force: Option<bool>,
}

impl BatchParts {
    /// The batch, of at most `keys_max` keys.
    ///
    /// # Errors
    /// What is wrong with it, by the name of the field.
    pub(crate) fn batch(self, keys_max: usize) -> Result<Batch, Failure> {
        let given = [self.keys.is_some(), self.text.is_some(), self.segments.is_some()];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err(Failure::argument("keys", "give exactly one of `keys`, `text` and `segments`"));
        }
        let field = match (&self.keys, &self.text) {
            (Some(_), _) => "keys",
            (_, Some(_)) => "text",
            _ => "segments",
        };
        let segments = match self.segments {
            Some(segments) => segments
                .into_iter()
                .enumerate()
                .map(|(index, segment)| segment.segment(&format!("segments[{index}]")))
                .collect::<Result<_, _>>()?,
            None => vec![segment(self.keys.as_deref(), self.text.as_deref(), "")?],
        };
        let turns_max = self.turns_max.map(|turns| within("turns_max", turns, 1, 1_000_000)).transpose()?;
        let batch = Batch { segments, on_more: on_more(self.on_more), force: self.force.unwrap_or(false), turns_max };
        batch.check(keys_max).map_err(|error| match error {
            BatchError::Empty => Failure::argument(
                field,
                format!(
                    "argument `{field}` is empty: give at least one key; to go past a --More-- or a text alone, \
                     respond {{\"acknowledge\":true}}"
                ),
            ),
            error => Failure::from_batch(&error, field),
        })?;
        Ok(batch)
    }
}

/// What `on_more` says, or its default.
pub(crate) fn on_more(given: Option<OnMoreArgument>) -> OnMore {
    match given {
        Some(OnMoreArgument::Dismiss) => OnMore::Dismiss,
        Some(OnMoreArgument::Stop) | None => OnMore::Stop,
    }
}

impl SegmentArgument {
    fn segment(self, field: &str) -> Result<Segment, Failure> {
        if self.keys.is_some() == self.text.is_some() {
            return Err(Failure::argument(field, format!("{field}: give exactly one of `keys` and `text`")));
        }
        let segment = segment(self.keys.as_deref(), self.text.as_deref(), &format!("{field}."))?;
        if segment.keys.is_empty() {
            return Err(Failure::from_batch(&BatchError::Empty, field));
        }
        Ok(Segment { expect: self.expect.map(|KindArgument(kind)| kind), ..segment })
    }
}

fn segment(keys: Option<&[String]>, text: Option<&str>, prefix: &str) -> Result<Segment, Failure> {
    match keys {
        Some(keys) => Segment::from_names(keys).map_err(|error| {
            let field = match &error {
                BatchError::Key { index, .. } => format!("{prefix}keys[{index}]"),
                _ => format!("{prefix}keys"),
            };
            Failure::from_batch(&error, &field)
        }),
        None => Segment::from_text(text.unwrap_or_default())
            .map_err(|error| Failure::from_batch(&error, &format!("{prefix}text"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use wire::{Key, PendingKind};

    use super::*;
    use crate::arguments;
    use crate::failure::Code;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        keys: Option<Vec<String>>,
        text: Option<String>,
        segments: Option<Vec<SegmentArgument>>,
        on_more: Option<OnMoreArgument>,
        turns_max: Option<u64>,
        force: Option<bool>,
    }

    fn batch(value: Value) -> Result<Batch, Failure> {
        let Value::Object(object) = value else { panic!("no object") };
        let Sample { keys, text, segments, on_more, turns_max, force } = arguments::read(object)?;
        BatchParts { keys, text, segments, on_more, turns_max, force }.batch(5)
    }

    #[test]
    fn batches_are_read_from_each_of_their_forms() {
        let named = batch(json!({"keys": ["h", "ENTER", "CTRL_D", "META_p"]})).unwrap();
        assert_eq!(named.segments[0].keys, [Key(b'h'), Key::ENTER, Key(4), Key(b'p' | 0x80)]);
        assert_eq!((named.on_more, named.force, named.turns_max), (OnMore::Stop, false, None));
        let text = batch(json!({"text": "20s", "on_more": "dismiss", "force": true, "turns_max": 9})).unwrap();
        assert_eq!(text.segments[0].keys.len(), 3);
        assert_eq!((text.on_more, text.force, text.turns_max), (OnMore::Dismiss, true, Some(9)));
        let parts = batch(json!({"segments": [{"text": "q"}, {"keys": ["y"], "expect": "choice"}]})).unwrap();
        assert_eq!(parts.segments[0].expect, None);
        assert_eq!(parts.segments[1].expect, Some(PendingKind::Choice));
    }

    #[test]
    fn batches_that_cannot_be_are_refused_by_field() {
        for (value, code, field) in [
            (json!({}), Code::InvalidArgument, "keys"),
            (json!({"keys": ["h"], "text": "h"}), Code::InvalidArgument, "keys"),
            (json!({"keys": []}), Code::InvalidArgument, "keys"),
            (json!({"text": ""}), Code::InvalidArgument, "text"),
            (json!({"keys": ["h", "enter"]}), Code::InvalidKey, "keys[1]"),
            (json!({"text": "a\nb"}), Code::InvalidKey, "text"),
            (json!({"text": "é"}), Code::InvalidKey, "text"),
            (json!({"text": "hhhhhh"}), Code::LimitExceeded, "text"),
            (json!({"segments": []}), Code::InvalidArgument, "segments"),
            (json!({"segments": [{"keys": []}]}), Code::InvalidArgument, "segments[0]"),
            (json!({"segments": [{"text": "a"}, {}]}), Code::InvalidArgument, "segments[1]"),
            (json!({"segments": [{"keys": ["xx"]}]}), Code::InvalidKey, "segments[0].keys[0]"),
            (json!({"segments": [{"text": "a", "expect": "hat"}]}), Code::InvalidArgument, "segments[0].expect"),
            (json!({"segments": [{"text": "a", "more": 1}]}), Code::InvalidArgument, "segments[0].more"),
            (json!({"text": "h", "turns_max": 0}), Code::InvalidArgument, "turns_max"),
            (json!({"text": "h", "on_more": "wait"}), Code::InvalidArgument, "on_more"),
            (json!({"text": "h", "stop": []}), Code::InvalidArgument, "stop"),
        ] {
            let text = value.to_string();
            let failure = batch(value).unwrap_err();
            assert_eq!((failure.code, failure.details["field"].as_str().unwrap()), (code, field), "{text}");
        }
    }
}
