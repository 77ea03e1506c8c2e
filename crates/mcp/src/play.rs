use lab::{MachineId, Revision, RunReport, Stop, Urgency};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::{Batch, Key, OnMore, Segment};

use crate::accept;
use crate::answer::what_answers;
use crate::batch::{BatchParts, OnMoreArgument, SegmentArgument, on_more};
use crate::failure::{Code, Failure};
use crate::layers::{self, Layer, Want};
use crate::reply::{self, Call, LAYERS, REPORT, RUNNING, Reply, STANDING};
use crate::schema::Field;
use crate::session::Session;
use crate::stops::{StopArgument, Stops};
use crate::tool::{Effect, ToolArguments};

/// What every tool that presses keys gives.
pub(crate) const PLAYED: &[&[Field]] = &[REPORT, STANDING, LAYERS, RUNNING];

/// `press`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Press {
    /// "main" (default) or a fork's id.
    machine: Option<String>,
    /// The newest that you know of the machine.
    revision: u64,
    /// One printable character, or ENTER ESC SPACE TAB BACKSPACE DELETE, CTRL_A to CTRL_Z, META_x.
    key: String,
    /// As in run, for what comes up afterwards.
    on_more: Option<OnMoreArgument>,
    /// What to show, as in observe.
    #[schemars(with = "Option<Vec<String>>")]
    layers: Option<Vec<Layer>>,
}

impl ToolArguments for Press {
    const NAME: &'static str = "press";
    const TITLE: &'static str = "Press one key";
    const TEXT: &'static str = "Presses one key and shows what came of it. At a question, a text prompt, a menu or a \
        --More--, only the keys that mean something there are sent; others are refused (WRONG_PENDING) and nothing \
        happens.";
    const EFFECT: Effect = Effect::Plays;
    const RESULT: &'static [&'static [Field]] = PLAYED;

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let key: Key = self
            .key
            .parse()
            .map_err(|error: wire::KeyError| Failure::new(Code::InvalidKey, error.to_string()).with("field", "key"))?;
        let machine = session.machine(self.machine.as_deref())?;
        let snapshot = session.ready(machine, self.revision)?;
        let frame = &snapshot.frame;
        if let Some(pending) = &frame.pending
            && !accept::press_accepts(pending, frame.menu.as_ref(), key)
        {
            let message = format!(
                "{key} means nothing at this {}; press takes {}. Or {}; run with force sends any key",
                pending.kind,
                accept::what_is_taken(frame),
                what_answers(frame)
            );
            return Err(Failure::new(Code::WrongPending, message)
                .with("pending", layers::pending_of(frame))
                .at(&session.name_of(machine), &snapshot));
        }
        // What stands there now is the key's own to answer.
        let expect = frame.pending.as_ref().map(|pending| pending.kind);
        let segments = vec![Segment { keys: vec![key], expect }];
        let batch = Batch { force: true, ..guarded(segments, on_more(self.on_more)) };
        let want = want_since(session, self.layers, machine, self.revision);
        let mut run = send(session, call, machine, self.revision, &batch, Urgency::Interactive)?;
        reply::drop_read(&mut run, frame);
        Ok(reply::report(session, &run, &[key], &want))
    }
}

/// What a playing call shows; `changes` counts from the revision that it was decided on.
pub(crate) fn want_since(session: &Session, layers: Option<Vec<Layer>>, machine: MachineId, revision: u64) -> Want {
    Want { since: Some((revision, session.kept_frame(machine, revision))), ..Want::of(layers) }
}

/// Presses a batch.
pub(crate) fn send(
    session: &Session,
    call: &Call<'_>,
    machine: MachineId,
    revision: u64,
    batch: &Batch,
    urgency: Urgency,
) -> Result<RunReport, Failure> {
    call.works_on(session, machine);
    let run = session.lab.run(machine, Revision(revision), batch, &call.control(urgency));
    run.map_err(|error| session.failure(error, Some(machine)))
}

/// All keys of a batch in order.
pub(crate) fn keys_of(batch: &Batch) -> Vec<Key> {
    batch.segments.iter().flat_map(|segment| segment.keys.iter().copied()).collect()
}

