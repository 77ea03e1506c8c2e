use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Write};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{MAP_COLUMNS, MAP_ROWS};

/// The longest text that tells an item, in characters.
pub const WISH_CHARS_MAX: usize = 200;
/// The longest name of a kind of monster, in characters.
pub const KIND_CHARS_MAX: usize = 60;

/// What an operator changes between two keys. Its text, one line of words, is what movies hold and the ROM reads; the
/// grammar stands in `docs/formats/movie.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Edit {
    /// Gives numbers of the hero other values, at least one.
    Set(BTreeMap<HeroField, i32>),
    /// Puts the hero somewhere else on the level.
    Hero(Place),
    /// Sends the hero to another level, to a place of the game's choice.
    Level {
        /// The dungeon's number.
        dungeon: u8,
        /// The level's number in it, from 1.
        level: u8,
    },
    /// Makes an item, told as a wish.
    Item {
        /// Where on the floor; absent: the hero's inventory.
        at: Option<Place>,
        /// The wish.
        wish: String,
    },
    /// Makes a monster.
    Monster {
        /// Where.
        at: Place,
        /// How it feels.
        mood: Mood,
        /// The name of its kind.
        kind: String,
    },
    /// Takes a monster of the level away, with all that it carries.
    Remove {
        /// Its id.
        id: u32,
    },
    /// Identifies all that the hero carries.
    Identify,
    /// Shows the map of the level to the hero.
    Map,
}

/// A place on the map, as the terminal shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Terminal row, 1 to `MAP_ROWS`.
    pub row: u8,
    /// Terminal column, 0 to `MAP_COLUMNS` - 1.
    pub column: u8,
}

/// How a monster that is made feels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mood {
    /// As the game has it.
    #[default]
    Natural,
    /// It attacks.
    Hostile,
    /// It lets the hero be.
    Peaceful,
    /// It is a pet.
    Tame,
    /// It sleeps until woken.
    Asleep,
}

