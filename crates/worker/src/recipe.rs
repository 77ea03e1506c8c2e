//! Names of states, and how a worker gets at one.

use serde::{Deserialize, Serialize};

/// The most deltas of a recipe that a worker takes.
pub const CHAIN_MAX: usize = 64;

/// The name of a state: it tells the bytes from which the state is made. Equal ids are equal images; the same image
/// reached in another way may have another id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StateId(pub [u8; 16]);

impl StateId {
    /// The id of a keyframe: the first bytes of BLAKE3 over `key`, then body and blobs, each after its length (8 bytes,
    /// little-endian).
    #[must_use]
    pub fn of_keyframe<'a>(body: &'a [u8], blobs: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"key");
        for part in std::iter::once(body).chain(blobs) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self::from_hash(hasher.finalize())
    }

    /// The id of the state to which a delta leads: the first bytes of BLAKE3 over `delta`, the id of its base, its bytes.
    #[must_use]
    pub fn of_delta(base: Self, bytes: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"delta").update(&base.0).update(bytes);
        Self::from_hash(hasher.finalize())
    }

    fn from_hash(hash: blake3::Hash) -> Self {
        let mut id = [0; 16];
        id.copy_from_slice(&hash.as_bytes()[..16]);
        Self(id)
    }
}

impl std::fmt::Display for StateId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for StateId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StateId({self})")
    }
}

/// Which of the two stores that a worker can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shelf {
    /// The one in memory.
    Memory,
    /// The one in a file.
    Spill,
}

/// Bytes in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// In which.
    pub shelf: Shelf,
    /// Where they begin.
    pub offset: u64,
    /// How many they are.
    pub bytes: u64,
}

/// A whole state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyframe {
    /// Its name.
    pub id: StateId,
    /// All but the larger files of the game.
    pub body: Extent,
    /// Those files.
    pub blobs: Vec<Extent>,
}

/// Against what a delta was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Base {
    /// The state before it in the recipe.
    Previous,
    /// The recipe's keyframe.
    Keyframe,
}

/// A step from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// The name of the state that it leads to.
    pub id: StateId,
    /// From where.
    pub base: Base,
    /// The delta.
    pub bytes: Extent,
}

/// How to make a state: a keyframe, and the deltas that lead on from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// The whole state to begin with.
    pub keyframe: Keyframe,
    /// The steps to take, at most [`CHAIN_MAX`]. Those before the last one against the keyframe are not needed.
    pub deltas: Vec<Delta>,
}

impl Recipe {
    /// The name of the state that it makes.
    #[must_use]
    pub fn id(&self) -> StateId {
        self.deltas.last().map_or(self.keyframe.id, |delta| delta.id)
    }
}
