use lab::{Cancel, Control, Lifecycle, MachineId, Progress, RunReport, Snapshot, Stop, Urgency};
use serde_json::{Map, Value, json};
use wire::{Ended, Frame, Message, StopReason};

use crate::failure::key_names;
use crate::layers::{self, Layer, Want};
use crate::schema::{Field, Kind};
use crate::session::Session;

/// What a tool gives: the fields of its result, and blobs that stand beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reply {
    pub(crate) fields: Map<String, Value>,
    pub(crate) blobs: Vec<Blob>,
}

/// Bytes that a result hands out beside its fields.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Blob {
    pub(crate) uri: String,
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// A tool call under way.
pub(crate) struct Call<'a> {
    pub(crate) id: u64,
    pub(crate) cancel: &'a Cancel,
    pub(crate) progress: &'a dyn Fn(Progress),
}

impl Call<'_> {
    /// How its work is to be run.
    pub(crate) fn control(&self, urgency: Urgency) -> Control<'_> {
        Control { cancel: Some(self.cancel), progress: Some(self.progress), urgency, ..Control::default() }
    }

    /// Notes which machine it works on, so that ending that machine ends it too.
    pub(crate) fn works_on(&self, session: &Session, machine: MachineId) {
        session.call_works_on(self.id, machine);
    }
}

impl Reply {
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn extend(mut self, fields: Map<String, Value>) -> Self {
        self.fields.extend(fields);
        self
    }
}

/// Where a machine stands; every result about a machine has these.
pub(crate) const STANDING: &[Field] = &[
    ("machine", Kind::Text, ""),
    ("game", Kind::Text, ""),
    ("boundary", Kind::Integer, "How many inputs lie behind it."),
    ("revision", Kind::Integer, "Give this in the next call that changes the machine."),
    ("state", Kind::Text, "idle, waiting, running, ended, aborted or failed."),
    ("queued", Kind::Integer, ""),
    ("ended", Kind::Object, ""),
    ("failure", Kind::Text, ""),
];

/// What the game waits for.
const PENDING: &[Field] = &[
    ("kind", Kind::Text, "A word of run's expect."),
    ("prompt", Kind::Text, ""),
    ("goal", Kind::Text, "At a position: what it is for."),
    ("answers", Kind::Text, "One character each: what a choice takes, suggested items, keys that move."),
    ("default", Kind::Text, ""),
    ("capacity", Kind::Integer, "Bytes of text it takes."),
    ("typed", Kind::Text, ""),
    ("stage", Kind::Text, ""),
];

/// The status lines as fields.
const STATUS: &[Field] = &[
    ("title", Kind::Text, ""),
    ("strength", Kind::Integer, ""),
    ("strength_text", Kind::Text, "As in 18/50."),
    ("dexterity", Kind::Integer, ""),
    ("constitution", Kind::Integer, ""),
    ("intelligence", Kind::Integer, ""),
    ("wisdom", Kind::Integer, ""),
    ("charisma", Kind::Integer, ""),
    ("alignment", Kind::Text, ""),
    ("score", Kind::Integer, ""),
    ("level_text", Kind::Text, "As in Dlvl:1."),
    ("depth", Kind::Integer, ""),
    ("gold", Kind::Integer, ""),
    ("hp", Kind::Integer, ""),
    ("hp_max", Kind::Integer, ""),
    ("energy", Kind::Integer, ""),
    ("energy_max", Kind::Integer, ""),
    ("armor_class", Kind::Integer, "Less is better."),
    ("experience_level", Kind::Integer, ""),
    ("hit_dice", Kind::Integer, ""),
    ("experience", Kind::Integer, ""),
    ("turn", Kind::Integer, ""),
    ("hunger", Kind::Text, ""),
    ("burden", Kind::Text, ""),
    ("conditions", Kind::Texts, ""),
];

