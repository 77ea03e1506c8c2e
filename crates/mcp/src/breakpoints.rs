use std::collections::BTreeMap;

use lab::{LabError, MachineId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::{self, KindArgument, Nothing};
use crate::condition::{Condition, Hunger};
use crate::failure::{Code, Failure};
use crate::reply::{Call, RUNNING, Reply};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::stops::{BREAKPOINTS_MAX, OnArgument, StopArgument, shown};
use crate::tool::{Effect, ToolArguments};

/// The breakpoints of a server: `b1`, `b2`, …, none of which is ever used again.
#[derive(Debug, Default)]
pub(crate) struct Breakpoints {
    last: u64,
    standing: BTreeMap<u64, Breakpoint>,
}

/// A condition that stops every batch, on one machine or on all.
#[derive(Clone, Debug)]
pub(crate) struct Breakpoint {
    pub(crate) condition: Condition,
    /// Absent: all machines.
    pub(crate) machine: Option<MachineId>,
}

impl Breakpoints {
    /// Adds one; gives its number.
    ///
    /// # Errors
    /// `LIMIT_EXCEEDED`.
    pub(crate) fn add(&mut self, breakpoint: Breakpoint) -> Result<u64, Failure> {
        if self.standing.len() >= BREAKPOINTS_MAX {
            let message = format!(
                "one more would exceed the limit of {BREAKPOINTS_MAX} breakpoints: breakpoint_remove makes room"
            );
            return Err(Failure::new(Code::LimitExceeded, message).with("limit", BREAKPOINTS_MAX));
        }
        self.last += 1;
        self.standing.insert(self.last, breakpoint);
        Ok(self.last)
    }

    /// Removes the one of this name, if there is one.
    pub(crate) fn remove(&mut self, name: &str) -> Option<(u64, Breakpoint)> {
        self.standing.remove_entry(&number(name)?)
    }

    /// Puts one back that was removed.
    fn put_back(&mut self, number: u64, breakpoint: Breakpoint) {
        self.standing.insert(number, breakpoint);
    }

    /// Takes in those of a server before this one. Numbers up to `last` are not given again.
    fn restore(&mut self, last: u64, standing: BTreeMap<u64, Breakpoint>) {
        let numbers = standing.keys().copied().max().unwrap_or(0);
        self.last = self.last.max(last).max(numbers);
        self.standing.extend(standing.into_iter().take(BREAKPOINTS_MAX));
    }

    /// Those that hold for a machine, oldest first.
    pub(crate) fn of_machine(&self, machine: MachineId) -> Vec<(u64, Condition)> {
        let holds = |breakpoint: &Breakpoint| breakpoint.machine.is_none_or(|only| only == machine);
        let those = self.standing.iter().filter(|(_, breakpoint)| holds(breakpoint));
        those.map(|(number, breakpoint)| (*number, breakpoint.condition.clone())).collect()
    }

    /// All of them, oldest first.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, &Breakpoint)> {
        self.standing.iter().map(|(number, breakpoint)| (*number, breakpoint))
    }

    pub(crate) fn count(&self) -> usize {
        self.standing.len()
    }
}

/// The number of a breakpoint's name, which has one spelling only.
fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix('b')?;
    let number: u64 = digits.parse().ok()?;
    (digits == number.to_string()).then_some(number)
}

/// `breakpoint_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BreakpointAdd {
    on: OnArgument,
    /// message: what it holds; up to 200 bytes.
    pattern: Option<String>,
    /// message: true, where the pattern is a regular expression.
    regex: Option<bool>,
    /// hp_below, turn: the number.
    #[schemars(range(min = 1, max = 1000000000))]
    n: Option<u64>,
    /// pending: the kind, as in expect.
    #[schemars(with = "Option<String>")]
    kind: Option<KindArgument>,
    /// hunger: only when it becomes this; without it, whenever it grows.
    hunger: Option<Hunger>,
    /// Only on this machine; on all without it.
    machine: Option<String>,
}

impl ToolArguments for BreakpointAdd {
    const NAME: &'static str = "breakpoint_add";
    const TITLE: &'static str = "Stop batches at a condition";
    const TEXT: &'static str = "Has every batch (run, fork_run, try_lines) stop after the key that brings about: message \
        (one holds the pattern), hp_below (HP under n, looked at when it falls or the hero is free to act), level_change, \
        turn (n is reached), pending (the game waits for that kind), hunger, new_monster (in view, and was not before the \
        key; no pet), item_picked_up. Looked at after each key, never before the first; before on_more dismisses \
        anything. The batch then answers stop \"breakpoint\" and in `breakpoint` which one and what happened. It stays \
        until breakpoint_remove.";
    const EFFECT: Effect = Effect::Adds;
    const RESULT: &'static [&'static [Field]] =
        &[&[("breakpoint", Kind::Object, ""), ("breakpoints", Kind::Integer, "")], RUNNING];

    fn call(self, session: &Session, _: &Call<'_>) -> Result<Reply, Failure> {
        let Self { on, pattern, regex, n, kind, hunger, machine } = self;
        let condition = StopArgument { on, pattern, regex, n, kind, hunger }.condition("")?;
        let machine = machine.map(|name| session.machine(Some(&name))).transpose()?;
        let breakpoint = Breakpoint { condition, machine };
        let number = session.breakpoints().add(breakpoint.clone())?;
        let row = row(session, number, &breakpoint);
        keep(session).inspect_err(|_| drop(session.breakpoints().remove(&format!("b{number}"))))?;
        Ok(Reply::default().with("breakpoint", row).with("breakpoints", session.breakpoints().count()))
    }
}

