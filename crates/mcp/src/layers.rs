use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wire::{
    COLUMNS, Frame, GlyphNames, MAP_COLUMNS, MAP_ROWS, Menu, Message, Pending, PendingKind, Pick, ROWS, Stage, Window,
};

use crate::changes;
use crate::failure::Failure;

/// A part of a frame that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layer {
    /// The 24 rows of the terminal.
    Screen,
    /// The 21 rows of the map, and where the hero is.
    Map,
    /// Each cell that isn't blank: character, colour, glyph number, what it shows.
    Cells,
    /// The status lines as fields.
    Status,
    /// Messages.
    Messages,
    /// What the hero carries.
    Inventory,
    /// The menu that is open, all pages.
    Menu,
    /// The text that is open, all lines of all its pages.
    Window,
    /// What the game waits for (always given).
    Pending,
    /// What is not as it was at an earlier revision, and messages.
    Changes,
}

/// What a call shows when it doesn't say.
pub(crate) const DEFAULT_LAYERS: [Layer; 6] =
    [Layer::Screen, Layer::Status, Layer::Messages, Layer::Menu, Layer::Window, Layer::Pending];

/// A part of the terminal, counted from 0, both ends included.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rectangle {
    #[schemars(range(min = 0, max = 23))]
    top: u64,
    #[schemars(range(min = 0, max = 79))]
    left: u64,
    #[schemars(range(min = 0, max = 23))]
    bottom: u64,
    #[schemars(range(min = 0, max = 79))]
    right: u64,
}

impl Rectangle {
    /// Refuses what lies outside the terminal or upside down.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let (rows, columns) = (ROWS as u64, COLUMNS as u64);
        let fits = self.top <= self.bottom && self.bottom < rows && self.left <= self.right && self.right < columns;
        if fits {
            return Ok(());
        }
        Err(Failure::argument(
            "rectangle",
            format!(
                "argument `rectangle` is rows {}–{}, columns {}–{}: rows go from 0 to {}, columns from 0 to {}",
                self.top,
                self.bottom,
                self.left,
                self.right,
                rows - 1,
                columns - 1
            ),
        ))
    }

    fn holds(&self, row: usize, column: usize) -> bool {
        (self.top..=self.bottom).contains(&(row as u64)) && (self.left..=self.right).contains(&(column as u64))
    }
}

/// What of a frame is to be shown.
#[derive(Clone, Debug)]
pub(crate) struct Want {
    pub(crate) layers: Vec<Layer>,
    pub(crate) rectangle: Option<Rectangle>,
    /// The revision that changes are counted from, and the frame of it where that is still kept.
    pub(crate) since: Option<(u64, Option<Arc<Frame>>)>,
    /// What glyphs are called, where that is known.
    pub(crate) names: Option<Arc<GlyphNames>>,
    pub(crate) offset: usize,
    pub(crate) limit: usize,
}

/// How many items of a long layer an answer holds unless it is asked for more.
pub(crate) const LIMIT_DEFAULT: usize = 120;
/// How many items of a long layer an answer may hold.
pub(crate) const LIMIT_MAX: u64 = 2_000;

impl Want {
    /// What a call shows that may only name layers.
    pub(crate) fn of(layers: Option<Vec<Layer>>) -> Self {
        Self {
            layers: layers.unwrap_or_else(|| DEFAULT_LAYERS.to_vec()),
            rectangle: None,
            since: None,
            names: None,
            offset: 0,
            limit: LIMIT_DEFAULT,
        }
    }

    pub(crate) fn has(&self, layer: Layer) -> bool {
        self.layers.contains(&layer)
    }
}

/// The layer that holds what the game waits to be read or picked from.
pub(crate) fn waited_for(frame: &Frame) -> Option<Layer> {
    match frame.pending.as_ref()?.kind {
        PendingKind::Menu => Some(Layer::Menu),
        PendingKind::Window => Some(Layer::Window),
        _ => None,
    }
}

