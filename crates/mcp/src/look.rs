use std::ops::{ControlFlow, RangeInclusive};
use std::time::Duration;

use lab::{Boundary, Revision, Snapshot, Urgency};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::Frame;

use crate::arguments::{size_within, within};
use crate::failure::{Failure, key_names};
use crate::layers::{self, LIMIT_DEFAULT, LIMIT_MAX, Layer, PAGE_BYTES_MAX, Rectangle, Want};
use crate::reply::{self, Call, LAYERS, RUNNING, Reply, STANDING};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

/// `observe`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Observe {
    /// "main" (default) or a fork's id.
    machine: Option<String>,
    /// What to show; by default screen, status, messages, menu, window, pending.
    layers: Option<Vec<Layer>>,
    /// Give the messages after this id, oldest first, instead of those since the last boundary.
    #[schemars(range(min = 0))]
    after_message_id: Option<u64>,
    /// For `changes`: the revision to compare with. With `wait_ms`: wait until the machine is past it.
    #[schemars(range(min = 0))]
    since_revision: Option<u64>,
    /// Wait up to so many milliseconds for a change, or for the operation.
    #[schemars(range(min = 0, max = 60000))]
    wait_ms: Option<u64>,
    /// The id of an operation whose result is wanted.
    operation: Option<String>,
    /// True asks that operation to stop; what it has done stays.
    cancel: Option<bool>,
    /// For `cells`: only this part of the terminal.
    rectangle: Option<Rectangle>,
    /// For cells, menu, window and messages: how many items at most.
    #[schemars(range(min = 1, max = 2000))]
    limit: Option<u64>,
    /// For cells, menu and window: how many items to pass over.
    #[schemars(range(min = 0, max = 1000000))]
    offset: Option<u64>,
}

const OPERATION: &[Field] = &[
    ("operation", Kind::Object, "With its result once it is there."),
    ("unchanged", Kind::Flag, "wait_ms passed without a change."),
];

/// How long `observe` waits at most.
const WAIT_MS_MAX: u64 = 60_000;

impl ToolArguments for Observe {
    const NAME: &'static str = "observe";
    const TITLE: &'static str = "Look at a machine";
    const TEXT: &'static str = "Shows a machine as it is, all from one boundary. Changes nothing. Layers: screen (rows \
        from 0; the map is on rows 1 to 21), map, cells (characters, colours, glyphs and what they show, of a rectangle), status, \
        messages, inventory, menu (entries of all pages, with the ids that select_menu takes), window (all lines of an \
        open text), changes (rows and fields that differ since since_revision). pending is always there. wait_ms waits \
        for a change past since_revision, or for an operation; cancel stops one.";
    const EFFECT: Effect = Effect::Reads;
    const RESULT: &'static [&'static [Field]] = &[STANDING, LAYERS, OPERATION];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let wait = Duration::from_millis(within("wait_ms", self.wait_ms.unwrap_or(0), 0, WAIT_MS_MAX)?);
        if let Some(rectangle) = &self.rectangle {
            rectangle.check().map_err(|failure| Failure {
                message: format!("{}; top is at most bottom, and left at most right", failure.message),
                ..failure
            })?;
        }
        let limit = size_within("limit", self.limit, LIMIT_DEFAULT, 1, LIMIT_MAX)?;
        let offset = size_within("offset", self.offset, 0, 0, 1_000_000)?;
        let operation = self.operation.as_deref();
        match (self.cancel, operation) {
            (Some(true), Some(name)) => session.operations.cancel(name)?,
            (Some(_), None) => return Err(Failure::argument("cancel", "`cancel` goes with `operation`")),
            _ => {}
        }
        let operation = operation.map(|name| session.operations.look(name, wait, || call.cancel.is_cancelled()));
        let operation = operation.transpose()?;
        let mut machine = match (&operation, session.machine(self.machine.as_deref())) {
            (_, Ok(machine)) => machine,
            // An operation's result can be had also where there is no machine to be seen beside it.
            (Some((state, result)), Err(_)) if self.machine.is_none() => {
                let mut reply = Reply::default().with("operation", state.clone());
                reply.blobs = result.as_ref().map(|result| result.blobs.clone()).unwrap_or_default();
                return Ok(reply);
            }
            (_, Err(failure)) => return Err(failure),
        };
        let mut unchanged = false;
        let snapshot = match self.since_revision {
            Some(since) if operation.is_none() && !wait.is_zero() => {
                let changed = wait_past(session, call, machine, Revision(since), wait);
                let before = std::mem::replace(&mut machine, session.machine(self.machine.as_deref())?);
                if machine == before {
                    let changed = changed?;
                    unchanged = changed.is_none();
                    changed.map_or_else(|| session.snapshot(machine), Ok)?
                } else {
                    // Main is another game by now.
                    session.snapshot(machine)?
                }
            }
            _ => session.snapshot(machine)?,
        };
        let want = Want {
            layers: self.layers.clone().unwrap_or_else(|| Want::of(None).layers),
            rectangle: self.rectangle,
            since: self.since_revision.map(|since| (since, session.kept_frame(machine, since))),
            offset,
            limit,
            names: None,
        };
        if want.has(Layer::Changes) && want.since.is_none() {
            return Err(Failure::argument("since_revision", "layer `changes` needs `since_revision`"));
        }
        let mut reply = match self.after_message_id {
            Some(after) => with_messages(session, &snapshot, &want, after)?,
            None => reply::view(session, &snapshot, &want, &snapshot.frame.messages),
        };
        if unchanged {
            reply = reply.with("unchanged", true);
        }
        if let Some((state, result)) = operation {
            reply = reply.with("operation", state);
            reply.blobs = result.map(|result| result.blobs).unwrap_or_default();
        }
        Ok(reply)
    }
}

