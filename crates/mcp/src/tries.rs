use lab::{Luck, MachineId, Snapshot};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wire::{Batch, PowerOn};

use crate::arguments::{SeedArgument, size_within, within};
use crate::batch::{BatchParts, OnMoreArgument, SegmentArgument};
use crate::failure::{Code, Failure};
use crate::forks::{LuckArgument, check_room};
use crate::game::drawn_seed;
use crate::layers::PAGE_BYTES_MAX;
use crate::rank;
use crate::reply::{Call, RUNNING, Reply, is_over};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::stops::{StopArgument, Stops};
use crate::tool::{Effect, ToolArguments};
use crate::tried::TriedRows;
use crate::tries_run;

/// A line as clients give it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineArgument {
    keys: Option<Vec<String>>,
    text: Option<String>,
    segments: Option<Vec<SegmentArgument>>,
}

/// `try_lines`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TryLines {
    /// "main" (default) or a fork's id.
    from: Option<String>,
    /// The lines, each {keys}, {text} or {segments} as run takes them.
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    lines: Option<Vec<LineArgument>>,
    on_more: Option<OnMoreArgument>,
    #[schemars(range(min = 1, max = 1000000))]
    turns_max: Option<u64>,
    force: Option<bool>,
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    stop: Option<Vec<StopArgument>>,
    /// same (default): what will happen. reseed: what might; the default with samples.
    luck: Option<LuckArgument>,
    /// With reseed: the seed that all follows from; drawn and returned without it.
    luck_seed: Option<SeedArgument>,
    /// Try each line so often, under other luck each time; the n-th time has the same luck in all lines.
    #[schemars(range(min = 1, max = 1000))]
    samples: Option<u64>,
    /// A Lua expression or chunk, as of lua_eval, that gives a line's worth by its last frame, as in "nh.status.hp".
    score: Option<String>,
    /// Keep so many of the best lines as forks. Without score only where it is all of them.
    #[schemars(range(min = 1, max = 256))]
    keep: Option<u64>,
    /// Instead of lines: the id of a result, for another page of it.
    tried: Option<String>,
    /// How many lines of the result at most; without it up to 40, as many as make a short answer.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u64>,
    /// How many to pass over.
    #[schemars(range(min = 0, max = 1000000))]
    offset: Option<u64>,
}

const TRIED: &[Field] = &[
    ("tried", Kind::Text, "Give this with offset for another page."),
    ("from", Kind::Text, ""),
    ("boundary", Kind::Integer, "Where the lines began."),
    ("luck", Kind::Text, ""),
    ("luck_seed", Kind::Text, ""),
    ("samples", Kind::Integer, ""),
    ("ended", Kind::Integer, "Tries in which the game ended."),
    ("best", Kind::Objects, "The best scores: line, score."),
    ("kept", Kind::Objects, "The forks: id, revision, line, score; best first."),
    ("no_room", Kind::Integer, "Lines that could not be kept: the store is full."),
    ("total", Kind::Integer, ""),
    ("offset", Kind::Integer, ""),
    ("next_offset", Kind::Integer, ""),
    (
        "lines",
        Kind::Objects,
        "line, sent, stop, turns, status_delta, messages_tail, window_head, ended, score, fork; with samples n, ended, stops, score.",
    ),
];

/// Samples of one line, and forks that one call keeps.
const SAMPLES_MAX: u64 = 1_000;
const KEEP_MAX: u64 = 256;

/// What is to be tried, checked.
pub(crate) struct Order {
    pub(crate) from: MachineId,
    pub(crate) lines: Vec<Batch>,
    pub(crate) stops: Stops,
    pub(crate) luck: Luck,
    /// How often each line is tried, where that was asked for.
    pub(crate) samples: Option<usize>,
    pub(crate) score: Option<String>,
    pub(crate) keep: usize,
}

impl ToolArguments for TryLines {
    const NAME: &'static str = "try_lines";
    const TITLE: &'static str = "Try many lines at once";
    const TEXT: &'static str = "Runs many lines of keys from one machine as it is now, on all workers, and tells of each \
        what came of it. The machine doesn't change. on_more, turns_max, force and stop hold for each line as in run. \
        With samples, each line is told as how often the game ended and how its score is spread. What the default page \
        leaves out is had by calling again with tried and offset; nothing is run again. Movies tell how many lines were \
        tried. Reports progress, can be cancelled.";
    const EFFECT: Effect = Effect::Adds;
    const RESULT: &'static [&'static [Field]] = &[TRIED, RUNNING];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let limit = size_within("limit", self.limit, LINES_DEFAULT, 1, 1_000)?;
        let bytes_max = if self.limit.is_some() { PAGE_BYTES_MAX } else { ANSWER_BYTES };
        let offset = size_within("offset", self.offset, 0, 0, 1_000_000)?;
        if let Some(name) = self.tried.clone() {
            self.refuse_beside_tried()?;
            let rows = session.tried().find(&name)?;
            return page(&rows, offset, (limit, bytes_max));
        }
        let order = self.order(session)?;
        call.works_on(session, order.from);
        let rows = tries_run::run(session, call, &order)?;
        page(&rows, offset, (limit, bytes_max))
    }
}

