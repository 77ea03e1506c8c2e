//! States that workers keep and get at again.

use std::sync::Arc;

use wire::{Event, Seed, StateDigest};
use worker::{
    Base, Delta, Extent, Kept, Recipe, SharedMemory, Shelf, Start, StateId, TaskError, Worker, WorkerOptions,
};

use crate::store::{Store, against, everything};
use crate::support::{options, power_on, task, worker_with};

const KEYS: [&str; 8] = ["20s", "hjkl", "yubn", "20s.", ":i\x1b", "llll", ",\x1b", "10s#pray\r\x1b"];

fn with_store() -> (Store, WorkerOptions) {
    let store = Store::new();
    let options = WorkerOptions { store: Some(Arc::clone(&store.memory)), ..options() };
    (store, options)
}

fn digest_of(worker: &mut Worker, recipe: &Recipe) -> StateDigest {
    let mut look = task(Start::State(recipe.clone()), "");
    look.want.state_digest = true;
    worker.run(&look).unwrap().state_digest.unwrap()
}

/// A chain of states with their digests, made by one worker from a power-on.
fn chain(store: &mut Store, worker: &mut Worker, seed: u64) -> Vec<(Recipe, StateDigest)> {
    let mut first = task(power_on(seed), "s");
    first.want = everything();
    let report = worker.run(&first).unwrap();
    let mut states = vec![(store.take(worker, &report, None), report.state_digest.unwrap())];
    for (step, keys) in KEYS.iter().enumerate() {
        let parent = &states.last().unwrap().0;
        let mut next = task(Start::State(parent.clone()), keys);
        next.want = against(parent.id());
        let luck = Event::Reseed { core: Seed(step as u64), display: Seed(seed) };
        next.event = (step % 3 == 2).then_some(luck);
        let report = worker.run(&next).unwrap();
        let kept = report.kept.as_ref().unwrap();
        assert!(matches!(kept, Kept::Delta { bytes } if bytes.bytes < 8_192), "seed {seed}, step {step}: {kept:?}");
        let parent = parent.clone();
        states.push((store.take(worker, &report, Some(&parent)), report.state_digest.unwrap()));
    }
    states
}

pub(crate) fn recipes_lead_to_the_same_machine() {
    let (mut store, options) = with_store();
    let mut worker = worker_with(options.clone());
    let mut fresh = worker_with(options);
    for seed in 1..4 {
        let states = chain(&mut store, &mut worker, seed);
        // Every other one forwards, then all backwards, in the worker that made them and in one that didn't.
        for (recipe, digest) in states.iter().step_by(2).chain(states.iter().rev()) {
            for worker in [&mut worker, &mut fresh] {
                let name = format!("seed {seed}, {} deltas", recipe.deltas.len());
                assert_eq!(digest_of(worker, recipe), *digest, "{name}");
                // The machine goes on and comes back.
                worker.run(&task(Start::Resident, "s")).unwrap();
                assert_eq!(digest_of(worker, recipe), *digest, "{name}, again");
            }
        }
    }
}

pub(crate) fn any_worker_takes_any_state() {
    let (mut store, options) = with_store();
    let spill = Arc::new(SharedMemory::in_file(&std::env::temp_dir(), 8 << 20).unwrap());
    let mut maker = worker_with(options.clone());
    let mut taker = worker_with(WorkerOptions { spill: Some(Arc::clone(&spill)), ..options });
    let states = chain(&mut store, &mut maker, 7);
    // The same bytes on the other shelf.
    let (last, digest) = states.last().unwrap();
    let mut moved = last.clone();
    let mut used = 0;
    let extents = std::iter::once(&mut moved.keyframe.body).chain(&mut moved.keyframe.blobs);
    for extent in extents.chain(moved.deltas.iter_mut().map(|delta| &mut delta.bytes)) {
        let from = usize::try_from(extent.offset).unwrap();
        let bytes = store.memory.with_bytes(from, usize::try_from(extent.bytes).unwrap(), <[u8]>::to_vec).unwrap();
        spill.copy_in(used, &bytes).unwrap();
        *extent = Extent { shelf: Shelf::Spill, offset: used as u64, bytes: extent.bytes };
        used += bytes.len();
    }
    assert_eq!(digest_of(&mut taker, &moved), *digest);
    // A step against the keyframe makes those between needless.
    let mut start = task(Start::State(moved.clone()), "ss");
    start.want = against(moved.keyframe.id);
    let report = taker.run(&start).unwrap();
    let Some(Kept::Delta { bytes }) = report.kept else { panic!("{:?}", report.kept) };
    let delta = taker.output().with_bytes(bytes.offset as usize, bytes.bytes as usize, <[u8]>::to_vec).unwrap();
    spill.copy_in(used, &delta).unwrap();
    let id = StateId::of_delta(moved.keyframe.id, &delta);
    let extent = Extent { shelf: Shelf::Spill, offset: used as u64, bytes: delta.len() as u64 };
    let step = Delta { id, base: Base::Keyframe, bytes: extent };
    let short = Recipe { keyframe: moved.keyframe.clone(), deltas: vec![step] };
    let long = Recipe { deltas: [&moved.deltas[..], &[step]].concat(), ..short.clone() };
    for recipe in [short, long] {
        taker.run(&task(power_on(1), "")).unwrap();
        assert_eq!(Some(digest_of(&mut taker, &recipe)), report.state_digest);
    }
}