/// Waits in slices, so that a cancelled call ends soon.
fn wait_past(
    session: &Session,
    call: &Call<'_>,
    machine: lab::MachineId,
    since: Revision,
    wait: Duration,
) -> Result<Option<Snapshot>, Failure> {
    let slice = Duration::from_millis(100);
    let mut left = wait;
    loop {
        let changed = session.lab.wait(machine, since, left.min(slice));
        let changed = changed.map_err(|error| session.failure(error, None))?;
        left = left.saturating_sub(slice);
        if changed.is_some() || left.is_zero() || call.cancel.is_cancelled() {
            return Ok(changed);
        }
    }
}

/// The view with a page of the message log instead of the last messages.
fn with_messages(session: &Session, snapshot: &Snapshot, want: &Want, after: u64) -> Result<Reply, Failure> {
    let page = session.lab.messages_after(snapshot.machine, after);
    let page = page.map_err(|error| session.failure(error, None))?;
    let some = page.messages.get(..want.limit).unwrap_or(&page.messages);
    let shown = match layers::messages(some) {
        Value::Array(shown) => layers::fitting(shown.into_iter(), PAGE_BYTES_MAX),
        _ => Vec::new(),
    };
    let more = shown.len() < page.messages.len();
    let mut reply = reply::view(session, snapshot, want, &[]).with("messages", shown);
    if more {
        reply = reply.with("messages_more", true);
    }
    if page.truncated {
        reply = reply.with("messages_truncated", true);
    }
    Ok(reply)
}

/// `history`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct History {
    /// "main" (default) or a fork's id.
    machine: Option<String>,
    /// The boundary to begin at.
    #[schemars(range(min = 0))]
    from: u64,
    /// The boundary to end before; the machine's own without it.
    #[schemars(range(min = 0))]
    to: Option<u64>,
    /// What to show of the frame at `from`, or of frames.
    #[schemars(with = "Option<Vec<String>>")]
    layers: Option<Vec<Layer>>,
    /// True: the frame of each boundary, also of the last one on the last page; limit is then at most 100, 10 without it.
    frames: Option<bool>,
    /// How many inputs at most.
    #[schemars(range(min = 1, max = 2000))]
    limit: Option<u64>,
    /// How many of the page's edits to pass over: edits_next.
    #[schemars(range(min = 0))]
    edits_from: Option<u64>,
}

/// How many bytes of edits one answer holds.
const EDITS_BYTES: usize = 8_000;

/// How many frames a page of history holds.
const FRAMES_MAX: u64 = 100;
const FRAMES_DEFAULT: usize = 10;

const HISTORY: &[Field] = &[
    ("from", Kind::Integer, ""),
    ("inputs", Kind::Texts, ""),
    ("next", Kind::Integer, "Where the next page begins, if there is one."),
    ("reseeds", Kind::Objects, ""),
    ("edits", Kind::Objects, ""),
    ("edits_next", Kind::Integer, "edits_from for the page's other edits, if there are any."),
    ("frame", Kind::Object, ""),
    ("frames", Kind::Objects, "Each with its boundary and the layers."),
];

