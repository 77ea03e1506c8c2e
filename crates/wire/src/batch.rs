use serde::{Deserialize, Serialize};

use crate::{Key, KeyError, Pending, PendingKind};

/// The most keys that a batch may hold.
pub const KEYS_MAX: usize = 36_000;

/// Keys to press one after the other, as long as the game takes each of them as what it was meant to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The keys, in parts that may each expect what the game waits for.
    pub segments: Vec<Segment>,
    /// What to do at a `--More--` or a page of text that comes up between keys.
    pub on_more: OnMore,
    /// Press every key whatever the game waits for.
    pub force: bool,
    /// Stop once this many turns have passed.
    pub turns_max: Option<u64>,
}

/// Keys of a batch that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// The keys.
    pub keys: Vec<Key>,
    /// What the game must wait for before the first of them. Its keys then answer that kind of prompt, also where
    /// keys without an expectation would be held back.
    pub expect: Option<PendingKind>,
}

/// What a batch does at a `--More--` or a page of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnMore {
    /// It stops.
    #[default]
    Stop,
    /// It presses ENTER until the game goes on; those inputs count like any other.
    Dismiss,
}

/// Why a batch stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// All keys were pressed.
    Done,
    /// The game waits for something that the next key was not meant for, or still for what the last one was to answer.
    NotAccepted,
    /// The game ended.
    Ended,
    /// `turns_max` turns have passed.
    Turns,
    /// The line has as many inputs as a machine may have.
    InputLimit,
    /// The policy that chose the keys wanted no more.
    Policy,
}

/// Why a batch can't be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// A name that is no key.
    #[error("key {index}: {error}")]
    Key {
        /// Its place, counted from 0.
        index: usize,
        /// What is wrong.
        error: KeyError,
    },
    /// A character of a text that is no key.
    #[error("text holds {0:?}: only printable ASCII characters are keys (use `keys` for others)")]
    Character(char),
    /// Nothing to press.
    #[error("a batch needs at least one key")]
    Empty,
    /// More than a batch may hold.
    #[error("{given} keys are too many: at most {max}")]
    Length {
        /// How many there are.
        given: usize,
        /// How many there may be.
        max: usize,
    },
}

impl Segment {
    /// A segment of named keys.
    ///
    /// # Errors
    /// The first name that is no key.
    pub fn from_names<S: AsRef<str>>(names: &[S]) -> Result<Self, BatchError> {
        let keys = names
            .iter()
            .enumerate()
            .map(|(index, name)| name.as_ref().parse().map_err(|error| BatchError::Key { index, error }))
            .collect::<Result<_, _>>()?;
        Ok(Self { keys, expect: None })
    }

    /// A segment in which each character of a text is one key.
    ///
    /// # Errors
    /// The first character that is no printable ASCII.
    pub fn from_text(text: &str) -> Result<Self, BatchError> {
        let keys = text
            .chars()
            .map(|character| match u8::try_from(character) {
                Ok(byte @ 0x20..=0x7e) => Ok(Key(byte)),
                _ => Err(BatchError::Character(character)),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { keys, expect: None })
    }
}

impl Batch {
    /// A batch of keys that are pressed whatever the game waits for.
    #[must_use]
    pub fn forced(keys: Vec<Key>) -> Self {
        Self { segments: vec![Segment { keys, expect: None }], on_more: OnMore::Stop, force: true, turns_max: None }
    }

    /// How many keys it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.iter().map(|segment| segment.keys.len()).sum()
    }

    /// True when it holds no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Refuses an empty batch and one over `keys_max` keys.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, keys_max: usize) -> Result<(), BatchError> {
        match self.len() {
            0 => Err(BatchError::Empty),
            given if given > keys_max => Err(BatchError::Length { given, max: keys_max }),
            _ => Ok(()),
        }
    }
}

