//! States in a worker: getting at one by its recipe, and keeping the machine's.

use std::collections::VecDeque;
use std::rc::Rc;

use machine::shared::SharedMemory;
use machine::{Codec, Image, KeyframeBytes, Machine, MachineError};

use crate::protocol::Keep;
use crate::recipe::{Base, CHAIN_MAX, Extent, Recipe, Shelf, StateId};

/// How many bytes of images are kept at hand.
const CACHE_BYTES_MAX: usize = 64 << 20;
/// The most blobs of a keyframe: the files that a disk has room for.
const BLOBS_MAX: usize = 128;

/// What a state is kept as.
pub(crate) enum Bytes<'a> {
    Keyframe(&'a KeyframeBytes),
    Delta(&'a [u8]),
}

/// The state that the machine was last at, of those that have a name.
struct Origin {
    id: StateId,
    keyframe: StateId,
    /// The image of the state, or of the one before it.
    image: Rc<Image>,
    /// The delta that leads from the image to the state.
    ahead: Option<Vec<u8>>,
}

/// The images that a worker holds.
#[derive(Default)]
pub(crate) struct States {
    codec: Codec,
    origin: Option<Origin>,
    /// True when the machine stands at the origin still.
    is_there: bool,
    /// States that the machine has come from, the latest last.
    lineage: Vec<StateId>,
    /// Images at hand, the latest used last.
    cache: VecDeque<(StateId, Rc<Image>)>,
    keyframe: KeyframeBytes,
    delta: Vec<u8>,
}

/// The stores that a worker can read.
pub(crate) struct Shelves {
    pub(crate) memory: Option<SharedMemory>,
    pub(crate) spill: Option<SharedMemory>,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Shelves {
    fn read<R>(&self, extent: Extent, read: impl FnOnce(&[u8]) -> R) -> Result<R, String> {
        let shelf = match extent.shelf {
            Shelf::Memory => self.memory.as_ref().ok_or("there is no store")?,
            Shelf::Spill => self.spill.as_ref().ok_or("there is no spill")?,
        };
        let offset = usize::try_from(extent.offset).map_err(text)?;
        let bytes = usize::try_from(extent.bytes).map_err(text)?;
        shelf.with_bytes(offset, bytes, read).map_err(text)
    }
}

impl States {
    /// The machine has moved, or will.
    pub(crate) fn moved(&mut self) {
        self.is_there = false;
    }

    /// The machine has begun a new game.
    pub(crate) fn forget(&mut self) {
        self.is_there = false;
        self.origin = None;
        self.lineage.clear();
    }

    /// Makes the machine what a recipe says.
    ///
    /// # Errors
    /// Why it can't be; the machine is as it was then.
    pub(crate) fn load(&mut self, machine: &mut Machine, shelves: &Shelves, recipe: &Recipe) -> Result<(), String> {
        let id = recipe.id();
        let (deltas, blobs) = (recipe.deltas.len(), recipe.keyframe.blobs.len());
        if deltas > CHAIN_MAX || blobs > BLOBS_MAX {
            return Err(format!("a recipe of {blobs} files and {deltas} deltas is too long"));
        }
        if self.is_there && self.origin.as_ref().is_some_and(|origin| origin.id == id) {
            return Ok(());
        }
        let image = self.image(machine, shelves, recipe)?;
        let descends = self.lineage.contains(&id);
        machine.load_from(&image, descends).map_err(text)?;
        self.lineage.clear();
        self.lineage.extend([recipe.keyframe.id, id]);
        self.origin = Some(Origin { id, keyframe: recipe.keyframe.id, image, ahead: None });
        self.is_there = true;
        Ok(())
    }

    /// The image that a recipe makes, from the nearest one that is at hand.
    fn image(&mut self, machine: &Machine, shelves: &Shelves, recipe: &Recipe) -> Result<Rc<Image>, String> {
        let id = recipe.id();
        if let Some(image) = self.cached(id) {
            return Ok(image);
        }
        let steps = steps(recipe);
        let id_before = |at: usize| match at.checked_sub(1) {
            Some(before) => recipe.deltas[steps[before]].id,
            None => recipe.keyframe.id,
        };
        let mut from = steps.len();
        let mut image = loop {
            if let Some(image) = self.at_hand(machine, id_before(from)) {
                break image;
            } else if from == 0 {
                break self.decode(machine, shelves, recipe)?;
            }
            from -= 1;
        };
        for &step in &steps[from..] {
            let delta = &recipe.deltas[step];
            let image = Rc::make_mut(&mut image);
            shelves.read(delta.bytes, |bytes| machine.apply(&mut self.codec, image, bytes))?.map_err(text)?;
        }
        self.remember(id, &image);
        Ok(image)
    }

    /// An image that needs no store.
    fn at_hand(&mut self, machine: &Machine, id: StateId) -> Option<Rc<Image>> {
        if self.origin.as_ref().is_some_and(|origin| origin.id == id) {
            return self.catch_up(machine).ok();
        }
        self.cached(id)
    }

    /// Brings the origin's image to where the origin is.
    fn catch_up(&mut self, machine: &Machine) -> Result<Rc<Image>, MachineError> {
        let origin = self.origin.as_mut().ok_or(MachineError::Off)?;
        if let Some(delta) = origin.ahead.take() {
            machine.apply(&mut self.codec, Rc::make_mut(&mut origin.image), &delta)?;
        }
        Ok(Rc::clone(&origin.image))
    }

    fn decode(&mut self, machine: &Machine, shelves: &Shelves, recipe: &Recipe) -> Result<Rc<Image>, String> {
        let keyframe = &recipe.keyframe;
        let blobs: Vec<_> =
            keyframe.blobs.iter().map(|blob| shelves.read(*blob, <[u8]>::to_vec)).collect::<Result<_, _>>()?;
        let blobs: Vec<_> = blobs.iter().map(Vec::as_slice).collect();
        let decoded = shelves
            .read(keyframe.body, |body| machine.decode_keyframe(&mut self.codec, body, &blobs))?
            .map_err(text)?;
        let image = Rc::new(decoded);
        self.remember(keyframe.id, &image);
        Ok(image)
    }

    fn cached(&mut self, id: StateId) -> Option<Rc<Image>> {
        let place = self.cache.iter().position(|(cached, _)| *cached == id)?;
        let found = self.cache.remove(place)?;
        let image = Rc::clone(&found.1);
        self.cache.push_back(found);
        Some(image)
    }

    fn remember(&mut self, id: StateId, image: &Rc<Image>) {
        if self.cached(id).is_some() {
            return;
        }
        self.cache.push_back((id, Rc::clone(image)));
        let mut bytes: usize = self.cache.iter().map(|(_, image)| image.bytes()).sum();
        while bytes > CACHE_BYTES_MAX && self.cache.len() > 1 {
            let Some((_, oldest)) = self.cache.pop_front() else { break };
            bytes -= oldest.bytes();
        }
    }

    /// Keeps the machine's state, which becomes the origin. `None` after a failure of the engine, which leaves nothing
    /// to keep.
    pub(crate) fn keep(&mut self, machine: &Machine, keep: Keep) -> Result<Option<Bytes<'_>>, MachineError> {
        if let Some(against) = keep.against
            && self.keep_delta(machine, against, keep.delta_bytes_max)?
        {
            return Ok(Some(Bytes::Delta(&self.delta)));
        }
        match machine.keyframe(&mut self.codec) {
            Ok(keyframe) => self.keyframe = keyframe,
            Err(MachineError::Broken) => return Ok(None),
            Err(error) => return Err(error),
        }
        let blobs: Vec<_> = self.keyframe.blobs.iter().map(Vec::as_slice).collect();
        let id = StateId::of_keyframe(&self.keyframe.body, blobs.iter().copied());
        let image = match self.cached(id) {
            Some(image) => image,
            None => {
                let blobs: Vec<_> = self.keyframe.blobs.iter().map(Vec::as_slice).collect();
                Rc::new(machine.decode_keyframe(&mut self.codec, &self.keyframe.body, &blobs)?)
            }
        };
        self.remember(id, &image);
        self.lineage.clear();
        self.lineage.push(id);
        self.origin = Some(Origin { id, keyframe: id, image, ahead: None });
        self.is_there = true;
        Ok(Some(Bytes::Keyframe(&self.keyframe)))
    }

    /// Tries to keep a delta; false when there is no such base, or the delta is too long.
    fn keep_delta(&mut self, machine: &Machine, against: StateId, bytes_max: u64) -> Result<bool, MachineError> {
        if !self.lineage.contains(&against) {
            return Ok(false);
        }
        let Some(base) = self.at_hand(machine, against) else { return Ok(false) };
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        self.delta.clear();
        match machine.delta(&mut self.codec, &base, bytes_max, &mut self.delta) {
            Ok(true) => {}
            Ok(false) | Err(MachineError::Broken) => return Ok(false),
            Err(error) => return Err(error),
        }
        let id = StateId::of_delta(against, &self.delta);
        let keyframe = self.origin.as_ref().map_or(against, |origin| origin.keyframe);
        self.lineage.clear();
        self.lineage.extend([keyframe, against, id]);
        self.origin = Some(Origin { id, keyframe, image: base, ahead: Some(self.delta.clone()) });
        self.is_there = true;
        Ok(true)
    }
}

/// The deltas of a recipe that are needed, by their places: those since the last one against the keyframe.
fn steps(recipe: &Recipe) -> Vec<usize> {
    let last = recipe.deltas.iter().rposition(|delta| delta.base == Base::Keyframe);
    (last.unwrap_or(0)..recipe.deltas.len()).collect()
}