/// The layers of a frame, but for messages.
pub(crate) fn show(frame: &Frame, want: &Want) -> Map<String, Value> {
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| {
        out.insert(name.to_owned(), value);
    };
    put("turn", json!(frame.turn));
    put("pending", pending_of(frame));
    if want.has(Layer::Screen) {
        put("screen", json!(frame.screen.text().trim_end()));
        put("cursor", cursor(frame));
    }
    if want.has(Layer::Map) {
        put("map", map(frame));
    }
    if want.has(Layer::Cells) {
        put("cells", cells(frame, want));
    }
    if want.has(Layer::Status) {
        put("status", serde_json::to_value(&frame.status).unwrap_or_default());
    }
    if want.has(Layer::Inventory) {
        put("inventory", inventory(frame));
        if frame.pending.as_ref().is_some_and(|waits| waits.kind != PendingKind::Command) {
            // The game tells it again once the command that goes on has changed it.
            put("inventory_stale", json!(true));
        }
    }
    if want.has(Layer::Menu) {
        put("menu", frame.menu.as_ref().map_or(Value::Null, |open| menu(open, want)));
    }
    if want.has(Layer::Window) {
        put("window", frame.window.as_ref().map_or(Value::Null, |open| window(open, want)));
    }
    if want.has(Layer::Changes)
        && let Some((since, before)) = &want.since
    {
        put("changes", changes::since(*since, before.as_deref(), frame));
    }
    out
}

/// What the game waits for; parts that say nothing are left out.
pub(crate) fn pending(pending: &Pending) -> Value {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    json!({
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
    })
}

/// What NetHack adds to the question for a place.
const INSTRUCTIONS: &str = "(For instructions type a '?')";
/// How what it says begins while a place is being chosen.
const REMARKS: [&str; 9] = [
    "Unknown direction",
    "Can't find dungeon feature",
    "Automatic description",
    "Not limiting targets",
    "Limiting targets",
    "Using a menu",
    "Not using a menu",
    "Skipping over",
    "Not skipping over",
];

/// What the game waits for in this frame. Where it is a place on the map, the engine tells what for; the question itself
/// stands on the screen's top line when it has just been put. Later, that line describes what the cursor is on.
pub(crate) fn pending_of(frame: &Frame) -> Value {
    let Some(waits) = &frame.pending else {
        return Value::Null;
    };
    let mut value = pending(waits);
    if waits.kind == PendingKind::Position && !waits.prompt.is_empty() {
        let top = frame.screen.row(0);
        let top = top.trim().trim_end_matches(INSTRUCTIONS).trim();
        let is_question = !frame.messages.is_empty() && !REMARKS.iter().any(|remark| top.starts_with(remark));
        let question = (is_question && !top.is_empty()).then(|| top.to_owned());
        value["prompt"] = json!(question.unwrap_or_else(|| format!("where is {}?", waits.prompt)));
        value["goal"] = json!(waits.prompt);
    }
    value
}

/// Messages as results show them: `shown` only where it is false.
pub(crate) fn messages(messages: &[Message]) -> Value {
    messages
        .iter()
        .map(|message| {
            json!({
                "id": message.id,
                "turn": message.turn,
                "text": message.text,
                "shown": (!message.shown).then_some(false),
            })
        })
        .collect()
}

fn cursor(frame: &Frame) -> Value {
    json!({"row": frame.screen.cursor.row, "column": frame.screen.cursor.column})
}

fn map(frame: &Frame) -> Value {
    let hero = frame.hero.map(|hero| json!({"row": hero.row, "column": hero.column}));
    if frame.menu.is_some() || frame.window.is_some() {
        // A menu or a text lies on the terminal, so what is under it can't be read from there.
        return json!({"covered": true, "hero": hero});
    }
    let rows: Vec<String> = (1..=MAP_ROWS).map(|row| frame.screen.row(row).trim_end().to_owned()).collect();
    json!({"first_row": 1, "rows": rows, "hero": hero, "cursor": cursor(frame)})
}

