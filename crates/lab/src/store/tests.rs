//! The store against a model of it, over memory that notices what must not be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use worker::{Base, StateId};

use super::space::{PAGE, room};
use super::*;

/// A seeded source of numbers below a bound.
pub(super) fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below.max(1)
    }
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl StateMemory for Memory {
    fn copy_in(&self, offset: u64, bytes: &[u8]) -> Result<(), CopyError> {
        if bytes.starts_with(b"broken") {
            return Err(CopyError::Broken("broken".to_owned()));
        }
        if bytes.starts_with(b"full") {
            return Err(CopyError::NoRoom);
        }
        let mut memory = self.0.lock().unwrap();
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        if memory.len() < end {
            memory.resize(end, 0);
        }
        memory[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn copy_out(&self, offset: u64, bytes: &mut [u8]) -> Result<(), String> {
        let memory = self.0.lock().unwrap();
        bytes.copy_from_slice(&memory[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn release(&self, offset: u64, bytes: u64) {
        let mut memory = self.0.lock().unwrap();
        let end = memory.len().min((offset + bytes) as usize);
        if let Some(pages) = memory.get_mut(offset as usize..end) {
            pages.fill(0);
        }
    }
}

/// A store of so many pages.
pub(crate) fn plain_store(pages: u64) -> Store {
    store(pages, 0)
}

fn store(memory_pages: u64, spill_pages: u64) -> Store {
    let arena = |pages: u64| Arena::new(Box::new(Memory::default()), pages * PAGE + 17);
    Store::new(arena(memory_pages), (spill_pages > 0).then(|| arena(spill_pages)))
}

/// What a state must be, by its name.
#[derive(Clone)]
struct Expected {
    base: Option<StateId>,
    body: Vec<u8>,
    blobs: Vec<Vec<u8>>,
}

type Model = BTreeMap<StateId, Expected>;

/// What holding these states takes, from their names alone.
fn usage_of(model: &Model, held: impl Iterator<Item = StateId>) -> (u64, [usize; 3]) {
    let mut states = BTreeSet::new();
    for id in held {
        let mut next = Some(id);
        while let Some(id) = next.filter(|id| states.insert(*id)) {
            next = model[&id].base;
        }
    }
    let mut blobs = BTreeSet::new();
    let (mut bytes, mut keyframes) = (0, 0);
    for id in &states {
        let expected = &model[id];
        bytes += room(expected.body.len() as u64);
        keyframes += usize::from(expected.base.is_none());
        blobs.extend(expected.blobs.iter().cloned());
    }
    bytes += blobs.iter().map(|blob| room(blob.len() as u64)).sum::<u64>();
    (bytes, [keyframes, states.len() - keyframes, blobs.len()])
}

fn check(store: &Store, model: &Model, held: &[Arc<Kept>], hint: &str) {
    let usage = store.usage();
    let (bytes, counts) = usage_of(model, held.iter().map(|kept| kept.id()));
    assert_eq!(usage.memory_bytes + usage.spill_bytes, bytes, "{hint}");
    assert_eq!([usage.keyframes, usage.deltas, usage.blobs], counts, "{hint}");
}

fn check_state(store: &Store, model: &Model, kept: &Arc<Kept>, hint: &str) {
    let expected = &model[&kept.id()];
    let pieces = kept.pieces().unwrap();
    assert!(pieces.body == expected.body && pieces.blobs == expected.blobs, "{hint}");
    assert!(Arc::ptr_eq(&store.find(kept.id()).unwrap(), kept), "{hint}");
    let recipe = kept.recipe();
    assert_eq!((recipe.id(), recipe.deltas.len()), (kept.id(), usize::from(kept.depth())), "{hint}");
    assert!(kept.depth() <= CHAIN_MAX && recipe.deltas.iter().all(|delta| delta.base == Base::Previous));
}

fn bytes(random: &mut impl FnMut(u64) -> u64, longest: u64) -> Vec<u8> {
    // Few different ones, so that many are equal.
    let (length, fill) = (random(longest), random(3) as u8);
    vec![fill; length as usize]
}

#[test]
fn it_holds_what_is_held_and_nothing_else() {
    for seed in 1..30 {
        let mut random = random(seed);
        let store = store(8, if seed % 2 == 0 { 4 } else { 0 });
        let (mut model, mut held) = (Model::new(), Vec::<Arc<Kept>>::new());
        for step in 0..500 {
            let hint = format!("seed {seed}, step {step}");
            let what = random(10);
            if what >= 7 && !held.is_empty() {
                held.swap_remove(random(held.len() as u64) as usize);
                check(&store, &model, &held, &hint);
                continue;
            }
            let parent = (!held.is_empty()).then(|| Arc::clone(&held[random(held.len() as u64) as usize]));
            let (expected, put) = match (what, parent) {
                (0..=1, _) => {
                    let body = bytes(&mut random, 3_000);
                    let blobs: Vec<Vec<u8>> = (0..random(4)).map(|_| bytes(&mut random, 500)).collect();
                    let slices: Vec<&[u8]> = blobs.iter().map(Vec::as_slice).collect();
                    let put = store.put_keyframe(&body, &slices, 1);
                    (Expected { base: None, body, blobs }, put)
                }
                (_, Some(parent)) => {
                    let body = bytes(&mut random, 400);
                    let against = store.keep_rule(Some(&parent)).against.unwrap();
                    let put = store.put_delta(base_of(&parent), &body, 1);
                    (Expected { base: Some(against), body, blobs: Vec::new() }, put)
                }
                (_, None) => continue,
            };
            match put {
                Ok(kept) => {
                    model.insert(kept.id(), expected);
                    check_state(&store, &model, &kept, &hint);
                    held.push(kept);
                }
                Err(error) => assert!(matches!(error, LabError::LimitExceeded { .. }), "{hint}: {error}"),
            }
            check(&store, &model, &held, &hint);
        }
        held.iter().for_each(|kept| check_state(&store, &model, kept, "at the end"));
        held.clear();
        assert_eq!(store.usage(), Usage::default(), "seed {seed}");
        assert_eq!(store.0.memory.warm(), 0, "an empty store takes no memory");
        assert!(store.0.index().states.is_empty() && store.0.index().blobs.is_empty());
    }
}

#[test]
fn chains_end_and_a_long_line_holds_only_its_last_states() {
    let store = store(64, 0);
    let first = store.put_keyframe(b"first", &[], 9).unwrap();
    assert_eq!((first.keyframe_bytes(), first.image_bytes()), (64, 9));
    let mut tip = Arc::clone(&first);
    for number in 0..2_000_u32 {
        tip = store.put_delta(base_of(&tip), &number.to_le_bytes(), 9).unwrap();
        let usage = store.usage();
        assert_eq!((usage.keyframes, usage.deltas), (1, usize::from(tip.depth())), "state {number}");
    }
    assert_eq!(tip.keyframe().id(), first.id());
    drop(first);
    assert_eq!(store.usage().keyframes, 1);
    drop(tip);
    assert_eq!(store.usage(), Usage::default());
}

#[test]
fn a_wide_fan_shares_its_base_and_many_threads_agree_on_names() {
    let store = store(64, 0);
    let base = store.put_keyframe(b"base", &[b"file"], 9).unwrap();
    let fans: Vec<Vec<Arc<Kept>>> = std::thread::scope(|scope| {
        let fan = || (0..500_u32).map(|n| store.put_delta(&base, &n.to_le_bytes(), 9).unwrap()).collect();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(fan)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!((store.usage().deltas, store.usage().memory_bytes), (500, 502 * 64));
    assert!(fans[0].iter().zip(&fans[3]).all(|(a, b)| Arc::ptr_eq(a, b)));
    std::thread::scope(|scope| fans.into_iter().for_each(|fan| drop(scope.spawn(move || drop(fan)))));
    assert_eq!((store.usage().deltas, store.usage().memory_bytes), (0, 128));
}

#[test]
fn memory_comes_first_then_the_file_then_checkpoints_go() {
    let store = store(1, 1);
    let base = store.put_keyframe(&[1; 64], &[], 1).unwrap();
    let mut checkpoints = Vec::new();
    for number in 0..127_u32 {
        let kept = store.put_delta(&base, &number.to_le_bytes(), 1).unwrap();
        checkpoints.push(store.checkpoint(&kept, 0));
    }
    let full = store.usage();
    assert_eq!((full.memory_bytes, full.spill_bytes), (PAGE, PAGE));
    let held = checkpoints[1].kept().unwrap();
    // The oldest frees its room; the second is held by somebody, so the third goes with it.
    for number in [1_000_u32, 1_001] {
        let kept = store.put_delta(&base, &number.to_le_bytes(), 1).unwrap();
        checkpoints.push(store.checkpoint(&kept, 0));
    }
    let left: Vec<bool> = checkpoints.iter().map(|checkpoint| checkpoint.kept().is_some()).collect();
    assert_eq!(left.iter().filter(|left| !**left).count(), 3);
    assert_eq!(left[..4], [false, false, false, true]);
    assert_eq!(store.usage(), full);
    store.check_room(3 * 64).unwrap();
    let error = store.check_room(2 * PAGE).unwrap_err();
    assert!(matches!(error, LabError::LimitExceeded { max: 8_192, .. }), "{error}");
    assert!(checkpoints.iter().all(|checkpoint| checkpoint.kept().is_none()));
    drop((held, base));
    assert_eq!(store.usage(), Usage::default());
}

#[test]
fn what_can_not_be_stored_leaves_nothing() {
    let store = store(4, 0);
    let base = store.put_keyframe(&[], &[], 0).unwrap();
    let before = store.usage();
    assert_eq!(before.memory_bytes, 64);
    for error in [
        store.put_keyframe(b"broken", &[b"file"], 0).unwrap_err(),
        store.put_keyframe(b"body", &[b"file", b"broken"], 0).unwrap_err(),
        store.put_delta(&base, b"broken", 0).unwrap_err(),
        store.put(None, &worker::Kept::Delta { bytes: Piece { offset: 0, bytes: 1 } }, 0, b"x").unwrap_err(),
        store.put(Some(&base), &worker::Kept::Delta { bytes: Piece { offset: 1, bytes: 1 } }, 0, b"x").unwrap_err(),
        store
            .put(Some(&base), &worker::Kept::Delta { bytes: Piece { offset: 1, bytes: u64::MAX } }, 0, b"x")
            .unwrap_err(),
    ] {
        assert!(matches!(error, LabError::EngineFailure { .. }), "{error}");
    }
    let error = store.put_keyframe(&vec![1; 5 * PAGE as usize], &[b"file"], 0).unwrap_err();
    assert!(matches!(error, LabError::LimitExceeded { .. }), "{error}");
    let error = store.put_keyframe(b"full", &[b"file"], 0).unwrap_err();
    assert!(error.to_string().contains("disk"), "{error}");
    assert_eq!(store.usage(), before);
}

#[test]
fn a_state_that_goes_leaves_its_successor_its_name() {
    let store = store(4, 0);
    let kept = store.put_keyframe(b"state", &[], 1).unwrap();
    let (id, gone) = (kept.id(), Arc::downgrade(&kept));
    let stored = store.store(b"state").unwrap();
    // Its end waits for the index, in which another takes its place meanwhile.
    let mut index = store.0.index();
    let next = std::thread::scope(|scope| {
        scope.spawn(move || drop(kept));
        while gone.strong_count() > 0 {
            std::thread::yield_now();
        }
        let next = Arc::new(Kept::new(id, stored, 1, Form::Keyframe(Box::default())));
        index.states.insert(id, Arc::downgrade(&next));
        index.keyframes += 1;
        drop(index);
        next
    });
    assert!(store.find(id).is_some_and(|found| Arc::ptr_eq(&found, &next)));
    drop(next);
    assert_eq!(store.usage(), Usage::default());
}
