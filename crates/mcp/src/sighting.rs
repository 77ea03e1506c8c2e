//! What has come into view, and into the hero's pack, from one frame to the next.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wire::{Condition as Ailment, Frame, InventoryItem, MAP_COLUMNS};

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

/// The monsters on the map but for the hero, with their places on the terminal.
fn monsters(frame: &Frame) -> impl Iterator<Item = (i16, u8, u8)> {
    let hero = frame.hero.map(|hero| (hero.row, hero.column));
    let cells = frame.glyphs.iter().enumerate().filter(|(_, glyph)| is_monster(**glyph));
    let placed = cells.filter_map(|(index, &glyph)| {
        let row = u8::try_from(index / MAP_COLUMNS + 1).ok()?;
        let column = u8::try_from(index % MAP_COLUMNS).ok()?;
        Some((glyph, row, column))
    });
    placed.filter(move |&(_, row, column)| Some((row, column)) != hero)
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
    let mut old: BTreeMap<i16, usize> = BTreeMap::new();
    let old_places: Vec<_> = monsters(before).filter(|_| !is_elsewhere).collect();
    for (glyph, ..) in &old_places {
        *old.entry(kind(*glyph)).or_default() += 1;
    }
    // Those that stand where one of their kind stood are the old ones, as far as there are any.
    let (stayed, moved): (Vec<_>, Vec<_>) = monsters(after).partition(|&(glyph, row, column)| {
        old_places
            .iter()
            .any(|&(old, at_row, at_column)| kind(old) == kind(glyph) && (row, column) == (at_row, at_column))
    });
    let mut new = Vec::new();
    for (glyph, row, column) in stayed.into_iter().chain(moved) {
        match old.get_mut(&kind(glyph)).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => new.push(json!({
                "glyph": glyph,
                "char": after.screen.at(usize::from(row), usize::from(column)),
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
