//! A host's store in its simplest form: states one after the other.

use std::sync::Arc;

use worker::{
    Base, Delta, Extent, Keep, Kept, Keyframe, Piece, Recipe, Report, SharedMemory, Shelf, StateId, Want, Worker,
};

pub(crate) const STORE_BYTES: usize = 64 << 20;

/// A keyframe that is nowhere.
pub(crate) const KEYFRAME: Recipe = Recipe {
    keyframe: Keyframe {
        id: StateId([0; 16]),
        body: Extent { shelf: Shelf::Memory, offset: 0, bytes: 0 },
        blobs: Vec::new(),
    },
    deltas: Vec::new(),
};

/// Everything that can be told, with a keyframe.
pub(crate) fn everything() -> Want {
    let keep = Some(Keep { against: None, delta_bytes_max: 0 });
    Want { checks: true, frame: true, keep, state_digest: true, messages: true, hidden: None }
}

/// The same with a delta against a state.
pub(crate) fn against(state: StateId) -> Want {
    let keep = Some(Keep { against: Some(state), delta_bytes_max: 1 << 20 });
    Want { keep, ..everything() }
}

pub(crate) struct Store {
    pub(crate) memory: Arc<SharedMemory>,
    used: usize,
}

impl Store {
    pub(crate) fn new() -> Self {
        Self { memory: Arc::new(SharedMemory::create(STORE_BYTES).unwrap()), used: 4_096 }
    }

    fn put(&mut self, worker: &Worker, piece: Piece) -> (Extent, Vec<u8>) {
        let bytes = worker.output().with_bytes(piece.offset as usize, piece.bytes as usize, <[u8]>::to_vec).unwrap();
        self.memory.copy_in(self.used, &bytes).unwrap();
        let extent = Extent { shelf: Shelf::Memory, offset: self.used as u64, bytes: bytes.len() as u64 };
        self.used += bytes.len();
        (extent, bytes)
    }

    /// Takes over what a worker has kept, as its host does. `parent` is what a delta is against.
    pub(crate) fn take<F>(&mut self, worker: &Worker, report: &Report<F>, parent: Option<&Recipe>) -> Recipe {
        match report.kept.as_ref().unwrap() {
            Kept::Keyframe { body, blobs } => {
                let (body, body_bytes) = self.put(worker, *body);
                let blobs: Vec<_> = blobs.iter().map(|blob| self.put(worker, *blob)).collect();
                let id = StateId::of_keyframe(&body_bytes, blobs.iter().map(|(_, bytes)| bytes.as_slice()));
                let blobs = blobs.into_iter().map(|(extent, _)| extent).collect();
                Recipe { keyframe: Keyframe { id, body, blobs }, deltas: Vec::new() }
            }
            Kept::Delta { bytes } => {
                let mut recipe = parent.unwrap().clone();
                let (extent, bytes) = self.put(worker, *bytes);
                let id = StateId::of_delta(recipe.id(), &bytes);
                recipe.deltas.push(Delta { id, base: Base::Previous, bytes: extent });
                recipe
            }
        }
    }
}
