use std::collections::VecDeque;

use wire::{Frame, MAP_COLUMNS, MAP_ROWS};

const CELLS: usize = MAP_ROWS * MAP_COLUMNS;
/// NetHack 3.6's glyph numbers: where monsters end and terrain begins and ends; boulders; the first symbols of terrain.
const MONSTERS_END: i16 = 1144;
const TERRAIN: i16 = 2359;
const TERRAIN_END: i16 = 2446;
const BOULDER: i16 = 2353;

/// Keys of the eight directions, with rows down and columns right; the straight ones first.
pub(crate) const DIRECTIONS: [(u8, i32, i32); 8] = [
    (b'h', 0, -1),
    (b'j', 1, 0),
    (b'k', -1, 0),
    (b'l', 0, 1),
    (b'y', -1, -1),
    (b'u', -1, 1),
    (b'b', 1, -1),
    (b'n', 1, 1),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ground {
    Unknown,
    Closed,
    Open,
    /// A door: no diagonal steps.
    Door,
    StairsDown,
}

/// What a frame shows of the level, as far as a walker cares.
pub(crate) struct Map {
    ground: Vec<Ground>,
    monsters: Vec<bool>,
    hero: usize,
}

impl Map {
    /// Reads a frame; nothing where it shows no hero.
    pub(crate) fn read(frame: &Frame) -> Option<Self> {
        let hero = frame.hero?;
        let hero = usize::from(hero.row).checked_sub(1)? * MAP_COLUMNS + usize::from(hero.column);
        if frame.glyphs.len() != CELLS || hero >= CELLS {
            return None;
        }
        let mut ground: Vec<Ground> = frame.glyphs.iter().map(|&glyph| ground(glyph)).collect();
        if matches!(ground[hero], Ground::Unknown | Ground::Closed) {
            ground[hero] = Ground::Open;
        }
        Some(Self { ground, monsters: frame.glyphs.iter().map(|&glyph| glyph < MONSTERS_END).collect(), hero })
    }

    /// The direction keys of the monsters beside the hero.
    pub(crate) fn foes(&self) -> Vec<u8> {
        let beside = around(self.hero).filter(|(_, place)| self.monsters[*place]);
        beside.map(|(key, _)| key).collect()
    }

    /// The keys that lead to the nearest stairs down that are in sight, if any are.
    pub(crate) fn way_down(&self) -> Option<Vec<u8>> {
        self.ways(|place| self.ground[place] == Ground::StairsDown, 1).pop().map(|(_, keys)| keys)
    }

    /// The nearest places beside the unknown, with the keys that lead there.
    pub(crate) fn frontiers(&self, count: usize) -> Vec<(usize, Vec<u8>)> {
        let unknown = |place: usize| around(place).any(|(_, other)| self.ground[other] == Ground::Unknown);
        self.ways(|place| place != self.hero && unknown(place), count)
    }

    /// The nearest places that are wanted, with the keys that lead there.
    pub(crate) fn ways(&self, wanted: impl Fn(usize) -> bool, count: usize) -> Vec<(usize, Vec<u8>)> {
        let mut from: Vec<Option<(usize, u8)>> = vec![None; CELLS];
        let mut open = VecDeque::from([self.hero]);
        let mut found = Vec::new();
        while let Some(place) = open.pop_front() {
            if wanted(place) {
                found.push((place, keys(&from, place)));
                if found.len() == count {
                    break;
                }
            }
            for (key, next) in around(place) {
                let diagonal = b"yubn".contains(&key);
                let door = self.ground[next] == Ground::Door || self.ground[place] == Ground::Door;
                let closed = matches!(self.ground[next], Ground::Unknown | Ground::Closed);
                if next != self.hero && from[next].is_none() && !closed && !(diagonal && door) {
                    from[next] = Some((place, key));
                    open.push_back(next);
                }
            }
        }
        found
    }
}

/// The keys of the way that was found to a place.
fn keys(from: &[Option<(usize, u8)>], to: usize) -> Vec<u8> {
    let back = std::iter::successors(from[to], |&(place, _)| from[place]);
    let mut keys: Vec<u8> = back.map(|(_, key)| key).collect();
    keys.reverse();
    keys
}

fn ground(glyph: i16) -> Ground {
    match glyph {
        BOULDER => Ground::Closed,
        TERRAIN..TERRAIN_END => match glyph - TERRAIN {
            0 => Ground::Unknown,
            13..=16 => Ground::Door,
            24 | 26 => Ground::StairsDown,
            12 | 19..=23 | 25 | 27..=31 | 33 | 35 | 36 | 39 | 40 => Ground::Open,
            _ => Ground::Closed,
        },
        // What stands or lies somewhere stands or lies on something.
        0..TERRAIN => Ground::Open,
        _ => Ground::Unknown,
    }
}

fn around(place: usize) -> impl Iterator<Item = (u8, usize)> {
    let (row, column) = ((place / MAP_COLUMNS) as i32, (place % MAP_COLUMNS) as i32);
    DIRECTIONS.into_iter().filter_map(move |(key, down, right)| {
        let (row, column) = (row + down, column + right);
        let inside = (0..MAP_ROWS as i32).contains(&row) && (0..MAP_COLUMNS as i32).contains(&column);
        inside.then_some((key, row as usize * MAP_COLUMNS + column as usize))
    })
}
