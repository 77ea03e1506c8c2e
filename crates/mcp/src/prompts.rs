use lab::{MachineId, RunReport, Snapshot, Stop, Urgency};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::{Cursor, Frame, Key, OnMore, PendingKind, Segment, StopReason};

use crate::answer::{self, Answer};
use crate::batch::{OnMoreArgument, on_more};
use crate::failure::{Code, Failure};
use crate::layers::{self, Layer};
use crate::menu::{self, Selection};
use crate::play::{PLAYED, guarded, keys_of, send, want_since};
use crate::reply::{self, Call, Reply};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

const ANSWERED: &[Field] = &[
    ("answered", Kind::Flag, "False when the prompt is still open: look at stop and screen."),
    ("keys", Kind::Texts, ""),
    ("read", Kind::Object, "The text that acknowledge closed: its lines on all pages, and the keys it took."),
    ("interrupted", Kind::Object, "Why the rest of the answer was refused once a part of it had been sent."),
];

/// An entry to pick.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pick {
    /// The entry's id in the menu layer.
    entry_id: u64,
    /// How many of it; all without it.
    #[schemars(range(min = 1, max = 999999))]
    count: Option<u64>,
}

/// `select_menu`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelectMenu {
    /// "main" (default) or a fork's id.
    machine: Option<String>,
    /// The newest that you know of the machine.
    revision: u64,
    /// The entries to be picked in the end, from any page; others get unpicked. Empty picks none, and closes a menu that
    /// is only to be read.
    selections: Option<Vec<Pick>>,
    /// True leaves the menu with ESC.
    cancel: Option<bool>,
    /// As in run, for what comes up afterwards.
    on_more: Option<OnMoreArgument>,
    /// What to show, as in observe.
    #[schemars(with = "Option<Vec<String>>")]
    layers: Option<Vec<Layer>>,
}

impl ToolArguments for SelectMenu {
    const NAME: &'static str = "select_menu";
    const TITLE: &'static str = "Answer a menu";
    const TEXT: &'static str = "Answers the menu that is open, by the ids of its entries (see the menu layer), on all \
        pages, with counts. Give exactly one of selections and cancel. Everything is checked first: an entry that can't \
        be picked, one given twice, two in a menu that takes one (INVALID_SELECTION), or no menu at all (WRONG_PENDING) \
        changes nothing.";
    const EFFECT: Effect = Effect::Plays;
    const RESULT: &'static [&'static [Field]] = &[ANSWERED, PLAYED[0], PLAYED[1], PLAYED[2], PLAYED[3]];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let picks = match (self.selections, self.cancel) {
            (Some(picks), None | Some(false)) => Some(picks),
            (None, Some(true)) => None,
            _ => return Err(Failure::argument("selections", "give exactly one of `selections` and `cancel: true`")),
        };
        let is_left = picks.is_none();
        let machine = session.machine(self.machine.as_deref())?;
        let snapshot = session.ready(machine, self.revision)?;
        let keys = plan_menu(&snapshot.frame, picks).map_err(|failure| explain(session, &snapshot, failure))?;
        let segments = keys.into_iter().map(|key| Segment { keys: vec![key], expect: Some(PendingKind::Menu) });
        let batch = guarded(segments.collect(), on_more(self.on_more));
        let want = want_since(session, self.layers, machine, self.revision);
        let run = send(session, call, machine, self.revision, &batch, Urgency::Interactive)?;
        // ESC may only have taken a count back. The same title on another menu is another menu.
        let entries = |frame: &Frame| frame.menu.as_ref().map(|menu| (menu.title.clone(), menu.entries.len()));
        let open = is_left
            && run.snapshot.pending_kind() == Some(PendingKind::Menu)
            && entries(&run.snapshot.frame) == entries(&snapshot.frame);
        let keys = keys_of(&batch);
        Ok(told(reply::report(session, &run, &keys, &want), &keys, !open && run.keys_used == batch.len()))
    }
}

fn plan_menu(frame: &Frame, picks: Option<Vec<Pick>>) -> Result<Vec<Key>, Failure> {
    let pending = frame.pending.as_ref().filter(|pending| pending.kind == PendingKind::Menu);
    let (Some(pending), Some(open)) = (pending, &frame.menu) else {
        let waits = frame.pending.as_ref().map_or("nothing", |pending| pending.kind.word());
        return Err(Failure::new(
            Code::WrongPending,
            format!("no menu is open: the game waits for: {waits}; {}", answer::what_answers(frame)),
        ));
    };
    let Some(picks) = picks else {
        return Ok(answer::escape(frame, PendingKind::Menu));
    };
    if picks.len() > open.entries.len() {
        let message = format!("{} selections for {} entries", picks.len(), open.entries.len());
        return Err(Failure::new(Code::InvalidSelection, message));
    }
    let selections: Vec<Selection> =
        picks.iter().map(|pick| Selection { entry_id: pick.entry_id, count: pick.count }).collect();
    menu::plan(open, &selections, !pending.typed.is_empty())
}

