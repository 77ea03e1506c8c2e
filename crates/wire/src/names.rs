//! What glyphs are called.

use serde::{Deserialize, Serialize};

/// What the things behind glyphs are called, as whoever plays a game knows them at a boundary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlyphNames {
    /// Kinds of monsters.
    pub monsters: Vec<String>,
    /// Kinds of objects, in the order of their looks: by those looks until they are known.
    pub objects: Vec<String>,
    /// Classes of objects, for what was not seen up close.
    pub classes: Vec<String>,
    /// Parts of a level, effects and explosions, in the order of NetHack's `defsyms`.
    pub symbols: Vec<String>,
    /// What is only sensed, by how dangerous it is.
    pub warnings: Vec<String>,
}

/// The sizes of NetHack 3.6's tables, and of the groups of glyphs that come of them.
const MONSTERS: usize = 381;
const OBJECTS: usize = 453;
const SYMBOLS: usize = 87;
const EXPLOSIONS: usize = 7 * EXPLOSION_PARTS;
const EXPLOSION_PARTS: usize = 9;
const RAYS: usize = 8 * RAY_PARTS;
const RAY_PARTS: usize = 4;
const SWALLOWED: usize = MONSTERS * SWALLOWED_PARTS;
const SWALLOWED_PARTS: usize = 8;
const WARNINGS: usize = 6;
const CLASSES: usize = 18;

impl GlyphNames {
    /// What a glyph of a frame shows, in the game's words; nothing where it shows nothing.
    #[must_use]
    pub fn describe(&self, glyph: i16) -> Option<String> {
        let mut rest = usize::try_from(glyph).ok()?;
        let mut within = |size: usize| {
            if rest < size {
                return Some(rest);
            }
            rest -= size;
            None
        };
        let monster = |index: usize| self.monsters.get(index).cloned();
        if let Some(index) = within(MONSTERS) {
            return monster(index);
        }
        if let Some(index) = within(MONSTERS) {
            return monster(index).map(|name| format!("tame {name}"));
        }
        if within(1).is_some() {
            return Some("remembered, unseen, creature".to_owned());
        }
        if let Some(index) = within(MONSTERS) {
            return monster(index).map(|name| format!("detected {name}"));
        }
        if let Some(index) = within(MONSTERS) {
            return monster(index).map(|name| format!("{name} corpse"));
        }
        if let Some(index) = within(MONSTERS) {
            return monster(index).map(|name| format!("ridden {name}"));
        }
        if let Some(index) = within(OBJECTS) {
            return self.objects.get(index).filter(|name| !name.is_empty()).cloned();
        }
        if let Some(index) = within(SYMBOLS) {
            return self.symbols.get(index).filter(|name| !name.is_empty()).cloned();
        }
        if within(EXPLOSIONS).is_some() {
            return Some("explosion".to_owned());
        }
        if within(RAYS).is_some() {
            return Some("ray".to_owned());
        }
        if let Some(index) = within(SWALLOWED) {
            return monster(index / SWALLOWED_PARTS).map(|name| format!("inside of {name}"));
        }
        if let Some(index) = within(WARNINGS) {
            return self.warnings.get(index).cloned();
        }
        if let Some(index) = within(MONSTERS) {
            return monster(index).map(|name| format!("statue of {name}"));
        }
        within(CLASSES).and_then(|index| self.classes.get(index)).filter(|name| !name.is_empty()).cloned()
    }

    /// Whether the tables are as long as NetHack's.
    #[must_use]
    pub fn are_whole(&self) -> bool {
        self.monsters.len() == MONSTERS
            && self.objects.len() == OBJECTS
            && self.symbols.len() == SYMBOLS + EXPLOSION_PARTS
            && self.warnings.len() == WARNINGS
            && self.classes.len() == CLASSES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> GlyphNames {
        let list = |what: &str, size: usize| (0..size).map(|index| format!("{what} {index}")).collect();
        GlyphNames {
            monsters: list("monster", MONSTERS),
            objects: list("object", OBJECTS),
            symbols: list("symbol", SYMBOLS + EXPLOSION_PARTS),
            warnings: list("warning", WARNINGS),
            classes: list("class", CLASSES),
        }
    }

    #[test]
    fn every_group_begins_and_ends_where_nethack_has_it() {
        let names = names();
        assert!(names.are_whole() && !GlyphNames::default().are_whole());
        let rows = [
            (0, "monster 0"),
            (380, "monster 380"),
            (381, "tame monster 0"),
            (761, "tame monster 380"),
            (762, "remembered, unseen, creature"),
            (763, "detected monster 0"),
            (1143, "detected monster 380"),
            (1144, "monster 0 corpse"),
            (1525, "ridden monster 0"),
            (1906, "object 0"),
            (2358, "object 452"),
            (2359, "symbol 0"),
            (2445, "symbol 86"),
            (2446, "explosion"),
            (2508, "explosion"),
            (2509, "ray"),
            (2540, "ray"),
            (2541, "inside of monster 0"),
            (2549, "inside of monster 1"),
            (5588, "inside of monster 380"),
            (5589, "warning 0"),
            (5594, "warning 5"),
            (5595, "statue of monster 0"),
            (5975, "statue of monster 380"),
            (5976, "class 0"),
            (5993, "class 17"),
        ];
        for (glyph, text) in rows {
            assert_eq!(names.describe(glyph).as_deref(), Some(text), "{glyph}");
        }
        for glyph in [-1, 5994, i16::MAX, i16::MIN] {
            assert_eq!(names.describe(glyph), None, "{glyph}");
        }
        assert_eq!(GlyphNames::default().describe(5), None);
    }
}
