//! Real games through workers.

use std::sync::Arc;

use rom::Rom;
use wire::{Batch, Event, Key, Seed, StopReason};
use worker::{Drive, Extent, Part, Shelf, Start, TaskError, Want, Worker, WorkerOptions};

use crate::store::{KEYFRAME, STORE_BYTES, Store, everything};
use crate::support::{keys, options, power_on, task, worker, worker_with};

fn with_store() -> (Store, WorkerOptions) {
    let store = Store::new();
    let options = WorkerOptions { store: Some(Arc::clone(&store.memory)), ..options() };
    (store, options)
}

pub(crate) fn a_state_goes_from_one_worker_to_another() {
    let (mut store, options) = with_store();
    let (mut first, mut second) = (worker_with(options.clone()), worker_with(options));
    for seed in 1..6 {
        let mut played = task(power_on(seed), "20s.hjklyubn\x1b,i");
        played.want = everything();
        let before = first.run(&played).unwrap();
        let state = store.take(&first, &before, None);
        let mut looked = task(Start::State(state), "");
        looked.want = everything();
        let after = second.run(&looked).unwrap();
        assert_eq!((after.play, after.state_digest), (before.play, before.state_digest), "seed {seed}");
        assert_eq!((&after.frame, &after.pending), (&before.frame, &before.pending), "seed {seed}");
        let mut on = task(Start::Resident, "\x1b10s.llll#pray\r");
        on.want = everything();
        let (one, other) = (first.run(&on).unwrap(), second.run(&on).unwrap());
        assert_eq!(one, other, "seed {seed}");
    }
}