pub(crate) fn what_was_kept_is_found_again() {
    let (mut store, options) = with_store();
    let mut worker = worker_with(options);
    let mut first = task(power_on(5), "s");
    first.want = everything();
    let report = worker.run(&first).unwrap();
    let root = store.take(&worker, &report, None);
    // A base that the machine has not come from, and one that nobody knows, give keyframes.
    for unknown in [StateId([7; 16]), StateId([0; 16])] {
        let mut next = task(Start::Resident, "s");
        next.want = against(unknown);
        assert!(matches!(worker.run(&next).unwrap().kept, Some(Kept::Keyframe { .. })));
    }
    let mut next = task(Start::Resident, "s");
    next.want = against(root.id());
    assert!(matches!(worker.run(&next).unwrap().kept, Some(Kept::Keyframe { .. })), "two keyframes lie between");
    let mut next = task(Start::State(root.clone()), "s");
    next.want = against(root.id());
    assert!(matches!(worker.run(&next).unwrap().kept, Some(Kept::Delta { .. })));
    // A delta over the limit is a keyframe.
    next.want.keep.as_mut().unwrap().delta_bytes_max = 20;
    assert!(matches!(worker.run(&next).unwrap().kept, Some(Kept::Keyframe { .. })));
    // A new game has nothing to do with the old one.
    let mut other = task(power_on(6), "s");
    other.want = against(root.id());
    assert!(matches!(worker.run(&other).unwrap().kept, Some(Kept::Keyframe { .. })));
    // A fan: the same start again and again, with the same bytes each time.
    let mut fan = task(Start::State(root.clone()), "20shh");
    fan.want = against(root.id());
    let take = |worker: &mut Worker, store: &mut Store| {
        let report = worker.run(&fan).unwrap();
        (store.take(worker, &report, Some(&root)).id(), report.state_digest)
    };
    let one = take(&mut worker, &mut store);
    for _ in 0..5 {
        assert_eq!(take(&mut worker, &mut store), one);
    }
}

pub(crate) fn wrong_recipes_are_refused() {
    let (mut store, options) = with_store();
    let mut worker = worker_with(options.clone());
    let states = chain(&mut store, &mut worker, 9);
    let (good, digest) = states.last().unwrap();
    let (far, none) = (u64::MAX, 0);
    let mut wrongs = Vec::new();
    let mut wrong = |name, change: &dyn Fn(&mut Recipe)| {
        let mut recipe = good.clone();
        change(&mut recipe);
        wrongs.push((name, recipe));
    };
    wrong("a body outside", &|recipe| recipe.keyframe.body.offset = far);
    wrong("no body", &|recipe| recipe.keyframe.body.bytes = none);
    wrong("an endless body", &|recipe| recipe.keyframe.body.bytes = far);
    wrong("another shelf", &|recipe| recipe.keyframe.body.shelf = Shelf::Spill);
    wrong("a delta outside", &|recipe| recipe.deltas[3].bytes.offset = far);
    wrong("a delta that is cut", &|recipe| recipe.deltas[3].bytes.bytes -= 1);
    wrong("a delta left out", &|recipe| {
        recipe.deltas.remove(2);
    });
    wrong("deltas out of order", &|recipe| recipe.deltas.swap(1, 2));
    wrong("a delta against another base", &|recipe| recipe.deltas[4].base = Base::Keyframe);
    wrong("a blob too many", &|recipe| recipe.keyframe.blobs.push(recipe.keyframe.body));
    wrong("blobs without end", &|recipe| recipe.keyframe.blobs = vec![recipe.keyframe.body; 1_000]);
    wrong("deltas without end", &|recipe| recipe.deltas = vec![recipe.deltas[0]; 1_000]);
    // A worker that knows none of them, and is told new names each time, so that it must do what they say.
    let mut fresh = worker_with(options);
    fresh.run(&task(power_on(2), "sss")).unwrap();
    let before = fresh.run(&task(Start::Resident, "")).unwrap();
    for (number, (name, mut recipe)) in wrongs.into_iter().enumerate() {
        recipe.keyframe.id.0[0] ^= 1 + number as u8;
        recipe.deltas.iter_mut().for_each(|delta| delta.id.0[0] ^= 1 + number as u8);
        let refused = fresh.run(&task(Start::State(recipe), "s"));
        assert!(matches!(refused, Err(TaskError::Refused(_))), "{name}: {refused:?}");
        let after = fresh.run(&task(Start::Resident, "")).unwrap();
        assert_eq!((after.play, after.turn), (before.play, before.turn), "{name}");
    }
    assert_eq!(digest_of(&mut fresh, good), *digest);
}