/// How many lines a page has, and how many bytes its answer, where the call doesn't say.
const LINES_DEFAULT: usize = 40;
const ANSWER_BYTES: usize = 24_000;

/// A page of a result: at most so many lines in so many bytes, but one at least.
fn page(result: &TriedRows, offset: usize, (limit, bytes_max): (usize, usize)) -> Result<Reply, Failure> {
    let total = result.rows.len();
    let mut bytes = serde_json::to_string(&result.head).map_or(0, |head| head.len());
    let some = result.rows.iter().skip(offset).take(limit).enumerate().take_while(|(index, row)| {
        bytes = bytes.saturating_add(row.len() + 1);
        *index == 0 || bytes <= bytes_max
    });
    let lines: Result<Vec<Value>, _> = some.map(|(_, row)| serde_json::from_str(row)).collect();
    let lines = lines.map_err(|error| Failure::new(Code::EngineFailure, error.to_string()))?;
    let next = offset + lines.len();
    Ok(Reply::default()
        .extend(result.head.clone())
        .with("total", total)
        .with("offset", (offset > 0).then_some(offset))
        .with("next_offset", (next < total).then_some(next))
        .with("lines", lines))
}

impl TryLines {
    /// Another page is of what was tried: nothing else can be asked of it.
    fn refuse_beside_tried(&self) -> Result<(), Failure> {
        let others = [
            ("from", self.from.is_some()),
            ("lines", self.lines.is_some()),
            ("on_more", self.on_more.is_some()),
            ("turns_max", self.turns_max.is_some()),
            ("force", self.force.is_some()),
            ("stop", self.stop.is_some()),
            ("luck", self.luck.is_some()),
            ("luck_seed", self.luck_seed.is_some()),
            ("samples", self.samples.is_some()),
            ("score", self.score.is_some()),
            ("keep", self.keep.is_some()),
        ];
        match others.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Failure::argument(name, format!("`{name}` does not go with `tried`"))),
            None => Ok(()),
        }
    }

    fn order(self, session: &Session) -> Result<Order, Failure> {
        let luck = self.luck()?;
        let samples = self.samples.map(|samples| within("samples", samples, 1, SAMPLES_MAX)).transpose()?;
        let samples = samples.map(|samples| usize::try_from(samples).unwrap_or(usize::MAX));
        let keep = size_within("keep", self.keep, 0, 1, KEEP_MAX)?;
        if let Some(source) = &self.score {
            rank::check(source)?;
        }
        let given =
            self.lines.ok_or_else(|| Failure::argument("lines", "give `lines`, or `tried` for another page"))?;
        check_count(session, given.len(), samples.unwrap_or(1))?;
        let parts = (self.on_more, self.turns_max, self.force);
        let lines: Vec<Batch> = given
            .into_iter()
            .enumerate()
            .map(|(index, line)| batch(line, parts, session.limits.run_keys, index))
            .collect::<Result<_, _>>()?;
        if keep > 0 {
            check_keep(keep, lines.len(), samples, self.score.is_some())?;
            check_room(session, keep.min(lines.len()))?;
        }
        let from = session.machine(self.from.as_deref())?;
        let stops = Stops::of(session, from, self.stop)?;
        let snapshot = session.snapshot(from)?;
        refuse_over(session, &snapshot)?;
        Ok(Order { from, lines, stops, luck, samples, score: self.score, keep })
    }

    fn luck(&self) -> Result<Luck, Failure> {
        let default = if self.samples.is_some() { LuckArgument::Reseed } else { LuckArgument::Same };
        match self.luck.unwrap_or(default) {
            LuckArgument::Same if self.samples.is_some() => {
                Err(Failure::argument("luck", "`samples` under luck \"same\" would all be alike: leave `luck` out"))
            }
            LuckArgument::Same if self.luck_seed.is_some() => {
                Err(Failure::argument("luck_seed", "`luck_seed` goes with luck \"reseed\""))
            }
            LuckArgument::Same => Ok(Luck::Same),
            LuckArgument::Reseed => {
                let given = self.luck_seed.as_ref().map(|given| given.seed("luck_seed"));
                let core = given.unwrap_or_else(drawn_seed)?;
                Ok(Luck::Reseed { core, display: PowerOn::display_seed_for(core) })
            }
        }
    }
}

