use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use render::{Cell, Symbols, cells};
use serde_json::{Map, Value, json};
use wire::{COLUMNS, Ended, Frame, Menu, Pending, PendingKind, Pick, Screen, Stage};

use crate::source::{At, Logged, Published, Source};

/// The colour of a cell that nobody coloured.
const PLAIN: u8 = 8;
/// How many messages a state holds.
pub(crate) const MESSAGES: usize = 120;
/// How many keys a state holds.
const KEYS: u64 = 24;
/// Machines that one list tells; of more, the newest.
const MACHINES_MAX: usize = 2_048;

/// A machine's state as it is sent, made once for all who look.
#[derive(Debug)]
pub(crate) struct Encoded {
    /// Quoted, as in the header.
    pub(crate) etag: String,
    /// One JSON object.
    pub(crate) json: Bytes,
    /// The same as a server-sent event.
    pub(crate) event: Bytes,
}

impl Encoded {
    pub(crate) fn state(server: &str, source: &dyn Source, published: &Published) -> Self {
        let etag = etag(published);
        let body = state(server, source, published).to_string();
        let event = event("state", &body);
        Self { etag, json: Bytes::from(body), event }
    }

    pub(crate) fn list(server: &str, source: &dyn Source, machines: &[Published]) -> Self {
        let body = list(server, source, machines).to_string();
        let event = event("machines", &body);
        Self { etag: String::new(), json: Bytes::from(body), event }
    }
}

/// Game, revision, what is wrong, and lifecycle: a machine comes to rest, and a file to harm, without another revision.
pub(crate) fn etag(published: &Published) -> String {
    let wrong = published.failure.as_ref().map_or_else(String::new, |failure| {
        let mut hasher = DefaultHasher::new();
        failure.hash(&mut hasher);
        format!("-{:08x}", hasher.finish() & 0xffff_ffff)
    });
    format!("\"{}-{}{wrong}-{}\"", published.game, published.revision, published.lifecycle)
}

