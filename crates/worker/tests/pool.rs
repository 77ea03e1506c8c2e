//! The pool.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use rustix::process::Signal;
use wire::PlayDigest;
use worker::{
    AcquireKind, Extent, Keyframe, LostReason, Pool, PoolError, Recipe, ResidentTag, Shelf, Start, StateId, TaskError,
};

use crate::support::{pool_options, power_on, signal, task};

const TAG: ResidentTag = ResidentTag { machine: 1, revision: 7 };

/// A state that no worker can get at.
fn nowhere() -> Recipe {
    let body = Extent { shelf: Shelf::Memory, offset: 0, bytes: 9 };
    Recipe { keyframe: Keyframe { id: StateId([0; 16]), body, blobs: Vec::new() }, deltas: Vec::new() }
}

/// Waits until so many callers stand in line.
fn until_waiting(pool: &Pool, callers: usize) {
    while pool.waiting() != callers {
        thread::yield_now();
    }
}

pub(crate) fn a_thousand_tasks_over_three_workers() {
    let pool = Pool::new(pool_options(3, 1)).unwrap();
    let seen: Mutex<BTreeMap<u64, PlayDigest>> = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for caller in 0..5 {
            let (pool, seen) = (&pool, &seen);
            scope.spawn(move || {
                for number in 0..200 {
                    let kind = if caller == 0 { AcquireKind::Interactive } else { AcquireKind::Batch };
                    let seed = number % 7;
                    let mut lease = pool.acquire(kind, None).unwrap();
                    let report = lease.run(&task(power_on(seed), "20s.hjkl")).unwrap();
                    let known = *seen.lock().unwrap().entry(seed).or_insert(report.play);
                    assert_eq!(report.play, known, "seed {seed}, boundary {}", report.inputs.len());
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 7);
}

pub(crate) fn a_killed_worker_costs_one_task() {
    let pool = Arc::new(Pool::new(pool_options(2, 0)).unwrap());
    let mut lease = pool.acquire(AcquireKind::Batch, None).unwrap();
    let mut other = pool.acquire(AcquireKind::Batch, None).unwrap();
    let pid = lease.pid().unwrap();
    lease.run(&task(power_on(1), "")).unwrap();
    // A stopped worker can't be done with its task before it is killed.
    signal(pid, Signal::STOP);
    let runner = thread::spawn(move || {
        let first = lease.run(&task(Start::Resident, "ssss"));
        (first, lease.run(&task(power_on(1), "")))
    });
    signal(pid, Signal::KILL);
    let lost = Err(TaskError::Lost { reason: LostReason::Signal(9) });
    assert_eq!(runner.join().unwrap(), (lost.clone(), lost));
    other.run(&task(power_on(1), "s")).unwrap();
    let mut next = pool.acquire(AcquireKind::Batch, None).unwrap();
    assert_ne!(next.pid().unwrap(), pid);
    next.run(&task(power_on(1), "s")).unwrap();
    // One that is killed while it is idle costs nothing at all.
    let pid = next.pid().unwrap();
    next.set_resident(Some(TAG));
    drop(next);
    signal(pid, Signal::KILL);
    assert!(crate::support::ends(crate::support::pidfd(pid)));
    let mut next = pool.acquire(AcquireKind::Batch, Some(TAG)).unwrap();
    assert_eq!(next.resident(), None);
    next.run(&task(power_on(1), "s")).unwrap();
}

pub(crate) fn the_first_to_ask_is_the_first_served() {
    let pool = Pool::new(pool_options(1, 0)).unwrap();
    let held = pool.acquire(AcquireKind::Interactive, None).unwrap();
    let order = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for caller in 0..8 {
            let (pool, order) = (&pool, &order);
            let kind = if caller % 3 == 0 { AcquireKind::Interactive } else { AcquireKind::Batch };
            scope.spawn(move || {
                let _lease = pool.acquire(kind, None).unwrap();
                order.lock().unwrap().push(caller);
            });
            until_waiting(pool, caller + 1);
        }
        drop(held);
    });
    assert_eq!(order.into_inner().unwrap(), (0..8).collect::<Vec<_>>());
}

pub(crate) fn reserved_workers_are_kept_from_batches() {
    let pool = Pool::new(pool_options(2, 1)).unwrap();
    let batch = pool.acquire(AcquireKind::Batch, None).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| pool.acquire(AcquireKind::Batch, None).unwrap().pid());
        until_waiting(&pool, 1);
        // It came later, but may use the second worker at once.
        let interactive = pool.acquire(AcquireKind::Interactive, None).unwrap();
        assert_eq!(pool.waiting(), 1);
        drop(interactive);
        assert_eq!(pool.waiting(), 1);
        drop(batch);
        assert!(waiting.join().unwrap().is_some());
    });
    // However many are reserved, batches get on.
    let all_reserved = Pool::new(pool_options(1, 5)).unwrap();
    all_reserved.acquire(AcquireKind::Batch, None).unwrap();
}