fn told(reply: Reply, keys: &[Key], answered: bool) -> Reply {
    reply.with("answered", answered).with("keys", crate::failure::key_names(keys))
}

/// Adds to a refusal what the game waits for.
fn explain(session: &Session, snapshot: &Snapshot, failure: Failure) -> Failure {
    let failure = failure.at(&session.name_of(snapshot.machine), snapshot);
    failure.with("pending", layers::pending_of(&snapshot.frame))
}

/// A place on the map.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    /// Row of the screen, 1 to 21.
    #[schemars(range(min = 1, max = 21))]
    row: u8,
    /// Column of the screen, 0 to 78.
    #[schemars(range(min = 0, max = 78))]
    column: u8,
}

/// `respond`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Respond {
    /// "main" (default) or a fork's id.
    machine: Option<String>,
    /// The newest that you know of the machine.
    revision: u64,
    /// At a command: the command's key, as in "s" or "CTRL_D".
    command: Option<String>,
    /// At a command or an extended command: its name, as in "pray".
    extended: Option<String>,
    /// At a direction: north, northeast, east, southeast, south, southwest, west, northwest, up, down, self, or the key.
    direction: Option<String>,
    /// At an item: its letter, or ? * - $.
    item: Option<String>,
    /// At a choice: one of the answers, as in "y".
    choice: Option<String>,
    /// At a text prompt: the whole line. ENTER follows by itself.
    text: Option<String>,
    /// At a position: where on the screen. The cursor goes there and picks it.
    position: Option<Place>,
    /// True at a --More--, a text, or a menu with nothing to pick: it has been read.
    acknowledge: Option<bool>,
    /// True at any prompt: ESC.
    cancel: Option<bool>,
    /// With command or item, or choice "#": how often, or how many.
    #[schemars(range(min = 1, max = 32767))]
    count: Option<u64>,
    /// As in run, for what comes up afterwards.
    on_more: Option<OnMoreArgument>,
    /// What to show, as in observe.
    #[schemars(with = "Option<Vec<String>>")]
    layers: Option<Vec<Layer>>,
}

/// How many pages of a text are turned at most.
const PAGES_MAX: usize = 200;

impl ToolArguments for Respond {
    const NAME: &'static str = "respond";
    const TITLE: &'static str = "Answer a prompt";
    const TEXT: &'static str = "Answers what the game waits for (pending.kind) by its meaning: give exactly one answer \
        (count goes with command, item and choice; menus have select_menu). An answer for another kind of prompt is refused \
        (WRONG_PENDING), one that the prompt doesn't take too (INVALID_RESPONSE), and nothing happens. acknowledge goes \
        past one --More--, closes a menu with nothing to pick, or closes a whole text at once: window.lines has the \
        lines of all its pages before (window.whole), and read tells how many were closed. Where whole is false it goes \
        to the next page only.";
    const EFFECT: Effect = Effect::Plays;
    const RESULT: &'static [&'static [Field]] = &[ANSWERED, PLAYED[0], PLAYED[1], PLAYED[2], PLAYED[3]];

    fn call(mut self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let answer = self.answer()?;
        let machine = session.machine(self.machine.as_deref())?;
        let snapshot = session.ready(machine, self.revision)?;
        let planned = answer::plan(&snapshot.frame, &answer, snapshot.frame.number_pad);
        let planned = planned.map_err(|failure| explain(session, &snapshot, failure))?;
        let want = want_since(session, self.layers.take(), machine, self.revision);
        let mut done = Done {
            run: None,
            revision: self.revision,
            on_more: on_more(self.on_more),
            keys: Vec::new(),
            interrupted: None,
        };
        if !planned.is_empty() {
            done.send(session, call, machine, &planned)?;
        }
        match answer {
            Answer::Position(target) => done.pick_place(session, call, &snapshot, target),
            Answer::Acknowledge => done.turn_pages(session, call, &snapshot),
            _ => {}
        }
        let is_read = answer == Answer::Acknowledge;
        let Done { run, keys, interrupted, .. } = done;
        let mut run = run.ok_or_else(|| Failure::new(Code::InvalidResponse, "there was nothing to send"))?;
        reply::drop_read(&mut run, &snapshot.frame);
        let answered = run.keys_used == keys.len() && !still_asked(&snapshot.frame, &run);
        let reply = told(reply::report(session, &run, &keys, &want), &keys, answered);
        let read = is_read.then(|| snapshot.frame.window.as_ref()).flatten();
        let read = read.map(|window| json!({"lines": window.lines.len(), "keys": keys.len()}));
        Ok(reply.with("read", read).with("interrupted", interrupted.map_or(Value::Null, Failure::into_value)))
    }
}

