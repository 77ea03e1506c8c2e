//! What has come into view, and into the hero's pack, from one frame to the next.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wire::{Condition as Ailment, Frame, InventoryItem, MAP_COLUMNS, MAP_ROWS};

/// NetHack 3.6's glyph numbers of monsters: seen, tame, remembered unseen, detected, and ridden. Bodies lie between.
const PETS: i16 = 381;
const UNSEEN: i16 = 762;
const BODIES: i16 = 1144;
const RIDDEN: i16 = 1525;
const OBJECTS: i16 = 1906;

/// How many monsters or items are named.
const NAMED_MAX: usize = 8;

/// A monster that is nobody's pet, or the mark of one that is not seen.
fn is_monster(glyph: i16) -> bool {
    (0..PETS).contains(&glyph) || (UNSEEN..BODIES).contains(&glyph) || (RIDDEN..OBJECTS).contains(&glyph)
}

/// The monster at a place of the map, unless that is the hero.
fn monster_at(frame: &Frame, row: usize, column: usize) -> Option<i16> {
    let glyph = frame.glyphs.get(row * MAP_COLUMNS + column).copied().filter(|glyph| is_monster(*glyph))?;
    (hero_of(frame) != Some((row, column))).then_some(glyph)
}

/// The hero's place on the map, whose first row is the terminal's second.
fn hero_of(frame: &Frame) -> Option<(usize, usize)> {
    frame.hero.map(|hero| (usize::from(hero.row).wrapping_sub(1), usize::from(hero.column)))
}

/// The rows of the map in which anything is not what it was, or the hero is or was.
fn rows_to_look_at<'a>(before: &'a Frame, after: &'a Frame) -> impl Iterator<Item = usize> + 'a {
    let heroes = [hero_of(before), hero_of(after)].map(|place| place.map(|(row, _)| row));
    let row_of = |frame: &'a Frame, row: usize| {
        let cells = frame.glyphs.get(row * MAP_COLUMNS..);
        cells.map(|cells| cells.get(..MAP_COLUMNS).unwrap_or(cells))
    };
    (0..MAP_ROWS).filter(move |row| heroes.contains(&Some(*row)) || row_of(before, *row) != row_of(after, *row))
}

/// The monsters in view of which there were fewer before: one that only moves is none of them. On another level all
/// are new. Who hallucinates sees kinds that mean nothing, so that only the number counts.
pub(crate) fn new_monsters(before: &Frame, after: &Frame) -> Vec<Value> {
    let levels = before.status.as_ref().zip(after.status.as_ref());
    let is_elsewhere = levels.is_some_and(|(old, new)| old.depth != new.depth || old.level_text != new.level_text);
    if !is_elsewhere && before.glyphs == after.glyphs && before.hero == after.hero {
        // Most keys, and nothing to be looked through.
        return Vec::new();
    }
    let raves = |frame: &Frame| frame.status.as_ref().is_some_and(|status| status.conditions.contains(&Ailment::Hallu));
    let is_raving = raves(before) || raves(after);
    let kind = |glyph: i16| if is_raving { 0 } else { glyph };
    // A monster that stands where one of its kind stood is that one, so only what is not the same is looked at: few rows.
    let mut old: BTreeMap<i16, usize> = BTreeMap::new();
    let mut moved = Vec::new();
    let rows: Vec<usize> =
        if is_elsewhere { (0..MAP_ROWS).collect() } else { rows_to_look_at(before, after).collect() };
    for (row, column) in rows.into_iter().flat_map(|row| (0..MAP_COLUMNS).map(move |column| (row, column))) {
        let was = monster_at(before, row, column).filter(|_| !is_elsewhere).map(kind);
        let is = monster_at(after, row, column);
        if was == is.map(kind) {
            continue;
        }
        if let Some(kind) = was {
            *old.entry(kind).or_default() += 1;
        }
        moved.extend(is.map(|glyph| (glyph, row + 1, column)));
    }
    let mut new = Vec::new();
    for (glyph, row, column) in moved {
        match old.get_mut(&kind(glyph)).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => new.push(json!({
                "glyph": glyph,
                "char": after.screen.at(row, column),
                "row": row,
                "column": column,
            })),
        }
    }
    new.truncate(NAMED_MAX);
    new
}

/// The items of which the hero has more than before, by letter. What only changes its letter or its name is none.
pub(crate) fn gained_items(before: &Frame, after: &Frame) -> Vec<Value> {
    let all = |items: &[InventoryItem]| items.iter().map(quantity).sum::<u64>();
    if all(&after.inventory) <= all(&before.inventory) {
        return Vec::new();
    }
    let had = |letter: char| before.inventory.iter().find(|item| item.letter == letter).map_or(0, quantity);
    let gained = after.inventory.iter().filter(|item| quantity(item) > had(item.letter));
    gained.take(NAMED_MAX).map(|item| json!({"letter": item.letter, "text": item.text})).collect()
}

/// How many there are of an item, by the number that its name begins with.
fn quantity(item: &InventoryItem) -> u64 {
    item.text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use wire::{Cursor, Status};

    use super::*;

    /// All monsters but for the hero, by kind.
    fn counted(frame: &Frame) -> BTreeMap<i16, usize> {
        let mut all = BTreeMap::new();
        for (index, &glyph) in frame.glyphs.iter().enumerate().filter(|(_, glyph)| is_monster(**glyph)) {
            let place = Some((index / MAP_COLUMNS, index % MAP_COLUMNS));
            if hero_of(frame) != place {
                *all.entry(glyph).or_default() += 1;
            }
        }
        all
    }

    /// What the rows that differ tell is what counting all of both maps tells.
    #[test]
    fn few_rows_tell_as_much_as_all() {
        const SEED: u64 = 0x5eed_0011;
        let mut state = SEED;
        let mut drawn = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let kinds = [12, 330, 12, 2_359, PETS + 5, UNSEEN + 1, RIDDEN];
        let mut before = Frame { status: Some(Status::default()), ..Frame::default() };
        before.glyphs = vec![2_359; MAP_ROWS * MAP_COLUMNS];
        for round in 0..3_000 {
            let mut after = before.clone();
            for _ in 0..drawn(6) {
                // A small corner, so that monsters, pets and the hero meet.
                after.glyphs[drawn(3) * MAP_COLUMNS + drawn(4)] = kinds[drawn(kinds.len())];
            }
            let (row, column) = (drawn(4) as u8, drawn(4) as u8);
            after.hero = (drawn(5) > 0).then_some(Cursor { row, column });
            let (old, new) = (counted(&before), counted(&after));
            let more = |(kind, count): (&i16, &usize)| count.saturating_sub(*old.get(kind).unwrap_or(&0));
            let wanted: usize = new.iter().map(more).sum();
            let found = new_monsters(&before, &after);
            assert_eq!(found.len(), wanted.min(NAMED_MAX), "seed {SEED:#x}, round {round}: {found:?}");
            for monster in &found {
                let at = |name: &str| monster[name].as_u64().unwrap() as usize;
                let glyph = monster_at(&after, at("row") - 1, at("column"));
                assert_eq!(glyph.map(i64::from), monster["glyph"].as_i64(), "seed {SEED:#x}, round {round}");
            }
            before = after;
        }
    }
}
