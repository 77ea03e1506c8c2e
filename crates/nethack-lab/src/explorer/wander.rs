//! Looking at every corner of a level, and going down.

use wire::{Key, PendingKind};

use super::glyphs::{Ground, Seen};
use super::grid::{Direction, Place};
use super::route::Routes;
use super::{Explorer, View};

/// Kicks after which a door is given up.
const KICKS_MAX: u16 = 14;
/// Turns without anything new after which the explorer takes the next way down.
const NEWS_TURNS: i64 = 250;
/// Keys on a level after which it has been seen enough.
const LEVEL_KEYS: u64 = 450;

impl Explorer {
    /// The ways from where the hero stands.
    pub(super) fn routes(&self, view: &View<'_>) -> Routes {
        let level = self.level();
        Routes::from(level, view.hero, view.turn, &|place| match level.shown(place) {
            Seen::Monster(kind) => self.is_peaceful(kind),
            _ => false,
        })
    }

    /// Makes a step.
    pub(super) fn go(&mut self, view: &View<'_>, direction: Direction) -> Option<Key> {
        self.step = Some((view.hero, direction));
        Some(direction.key())
    }

    /// What to do when nothing presses.
    pub(super) fn wander(&mut self, view: &View<'_>) -> Key {
        let routes = self.routes(view);
        let enough = self.has_seen_enough(view);
        enough
            .then(|| self.descend(view, &routes))
            .flatten()
            .or_else(|| self.explore(view, &routes))
            .or_else(|| self.force_door(view, &routes))
            .or_else(|| self.descend(view, &routes))
            .or_else(|| self.look_for_hidden(view, &routes))
            .unwrap_or(Key(b's'))
    }

    fn has_seen_enough(&self, view: &View<'_>) -> bool {
        let level = self.level();
        let strong = view.status.experience_level.unwrap_or(1) >= view.status.depth + 3;
        strong || level.keys > LEVEL_KEYS || view.turn - level.news > NEWS_TURNS
    }

    /// Goes to the way down, and down.
    fn descend(&mut self, view: &View<'_>, routes: &Routes) -> Option<Key> {
        let leads_down = |ground| matches!(ground, Ground::StairsDown | Ground::Hole);
        if leads_down(self.level().ground(view.hero)) {
            self.climbed = Some(Ground::StairsUp).filter(|_| self.level().ground(view.hero) == Ground::StairsDown);
            return Some(Key(b'>'));
        }
        let goal = routes.nearest(|place| leads_down(self.level().ground(place)).then_some(0));
        if let Some(goal) = goal {
            return self.go(view, routes.first(goal)?);
        }
        let known = self.level().places(|ground| ground == Ground::StairsDown).next().is_some();
        let level = &mut self.levels[self.here];
        if known && level.travels < 12 && view.turn - level.arrived > i64::from(level.travels) * 40 {
            // The game may know a way that our memory has closed.
            level.travels += 1;
            level.forgive();
            let position = PendingKind::Position;
            return Some(self.press(b'_', &[(position, Key(b'>')), (position, Key(b'.'))]));
        }
        None
    }

    fn explore(&mut self, view: &View<'_>, routes: &Routes) -> Option<Key> {
        let jitter = self.chance.next();
        let level = self.level();
        let goal = routes.nearest(|place| {
            let unopened = level.ground(place) == Ground::ClosedDoor && level.kicks.contains_key(&place);
            (level.is_frontier(place) && !unopened).then(|| ((jitter >> (place.index() % 61)) & 1) as u32)
        })?;
        self.go(view, routes.first(goal)?)
    }

    /// Kicks the nearest locked door until it gives or is given up.
    fn force_door(&mut self, view: &View<'_>, routes: &Routes) -> Option<Key> {
        let level = self.level();
        let worth = |door: Place| {
            level.kicks.get(&door).is_some_and(|kicks| *kicks < KICKS_MAX) && level.ground(door) == Ground::ClosedDoor
        };
        let beside = |place: Place| place.around().find(|(direction, door)| !direction.is_diagonal() && worth(*door));
        if let Some((direction, door)) = beside(view.hero) {
            *self.levels[self.here].kicks.entry(door).or_insert(0) += 1;
            return Some(self.press(0x04, &[(PendingKind::Direction, direction.key())]));
        }
        let goal = routes
            .nearest(|place| (beside(place).is_some() && level.ground(place) != Ground::ClosedDoor).then_some(0))?;
        self.go(view, routes.first(goal)?)
    }

    /// Searches where something may be hidden: at dead ends, and at walls with much unknown behind them.
    fn look_for_hidden(&mut self, view: &View<'_>, routes: &Routes) -> Option<Key> {
        let level = self.level();
        let goal = routes.nearest(|place| {
            let promise = promise(level, place)?;
            Some(60 * u32::from(level.searched[place.index()]) + 40_u32.saturating_sub(promise) * 2)
        })?;
        if goal != view.hero {
            return self.go(view, routes.first(goal)?);
        }
        let level = &mut self.levels[self.here];
        level.searched[goal.index()] += 1;
        level.searches += 1;
        for (_, place) in goal.around() {
            level.searched[place.index()] = level.searched[place.index()].max(1);
        }
        if level.searches.is_multiple_of(20) {
            level.forgive();
            for kicks in level.kicks.values_mut() {
                *kicks /= 2;
            }
        }
        Some(self.search(b"10"))
    }
}

/// How much a place promises to a search, 0 to 40; `None` where a search finds nothing.
fn promise(level: &super::Level, place: Place) -> Option<u32> {
    let ground = level.ground(place);
    if !ground.is_walkable() || ground == Ground::ClosedDoor || level.shown(place) == Seen::Boulder {
        return None;
    }
    let walkable = place.around().filter(|(_, other)| level.ground(*other).is_walkable()).count();
    if ground == Ground::Corridor {
        return Some(if walkable <= 1 { 40 } else { 3 });
    }
    let wall = place.around().any(|(_, other)| level.ground(other) == Ground::Wall);
    wall.then(|| {
        let unknown = (-4..=4)
            .flat_map(|down| (-6..=6).map(move |right| (down, right)))
            .filter_map(|(down, right)| Place::at(place.row() + down, place.column() + right))
            .filter(|other| level.ground(*other) == Ground::Unknown)
            .count() as u32;
        unknown / 3
    })
}
