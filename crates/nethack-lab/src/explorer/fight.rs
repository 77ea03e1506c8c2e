//! Fighting, and not dying of it.

use wire::{Key, PendingKind};

use super::glyphs::{Ground, Seen, is_petrifying};
use super::{Direction, Explorer, Foe, View};

/// Turns between two prayers that the gods mostly bear.
const PRAYER_TURNS: i64 = 900;
/// The first turn at which a prayer in great need is heard.
const PRAYER_FIRST: i64 = 150;

impl Explorer {
    /// What has to be done at once.
    pub(super) fn survive(&mut self, view: &View<'_>) -> Option<Key> {
        let status = view.status;
        let dying = status.hp <= 5 || status.hp * 7 <= status.hp_max;
        let starving =
            status.hunger.as_deref().is_some_and(|word| word.starts_with("Weak") || word.starts_with("Faint"));
        let fainting = status.hunger.as_deref().is_some_and(|word| word.starts_with("Faint"));
        let patience = if fainting { PRAYER_TURNS / 2 } else { PRAYER_TURNS };
        if (dying || starving) && self.may_pray(view.turn, patience) {
            self.prayed = Some(view.turn);
            return Some(self.call(b"pray\r"));
        }
        let threatened = view.foes.iter().any(|foe| foe.distance <= 2);
        if !threatened || status.hp * 3 > status.hp_max {
            return None;
        }
        self.climb_away(view).or_else(|| self.drink(view)).or_else(|| self.engrave(view))
    }

    /// An extended command by its name.
    fn call(&mut self, name: &[u8]) -> Key {
        let rest: Vec<_> = name.iter().map(|byte| (PendingKind::Extended, Key(*byte))).collect();
        self.press(b'#', &rest)
    }

    fn may_pray(&self, turn: i64, patience: i64) -> bool {
        self.prayed.map_or(turn > PRAYER_FIRST, |last| turn - last > patience)
    }

    /// Stairs under the hero are the best way out of a fight.
    fn climb_away(&mut self, view: &View<'_>) -> Option<Key> {
        let (key, behind) = match self.level().ground(view.hero) {
            Ground::StairsUp if view.status.depth > 1 => (b'<', Ground::StairsDown),
            Ground::StairsDown => (b'>', Ground::StairsUp),
            _ => return None,
        };
        self.climbed = Some(behind);
        Some(Key(key))
    }

    /// An unknown potion may heal.
    fn drink(&mut self, view: &View<'_>) -> Option<Key> {
        let mut potions: Vec<_> = view
            .frame
            .inventory
            .iter()
            .filter(|item| item.text.contains("potion"))
            .filter(|item| {
                !["water", "unpaid", "cursed"].iter().any(|word| item.text.replace("uncursed", "").contains(word))
            })
            .collect();
        potions.sort_by_key(|item| !item.text.contains("healing"));
        let potion = potions.first()?;
        let letter = Key(u8::try_from(potion.letter).ok()?);
        Some(self.press(b'q', &[(PendingKind::Item, letter)]))
    }

    /// Writes the word that most monsters respect.
    fn engrave(&mut self, view: &View<'_>) -> Option<Key> {
        let plain = matches!(self.level().ground(view.hero), Ground::Floor | Ground::Corridor | Ground::Doorway);
        if !plain {
            return None;
        }
        if let Some((place, turn)) = self.engraved
            && place == view.hero
            && view.turn - turn < 40
        {
            // Whoever strikes from an engraving rubs it out; as long as it holds, wounds heal.
            if !self.hurt {
                return Some(Key(b's'));
            }
            if view.turn - turn < 3 {
                return None;
            }
        }
        self.engraved = Some((view.hero, view.turn));
        let mut rest = vec![(PendingKind::Item, Key(b'-'))];
        rest.extend(b"Elbereth\r".iter().map(|byte| (PendingKind::Text, Key(*byte))));
        Some(self.press(b'E', &rest))
    }

    /// Strikes at what stands beside the hero, or shoots at what comes along a line.
    pub(super) fn fight(&mut self, view: &View<'_>) -> Option<Key> {
        if let Some((direction, _)) =
            view.hero.around().find(|(_, place)| self.level().shown(*place) == Seen::Swallowed)
        {
            return Some(self.strike(direction));
        }
        let beside: Vec<(Direction, Foe)> = view
            .foes
            .iter()
            .filter(|foe| foe.distance == 1)
            .filter_map(|foe| Some((view.hero.direction_of(foe.place)?, *foe)))
            .filter(|(direction, foe)| !direction.is_diagonal() || !self.has_door(view, foe))
            .filter(|(_, foe)| !foe.kind.is_some_and(is_petrifying) || is_armed(view))
            .collect();
        if let Some((direction, foe)) = beside.first().copied() {
            if foe.kind.is_none() && self.attacked == Some((foe.place, None)) && self.chance.below(3) == 0 {
                // An old mark of something unseen: walking there clears it.
                self.levels[self.here].shun(foe.place, view.turn + 5);
            }
            self.attacked = Some((foe.place, foe.kind));
            return Some(self.strike(direction));
        }
        self.shoot(view)
    }

    fn has_door(&self, view: &View<'_>, foe: &Foe) -> bool {
        self.level().ground(view.hero).is_straight() || self.level().ground(foe.place).is_straight()
    }

    fn strike(&mut self, direction: Direction) -> Key {
        self.press(b'F', &[(PendingKind::Direction, direction.key())])
    }

    /// Fires what is in the quiver.
    fn shoot(&mut self, view: &View<'_>) -> Option<Key> {
        let ready = |text: &str| text.contains("in quiver") || text.contains("at the ready");
        view.frame.inventory.iter().find(|item| ready(&item.text) && items_fly(&item.text))?;
        let direction = view
            .foes
            .iter()
            .filter(|foe| foe.kind.is_some() && (2..=6).contains(&foe.distance))
            .find_map(|foe| self.line_to(view, foe))?;
        Some(self.press(b'f', &[(PendingKind::Direction, direction.key())]))
    }

    /// The direction of a foe that stands on a free line from the hero.
    fn line_to(&self, view: &View<'_>, foe: &Foe) -> Option<Direction> {
        Direction::all().find(|direction| {
            let mut place = view.hero;
            for _ in 0..foe.distance {
                let Some(next) = place.step(*direction) else { return false };
                place = next;
                if place == foe.place {
                    return true;
                }
                let free = self.level().ground(place).is_walkable()
                    && self.level().ground(place) != Ground::ClosedDoor
                    && !matches!(self.level().shown(place), Seen::Pet | Seen::Monster(_) | Seen::Boulder);
                if !free {
                    return false;
                }
            }
            false
        })
    }
}

fn items_fly(text: &str) -> bool {
    ["dagger", "dart", "arrow", "ya (", "ya named", "shuriken", "knife", "spear"].iter().any(|word| text.contains(word))
        || text.ends_with("ya")
}

fn is_armed(view: &View<'_>) -> bool {
    view.frame.inventory.iter().any(|item| item.text.contains("(weapon in"))
}