macro_rules! fields {
    ($($(#[doc = $doc:literal])* $variant:ident $name:literal $least:literal $most:literal),* $(,)?) => {
        /// A number of the hero that can be set. In the order in which they are set.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum HeroField {
            $($(#[doc = $doc])* $variant),*
        }

        impl HeroField {
            /// All of them, in their order.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The least and the most that it can be set to.
            #[must_use]
            pub const fn bounds(self) -> (i32, i32) {
                match self { $(Self::$variant => ($least, $most)),* }
            }
        }
    };
}

fields! {
    /// Experience level: gained or lost one by one, as play does it.
    ExperienceLevel "experience_level" 1 30,
    /// Most hit points, of the hero's present form.
    HpMax "hp_max" 1 9_999,
    /// Hit points, at most the most.
    Hp "hp" 1 9_999,
    /// Most energy.
    EnergyMax "energy_max" 0 9_999,
    /// Energy, at most the most.
    Energy "energy" 0 9_999,
    /// Nutrition: 900 at the start, hungry below 150.
    Nutrition "nutrition" 1 5_000,
    /// Luck, without what items add.
    Luck "luck" -10 10,
    /// Turns until prayer is safe.
    PrayerTimeout "prayer_timeout" 0 100_000,
    /// The alignment record.
    AlignmentRecord "alignment_record" -10_000 10_000,
    /// Gold pieces in the inventory.
    Gold "gold" 0 1_000_000,
}

/// Why an edit can't be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// A number that is out of range.
    #[error("`{field}` is {given}: {least} to {most} are possible")]
    Number {
        /// What it is of.
        field: &'static str,
        /// The number.
        given: i64,
        /// The least.
        least: i64,
        /// The most.
        most: i64,
    },
    /// A text that is empty, too long, begins or ends with a space, or is not of printable ASCII characters.
    #[error("`{field}` has {given} characters: 1 to {most} printable ASCII ones are possible, no space at either end")]
    Text {
        /// What it is of.
        field: &'static str,
        /// How many characters it has.
        given: usize,
        /// How many it may have.
        most: usize,
    },
    /// Nothing to set.
    #[error("nothing is set")]
    Nothing,
    /// A text that is no edit.
    #[error("{0:?} is no edit")]
    Words(String),
}

fn number(field: &'static str, given: impl Into<i64>, least: i64, most: i64) -> Result<(), EditError> {
    let given = given.into();
    if (least..=most).contains(&given) { Ok(()) } else { Err(EditError::Number { field, given, least, most }) }
}

fn text(field: &'static str, given: &str, most: usize) -> Result<(), EditError> {
    let fits = (1..=most).contains(&given.len())
        && given.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && given.trim_matches(' ').len() == given.len();
    if fits { Ok(()) } else { Err(EditError::Text { field, given: given.chars().count(), most }) }
}

impl Place {
    fn check(self) -> Result<(), EditError> {
        number("row", self.row, 1, MAP_ROWS as i64)?;
        number("column", self.column, 0, MAP_COLUMNS as i64 - 1)
    }
}

impl Edit {
    /// Refuses what no game could do, before any is asked.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), EditError> {
        match self {
            Self::Set(values) if values.is_empty() => Err(EditError::Nothing),
            Self::Set(values) => values.iter().try_for_each(|(field, value)| {
                let (least, most) = field.bounds();
                number(field.name(), *value, least.into(), most.into())
            }),
            Self::Hero(place) => place.check(),
            Self::Level { dungeon, level } => {
                number("dungeon", *dungeon, 0, 9)?;
                number("level", *level, 1, 60)
            }
            Self::Item { at, wish } => {
                at.map_or(Ok(()), Place::check)?;
                text("item", wish, WISH_CHARS_MAX)
            }
            Self::Monster { at, kind, .. } => {
                at.check()?;
                text("monster", kind, KIND_CHARS_MAX)
            }
            Self::Remove { .. } | Self::Identify | Self::Map => Ok(()),
        }
    }
}

impl Mood {
    const ALL: [Self; 5] = [Self::Natural, Self::Hostile, Self::Peaceful, Self::Tame, Self::Asleep];

    fn word(self) -> &'static str {
        match self {
            Self::Natural => "natural",
            Self::Hostile => "hostile",
            Self::Peaceful => "peaceful",
            Self::Tame => "tame",
            Self::Asleep => "asleep",
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.row, self.column)
    }
}

impl Display for Edit {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Set(values) => {
                f.write_str("set")?;
                values.iter().try_for_each(|(field, value)| write!(f, " {} {value}", field.name()))
            }
            Self::Hero(place) => write!(f, "hero {place}"),
            Self::Level { dungeon, level } => write!(f, "level {dungeon} {level}"),
            Self::Item { at: None, wish } => write!(f, "item inventory {wish}"),
            Self::Item { at: Some(place), wish } => write!(f, "item floor {place} {wish}"),
            Self::Monster { at, mood, kind } => write!(f, "monster {at} {} {kind}", mood.word()),
            Self::Remove { id } => write!(f, "remove {id}"),
            Self::Identify => f.write_str("identify"),
            Self::Map => f.write_str("map"),
        }
    }
}

/// Takes the next word, up to a space or the end.
fn word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
    *rest = after;
    (!word.is_empty()).then_some(word)
}

fn parsed<T: FromStr>(rest: &mut &str) -> Option<T> {
    word(rest)?.parse().ok()
}

fn place(rest: &mut &str) -> Option<Place> {
    Some(Place { row: parsed(rest)?, column: parsed(rest)? })
}

