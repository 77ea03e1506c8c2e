//! `debug_read` and `debug_edit`: what no player sees and no player does. Listed only where the operator allows it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wire::{Edit, EditError, HeroField, Hidden, HiddenPart, Mood, PendingKind, Place};

use crate::arguments::size_within;
use crate::failure::{Code, Failure};
use crate::layers::{self, Layer};
use crate::play::want_since;
use crate::reply::{self, Call, LAYERS, RUNNING, Reply, STANDING};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

/// `debug_read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DebugRead {
    /// "main" (default) or a fork's id.
    machine: Option<String>,
    /// What to tell.
    what: What,
    /// The first of the monsters or objects.
    #[schemars(range(min = 0))]
    offset: Option<u64>,
    /// How many of them at most.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum What {
    Hero,
    Level,
    Monsters,
    Objects,
}

/// Entries of a page where none are asked for, and the most.
const LIMIT_DEFAULT: usize = 50;
const LIMIT_MAX: u64 = 500;

const READ: &[Field] = &[
    ("hero", Kind::Object, "What is false, zero or not there is absent from monsters, objects and properties."),
    ("level", Kind::Object, ""),
    ("monsters", Kind::Objects, ""),
    ("objects", Kind::Objects, ""),
    ("total", Kind::Integer, ""),
    ("next", Kind::Integer, "The offset of the next page, if there is one."),
    ("legend", Kind::Texts, "What the characters of the level's rows stand for."),
];

/// Keep `terrain` of `hidden_level.c` in step.
const LEGEND: [&str; 27] = [
    "  stone",
    "| - wall",
    "B drawbridge wall",
    "T tree",
    "S secret door",
    "H secret corridor",
    "} pool",
    "~ moat",
    "W water",
    "U raised drawbridge",
    "L lava",
    "I iron bars",
    "+ door",
    "# corridor",
    ". floor",
    "< stairs up",
    "> stairs down",
    "= ladder",
    "{ fountain",
    "\\ throne",
    "K sink",
    "G grave",
    "_ altar",
    "i ice",
    "D lowered drawbridge",
    "A air",
    "C cloud",
];

impl ToolArguments for DebugRead {
    const NAME: &'static str = "debug_read";
    const TITLE: &'static str = "Look at what no player sees";
    const TEXT: &'static str = "For the operator: the truth behind the screen. hero: exact numbers (luck, prayer timeout, \
        alignment record, nutrition), properties; level: terrain, doors, traps, stairs, rooms, and the dungeons; monsters: \
        all on the level; objects: all on the level, carried, buried, contained, with their true identity. Changes nothing. \
        Rows and columns are the screen's.";
    const EFFECT: Effect = Effect::Computes;
    const RESULT: &'static [&'static [Field]] = &[STANDING, READ, RUNNING];

    fn call(self, session: &Session, _: &Call<'_>) -> Result<Reply, Failure> {
        let machine = session.machine(self.machine.as_deref())?;
        let limit = size_within("limit", self.limit, LIMIT_DEFAULT, 1, LIMIT_MAX)?;
        let part = match self.what {
            What::Hero => HiddenPart::Hero,
            What::Level => HiddenPart::Level,
            What::Monsters => HiddenPart::Monsters,
            What::Objects => HiddenPart::Objects,
        };
        if matches!(self.what, What::Hero | What::Level) {
            for (field, given) in [("offset", self.offset), ("limit", self.limit)] {
                if given.is_some() {
                    let message = format!("argument `{field}` goes with what \"monsters\" or \"objects\"");
                    return Err(Failure::argument(field, message));
                }
            }
        }
        let failed = |error| session.failure(error, Some(machine));
        let (snapshot, hidden) = session.lab.hidden(machine, part).map_err(failed)?;
        let reply = Reply::default().extend(reply::standing(session, &snapshot));
        let offset = self.offset.unwrap_or_default();
        match hidden {
            Hidden::Hero(hero) => {
                let mut hero = json!(hero);
                hero["properties"].as_array_mut().into_iter().flatten().for_each(drop_empty);
                Ok(reply.with("hero", hero))
            }
            Hidden::Level(level) => Ok(reply.with("level", json!(level)).with("legend", json!(LEGEND))),
            Hidden::Monsters(monsters) => page(reply, "monsters", &monsters, offset, limit),
            Hidden::Objects(objects) => page(reply, "objects", &objects, offset, limit),
            Hidden::Names(_) => Ok(reply),
        }
    }
}

