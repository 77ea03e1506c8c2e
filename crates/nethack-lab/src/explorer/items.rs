//! What is worth picking up, eating, reading and wearing.

use wire::{Key, PendingKind};

use super::glyphs::Seen;
use super::{Explorer, Place, View};

/// How far the hero goes out of its way for a thing, in the units of routes.
const DETOUR: u32 = 4 * 12;

/// Food that keeps and is worth a detour.
const PROVISIONS: &[&str] = &[
    "food ration",
    "cram ration",
    "lembas",
    "K-ration",
    "C-ration",
    "apple",
    "orange",
    "pear",
    "banana",
    "melon",
    "carrot",
    "pancake",
    "fortune cookie",
    "candy bar",
    "tripe ration",
];

/// Other things that are.
const WANTED: &[&str] = &[
    "gold piece",
    "dagger",
    "dart",
    "shuriken",
    "potion",
    "scroll",
    "helmet",
    "hard hat",
    "iron shoes",
    "hard shoes",
    "boots",
    "gloves",
    "mithril",
    "arrow",
];

/// Food that is eaten where it is carried already, but not gone for.
const SNACKS: &[&str] = &["slime mold", "sprig", "clove", "lump of royal jelly", "cream pie", "kelp frond"];

fn names_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Corpses that do a hero good, or no harm, while they are fresh.
const HARMLESS: &[&str] = &[
    "newt",
    "jackal",
    "fox",
    "coyote",
    "sewer rat",
    "giant rat",
    "gecko",
    "iguana",
    "goblin",
    "hill orc",
    "Mordor orc",
    "Uruk-hai",
    "hobbit",
    "gnome",
    "gnome lord",
    "gnomish wizard",
    "dwarf",
    "rothe",
    "rock piercer",
    "iron piercer",
    "grid bug",
    "lichen",
    "acid blob",
    "giant ant",
    "fire ant",
    "giant beetle",
    "monkey",
    "ape",
    "rock mole",
    "woodchuck",
    "hobgoblin",
    "wolf",
    "winter wolf cub",
    "dingo",
    "floating eye",
    "snake",
    "baby crocodile",
    "crocodile",
    "jaguar",
    "lynx",
    "panther",
    "imp",
    "homunculus",
    "bugbear",
    "orc shaman",
    "pony",
    "horse",
    "white unicorn",
    "gray unicorn",
    "black unicorn",
    "owlbear",
    "yeti",
    "hill giant",
    "stone giant",
    "giant bat",
];

/// Whether a text speaks of a corpse that may be eaten while it is fresh.
pub(super) fn is_safe_corpse(text: &str) -> bool {
    let Some(at) = text.find(" corpse") else { return false };
    let before = &text[..at];
    let name = ["here an ", "here a ", "There is an ", "There is a ", "a partly eaten ", "partly eaten "]
        .iter()
        .find_map(|start| before.rfind(start).map(|at| &before[at + start.len()..]));
    let name = name.map(|name| name.trim_start_matches("partly eaten "));
    // The hero's own kind is no food; for the rest the list is enough.
    name.is_some_and(|name| HARMLESS.contains(&name) && !text.contains("for sale"))
}

/// Whether an item is food to be carried and eaten without a thought.
pub(super) fn is_meal(text: &str) -> bool {
    let is_food = names_any(text, PROVISIONS) || names_any(text, SNACKS);
    is_food && !names_any(text, &["unpaid", "cursed tin"])
}

/// Whether a thing on the floor is worth its weight.
pub(super) fn is_wanted(text: &str) -> bool {
    let is_worth_it = names_any(text, PROVISIONS) || names_any(text, WANTED);
    is_worth_it && !names_any(text, &["for sale", "no charge", "unpaid", "corpse", "statue"])
}

impl Explorer {
    /// Picks up, puts on and tries out, when there is leisure for it.
    pub(super) fn handle_items(&mut self, view: &View<'_>) -> Option<Key> {
        let busy = view.foes.iter().any(|foe| foe.distance <= 7);
        if busy || self.idle > 3 || view.status.burden.is_some() {
            return None;
        }
        self.take_here(view).or_else(|| self.wear(view)).or_else(|| self.read(view)).or_else(|| self.fetch(view))
    }

    fn take_here(&mut self, view: &View<'_>) -> Option<Key> {
        let here = view
            .frame
            .messages
            .iter()
            .any(|message| message.text.starts_with("You see here ") && is_wanted(&message.text));
        let heap = view.hears("There are several objects here") || view.hears("There are many objects here");
        let known = view.frame.messages.iter().any(|message| message.text.contains("for sale"));
        let list = view.frame.messages.iter().any(|message| message.text.starts_with("Things that are here"));
        if known || self.took == Some((view.hero, view.turn)) || !(here || heap || list) {
            return None;
        }
        self.took = Some((view.hero, view.turn));
        Some(Key(b','))
    }

    /// Puts on a piece of armour, each kind once.
    fn wear(&mut self, view: &View<'_>) -> Option<Key> {
        let armour = ["helmet", "hard hat", "iron shoes", "hard shoes", "boots", "gloves", "mithril"];
        let item = view.frame.inventory.iter().find(|item| {
            armour.iter().any(|word| item.text.contains(word))
                && !["being worn", "unpaid", "cursed"].iter().any(|word| item.text.contains(word))
                && !self.tried.contains(&item.text)
        })?;
        self.tried.insert(item.text.clone());
        let letter = Key(u8::try_from(item.letter).ok()?);
        Some(self.press(b'W', &[(PendingKind::Item, letter)]))
    }

    /// Reads an unknown scroll, each kind once, when the hero is well.
    fn read(&mut self, view: &View<'_>) -> Option<Key> {
        if view.status.hp * 10 < view.status.hp_max * 9 || view.status.experience_level < Some(2) {
            return None;
        }
        let item = view.frame.inventory.iter().find(|item| {
            item.text.contains("scroll")
                && item.text.contains("labeled")
                && !item.text.contains("unpaid")
                && !self.tried.contains(&item.text)
        })?;
        self.tried.insert(item.text.clone());
        let letter = Key(u8::try_from(item.letter).ok()?);
        Some(self.press(b'r', &[(PendingKind::Item, letter)]))
    }

    /// Walks to a thing nearby that has not been looked at.
    fn fetch(&mut self, view: &View<'_>) -> Option<Key> {
        let routes = self.routes(view);
        let level = self.level();
        let place = routes.nearest(|place| {
            let fresh = level.shown(place) == Seen::Thing && !level.looked_at[place.index()];
            let near = routes.cost(place).is_some_and(|cost| cost <= DETOUR);
            (fresh && near && is_promising(view, place)).then_some(0)
        })?;
        let direction = routes.first(place)?;
        self.go(view, direction)
    }
}

/// Whether the sign on the map may stand for something wanted.
fn is_promising(view: &View<'_>, place: Place) -> bool {
    let sign = view.frame.screen.at(place.row() as usize + 1, place.column() as usize);
    matches!(sign, '$' | ')' | '%' | '!' | '?' | '[')
}