/// Whether a prompt takes a key as what a player pressing it means. `expected`: the player has said that this kind of
/// prompt is what the key is for.
///
/// Prompts that only ever follow a command of the player (direction, item, position, count, extended command) take
/// the keys that mean something to them. Prompts that can come up unasked (choice, text, menu) take keys only when
/// expected, but for ESC, which always backs out.
#[must_use]
pub fn accepts(pending: &Pending, key: Key, expected: bool) -> bool {
    let Key(byte) = key;
    let escape = key == Key::ESC;
    match pending.kind {
        PendingKind::Command | PendingKind::Key => true,
        PendingKind::Count => byte != 0,
        // Without a prompt it is the rest of a command that began with a prefix, as in `Fh` or `m,`.
        PendingKind::Direction => escape || pending.prompt.is_empty() || is_direction(pending, byte, expected),
        PendingKind::Item => {
            escape
                || b"?*,$-".contains(&byte)
                || byte.is_ascii_alphanumeric()
                || pending.answers.contains(char::from(byte))
        }
        PendingKind::Position => escape || (0x20..0x7f).contains(&byte),
        PendingKind::Extended => escape || key == Key::ENTER || byte == 8 || (0x20..0x80).contains(&byte),
        PendingKind::More => escape || is_read(byte) || pending.answers.contains(char::from(byte)),
        PendingKind::Window => escape || is_read(byte) || expected,
        PendingKind::Choice => escape || (expected && is_choice(pending, byte)),
        PendingKind::Text => escape || (expected && byte != 0),
        PendingKind::Menu => escape || expected,
    }
}

fn is_read(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n' | b' ')
}

/// A ROM that doesn't say which keys are directions has the usual ones, or digits.
fn is_direction(pending: &Pending, byte: u8, expected: bool) -> bool {
    if pending.answers.is_empty() {
        return (expected && byte.is_ascii_digit()) || b"hjklyubn.s<>".contains(&byte);
    }
    pending.answers.contains(char::from(byte))
}

/// Where `#` is an answer, a count is one: its digits, and ENTER after them.
fn is_choice(pending: &Pending, byte: u8) -> bool {
    let counts = pending.answers.contains('#') && (byte.is_ascii_digit() || matches!(byte, b'\r' | 0x08));
    counts || pending.answers.is_empty() || pending.answers.contains(char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stage;

    fn taken(kind: PendingKind, prompt: &str, answers: &str, expected: bool) -> String {
        let pending = Pending {
            kind,
            stage: Stage::Play,
            prompt: prompt.to_owned(),
            answers: answers.to_owned(),
            default: None,
            capacity: None,
            typed: String::new(),
        };
        (0x20..0x7f).map(char::from).filter(|key| accepts(&pending, Key(*key as u8), expected)).collect()
    }

    #[test]
    fn prompts_take_what_a_player_means_by_a_key() {
        let all: String = (0x20..0x7f_u8).map(char::from).collect();
        for (kind, prompt, answers, unexpected, expected) in [
            (PendingKind::Command, "", "", all.as_str(), all.as_str()),
            (PendingKind::Choice, "Really attack?", "yn", "", "ny"),
            (PendingKind::Text, "Call it:", "", "", all.as_str()),
            (PendingKind::Menu, "", "", "", all.as_str()),
            (PendingKind::Choice, "Drop your dart?", "yn#aq", "", "#0123456789anqy"),
            (PendingKind::More, "", "", " ", " "),
            (PendingKind::More, "", "d", " d", " d"),
            (PendingKind::Direction, "In what direction?", "", ".<>bhjklnsuy", ".0123456789<>bhjklnsuy"),
            (PendingKind::Direction, "In what direction?", "47896321><.s", ".12346789<>s", ".12346789<>s"),
            (PendingKind::Direction, "", "", all.as_str(), all.as_str()),
        ] {
            assert_eq!(taken(kind, prompt, answers, false), unexpected, "{kind}");
            assert_eq!(taken(kind, prompt, answers, true), expected, "{kind} expected");
        }
        assert!(taken(PendingKind::Item, "", "#", false).contains('#'));
        assert!(!taken(PendingKind::Item, "", "", false).contains('#'));
    }
}
