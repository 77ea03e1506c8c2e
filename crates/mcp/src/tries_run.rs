//! The work of `try_lines`.

use std::sync::Arc;

use lab::{Control, Luck, MachineId, Progress, Snapshot, State, Tried, Try, Urgency};
use script::Seen;
use serde_json::{Map, Value, json};
use wire::{Batch, Boundary, Frame};

use crate::failure::{Code, Failure};
use crate::rank;
use crate::reply::Call;
use crate::session::Session;
use crate::stops::Stops;
use crate::tried::{self, Row, TriedRows};
use crate::tries::{Order, luck_fields};
use crate::watched;

/// How many tries go to the lab at once. Each brings a frame, which is let go of once its row is made.
const SLICE: usize = 1_024;
/// How many of the best are told beside the page.
const BEST_MAX: usize = 10;

/// A try with its score and, where it may be kept, its state.
struct Done {
    row: Row,
    score: Option<Result<f64, String>>,
    state: Option<State>,
    no_room: bool,
}

/// Tries the lines of a call; its rows are kept for later pages.
pub(crate) fn run(session: &Session, call: &Call<'_>, order: &Order) -> Result<Arc<TriedRows>, Failure> {
    let failed = |error| session.failure(error, Some(order.from));
    let state = session.lab.state(order.from).map_err(failed)?;
    let before = session.lab.look(&state).map_err(failed)?;
    if let Some(source) = &order.score {
        // What is no script, or too much for one frame, is refused before anything is tried.
        let seen = Seen { boundary: state.boundary(), frame: &before, ended: None };
        rank::scores((session, call), order.from, source, &[seen])?;
    }
    let tries = tries_of(order, &state)?;
    let mut done = Vec::with_capacity(tries.len());
    for (index, slice) in tries.chunks(SLICE).enumerate() {
        done.extend(try_slice(session, call, order, (&before, slice), (index * SLICE, tries.len()))?);
    }
    if call.cancel.is_cancelled() {
        return Err(Failure::new(Code::Cancelled, "the call was cancelled; nothing was kept"));
    }
    finish(session, order, state.boundary(), done)
}

/// All tries, a line's samples beside each other.
fn tries_of(order: &Order, state: &State) -> Result<Vec<Try>, Failure> {
    let samples = order.samples.unwrap_or(1);
    let mut tries = Vec::with_capacity(order.lines.len() * samples);
    for batch in &order.lines {
        let plain = one(batch, &order.stops, state)?;
        for sample in 0..samples as u64 {
            let luck = match order.luck {
                Luck::Same => Luck::Same,
                luck @ Luck::Reseed { .. } => luck.nth(sample),
            };
            let line = plain.clone().with_luck(luck).framed().with_messages();
            tries.push(if order.keep > 0 { line.kept() } else { line });
        }
    }
    Ok(tries)
}

/// A line: the worker's own batch, or where there are conditions the policy that looks at each frame.
fn one(batch: &Batch, stops: &Stops, state: &State) -> Result<Try, Failure> {
    if stops.is_empty() {
        return Ok(Try::batch(state, batch.clone()));
    }
    let arguments = watched::arguments(stops.conditions(), batch, None, None);
    let arguments = arguments.map_err(|reason| Failure::new(Code::EngineFailure, reason))?;
    Ok(Try::policy(state, watched::WATCHED, arguments, watched::keys_max(batch)))
}

fn try_slice(
    session: &Session,
    call: &Call<'_>,
    order: &Order,
    (before, slice): (&Frame, &[Try]),
    (past, total): (usize, usize),
) -> Result<Vec<Done>, Failure> {
    let tell = |progress: Progress| {
        (call.progress)(Progress { done: past as u64 + progress.done, total: total as u64 });
    };
    let control = Control { progress: Some(&tell), ..call.control(Urgency::Bulk) };
    let results = session.lab.try_lines(slice, &control);
    let results = results.map_err(|error| session.failure(error, Some(order.from)))?;
    let mut scores = match &order.score {
        Some(source) => scores((session, call), (order.from, source), slice, &results)?,
        _ => results.iter().map(|_| None).collect(),
    };
    let samples = order.samples.unwrap_or(1);
    let done = results.into_iter().enumerate().map(|(index, tried)| {
        let keys = order.lines.get((past + index) / samples).map_or(0, Batch::len);
        let row = tried::row(&tried, keys, before, &order.stops);
        let score = scores.get_mut(index).and_then(Option::take);
        Done { row, score, no_room: tried.no_room, state: tried.state }
    });
    Ok(done.collect())
}

