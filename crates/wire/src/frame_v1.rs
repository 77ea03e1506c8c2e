use xxhash_rust::xxh3::Xxh3;

use crate::{Boundary, PlayDigest};

/// Bytes of both random generators, as [`play_digest`] takes them: for each of the core and the display generator its
/// position, its results and its inner state (1 + 256 + 256 + 3 words of 8 bytes, little-endian).
pub const GENERATOR_BYTES: usize = 2 * (1 + 256 + 256 + 3) * 8;

/// The play digest of a boundary: XXH3-128 over frame v1 and both generators.
///
/// Frame v1 is fixed for good and never entered by later layers: the version byte 1, the terminal's characters,
/// colours and attributes (24 × 80 bytes each, row by row), cursor row and column, the number of the pending kind
/// (0 at the end), and the turn counter as 8 bytes, little-endian.
#[must_use]
pub fn play_digest(planes: [&[u8]; 3], cursor: [u8; 2], pending: u8, turn: i64, generators: &[u8]) -> PlayDigest {
    let mut hasher = Xxh3::new();
    hasher.update(&[1]);
    for plane in planes {
        hasher.update(plane);
    }
    hasher.update(&cursor);
    hasher.update(&[pending]);
    hasher.update(&turn.to_le_bytes());
    hasher.update(generators);
    PlayDigest(hasher.digest128().to_le_bytes())
}

const _: () = assert!(size_of::<Boundary>() == 8);
