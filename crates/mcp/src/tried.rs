//! Lines that were tried: a row of each, and the last calls' rows for those who page through them.

use std::collections::VecDeque;
use std::sync::Arc;

use lab::{LineStop, Stop, Tried};
use serde_json::{Map, Value, json};
use wire::{Ended, Frame};

use crate::failure::Failure;
use crate::rank::Spread;
use crate::reply;
use crate::stops::Stops;
use crate::watched::WatchedOutcome;

/// How many calls' rows are kept.
const CALLS_KEPT: usize = 8;
/// How many of a line's last messages are told, and how many characters of each.
const MESSAGES_MAX: usize = 3;
const MESSAGE_CHARACTERS_MAX: usize = 100;
/// How many lines of the last text that was closed are told.
const WINDOW_LINES_MAX: usize = 4;

/// The rows of one call, in the order of its lines, as JSON.
#[derive(Debug)]
pub(crate) struct TriedRows {
    /// What the call tells beside them.
    pub(crate) head: Map<String, Value>,
    pub(crate) rows: Vec<String>,
}

/// The last calls, `t1`, `t2`, …
#[derive(Debug, Default)]
pub(crate) struct TriedCalls {
    last: u64,
    kept: VecDeque<(u64, Arc<TriedRows>)>,
}

impl TriedCalls {
    /// The name of the next call.
    pub(crate) fn name(&mut self) -> (u64, String) {
        self.last += 1;
        (self.last, format!("t{}", self.last))
    }

    /// Keeps a call's rows.
    pub(crate) fn keep(&mut self, number: u64, rows: Arc<TriedRows>) {
        if self.kept.len() >= CALLS_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((number, rows));
    }

    /// The rows of a call.
    ///
    /// # Errors
    /// A name that is none, or of a call whose rows are no longer kept.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<TriedRows>, Failure> {
        let number = name.strip_prefix('t').and_then(|digits| digits.parse::<u64>().ok());
        let found = self.kept.iter().find(|(kept, _)| number == Some(*kept) && name == format!("t{kept}"));
        found.map(|(_, rows)| Arc::clone(rows)).ok_or_else(|| {
            let name: String = name.chars().take(40).collect();
            let message = format!("there is no result {name:?}, or it was forgotten: the last {CALLS_KEPT} are kept");
            Failure::argument("tried", message)
        })
    }
}

/// What came of one try of a line.
pub(crate) struct Row {
    pub(crate) fields: Map<String, Value>,
    pub(crate) stop: &'static str,
    pub(crate) is_done: bool,
    pub(crate) has_ended: bool,
    pub(crate) turns: i64,
}

/// The row of a try that began at `before` and was to press so many keys.
pub(crate) fn row(tried: &Tried, keys: usize, before: &Frame, stops: &Stops) -> Row {
    let watched = WatchedOutcome::read(&tried.outcome).filter(|_| !stops.is_empty());
    let sent = watched.as_ref().map_or(tried.keys_used, |outcome| outcome.keys_used);
    let sprung = watched.as_ref().and_then(|outcome| outcome.sprung.as_ref());
    let (stop, reason) = stop_of(&tried.stop, watched.as_ref());
    let after = tried.frame();
    let dismissed = tried.inputs.len().saturating_sub(sent);
    let value = json!({
        "sent": sent,
        "unsent": (sent < keys).then(|| keys - sent),
        "dismissed": (dismissed > 0).then_some(dismissed),
        "stop": stop,
        "reason": reason,
        "breakpoint": sprung.map(|sprung| stops.told(sprung)),
        "turns": tried.turns,
        "pending": tried.pending.as_ref().map(|pending| pending.kind.word()).filter(|kind| *kind != "command"),
        "status_delta": after.as_ref().map(|after| status_delta(before, after)).filter(|delta| !delta.is_empty()),
        "messages_tail": messages_tail(tried),
        "window_head": window_head(tried),
        "ended": tried.ended.as_ref().map(ended),
    });
    let fields = match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    Row { fields, stop, is_done: tried.is_done(), has_ended: tried.ended.is_some(), turns: tried.turns }
}

