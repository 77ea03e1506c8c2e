//! What a script finds in `nh`: tables of its own, and functions that give more of them.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use mlua::{FromLuaMulti, Function, Lua, Table, Value as LuaValue};
use serde_json::Value;
use wire::{Boundary, GlyphNames, Message};

use crate::Seen;
use crate::limits::{FRAMES_MAX, MESSAGES_MAX};
use crate::protocol::Sight;
use crate::to_lua::to_lua;
use crate::view::{cell, cells, message, view};

/// How many earlier frames are fetched at a time, at least.
const FETCH_MIN: usize = 16;

/// Where a script's process asks its host for what came before.
pub(crate) trait Ask {
    /// So many sights in order, the last of which is that before `before`; fewer at the beginning of a game.
    fn sights(&self, before: Boundary, count: usize) -> Result<Vec<Sight>, String>;
    /// The newest messages of the machine, oldest first.
    fn messages(&self, count: usize) -> Result<Vec<Message>, String>;
    /// What glyphs are called, where that is known.
    fn names(&self) -> Option<GlyphNames>;
}

/// Where nothing came before; what glyphs are called may be known.
pub(crate) struct Nobody<A>(pub(crate) A);

impl<A: Fn() -> Option<GlyphNames>> Ask for Nobody<A> {
    fn sights(&self, _: Boundary, _: usize) -> Result<Vec<Sight>, String> {
        Err("frames of earlier boundaries can't be had where lines are scored".to_owned())
    }

    fn messages(&self, _: usize) -> Result<Vec<Message>, String> {
        Err("messages of earlier boundaries can't be had where lines are scored".to_owned())
    }

    fn names(&self) -> Option<GlyphNames> {
        (self.0)()
    }
}

/// What glyphs are called, asked for once, when a script first looks at a cell.
#[derive(Clone)]
struct Naming {
    ask: Rc<dyn Ask>,
    known: Rc<OnceCell<Option<GlyphNames>>>,
}

impl Naming {
    fn get(&self) -> Option<&GlyphNames> {
        self.known.get_or_init(|| self.ask.names()).as_ref()
    }
}

/// Puts `nh` where a script finds it.
pub(crate) fn offer(lua: &Lua, raising: &Function, sight: Sight, ask: Rc<dyn Ask>) -> mlua::Result<()> {
    let names = Naming { ask: Rc::clone(&ask), known: Rc::default() };
    let boundary = sight.boundary;
    let nh = look(lua, raising, sight, &names)?;
    let known: RefCell<Vec<Known>> = RefCell::default();
    let (asked, own, inner) = (Rc::clone(&ask), nh.clone(), raising.clone());
    let frames = move |lua: &Lua, count: Option<LuaValue>| {
        let count = within(count.as_ref(), FRAMES_MAX, "nh.frames")?;
        let mut known = known.borrow_mut();
        fill(&mut known, boundary, count - 1, asked.as_ref())?;
        let views = lua.create_table_with_capacity(count, 0)?;
        let first = known.len().saturating_sub(count - 1);
        for one in known.iter_mut().skip(first) {
            views.raw_push(one.table(lua, &inner, &names)?)?;
        }
        views.raw_push(&own)?;
        Ok(LuaValue::Table(views))
    };
    nh.raw_set("frames", function_of(lua, raising, frames)?)?;
    let log = move |lua: &Lua, count: Option<LuaValue>| {
        let count = within(count.as_ref(), MESSAGES_MAX, "nh.message_log")?;
        let messages = ask.messages(count)?;
        Ok(to_lua(lua, &messages.iter().map(message).collect::<Value>())?)
    };
    nh.raw_set("message_log", function_of(lua, raising, log)?)?;
    lua.globals().raw_set("nh", nh)
}

/// Why a function gives nothing: what the script is told, at its own line, or an error of the machine.
enum Refusal {
    Told(String),
    Raised(mlua::Error),
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Self::Told(text)
    }
}

impl From<mlua::Error> for Refusal {
    fn from(error: mlua::Error) -> Self {
        Self::Raised(error)
    }
}