/// A batch of segments that each say what they expect.
pub(crate) fn guarded(segments: Vec<Segment>, on_more: OnMore) -> Batch {
    Batch { segments, on_more, force: false, turns_max: None }
}

/// `run`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunKeys {
    /// "main" (default) or a fork's id.
    machine: Option<String>,
    /// The newest that you know of the machine.
    revision: u64,
    /// Names of keys, as in press.
    keys: Option<Vec<String>>,
    /// A text of which each character is one key, as in "20s".
    text: Option<String>,
    /// Parts that each may expect what the game waits for.
    segments: Option<Vec<SegmentArgument>>,
    /// What to do at a --More-- or a page of text between keys: stop (default) or dismiss.
    on_more: Option<OnMoreArgument>,
    /// Stop once so many turns have passed. Looked at between keys: one that takes many turns (20s, travel) is not cut.
    #[schemars(range(min = 1, max = 1000000))]
    turns_max: Option<u64>,
    /// Send every key whatever the game waits for.
    force: Option<bool>,
    /// Conditions that stop this batch too, each as breakpoint_add takes it.
    #[schemars(with = "Option<Vec<serde_json::Map<String, serde_json::Value>>>")]
    stop: Option<Vec<StopArgument>>,
    /// What to show, as in observe.
    #[schemars(with = "Option<Vec<String>>")]
    layers: Option<Vec<Layer>>,
}

impl ToolArguments for RunKeys {
    const NAME: &'static str = "run";
    const TITLE: &'static str = "Press many keys";
    const TEXT: &'static str = "Presses keys one after the other: give exactly one of keys, text and segments. A key is \
        sent only while the game takes it as what it was meant to be: at a --More--, a menu or a question that comes \
        up the batch stops with not_accepted, unless on_more is dismiss or the segment expects that kind of prompt; \
        so it does where the game refuses an answer and asks again. \
        Segments like {\"text\":\"q\"},{\"keys\":[\"f\"],\"expect\":\"item\"},{\"keys\":[\"y\"],\"expect\":\"choice\"} \
        answer prompts safely. The result tells how many keys were sent, which were not, why it stopped, and the turns \
        that passed.";
    const EFFECT: Effect = Effect::Plays;
    const RESULT: &'static [&'static [Field]] = PLAYED;

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let parts = BatchParts {
            keys: self.keys,
            text: self.text,
            segments: self.segments,
            on_more: self.on_more,
            turns_max: self.turns_max,
            force: self.force,
        };
        let batch = parts.batch(session.limits.run_keys)?;
        let machine = session.machine(self.machine.as_deref())?;
        let order = Order { revision: self.revision, batch: &batch, stop: self.stop, layers: self.layers };
        run_batch(session, call, machine, order, Urgency::Interactive)
    }
}

/// Presses a batch and reports on it.
pub(crate) fn run_batch(
    session: &Session,
    call: &Call<'_>,
    machine: MachineId,
    order: Order<'_>,
    urgency: Urgency,
) -> Result<Reply, Failure> {
    let Order { revision, batch, stop, layers } = order;
    let stops = Stops::of(session, machine, stop)?;
    session.ready(machine, revision)?;
    let want = want_since(session, layers, machine, revision);
    call.works_on(session, machine);
    let lookout = stops.lookout();
    let mut control = call.control(urgency);
    if !stops.is_empty() {
        control.lookout = Some(&lookout);
    }
    let run = session.lab.run(machine, Revision(revision), batch, &control);
    let run = run.map_err(|error| session.failure(error, Some(machine)))?;
    let sprung = lookout.sprung().filter(|_| run.stop == Stop::Condition);
    let breakpoint = sprung.map(|sprung| stops.told(&sprung));
    Ok(reply::report(session, &run, &keys_of(batch), &want).with("breakpoint", breakpoint))
}

/// What a batch call asks for.
pub(crate) struct Order<'a> {
    pub(crate) revision: u64,
    pub(crate) batch: &'a Batch,
    pub(crate) stop: Option<Vec<StopArgument>>,
    pub(crate) layers: Option<Vec<Layer>>,
}
