//! Ways over the map.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::glyphs::{Ground, Seen, is_civil, is_untouchable};
use super::grid::{CELLS, Direction, Place};
use super::level::Level;

/// The cheapest ways from one place to all others.
pub(super) struct Routes {
    cost: Vec<u32>,
    /// The first step of the way.
    first: Vec<Option<Direction>>,
}

impl Routes {
    /// Finds all ways from a place. `closed`: places where peaceful creatures stand.
    pub(super) fn from(level: &Level, start: Place, turn: i64, closed: &dyn Fn(Place) -> bool) -> Self {
        let mut routes = Self { cost: vec![u32::MAX; CELLS], first: vec![None; CELLS] };
        let mut open = BinaryHeap::new();
        routes.cost[start.index()] = 0;
        open.push(Reverse((0, start)));
        while let Some(Reverse((cost, place))) = open.pop() {
            if cost > routes.cost[place.index()] {
                continue;
            }
            for (direction, next) in place.around() {
                let Some(step) = step_cost(level, place, direction, next, turn) else { continue };
                if closed(next) && next != start {
                    continue;
                }
                let cost = cost + step;
                if cost < routes.cost[next.index()] {
                    routes.cost[next.index()] = cost;
                    routes.first[next.index()] = routes.first[place.index()].or(Some(direction));
                    open.push(Reverse((cost, next)));
                }
            }
        }
        routes
    }

    /// What the way to a place costs; `None` where none leads.
    pub(super) fn cost(&self, to: Place) -> Option<u32> {
        Some(self.cost[to.index()]).filter(|cost| *cost < u32::MAX)
    }

    /// The first step towards a place.
    pub(super) fn first(&self, to: Place) -> Option<Direction> {
        self.first[to.index()]
    }

    /// The place with the least cost plus `extra`.
    pub(super) fn nearest(&self, wanted: impl Fn(Place) -> Option<u32>) -> Option<Place> {
        (0..CELLS)
            .map(Place::from_index)
            .filter_map(|place| Some((self.cost(place)?.checked_add(wanted(place)?)?, place)))
            .min()
            .map(|(_, place)| place)
    }
}

/// What a step costs; `None` where it can't be made.
fn step_cost(level: &Level, from: Place, direction: Direction, to: Place, turn: i64) -> Option<u32> {
    let ground = level.ground(to);
    let straight = ground.is_straight() || level.ground(from).is_straight();
    if !ground.is_walkable() || (direction.is_diagonal() && straight) {
        return None;
    }
    if level.is_failing(from, direction) || level.is_shunned(to, turn) {
        return None;
    }
    let there = match level.shown(to) {
        Seen::Monster(kind) if is_untouchable(kind) || is_civil(kind) => return None,
        Seen::Monster(_) | Seen::Unseen => 4,
        Seen::Pet => 2,
        Seen::Boulder => 6,
        _ => 0,
    };
    let under = match ground {
        Ground::Trap => 15,
        Ground::Hole => 4,
        Ground::ClosedDoor => 3,
        _ => 0,
    };
    // Straight steps first, so that the hero doesn't zigzag.
    Some(4 * (1 + there + under) + u32::from(direction.is_diagonal()))
}
