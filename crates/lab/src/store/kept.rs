use std::sync::{Arc, Weak};

use worker::{Base, Delta, Extent, Keyframe, Recipe, Shelf, StateId};

use super::Vault;
use super::arena::CopyError;
use super::space::room;

/// The most deltas between a state and its keyframe, so that loading has an end.
pub(crate) const CHAIN_MAX: u8 = 8;

/// A state in the store. Dropping the last handle frees what only it held: its own bytes, and with them its hold on the
/// state that it was made from.
pub(crate) struct Kept {
    id: StateId,
    stored: Stored,
    image_bytes: u32,
    depth: u8,
    form: Form,
}

/// How a state is stored.
pub(crate) enum Form {
    /// Whole, with the larger files of the game, which others may have too.
    Keyframe(Box<[Arc<Blob>]>),
    /// As what changed since another.
    Delta(Arc<Kept>),
}

/// A file of the game, stored once however many states have it.
pub(crate) struct Blob {
    key: BlobKey,
    stored: Stored,
}

/// What a file's bytes hash to.
pub(crate) type BlobKey = [u8; 16];

/// Bytes in the vault, freed when this is dropped.
pub(crate) struct Stored {
    vault: Arc<Vault>,
    offset: u64,
    bytes: u32,
    shelf: Shelf,
}

/// A state's own stored bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// A keyframe's body, or a delta.
    pub(crate) body: Vec<u8>,
    /// A keyframe's files.
    pub(crate) blobs: Vec<Vec<u8>>,
}

impl Kept {
    pub(crate) fn new(id: StateId, stored: Stored, image_bytes: u64, form: Form) -> Self {
        let depth = match &form {
            Form::Keyframe(_) => 0,
            Form::Delta(base) => base.depth + 1,
        };
        Self { id, stored, image_bytes: u32::try_from(image_bytes).unwrap_or(u32::MAX), depth, form }
    }

    /// Its name.
    pub(crate) fn id(&self) -> StateId {
        self.id
    }

    pub(crate) fn is_in(&self, vault: &Arc<Vault>) -> bool {
        Arc::ptr_eq(&self.stored.vault, vault)
    }

    /// How many deltas lie between it and its keyframe.
    pub(crate) fn depth(&self) -> u8 {
        self.depth
    }

    /// The bytes that it takes in the store; files that it may share are not counted.
    pub(crate) fn bytes(&self) -> u64 {
        room(self.stored.bytes.into())
    }

    /// How long its image is.
    pub(crate) fn image_bytes(&self) -> u64 {
        self.image_bytes.into()
    }

    /// The state that it is stored against; nothing for a keyframe.
    pub(crate) fn base(&self) -> Option<&Arc<Kept>> {
        match &self.form {
            Form::Keyframe(_) => None,
            Form::Delta(base) => Some(base),
        }
    }

    /// The keyframe at the start of its chain.
    pub(crate) fn keyframe(&self) -> &Self {
        let mut kept = self;
        while let Some(base) = kept.base() {
            kept = base;
        }
        kept
    }

    /// A keyframe's files.
    pub(crate) fn blobs(&self) -> &[Arc<Blob>] {
        match &self.form {
            Form::Keyframe(blobs) => blobs,
            Form::Delta(_) => &[],
        }
    }

    /// How long its keyframe is as stored, files included.
    pub(crate) fn keyframe_bytes(&self) -> u64 {
        let keyframe = self.keyframe();
        keyframe.blobs().iter().map(|blob| room(blob.stored.bytes.into())).sum::<u64>() + keyframe.bytes()
    }

    /// How a worker makes it. It holds only as long as this state is held.
    pub(crate) fn recipe(&self) -> Recipe {
        let mut deltas = Vec::with_capacity(self.depth.into());
        let mut kept = self;
        while let Form::Delta(base) = &kept.form {
            deltas.push(Delta { id: kept.id, base: Base::Previous, bytes: kept.stored.extent() });
            kept = base;
        }
        deltas.reverse();
        let blobs = kept.blobs().iter().map(|blob| blob.stored.extent()).collect();
        Recipe { keyframe: Keyframe { id: kept.id, body: kept.stored.extent(), blobs }, deltas }
    }

    /// Its own stored bytes.
    pub(crate) fn pieces(&self) -> Result<Pieces, String> {
        let blobs: Result<_, _> = self.blobs().iter().map(|blob| blob.stored.read()).collect();
        Ok(Pieces { body: self.stored.read()?, blobs: blobs? })
    }
}

/// The keyframe at the start of a state's chain, to hold on to.
pub(crate) fn keyframe_of(kept: &Arc<Kept>) -> &Arc<Kept> {
    let mut kept = kept;
    while let Some(base) = kept.base() {
        kept = base;
    }
    kept
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kept({}, depth {}, {} bytes)", self.id, self.depth, self.bytes())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut index = self.stored.vault.index();
        let counted = if self.depth == 0 { &mut index.keyframes } else { &mut index.deltas };
        *counted -= 1;
        // Another may have taken its place while nobody held this one any more.
        if index.states.get(&self.id).is_some_and(|held| std::ptr::eq(held.as_ptr(), self)) {
            index.states.remove(&self.id);
        }
    }
}

impl Blob {
    pub(crate) fn new(key: BlobKey, stored: Stored) -> Self {
        Self { key, stored }
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        let mut index = self.stored.vault.index();
        index.blob_count -= 1;
        if index.blobs.get(&self.key).is_some_and(|held: &Weak<Self>| std::ptr::eq(held.as_ptr(), self)) {
            index.blobs.remove(&self.key);
        }
    }
}

impl Stored {
    pub(crate) fn new(vault: Arc<Vault>, shelf: Shelf, offset: u64, bytes: u32) -> Self {
        Self { vault, offset, bytes, shelf }
    }

    fn extent(&self) -> Extent {
        Extent { shelf: self.shelf, offset: self.offset, bytes: self.bytes.into() }
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), CopyError> {
        match self.vault.shelf(self.shelf) {
            Some(arena) => arena.copy_in(self.offset, bytes),
            None => Err(CopyError::Broken("there is no spill".to_owned())),
        }
    }

    fn read(&self) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; self.bytes as usize];
        match self.vault.shelf(self.shelf) {
            Some(arena) => arena.copy_out(self.offset, &mut bytes).map(|()| bytes),
            None => Err("there is no spill".to_owned()),
        }
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        if let Some(arena) = self.vault.shelf(self.shelf) {
            arena.give_back(self.offset, room(self.bytes.into()));
        }
    }
}