fn page<T: Serialize>(reply: Reply, name: &str, all: &[T], offset: u64, limit: usize) -> Result<Reply, Failure> {
    let total = all.len();
    let Some(from) = usize::try_from(offset).ok().filter(|from| *from <= total) else {
        return Err(Failure::argument("offset", format!("argument `offset` is {offset}: there are {total} {name}")));
    };
    let told = all.iter().skip(from).take(limit).map(|entry| {
        let mut entry = json!(entry);
        drop_empty(&mut entry);
        entry
    });
    let entries = layers::fitting(told, layers::PAGE_BYTES_MAX);
    let next = from + entries.len();
    Ok(reply.with(name, entries).with("total", total).with("next", (next < total).then_some(next)))
}

/// Drops what says nothing: false, zero, lists of zeros. Nulls go by themselves; ids and places stay.
fn drop_empty(entry: &mut Value) {
    const KEPT: [&str; 7] = ["id", "row", "column", "hp", "quantity", "enchantment", "charges"];
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.iter().all(|item| item == &json!(0)),
        value => value == &json!(false) || value == &json!(0),
    };
    if let Value::Object(fields) = entry {
        fields.retain(|name, value| KEPT.contains(&name.as_str()) || !is_empty(value));
    }
}

/// `debug_edit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DebugEdit {
    /// "main" (default) or a fork's id.
    machine: Option<String>,
    /// The newest that you know of the machine.
    revision: u64,
    /// Numbers of the hero.
    set: Option<SetArgument>,
    /// Puts the hero there.
    hero: Option<PlaceArgument>,
    /// Sends the hero to a level.
    level: Option<LevelArgument>,
    /// Makes an item: on the floor with row and column, else in the inventory.
    item: Option<ItemArgument>,
    /// Makes a monster.
    monster: Option<MonsterArgument>,
    /// Takes away the monster of this id.
    remove: Option<u64>,
    /// Identifies all that the hero carries.
    identify: Option<bool>,
    /// Shows the level's map.
    map: Option<bool>,
    /// What to show, as in observe.
    #[schemars(with = "Option<Vec<String>>")]
    layers: Option<Vec<Layer>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetArgument {
    experience_level: Option<i64>,
    hp_max: Option<i64>,
    hp: Option<i64>,
    energy_max: Option<i64>,
    energy: Option<i64>,
    nutrition: Option<i64>,
    luck: Option<i64>,
    prayer_timeout: Option<i64>,
    alignment_record: Option<i64>,
    gold: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlaceArgument {
    row: u64,
    column: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LevelArgument {
    /// Its number in the dungeon, from 1.
    level: u64,
    /// As debug_read's level tells them; 0, the main one, without it.
    dungeon: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ItemArgument {
    /// As one wishes, as in "2 blessed scrolls of genocide".
    wish: String,
    row: Option<u64>,
    column: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MonsterArgument {
    kind: String,
    row: u64,
    column: u64,
    #[schemars(with = "Option<MoodWord>")]
    mood: Option<Mood>,
}

// The words of `Mood`, for the schema; a text of its own would be told to clients.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is of use")]
enum MoodWord {
    Natural,
    Hostile,
    Peaceful,
    Tame,
    Asleep,
}

const EDITED: &[Field] = &[("edit", Kind::Text, "As the journal and every movie have it.")];

impl ToolArguments for DebugEdit {
    const NAME: &'static str = "debug_edit";
    const TITLE: &'static str = "Change the game by hand";
    const TEXT: &'static str = "For the operator: changes the machine at its boundary, without a key; give exactly one of set, \
        hero, level, item, monster, remove, identify, map. Only while the game waits for a command. What the game refuses \
        changes nothing. The edit is in the journal and in every movie from here on, which replays it and says so.";
    const EFFECT: Effect = Effect::Plays;
    const RESULT: &'static [&'static [Field]] = &[EDITED, STANDING, LAYERS, RUNNING];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let (field, edit) = self.edit()?;
        edit.check().map_err(|error| edit_failure(field, &error))?;
        let machine = session.machine(self.machine.as_deref())?;
        let before = session.ready(machine, self.revision)?;
        if before.pending_kind() != Some(PendingKind::Command) {
            let message = "an edit is made only while the game waits for a command: answer what it asks first";
            return Err(Failure::new(Code::WrongPending, message)
                .with("pending", layers::pending_of(&before.frame))
                .at(&session.name_of(machine), &before));
        }
        call.works_on(session, machine);
        let want = want_since(session, self.layers, machine, self.revision);
        let made = session.lab.edit(machine, before.revision, &edit);
        let snapshot = made.map_err(|error| {
            let failure = session.failure(error, Some(machine));
            if failure.code == Code::InvalidArgument { failure.with("field", field) } else { failure }
        })?;
        let messages = snapshot.frame.messages.clone();
        Ok(reply::view(session, &reply::settled(&snapshot), &want, &messages).with("edit", edit.to_string()))
    }
}

impl DebugEdit {
    /// The one edit that is asked for, with the argument that asks for it.
    fn edit(&self) -> Result<(&'static str, Edit), Failure> {
        let yes = |field: &'static str, given: Option<bool>, edit: Edit| match given {
            Some(false) => {
                Err(Failure::argument(field, format!("argument `{field}` is false: give true, or leave it out")))
            }
            given => Ok(given.map(|_| (field, edit))),
        };
        let asked = [
            self.set.as_ref().map(|set| set.edit().map(|edit| ("set", edit))).transpose()?,
            self.hero.as_ref().map(|to| to.place("hero").map(|place| ("hero", Edit::Hero(place)))).transpose()?,
            self.level.as_ref().map(|to| to.edit().map(|edit| ("level", edit))).transpose()?,
            self.item.as_ref().map(|item| item.edit().map(|edit| ("item", edit))).transpose()?,
            self.monster.as_ref().map(|monster| monster.edit().map(|edit| ("monster", edit))).transpose()?,
            self.remove.map(|id| fits("remove", id).map(|id| ("remove", Edit::Remove { id }))).transpose()?,
            yes("identify", self.identify, Edit::Identify)?,
            yes("map", self.map, Edit::Map)?,
        ];
        let mut asked = asked.into_iter().flatten();
        match (asked.next(), asked.next()) {
            (Some(one), None) => Ok(one),
            (None, _) => {
                Err(Failure::argument("set", "give one of set, hero, level, item, monster, remove, identify, map"))
            }
            (Some((first, _)), Some((second, _))) => {
                Err(Failure::argument(second, format!("`{first}` and `{second}` are two edits: a call makes one")))
            }
        }
    }
}

impl SetArgument {
    fn edit(&self) -> Result<Edit, Failure> {
        let given = |field: HeroField| match field {
            HeroField::ExperienceLevel => self.experience_level,
            HeroField::HpMax => self.hp_max,
            HeroField::Hp => self.hp,
            HeroField::EnergyMax => self.energy_max,
            HeroField::Energy => self.energy,
            HeroField::Nutrition => self.nutrition,
            HeroField::Luck => self.luck,
            HeroField::PrayerTimeout => self.prayer_timeout,
            HeroField::AlignmentRecord => self.alignment_record,
            HeroField::Gold => self.gold,
        };
        let mut values = BTreeMap::new();
        for (field, value) in HeroField::ALL.iter().filter_map(|field| Some((*field, given(*field)?))) {
            let (least, most) = field.bounds();
            let number =
                || EditError::Number { field: field.name(), given: value, least: least.into(), most: most.into() };
            values.insert(field, i32::try_from(value).map_err(|_| edit_failure("set", &number()))?);
        }
        Ok(Edit::Set(values))
    }
}

impl PlaceArgument {
    fn place(&self, field: &str) -> Result<Place, Failure> {
        place(field, self.row, self.column)
    }
}

impl LevelArgument {
    fn edit(&self) -> Result<Edit, Failure> {
        let (dungeon, level) = (fits("level.dungeon", self.dungeon.unwrap_or(0))?, fits("level.level", self.level)?);
        Ok(Edit::Level { dungeon, level })
    }
}

impl ItemArgument {
    fn edit(&self) -> Result<Edit, Failure> {
        let at = match (self.row, self.column) {
            (Some(row), Some(column)) => Some(place("item", row, column)?),
            (None, None) => None,
            (row, _) => {
                let missing = if row.is_none() { "item.row" } else { "item.column" };
                return Err(Failure::argument(missing, format!("argument `{missing}` is missing: a place needs both")));
            }
        };
        Ok(Edit::Item { at, wish: self.wish.clone() })
    }
}

impl MonsterArgument {
    fn edit(&self) -> Result<Edit, Failure> {
        let at = place("monster", self.row, self.column)?;
        Ok(Edit::Monster { at, mood: self.mood.unwrap_or_default(), kind: self.kind.clone() })
    }
}

fn place(field: &str, row: u64, column: u64) -> Result<Place, Failure> {
    Ok(Place { row: fits(&format!("{field}.row"), row)?, column: fits(&format!("{field}.column"), column)? })
}

/// A number of the width that an edit has for it; its own bounds come after.
fn fits<T: TryFrom<u64>>(field: &str, value: u64) -> Result<T, Failure> {
    T::try_from(value)
        .map_err(|_| Failure::argument(field, format!("argument `{field}` is {value}: that is too large")))
}

/// An edit that can't be, by the argument that it is of.
fn edit_failure(argument: &str, error: &EditError) -> Failure {
    let field = match error {
        EditError::Number { field, .. } => format!("{argument}.{field}"),
        EditError::Text { .. } if argument == "item" => "item.wish".to_owned(),
        EditError::Text { .. } => format!("{argument}.kind"),
        EditError::Nothing | EditError::Words(_) => argument.to_owned(),
    };
    let failure = Failure::argument(&field, format!("argument `{field}`: {error}"));
    match error {
        EditError::Number { least, most, given, .. } => {
            failure.with("min", *least).with("max", *most).with("value", *given)
        }
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments;

    fn edit(value: Value) -> Result<String, Failure> {
        let Value::Object(mut object) = value else { panic!("no object") };
        object.insert("revision".to_owned(), json!(1));
        let (field, edit) = arguments::read::<DebugEdit>(object)?.edit()?;
        edit.check().map_err(|error| edit_failure(field, &error))?;
        Ok(edit.to_string())
    }

    #[test]
    fn arguments_become_one_edit() {
        for (given, text) in [
            (json!({"set": {"luck": -3, "hp": 5}}), "set hp 5 luck -3"),
            (json!({"hero": {"row": 3, "column": 4}}), "hero 3 4"),
            (json!({"level": {"level": 5}}), "level 0 5"),
            (json!({"level": {"level": 5, "dungeon": 1}}), "level 1 5"),
            (json!({"item": {"wish": "3 daggers"}}), "item inventory 3 daggers"),
            (json!({"item": {"wish": "boulder", "row": 1, "column": 0}}), "item floor 1 0 boulder"),
            (json!({"monster": {"kind": "newt", "row": 2, "column": 2}}), "monster 2 2 natural newt"),
            (json!({"monster": {"kind": "newt", "row": 2, "column": 2, "mood": "tame"}}), "monster 2 2 tame newt"),
            (json!({"remove": 7}), "remove 7"),
            (json!({"identify": true}), "identify"),
            (json!({"map": true}), "map"),
        ] {
            assert_eq!(edit(given).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_edit_names_its_field() {
        for (given, field) in [
            (json!({}), "set"),
            (json!({"set": {}}), "set"),
            (json!({"set": {"luck": 11}}), "set.luck"),
            (json!({"set": {"gold": 99_999_999_999_i64}}), "set.gold"),
            (json!({"set": {"mana": 1}}), "set.mana"),
            (json!({"hero": {"row": 0, "column": 4}}), "hero.row"),
            (json!({"hero": {"row": 1, "column": 300}}), "hero.column"),
            (json!({"level": {"level": 0}}), "level.level"),
            (json!({"item": {"wish": ""}}), "item.wish"),
            (json!({"item": {"wish": "dart", "row": 3}}), "item.column"),
            (json!({"monster": {"kind": "a\nb", "row": 2, "column": 2}}), "monster.kind"),
            (json!({"monster": {"kind": "newt", "row": 2, "column": 2, "mood": "glad"}}), "monster.mood"),
            (json!({"remove": 4_294_967_296_u64}), "remove"),
            (json!({"map": false}), "map"),
            (json!({"map": true, "identify": true}), "map"),
        ] {
            let text = given.to_string();
            let failure = edit(given).unwrap_err();
            assert_eq!(failure.code, Code::InvalidArgument, "{text}");
            assert_eq!(failure.details["field"], json!(field), "{text}: {}", failure.message);
        }
    }

    #[test]
    fn what_says_nothing_is_dropped() {
        let mut entry =
            json!({"id": 0, "row": 1, "hp": 0, "asleep": false, "tameness": 0, "erosion": [0, 0], "kind": "x"});
        drop_empty(&mut entry);
        assert_eq!(entry, json!({"id": 0, "row": 1, "hp": 0, "kind": "x"}));
    }
}