/// The scores of those that have a frame.
fn scores(
    (session, call): (&Session, &Call<'_>),
    (from, source): (MachineId, &str),
    slice: &[Try],
    results: &[Tried],
) -> Result<Vec<Option<Result<f64, String>>>, Failure> {
    let frames: Vec<Option<Frame>> = results.iter().map(|tried| tried.frame().filter(|_| tried.is_done())).collect();
    let seen: Vec<Seen<'_>> = slice
        .iter()
        .zip(results)
        .zip(&frames)
        .filter_map(|((line, tried), frame)| {
            let boundary = Boundary(line.from.boundary().0 + tried.inputs.len() as u64);
            Some(Seen { boundary, frame: frame.as_ref()?, ended: tried.ended.as_ref() })
        })
        .collect();
    let mut scores = rank::scores((session, call), from, source, &seen)?.into_iter();
    Ok(frames.iter().map(|frame| frame.as_ref().and_then(|_| scores.next())).collect())
}

fn finish(
    session: &Session,
    order: &Order,
    boundary: Boundary,
    mut done: Vec<Done>,
) -> Result<Arc<TriedRows>, Failure> {
    let (luck, luck_seed) = luck_fields(order.luck);
    let mut head = Map::new();
    let mut put = |name: &str, value: Value| head.insert(name.to_owned(), value);
    put("from", json!(session.name_of(order.from)));
    put("boundary", json!(boundary.0));
    put("luck", json!(luck));
    put("luck_seed", luck_seed);
    put("samples", json!(order.samples));
    put("ended", json!(done.iter().filter(|done| done.row.has_ended).count()));
    let ranking = if order.samples.is_none() { ranking(&done) } else { Vec::new() };
    if order.score.is_some() && order.samples.is_none() {
        let best = ranking.iter().take(BEST_MAX);
        put("best", best.map(|&index| json!({"line": index, "score": score_of(done.get(index))})).collect());
    }
    if order.keep > 0 {
        put("kept", json!(keep_best(session, order, &mut done, &ranking)?));
        let no_room = done.iter().filter(|done| done.no_room).count();
        put("no_room", json!((no_room > 0).then_some(no_room)));
    }
    let rows = rows(order, done);
    let (number, name) = session.tried().name();
    head.insert("tried".to_owned(), json!(name));
    let rows = Arc::new(TriedRows { head, rows });
    session.tried().keep(number, Arc::clone(&rows));
    Ok(rows)
}

fn score_of(done: Option<&Done>) -> Option<f64> {
    done.and_then(|done| done.score.as_ref()).and_then(|score| score.as_ref().ok()).copied()
}

/// The lines that were tried, from the best score on; equal ones in their order. Without scores, all in their order.
fn ranking(done: &[Done]) -> Vec<usize> {
    let is_scored = done.iter().any(|done| done.score.is_some());
    let mut ranking: Vec<(usize, f64)> = done
        .iter()
        .enumerate()
        .filter(|(_, done)| done.row.is_done)
        .filter_map(|(index, done)| {
            let score = if is_scored { score_of(Some(done))? } else { 0.0 };
            Some((index, score))
        })
        .collect();
    ranking.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    ranking.into_iter().map(|(index, _)| index).collect()
}

/// Makes forks of the best lines whose states are there.
fn keep_best(session: &Session, order: &Order, done: &mut [Done], ranking: &[usize]) -> Result<Vec<Value>, Failure> {
    let mut kept = Vec::new();
    for &index in ranking {
        if kept.len() == order.keep {
            break;
        }
        let Some(line) = done.get_mut(index) else { continue };
        let Some(state) = line.state.take() else { continue };
        match session.lab.fork_state(&state) {
            Ok(fork) => kept.push((index, fork)),
            Err(error) => {
                // All or none: a call that fails has done nothing.
                for (_, fork) in &kept {
                    let _ = session.lab.delete(fork.machine, None);
                }
                return Err(session.failure(error, Some(order.from)));
            }
        }
    }
    let (lines, forks): (Vec<usize>, Vec<Snapshot>) = kept.into_iter().unzip();
    let names = crate::forks::named(session, &forks)?;
    let named = lines.into_iter().zip(forks).zip(names).map(|((index, fork), name)| {
        let score = score_of(done.get(index));
        if let Some(line) = done.get_mut(index) {
            line.row.fields.insert("fork".to_owned(), json!(name));
        }
        json!({"id": name, "revision": fork.revision.0, "line": index, "score": score})
    });
    Ok(named.collect())
}

fn rows(order: &Order, mut done: Vec<Done>) -> Vec<String> {
    let samples = order.samples.unwrap_or(1);
    let mut rows = Vec::with_capacity(order.lines.len());
    for line in 0..order.lines.len() {
        let own: Vec<Done> = done.drain(..samples.min(done.len())).collect();
        let mut fields = match order.samples {
            None => single(own),
            Some(_) => {
                let (rows, scores): (Vec<Row>, Vec<_>) = own.into_iter().map(|done| (done.row, done.score)).unzip();
                let scores: Vec<_> = scores.into_iter().flatten().collect();
                tried::sampled(&rows, order.score.is_some().then_some(&scores))
            }
        };
        fields.insert("line".to_owned(), json!(line));
        let mut value = Value::Object(fields);
        crate::schema::drop_nulls(&mut value);
        rows.push(value.to_string());
    }
    rows
}

fn single(own: Vec<Done>) -> Map<String, Value> {
    let Some(Done { row, score, .. }) = own.into_iter().next() else { return Map::new() };
    let mut fields = row.fields;
    match score {
        Some(Ok(score)) => fields.insert("score".to_owned(), json!(score)),
        Some(Err(reason)) => fields.insert("score_error".to_owned(), json!(reason)),
        None => None,
    };
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(score: Option<Result<f64, &str>>, is_done: bool) -> Done {
        let row = Row { fields: Map::new(), stop: "done", is_done, has_ended: false, turns: 0 };
        Done { row, score: score.map(|score| score.map_err(str::to_owned)), state: None, no_room: false }
    }

    #[test]
    fn the_best_come_first_and_equal_ones_in_their_order() {
        let scored = [
            done(Some(Ok(1.0)), true),
            done(Some(Err("no number")), true),
            done(Some(Ok(-2.0)), true),
            done(Some(Ok(7.5)), true),
            done(None, false),
            done(Some(Ok(7.5)), true),
        ];
        assert_eq!(ranking(&scored), [3, 5, 0, 2]);
        let plain = [done(None, true), done(None, false), done(None, true)];
        assert_eq!(ranking(&plain), [0, 2]);
    }
}
