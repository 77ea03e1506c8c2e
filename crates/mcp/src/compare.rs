use lab::{CellDiff, Diff, GlyphDiff};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::{Frame, InventoryItem, ROWS};

use crate::arguments::size_within;
use crate::failure::Failure;
use crate::layers::{self, Want};
use crate::reply::{Call, RUNNING, Reply};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

/// `fork_diff`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkDiff {
    /// "main" or a fork's id.
    a: String,
    /// "main" or a fork's id.
    b: String,
    /// True lists the cells of the screen that differ, too.
    cells: Option<bool>,
    /// True lists the map cells whose glyphs differ, too.
    glyphs: Option<bool>,
    /// How many cells, glyphs and messages of each kind at most; 40 without it.
    #[schemars(range(min = 1, max = 2000))]
    limit: Option<u64>,
    /// How many of each to pass over.
    #[schemars(range(min = 0, max = 1000000))]
    offset: Option<u64>,
}

const DIFF: &[Field] = &[
    ("a", Kind::Object, ""),
    ("b", Kind::Object, ""),
    ("common", Kind::Integer, ""),
    ("images_same", Kind::Flag, ""),
    ("play_same", Kind::Flag, "Screen, turn and random numbers are the same."),
    ("visible_same", Kind::Flag, ""),
    ("only_random_state", Kind::Flag, "Everything visible is the same, the random numbers to come are not."),
    ("turns", Kind::Object, ""),
    ("status", Kind::Objects, ""),
    ("inventory", Kind::Objects, ""),
    ("pending", Kind::Object, ""),
    ("ended", Kind::Object, ""),
    ("rows", Kind::Objects, ""),
    ("cursor", Kind::Object, ""),
    ("cells", Kind::Object, "How many cells of the screen differ, and with `cells` which; paged."),
    ("glyphs", Kind::Object, ""),
    ("messages_a", Kind::Object, ""),
    ("messages_b", Kind::Object, ""),
    ("messages_truncated", Kind::Flag, ""),
];

impl ToolArguments for ForkDiff {
    const NAME: &'static str = "fork_diff";
    const TITLE: &'static str = "Compare two machines";
    const TEXT: &'static str = "What differs between two machines where they are now: rows of the screen, status fields \
        (with b less a), inventory, messages since their lines parted, pending, turn, end; whether they are the same \
        byte for byte, and whether only the random numbers to come differ. Cells and map glyphs are counted.";
    const EFFECT: Effect = Effect::Computes;
    const RESULT: &'static [&'static [Field]] = &[DIFF, RUNNING];

    fn call(self, session: &Session, _: &Call<'_>) -> Result<Reply, Failure> {
        let want = Want {
            limit: size_within("limit", self.limit, 40, 1, 2_000)?,
            offset: size_within("offset", self.offset, 0, 0, 1_000_000)?,
            ..Want::of(None)
        };
        let (a, b) = (session.machine(Some(&self.a))?, session.machine(Some(&self.b))?);
        let diff = session.lab.diff(a, b).map_err(|error| session.failure(error, None))?;
        let (frame_a, frame_b) = (session.snapshot(a)?, session.snapshot(b)?);
        let side = |name: &str, boundary: lab::Boundary, revision: lab::Revision| json!({"machine": name, "boundary": boundary.0, "revision": revision.0});
        let listed = |wanted: Option<bool>, all: Vec<Value>| match wanted {
            Some(true) => layers::page(all.into_iter(), &want, "items"),
            _ => json!({"total": all.len()}),
        };
        Ok(show(&diff, &want)
            .with("cells", listed(self.cells, diff.cells.iter().map(cell).collect()))
            .with("glyphs", listed(self.glyphs, diff.glyphs.iter().map(glyph).collect()))
            .with("a", side(&self.a, diff.boundaries.0, frame_a.revision))
            .with("b", side(&self.b, diff.boundaries.1, frame_b.revision))
            .with("rows", rows(&diff, &frame_a.frame, &frame_b.frame)))
    }
}

fn show(diff: &Diff, want: &Want) -> Reply {
    let (a, b) = diff.turns;
    let status: Vec<Value> = diff
        .status
        .iter()
        .map(|field| json!({"field": field.field, "a": field.a, "b": field.b, "delta": field.delta}))
        .collect();
    let item = |item: &Option<InventoryItem>| item.as_ref().map(|item| item.text.clone());
    let inventory: Vec<Value> = diff
        .inventory
        .iter()
        .map(|differs| json!({"letter": differs.letter, "a": item(&differs.a), "b": item(&differs.b)}))
        .collect();
    let pending = diff.pending.as_ref().map(|both| {
        let (a, b) = both.as_ref();
        json!({"a": a.as_ref().map(layers::pending), "b": b.as_ref().map(layers::pending)})
    });
    let messages = |messages: &[wire::Message]| match layers::messages(messages) {
        Value::Array(messages) => layers::page(messages.into_iter(), want, "items"),
        _ => Value::Null,
    };
    let point = |(row, column): (u8, u8)| json!({"row": row, "column": column});
    Reply::default()
        .with("common", diff.common.map(|common| common.0))
        .with("images_same", diff.images_same)
        .with("play_same", diff.play_same)
        .with("visible_same", diff.visible_same)
        .with("only_random_state", diff.only_random_state)
        .with("turns", json!({"a": a, "b": b, "delta": b - a}))
        .with("status", status)
        .with("inventory", inventory)
        .with("pending", pending)
        .with("ended", diff.ended.as_ref().map(|(a, b)| json!({"a": a, "b": b})))
        .with("cursor", diff.cursor.map(|(a, b)| json!({"a": point(a), "b": point(b)})))
        .with("messages_a", messages(&diff.messages_a))
        .with("messages_b", messages(&diff.messages_b))
        .with("messages_truncated", diff.messages_truncated.then_some(true))
}

fn cell(differs: &CellDiff) -> Value {
    let side = |(character, color, attributes): (char, u8, u8)| json!({"char": character, "color": color, "attributes": (attributes != 0).then_some(attributes)});
    json!({"row": differs.row, "column": differs.column, "a": side(differs.a), "b": side(differs.b)})
}

fn glyph(differs: &GlyphDiff) -> Value {
    json!({"row": differs.row, "column": differs.column, "a": differs.a, "b": differs.b})
}

/// The rows in which cells differ, as text. The machines may have moved on since they were compared, so the rows are
/// only those that still differ.
fn rows(diff: &Diff, a: &Frame, b: &Frame) -> Vec<Value> {
    let differs = |row: usize| diff.cells.iter().any(|cell| usize::from(cell.row) == row);
    (0..ROWS)
        .filter(|row| differs(*row))
        .map(|row| (row, a.screen.row(row), b.screen.row(row)))
        .filter(|(_, a, b)| a != b)
        .map(|(row, a, b)| json!({"row": row, "a": a.trim_end(), "b": b.trim_end()}))
        .collect()
}
