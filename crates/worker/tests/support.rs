//! What several tests need.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal};
use wire::{Batch, Key, PowerOn, Seed};
use worker::{Drive, PoolOptions, Spawner, Start, Task, Want, Worker, WorkerOptions};

/// Makes this executable a worker.
pub(crate) const AS_WORKER: &str = "as-worker";

/// Longer than anything takes that is not broken, on however busy a machine.
pub(crate) const LONG: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

pub(crate) fn options() -> WorkerOptions {
    WorkerOptions { arguments: vec![AS_WORKER.into()], ..WorkerOptions::default() }
}

pub(crate) fn pool_options(workers: usize, reserved: usize) -> PoolOptions {
    PoolOptions { workers, reserved, worker: options() }
}

pub(crate) fn worker() -> Worker {
    worker_with(options())
}

pub(crate) fn worker_with(options: WorkerOptions) -> Worker {
    Worker::spawn(&Spawner::new(options).unwrap()).unwrap()
}

pub(crate) fn keys(text: &str) -> Vec<Key> {
    text.bytes().map(Key).collect()
}

/// A task that presses keys, whatever the game waits for.
pub(crate) fn task(start: Start, text: &str) -> Task {
    let batch = || Drive::Batch { batch: Batch::forced(keys(text)), part: None };
    let drive = if text.is_empty() { Drive::Nothing } else { batch() };
    Task { start, event: None, drive, want: Want::default() }
}

pub(crate) fn power_on(seed: u64) -> Start {
    Start::PowerOn(PowerOn::from_seed(Seed(seed)))
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    rustix::process::kill_process(to_pid(pid), signal).unwrap();
}

pub(crate) fn to_pid(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

/// Whether a process ends, whoever its parent is.
pub(crate) fn ends(pidfd: impl AsFd) -> bool {
    poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&LONG)).unwrap() == 1
}

pub(crate) fn pidfd(pid: u32) -> std::os::fd::OwnedFd {
    rustix::process::pidfd_open(to_pid(pid), PidfdFlags::empty()).unwrap()
}

/// A field of `/proc/PID/status`.
pub(crate) fn status(pid: u32, field: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {field} in {status}")).trim().to_owned()
}
