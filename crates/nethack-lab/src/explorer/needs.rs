//! Hunger and rest.

use wire::{Condition, Key, PendingKind};

use super::items;
use super::{Explorer, View};

impl Explorer {
    /// What a hero needs when nothing threatens.
    pub(super) fn care(&mut self, view: &View<'_>) -> Option<Key> {
        let quiet = view.foes.iter().all(|foe| foe.distance > 7);
        // A need that can't be met must not keep the hero from going on.
        if !quiet || self.idle > 3 {
            return None;
        }
        self.eat(view).or_else(|| self.rest(view))
    }

    fn eat(&mut self, view: &View<'_>) -> Option<Key> {
        let hunger = view.status.hunger.as_deref();
        if hunger == Some("Satiated") {
            return None;
        }
        if let Some(key) = self.eat_corpse(view) {
            return Some(key);
        }
        hunger?;
        let food = view.frame.inventory.iter().find(|item| items::is_meal(&item.text))?;
        let letter = Key(u8::try_from(food.letter).ok()?);
        Some(self.press(b'e', &[(PendingKind::Item, letter)]))
    }

    /// Goes to a corpse that has just fallen, and eats it if it is of a harmless kind.
    fn eat_corpse(&mut self, view: &View<'_>) -> Option<Key> {
        if self.has_fresh_corpse(view.hero) {
            self.corpses.remove(&view.hero);
            let here = view.frame.messages.iter().any(|message| items::is_safe_corpse(&message.text));
            if here {
                // Kept for the prompt that follows.
                self.corpses.insert(view.hero, view.turn - 20);
                self.eating = Some(view.hero);
                return Some(Key(b'e'));
            }
            return None;
        }
        let place = self.corpses.keys().copied().find(|place| place.distance(view.hero) <= 3)?;
        if !matches!(self.level().shown(place), super::Seen::Thing) {
            self.corpses.remove(&place);
            return None;
        }
        let direction = self.routes(view).first(place)?;
        self.go(view, direction)
    }

    fn has_fresh_corpse(&self, place: super::Place) -> bool {
        self.corpses.contains_key(&place)
    }

    /// Whether the hero stands on a corpse that it means to eat.
    pub(super) fn has_fresh_corpse_here(&mut self) -> bool {
        self.eating.take().is_some_and(|place| self.corpses.remove(&place).is_some())
    }

    /// Searches in place until wounds and dizziness have passed.
    fn rest(&mut self, view: &View<'_>) -> Option<Key> {
        let status = view.status;
        let dizzy = [Condition::Stun, Condition::Conf, Condition::Blind].iter().any(|which| view.has(*which));
        let weak = status.hunger.as_deref().is_some_and(|word| word != "Hungry" && word != "Satiated");
        // Once at rest, the hero stays until it is well again.
        let enough = if self.resting { 9 } else { 6 };
        self.resting = !weak && status.hp * 10 < status.hp_max * enough;
        if self.resting || dizzy {
            return Some(self.search(b"15"));
        }
        None
    }

    /// Searches for a number of turns.
    pub(super) fn search(&mut self, turns: &[u8; 2]) -> Key {
        self.press(turns[0], &[(PendingKind::Count, Key(turns[1])), (PendingKind::Count, Key(b's'))])
    }
}
