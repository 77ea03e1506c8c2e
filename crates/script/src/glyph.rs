//! What NetHack 3.6's glyph numbers stand for, in words.

/// The first glyph of each group, and the word for the group; the ground is told apart further.
const GROUPS: [(i16, &str); 14] = [
    (0, "monster"),
    (381, "pet"),
    (762, "unseen"),
    (763, "detected"),
    (1144, "body"),
    (1525, "ridden"),
    (1906, "object"),
    (2359, GROUND),
    (2446, "effect"),
    (2541, "swallowed"),
    (5589, "warning"),
    (5595, "statue"),
    (5976, "object"),
    (5994, "unknown"),
];
const GROUND: &str = "ground";
const OBJECTS: i16 = 1906;
const BOULDER: i16 = OBJECTS + 447;
const GROUND_FIRST: i16 = 2359;

/// The word for what a glyph shows.
pub(crate) fn kind(glyph: i16) -> &'static str {
    if glyph == BOULDER {
        return "boulder";
    }
    let group = GROUPS.iter().rev().find(|(first, _)| glyph >= *first);
    match group {
        None => "unknown",
        Some((_, GROUND)) => ground(glyph - GROUND_FIRST),
        Some((_, word)) => word,
    }
}

/// The word for one of NetHack's symbols of the dungeon, in the order of its `defsym` (`S_stone` is 0).
fn ground(symbol: i16) -> &'static str {
    match symbol {
        0 => "stone",
        1..=11 => "wall",
        12 => "doorway",
        13 | 14 => "open_door",
        15 | 16 => "closed_door",
        17 => "bars",
        18 => "tree",
        19 | 20 => "floor",
        21 | 22 => "corridor",
        23 => "stairs_up",
        24 => "stairs_down",
        25 => "ladder_up",
        26 => "ladder_down",
        27 => "altar",
        28 => "grave",
        29 => "throne",
        30 => "sink",
        31 => "fountain",
        32 | 41 => "water",
        33 => "ice",
        34 => "lava",
        35 | 36 => "lowered_drawbridge",
        37 | 38 => "raised_drawbridge",
        39 => "air",
        40 => "cloud",
        42..=64 => "trap",
        _ => "effect",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borders_between_groups_are_where_the_game_has_them() {
        for (glyph, word) in [
            (-1, "unknown"),
            (0, "monster"),
            (380, "monster"),
            (381, "pet"),
            (761, "pet"),
            (762, "unseen"),
            (763, "detected"),
            (1143, "detected"),
            (1144, "body"),
            (1525, "ridden"),
            (1906, "object"),
            (2353, "boulder"),
            (2358, "object"),
            (2359, "stone"),
            (2360, "wall"),
            (2371, "doorway"),
            (2375, "closed_door"),
            (2378, "floor"),
            (2380, "corridor"),
            (2382, "stairs_up"),
            (2383, "stairs_down"),
            (2401, "trap"),
            (2446, "effect"),
            (2541, "swallowed"),
            (5589, "warning"),
            (5595, "statue"),
            (5976, "object"),
            (5994, "unknown"),
            (i16::MAX, "unknown"),
        ] {
            assert_eq!(kind(glyph), word, "{glyph}");
        }
    }
}