fn function_of<A, F>(lua: &Lua, raising: &Function, function: F) -> mlua::Result<Function>
where
    A: FromLuaMulti,
    F: Fn(&Lua, A) -> Result<LuaValue, Refusal> + 'static,
{
    let inner = lua.create_function(move |lua, arguments: A| match function(lua, arguments) {
        Ok(value) => Ok((value, None)),
        Err(Refusal::Told(text)) => Ok((LuaValue::Nil, Some(text))),
        Err(Refusal::Raised(error)) => Err(error),
    })?;
    raising.call(inner)
}

/// What a script finds in a frame: tables of its own, and ways to ask for cells.
fn look(lua: &Lua, raising: &Function, sight: Sight, names: &Naming) -> mlua::Result<Table> {
    let seen = Seen { boundary: sight.boundary, frame: &sight.frame, ended: sight.ended.as_ref() };
    let table = match to_lua(lua, &Value::Object(view(&seen)))? {
        LuaValue::Table(table) => table,
        _ => lua.create_table()?,
    };
    let frame = Rc::new(sight.frame);
    let (of, naming) = (Rc::clone(&frame), names.clone());
    let at = move |lua: &Lua, (row, column): (Option<LuaValue>, Option<LuaValue>)| {
        let number = |value: Option<LuaValue>| value.as_ref().and_then(whole);
        let Some((row, column)) = number(row).zip(number(column)) else {
            return Err(Refusal::Told("at(row, column): give two whole numbers".to_owned()));
        };
        let place = usize::try_from(row).ok().zip(usize::try_from(column).ok());
        let found = place.and_then(|(row, column)| cell(&of, naming.get(), row, column));
        Ok(to_lua(lua, &found.unwrap_or(Value::Null))?)
    };
    table.raw_set("at", function_of(lua, raising, at)?)?;
    let naming = names.clone();
    let all = move |lua: &Lua, ()| Ok(to_lua(lua, &Value::Array(cells(&frame, naming.get())))?);
    table.raw_set("cells", function_of(lua, raising, all)?)?;
    Ok(table)
}

fn whole(value: &LuaValue) -> Option<i64> {
    match value {
        LuaValue::Integer(number) => Some(*number),
        LuaValue::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => Some(*number as i64),
        _ => None,
    }
}

fn within(count: Option<&LuaValue>, max: usize, what: &str) -> Result<usize, String> {
    let count = count.and_then(whole).and_then(|count| usize::try_from(count).ok());
    let fits = count.filter(|count| (1..=max).contains(count));
    fits.ok_or_else(|| format!("{what}(n): give a whole number from 1 to {max}"))
}

/// An earlier sight, and its table once it was asked for.
enum Known {
    Fetched(Box<Sight>),
    Shown(Boundary, Table),
}

impl Known {
    fn boundary(&self) -> Boundary {
        match self {
            Self::Fetched(sight) => sight.boundary,
            Self::Shown(boundary, _) => *boundary,
        }
    }

    fn table(&mut self, lua: &Lua, raising: &Function, names: &Naming) -> mlua::Result<Table> {
        let (boundary, table) = match self {
            Self::Shown(_, table) => return Ok(table.clone()),
            Self::Fetched(sight) => (sight.boundary, look(lua, raising, std::mem::take(sight), names)?),
        };
        *self = Self::Shown(boundary, table.clone());
        Ok(table)
    }
}

/// Sees to it that so many sights before a boundary are known, as far as there are so many.
fn fill(known: &mut Vec<Known>, boundary: Boundary, count: usize, ask: &dyn Ask) -> Result<(), String> {
    let available = usize::try_from(boundary.0).unwrap_or(usize::MAX);
    let (wanted, have) = (count.min(available), known.len());
    if wanted <= have {
        return Ok(());
    }
    // Each time at least as many again, so that a script which goes back one by one does not ask each time.
    let wanted = wanted.max(have * 2).clamp(FETCH_MIN, FRAMES_MAX).min(available);
    let first = known.first().map_or(boundary, Known::boundary);
    let older = ask.sights(first, wanted - have)?;
    known.splice(0..0, older.into_iter().map(|sight| Known::Fetched(Box::new(sight))));
    Ok(())
}
