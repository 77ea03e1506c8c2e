use lab::{AdoptMode, Asleep, Boundary, Lineage, Luck, MachineId, Revision, Snapshot, Urgency};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::PowerOn;

use crate::arguments::{SeedArgument, size_within, within};
use crate::batch::{BatchParts, OnMoreArgument, SegmentArgument};
use crate::failure::{Code, Failure};
use crate::game::drawn_seed;
use crate::layers::{self, Layer, Want};
use crate::play::{Order, PLAYED, run_batch};
use crate::reply::{self, Call, LAYERS, NOT_KEPT, RUNNING, Reply, STANDING};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::stops::StopArgument;
use crate::tool::{Effect, ToolArguments};

/// Which random numbers a fork draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LuckArgument {
    /// Those that its parent would draw.
    Same,
    /// New ones.
    Reseed,
}

/// `fork_create`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkCreate {
    /// "main" (default) or a fork's id.
    from: Option<String>,
    /// An earlier boundary of it; now without it.
    #[schemars(range(min = 0))]
    boundary: Option<u64>,
    /// same (default): the random numbers that its parent would draw: what will happen. reseed: new ones: what might.
    luck: Option<LuckArgument>,
    /// With luck reseed: the seed; drawn and returned without it.
    luck_seed: Option<SeedArgument>,
    /// How many forks. With reseed, each gets seeds of its own.
    #[schemars(range(min = 1, max = 256))]
    count: Option<u64>,
}

const FORKED: &[Field] = &[
    ("forks", Kind::Objects, ""),
    ("from", Kind::Text, ""),
    ("boundary", Kind::Integer, "The boundary that they were forked at."),
    ("luck", Kind::Text, ""),
    ("luck_seed", Kind::Text, "The seed of the first; the others' follow from it."),
];

/// How many forks one call makes.
const COUNT_MAX: u64 = 256;

impl ToolArguments for ForkCreate {
    const NAME: &'static str = "fork_create";
    const TITLE: &'static str = "Fork a machine";
    const TEXT: &'static str = "Makes forks of a machine as it is now, or as it was at any earlier boundary. A fork is \
        a whole machine of its own: play on it with fork_run and compare it with fork_diff; the machine that it comes \
        from doesn't change. Ids are never used again.";
    const EFFECT: Effect = Effect::Adds;
    const RESULT: &'static [&'static [Field]] = &[FORKED, RUNNING];

    fn call(self, session: &Session, _: &Call<'_>) -> Result<Reply, Failure> {
        let count = size_within("count", self.count, 1, 1, COUNT_MAX)?;
        let luck = match self.luck.unwrap_or(LuckArgument::Same) {
            LuckArgument::Same if self.luck_seed.is_some() => {
                return Err(Failure::argument("luck_seed", "`luck_seed` goes with luck \"reseed\""));
            }
            LuckArgument::Same => Luck::Same,
            LuckArgument::Reseed => {
                let given = self.luck_seed.map(|given| given.seed("luck_seed"));
                let core = given.unwrap_or_else(drawn_seed)?;
                Luck::Reseed { core, display: PowerOn::display_seed_for(core) }
            }
        };
        let from = session.machine(self.from.as_deref())?;
        let snapshot = session.snapshot(from)?;
        if let Some(boundary) = self.boundary {
            within("boundary", boundary, 0, snapshot.boundary.0)
                .map_err(|failure| failure.at(&session.name_of(from), &snapshot))?;
        }
        check_room(session, count)?;
        let made = session.lab.fork(from, self.boundary.map(Boundary), luck, count);
        let made = made.map_err(|error| session.failure(error, Some(from)))?;
        let boundary = made.first().map_or(0, |fork| fork.boundary.0);
        let forks: Vec<Value> = named(session, &made)?
            .iter()
            .zip(&made)
            .map(|(name, fork)| json!({"id": name, "revision": fork.revision.0}))
            .collect();
        let seed = match luck {
            Luck::Same => Value::Null,
            Luck::Reseed { core, .. } => json!(core),
        };
        Ok(Reply::default()
            .with("forks", forks)
            .with("from", session.name_of(from))
            .with("boundary", boundary)
            .with("luck", luck_word(luck))
            .with("luck_seed", seed))
    }
}

/// Gives all new forks their names, or deletes all of them.
pub(crate) fn named(session: &Session, made: &[Snapshot]) -> Result<Vec<String>, Failure> {
    let mut names = Vec::with_capacity(made.len());
    for (index, fork) in made.iter().enumerate() {
        match session.add_fork(fork.machine) {
            Ok(name) => names.push(name),
            Err(failure) => {
                // Nobody knows of them; what can't be deleted stays without harm.
                made.iter().take(index).for_each(|named| drop(session.delete_fork(named.machine)));
                made.iter().skip(index + 1).for_each(|unnamed| drop(session.lab.delete(unnamed.machine, None)));
                return Err(failure);
            }
        }
        session.keep_frame(fork);
    }
    Ok(names)
}