fn stop_of<'a>(stop: &'a LineStop, watched: Option<&WatchedOutcome>) -> (&'static str, Option<&'a str>) {
    let word = |reason| reply::stop_word(&Stop::Batch(reason));
    match (stop, watched) {
        (LineStop::Cancelled, _) => ("cancelled", None),
        (LineStop::Refused { reason }, _) => ("refused", Some(reason)),
        (LineStop::Lost { reason }, _) => ("lost", Some(reason)),
        (LineStop::Line(_), Some(WatchedOutcome { sprung: Some(_), .. })) => ("breakpoint", None),
        (LineStop::Line(wire::StopReason::Policy), Some(WatchedOutcome { stop: Some(reason), .. })) => {
            (word(*reason), None)
        }
        // The policy would have pressed more than it may.
        (LineStop::Line(wire::StopReason::Done), Some(_)) => ("input_limit", None),
        (LineStop::Line(reason), _) => (word(*reason), None),
    }
}

/// The fields of the status line that differ: numbers by how much, others as they are now, empty where they are gone.
fn status_delta(before: &Frame, after: &Frame) -> Map<String, Value> {
    let fields = |frame: &Frame| serde_json::to_value(&frame.status).unwrap_or_default();
    let (old, new) = (fields(before), fields(after));
    let Value::Object(new) = new else { return Map::new() };
    new.into_iter()
        .filter(|(name, value)| name != "turn" && old.get(name).unwrap_or(&Value::Null) != value)
        .map(|(name, value)| {
            let was = old.get(&name).and_then(Value::as_i64);
            match (was, value.as_i64()) {
                (Some(was), Some(now)) => (name, json!(now - was)),
                _ if value.is_null() => (name, json!("")),
                _ => (name, value),
            }
        })
        .collect()
}

fn messages_tail(tried: &Tried) -> Vec<String> {
    let over = tried.messages.len().saturating_sub(MESSAGES_MAX);
    let last = tried.messages.iter().skip(over);
    last.map(|message| message.text.chars().take(MESSAGE_CHARACTERS_MAX).collect()).collect()
}

/// How the last text began that was closed.
fn window_head(tried: &Tried) -> Option<Vec<String>> {
    let lines = tried.texts.windows.back()?.iter().take(WINDOW_LINES_MAX);
    Some(lines.map(|line| line.chars().take(MESSAGE_CHARACTERS_MAX).collect()).collect())
}

fn ended(ended: &Ended) -> Value {
    let text: String = ended.text.chars().take(MESSAGE_CHARACTERS_MAX).collect();
    json!({"kind": ended.kind, "how": ended.how, "text": text})
}

