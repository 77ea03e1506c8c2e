use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Path, RawQuery, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::assets::{Asset, PAGE, PARTS};
use crate::crowd::Guest;
use crate::events::{Events, Stage};
use crate::guard::{Hosts, error, guard};
use crate::source::{Refusal, Source};
use crate::view::{self, Encoded};
use crate::watch::Watchers;

/// Frames that one answer holds.
const FRAMES_MAX: usize = 64;
/// Messages that one answer holds.
const MESSAGES_MAX: usize = 2_000;
/// Questions that are worked on at once, and that wait for their turn.
const WORKING_MAX: usize = 2;
const WAITING_MAX: usize = 128;

#[derive(Clone)]
struct Shared {
    watchers: Arc<Watchers>,
    work: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

pub(crate) fn router(source: Arc<dyn Source>, server: String, hosts: Hosts) -> Router {
    let shared = Shared {
        watchers: Arc::new(Watchers::new(source, server)),
        work: Arc::new(Semaphore::new(WORKING_MAX)),
        waiting: Arc::new(Semaphore::new(WAITING_MAX)),
    };
    Router::new()
        .route("/", get(async |headers: HeaderMap| asset(&PAGE, &headers)))
        .route("/assets/{name}", get(part))
        .route("/health", get(async || json_answer(json!({"ok": true}).to_string())))
        .route("/api/machines", get(machines))
        .route("/api/machines/{id}/state", get(state))
        .route("/api/machines/{id}/events", get(events))
        .route("/api/machines/{id}/frames/{boundary}", get(frames))
        .route("/api/machines/{id}/messages", get(messages))
        .route("/api/machines/{id}/index", get(index))
        .route("/g/{id}", get(reserved))
        .route("/api/games/{id}/state", get(reserved))
        .fallback(async |_: Uri| nothing())
        .layer(from_fn_with_state(hosts, guard))
        .with_state(shared)
}

fn nothing() -> Response {
    error(StatusCode::NOT_FOUND, "NOT_FOUND", "there is nothing here")
}

async fn reserved() -> Response {
    error(StatusCode::NOT_FOUND, "RESERVED", "this address is kept for servers of many games")
}

fn bad(message: &str) -> Response {
    error(StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", message)
}

fn unknown() -> Response {
    error(StatusCode::NOT_FOUND, "UNKNOWN_MACHINE", &Refusal::UnknownMachine.to_string())
}

fn busy(message: &str) -> Response {
    let mut response = error(StatusCode::SERVICE_UNAVAILABLE, "BUSY", message);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn json_answer(body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body.into()).into_response()
}

/// A machine's name, or none that there can be.
fn is_id(id: &str) -> bool {
    (1..=24).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The numbers of a query, each of which must be one of these names, once.
fn numbers<const N: usize>(query: Option<&str>, names: [&str; N]) -> Result<[Option<u64>; N], String> {
    let mut found = [None; N];
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let Some(slot) = names.iter().position(|known| *known == name).and_then(|at| found.get_mut(at)) else {
            return Err(format!("what may be asked for is {}", names.join(", ")));
        };
        if slot.is_some() {
            return Err(format!("{name} stands twice"));
        }
        *slot = Some(number(value).ok_or_else(|| format!("{name}: {NUMBER}"))?);
    }
    Ok(found)
}

/// What is said of a text that is no number.
const NUMBER: &str = "a whole number from 0 on, of at most 16 digits, is wanted";

fn number(text: &str) -> Option<u64> {
    let digits = (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

fn asset(asset: &Asset, headers: &HeaderMap) -> Response {
    let etag = asset.etag();
    let revalidate = HeaderValue::from_static("no-cache");
    if is_known(headers, &etag) {
        return (StatusCode::NOT_MODIFIED, [(header::CACHE_CONTROL, revalidate)]).into_response();
    }
    let tag = HeaderValue::from_str(&etag).unwrap_or(HeaderValue::from_static("\"\""));
    let media_type = HeaderValue::from_static(asset.media_type);
    let fields = [(header::CONTENT_TYPE, media_type), (header::ETAG, tag), (header::CACHE_CONTROL, revalidate)];
    (fields, asset.bytes).into_response()
}

/// Whether the client has what has this tag.
fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let given = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    given.flat_map(|value| value.split(',')).any(|tag| tag.trim().trim_start_matches("W/") == etag)
}

async fn part(Path(name): Path<String>, headers: HeaderMap) -> Response {
    PARTS.iter().find(|part| part.name == name).map_or_else(nothing, |part| asset(part, &headers))
}

impl Shared {
    fn source(&self) -> Arc<dyn Source> {
        Arc::clone(&self.watchers.source)
    }

    /// Answers a question on a thread that may block. Few are worked on at a time, so that viewers take their turns and
    /// not those of whoever plays.
    async fn ask(&self, work: impl FnOnce(&Watchers) -> Response + Send + 'static) -> Response {
        let Ok(_waits) = self.waiting.try_acquire() else {
            return busy("too many questions at once");
        };
        let Ok(_turn) = self.work.acquire().await else {
            return busy("the viewer ends");
        };
        let watchers = Arc::clone(&self.watchers);
        let answer = tokio::task::spawn_blocking(move || work(&watchers)).await;
        answer.unwrap_or_else(|_| error(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", "the viewer has failed at this"))
    }
}

async fn machines(State(shared): State<Shared>) -> Response {
    let list = |watchers: &Watchers| {
        let machines = watchers.source.machines();
        json_answer(Encoded::list(&watchers.server, &*watchers.source, &machines).json)
    };
    shared.ask(list).await
}

async fn state(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if !is_id(&id) {
        return unknown();
    }
    if let Some(shown) = shared.watchers.shown(&id) {
        return tagged(&headers, &shown.etag, || shown.json.clone());
    }
    let look = move |watchers: &Watchers| {
        let Some(published) = watchers.source.look(&id) else { return unknown() };
        let tag = view::etag(&published);
        tagged(&headers, &tag, || Encoded::state(&watchers.server, &*watchers.source, &published).json)
    };
    shared.ask(look).await
}

fn tagged(headers: &HeaderMap, etag: &str, body: impl FnOnce() -> Bytes) -> Response {
    let mut response =
        if is_known(headers, etag) { StatusCode::NOT_MODIFIED.into_response() } else { json_answer(body()) };
    if let Ok(tag) = HeaderValue::from_str(etag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

async fn events(State(shared): State<Shared>, Extension(guest): Extension<Guest>, Path(id): Path<String>) -> Response {
    if !is_id(&id) {
        return unknown();
    }
    let source = shared.source();
    let name = id.clone();
    let known = tokio::task::spawn_blocking(move || source.look(&name).is_some()).await;
    if !known.unwrap_or(false) {
        return unknown();
    }
    let (Some(machine), Some(list)) = (shared.watchers.machine(&id), shared.watchers.list()) else {
        return busy("too many machines are watched at once: ask for the state instead");
    };
    let stream = Events { machine, list, stage: Stage::Begins, _viewing: guest.view() }.into_stream();
    let kind = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (kind, Body::from_stream(stream)).into_response()
}

async fn frames(
    State(shared): State<Shared>,
    Path((id, boundary)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Response {
    if !is_id(&id) {
        return unknown();
    }
    let Some(from) = number(&boundary) else { return bad(&format!("boundary: {NUMBER}")) };
    let count = match numbers(query.as_deref(), ["count"]) {
        Ok([count]) => count.map_or(1, |count| usize::try_from(count).unwrap_or(usize::MAX)),
        Err(wrong) => return bad(&wrong),
    };
    if !(1..=FRAMES_MAX).contains(&count) {
        return bad(&format!("count: {count} is not 1 to {FRAMES_MAX}"));
    }
    let find = move |watchers: &Watchers| match watchers.source.frames(&id, from, count) {
        Ok(frames) => {
            let frames: Vec<Value> = frames.iter().map(view::at).collect();
            json_answer(json!({"server": watchers.server, "machine": id, "frames": frames}).to_string())
        }
        Err(refusal) => refused(&refusal),
    };
    shared.ask(find).await
}

fn refused(refusal: &Refusal) -> Response {
    let message = refusal.to_string();
    match refusal {
        Refusal::UnknownMachine => unknown(),
        Refusal::NoBoundary { .. } => error(StatusCode::NOT_FOUND, "NO_BOUNDARY", &message),
        Refusal::NotYet { .. } => busy(&message),
        Refusal::Failed(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "FAILED", &message),
    }
}

async fn messages(State(shared): State<Shared>, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    if !is_id(&id) {
        return unknown();
    }
    let (after, limit) = match numbers(query.as_deref(), ["after", "limit"]) {
        Ok([after, limit]) => (after.unwrap_or(0), limit.unwrap_or(500)),
        Err(wrong) => return bad(&wrong),
    };
    let Some(limit) = usize::try_from(limit).ok().filter(|limit| (1..=MESSAGES_MAX).contains(limit)) else {
        return bad(&format!("limit: {limit} is not 1 to {MESSAGES_MAX}"));
    };
    let read = move |watchers: &Watchers| {
        if watchers.source.look(&id).is_none() {
            return unknown();
        }
        let page = watchers.source.messages(&id, after, limit);
        let told: Vec<Value> = page.iter().map(view::logged).collect();
        json_answer(json!({"server": watchers.server, "machine": id, "messages": told}).to_string())
    };
    shared.ask(read).await
}

async fn index(State(shared): State<Shared>, Path(id): Path<String>) -> Response {
    if !is_id(&id) {
        return unknown();
    }
    let read = move |watchers: &Watchers| match watchers.source.index(&id) {
        Some(index) => json_answer(index.json().to_string()),
        None => error(StatusCode::NOT_FOUND, "NO_INDEX", "none is kept for this machine"),
    };
    shared.ask(read).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_hold_known_numbers_only() {
        let one = |query| numbers(Some(query), ["count"]).map(|[count]| count);
        assert_eq!(one("count=7").unwrap(), Some(7));
        assert_eq!(one("").unwrap(), None);
        for query in
            ["count", "count=", "count=-1", "count=1&count=2", "n=1", "count=1e3", "count=99999999999999999", "=1"]
        {
            assert!(one(query).is_err(), "{query}");
        }
    }

    #[test]
    fn names_are_short_and_plain() {
        for id in ["main", "f1", "f1024"] {
            assert!(is_id(id));
        }
        for id in ["", "..", "f/1", "é", "f 1", &"f".repeat(25), "%2e"] {
            assert!(!is_id(id), "{id}");
        }
    }
}