fn cells(frame: &Frame, want: &Want) -> Value {
    // What a menu or a text covers is not what its letters show.
    let covered = frame.menu.is_some() || frame.window.is_some();
    let at = |row: usize, column: usize| {
        let index = row * COLUMNS + column;
        let glyph = (1..=MAP_ROWS)
            .contains(&row)
            .then(|| frame.glyphs.get((row - 1) * MAP_COLUMNS + column))
            .flatten()
            .copied()
            .filter(|_| column < MAP_COLUMNS && !covered);
        let is_hero = frame.hero.is_some_and(|hero| (usize::from(hero.row), usize::from(hero.column)) == (row, column));
        let description = glyph.zip(want.names.as_deref()).and_then(|(glyph, names)| names.describe(glyph));
        let description = description.map(|text| if is_hero { format!("you ({text})") } else { text });
        let attributes = frame.screen.attributes.get(index).copied().unwrap_or(0);
        json!({
            "row": row,
            "column": column,
            "char": frame.screen.at(row, column),
            "color": frame.screen.colors.get(index),
            "attributes": (attributes != 0).then_some(attributes),
            "glyph": glyph,
            "description": description,
        })
    };
    let all = (0..ROWS)
        .flat_map(|row| (0..COLUMNS).map(move |column| (row, column)))
        .filter(|&(row, column)| frame.screen.at(row, column) != ' ')
        .filter(|&(row, column)| want.rectangle.is_none_or(|rectangle| rectangle.holds(row, column)))
        .map(|(row, column)| at(row, column));
    let mut value = page(all, want, "items");
    value["covered"] = json!(covered.then_some(true));
    value
}

fn inventory(frame: &Frame) -> Value {
    frame
        .inventory
        .iter()
        .map(|item| json!({"letter": item.letter, "text": item.text, "class": class_name(item.class), "glyph": item.glyph}))
        .collect()
}

/// The name of one of NetHack's object classes.
fn class_name(class: u8) -> &'static str {
    const NAMES: [&str; 17] = [
        "illegal",
        "weapon",
        "armor",
        "ring",
        "amulet",
        "tool",
        "food",
        "potion",
        "scroll",
        "spellbook",
        "wand",
        "coin",
        "gem",
        "rock",
        "ball",
        "chain",
        "venom",
    ];
    usize::from(class).checked_sub(1).and_then(|index| NAMES.get(index)).copied().unwrap_or("unknown")
}

fn menu(menu: &Menu, want: &Want) -> Value {
    let entries = menu.entries.iter().map(|entry| {
        json!({
            "id": entry.id,
            "accelerator": entry.accelerator,
            "group": entry.group,
            "text": entry.text,
            "selectable": entry.selectable && menu.pick != Pick::None,
            "selected": (entry.selectable && menu.pick != Pick::None).then_some(entry.selected),
            "count": entry.count,
            "page": (menu.pages > 1).then_some(entry.page),
        })
    });
    let mut value = page(entries, want, "entries");
    value["title"] = json!((!menu.title.is_empty()).then_some(&menu.title));
    value["pick"] = json!(menu.pick);
    value["page"] = json!(menu.page);
    value["pages"] = json!(menu.pages);
    value
}

fn window(window: &Window, want: &Want) -> Value {
    let mut value = page(window.lines.iter().map(|line| json!(line)), want, "lines");
    value["whole"] = json!(window.whole);
    value
}

/// Bytes of a list in one answer, however many items were asked for: the rest is the next page's.
pub(crate) const PAGE_BYTES_MAX: usize = 100_000;

/// The first of some items that have together at most so many bytes as JSON, but one at least.
pub(crate) fn fitting(items: impl Iterator<Item = Value>, bytes_max: usize) -> Vec<Value> {
    let mut bytes = 0_usize;
    let fits = |(index, item): &(usize, Value)| {
        bytes = bytes.saturating_add(bytes_of(item));
        *index == 0 || bytes <= bytes_max
    };
    items.enumerate().take_while(fits).map(|(_, item)| item).collect()
}

