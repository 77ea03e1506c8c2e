//! How workers begin and end.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::Signal;
use worker::{AcquireKind, Pool, PoolOptions, Spawner, Start, Worker, WorkerOptions};

use crate::sandbox::{LOOP, altered};
use crate::support::{ends, options, pidfd, power_on, signal, task, worker_with};

/// Makes this executable a host with two workers that waits for its input to end.
pub(crate) const HOST: &str = "as-host";
/// Makes this executable a host that starts and ends many workers and tells what is left.
pub(crate) const MANY: &str = "as-host-of-many";

pub(crate) fn host() -> ! {
    // Its game loops at the key `+`, and no watchdog will stop it in time.
    let looping = WorkerOptions { key_cpu_limit_ms: 3_600_000, ..altered("dovspell", LOOP) };
    let pool = Pool::new(PoolOptions { workers: 2, reserved: 0, worker: looping }).unwrap();
    let mut leases: Vec<_> = (0..2).map(|_| pool.acquire(AcquireKind::Batch, None).unwrap()).collect();
    for lease in &mut leases {
        lease.run(&task(power_on(1), "")).unwrap();
    }
    let pids: Vec<_> = leases.iter().map(|lease| lease.pid().unwrap().to_string()).collect();
    println!("{}", pids.join(" "));
    std::thread::spawn(move || leases[1].run(&task(Start::Resident, "+")));
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(0);
}

/// CPU time that a process has used in user mode, in the system's ticks.
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_ascii_whitespace().nth(11).unwrap().parse().unwrap()
}

pub(crate) fn a_worker_ends_with_its_host() {
    let mut host =
        Command::new("/proc/self/exe").arg(HOST).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let pids: Vec<u32> = line.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    let pidfds: Vec<_> = pids.iter().map(|pid| pidfd(*pid)).collect();
    // One is idle and sees its socket close. The other never looks at its socket again once its game loops.
    let before = ticks(pids[1]);
    while ticks(pids[1]) < before + 20 {
        std::thread::yield_now();
    }
    host.kill().unwrap();
    host.wait().unwrap();
    for (pid, pidfd) in pids.iter().zip(pidfds) {
        assert!(ends(pidfd), "worker {pid} outlives its host");
    }
}

pub(crate) fn a_worker_that_gets_no_processor_is_waited_for() {
    let mut worker = worker_with(WorkerOptions { key_cpu_limit_ms: 10, silence_ms: 0, ..options() });
    let pid = worker.pid();
    signal(pid, Signal::STOP);
    let (done, result) = mpsc::channel();
    let runner = std::thread::spawn(move || done.send(worker.run(&task(power_on(1), "s"))).unwrap());
    // Long past the 20 ms after which the host looks at a silent worker.
    let waited = result.recv_timeout(Duration::from_secs(2));
    assert_eq!(waited, Err(mpsc::RecvTimeoutError::Timeout));
    signal(pid, Signal::CONT);
    assert!(result.recv().unwrap().is_ok());
    runner.join().unwrap();
}

/// Children that ended and were not reaped, and open descriptors.
fn left() -> (usize, usize) {
    let own = std::process::id().to_string();
    let is_child = |stat: &str| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.split(' ').nth(2) == Some(&own));
    let children = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.unwrap().path().join("stat")).ok())
        .filter(|stat| is_child(stat))
        .count();
    (children, std::fs::read_dir("/proc/self/fd").unwrap().count())
}

pub(crate) fn many() -> ! {
    let spawner = Spawner::new(options()).unwrap();
    let before = left();
    for turn in 0..200 {
        let mut worker = Worker::spawn(&spawner).unwrap();
        match turn % 4 {
            0 => worker.kill(),
            1 => signal(worker.pid(), Signal::KILL),
            2 => {
                signal(worker.pid(), Signal::STOP);
                assert!(worker.is_running());
            }
            _ => {}
        }
    }
    let one = Worker::spawn(&spawner).unwrap();
    let (children, _) = left();
    drop(one);
    let _ = writeln!(std::io::stdout(), "{children} {before:?} {:?}", left());
    std::process::exit(0);
}

pub(crate) fn nothing_is_left_of_many_workers() {
    let told = Command::new("/proc/self/exe").arg(MANY).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let mut words = told.trim().splitn(2, ' ');
    // That children are counted shows in one that lives.
    assert_eq!(words.next(), Some("1"), "{told}");
    let rest = words.next().unwrap();
    let (before, after) = rest.split_at(rest.len() / 2);
    assert_eq!(before.trim(), after.trim(), "{told}");
    assert!(before.starts_with("(0, "), "{told}");
}