impl ToolArguments for History {
    const NAME: &'static str = "history";
    const TITLE: &'static str = "Earlier inputs and frames";
    const TEXT: &'static str = "The inputs that a machine was given, in order, from a boundary on; with layers also the \
        frame of boundary `from`, or all frames of the page, made again by replay. Changes nothing. To play on from an earlier boundary, call \
        fork_create with it.";
    const EFFECT: Effect = Effect::Computes;
    const RESULT: &'static [&'static [Field]] = &[STANDING, HISTORY, RUNNING];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let machine = session.machine(self.machine.as_deref())?;
        let snapshot = session.snapshot(machine)?;
        let failed = |error| session.failure(error, Some(machine));
        let all_frames = self.frames == Some(true);
        let (default, max) = if all_frames { (FRAMES_DEFAULT, FRAMES_MAX) } else { (LIMIT_DEFAULT, LIMIT_MAX) };
        let limit = size_within("limit", self.limit, default, 1, max)?;
        let end = snapshot.boundary.0;
        let from = within("from", self.from, 0, end)?;
        let to = within("to", self.to.unwrap_or(end), from, end)?;
        let count = limit.min(usize::try_from(to - from).unwrap_or(usize::MAX));
        let control = call.control(Urgency::Bulk);
        let want = Want::of(self.layers.clone());
        let want = session.named(machine, &want);
        let (mut frames, mut count, mut is_cut) = (None, count, false);
        if all_frames {
            // A boundary stands on the page that begins with it; the last has no page of its own.
            let next = from + count as u64;
            let last = if next < to { next.saturating_sub(1).max(from) } else { next };
            let shown;
            (shown, is_cut) = frames_of(session, machine, from..=last, &want, &control).map_err(failed)?;
            // The next page begins with the first frame that is not here.
            count = if is_cut { shown.len() } else { count };
            frames = Some(shown);
        }
        let page = session.lab.history(machine, Boundary(from), count).map_err(failed)?;
        let keys: Vec<wire::Key> = page.steps.iter().map(|step| step.key).collect();
        let next = from + keys.len() as u64;
        let reseeds: Vec<Value> = page
            .reseeds
            .iter()
            .map(|reseed| json!({"at": reseed.at.0, "seed": reseed.core, "display_seed": reseed.display}))
            .collect();
        let (edits, edits_next) = edits_of(&page, self.edits_from)?;
        let mut reply = Reply::default()
            .extend(reply::standing(session, &snapshot))
            .with("from", from)
            .with("inputs", key_names(&keys))
            .with("next", (next < to || is_cut).then_some(next))
            .with("reseeds", (!reseeds.is_empty()).then_some(reseeds))
            .with("edits", (!edits.is_empty()).then_some(edits))
            .with("edits_next", edits_next);
        if let Some(frames) = frames {
            reply = reply.with("frames", frames);
        } else if self.layers.is_some() {
            let frame = session.lab.frame_at(machine, Boundary(from), &control).map_err(failed)?;
            reply = reply.with("frame", past(&frame, &want, None));
        }
        Ok(reply)
    }
}

/// The edits of a page from one on, as many as fit, and where the others begin.
fn edits_of(page: &lab::HistoryPage, from: Option<u64>) -> Result<(Vec<Value>, Option<usize>), Failure> {
    let total = page.edits.len();
    let from = size_within("edits_from", from, 0, 0, total as u64)?;
    let edits = page.edits.iter().skip(from).map(|(at, edit)| json!({"at": at.0, "edit": edit.to_string()}));
    let edits = layers::fitting(edits, EDITS_BYTES);
    let next = from + edits.len();
    Ok((edits, (next < total).then_some(next)))
}

/// The frames of some boundaries, as many as fit into an answer but one at least, and whether any is left out.
fn frames_of(
    session: &Session,
    machine: lab::MachineId,
    span: RangeInclusive<u64>,
    want: &Want,
    control: &lab::Control<'_>,
) -> Result<(Vec<Value>, bool), lab::LabError> {
    let (mut frames, mut bytes, mut is_cut) = (Vec::new(), 0, false);
    let span = Boundary(*span.start())..=Boundary(*span.end());
    session.lab.walk(machine, span, control, &mut |at, frame| {
        let shown = past(frame, want, Some(at));
        bytes += layers::bytes_of(&shown);
        is_cut = !frames.is_empty() && bytes > PAGE_BYTES_MAX;
        if is_cut {
            return ControlFlow::Break(());
        }
        frames.push(shown);
        ControlFlow::Continue(())
    })?;
    Ok((frames, is_cut))
}

/// The layers of an earlier frame.
fn past(frame: &Frame, want: &Want, at: Option<Boundary>) -> Value {
    let mut fields = layers::show(frame, want);
    if want.has(Layer::Messages) {
        fields.insert("messages".to_owned(), layers::messages(&frame.messages));
    }
    fields.insert("boundary".to_owned(), json!(at.map(|at| at.0)));
    Value::Object(fields)
}