/// The row of a line that was tried several times, under other luck each time.
pub(crate) fn sampled(tries: &[Row], scores: Option<&[Result<f64, String>]>) -> Map<String, Value> {
    let mut stops = Map::new();
    for row in tries {
        let count = stops.get(row.stop).and_then(Value::as_u64).unwrap_or(0);
        stops.insert(row.stop.to_owned(), json!(count + 1));
    }
    let done = tries.iter().filter(|row| row.is_done);
    let turns = Spread::of(done.clone().map(|row| row.turns as f64).collect());
    let scores = scores.unwrap_or_default();
    let worth = Spread::of(scores.iter().flatten().copied().collect());
    let error = scores.iter().find_map(|score| score.as_ref().err());
    let value = json!({
        "n": done.clone().count(),
        "ended": done.filter(|row| row.has_ended).count(),
        "stops": stops,
        "turns_mean": turns.map(|turns| rounded(turns.mean)),
        "score": worth.map(|worth| {
            let [min, q10, q50, q90, max] = worth.quantiles;
            json!({"mean": rounded(worth.mean), "min": min, "q10": q10, "q50": q50, "q90": q90, "max": max})
        }),
        "score_error": error,
    });
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// A number to a thousandth, which is as much as a mean of samples says; large ones as they are.
fn rounded(number: f64) -> f64 {
    let scaled = (number * 1_000.0).round() / 1_000.0;
    if scaled.is_finite() { scaled } else { number }
}

#[cfg(test)]
mod tests {
    use wire::Status;

    use super::*;

    #[test]
    fn rows_of_the_last_calls_are_found_by_name() {
        let mut calls = TriedCalls::default();
        for index in 0..CALLS_KEPT as u64 + 1 {
            let (number, name) = calls.name();
            assert_eq!(name, format!("t{}", index + 1));
            calls.keep(number, Arc::new(TriedRows { head: Map::new(), rows: vec![name] }));
        }
        assert_eq!(calls.find("t2").unwrap().rows, ["t2"]);
        for name in ["t1", "t10", "t02", "2", "t", "", "t+2"] {
            assert_eq!(calls.find(name).unwrap_err().details["field"], json!("tried"), "{name}");
        }
    }

    #[test]
    fn a_line_says_why_it_stopped() {
        use wire::StopReason;
        let outcome = |stop, sprung: bool| WatchedOutcome {
            keys_used: 1,
            stop,
            sprung: sprung.then(|| crate::condition::Sprung { index: 0, what: Map::new() }),
            asked: None,
        };
        let reason = || "why".to_owned();
        for (stop, watched, told) in [
            (LineStop::Cancelled, None, ("cancelled", None)),
            (LineStop::Refused { reason: reason() }, None, ("refused", Some("why"))),
            (LineStop::Lost { reason: reason() }, Some(outcome(None, true)), ("lost", Some("why"))),
            (LineStop::Line(StopReason::Done), None, ("done", None)),
            (LineStop::Line(StopReason::NotAccepted), None, ("not_accepted", None)),
            (LineStop::Line(StopReason::Policy), Some(outcome(None, true)), ("breakpoint", None)),
            (LineStop::Line(StopReason::Policy), Some(outcome(Some(StopReason::Turns), false)), ("turns", None)),
            (LineStop::Line(StopReason::Done), Some(outcome(None, false)), ("input_limit", None)),
            (LineStop::Line(StopReason::Ended), Some(outcome(None, false)), ("ended", None)),
        ] {
            assert_eq!(stop_of(&stop, watched.as_ref()), told, "{stop:?}");
        }
    }

    #[test]
    fn deltas_are_differences_of_numbers_and_news_of_words() {
        let frame = |status: Status| Frame { status: Some(status), ..Frame::default() };
        let old = Status { hp: 12, gold: 3, hunger: Some("Hungry".to_owned()), turn: Some(5), ..Status::default() };
        let new = Status { hp: 9, gold: 3, level_text: "Dlvl:2".to_owned(), turn: Some(9), ..Status::default() };
        let told = status_delta(&frame(old.clone()), &frame(new));
        assert_eq!(Value::Object(told), json!({"hp": -3, "hunger": "", "level_text": "Dlvl:2"}));
        assert!(status_delta(&frame(old.clone()), &Frame::default()).is_empty());
        assert_eq!(status_delta(&Frame::default(), &frame(old))["hp"], json!(12));
    }

    #[test]
    fn samples_are_summed_up() {
        let row =
            |stop, turns| Row { fields: Map::new(), stop, is_done: stop != "lost", has_ended: stop == "ended", turns };
        let rows = [row("done", 10), row("ended", 4), row("done", 10), row("lost", 0)];
        let scores = [Ok(1.0), Ok(-5.0), Ok(2.5), Err("no number".to_owned())];
        let told = Value::Object(sampled(&rows, Some(&scores)));
        assert_eq!((told["n"].clone(), told["ended"].clone()), (json!(3), json!(1)));
        assert_eq!(told["stops"], json!({"done": 2, "ended": 1, "lost": 1}));
        assert_eq!((told["turns_mean"].clone(), told["score"]["mean"].clone()), (json!(8.0), json!(-0.5)));
        assert_eq!((told["score"]["min"].clone(), told["score"]["max"].clone()), (json!(-5.0), json!(2.5)));
        assert_eq!(told["score_error"], json!("no number"));
        assert_eq!(sampled(&rows, None)["score"], Value::Null);
    }
}