pub(crate) fn the_worker_in_which_a_machine_stands_is_preferred() {
    let pool = Pool::new(pool_options(3, 0)).unwrap();
    let mut leases: Vec<_> = (0..3).map(|_| pool.acquire(AcquireKind::Interactive, None).unwrap()).collect();
    let pids: Vec<_> = leases.iter().map(|lease| lease.pid().unwrap()).collect();
    for (machine, lease) in leases.iter_mut().enumerate() {
        let tag = ResidentTag { machine: machine as u64, revision: 7 };
        lease.run(&task(power_on(1), "")).unwrap();
        lease.set_resident(Some(tag));
        // Looking changes nothing, and neither does a refusal.
        lease.run(&task(Start::Resident, "")).unwrap();
        lease.run(&task(Start::State(nowhere()), "")).unwrap_err();
        assert_eq!(lease.resident(), Some(tag));
    }
    leases[0].run(&task(Start::Resident, "s")).unwrap();
    assert_eq!(leases[0].resident(), None);
    leases[0].set_resident(Some(ResidentTag { machine: 0, revision: 8 }));
    for place in [1, 2, 0] {
        let at = leases.iter().position(|lease| lease.pid() == Some(pids[place])).unwrap();
        drop(leases.remove(at));
    }
    let acquired = |prefer| {
        let lease = pool.acquire(AcquireKind::Interactive, prefer).unwrap();
        (pids.iter().position(|pid| Some(*pid) == lease.pid()).unwrap(), lease)
    };
    let (place, lease) = acquired(Some(ResidentTag { machine: 2, revision: 7 }));
    assert_eq!((place, lease.resident().unwrap().machine), (2, 2));
    // The oldest use is 1, then 0; what stands in 0 is no longer what is asked for.
    let (first, _first) = acquired(Some(ResidentTag { machine: 0, revision: 7 }));
    let (second, _second) = acquired(None);
    assert_eq!((first, second), (1, 0));
}

pub(crate) fn a_shutdown_ends_everything() {
    let pool = Pool::new(pool_options(1, 0)).unwrap();
    let mut lease = pool.acquire(AcquireKind::Interactive, None).unwrap();
    let pid = lease.pid().unwrap();
    signal(pid, Signal::STOP);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| pool.acquire(AcquireKind::Batch, None).map(drop));
        until_waiting(&pool, 1);
        let (started, starts) = mpsc::channel();
        let running = scope.spawn(move || {
            started.send(()).unwrap();
            lease.run(&task(power_on(1), "s"))
        });
        starts.recv().unwrap();
        pool.shutdown();
        assert!(matches!(waiting.join().unwrap(), Err(PoolError::Closed)));
        assert_eq!(running.join().unwrap(), Err(TaskError::Lost { reason: LostReason::Killed }));
    });
    assert!(matches!(pool.acquire(AcquireKind::Interactive, None), Err(PoolError::Closed)));
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

pub(crate) fn who_wants_no_worker_any_more_leaves_the_line() {
    let pool = Pool::new(pool_options(1, 0)).unwrap();
    let taken = pool.acquire(AcquireKind::Batch, None).unwrap();
    let stopped = pool.acquire_unless(AcquireKind::Batch, None, &|| true);
    assert!(matches!(stopped, Err(PoolError::Stopped)), "{stopped:?}");
    assert_eq!(pool.waiting(), 0);
    drop(taken);
    pool.acquire_unless(AcquireKind::Batch, None, &|| true).unwrap();
}