impl Respond {
    /// The one answer that is given.
    fn answer(&mut self) -> Result<Answer, Failure> {
        let count = self.count;
        let flag = |given: Option<bool>, answer: Answer| given.unwrap_or(false).then_some(answer);
        let place = |place: Place| Answer::Position(Cursor { row: place.row, column: place.column });
        let takes_count = self.command.is_some() || self.item.is_some() || self.choice.is_some();
        let given: Vec<Answer> = [
            self.command.take().map(|key| Answer::Command(key, count)),
            self.extended.take().map(Answer::Extended),
            self.direction.take().map(Answer::Direction),
            self.item.take().map(|letter| Answer::Item(letter, count)),
            self.choice.take().map(|letter| Answer::Choice(letter, count)),
            self.text.take().map(Answer::Text),
            self.position.take().map(place),
            flag(self.acknowledge, Answer::Acknowledge),
            flag(self.cancel, Answer::Cancel),
        ]
        .into_iter()
        .flatten()
        .collect();
        match <[Answer; 1]>::try_from(given) {
            Ok([_]) if count.is_some() && !takes_count => {
                Err(Failure::argument("count", "`count` goes with `command`, `item` or `choice` only"))
            }
            Ok([answer]) => Ok(answer),
            Err(given) => Err(Failure::argument(
                "text",
                format!(
                    "{} answers are given: give exactly one of command, extended, direction, item, choice, text, \
                     position, acknowledge and cancel",
                    given.len()
                ),
            )),
        }
    }
}

/// What the game says before it asks for an item again.
const NO_SUCH_ITEM: [&str; 4] = [
    "You don't have that",
    "No count allowed with this command",
    "You can only throw one item",
    "You don't have that many",
];

/// Whether the game has read an answer and still asks what it asked before.
fn still_asked(before: &Frame, run: &RunReport) -> bool {
    let after = &run.snapshot.frame;
    let (Some(asked), Some(asks)) = (&before.pending, &after.pending) else {
        return false;
    };
    if asked.kind == PendingKind::Item && asks.kind == PendingKind::More {
        let said = run.messages.last().map_or("", |message| message.text.as_str());
        return NO_SUCH_ITEM.iter().any(|text| said.starts_with(text));
    }
    if (asked.kind, &asked.prompt) != (asks.kind, &asks.prompt) {
        return false;
    }
    match asked.kind {
        PendingKind::Item | PendingKind::Text | PendingKind::Direction => true,
        // With an earlier message in its place on the screen, a question takes any key for bringing it back.
        PendingKind::Choice => {
            let beginning: String = asked.prompt.chars().take(wire::COLUMNS / 2).collect();
            run.messages.is_empty() && !before.screen.row(0).starts_with(&beginning)
        }
        _ => false,
    }
}

/// What was sent so far, in as many steps as it took.
struct Done {
    run: Option<RunReport>,
    revision: u64,
    on_more: OnMore,
    keys: Vec<Key>,
    /// Why a later step was refused, where one was: what was sent before stays sent.
    interrupted: Option<Failure>,
}

impl Done {
    fn send(
        &mut self,
        session: &Session,
        call: &Call<'_>,
        machine: MachineId,
        segments: &[Segment],
    ) -> Result<(), Failure> {
        let batch = guarded(segments.to_vec(), self.on_more);
        self.keys.extend(keys_of(&batch));
        let mut run = send(session, call, machine, self.revision, &batch, Urgency::Interactive)?;
        self.revision = run.snapshot.revision.0;
        if let Some(before) = self.run.take() {
            run.from = before.from;
            run.inputs = [before.inputs, run.inputs].concat();
            run.messages = [before.messages, run.messages].concat();
            let later = std::mem::replace(&mut run.texts, before.texts);
            run.texts.extend(later);
            run.keys_used += before.keys_used;
            run.turns += before.turns;
            run.workers_lost += before.workers_lost;
            run.messages_truncated |= before.messages_truncated;
        }
        self.run = Some(run);
        Ok(())
    }

