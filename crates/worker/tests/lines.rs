//! Many tasks in one message.

use std::sync::Arc;
use std::thread;

use rustix::process::Signal;
use wire::{Event, Seed};
use worker::{LINES_MAX, LostReason, Report, SpawnError, Spawner, Start, Task, TaskError, Worker, WorkerOptions};

use crate::sandbox::{LOOP, altered};
use crate::store::{Store, against, everything};
use crate::support::{options, power_on, signal, task, worker, worker_with};
use crate::talk::IMPOSTOR;

fn with_store() -> (Store, WorkerOptions) {
    let store = Store::new();
    let options = WorkerOptions { store: Some(Arc::clone(&store.memory)), ..options() };
    (store, options)
}

/// Lines from one state, each with other keys and luck.
fn fan(store: &mut Store, worker: &mut Worker, lines: u64) -> Vec<Task> {
    let mut root = task(power_on(3), "20s");
    root.want = everything();
    let report = worker.run(&root).unwrap();
    let root = store.take(worker, &report, None);
    let line = |number: u64| {
        let keys = ["hhhhhhhhhh", "jjjj20s.::", "kykykyulul", "20s20s20si"][number as usize % 4];
        let mut line = task(Start::State(root.clone()), keys);
        let luck = Event::Reseed { core: Seed(number), display: Seed(number + 1) };
        line.event = (number % 3 == 1).then_some(luck);
        line.want = against(root.id());
        line
    };
    (0..lines).map(line).collect()
}

fn same_but_places<A, B>(one: Report<A>, other: Report<B>) {
    let plain = |mut report: Report<()>| {
        report.kept = None;
        report
    };
    assert_eq!(one.kept.is_some(), other.kept.is_some());
    assert_eq!(plain(one.with_frame(None)), plain(other.with_frame(None)));
}

pub(crate) fn lines_do_what_tasks_do() {
    let (mut store, options) = with_store();
    let mut worker = worker_with(options.clone());
    let mut single = worker_with(options);
    let tasks = fan(&mut store, &mut worker, 100);
    let lines = worker.run_lines(&tasks).unwrap();
    assert_eq!(lines.len(), tasks.len());
    for (number, (task, line)) in tasks.iter().zip(lines).enumerate() {
        let mut line = line.unwrap();
        let mut one = single.run(task).unwrap();
        let frame = line.frame.take().unwrap().decode().unwrap();
        assert_eq!(Some(frame), one.frame.take(), "line {number}");
        let Start::State(root) = &task.start else { unreachable!() };
        let kept = store.take(&worker, &line, Some(root)).id();
        assert_eq!(kept, store.take(&single, &one, Some(root)).id(), "line {number}");
        same_but_places(line, one);
    }
}

pub(crate) fn a_refused_line_costs_no_other() {
    let (mut store, options) = with_store();
    let mut worker = worker_with(options);
    let mut tasks = fan(&mut store, &mut worker, 6);
    let Start::State(recipe) = &mut tasks[2].start else { unreachable!() };
    recipe.keyframe.id.0[0] ^= 1;
    recipe.keyframe.body.offset = u64::MAX;
    let lines = worker.run_lines(&tasks).unwrap();
    let well: Vec<_> = lines.iter().map(Result::is_ok).collect();
    assert_eq!(well, [true, true, false, true, true, true]);
    assert!(matches!(&lines[2], Err(refusal) if !refusal.displaced), "{:?}", lines[2]);
}

pub(crate) fn a_full_slot_ends_the_lines() {
    let (mut store, options) = with_store();
    // Room for a line or two beyond what one may need.
    let mut worker = worker_with(WorkerOptions { output_bytes: (8 << 20) + 4_096, ..options });
    let tasks = fan(&mut store, &mut worker, 20);
    let (mut done, mut rounds) = (0, 0);
    while done < tasks.len() {
        let lines = worker.run_lines(&tasks[done..]).unwrap();
        assert!(lines.iter().all(Result::is_ok));
        assert!(!lines.is_empty());
        done += lines.len();
        rounds += 1;
    }
    assert!(rounds > 4, "{rounds} rounds");
}

pub(crate) fn a_kill_in_the_middle_loses_the_lines() {
    let (mut store, options) = with_store();
    let mut worker = worker_with(options.clone());
    let tasks = fan(&mut store, &mut worker, LINES_MAX as u64);
    let pid = worker.pid();
    signal(pid, Signal::STOP);
    let running = thread::spawn({
        let tasks = tasks.clone();
        move || (worker.run_lines(&tasks), worker.is_running())
    });
    signal(pid, Signal::KILL);
    let lost = TaskError::Lost { reason: LostReason::Signal(9) };
    assert_eq!(running.join().unwrap(), (Err(lost), false));
    assert_eq!(worker_with(options).run_lines(&tasks).unwrap().len(), LINES_MAX);
}

pub(crate) fn a_hung_line_tells_its_inputs() {
    let mut worker = worker_with(altered("dovspell", LOOP));
    let lines = [task(power_on(1), "s"), task(Start::Resident, "s+s"), task(power_on(1), "s")];
    assert_eq!(worker.run_lines(&lines), Err(TaskError::Hung { inputs: crate::support::keys("s+") }));
    assert!(!worker.is_running());
}

pub(crate) fn impostors_of_lines_are_found_out() {
    for (kind, lines) in [("too many lines", 1), ("no lines", 1), ("a frame that is none", 1)] {
        let arguments = vec![IMPOSTOR.into(), kind.into()];
        let mut worker = match Worker::spawn(&Spawner::new(WorkerOptions { arguments, ..options() }).unwrap()) {
            Ok(worker) => worker,
            Err(SpawnError::Lost(reason)) => panic!("{kind}: {reason}"),
            Err(error) => panic!("{kind}: {error}"),
        };
        let tasks = vec![task(power_on(1), ""); lines];
        let lost = worker.run_lines(&tasks);
        assert!(matches!(&lost, Err(TaskError::Lost { reason: LostReason::Protocol(_) })), "{kind}: {lost:?}");
        assert!(!worker.is_running(), "{kind}");
    }
    assert!(worker().is_running());
}

/// Its own watchdog does not run, and the ten minutes of silence are not waited for.
pub(crate) fn a_worker_that_uses_processor_time_without_a_word_hangs() {
    let arguments = vec![IMPOSTOR.into(), "an endless line".into()];
    let options = WorkerOptions { arguments, key_cpu_limit_ms: 50, ..options() };
    let mut worker = Worker::spawn(&Spawner::new(options).unwrap()).unwrap();
    let hung = worker.run_lines(&[task(power_on(1), "")]);
    assert_eq!(hung, Err(TaskError::Hung { inputs: Vec::new() }));
    assert!(!worker.is_running());
}
