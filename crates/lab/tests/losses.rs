//! Workers and hosts that are killed.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use lab::{Boundary, Control, LabError, MachineId, Progress, ResumeFrom, Snapshot, Verdict};
use rustix::process::{Pid, Signal, kill_process};
use wire::Batch;

use crate::support::{AS_WORKER, keys, lab, look, power_on, run};

/// Makes this executable a host that is going to be killed.
pub(crate) const AS_HOST: &str = "as-host";

const SEED: u64 = 21;

/// The worker processes that this process, and nobody else, has started.
pub(crate) fn workers() -> Vec<Pid> {
    let mut pids = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let children = std::fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default();
        pids.extend(children.split_whitespace().filter_map(|pid| pid.parse().ok()).filter_map(Pid::from_raw));
    }
    pids.retain(|pid| {
        let command = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        command.split(|byte| *byte == 0).any(|word| word == AS_WORKER.as_bytes())
    });
    pids
}

/// Runs in a process of its own, so that only its own workers are killed: `libtest-mimic` runs tests side by side.
pub(crate) fn killed_workers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = start_host(folder.path());
    let mut lines = BufReader::new(host.stdout.take().unwrap()).lines();
    let verdict = lines.find(|line| line.as_ref().unwrap().starts_with("survived")).unwrap().unwrap();
    drop(lines);
    host.kill().unwrap();
    host.wait().unwrap();
    assert_eq!(verdict, "survived exact");
}

pub(crate) fn a_killed_host_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = start_host(folder.path());
    let mut lines = BufReader::new(host.stdout.take().unwrap()).lines();
    lines.find(|line| line.as_ref().unwrap().starts_with("survived")).unwrap().unwrap();
    let acknowledged: u64 = lines.nth(300).unwrap().unwrap().parse().unwrap();
    host.kill().unwrap();
    host.wait().unwrap();
    let lab = lab(Some(folder.path()), |_| {});
    let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap();
    assert!(resumed.inputs >= acknowledged, "{} of {acknowledged}", resumed.inputs);
    let twin = lab.new_game(power_on(SEED), false).unwrap();
    let count = usize::try_from(resumed.inputs).unwrap();
    let there = run(&lab, twin.machine, &keys(SEED, 3_000)[..count]).snapshot;
    assert_eq!(look(&there), look(&resumed.snapshot));
    if resumed.snapshot.ended.is_none() {
        run(&lab, resumed.snapshot.machine, &keys(SEED + 1, 30));
    }
    let report = lab.verify(&std::fs::read(resumed.journal).unwrap(), None, &Control::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Exact, "{}", report.verdict);
}

fn start_host(movies: &Path) -> std::process::Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(AS_HOST).arg(movies).stdout(Stdio::piped()).spawn().unwrap()
}

/// First plays while its workers are being killed, then key by key, telling each boundary, until it is killed itself.
pub(crate) fn host(movies: &str) -> ! {
    let lab = lab(Some(Path::new(movies)), |options| options.limits.chunk_keys = 64);
    let mut out = std::io::stdout();
    let verdicts = [survive(&lab), survive_seeks(&lab)];
    writeln!(out, "survived {}", verdicts.iter().find(|verdict| *verdict != "exact").unwrap_or(&verdicts[0])).unwrap();
    let game = lab.new_game(power_on(SEED), true).unwrap();
    for key in keys(SEED, 3_000) {
        let done = run(&lab, game.machine, &[key]);
        writeln!(out, "{}", done.snapshot.boundary).unwrap();
    }
    loop {
        std::thread::park();
    }
}

/// Plays a game while its workers are being killed, and the same game in peace; `exact` when they are the same.
fn survive(lab: &lab::Lab) -> String {
    let line = keys(SEED + 7, 4_000);
    let twin = lab.new_game(power_on(SEED), false).unwrap();
    let expected = run(lab, twin.machine, &line).snapshot;
    let game = lab.new_game(power_on(SEED), true).unwrap();
    let over = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut revision = game.revision;
            while !over.load(Ordering::SeqCst) {
                // Once for every few chunks, whatever is under way then.
                for _ in 0..5 {
                    let now = lab.wait(game.machine, revision, std::time::Duration::from_secs(1)).unwrap();
                    revision = now.map_or(revision, |snapshot| snapshot.revision);
                }
                for pid in workers() {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
        });
        let done = lab.run(game.machine, game.revision, &Batch::forced(line.clone()), &Control::default());
        over.store(true, Ordering::SeqCst);
        done
    });
    let done = match done {
        Ok(done) => done,
        Err(error) => return error.to_string(),
    };
    if lab.info().workers_lost == 0 {
        return "no worker was lost".to_owned();
    }
    if look(&done.snapshot) != look(&expected) {
        return format!("another game: {:?} at {}", done.stop, done.snapshot.boundary);
    }
    let journal = std::fs::read(done.snapshot.journal.unwrap()).unwrap();
    lab.verify(&journal, None, &Control::default()).unwrap().verdict.name().to_owned()
}

/// Goes back in a game while its workers are killed on the way, once or again and again; `exact` when it comes to what a
/// game in peace comes to, or stays where it was.
fn survive_seeks(lab: &lab::Lab) -> String {
    let games = [(); 2].map(|()| lab.new_game(power_on(SEED), false).unwrap().machine);
    for machine in games {
        run(lab, machine, &keys(SEED, 3_000));
    }
    let last = lab.snapshot(games[0]).unwrap().boundary.0;
    let lost_before = lab.info().workers_lost;
    let (mut there, mut stayed) = (0, 0);
    for part in (0..24).rev() {
        let to = Boundary(last * part / 24 + part % 2);
        let (kills, kills_max) = (Cell::new(0), if part % 3 == 0 { u32::MAX } else { 1 });
        let kill = |_: Progress| {
            if kills.get() < kills_max {
                kills.set(kills.get() + 1);
                for pid in workers() {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
        };
        let before = lab.snapshot(games[0]).unwrap();
        match seek(lab, games[0], to, Some(&kill)) {
            Ok(_) => there += 1,
            Err(LabError::EngineFailure { .. }) => {
                stayed += 1;
                if look(&lab.snapshot(games[0]).unwrap()) != look(&before) {
                    return format!("a seek to {to} that failed moved the machine");
                }
                continue;
            }
            Err(error) => return error.to_string(),
        }
        let peace = seek(lab, games[1], to, None).unwrap();
        if look(&lab.snapshot(games[0]).unwrap()) != look(&peace) {
            return format!("another game at {to}");
        }
    }
    if there < 12 || stayed == 0 || lab.info().workers_lost < lost_before + 8 {
        return format!("{there} seeks succeeded, {stayed} failed, {} workers lost", lab.info().workers_lost);
    }
    "exact".to_owned()
}

fn seek(
    lab: &lab::Lab,
    machine: MachineId,
    to: Boundary,
    progress: Option<&dyn Fn(Progress)>,
) -> Result<Snapshot, LabError> {
    let revision = lab.snapshot(machine).unwrap().revision;
    lab.seek(machine, revision, to, &Control { progress, ..Control::default() })
}
