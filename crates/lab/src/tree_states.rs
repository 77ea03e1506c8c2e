//! The states of a tree: each of them once, whichever machines have it and whichever others build on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use worker::StateId;

use crate::LabError;
use crate::lab::Inner;
use crate::store::Kept;
use crate::tree_file::{StateHead, StatePart};

/// Collects the states of a tree that is written, in the form in which the store has them.
#[derive(Default)]
pub(crate) struct States {
    pub(crate) heads: Vec<StateHead>,
    /// The length of every file that states have.
    pub(crate) blobs: Vec<u64>,
    kept: Vec<Arc<Kept>>,
    places: BTreeMap<StateId, usize>,
    /// Each keyframe that has files which none before it has, with which of its files those are.
    new_blobs: Vec<(Arc<Kept>, Vec<usize>)>,
    blob_places: BTreeMap<[u8; 32], usize>,
}

impl States {
    /// The place of a state. What it builds on comes before it.
    pub(crate) fn add(&mut self, state: &Arc<Kept>) -> Result<usize, LabError> {
        let mut chain = vec![state];
        while let Some(base) = chain.last().and_then(|kept| kept.base()) {
            chain.push(base);
        }
        let mut base = None;
        for kept in chain.into_iter().rev() {
            base = Some(match self.places.get(&kept.id()) {
                Some(place) => *place,
                None => self.add_one(kept, base)?,
            });
        }
        base.ok_or_else(|| unreadable("a state of nothing"))
    }

    fn add_one(&mut self, kept: &Arc<Kept>, base: Option<usize>) -> Result<usize, LabError> {
        let pieces = kept.pieces().map_err(|reason| unreadable(&reason))?;
        let (mut blobs, mut new) = (Vec::new(), Vec::new());
        for (index, blob) in pieces.blobs.iter().enumerate() {
            let next = self.blobs.len();
            let place = *self.blob_places.entry(*blake3::hash(blob).as_bytes()).or_insert(next);
            if place == next {
                self.blobs.push(blob.len() as u64);
                new.push(index);
            }
            blobs.push(place);
        }
        if !new.is_empty() {
            self.new_blobs.push((Arc::clone(kept), new));
        }
        let place = self.heads.len();
        self.heads.push(StateHead { base, image_bytes: kept.image_bytes(), bytes: pieces.body.len() as u64, blobs });
        self.kept.push(Arc::clone(kept));
        self.places.insert(kept.id(), place);
        Ok(place)
    }

    /// Hands out all parts in the order of the file: the blobs, then a body or delta for each state.
    pub(crate) fn write(&self, part: &mut dyn FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
        for (kept, new) in &self.new_blobs {
            let blobs = kept.pieces().map_err(std::io::Error::other)?.blobs;
            new.iter().filter_map(|index| blobs.get(*index)).try_for_each(|blob| part(blob))?;
        }
        for kept in &self.kept {
            part(&kept.pieces().map_err(std::io::Error::other)?.body)?;
        }
        Ok(())
    }
}

fn unreadable(reason: &str) -> LabError {
    LabError::EngineFailure { reason: format!("state memory: {reason}"), lost: None }
}

/// The states of a tree that is read, in a store.
#[derive(Default)]
pub(crate) struct Planted(Vec<Arc<Kept>>);

impl Planted {
    /// Takes the next state in. Nothing looks at what it holds.
    pub(crate) fn put(&mut self, lab: &Inner, part: &StatePart<'_>) -> Result<(), LabError> {
        let image_bytes = part.head.image_bytes;
        let kept = match part.head.base.map(|base| self.get(base)) {
            None => lab.store.put_keyframe(&part.body, &part.blobs, image_bytes)?,
            Some(Some(base)) => lab.store.put_delta(base, &part.body, image_bytes)?,
            Some(None) => return Err(LabError::BadState("a state is told from one that is not there".to_owned())),
        };
        self.0.push(kept);
        Ok(())
    }

    pub(crate) fn get(&self, place: usize) -> Option<&Arc<Kept>> {
        self.0.get(place)
    }
}