/// The layers of a frame.
pub(crate) const LAYERS: &[Field] = &[
    ("turn", Kind::Integer, ""),
    ("pending", Kind::Record(PENDING), "What the game waits for; absent when it is over."),
    ("screen", Kind::Text, "Rows from 0, without trailing blanks."),
    ("cursor", Kind::Object, ""),
    ("map", Kind::Object, ""),
    ("cells", Kind::Object, ""),
    ("status", Kind::Record(STATUS), "Fields that aren't shown are absent."),
    ("messages", Kind::Objects, ""),
    ("messages_omitted", Kind::Integer, "Older ones left out; observe with after_message_id gives them."),
    ("messages_more", Kind::Flag, "There are newer ones; ask again after the last id."),
    ("messages_truncated", Kind::Flag, "Older ones are no longer kept."),
    ("inventory", Kind::Objects, ""),
    ("inventory_stale", Kind::Flag, "A command goes on; this is as the game last told it."),
    ("menu", Kind::Object, ""),
    ("window", Kind::Object, ""),
    ("changes", Kind::Object, ""),
];

/// What a call that sends keys tells.
pub(crate) const REPORT: &[Field] = &[
    ("sent", Kind::Integer, "Keys of the call that were sent."),
    ("unsent", Kind::Integer, "Keys of the call that were not."),
    ("unsent_keys", Kind::Texts, "The first of those."),
    ("dismissed", Kind::Integer, "ENTERs sent beside them, for on_more dismiss."),
    ("windows", Kind::Objects, "The lines of each text that was closed, the newest 200 lines."),
    ("window_lines_omitted", Kind::Integer, "Older ones."),
    ("stop", Kind::Text, "done, not_accepted, ended, turns, breakpoint, input_limit, cancelled, no_room or lost."),
    ("turns", Kind::Integer, "Turns that passed."),
    ("breakpoint", Kind::Object, "The id, or the index in stop, and what happened."),
    ("lost", Kind::Object, "The key that killed its workers; it was not pressed."),
    ("workers_replaced", Kind::Integer, ""),
];

/// What a call tells whose work goes on.
pub(crate) const RUNNING: &[Field] = &[
    ("running", Kind::Flag, "The work goes on; observe with this operation gives its result."),
    ("operation", Kind::Text, ""),
    NOT_KEPT,
];

/// What a call tells beside its result while there are forks that a restart would lose.
pub(crate) const NOT_KEPT: Field = ("not_kept", Kind::Text, "Forks that could not be written down, and why.");

/// How many messages an answer holds that didn't ask for any.
const MESSAGES_MAX: usize = 60;

/// Where a machine stands and what it shows, with these messages.
pub(crate) fn view(session: &Session, snapshot: &Snapshot, want: &Want, messages: &[Message]) -> Reply {
    session.keep_frame(snapshot);
    let shown = layers::show(&snapshot.frame, &session.named(snapshot.machine, want));
    let mut reply = Reply::default().extend(standing(session, snapshot)).extend(shown);
    if let Some(layer) = layers::waited_for(&snapshot.frame).filter(|layer| !want.has(*layer)) {
        // What is waited for is shown even unasked, or the next call would answer what nobody has seen.
        reply = reply.extend(layers::show(&snapshot.frame, &Want::of(Some(vec![layer]))));
    }
    if is_quit(snapshot) {
        // Its last frame is kept as it was; the machine waits for nothing any more.
        reply.fields.remove("pending");
    }
    if want.has(Layer::Messages) || want.has(Layer::Changes) {
        let omitted = messages.len().saturating_sub(MESSAGES_MAX);
        let newest = messages.get(omitted..).unwrap_or_default();
        reply = reply.with("messages", layers::messages(newest));
        if omitted > 0 {
            reply = reply.with("messages_omitted", omitted);
        }
    }
    reply
}

/// Whether a machine's game was quit while it waited for a key.
pub(crate) fn is_quit(snapshot: &Snapshot) -> bool {
    snapshot.lifecycle == Lifecycle::Aborted
}

/// Whether nothing can be pressed on a machine any more.
pub(crate) fn is_over(snapshot: &Snapshot) -> bool {
    matches!(snapshot.lifecycle, Lifecycle::Ended | Lifecycle::Aborted)
}