pub(crate) fn a_refusal_leaves_the_machine_as_it_was() {
    let (store, options) = with_store();
    let mut worker = worker_with(options);
    let refused = |worker: &mut Worker, task| match worker.run(&task) {
        Err(TaskError::Refused(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert!(refused(&mut worker, task(Start::Resident, "s")).contains("resident"));
    let before = worker.run(&task(power_on(1), "ss")).unwrap();
    let Start::PowerOn(mut record) = power_on(1) else { unreachable!() };
    record.options = "windowtype:curses".to_owned();
    let end = STORE_BYTES as u64;
    store.memory.copy_in(0, &vec![0x5a; 300_000]).unwrap();
    let at = |shelf, offset, bytes| {
        let mut recipe = KEYFRAME;
        recipe.keyframe.body = Extent { shelf, offset, bytes };
        Start::State(recipe)
    };
    for start in [
        Start::PowerOn(record),
        at(Shelf::Memory, 0, 300_000),
        at(Shelf::Memory, 0, 0),
        at(Shelf::Memory, end - 10, 11),
        at(Shelf::Memory, u64::MAX, u64::MAX),
        at(Shelf::Spill, 0, 100),
    ] {
        let name = format!("{start:?}");
        refused(&mut worker, task(start, "s"));
        let after = worker.run(&task(Start::Resident, "")).unwrap();
        assert_eq!((after.play, after.turn), (before.play, before.turn), "{name}");
    }
    let mut empty = task(Start::Resident, "s");
    empty.drive = Drive::Batch { batch: Batch::forced(Vec::new()), part: None };
    refused(&mut worker, empty);
}

pub(crate) fn luck_is_what_the_seeds_say() {
    let (mut store, options) = with_store();
    let mut worker = worker_with(options);
    let mut with = |luck: Option<u64>| {
        let mut task = task(power_on(3), "20s");
        task.event = luck.map(|seed| Event::Reseed { core: Seed(seed), display: Seed(seed + 1) });
        worker.run(&task).unwrap().play
    };
    let (same, one, other) = (with(None), with(Some(1)), with(Some(2)));
    assert!(same != one && one != other && same != other);
    assert_eq!((with(None), with(Some(1)), with(Some(2))), (same, one, other));
    // Luck is drawn after the start: an ended game takes none, and by then it has taken the other's place.
    let mut late = task(Start::Resident, "#quit\ry\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b");
    late.want = everything();
    let ended = worker.run(&late).unwrap();
    assert!(ended.ended.is_some(), "{:?}", ended.pending);
    late.event = Some(Event::Reseed { core: Seed(1), display: Seed(2) });
    assert!(matches!(worker.run(&late), Err(TaskError::Refused(_))));
    late.event = None;
    late.want = Want::default();
    let nothing = worker.run(&late).unwrap();
    assert_eq!((nothing.stop, nothing.keys_used, nothing.inputs.len()), (StopReason::Ended, 0, 0));
    // What the worker keeps in its slot goes with the next task.
    let mut kept = task(Start::Resident, "");
    kept.want = everything();
    let ended = worker.run(&kept).map(|again| (again.play == ended.play).then_some(again)).unwrap().unwrap();
    let mut loaded = task(Start::State(store.take(&worker, &ended, None)), "");
    worker.run(&task(power_on(3), "")).unwrap();
    loaded.event = Some(Event::Reseed { core: Seed(1), display: Seed(2) });
    assert!(matches!(worker.run(&loaded), Err(TaskError::Displaced(_))));
    assert!(worker.run(&task(Start::Resident, "")).unwrap().ended.is_some());
}

pub(crate) fn a_report_holds_what_is_wanted() {
    let mut worker = worker();
    let plain = worker.run(&task(power_on(5), "20s:")).unwrap();
    assert_eq!((plain.inputs.len(), plain.keys_used, plain.stop), (4, 4, StopReason::Done));
    assert_eq!((plain.checks.len(), plain.messages.len(), plain.kept.as_ref()), (0, 0, None));
    assert!(plain.frame.is_none() && plain.state_digest.is_none() && plain.ended.is_none());
    assert!(plain.turns > 0 && plain.turn == 1 + plain.turns);
    let mut full = task(power_on(5), "20s:");
    full.want = everything();
    let full = worker.run(&full).unwrap();
    assert_eq!((full.play, full.turns, &full.inputs), (plain.play, plain.turns, &plain.inputs));
    assert_eq!(full.checks.len(), 4);
    assert_eq!(full.checks[3], full.play.check());
    let frame = full.frame.unwrap();
    assert_eq!((frame.turn, &frame.pending), (full.turn, &full.pending));
    assert!(full.pending.is_some());
    assert!(full.kept.is_some() && full.image_bytes > 100_000 && full.outcome.is_empty());
    // The greeting was before the first key, the look around after the last.
    assert!(full.messages.len() > frame.messages.len(), "{:?}", full.messages);
    assert!(full.messages.iter().zip(1..).all(|(message, id)| message.id == id), "{:?}", full.messages);
    let mut last = task(Start::Resident, "");
    last.drive =
        Drive::Batch { batch: Batch::forced(keys("20s:")), part: Some(Part { from: 3, count: 9, asked: None }) };
    assert_eq!(worker.run(&last).unwrap().inputs, [Key(b':')]);
}

pub(crate) fn a_foreign_rom_is_another_machine() {
    // The same ROM by all that matters, but for its name.
    let mut bytes = rom::built_in().bytes().to_vec();
    bytes.push(0);
    let rom = Arc::new(Rom::parse(bytes).unwrap());
    let (mut store, options) = with_store();
    let mut own = worker_with(options.clone());
    let mut foreign = worker_with(WorkerOptions { rom: Some(Arc::clone(&rom)), ..options });
    assert_eq!(foreign.hello().rom_id, rom.rom_id());
    assert_ne!(foreign.hello().rom_id, own.hello().rom_id);
    assert_eq!(foreign.hello().engine_id, own.hello().engine_id);
    let mut played = task(power_on(8), "20shjkl");
    played.want = everything();
    let (one, other) = (own.run(&played).unwrap(), foreign.run(&played).unwrap());
    assert_eq!(one.play, other.play);
    let state = Start::State(store.take(&own, &one, None));
    let refused = foreign.run(&task(state, "s"));
    assert!(matches!(&refused, Err(TaskError::Refused(reason)) if reason.contains("ROM")), "{refused:?}");
    assert_eq!(foreign.run(&task(Start::Resident, "")).unwrap().play, other.play);
}