    /// A further step. Gives whether there may be more.
    fn follow(&mut self, session: &Session, call: &Call<'_>, machine: MachineId, step: Segment) -> bool {
        let sent = self.send(session, call, machine, &[step]);
        if let Err(failure) = sent {
            self.stop_short();
            self.interrupted = Some(failure);
        }
        self.interrupted.is_none()
    }

    fn stop_short(&mut self) {
        if let Some(run) = &mut self.run {
            run.stop = Stop::Batch(StopReason::NotAccepted);
        }
    }

    fn frame<'a>(&'a self, snapshot: &'a Snapshot) -> &'a Frame {
        self.run.as_ref().map_or(&snapshot.frame, |run| &run.snapshot.frame)
    }

    /// Picks the place, once the cursor is there.
    fn pick_place(&mut self, session: &Session, call: &Call<'_>, snapshot: &Snapshot, target: Cursor) {
        let frame = self.frame(snapshot);
        let waits = frame.pending.as_ref().is_some_and(|pending| pending.kind == PendingKind::Position);
        if waits && frame.screen.cursor == target {
            self.follow(session, call, snapshot.machine, step(b'.', PendingKind::Position));
        } else {
            // Something came between: the last key stays unsent, and the report says so.
            self.keys.push(Key(b'.'));
            self.stop_short();
        }
    }

    /// Turns the pages of a text until another thing is waited for.
    fn turn_pages(&mut self, session: &Session, call: &Call<'_>, snapshot: &Snapshot) {
        // Pages are turned only where all their lines could be read before.
        let text = snapshot.frame.window.clone().filter(|window| window.whole);
        for _ in 0..PAGES_MAX {
            let frame = self.frame(snapshot);
            let open = frame.pending.as_ref().is_some_and(|pending| pending.kind == PendingKind::Window);
            let same = text.is_some() && frame.window == text;
            if !open || !same || call.cancel.is_cancelled() {
                break;
            }
            if !self.follow(session, call, snapshot.machine, step(b'\r', PendingKind::Window)) {
                break;
            }
        }
    }
}

fn step(key: u8, kind: PendingKind) -> Segment {
    Segment { keys: vec![Key(key)], expect: Some(kind) }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::arguments;

    fn answer(given: Value) -> Result<Answer, Failure> {
        let Value::Object(mut object) = given else { panic!("no object") };
        object.insert("revision".to_owned(), json!(1));
        arguments::read::<Respond>(object)?.answer()
    }

    #[test]
    fn one_answer_is_given_and_a_count_only_where_one_is_taken() {
        let text = |text: &str| text.to_owned();
        for (given, expected) in [
            (json!({"command": "s", "count": 20}), Answer::Command(text("s"), Some(20))),
            (json!({"command": "s"}), Answer::Command(text("s"), None)),
            (json!({"item": "a", "count": 2}), Answer::Item(text("a"), Some(2))),
            (json!({"choice": "#", "count": 3}), Answer::Choice(text("#"), Some(3))),
            (json!({"extended": "pray"}), Answer::Extended(text("pray"))),
            (json!({"direction": "north"}), Answer::Direction(text("north"))),
            (json!({"text": ""}), Answer::Text(String::new())),
            (json!({"position": {"row": 3, "column": 4}}), Answer::Position(Cursor { row: 3, column: 4 })),
            (json!({"acknowledge": true, "cancel": false}), Answer::Acknowledge),
            (json!({"cancel": true}), Answer::Cancel),
        ] {
            assert_eq!(answer(given.clone()).unwrap(), expected, "{given}");
        }
        for (given, field) in [
            (json!({"text": "x", "count": 2}), "count"),
            (json!({"cancel": true, "count": 2}), "count"),
            (json!({"direction": "north", "count": 2}), "count"),
            (json!({}), "text"),
            (json!({"cancel": false}), "text"),
            (json!({"count": 2}), "text"),
            (json!({"text": "x", "cancel": true}), "text"),
            (json!({"item": "a", "choice": "y"}), "text"),
        ] {
            let failure = answer(given.clone()).unwrap_err();
            assert_eq!(failure.code, Code::InvalidArgument, "{given}");
            assert_eq!(failure.details["field"], json!(field), "{given}: {}", failure.message);
        }
    }
}
