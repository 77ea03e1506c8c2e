//! What stops a batch beside its own rules: the breakpoints that stand, and those that a call brings along.

use std::cell::{OnceCell, RefCell};
use std::fmt;

use lab::{Lab, Looked, Lookout, MachineId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wire::{Asked, Batch, GlyphNames, StopReason};

use crate::arguments::{KindArgument, within};
use crate::condition::{Condition, Hunger, PATTERN_BYTES_MAX, Sprung, expression};
use crate::failure::{Code, Failure};
use crate::session::Session;
use crate::watched::{self, WatchedOutcome};

// No text of its own: what its words mean is told by the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnArgument {
    Message,
    HpBelow,
    LevelChange,
    Turn,
    Pending,
    Hunger,
    NewMonster,
    ItemPickedUp,
}

/// A condition as clients give it: `on` says which of the others belong to it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StopArgument {
    pub(crate) on: OnArgument,
    pub(crate) pattern: Option<String>,
    pub(crate) regex: Option<bool>,
    pub(crate) n: Option<u64>,
    pub(crate) kind: Option<KindArgument>,
    pub(crate) hunger: Option<Hunger>,
}

/// Breakpoints at once.
pub(crate) const BREAKPOINTS_MAX: usize = 64;
/// The largest bound of hit points, and the last turn.
const NUMBER_MAX: u64 = 1_000_000_000;

impl StopArgument {
    /// The condition. `path` stands before the names of its fields.
    ///
    /// # Errors
    /// What is missing, out of bounds or belongs to another kind, by the name of its field.
    pub(crate) fn condition(self, path: &str) -> Result<Condition, Failure> {
        let Self { on, pattern, regex, n, kind, hunger } = self;
        let field = |name: &str| format!("{path}{name}");
        let takes: &[&str] = match on {
            OnArgument::Message => &["pattern", "regex"],
            OnArgument::HpBelow | OnArgument::Turn => &["n"],
            OnArgument::Pending => &["kind"],
            OnArgument::Hunger => &["hunger"],
            OnArgument::LevelChange | OnArgument::NewMonster | OnArgument::ItemPickedUp => &[],
        };
        let given = [
            ("pattern", pattern.is_some()),
            ("regex", regex.is_some()),
            ("n", n.is_some()),
            ("kind", kind.is_some()),
            ("hunger", hunger.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(name, given)| *given && !takes.contains(name)) {
            let name = field(name);
            return Err(Failure::argument(&name, format!("argument `{name}` does not go with this `on`")));
        }
        let needed = |name: &str| {
            let name = field(name);
            Failure::argument(&name, format!("argument `{name}` is missing: this `on` needs it"))
        };
        let number = || within(&field("n"), n.ok_or_else(|| needed("n"))?, 1, NUMBER_MAX).map(u64::cast_signed);
        Ok(match on {
            OnArgument::Message => {
                let pattern = pattern.ok_or_else(|| needed("pattern"))?;
                message(pattern, regex.unwrap_or(false), &field("pattern"))?
            }
            OnArgument::HpBelow => Condition::HpBelow(number()?),
            OnArgument::LevelChange => Condition::LevelChange,
            OnArgument::Turn => Condition::Turn(number()?),
            OnArgument::Pending => Condition::Pending(kind.ok_or_else(|| needed("kind"))?.0),
            OnArgument::Hunger => Condition::Hunger(hunger),
            OnArgument::NewMonster => Condition::NewMonster,
            OnArgument::ItemPickedUp => Condition::ItemPickedUp,
        })
    }
}

fn message(pattern: String, regex: bool, field: &str) -> Result<Condition, Failure> {
    if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
        let given = pattern.len();
        let message = format!("argument `{field}` has {given} bytes: give 1 to {PATTERN_BYTES_MAX}");
        return Err(Failure::argument(field, message));
    }
    if regex && let Err(reason) = expression(&pattern) {
        return Err(Failure::argument(field, format!("argument `{field}` is no expression that is taken: {reason}")));
    }
    Ok(Condition::Message { pattern, regex })
}

/// A condition as results show it, by the names of the arguments.
pub(crate) fn shown(condition: &Condition) -> Map<String, Value> {
    let more = match condition {
        Condition::Message { pattern, regex } => json!({"pattern": pattern, "regex": regex.then_some(true)}),
        Condition::HpBelow(n) | Condition::Turn(n) => json!({"n": n}),
        Condition::Pending(kind) => json!({"kind": kind.word()}),
        Condition::Hunger(hunger) => json!({"hunger": hunger}),
        Condition::LevelChange | Condition::NewMonster | Condition::ItemPickedUp => json!({}),
    };
    let mut fields = Map::new();
    fields.insert("on".to_owned(), json!(condition.word()));
    if let Value::Object(more) = more {
        fields.extend(more);
    }
    fields
}

