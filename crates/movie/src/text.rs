//! How keys and checks stand in a line: text that needs no further escape in JSON and can be grepped.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use wire::{Check, Key};

use crate::format::LINE_INPUTS_MAX;

/// Keys as text: printable ASCII characters stand for themselves but for `^`, `"` and `\`; control bytes are `^A` and
/// the like; all others are `^x` and two hexadecimal digits. Each byte has just one spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keys(pub(crate) Vec<Key>);

/// Checks as the base64 of four little-endian bytes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checks(pub(crate) Vec<Check>);

/// Why a text holds no keys or checks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TextError {
    #[error("more than {LINE_INPUTS_MAX} inputs on a line")]
    Length,
    #[error("character {0} of the keys begins no key (or one that has another spelling)")]
    Key(usize),
    #[error("checks are no base64 of four bytes each")]
    Checks,
}

fn push_key(text: &mut String, byte: u8) {
    match byte {
        b'^' | b'"' | b'\\' | 0x1c | 0x1e | 0x80.. => {
            text.push_str("^x");
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
            }
        }
        0x20..=0x7e => text.push(char::from(byte)),
        0x7f => text.push_str("^?"),
        0..=0x1f => {
            text.push('^');
            text.push(char::from(byte | 0x40));
        }
    }
}

/// One key from the start of a text, and how many bytes it took.
fn take_key(text: &[u8]) -> Option<(Key, usize)> {
    let (byte, length) = match text {
        [b'^', b'x', hex, ..] if hex.is_ascii_hexdigit() => {
            let hex = std::str::from_utf8(text.get(2..4)?).ok()?;
            (u8::from_str_radix(hex, 16).ok()?, 4)
        }
        [b'^', b'?', ..] => (0x7f, 2),
        [b'^', letter @ 0x40..=0x5f, ..] => (letter & 0x1f, 2),
        [byte, ..] => (*byte, 1),
        [] => return None,
    };
    let mut spelling = String::with_capacity(4);
    push_key(&mut spelling, byte);
    (text.get(..length)? == spelling.as_bytes()).then_some((Key(byte), length))
}

impl Keys {
    fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.0.len());
        for Key(byte) in &self.0 {
            push_key(&mut text, *byte);
        }
        text
    }

    fn from_text(text: &str) -> Result<Self, TextError> {
        if text.len() > 4 * LINE_INPUTS_MAX {
            return Err(TextError::Length);
        }
        let mut keys = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (key, length) = take_key(rest).ok_or(TextError::Key(text.len() - rest.len()))?;
            keys.push(key);
            rest = rest.get(length..).unwrap_or_default();
        }
        if keys.len() > LINE_INPUTS_MAX {
            return Err(TextError::Length);
        }
        Ok(Self(keys))
    }
}

impl Checks {
    fn to_text(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().flat_map(|check| check.0.to_le_bytes()).collect();
        STANDARD.encode(bytes)
    }

    fn from_text(text: &str) -> Result<Self, TextError> {
        if text.len() > (4 * LINE_INPUTS_MAX).div_ceil(3) * 4 {
            return Err(TextError::Length);
        }
        let bytes = STANDARD.decode(text).map_err(|_| TextError::Checks)?;
        let (whole, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(TextError::Checks);
        }
        Ok(Self(whole.iter().map(|bytes| Check(u32::from_le_bytes(*bytes))).collect()))
    }
}

macro_rules! as_text {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.to_text())
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::from_text(&text).map_err(de::Error::custom)
            }
        }
    };
}
as_text!(Keys);
as_text!(Checks);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_one_spelling_that_json_leaves_alone() {
        let all = Keys((0..=255).map(Key).collect());
        let text = all.to_text();
        assert_eq!(serde_json::to_string(&all).unwrap(), format!("\"{text}\""));
        assert_eq!(Keys::from_text(&text).unwrap(), all);
        for byte in 0..=255 {
            let mut text = String::new();
            push_key(&mut text, byte);
            assert!(text.bytes().all(|b| (0x20..=0x7e).contains(&b)), "{text}");
            assert_eq!(Keys::from_text(&text).unwrap(), Keys(vec![Key(byte)]), "{text}");
        }
        assert_eq!(Keys(b"a^M\r\x1b\"\x80".map(Key).to_vec()).to_text(), "a^x5eM^M^[^x22^x80");
    }

    #[test]
    fn other_texts_hold_no_keys_or_checks() {
        for text in
            ["^", "^x", "^x8", "^x41", "^x1b", "^xAF", "^x+8", "^a", "^!", "^^", "\\", "\"", "\n", "é", "a\u{7f}"]
        {
            assert!(Keys::from_text(text).is_err(), "{text:?}");
        }
        assert_eq!(Keys::from_text("ab^x80^!c"), Err(TextError::Key(6)));
        for text in ["AAA", "AAAA", "AAAAAA", "AAAAAB==", "AAAAAA= ", "AAAAAA==AAAAAA=="] {
            assert!(Checks::from_text(text).is_err(), "{text:?}");
        }
        let checks = Checks(vec![Check(1), Check(u32::MAX)]);
        assert_eq!(Checks::from_text(&checks.to_text()).unwrap(), checks);
    }

    #[test]
    fn too_many_inputs_are_refused() {
        let text = "a".repeat(LINE_INPUTS_MAX);
        assert!(Keys::from_text(&text).is_ok());
        assert_eq!(Keys::from_text(&format!("{text}a")), Err(TextError::Length));
        // The longest spelling of as many as there may be, and of one more.
        let long = "^x80".repeat(LINE_INPUTS_MAX);
        assert_eq!(Keys::from_text(&long).unwrap(), Keys(vec![Key(0x80); LINE_INPUTS_MAX]));
        assert_eq!(Keys::from_text(&format!("{long}^x80")), Err(TextError::Length));
        let checks = Checks(vec![Check(7); LINE_INPUTS_MAX]);
        assert_eq!(Checks::from_text(&checks.to_text()).unwrap(), checks);
        let checks = Checks(vec![Check(7); LINE_INPUTS_MAX + 3]);
        assert_eq!(Checks::from_text(&checks.to_text()), Err(TextError::Length));
    }
}