fn row(session: &Session, number: u64, breakpoint: &Breakpoint) -> Value {
    let mut fields = shown(&breakpoint.condition);
    fields.insert("id".to_owned(), json!(format!("b{number}")));
    fields.insert("machine".to_owned(), json!(breakpoint.machine.map(|machine| session.name_of(machine))));
    Value::Object(fields)
}

/// `breakpoint_remove`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BreakpointRemove {
    /// Its id, as in "b1".
    id: String,
}

impl ToolArguments for BreakpointRemove {
    const NAME: &'static str = "breakpoint_remove";
    const TITLE: &'static str = "Remove a breakpoint";
    const TEXT: &'static str = "Removes a breakpoint. Ids are never used again. Batches under way keep it.";
    const EFFECT: Effect = Effect::Ends;
    const RESULT: &'static [&'static [Field]] =
        &[&[("removed", Kind::Text, ""), ("breakpoints", Kind::Integer, "")], RUNNING];

    fn call(self, session: &Session, _: &Call<'_>) -> Result<Reply, Failure> {
        let Some((number, removed)) = session.breakpoints().remove(&self.id) else {
            let id: String = self.id.chars().take(40).collect();
            let message = format!("there is no breakpoint {id:?}: breakpoint_list names those that stand");
            return Err(Failure::argument("id", message));
        };
        keep(session).inspect_err(|_| session.breakpoints().put_back(number, removed))?;
        Ok(Reply::default().with("removed", self.id).with("breakpoints", session.breakpoints().count()))
    }
}

/// `breakpoint_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct BreakpointList(Nothing);

impl ToolArguments for BreakpointList {
    const NAME: &'static str = "breakpoint_list";
    const TITLE: &'static str = "List the breakpoints";
    const TEXT: &'static str = "The breakpoints that stand, oldest first.";
    const EFFECT: Effect = Effect::Reads;
    const RESULT: &'static [&'static [Field]] = &[&[("breakpoints", Kind::Objects, "")]];

    fn call(self, session: &Session, _: &Call<'_>) -> Result<Reply, Failure> {
        Ok(Reply::default().with("breakpoints", rows(session)))
    }
}

fn rows(session: &Session) -> Vec<Value> {
    let standing: Vec<(u64, Breakpoint)> =
        session.breakpoints().all().map(|(number, breakpoint)| (number, breakpoint.clone())).collect();
    standing.iter().map(|(number, breakpoint)| row(session, *number, breakpoint)).collect()
}

/// The name of the note that keeps them for a server after this one.
const NOTE: &str = "breakpoints";

/// Keeps those that stand.
fn keep(session: &Session) -> Result<(), Failure> {
    session.keep_note(NOTE, &standing_note(session))
}

fn standing_note(session: &Session) -> Value {
    let last = session.breakpoints().last;
    json!({"last": last, "standing": rows(session)})
}

/// Brings back those that a server before this one has kept. One whose machine is no more is left out. With `beyond`,
/// what was kept may not be all: no number up to that one is given again, nor by a server after this one.
///
/// # Errors
/// `beyond` can't be written down.
pub(crate) fn restore(session: &Session, beyond: Option<u64>) -> Result<(), LabError> {
    let note = session.note(NOTE).unwrap_or_default();
    let last = note.get("last").and_then(Value::as_u64).unwrap_or(0);
    let kept = note.get("standing").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let standing = kept.iter().filter_map(|row| restored(session, row)).collect();
    session.breakpoints().restore(last.max(beyond.unwrap_or(0)), standing);
    if beyond.is_some() { session.write_note(NOTE, &standing_note(session)) } else { Ok(()) }
}

fn restored(session: &Session, row: &Value) -> Option<(u64, Breakpoint)> {
    let mut fields = row.as_object()?.clone();
    fields.retain(|_, value| !value.is_null());
    let number = number(fields.remove("id")?.as_str()?)?;
    let machine = match fields.remove("machine") {
        Some(name) => Some(session.machine(Some(name.as_str()?)).ok()?),
        None => None,
    };
    let condition = arguments::read::<StopArgument>(fields).ok()?.condition("").ok()?;
    Some((number, Breakpoint { condition, machine }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_given_once_and_spelled_one_way() {
        let on =
            |machine: Option<u64>| Breakpoint { condition: Condition::LevelChange, machine: machine.map(MachineId) };
        let mut breakpoints = Breakpoints::default();
        assert_eq!(breakpoints.add(on(None)).unwrap(), 1);
        assert_eq!(breakpoints.add(on(Some(4))).unwrap(), 2);
        for name in ["b0", "b02", "2", "b", "B2", "b+2", "b99999999999999999999"] {
            assert!(breakpoints.remove(name).is_none(), "{name}");
        }
        assert!(breakpoints.remove("b2").is_some() && breakpoints.remove("b2").is_none());
        assert_eq!(breakpoints.add(on(Some(5))).unwrap(), 3);
        let of = |machine| breakpoints.of_machine(MachineId(machine)).iter().map(|(id, _)| *id).collect::<Vec<_>>();
        assert_eq!((of(4), of(5)), (vec![1], vec![1, 3]));
        while breakpoints.count() < BREAKPOINTS_MAX {
            breakpoints.add(on(None)).unwrap();
        }
        assert_eq!(breakpoints.add(on(None)).unwrap_err().code, Code::LimitExceeded);
        let mut after = Breakpoints::default();
        after.restore(1 << 50, BTreeMap::from([(7, on(None))]));
        assert_eq!(after.add(on(None)).unwrap(), (1 << 50) + 1);
    }
}