/// What a condition is called in results: a breakpoint's id, or a place in the call's `stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Breakpoint(u64),
    Call(usize),
}

/// All that may stop one batch.
#[derive(Debug, Default)]
pub(crate) struct Stops {
    origins: Vec<Origin>,
    conditions: Vec<Condition>,
    naming: Naming,
}

/// What the monsters that come into view are called, asked of the machine when the first does.
#[derive(Default)]
struct Naming {
    machine: Option<(Lab, MachineId)>,
    known: OnceCell<Option<GlyphNames>>,
}

impl Naming {
    fn describe(&self, glyph: i64) -> Option<String> {
        let ask = || self.machine.as_ref().and_then(|(lab, machine)| lab.names(*machine).ok());
        let names = self.known.get_or_init(ask).as_ref()?;
        names.describe(i16::try_from(glyph).ok()?)
    }
}

impl fmt::Debug for Naming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Naming").finish_non_exhaustive()
    }
}

impl Stops {
    /// The breakpoints that hold for a machine, then those of the call.
    ///
    /// # Errors
    /// Too many; what is wrong with one of the call's, by its field.
    pub(crate) fn of(session: &Session, machine: MachineId, stop: Option<Vec<StopArgument>>) -> Result<Self, Failure> {
        let of_call = stop.unwrap_or_default();
        if of_call.len() > BREAKPOINTS_MAX {
            let message = format!("argument `stop` has {} conditions: at most {BREAKPOINTS_MAX}", of_call.len());
            return Err(Failure::new(Code::LimitExceeded, message)
                .with("field", "stop")
                .with("limit", BREAKPOINTS_MAX));
        }
        let naming = Naming { machine: Some((session.lab.clone(), machine)), known: OnceCell::new() };
        let mut stops = Self { naming, ..Self::default() };
        for (id, condition) in session.breakpoints().of_machine(machine) {
            stops.push(Origin::Breakpoint(id), condition);
        }
        for (index, argument) in of_call.into_iter().enumerate() {
            stops.push(Origin::Call(index), argument.condition(&format!("stop[{index}]."))?);
        }
        Ok(stops)
    }

    fn push(&mut self, origin: Origin, condition: Condition) {
        self.origins.push(origin);
        self.conditions.push(condition);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    pub(crate) fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// What sprang, as results tell it.
    pub(crate) fn told(&self, sprung: &Sprung) -> Value {
        let mut fields = sprung.what.clone();
        for monster in fields.get_mut("monsters").and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(monster) = monster.as_object_mut() else { continue };
            let glyph = monster.get("glyph").and_then(Value::as_i64);
            if let Some(description) = glyph.and_then(|glyph| self.naming.describe(glyph)) {
                monster.insert("description".to_owned(), json!(description));
            }
        }
        match self.origins.get(sprung.index) {
            Some(Origin::Breakpoint(id)) => fields.insert("id".to_owned(), json!(format!("b{id}"))),
            Some(Origin::Call(index)) => fields.insert("index".to_owned(), json!(index)),
            None => None,
        };
        Value::Object(fields)
    }

    /// What looks for them beside the machine while a batch is pressed.
    pub(crate) fn lookout(&self) -> StopsLookout<'_> {
        StopsLookout { conditions: &self.conditions, sprung: RefCell::new(None) }
    }
}

/// Has a worker look at the frame after every key of a batch.
pub(crate) struct StopsLookout<'a> {
    conditions: &'a [Condition],
    sprung: RefCell<Option<Sprung>>,
}

impl StopsLookout<'_> {
    /// What sprang last.
    pub(crate) fn sprung(&self) -> Option<Sprung> {
        self.sprung.borrow().clone()
    }
}