/// Refuses more forks than there may be.
pub(crate) fn check_room(session: &Session, more: usize) -> Result<(), Failure> {
    let (now, max) = (session.names().fork_count(), session.limits.forks);
    if now + more <= max {
        return Ok(());
    }
    let message = format!("{more} more forks beside {now} would exceed the limit of {max}: fork_delete makes room");
    Err(Failure::new(Code::LimitExceeded, message).with("limit", max))
}

fn luck_word(luck: Luck) -> &'static str {
    match luck {
        Luck::Same => "same",
        Luck::Reseed { .. } => "reseed",
    }
}

/// `fork_run`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkRun {
    /// The fork's id.
    fork: String,
    /// The fork's newest.
    revision: u64,
    /// As in run, like all that follows.
    keys: Option<Vec<String>>,
    text: Option<String>,
    #[schemars(with = "Option<Vec<serde_json::Map<String, Value>>>")]
    segments: Option<Vec<SegmentArgument>>,
    on_more: Option<OnMoreArgument>,
    #[schemars(range(min = 1, max = 1000000))]
    turns_max: Option<u64>,
    force: Option<bool>,
    #[schemars(with = "Option<Vec<serde_json::Map<String, Value>>>")]
    stop: Option<Vec<StopArgument>>,
    #[schemars(with = "Option<Vec<String>>")]
    layers: Option<Vec<Layer>>,
}

impl ToolArguments for ForkRun {
    const NAME: &'static str = "fork_run";
    const TITLE: &'static str = "Press keys on a fork";
    const TEXT: &'static str = "As run, on a fork, and for longer batches. press, respond, select_menu and observe take \
        a fork's id as machine too.";
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
        let batch = parts.batch(session.limits.fork_run_keys)?;
        let fork = session.fork(&self.fork)?;
        let order = Order { revision: self.revision, batch: &batch, stop: self.stop, layers: self.layers };
        run_batch(session, call, fork, order, Urgency::Bulk)
    }
}

/// How `fork_adopt` takes over a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModeArgument {
    /// The main machine goes on from where the fork is.
    State,
    /// The fork's keys are pressed on the main machine.
    Replay,
}

/// Whether a reseeded fork's luck is taken with it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TakeArgument {
    /// It is.
    Take,
}

/// `fork_adopt`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkAdopt {
    /// The fork's id.
    fork: String,
    /// The main machine's.
    revision: u64,
    /// state without it.
    mode: Option<ModeArgument>,
    /// take: a reseeded fork's luck comes along.
    luck: Option<TakeArgument>,
}

const ADOPTED: &[Field] = &[
    ("common", Kind::Integer, ""),
    ("inputs", Kind::Integer, ""),
    ("old_tip", Kind::Text, ""),
    ("stop", Kind::Text, ""),
    ("parted", Kind::Object, ""),
];

impl ToolArguments for ForkAdopt {
    const NAME: &'static str = "fork_adopt";
    const TITLE: &'static str = "Take a fork over into main";
    const TEXT: &'static str = "Has the main machine take over a fork's line. The journal gets the inputs, so its movie \
        still begins at power-on and verifies. mode state jumps to where the fork is, and main's old tip stays as a \
        new fork (old_tip); a reseeded fork then needs luck take. mode replay presses the fork's keys on main and \
        stops at the first frame that is not the fork's: the honest way to play a line that was found under other \
        luck. The fork stays as it is. A fork of another game is taken where its power_on is the same.";
    const EFFECT: Effect = Effect::Plays;
    const RESULT: &'static [&'static [Field]] = &[ADOPTED, STANDING, LAYERS, RUNNING];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let mode = match (self.mode.unwrap_or(ModeArgument::State), self.luck) {
            (ModeArgument::State, luck) => AdoptMode::State { take_luck: luck.is_some() },
            (ModeArgument::Replay, None) => AdoptMode::Replay,
            (ModeArgument::Replay, Some(TakeArgument::Take)) => {
                return Err(Failure::argument("luck", "`luck` goes with mode \"state\""));
            }
        };
        let fork = session.fork(&self.fork)?;
        let main = session.machine(None)?;
        let revision = self.revision;
        if mode == AdoptMode::Replay {
            session.ready(main, revision)?;
        } else {
            // A game that is over may go on from where the fork is, so only the revision is looked at here.
            session.current(main, revision)?;
            // The old tip becomes a fork.
            check_room(session, 1)?;
        }
        call.works_on(session, main);
        let number = (mode != AdoptMode::Replay).then(|| session.reserve_fork()).transpose()?;
        let adopted = session.lab.adopt(main, Revision(revision), fork, mode, &call.control(Urgency::Interactive));
        let adoption = adopted.map_err(|error| {
            number.into_iter().for_each(|number| session.names().give_back(number));
            session.failure(error, Some(main))
        })?;
        let old_tip = adoption.old_tip.zip(number).map(|(machine, number)| session.add_fork_as(number, machine));
        let parted = adoption.parted.as_ref().map(|parted| {
            json!({
                "boundary": parted.boundary.0,
                "key": parted.key.name(),
                "expected_screen": parted.expected.screen.text().trim_end(),
            })
        });
        let snapshot = reply::settled(&adoption.snapshot);
        let view = reply::view(session, &snapshot, &Want::of(None), &snapshot.frame.messages);
        Ok(Reply::default()
            .with("common", adoption.common.0)
            .with("inputs", adoption.inputs)
            .with("old_tip", old_tip)
            .with("stop", (mode == AdoptMode::Replay).then(|| replay_stop(&adoption.stop)))
            .with("parted", parted)
            .extend(view.fields))
    }
}