/// Where a machine stands.
pub(crate) fn standing(session: &Session, snapshot: &Snapshot) -> Map<String, Value> {
    let value = json!({
        "machine": session.name_of(snapshot.machine),
        "game": snapshot.game.as_str(),
        "boundary": snapshot.boundary.0,
        "revision": snapshot.revision.0,
        "state": snapshot.lifecycle.word(),
        "queued": (snapshot.queued > 0).then_some(snapshot.queued),
        "ended": snapshot.ended.as_deref().map(ended),
        "failure": snapshot.failure.as_deref(),
    });
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// How a game ended.
pub(crate) fn ended(ended: &Ended) -> Value {
    json!({"kind": ended.kind, "how": ended.how, "text": ended.text, "xlog": ended.xlog})
}

/// A machine as it is once the call that it was seen by lets go of it.
pub(crate) fn settled(snapshot: &Snapshot) -> Snapshot {
    let mut snapshot = snapshot.clone();
    if matches!(snapshot.lifecycle, Lifecycle::Waiting | Lifecycle::Running) {
        snapshot.lifecycle = if snapshot.ended.is_some() { Lifecycle::Ended } else { Lifecycle::Idle };
    }
    snapshot
}

/// How many keys that were not sent are named.
const UNSENT_NAMED_MAX: usize = 64;

/// What a call that sends keys has done, and what the machine shows now.
pub(crate) fn report(session: &Session, run: &RunReport, keys: &[wire::Key], want: &Want) -> Reply {
    let unsent = keys.get(run.keys_used..).unwrap_or_default();
    let named = unsent.get(..UNSENT_NAMED_MAX).unwrap_or(unsent);
    let dismissed = run.inputs.len().saturating_sub(run.keys_used);
    let lost = match &run.stop {
        Stop::Lost { key, reason } => json!({"key": key.name(), "reason": reason}),
        _ => Value::Null,
    };
    let mut reply = Reply::default()
        .with("sent", run.keys_used)
        .with("unsent", unsent.len())
        .with("stop", stop_word(&run.stop))
        .with("turns", run.turns)
        .with("lost", lost)
        .extend(view(session, &settled(&run.snapshot), want, &run.messages).fields);
    if !named.is_empty() {
        reply = reply.with("unsent_keys", key_names(named));
    }
    if dismissed > 0 {
        reply = reply.with("dismissed", dismissed);
    }
    if !run.texts.windows.is_empty() {
        let windows = run.texts.windows.iter().map(|lines| json!({"lines": lines}));
        reply = reply.with("windows", windows.collect::<Vec<Value>>());
    }
    if run.texts.omitted > 0 {
        reply = reply.with("window_lines_omitted", run.texts.omitted);
    }
    if run.messages_truncated {
        reply = reply.with("messages_truncated", true);
    }
    if run.workers_lost > 0 {
        reply = reply.with("workers_replaced", run.workers_lost);
    }
    reply
}

/// Leaves out the text that was open before the call: the call before has shown it.
pub(crate) fn drop_read(run: &mut RunReport, before: &Frame) {
    let Some(open) = &before.window else { return };
    // Once for each of its pages that was turned in a call of its own.
    while run.texts.windows.front().is_some_and(|lines| open.lines.ends_with(lines)) {
        run.texts.windows.pop_front();
        run.texts.omitted = 0;
    }
}

/// The word for why a call came back.
pub(crate) fn stop_word(stop: &Stop) -> &'static str {
    match stop {
        Stop::Batch(StopReason::Done) => "done",
        Stop::Batch(StopReason::NotAccepted) => "not_accepted",
        Stop::Batch(StopReason::Ended) => "ended",
        Stop::Batch(StopReason::Turns) => "turns",
        Stop::Batch(StopReason::InputLimit) => "input_limit",
        Stop::Batch(StopReason::Policy) => "policy",
        Stop::Cancelled => "cancelled",
        Stop::Condition => "breakpoint",
        Stop::NoRoom => "no_room",
        Stop::Lost { .. } => "lost",
    }
}