impl Lookout for StopsLookout<'_> {
    fn policy(&self) -> &str {
        watched::WATCHED
    }

    fn arguments(&self, batch: &Batch, part: Option<(u32, u32)>, asked: Option<Asked>) -> Result<Vec<u8>, String> {
        watched::arguments(self.conditions, batch, part, asked)
    }

    fn looked(&self, outcome: &[u8]) -> Result<Looked, String> {
        let outcome = WatchedOutcome::read(outcome).ok_or("a worker told nothing of its conditions")?;
        let keys_used = u32::try_from(outcome.keys_used).unwrap_or(u32::MAX);
        let stop = outcome.stop.unwrap_or(StopReason::Done);
        let has_seen = outcome.sprung.is_some();
        *self.sprung.borrow_mut() = outcome.sprung;
        Ok(Looked { keys_used, stop, has_seen, asked: outcome.asked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments;

    fn condition(value: Value) -> Result<Condition, Failure> {
        let Value::Object(object) = value else { panic!("no object") };
        arguments::read::<StopArgument>(object)?.condition("stop[2].")
    }

    #[test]
    fn conditions_are_shown_as_they_are_given() {
        for value in [
            json!({"on": "message", "pattern": "You feel"}),
            json!({"on": "message", "pattern": "^You (see|feel)", "regex": true}),
            json!({"on": "hp_below", "n": 1}),
            json!({"on": "level_change"}),
            json!({"on": "turn", "n": 1_000_000_000}),
            json!({"on": "pending", "kind": "direction"}),
            json!({"on": "hunger"}),
            json!({"on": "hunger", "hunger": "weak"}),
            json!({"on": "new_monster"}),
            json!({"on": "item_picked_up"}),
        ] {
            let mut back = Value::Object(shown(&condition(value.clone()).unwrap()));
            crate::schema::drop_nulls(&mut back);
            assert_eq!(back, value);
        }
    }

    #[test]
    fn conditions_that_cannot_be_are_refused_by_field() {
        let long = "x".repeat(PATTERN_BYTES_MAX + 1);
        for (value, field) in [
            (json!({}), "on"),
            (json!({"on": "hat"}), "on"),
            (json!({"on": "message"}), "stop[2].pattern"),
            (json!({"on": "message", "pattern": ""}), "stop[2].pattern"),
            (json!({"on": "message", "pattern": long}), "stop[2].pattern"),
            (json!({"on": "message", "pattern": "(", "regex": true}), "stop[2].pattern"),
            (json!({"on": "message", "pattern": "a", "n": 3}), "stop[2].n"),
            (json!({"on": "hp_below"}), "stop[2].n"),
            (json!({"on": "hp_below", "n": 0}), "stop[2].n"),
            (json!({"on": "turn", "n": 1_000_000_001}), "stop[2].n"),
            (json!({"on": "turn", "n": 5, "pattern": "x"}), "stop[2].pattern"),
            (json!({"on": "turn", "n": 5, "regex": false}), "stop[2].regex"),
            (json!({"on": "pending"}), "stop[2].kind"),
            (json!({"on": "pending", "kind": "hat"}), "kind"),
            (json!({"on": "hunger", "hunger": "peckish"}), "hunger"),
            (json!({"on": "new_monster", "hunger": "weak"}), "stop[2].hunger"),
            (json!({"on": "level_change", "more": 1}), "more"),
        ] {
            let text = value.to_string();
            let failure = condition(value).unwrap_err();
            assert_eq!(failure.code, Code::InvalidArgument, "{text}");
            assert_eq!(failure.details["field"].as_str().unwrap(), field, "{text}: {}", failure.message);
        }
    }

    #[test]
    fn what_sprang_is_told_by_id_or_by_place() {
        let mut stops = Stops::default();
        stops.push(Origin::Breakpoint(7), Condition::LevelChange);
        stops.push(Origin::Call(0), Condition::Turn(5));
        let lookout = stops.lookout();
        let what: Map<String, Value> = [("on".to_owned(), json!("turn"))].into_iter().collect();
        let outcome = WatchedOutcome { keys_used: 3, stop: None, sprung: Some(Sprung { index: 1, what }), asked: None };
        let looked = lookout.looked(&serde_json::to_vec(&outcome).unwrap()).unwrap();
        assert_eq!(looked, Looked { keys_used: 3, stop: StopReason::Done, has_seen: true, asked: None });
        assert_eq!(stops.told(&lookout.sprung().unwrap()), json!({"on": "turn", "index": 0}));
        assert_eq!(stops.told(&Sprung { index: 0, what: Map::new() }), json!({"id": "b7"}));
        // A worker may say anything.
        let long = vec![b'x'; 100_000];
        for outcome in [&b""[..], b"{}", b"[1]", &long] {
            assert!(lookout.looked(outcome).is_err());
        }
    }
}