fn check_count(session: &Session, lines: usize, samples: usize) -> Result<(), Failure> {
    let max = session.limits.lines;
    if lines == 0 {
        return Err(Failure::argument("lines", "argument `lines` is empty: give at least one line"));
    }
    if lines > max {
        let message = format!("{lines} lines would exceed the limit of {max}");
        return Err(Failure::new(Code::LimitExceeded, message).with("field", "lines").with("limit", max));
    }
    let (tries, max) = (lines.saturating_mul(samples), session.lab.info().limits.lines);
    if tries > max {
        let message = format!("{lines} lines, {samples} times each, would exceed the limit of {max} tries");
        return Err(Failure::new(Code::LimitExceeded, message).with("field", "samples").with("limit", max));
    }
    Ok(())
}

fn check_keep(keep: usize, lines: usize, samples: Option<usize>, is_scored: bool) -> Result<(), Failure> {
    if samples.is_some() {
        let message =
            "`keep` does not go with `samples`: try the best line again by itself, or fork_create with reseed";
        return Err(Failure::argument("keep", message));
    }
    if !is_scored && keep < lines {
        let message = format!(
            "`keep` {keep} of {lines} lines needs `score`, which says what is best, as in \"nh.status.hp\"; without it, \
             `keep` {lines} keeps all"
        );
        return Err(Failure::argument("keep", message));
    }
    Ok(())
}

fn refuse_over(session: &Session, snapshot: &Snapshot) -> Result<(), Failure> {
    if is_over(snapshot) {
        let name = session.name_of(snapshot.machine);
        return Err(Failure::game_over(&name).at(&name, snapshot));
    }
    Ok(())
}

type Common = (Option<OnMoreArgument>, Option<u64>, Option<bool>);

fn batch(line: LineArgument, parts: Common, keys_max: usize, index: usize) -> Result<Batch, Failure> {
    let (on_more, turns_max, force) = parts;
    let LineArgument { keys, text, segments } = line;
    let made = BatchParts { keys, text, segments, on_more, turns_max, force }.batch(keys_max);
    made.map_err(|failure| {
        let field = failure.details.get("field").and_then(Value::as_str).unwrap_or_default().to_owned();
        if field == "turns_max" {
            return failure;
        }
        let path = format!("lines[{index}].{field}");
        let message = format!("{path}: {}", failure.message);
        Failure { message, ..failure }.with("field", path)
    })
}

/// What a result says of the luck.
pub(crate) fn luck_fields(luck: Luck) -> (&'static str, Value) {
    match luck {
        Luck::Same => ("same", Value::Null),
        Luck::Reseed { core, .. } => ("reseed", json!(core)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_short_and_never_empty() {
        let rows = (0..100).map(|line| json!({"line": line, "messages_tail": ["x".repeat(900)]}).to_string()).collect();
        let result = TriedRows { head: Map::new(), rows };
        let lines = |offset, limits| {
            let reply = page(&result, offset, limits).unwrap();
            let lines: Vec<u64> =
                reply.fields["lines"].as_array().unwrap().iter().map(|row| row["line"].as_u64().unwrap()).collect();
            (lines, reply.fields["next_offset"].as_u64())
        };
        assert_eq!(lines(0, (40, ANSWER_BYTES)), ((0..25).collect(), Some(25)));
        assert_eq!(lines(25, (3, ANSWER_BYTES)), ((25..28).collect(), Some(28)));
        assert_eq!(lines(98, (40, usize::MAX)), (vec![98, 99], None));
        assert_eq!(lines(7, (40, 10)), (vec![7], Some(8)));
        assert_eq!(lines(100, (40, 10)), (vec![], None));
    }

    #[test]
    fn samples_have_luck_of_their_own_and_a_seed_needs_other_luck() {
        let luck = |given: Value| {
            let Value::Object(object) = given else { panic!("no object") };
            crate::arguments::read::<TryLines>(object)?.luck()
        };
        let seven = luck(json!({"luck": "reseed", "luck_seed": "7"})).unwrap();
        let Luck::Reseed { core, display } = seven else { panic!("{seven:?}") };
        assert_eq!((core.0, display), (7, PowerOn::display_seed_for(core)));
        assert_eq!(luck(json!({"samples": 3, "luck_seed": "7"})).unwrap(), seven);
        for same in [json!({}), json!({"luck": "same"})] {
            assert_eq!(luck(same).unwrap(), Luck::Same);
        }
        for drawn in [json!({"samples": 3}), json!({"luck": "reseed"})] {
            assert!(matches!(luck(drawn).unwrap(), Luck::Reseed { .. }));
        }
        for (given, field) in [
            (json!({"luck": "same", "samples": 3}), "luck"),
            (json!({"luck": "same", "luck_seed": "7"}), "luck_seed"),
            (json!({"luck_seed": "7"}), "luck_seed"),
            (json!({"luck": "same", "samples": 3, "luck_seed": "7"}), "luck"),
        ] {
            assert_eq!(luck(given.clone()).unwrap_err().details["field"], json!(field), "{given}");
        }
    }
}