fn edit(text: &str) -> Option<Edit> {
    let rest = &mut { text };
    Some(match word(rest)? {
        "set" => {
            let mut values = BTreeMap::new();
            while !rest.is_empty() {
                let name = word(rest)?;
                let field = HeroField::ALL.iter().find(|field| field.name() == name)?;
                values.insert(*field, parsed(rest)?);
            }
            Edit::Set(values)
        }
        "hero" => Edit::Hero(place(rest)?),
        "level" => Edit::Level { dungeon: parsed(rest)?, level: parsed(rest)? },
        "item" => {
            let at = match word(rest)? {
                "inventory" => None,
                "floor" => Some(place(rest)?),
                _ => return None,
            };
            Edit::Item { at, wish: std::mem::take(rest).to_owned() }
        }
        "monster" => {
            let at = place(rest)?;
            let name = word(rest)?;
            let mood = Mood::ALL.into_iter().find(|mood| mood.word() == name)?;
            Edit::Monster { at, mood, kind: std::mem::take(rest).to_owned() }
        }
        "remove" => Edit::Remove { id: parsed(rest)? },
        "identify" => Edit::Identify,
        "map" => Edit::Map,
        _ => return None,
    })
}

impl FromStr for Edit {
    type Err = EditError;

    /// Each edit has one spelling, and no other is taken.
    fn from_str(text: &str) -> Result<Self, EditError> {
        let edit = edit(text);
        let same = |edit: &Edit| {
            let mut again = String::with_capacity(text.len());
            write!(again, "{edit}").is_ok() && again == text
        };
        let edit = edit.filter(same).ok_or_else(|| EditError::Words(text.chars().take(80).collect()))?;
        edit.check().map(|()| edit)
    }
}

impl From<Edit> for String {
    fn from(edit: Edit) -> Self {
        edit.to_string()
    }
}

impl TryFrom<String> for Edit {
    type Error = EditError;

    fn try_from(text: String) -> Result<Self, EditError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_edit_has_one_spelling() {
        for text in [
            "set experience_level 14 hp_max 90 hp 80 luck -10 gold 0",
            "set luck 3",
            "hero 1 0",
            "hero 21 78",
            "level 0 1",
            "item inventory blessed +3 gray dragon scale mail",
            "item floor 5 10 2 cursed scrolls of genocide",
            "monster 7 8 tame gnome lord",
            "remove 4294967295",
            "identify",
            "map",
        ] {
            let edit: Edit = text.parse().unwrap();
            assert_eq!(edit.to_string(), text);
            assert_eq!(serde_json::from_str::<Edit>(&serde_json::to_string(&edit).unwrap()).unwrap(), edit);
        }
    }

    #[test]
    fn what_is_no_edit_is_refused() {
        let long = format!("item inventory {}", "x".repeat(WISH_CHARS_MAX + 1));
        for text in [
            "",
            "set",
            "set hp",
            "set hp x",
            "set hp 0",
            "set hp 10000",
            "set hp 1 hp 2",
            "set luck 1 hp 2",
            "set luck +1",
            "set luck 01",
            "set luck -11",
            "set mana 1",
            "set luck 1 ",
            "hero 0 5",
            "hero 22 5",
            "hero 5 79",
            "hero 5",
            "hero  5 5",
            "hero 5 5 5",
            "hero -1 5",
            "level 0 0",
            "level 10 1",
            "item",
            "item inventory",
            "item inventory ",
            "item inventory  dart",
            "item inventory dart ",
            "item inventory d\u{e4}rt",
            "item inventory da\nrt",
            "item floor 5 dart",
            "item pocket dart",
            "monster 5 5 newt",
            "monster 5 5 angry newt",
            "monster 5 5 tame",
            "remove",
            "remove x",
            "remove 1 2",
            "identify all",
            "map ",
            " map",
            "Map",
            "genocide newt",
            &long,
        ] {
            assert!(text.parse::<Edit>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn bounds_are_named() {
        let error = "set luck 99".parse::<Edit>().unwrap_err();
        assert_eq!(error, EditError::Number { field: "luck", given: 99, least: -10, most: 10 });
        assert_eq!(error.to_string(), "`luck` is 99: -10 to 10 are possible");
    }
}