fn event(name: &str, data: &str) -> Bytes {
    // JSON has no line breaks of its own.
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

fn state(server: &str, source: &dyn Source, published: &Published) -> Value {
    let mut fields = frame(&published.frame, published.symbols, is_over(published));
    let from = published.boundary.saturating_sub(KEYS);
    let keys = source.keys(&published.id, from, usize::try_from(KEYS).unwrap_or(0));
    let log = source.last_messages(&published.id, MESSAGES);
    let more = json!({
        "server": server,
        "kind": source.kind().word(),
        "machine": published.id,
        "game": published.game,
        "revision": published.revision,
        "line": published.line,
        "boundary": published.boundary,
        "lifecycle": published.lifecycle,
        "ended": published.ended.as_deref().map(ended),
        "failure": published.failure.as_deref(),
        "notice": published.notice.as_deref(),
        "keys": keys.iter().map(|key| key.name()).collect::<Vec<_>>(),
        "log": log.iter().map(logged).collect::<Vec<_>>(),
    });
    if let Value::Object(more) = more {
        fields.extend(more);
    }
    Value::Object(fields)
}

fn is_over(published: &Published) -> bool {
    matches!(published.lifecycle, "ended" | "aborted" | "failed")
}

/// A frame of a line, with the key that led to it.
pub(crate) fn at(at: &At) -> Value {
    let mut fields = frame(&at.frame, at.symbols, at.ended.is_some());
    fields.insert("game".to_owned(), json!(at.game));
    fields.insert("boundary".to_owned(), json!(at.boundary));
    fields.insert("key".to_owned(), json!(at.key.map(wire::Key::name)));
    fields.insert("ended".to_owned(), json!(at.ended.as_deref().map(ended)));
    Value::Object(fields)
}

/// A message of a log.
pub(crate) fn logged(logged: &Logged) -> Value {
    let message = &logged.message;
    let mut fields = json!({"id": message.id, "turn": message.turn, "text": message.text});
    if !message.shown {
        fields["shown"] = json!(false);
    }
    if let Some(boundary) = logged.boundary {
        fields["boundary"] = json!(boundary);
    }
    fields
}

fn list(server: &str, source: &dyn Source, machines: &[Published]) -> Value {
    let total = machines.len();
    // The main machine stands first, the newest forks last.
    let cut = total.saturating_sub(MACHINES_MAX);
    let told: Vec<Value> = machines.iter().take(1).chain(machines.iter().skip(cut.max(1))).map(summary).collect();
    json!({
        "server": server,
        "kind": source.kind().word(),
        "title": source.title(),
        "total": total,
        "machines": told,
    })
}

fn summary(published: &Published) -> Value {
    let status = published.frame.status.as_ref();
    let pending = published.frame.pending.as_ref().filter(|_| !is_over(published));
    json!({
        "id": published.id,
        "game": published.game,
        "parent": published.lineage.as_ref().map(|lineage| {
            json!({"id": lineage.parent, "base": lineage.base, "reseeded": lineage.reseeded})
        }),
        "revision": published.revision,
        "boundary": published.boundary,
        "lifecycle": published.lifecycle,
        "ended": published.ended.as_deref().map(ended),
        "failure": published.failure.as_deref(),
        "turn": published.frame.turn,
        "level": status.map(|status| status.level_text.clone()),
        "hp": status.map(|status| status.hp),
        "hp_max": status.map(|status| status.hp_max),
        "pending": pending.map(|pending| pending.kind.word()),
    })
}

fn ended(ended: &Ended) -> Value {
    json!({"kind": ended.kind, "text": ended.text})
}

/// What is visible.
fn frame(frame: &Frame, symbols: Symbols, over: bool) -> Map<String, Value> {
    let cursor = &frame.screen.cursor;
    let pending = frame.pending.as_ref().filter(|_| !over);
    // What happens behind a prompt may not have been told yet.
    let stale = over || pending.is_none_or(|pending| pending.kind != PendingKind::Command);
    let value = json!({
        "turn": frame.turn,
        "rows": rows(&frame.screen, symbols),
        "cursor": [cursor.row, cursor.column],
        "hero": frame.hero.map(|hero| [hero.row, hero.column]),
        "status": frame.status,
        "pending": pending.map(|pending| asked(pending, frame)),
        "menu": frame.menu.as_ref().map(menu),
        "window": frame.window.as_ref().map(|window| json!({"lines": window.lines, "whole": window.whole})),
        "messages": frame.messages.iter().map(|message| {
            logged(&Logged { message: message.clone(), boundary: None })
        }).collect::<Vec<_>>(),
        "inventory": (!frame.inventory.is_empty()).then(|| json!({
            "stale": stale,
            "items": frame.inventory.iter().map(|item| {
                json!({"letter": item.letter, "text": item.text, "class": item.class})
            }).collect::<Vec<_>>(),
        })),
    });
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Each row as runs of equal looks, `[text, colour, attributes]`, without what is blank at its end. Attributes: bit 0
/// bold, 1 dim, 2 underline, 3 blink, 4 inverse.
fn rows(screen: &Screen, symbols: Symbols) -> Vec<Value> {
    cells(screen, symbols).chunks(COLUMNS).map(|row| Value::Array(runs(row))).collect()
}

fn runs(row: &[Cell]) -> Vec<Value> {
    let width = row.iter().rposition(|cell| *cell != Cell::BLANK).map_or(0, |last| last + 1);
    let mut runs: Vec<(String, (u8, u8))> = Vec::new();
    for cell in row.iter().take(width) {
        let now = look(cell);
        match runs.last_mut() {
            Some((text, before)) if *before == now => text.push(cell.symbol),
            _ => runs.push((cell.symbol.to_string(), now)),
        }
    }
    runs.into_iter().map(|(text, (color, attributes))| json!([text, color, attributes])).collect()
}

fn look(cell: &Cell) -> (u8, u8) {
    let attributes = [cell.bold, cell.dim, cell.underline, cell.blink, cell.inverse];
    let bits = attributes.iter().enumerate().map(|(bit, is_set)| u8::from(*is_set) << bit);
    (cell.color.unwrap_or(PLAIN), bits.sum())
}

fn asked(pending: &Pending, frame: &Frame) -> Value {
    let mut prompt = pending.prompt.clone();
    if pending.kind == PendingKind::Position && !prompt.is_empty() {
        // The question stands on the top line; the engine tells what the place is for.
        let top = frame.screen.row(0).trim().to_owned();
        prompt = if top.is_empty() { format!("Where is {prompt}?") } else { top };
    }
    json!({
        "kind": pending.kind.word(),
        "prompt": prompt,
        "answers": pending.answers,
        "default": pending.default,
        "typed": pending.typed,
        "stage": match pending.stage {
            Stage::Start => "start",
            Stage::Play => "play",
            Stage::Ending => "ending",
        },
    })
}

fn menu(menu: &Menu) -> Value {
    let entries: Vec<Value> = menu
        .entries
        .iter()
        .map(|entry| {
            json!({
                "key": entry.accelerator,
                "text": entry.text,
                "heading": !entry.selectable,
                "selected": entry.selected,
                "count": entry.count,
                "page": entry.page,
            })
        })
        .collect();
    let pick = match menu.pick {
        Pick::None => "none",
        Pick::One => "one",
        Pick::Any => "any",
    };
    json!({"title": menu.title, "pick": pick, "page": menu.page, "pages": menu.pages, "entries": entries})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_runs_that_give_back_every_cell() {
        let mut screen = Screen::default();
        screen.chars[..6].copy_from_slice(b"<b> &@");
        screen.colors[5] = 12;
        screen.attributes[7] = 0x80;
        screen.colors[9] = 3;
        let told = rows(&screen, Symbols::Plain);
        let first = json!([["<b> &", 8, 0], ["@", 12, 0], [" ", 8, 0], [" ", 8, 16]]);
        assert_eq!(told[0], first);
        assert_eq!(told.len(), wire::ROWS);
        assert_eq!(told[1], json!([]));
        // Cut short, as no game writes it.
        screen.chars.truncate(3);
        screen.attributes.clear();
        assert_eq!(rows(&screen, Symbols::Dec)[0], json!([["<b>", 8, 0]]));
    }

    #[test]
    fn an_event_is_one_line_whatever_the_game_says() {
        let text = json!({"text": "a\nb\r\nc\u{2028}"}).to_string();
        let bytes = event("state", &text);
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 3);
        assert!(!bytes.contains(&b'\r'));
    }
}
