use serde::{Deserialize, Serialize};

use crate::{Key, Pending, PendingKind};

/// A question that a key has answered. When the game asks the same again within the turn, it has refused the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What kind of answer it takes.
    pub kind: PendingKind,
    /// The question as the game put it.
    pub prompt: String,
    /// The turn in which it was answered.
    pub turn: i64,
    /// True while only a count has been typed before the answer.
    pub counting: bool,
}

/// The longest question that is remembered, in bytes.
pub const ASKED_BYTES_MAX: usize = 1_024;
/// How the game begins to say that a key means nothing while a place is being chosen.
const NO_PLACE: [&str; 2] = ["Unknown direction", "Can't find dungeon feature"];

impl Asked {
    /// What is asked once a key is pressed at a prompt, where the key answers it; `before` is what was asked until then.
    ///
    /// Keys after which a prompt rightly stands as it did are no answers: ESC, the digits of a count, `?` and `*`, the
    /// letters of a text, all keys of menus. A question that names its answers takes each of them, so another one
    /// with the same text is about another thing. Of a place every key counts here: see [`Asked::is_refused_by`].
    #[must_use]
    pub fn after(before: Option<Self>, pending: &Pending, key: Key, turn: i64) -> Option<Self> {
        let Key(byte) = key;
        let asked = |counting: bool| {
            let prompt = pending.prompt.clone();
            (prompt.len() <= ASKED_BYTES_MAX).then_some(Self { kind: pending.kind, prompt, turn, counting })
        };
        if key == Key::ESC {
            return None;
        }
        match pending.kind {
            // What is read in between leaves the question answered.
            PendingKind::More | PendingKind::Window => before,
            PendingKind::Item if b"?*".contains(&byte) => None,
            PendingKind::Item => asked(byte.is_ascii_digit()),
            PendingKind::Count if byte.is_ascii_digit() || byte == 8 => before,
            PendingKind::Count => before.filter(|asked| asked.counting).map(|asked| Self { counting: false, ..asked }),
            PendingKind::Direction if byte == b'?' || pending.prompt.is_empty() => None,
            PendingKind::Choice if !pending.answers.is_empty() => None,
            PendingKind::Text if !matches!(byte, b'\r' | b'\n') => None,
            PendingKind::Direction | PendingKind::Choice | PendingKind::Text | PendingKind::Position => asked(false),
            PendingKind::Command | PendingKind::Menu | PendingKind::Extended | PendingKind::Key => None,
        }
    }

    /// Whether what the game says right after the key lets it be a refusal. While a place is chosen, most keys move
    /// the cursor and the question stays, so there only the game's word tells.
    pub fn is_refused_by<'a>(&self, mut messages: impl Iterator<Item = &'a str>) -> bool {
        self.kind != PendingKind::Position
            || messages.any(|text| NO_PLACE.iter().any(|beginning| text.starts_with(beginning)))
    }

    /// Whether the game, waiting for this in this turn, asks the same again.
    #[must_use]
    pub fn stands_again(&self, pending: &Pending, turn: i64) -> bool {
        !self.counting && (self.kind, self.turn) == (pending.kind, turn) && self.prompt == pending.prompt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stage;

    fn pending(kind: PendingKind, prompt: &str, answers: &str) -> Pending {
        Pending {
            kind,
            stage: Stage::Play,
            prompt: prompt.to_owned(),
            answers: answers.to_owned(),
            default: None,
            capacity: None,
            typed: String::new(),
        }
    }

    #[test]
    fn only_answers_can_be_refused() {
        use PendingKind::{Choice, Command, Count, Direction, Extended, Item, Menu, Position, Text};
        for (kind, prompt, answers, key, is_answer) in [
            (Command, "", "", b'w', false),
            (Item, "Wield what?", "abc", b'z', true),
            (Item, "Wield what?", "abc", b'?', false),
            (Item, "Wield what?", "abc", b'*', false),
            (Item, "Wield what?", "abc", b'2', false),
            (Item, "Wield what?", "abc", 0x1b, false),
            (Count, "", "", b'z', false),
            (Direction, "In what direction?", "hjkl", b'h', true),
            (Direction, "In what direction?", "hjkl", b'?', false),
            (Direction, "", "", b'h', false),
            // Two boxes lie there, and the first is left alone.
            (Choice, "There is a large box here, loot it?", "ynq", b'n', false),
            (Choice, "Which?", "", b'n', true),
            (Text, "Genocide what?", "", b'x', false),
            (Text, "Genocide what?", "", b'\r', true),
            (Menu, "", "", b'a', false),
            (Extended, "#", "", b'\r', false),
            (Position, "a place", "", b'z', true),
        ] {
            let asked = Asked::after(None, &pending(kind, prompt, answers), Key(key), 5);
            let again = asked.is_some_and(|asked| asked.stands_again(&pending(kind, prompt, answers), 5));
            assert_eq!(again, is_answer, "{kind} {prompt:?} {}", Key(key));
        }
    }

    #[test]
    fn a_question_is_the_same_by_its_text_within_its_turn() {
        let item = pending(PendingKind::Item, "Drop what?", "ab");
        let asked = Asked::after(None, &item, Key(b'z'), 5).unwrap();
        assert!(!asked.stands_again(&item, 6));
        assert!(!asked.stands_again(&pending(PendingKind::Item, "Wield what?", "ab"), 5));
        assert!(!asked.stands_again(&pending(PendingKind::Text, "Drop what?", "ab"), 5));
        let read = Asked::after(Some(asked.clone()), &pending(PendingKind::More, "", ""), Key::ENTER, 5);
        assert_eq!(read, Some(asked));
        let long = pending(PendingKind::Item, &"x".repeat(ASKED_BYTES_MAX + 1), "");
        assert_eq!(Asked::after(None, &long, Key(b'z'), 5), None);
    }

    #[test]
    fn a_count_before_an_item_is_no_answer_but_the_item_is() {
        let (item, count) = (pending(PendingKind::Item, "Drop what?", "ab"), pending(PendingKind::Count, "", ""));
        let counting = Asked::after(None, &item, Key(b'2'), 5);
        let counting = Asked::after(counting, &count, Key(b'0'), 5);
        assert!(!counting.as_ref().unwrap().stands_again(&item, 5));
        assert!(Asked::after(counting, &count, Key(b'z'), 5).unwrap().stands_again(&item, 5));
    }

    #[test]
    fn a_place_is_refused_by_the_games_word_alone() {
        let place = Asked::after(None, &pending(PendingKind::Position, "a place", ""), Key(b'<'), 5).unwrap();
        assert!(!place.is_refused_by(["Pick a place."].into_iter()));
        assert!(place.is_refused_by(["Pick.", "Can't find dungeon feature '<'."].into_iter()));
        let item = Asked::after(None, &pending(PendingKind::Item, "Drop what?", ""), Key(b'z'), 5).unwrap();
        assert!(item.is_refused_by([].into_iter()));
    }
}
