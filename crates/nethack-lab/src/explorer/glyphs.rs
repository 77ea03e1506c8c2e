//! What NetHack 3.6's glyph numbers stand for, as far as a player needs it.

const PETS: i16 = 381;
const INVISIBLE: i16 = 762;
const DETECTED: i16 = 763;
const BODIES: i16 = 1144;
const RIDDEN: i16 = 1525;
const OBJECTS: i16 = 1906;
const TERRAIN: i16 = 2359;
const EFFECTS: i16 = 2446;
const SWALLOWED: i16 = 2541;
const WARNINGS: i16 = 5589;
const STATUES: i16 = 5595;
/// Objects that were not seen up close, by class.
const CLASSES: i16 = 5976;
const END: i16 = CLASSES + 18;
const BOULDER: i16 = OBJECTS + 447;

/// What a cell of the map shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A monster that is nobody's pet, with its number.
    Monster(i16),
    Pet,
    /// The mark of something unseen.
    Unseen,
    /// An object, corpse or statue.
    Thing,
    Boulder,
    Ground(Ground),
    /// The inside of a monster.
    Swallowed,
    /// A flash, an explosion or nothing that we know.
    Passing,
}

/// What the ground is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ground {
    /// Not seen yet, or solid rock.
    #[default]
    Unknown,
    Wall,
    /// Takes no walker: water, lava, bars, a tree, a raised drawbridge.
    Barrier,
    Floor,
    Corridor,
    /// A doorway without a door.
    Doorway,
    OpenDoor,
    ClosedDoor,
    StairsUp,
    StairsDown,
    /// A trap that leads down.
    Hole,
    Trap,
}

impl Ground {
    /// Whether a hero can come to stand on it.
    pub(super) fn is_walkable(self) -> bool {
        !matches!(self, Self::Unknown | Self::Wall | Self::Barrier)
    }

    /// Whether it is passed only straight on.
    pub(super) fn is_straight(self) -> bool {
        matches!(self, Self::OpenDoor | Self::ClosedDoor)
    }
}

/// Reads a glyph number.
pub(super) fn seen(glyph: i16) -> Seen {
    match glyph {
        BOULDER => Seen::Boulder,
        0..PETS => Seen::Monster(glyph),
        PETS..INVISIBLE | RIDDEN..OBJECTS => Seen::Pet,
        INVISIBLE => Seen::Unseen,
        DETECTED..BODIES => Seen::Monster(glyph - DETECTED),
        BODIES..RIDDEN | OBJECTS..TERRAIN | STATUES..END => Seen::Thing,
        TERRAIN..EFFECTS => Seen::Ground(ground(glyph - TERRAIN)),
        SWALLOWED..WARNINGS => Seen::Swallowed,
        WARNINGS..STATUES => Seen::Unseen,
        _ => Seen::Passing,
    }
}

/// Reads one of NetHack's symbols of the dungeon (`S_stone` is 0).
fn ground(symbol: i16) -> Ground {
    match symbol {
        0 => Ground::Unknown,
        1..=11 => Ground::Wall,
        12 | 35 | 36 => Ground::Doorway,
        13 | 14 => Ground::OpenDoor,
        15 | 16 => Ground::ClosedDoor,
        17 | 18 | 32 | 34 | 37 | 38 | 41 => Ground::Barrier,
        21 | 22 => Ground::Corridor,
        23 | 25 => Ground::StairsUp,
        24 | 26 => Ground::StairsDown,
        54 | 55 => Ground::Hole,
        42..=64 => Ground::Trap,
        // Room floor, dark floor, altars, graves, thrones, sinks, fountains, ice, air, clouds.
        19 | 20 | 27..=31 | 33 | 39 | 40 => Ground::Floor,
        _ => Ground::Unknown,
    }
}

/// Monsters that are better left alone: they hurt whoever touches them, and stay where they are.
pub(super) fn is_untouchable(monster: i16) -> bool {
    // Gas spore, floating eye, blue jelly, spotted jelly, and brown, yellow, green and red mould.
    matches!(monster, 27 | 28 | 55 | 56 | 156..=159)
}

/// Cockatrice and chickatrice: death to bare hands.
pub(super) fn is_petrifying(monster: i16) -> bool {
    matches!(monster, 9 | 10)
}

/// Those who live in peace until somebody attacks them: shopkeepers, guards, priests, the watch, the Oracle.
pub(super) fn is_civil(monster: i16) -> bool {
    matches!(monster, 267..=272 | 278 | 279)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borders_between_kinds_of_glyphs_are_where_the_game_has_them() {
        for (glyph, expected) in [
            (0, Seen::Monster(0)),
            (380, Seen::Monster(380)),
            (381, Seen::Pet),
            (762, Seen::Unseen),
            (1144, Seen::Thing),
            (2353, Seen::Boulder),
            (2359, Seen::Ground(Ground::Unknown)),
            (2360, Seen::Ground(Ground::Wall)),
            (2378, Seen::Ground(Ground::Floor)),
            (2383, Seen::Ground(Ground::StairsDown)),
            (2414, Seen::Ground(Ground::Hole)),
            (2541, Seen::Swallowed),
            (5589, Seen::Unseen),
            (5595, Seen::Thing),
            (5976, Seen::Thing),
            (5994, Seen::Passing),
            (-1, Seen::Passing),
        ] {
            assert_eq!(seen(glyph), expected, "{glyph}");
        }
    }
}
