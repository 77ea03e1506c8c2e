//! Conditions that stop a batch: what a key has done, seen in the frame before it and the frame after it.

use regex_lite::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wire::{Frame, PendingKind, Status};

use crate::sighting::{gained_items, new_monsters};

/// Something that a key may bring about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Condition {
    /// A message holds this text, or matches it where it is an expression.
    Message { pattern: String, regex: bool },
    /// Hit points are under this.
    HpBelow(i64),
    /// The hero is on another level.
    LevelChange,
    /// This turn is reached.
    Turn(i64),
    /// The game waits for this kind of answer.
    Pending(PendingKind),
    /// Hunger has become this; without a word, it has grown.
    Hunger(Option<Hunger>),
    /// A monster is in view that was not.
    NewMonster,
    /// The hero has something that it had not.
    ItemPickedUp,
}

/// How hungry the hero is, from the best on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Hunger {
    Satiated,
    NotHungry,
    Hungry,
    Weak,
    Fainting,
    Fainted,
    Starved,
}

/// The longest pattern of a message, in bytes.
pub(crate) const PATTERN_BYTES_MAX: usize = 200;
/// Bytes that a compiled expression may take; a step of the match costs as many steps as it has states.
const EXPRESSION_BYTES_MAX: usize = 32 << 10;
/// How deep the groups of an expression may be nested.
const NESTING_MAX: u32 = 16;

/// Conditions made ready to be looked at after each key.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    conditions: Vec<(Condition, Option<Regex>)>,
}

/// The first condition that held, and what happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sprung {
    /// Its place among the conditions.
    pub(crate) index: usize,
    /// What happened, as fields for a result.
    pub(crate) what: Map<String, Value>,
}

impl Watch {
    /// Makes conditions ready.
    ///
    /// # Errors
    /// The place of the first expression that is none or is too large, and why.
    pub(crate) fn new(conditions: Vec<Condition>) -> Result<Self, (usize, String)> {
        let ready = |(index, condition): (usize, Condition)| match &condition {
            Condition::Message { pattern, regex: true } => {
                let expression = expression(pattern).map_err(|reason| (index, reason))?;
                Ok((condition, Some(expression)))
            }
            _ => Ok((condition, None)),
        };
        let conditions = conditions.into_iter().enumerate().map(ready).collect::<Result<_, _>>()?;
        Ok(Self { conditions })
    }

    /// The first of the conditions that holds for a key.
    pub(crate) fn look(&self, before: &Frame, after: &Frame) -> Option<Sprung> {
        let mut conditions = self.conditions.iter().enumerate();
        conditions.find_map(|(index, (condition, expression))| {
            let what = happened(condition, expression.as_ref(), before, after)?;
            let mut fields = Map::new();
            fields.insert("on".to_owned(), json!(condition.word()));
            if let Value::Object(what) = what {
                fields.extend(what);
            }
            Some(Sprung { index, what: fields })
        })
    }
}

/// The expression of a pattern. Its matches take time linear in the text.
pub(crate) fn expression(pattern: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(pattern);
    let builder = builder.size_limit(EXPRESSION_BYTES_MAX).nest_limit(NESTING_MAX);
    builder.build().map_err(|error| error.to_string())
}

impl Condition {
    /// The word for its kind.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Message { .. } => "message",
            Self::HpBelow(_) => "hp_below",
            Self::LevelChange => "level_change",
            Self::Turn(_) => "turn",
            Self::Pending(_) => "pending",
            Self::Hunger(_) => "hunger",
            Self::NewMonster => "new_monster",
            Self::ItemPickedUp => "item_picked_up",
        }
    }
}

impl Hunger {
    /// As the status line's word says it.
    fn of(status: &Status) -> Option<Self> {
        Some(match status.hunger.as_deref() {
            None => Self::NotHungry,
            Some("Satiated") => Self::Satiated,
            Some("Hungry") => Self::Hungry,
            Some("Weak") => Self::Weak,
            Some("Fainting") => Self::Fainting,
            Some("Fainted") => Self::Fainted,
            Some("Starved") => Self::Starved,
            Some(_) => return None,
        })
    }
}

fn happened(condition: &Condition, expression: Option<&Regex>, before: &Frame, after: &Frame) -> Option<Value> {
    match condition {
        Condition::Message { pattern, .. } => {
            let matches = |text: &str| expression.map_or_else(|| text.contains(pattern), |found| found.is_match(text));
            let message = after.messages.iter().find(|message| matches(&message.text))?;
            Some(json!({"message": message.text, "message_id": message.id}))
        }
        Condition::HpBelow(bound) => hp_below(*bound, before, after),
        Condition::LevelChange => {
            let (old, new) = statuses(before, after)?;
            let moved = old.depth != new.depth || old.level_text != new.level_text;
            moved.then(|| json!({"level_text": new.level_text, "level_before": old.level_text}))
        }
        Condition::Turn(turn) => (before.turn < *turn && *turn <= after.turn).then(|| json!({"turn": after.turn})),
        Condition::Pending(kind) => {
            let pending = after.pending.as_ref().filter(|pending| pending.kind == *kind)?;
            Some(json!({"kind": kind.word(), "prompt": (!pending.prompt.is_empty()).then_some(&pending.prompt)}))
        }
        Condition::Hunger(named) => {
            let (old, new) = statuses(before, after)?;
            let (old, new) = (Hunger::of(old)?, Hunger::of(new)?);
            let holds = match named {
                Some(named) => new == *named && old != new,
                None => new > old && new > Hunger::NotHungry,
            };
            holds.then(|| json!({"hunger": new, "hunger_before": old}))
        }
        Condition::NewMonster => {
            let monsters = new_monsters(before, after);
            (!monsters.is_empty()).then(|| json!({"monsters": monsters}))
        }
        Condition::ItemPickedUp => {
            let items = gained_items(before, after);
            (!items.is_empty()).then(|| json!({"items": items}))
        }
    }
}

/// It holds at each key, not only at that which made it true; but where hit points have not fallen, only once the hero
/// is free to act, so that no command is cut in two.
fn hp_below(bound: i64, before: &Frame, after: &Frame) -> Option<Value> {
    let hp = after.status.as_ref()?.hp;
    let fell = before.status.as_ref().is_none_or(|status| hp < status.hp);
    let is_free = after.pending.as_ref().is_some_and(|pending| pending.kind == PendingKind::Command);
    (i64::from(hp) < bound && (fell || is_free)).then(|| json!({"hp": hp}))
}

fn statuses<'a>(before: &'a Frame, after: &'a Frame) -> Option<(&'a Status, &'a Status)> {
    before.status.as_ref().zip(after.status.as_ref())
}

#[cfg(test)]
#[path = "condition_tests.rs"]
mod tests;
