//! What the tests share.

use libtest_mimic::{Failed, Trial};
use script::{Evaluated, Past, ScriptError, ScriptLimits, ScriptProgram, Scripts, Seen};
use serde_json::Value;
use wire::{Boundary, Cursor, Frame, GlyphNames, InventoryItem, Message, Pending, PendingKind, Stage, Status};

/// A named test.
pub(crate) fn trial(name: &'static str, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
        outcome.map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Failed::from(text.unwrap_or_else(|| panic.downcast_ref::<&str>().unwrap_or(&"it panicked").to_string()))
        })
    })
}

pub(crate) fn scripts() -> Scripts {
    Scripts::new(ScriptProgram::new(std::env::current_exe().expect("this program")))
}

/// A frame like those of a game: a room, a jackal, a pet, a door, messages.
pub(crate) fn frame(turn: i64) -> Frame {
    let mut frame = Frame { turn, ..Frame::default() };
    let rows =
        [(3, 10, "-----+"), (4, 10, "|.d@.|"), (5, 10, "|...f."), (6, 10, "------"), (22, 0, "Agent the Digger")];
    for (row, column, text) in rows {
        for (index, byte) in text.bytes().enumerate() {
            frame.screen.chars[row * wire::COLUMNS + column + index] = byte;
        }
    }
    frame.glyphs = vec![2359; wire::MAP_ROWS * wire::MAP_COLUMNS];
    let glyphs = [(4, 12, 12), (4, 13, 330), (4, 11, 2378), (5, 14, 381 + 12), (3, 15, 2375), (5, 15, 2371)];
    for (row, column, glyph) in glyphs {
        frame.glyphs[(row - 1) * wire::MAP_COLUMNS + column] = glyph;
    }
    frame.hero = Some(Cursor { row: 4, column: 13 });
    frame.status = Some(Status { hp: 12, hp_max: 16, depth: 1, ..Status::default() });
    let text = format!("The jackal bites! ({turn})");
    frame.messages = vec![Message { id: turn.unsigned_abs(), turn, text, shown: true }];
    let item = |letter, text: &str, class| InventoryItem { letter, text: text.to_owned(), class, glyph: 1906 };
    frame.inventory = vec![item('a', "a dwarvish mattock", 2), item('b', "4 food rations", 7), item('c', "a dart", 2)];
    frame.pending = Some(Pending {
        kind: PendingKind::Command,
        stage: Stage::Play,
        prompt: String::new(),
        answers: String::new(),
        default: None,
        capacity: None,
        typed: String::new(),
    });
    frame
}

/// What the monsters of such a frame are called.
pub(crate) fn names() -> GlyphNames {
    GlyphNames { monsters: (0..381).map(|kind| format!("monster {kind}")).collect(), ..GlyphNames::default() }
}

/// A game whose turn is its boundary, and which notes what it was asked for.
#[derive(Default)]
pub(crate) struct Game {
    pub(crate) asked: Vec<(u64, usize)>,
    /// How often it was asked what glyphs are called.
    pub(crate) named: usize,
}

impl Past for Game {
    fn frames(&mut self, before: Boundary, count: usize) -> Result<Vec<(Boundary, Frame)>, String> {
        self.asked.push((before.0, count));
        let first = before.0.saturating_sub(count as u64);
        Ok((first..before.0).map(|at| (Boundary(at), frame(at as i64))).collect())
    }

    fn messages(&mut self, count: usize) -> Result<Vec<Message>, String> {
        let first = 300_i64 - count as i64;
        Ok((first.max(0)..300).flat_map(|at| frame(at).messages).collect())
    }

    fn names(&mut self) -> Option<GlyphNames> {
        self.named += 1;
        Some(names())
    }
}

/// Runs a script on a game at boundary 300.
pub(crate) fn eval_on(scripts: &Scripts, source: &str, game: &mut Game) -> Result<Evaluated, ScriptError> {
    let frame = frame(300);
    let seen = Seen { boundary: Boundary(300), frame: &frame, ended: None };
    scripts.eval(source, &seen, &ScriptLimits::default(), game, &|| false)
}

pub(crate) fn eval(source: &str) -> Result<Evaluated, ScriptError> {
    eval_on(&scripts(), source, &mut Game::default())
}

pub(crate) fn value(source: &str) -> Value {
    let evaluated = eval(source).unwrap_or_else(|error| panic!("{source}: {error:?}"));
    evaluated.value.unwrap_or(Value::Null)
}
