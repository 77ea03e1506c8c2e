//! What a worker can't do, and what comes of a game that tries.

use std::collections::BTreeSet;
use std::fs::{DirEntry, File};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use rom::Rom;
use rustix::io::FdFlags;
use wire::{EndKind, StopReason};
use worker::{Keep, LostReason, Report, SharedMemory, Start, TaskError, Want, Worker, WorkerOptions};

use crate::support::{keys, options, power_on, status, task, worker_with};

pub(crate) fn a_worker_is_closed_in() {
    // A descriptor that would be passed on, as a careless parent of the host leaves them.
    let leak = File::open("/proc/self/exe").unwrap();
    rustix::io::fcntl_setfd(&leak, FdFlags::empty()).unwrap();
    let store = Arc::new(SharedMemory::create(1 << 20).unwrap());
    let spill = Arc::new(SharedMemory::in_file(&std::env::temp_dir(), 1 << 20).unwrap());
    let spilled = std::fs::read_link(format!("/proc/self/fd/{}", spill.fd().as_raw_fd())).unwrap();
    let spilled = format!("{} 0", spilled.display().to_string().split(' ').next().unwrap());
    let mut worker = worker_with(WorkerOptions { store: Some(store), spill: Some(spill), ..options() });
    worker.run(&task(power_on(1), "s")).unwrap();
    let pid = worker.pid();
    for (field, value) in [("Seccomp", "2"), ("NoNewPrivs", "1"), ("Threads", "1")] {
        assert_eq!(status(pid, field), value, "{field}");
    }
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    for limit in ["Max core file size", "Max file size", "Max processes", "Max open files"] {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit)).unwrap();
        assert_eq!(line.split_whitespace().take(2).collect::<Vec<_>>(), ["0", "0"], "{limit}");
    }
    let root = rustix::process::getuid().is_root();
    match std::fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(descriptors) => {
            let mut open: Vec<_> = descriptors.map(|entry| describe(pid, &entry.unwrap())).collect();
            open.sort();
            let expected = [
                // Standard input, from which the socket was taken over, output and error; the socket.
                "/dev/null 1",
                "/dev/null 1",
                "socket: 2",
                "socket: 2",
                // The stores, only to be read, and the output slot.
                spilled.as_str(),
                "/memfd:nethack-lab 0",
                "/memfd:nethack-lab 2",
            ];
            assert_eq!(open.iter().map(String::as_str).collect::<BTreeSet<_>>(), BTreeSet::from(expected));
            assert_eq!(open.len(), expected.len(), "{open:?}");
            assert!(leak.as_raw_fd() > 2);
        }
        // The process can't be looked into, but by root.
        Err(error) => assert!(!root, "{error}"),
    }
}

/// What an open descriptor is, and its access mode: 0 to read, 1 to write, 2 both.
fn describe(pid: u32, descriptor: &DirEntry) -> String {
    let target = std::fs::read_link(descriptor.path()).unwrap().display().to_string();
    let number = descriptor.file_name().into_string().unwrap();
    let info = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).unwrap();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim();
    let access = u32::from_str_radix(flags, 8).unwrap() & 3;
    format!("{} {access}", target.split(['[', ' ']).next().unwrap())
}

/// jmp $
pub(crate) const LOOP: &[u8] = &[0xeb, 0xfe];

/// The ROM with other code at the start of a function of the game.
pub(crate) fn altered(function: &str, code: &[u8]) -> WorkerOptions {
    let rom = rom::built_in();
    let symbol = rom.symbols().get(function).unwrap();
    assert!(symbol.bytes > code.len() as u64);
    let segment = rom
        .segments()
        .iter()
        .find(|segment| (segment.address..segment.address + segment.memory_bytes).contains(&symbol.address))
        .unwrap();
    let offset = segment.file.start + usize::try_from(symbol.address - segment.address).unwrap();
    let mut bytes = rom.bytes().to_vec();
    bytes[offset..offset + code.len()].copy_from_slice(code);
    let rom = Some(Arc::new(Rom::parse(bytes).unwrap()));
    WorkerOptions { rom, key_cpu_limit_ms: 200, silence_ms: 0, ..options() }
}

/// Presses a key in a worker with an altered ROM of which `dovspell`, which the key `+` calls, does something else.
fn press_in(code: &[u8]) -> (Worker, Result<Report, TaskError>) {
    let mut worker = worker_with(altered("dovspell", code));
    worker.run(&task(power_on(1), "")).unwrap();
    let mut plus = task(Start::Resident, "+");
    plus.want = Want { keep: Some(Keep { against: None, delta_bytes_max: 0 }), frame: true, ..Want::default() };
    let pressed = worker.run(&plus);
    (worker, pressed)
}

pub(crate) fn a_rom_that_calls_the_system_is_ended() {
    // mov eax, NUMBER; syscall
    for (number, name) in [
        (39, "getpid"),
        (2, "open"),
        (57, "fork"),
        (41, "socket"),
        (101, "ptrace"),
        (157, "prctl"),
        (14, "rt_sigprocmask"),
        (223, "timer_settime"),
        (13, "rt_sigaction"),
    ] {
        let (worker, pressed) = press_in(&[0xb8, number, 0, 0, 0, 0x0f, 0x05]);
        let lost = TaskError::Lost { reason: LostReason::Signal(31) };
        assert_eq!(pressed, Err(lost), "{name}");
        assert!(!worker.is_running(), "{name}");
    }
}

pub(crate) fn a_rom_that_loops_is_stopped_by_the_watchdog() {
    let (mut worker, pressed) = press_in(LOOP);
    assert_eq!(pressed, Err(TaskError::Hung { inputs: keys("+") }));
    assert!(!worker.is_running());
    let lost = TaskError::Lost { reason: LostReason::Hung };
    assert_eq!(worker.run(&task(power_on(1), "")), Err(lost));
}

pub(crate) fn a_rom_that_sleeps_is_found_out() {
    // recvfrom(3, here, 1, 0, NULL, NULL): waits for the host's next word, while the watchdog counts CPU time only.
    let code = [
        0xb8, 45, 0, 0, 0, 0xbf, 3, 0, 0, 0, 0x48, 0x89, 0xe6, 0xba, 1, 0, 0, 0, 0x45, 0x31, 0xd2, 0x45, 0x31, 0xc0,
        0x45, 0x31, 0xc9, 0x0f, 0x05,
    ];
    let (worker, pressed) = press_in(&code);
    assert_eq!(pressed, Err(TaskError::Lost { reason: LostReason::Silent }));
    assert!(!worker.is_running());
}

pub(crate) fn a_rom_that_faults_is_a_result() {
    // ud2
    let (mut worker, pressed) = press_in(&[0x0f, 0x0b]);
    let report = pressed.unwrap();
    assert_eq!((report.stop, report.keys_used, report.kept.clone()), (StopReason::Ended, 1, None));
    assert_eq!(report.ended.unwrap().kind, EndKind::Crashed);
    // The screen is left, and no map.
    let frame = report.frame.unwrap();
    assert!(frame.screen.text().contains("Dlvl:1") && frame.glyphs.is_empty(), "{frame:?}");
    worker.run(&task(power_on(2), "")).unwrap();
}