/// The bytes of a value as JSON in a list, with its separator. A null is left out of results.
pub(crate) fn bytes_of(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| match bytes_of(value) {
                0 => 0,
                bytes => name.len() + 3 + bytes,
            };
            fields.iter().map(field).sum::<usize>() + 3
        }
        // A null that stands in a list stays.
        Value::Array(items) => items.iter().map(|item| bytes_of(item).max(5)).sum::<usize>() + 3,
        other => other.to_string().len() + 1,
    }
}

/// A part of a list, with what there is in all where it is not the whole.
pub(crate) fn page(items: impl Iterator<Item = Value>, want: &Want, name: &str) -> Value {
    let all: Vec<Value> = items.collect();
    let total = all.len();
    let some = fitting(all.into_iter().skip(want.offset).take(want.limit), PAGE_BYTES_MAX);
    let next = want.offset + some.len();
    let mut value = json!({
        "total": total,
        "offset": (want.offset > 0).then_some(want.offset),
        "next_offset": (next < total).then_some(next),
    });
    value[name] = Value::Array(some);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(layers: &[Layer]) -> Want {
        Want::of(Some(layers.to_vec()))
    }

    fn frame_with(texts: &[(usize, usize, &str)]) -> Frame {
        let mut frame = Frame::default();
        for &(row, column, text) in texts {
            for (index, byte) in text.bytes().enumerate() {
                frame.screen.chars[row * COLUMNS + column + index] = byte;
            }
        }
        frame
    }

    #[test]
    fn only_what_is_asked_for_is_shown_and_pending_always() {
        let frame = frame_with(&[(1, 2, "@.")]);
        let shown = show(&frame, &want(&[Layer::Screen]));
        assert_eq!(shown["screen"], json!("\n  @."));
        assert!(shown.contains_key("pending") && !shown.contains_key("status"));
        assert!(!show(&frame, &want(&[])).contains_key("screen"));
    }

    #[test]
    fn a_covered_map_shows_nothing_of_what_covers_it() {
        let mut frame = frame_with(&[(1, 2, "@.")]);
        assert_eq!(show(&frame, &want(&[Layer::Map]))["map"]["rows"][0], json!("  @."));
        frame.window = Some(Window { lines: vec!["a text".to_owned(); 500], whole: true });
        let shown = show(&frame, &want(&[Layer::Map, Layer::Window]));
        assert_eq!(shown["map"]["covered"], json!(true));
        assert!(shown["map"].get("rows").is_none());
        assert_eq!(shown["window"]["total"], json!(500));
        assert_eq!(shown["window"]["next_offset"], json!(LIMIT_DEFAULT));
        assert_eq!(shown["window"]["lines"].as_array().unwrap().len(), LIMIT_DEFAULT);
    }

    #[test]
    fn an_inventory_in_the_middle_of_a_command_may_be_stale() {
        let stale = |kind: PendingKind| {
            let pending = Pending {
                kind,
                stage: Stage::Play,
                prompt: String::new(),
                answers: String::new(),
                default: None,
                capacity: None,
                typed: String::new(),
            };
            let frame = Frame { pending: Some(pending), ..Frame::default() };
            show(&frame, &want(&[Layer::Inventory])).get("inventory_stale").cloned()
        };
        assert_eq!(stale(PendingKind::Command), None);
        assert_eq!(stale(PendingKind::More), Some(json!(true)));
        assert!(!show(&Frame::default(), &want(&[Layer::Inventory])).contains_key("inventory_stale"), "it is over");
    }

    #[test]
    fn a_position_is_asked_for_in_the_games_words() {
        let mut frame = frame_with(&[(0, 0, "Pick an object.")]);
        frame.pending = Some(Pending {
            kind: PendingKind::Position,
            stage: Stage::Play,
            prompt: "an unknown object".to_owned(),
            answers: String::new(),
            default: None,
            capacity: None,
            typed: String::new(),
        });
        let text = "whatever was said".to_owned();
        frame.messages.push(Message { id: 1, turn: 1, text, shown: true });
        assert_eq!(pending_of(&frame)["prompt"], json!("Pick an object."));
        assert_eq!(pending_of(&frame)["goal"], json!("an unknown object"));
        let asked = |top: &str, frame: &Frame| {
            let screen = frame_with(&[(0, 0, top)]).screen;
            pending_of(&Frame { screen, ..frame.clone() })["prompt"].clone()
        };
        let fallback = json!("where is an unknown object?");
        assert_eq!(asked("Where to?  (For instructions type a '?')", &frame), json!("Where to?"));
        assert_eq!(asked("(For instructions type a '?')", &frame), fallback);
        assert_eq!(asked("Can't find dungeon feature '_'.", &frame), fallback);
        frame.messages.clear();
        assert_eq!(asked("staircase down", &frame), fallback, "the cursor moved");
    }

    #[test]
    fn classes_have_names() {
        assert_eq!([0, 2, 3, 8, 17, 18].map(class_name), ["unknown", "weapon", "armor", "potion", "venom", "unknown"]);
    }

    #[test]
    fn a_page_is_bounded_in_bytes_and_the_next_one_goes_on() {
        let items: Vec<Value> = (0..300).map(|at| json!({"at": at, "text": "\u{1}".repeat(at * 10)})).collect();
        let mut found = Vec::new();
        let mut want = Want { limit: 2_000, ..want(&[]) };
        loop {
            let mut page = page(items.iter().cloned(), &want, "items");
            assert_eq!(page["total"], json!(300));
            let Value::Array(some) = page["items"].take() else { panic!("no items") };
            let whole = some.iter().map(|item| item.to_string().len()).sum::<usize>();
            assert!(whole <= PAGE_BYTES_MAX && (1..300).contains(&some.len()), "{whole}");
            found.extend(some);
            match page["next_offset"].as_u64() {
                Some(next) => want.offset = next as usize,
                None => break,
            }
        }
        assert_eq!(found, items);
        // One that is too large by itself stands alone.
        let large = vec![json!("x".repeat(200_000)), json!(1)];
        assert_eq!(fitting(large.into_iter(), PAGE_BYTES_MAX).len(), 1);
        for value in [json!({"a": null, "b": [1, null, "é\n"], "c": {}}), json!([]), json!("x"), json!(1.5)] {
            let mut told = value.clone();
            crate::schema::drop_nulls(&mut told);
            assert!(bytes_of(&value) >= told.to_string().len(), "{value}");
        }
    }

    #[test]
    fn cells_are_paged_within_their_rectangle() {
        let frame = frame_with(&[(3, 70, "abcdef"), (9, 0, "xyz")]);
        let mut want = want(&[Layer::Cells]);
        want.rectangle = Some(Rectangle { top: 3, left: 71, bottom: 9, right: 79 });
        want.limit = 2;
        want.offset = 1;
        let cells = &show(&frame, &want)["cells"];
        assert_eq!(cells["total"], json!(5));
        assert_eq!(cells["next_offset"], json!(3));
        assert_eq!(cells["items"][0]["char"], json!("c"));
        let mut frame = frame.clone();
        frame.glyphs = vec![5; MAP_ROWS * MAP_COLUMNS];
        assert_eq!(show(&frame, &want)["cells"]["items"][0]["glyph"], json!(5));
        frame.window = Some(Window { lines: vec!["a text".to_owned()], whole: true });
        let cells = &show(&frame, &want)["cells"];
        assert!(cells["covered"] == json!(true) && cells["items"][0]["glyph"].is_null(), "{cells}");
        assert!(want.rectangle.unwrap().check().is_ok());
        let outside = Rectangle { top: 0, left: 0, bottom: 24, right: 79 };
        assert!(outside.check().unwrap_err().message.contains("24"));
    }
}
