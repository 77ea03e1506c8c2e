//! A frame as scripts see it: the layers that the tools show, by the same names.

use serde_json::{Map, Value, json};
use wire::{
    Frame, GlyphNames, InventoryItem, MAP_COLUMNS, MAP_ROWS, Menu, Message, Pending, PendingKind, ROWS, Screen, Stage,
};

use crate::{Seen, glyph};

/// What a script finds in `nh`, but for its functions. What isn't there is null.
#[must_use]
pub fn view(seen: &Seen<'_>) -> Map<String, Value> {
    let frame = seen.frame;
    let fields = json!({
        "boundary": seen.boundary.0,
        "turn": frame.turn,
        "screen": (0..ROWS).map(|row| trimmed(&frame.screen, row)).collect::<Vec<String>>(),
        "cursor": cursor(frame),
        "hero": hero(frame),
        "map": map(frame),
        "status": frame.status.as_ref().and_then(|status| serde_json::to_value(status).ok()),
        "messages": frame.messages.iter().map(message).collect::<Value>(),
        "messages_truncated": frame.messages_truncated.then_some(true),
        "inventory": frame.inventory.iter().map(item).collect::<Value>(),
        "inventory_stale": frame.pending.as_ref().filter(|waits| waits.kind != PendingKind::Command).map(|_| true),
        "menu": frame.menu.as_ref().map(menu),
        "window": frame.window.as_ref().map(|window| json!({"lines": window.lines, "whole": window.whole})),
        "pending": frame.pending.as_ref().map(|waits| pending(waits, &frame.screen)),
        "ended": seen.ended.map(|ended| json!({"kind": ended.kind, "how": ended.how, "text": ended.text})),
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn trimmed(screen: &Screen, row: usize) -> String {
    screen.row(row).trim_end().to_owned()
}

fn cursor(frame: &Frame) -> Value {
    json!({"row": frame.screen.cursor.row, "column": frame.screen.cursor.column})
}

fn hero(frame: &Frame) -> Value {
    frame.hero.map_or(Value::Null, |hero| json!({"row": hero.row, "column": hero.column}))
}

fn map(frame: &Frame) -> Value {
    if frame.menu.is_some() || frame.window.is_some() {
        return json!({"covered": true, "hero": hero(frame)});
    }
    let rows: Vec<String> = (1..=MAP_ROWS).map(|row| trimmed(&frame.screen, row)).collect();
    json!({"first_row": 1, "rows": rows, "hero": hero(frame), "cursor": cursor(frame)})
}

/// A message.
pub(crate) fn message(message: &Message) -> Value {
    json!({
        "id": message.id,
        "turn": message.turn,
        "text": message.text,
        "shown": (!message.shown).then_some(false),
    })
}

fn item(item: &InventoryItem) -> Value {
    json!({"letter": item.letter, "text": item.text, "class": class(item.class), "glyph": item.glyph})
}

/// The name of one of NetHack's object classes.
fn class(class: u8) -> &'static str {
    match class {
        1 => "illegal",
        2 => "weapon",
        3 => "armor",
        4 => "ring",
        5 => "amulet",
        6 => "tool",
        7 => "food",
        8 => "potion",
        9 => "scroll",
        10 => "spellbook",
        11 => "wand",
        12 => "coin",
        13 => "gem",
        14 => "rock",
        15 => "ball",
        16 => "chain",
        17 => "venom",
        _ => "unknown",
    }
}

fn menu(menu: &Menu) -> Value {
    let entry = |entry: &wire::MenuEntry| {
        json!({
            "id": entry.id,
            "accelerator": entry.accelerator,
            "group": entry.group,
            "text": entry.text,
            "selectable": entry.selectable,
            "selected": entry.selectable.then_some(entry.selected),
            "count": entry.count,
            "page": (menu.pages > 1).then_some(entry.page),
        })
    };
    json!({
        "title": (!menu.title.is_empty()).then_some(&menu.title),
        "pick": menu.pick,
        "page": menu.page,
        "pages": menu.pages,
        "total": menu.entries.len(),
        "entries": menu.entries.iter().map(entry).collect::<Value>(),
    })
}

fn pending(pending: &Pending, screen: &Screen) -> Value {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let mut value = json!({
        "kind": pending.kind.word(),
        "prompt": some(&pending.prompt),
        "answers": some(&pending.answers),
        "default": pending.default,
        "capacity": pending.capacity,
        "typed": some(&pending.typed),
        "stage": match pending.stage {
            Stage::Play => None,
            Stage::Start => Some("start"),
            Stage::Ending => Some("ending"),
        },
    });
    if pending.kind == PendingKind::Position && !pending.prompt.is_empty() {
        // The engine tells what the place is for; the question itself stands on the screen's top line.
        let top = screen.row(0);
        let top = top.trim();
        let asked = if top.is_empty() { format!("where is {}?", pending.prompt) } else { top.to_owned() };
        value["prompt"] = json!(asked);
        value["goal"] = json!(pending.prompt);
    }
    value
}

/// One cell of the terminal, with what its glyph is called where that is known; nothing outside it.
pub(crate) fn cell(frame: &Frame, names: Option<&GlyphNames>, row: usize, column: usize) -> Option<Value> {
    if row >= ROWS || column >= wire::COLUMNS {
        return None;
    }
    let index = row * wire::COLUMNS + column;
    let covered = frame.menu.is_some() || frame.window.is_some();
    let on_map = (1..=MAP_ROWS).contains(&row) && column < MAP_COLUMNS;
    let glyph = on_map.then(|| frame.glyphs.get((row - 1) * MAP_COLUMNS + column).copied()).flatten();
    let attributes = frame.screen.attributes.get(index).copied().unwrap_or(0);
    let is_hero = frame.hero.is_some_and(|hero| (usize::from(hero.row), usize::from(hero.column)) == (row, column));
    let kind = glyph.map(|glyph| if is_hero { "hero" } else { glyph::kind(glyph) });
    let description = glyph.zip(names).and_then(|(glyph, names)| names.describe(glyph));
    let description = description.map(|text| if is_hero { format!("you ({text})") } else { text });
    Some(json!({
        "row": row,
        "column": column,
        "char": frame.screen.at(row, column),
        "color": frame.screen.colors.get(index),
        "attributes": (attributes != 0).then_some(attributes),
        "glyph": glyph,
        "kind": kind,
        "description": description,
        "covered": (on_map && covered).then_some(true),
    }))
}

/// The cells of the terminal that aren't blank, or show more than stone, row by row.
pub(crate) fn cells(frame: &Frame, names: Option<&GlyphNames>) -> Vec<Value> {
    let all = (0..ROWS).flat_map(|row| (0..wire::COLUMNS).map(move |column| (row, column)));
    let shown = all.filter(|&(row, column)| {
        let on_map = (1..=MAP_ROWS).contains(&row) && column < MAP_COLUMNS;
        let glyph = on_map.then(|| frame.glyphs.get((row - 1) * MAP_COLUMNS + column)).flatten();
        frame.screen.at(row, column) != ' ' || glyph.is_some_and(|glyph| glyph::kind(*glyph) != "stone")
    });
    shown.filter_map(|(row, column)| cell(frame, names, row, column)).collect()
}
