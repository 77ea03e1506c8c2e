//! Workers that are killed and stopped under a running batch.

use std::process::{Command, ExitCode};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use lab::{Control, Lab, LineStop, Progress, Try};
use rustix::process::{Pid, Signal, kill_process};

use crate::chance::Chance;
use crate::support::{begin, keys, lab, look};

/// Makes this executable a host whose workers are killed.
pub(crate) const AS_HOST: &str = "as-host";
/// Rounds among the tests.
const ROUNDS: &str = "12";

/// Runs in a process of its own, so that only its own workers are killed: tests run side by side.
pub(crate) fn killed_and_stopped_workers_lose_nothing() {
    let done = Command::new(std::env::current_exe().unwrap()).args([AS_HOST, ROUNDS]).output().unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{told}{}", String::from_utf8_lossy(&done.stderr));
    assert!(told.contains("all right"), "{told}");
}

/// The worker processes of this process.
fn workers() -> Vec<Pid> {
    let mut pids = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        pids.extend(children.split_whitespace().filter_map(|pid| pid.parse().ok()).filter_map(Pid::from_raw));
    }
    pids
}

/// What the one who kills is told: lines are done, and at last that all are.
#[derive(Default)]
struct Beat {
    done: Mutex<(u64, bool)>,
    moved: Condvar,
}

impl Beat {
    fn tell(&self, over: bool) {
        let mut done = self.done.lock().unwrap();
        *done = (done.0 + 1, over);
        self.moved.notify_all();
    }

    /// Waits until something moves, but not for long: it may be that all workers are stopped. False when all is over.
    fn wait(&self, last: &mut u64) -> bool {
        let done = self.done.lock().unwrap();
        let wait = self.moved.wait_timeout_while(done, Duration::from_millis(20), |done| done.0 == *last && !done.1);
        let done = wait.unwrap().0;
        *last = done.0;
        !done.1
    }
}

/// Kills one worker, or stops one for a beat, at every second beat, until all is over.
fn kill(beat: &Beat, seed: u64) -> (u32, u32) {
    let mut chance = Chance::new(seed);
    let (mut last, mut killed, mut stopped) = (0, 0, 0);
    while beat.wait(&mut last) {
        let pids = workers();
        if pids.is_empty() || chance.below(2) == 0 {
            continue;
        }
        let pid = pids[chance.below(pids.len())];
        if chance.below(3) > 0 {
            killed += u32::from(kill_process(pid, Signal::KILL).is_ok());
        } else if kill_process(pid, Signal::STOP).is_ok() {
            stopped += 1;
            beat.wait(&mut last);
            let _ = kill_process(pid, Signal::CONT);
        }
    }
    (killed, stopped)
}

/// Now; it says when a long run is over.
#[expect(clippy::disallowed_methods, reason = "nothing of it reaches a machine")]
fn now() -> Instant {
    Instant::now()
}

/// Tries the same lines in peace and under fire, as often as it is told to, or for so long: `12`, `300s`.
pub(crate) fn host(rounds: &str) -> ExitCode {
    let (began, seconds) = (now(), rounds.strip_suffix('s').map(|seconds| seconds.parse::<u64>().unwrap()));
    let goes_on = |round: &u64| match seconds {
        Some(seconds) => began.elapsed() < Duration::from_secs(seconds),
        None => *round < rounds.parse().unwrap(),
    };
    let lab = lab(|_| {});
    let tries = lines(&lab);
    let peace = lab.try_lines(&tries, &Control::default()).unwrap();
    let digests: Vec<_> = peace.iter().map(|tried| lab.digest(tried.state.as_ref().unwrap()).unwrap()).collect();
    let (mut rounds_done, mut lost, mut killed, mut stopped) = (0, 0, 0, 0);
    for round in (0..).take_while(goes_on) {
        rounds_done += 1;
        let beat = Beat::default();
        let mut fire = std::thread::scope(|scope| {
            let killer = scope.spawn(|| kill(&beat, round));
            let progress = |_: Progress| beat.tell(false);
            let control = Control { progress: Some(&progress), ..Control::default() };
            let fire = lab.try_lines(&tries, &control);
            beat.tell(true);
            let (kills, stops) = killer.join().unwrap();
            (killed, stopped) = (killed + kills, stopped + stops);
            fire.unwrap()
        });
        for (n, tried) in fire.iter_mut().enumerate() {
            if matches!(tried.stop, LineStop::Lost { .. }) {
                lost += 1;
                *tried = lab.try_lines(&tries[n..=n], &Control::default()).unwrap().remove(0);
            }
            assert_eq!(look(tried), look(&peace[n]), "round {round}, line {n}");
            if n % 16 == round as usize % 16 {
                let digest = lab.digest(tried.state.as_ref().unwrap()).unwrap();
                assert_eq!(digest, digests[n], "round {round}, line {n}");
            }
        }
    }
    assert!(lab.info().workers_lost > 0);
    println!(
        "{rounds_done} rounds of {} lines: {killed} workers killed, {stopped} stopped, {lost} lines lost",
        tries.len()
    );
    drop((lab, peace));
    assert!(workers().is_empty());
    println!("all right");
    ExitCode::SUCCESS
}

fn lines(lab: &Lab) -> Vec<Try> {
    let mut tries = Vec::new();
    for seed in 0..4 {
        let start = begin(lab, seed);
        let later = lab.try_lines(&[Try::keys(&start, keys(seed, 200)).kept()], &Control::default()).unwrap();
        let later = later[0].state.clone().unwrap();
        for n in 0..100_u64 {
            let from = if n % 2 == 0 { &start } else { &later };
            tries.push(match n % 10 {
                9 => Try::policy(from, "walk", n.to_le_bytes(), 150).kept().framed(),
                _ => Try::keys(from, keys(seed * 100 + n, 20)).kept().framed(),
            });
        }
    }
    tries
}