fn replay_stop(stop: &lab::Stop) -> &'static str {
    match stop {
        lab::Stop::Condition => "parted",
        stop => reply::stop_word(stop),
    }
}

/// `fork_delete`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkDelete {
    /// The fork's id.
    fork: String,
}

impl ToolArguments for ForkDelete {
    const NAME: &'static str = "fork_delete";
    const TITLE: &'static str = "Delete a fork";
    const TEXT: &'static str = "Deletes a fork and frees its memory; calls that run on it stop. Forks of it stay.";
    const EFFECT: Effect = Effect::Ends;
    const RESULT: &'static [&'static [Field]] =
        &[&[("deleted", Kind::Text, ""), ("forks", Kind::Integer, "")], RUNNING];

    fn call(self, session: &Session, _: &Call<'_>) -> Result<Reply, Failure> {
        let fork = session.fork(&self.fork)?;
        session.cancel_calls_on(fork);
        session.delete_fork(fork)?;
        Ok(Reply::default().with("deleted", self.fork).with("forks", session.names().fork_count()))
    }
}

/// `fork_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkList {
    /// How many at most; 60 without it.
    #[schemars(range(min = 1, max = 1024))]
    limit: Option<u64>,
    /// How many to pass over.
    #[schemars(range(min = 0, max = 1000000))]
    offset: Option<u64>,
}

impl ToolArguments for ForkList {
    const NAME: &'static str = "fork_list";
    const TITLE: &'static str = "List the forks";
    const TEXT: &'static str = "The forks, oldest first: where each comes from, where it is, and its revision.";
    const EFFECT: Effect = Effect::Reads;
    const RESULT: &'static [&'static [Field]] = &[&[
        ("total", Kind::Integer, ""),
        ("offset", Kind::Integer, ""),
        ("next_offset", Kind::Integer, ""),
        ("forks", Kind::Objects, ""),
        NOT_KEPT,
    ]];

    fn call(self, session: &Session, _: &Call<'_>) -> Result<Reply, Failure> {
        let want = Want {
            limit: size_within("limit", self.limit, 60, 1, 1_024)?,
            offset: size_within("offset", self.offset, 0, 0, 1_000_000)?,
            ..Want::of(None)
        };
        let forks: Vec<(String, MachineId)> = session.names().forks().collect();
        // One may be deleted meanwhile; then it isn't shown.
        let rows = forks.into_iter().filter_map(|(name, machine)| match session.lab.asleep(machine) {
            Some(asleep) => Some(sleeping_row(session, &name, &asleep)),
            None => Some(row(session, &name, &session.lab.snapshot(machine).ok()?)),
        });
        match layers::page(rows, &want, "forks") {
            Value::Object(fields) => Ok(Reply::default().extend(fields)),
            _ => Ok(Reply::default()),
        }
    }
}

/// Where a fork comes from.
fn lineage_row(session: &Session, name: &str, lineage: Option<&Lineage>) -> Value {
    json!({
        "id": name,
        "from": lineage.map(|lineage| session.name_of(lineage.parent)),
        "base": lineage.map(|lineage| lineage.base.0),
        "luck": lineage.map(|lineage| luck_word(lineage.luck)),
        "luck_seed": lineage.and_then(|lineage| match lineage.luck {
            Luck::Same => None,
            Luck::Reseed { core, .. } => Some(core),
        }),
    })
}

fn row(session: &Session, name: &str, snapshot: &Snapshot) -> Value {
    let mut row = lineage_row(session, name, snapshot.lineage.as_ref());
    row["game"] = json!(snapshot.game.as_str());
    row["boundary"] = json!(snapshot.boundary.0);
    row["revision"] = json!(snapshot.revision.0);
    row["state"] = json!(snapshot.lifecycle.word());
    row["turn"] = json!(snapshot.frame.turn);
    row["hp"] = json!(snapshot.frame.status.as_ref().map(|status| status.hp));
    row["pending"] = json!(snapshot.pending_kind().map(wire::PendingKind::word));
    row
}

/// A fork that is replayed when it is first asked for.
fn sleeping_row(session: &Session, name: &str, asleep: &Asleep) -> Value {
    let mut row = lineage_row(session, name, asleep.lineage.as_ref());
    row["game"] = json!(asleep.game.as_str());
    row["boundary"] = json!(asleep.boundary.0);
    row["revision"] = json!(asleep.revision.0);
    row["state"] = json!("asleep");
    row
}
