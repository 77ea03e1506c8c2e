use serde::{Deserialize, Serialize};

/// One byte of keyboard input, the primitive input of a machine.
///
/// Its name is the printable ASCII character itself, or one of `ENTER ESC SPACE TAB BACKSPACE DELETE NUL`,
/// `CTRL_A` … `CTRL_Z` (also `CTRL_[` … `CTRL__` for the five after Z), or `META_` followed by the name of the
/// key without its high bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(pub u8);

/// Why a text names no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} names no key: give one printable ASCII character, or ENTER ESC SPACE TAB BACKSPACE DELETE NUL, CTRL_A…CTRL_Z, META_x"
)]
pub struct KeyError {
    given: String,
}

/// The one table of named keys; the first name of a byte is the one that is shown.
const NAMED: [(&str, u8); 9] = [
    ("ENTER", b'\r'),
    ("ESC", 0x1b),
    ("SPACE", b' '),
    ("TAB", b'\t'),
    ("BACKSPACE", 0x08),
    ("DELETE", 0x7f),
    ("NUL", 0),
    ("CTRL_J", b'\n'),
    ("CTRL_H", 0x08),
];

impl Key {
    /// Escape: cancels nearly everything.
    pub const ESC: Self = Self(0x1b);
    /// Return.
    pub const ENTER: Self = Self(b'\r');
    /// The space bar.
    pub const SPACE: Self = Self(b' ');

    /// The name under which [`str::parse`] finds this key again.
    #[must_use]
    pub fn name(self) -> String {
        let Self(byte) = self;
        if byte >= 0x80 {
            return format!("META_{}", Self(byte & 0x7f).name());
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, named)| *named == byte) {
            return (*name).to_owned();
        }
        if byte < 0x20 {
            return format!("CTRL_{}", char::from(byte | 0x40));
        }
        char::from(byte).to_string()
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

impl std::str::FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let refused = || KeyError { given: text.chars().take(40).collect() };
        if let [byte @ 0x20..=0x7e] = text.as_bytes() {
            return Ok(Self(*byte));
        }
        if let Some((_, byte)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(Self(*byte));
        }
        if let Some([letter @ (b'A'..=b'Z' | b'[' | b'\\' | b']' | b'^' | b'_')]) =
            text.strip_prefix("CTRL_").map(str::as_bytes)
        {
            return Ok(Self(letter & 0x1f));
        }
        match text.strip_prefix("META_").map(str::parse::<Self>) {
            Some(Ok(Self(byte @ 0..0x80))) => Ok(Self(byte | 0x80)),
            _ => Err(refused()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_name_that_names_it() {
        for byte in 0..=255 {
            let name = Key(byte).name();
            assert_eq!(name.parse::<Key>().unwrap(), Key(byte), "{name}");
        }
    }

    #[test]
    fn other_texts_name_no_key() {
        for text in ["", "ab", "enter", "CTRL_", "CTRL_a", "CTRL_AB", "META_", "META_META_a", "é", "\n", "F1", "META_é"]
        {
            assert!(text.parse::<Key>().is_err(), "{text:?}");
        }
    }
}
