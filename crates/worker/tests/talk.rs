//! The first words, and what is no talk at all.

use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use machine::shared::SharedMemory;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use wire::Batch;
use worker::{Drive, LINES_MAX, LostReason, PROTOCOL_VERSION, SpawnError, Spawner, TaskError, Worker, WorkerOptions};

use crate::support::{AS_WORKER, ends, options, pidfd, power_on, task, worker};

/// Makes this executable something that is no worker.
pub(crate) const IMPOSTOR: &str = "impostor";

/// Says or does what a worker must not.
pub(crate) fn impostor(kind: &str) -> ! {
    let socket = || UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap());
    match kind {
        "other version" => socket().write_all(&[3, 0, 0, 0, PROTOCOL_VERSION + 1, 0, 0]).unwrap(),
        "too much" => socket().write_all(&[0, 0, 0, 200, PROTOCOL_VERSION]).unwrap(),
        "garbage" => socket().write_all(&[4, 0, 0, 0, PROTOCOL_VERSION, 99, 99, 99]).unwrap(),
        "wrong words" => socket().write_all(&[2, 0, 0, 0, PROTOCOL_VERSION, 1]).unwrap(),
        // Hello from a worker with ROM `x` and engine `y`.
        "other ROM" => socket().write_all(&[9, 0, 0, 0, PROTOCOL_VERSION, 0, 1, 1, b'x', 1, b'y', 9, 0]).unwrap(),
        "too many lines" | "no lines" | "a frame that is none" | "an endless line" => answer_lines(kind),
        "exit" => std::process::exit(7),
        "signal" => std::process::abort(),
        "loop" => loop {
            std::hint::spin_loop();
        },
        _ => {}
    }
    loop {
        std::thread::park();
    }
}

/// Says hello as a good worker does, then answers one task with what must not be.
fn answer_lines(kind: &str) {
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap());
    let mut said = vec![0];
    let rom = rom::built_in();
    said.push(PROTOCOL_VERSION);
    for id in [rom.rom_id(), rom.engine_id()] {
        said.push(u8::try_from(id.len()).unwrap());
        said.extend_from_slice(id.as_bytes());
    }
    said.extend_from_slice(&[1, 0]);
    let say = |socket: &mut UnixStream, words: &[u8]| {
        let bytes = u32::try_from(words.len() + 1).unwrap().to_le_bytes();
        socket.write_all(&[&bytes[..], &[PROTOCOL_VERSION], words].concat()).unwrap();
    };
    say(&mut socket, &said);
    // The reply is ready before it is asked for. A line that is refused: 1, no text, not displaced.
    let refused = [1, 0, 0];
    match kind {
        "too many lines" => say(&mut socket, &[&[2, 2], &refused[..], &refused[..]].concat()),
        "no lines" => say(&mut socket, &[2, 0]),
        "an endless line" => loop {
            std::hint::spin_loop();
        },
        _ => say(&mut socket, &[2, 1, 0]),
    }
}

pub(crate) fn a_worker_says_hello() {
    let mut worker = worker();
    let rom = rom::built_in();
    let hello = worker.hello().clone();
    assert_eq!(hello.protocol_version, PROTOCOL_VERSION);
    assert_eq!((hello.rom_id.as_str(), hello.engine_id.as_str()), (rom.rom_id(), rom.engine_id()));
    assert_eq!(hello.pid, worker.pid());
    assert!(worker.is_running());
    worker.kill();
    assert!(!worker.is_running());
    let lost = TaskError::Lost { reason: LostReason::Killed };
    assert_eq!(worker.run(&task(power_on(1), "")), Err(lost));
}

pub(crate) fn impostors_are_found_out() {
    for (kind, expected) in [
        ("other version", format!("the other side speaks version {}", PROTOCOL_VERSION + 1)),
        ("too much", "is over the limit of".to_owned()),
        ("garbage", "does not hold what it should".to_owned()),
        ("wrong words", "said what it must not".to_owned()),
        ("exit", "exited with status 7".to_owned()),
        ("signal", "ended by signal 6".to_owned()),
        ("sleep", "does not answer".to_owned()),
        ("loop", "does not answer".to_owned()),
    ] {
        let arguments = vec![IMPOSTOR.into(), kind.into()];
        let options = WorkerOptions { arguments, key_cpu_limit_ms: 50, silence_ms: 0, ..options() };
        match Worker::spawn(&Spawner::new(options).unwrap()) {
            Err(SpawnError::Lost(reason)) => assert!(reason.to_string().contains(&expected), "{kind}: {reason}"),
            other => panic!("{kind}: {other:?}"),
        }
    }
    let arguments = vec![IMPOSTOR.into(), "other ROM".into()];
    match Worker::spawn(&Spawner::new(WorkerOptions { arguments, ..options() }).unwrap()) {
        Err(SpawnError::OtherRom { found, .. }) => assert_eq!(found, "x"),
        other => panic!("{other:?}"),
    }
    let missing = WorkerOptions { program: "/nonexistent/worker".into(), ..options() };
    let spawned = Worker::spawn(&Spawner::new(missing).unwrap());
    assert!(matches!(spawned, Err(SpawnError::System { step: "process", .. })), "{spawned:?}");
}

fn raw_worker() -> (Child, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let child = Command::new("/proc/self/exe")
        .arg(AS_WORKER)
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    (child, ours)
}

pub(crate) fn nonsense_ends_a_worker() {
    let version = PROTOCOL_VERSION;
    let setup = [6, 0, 0, 0, version, 1, 0, 0, 0, 1];
    for (bytes, told) in [
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "speaks version 47"),
        (vec![4, 0, 0, 0, version + 1, 1, 0, 0], "speaks version"),
        (vec![0, 0, 0, 255, version], "is over the limit of 1048576"),
        (vec![4, 0, 0, 0, version, 255, 255, 255], "does not hold what it should"),
        (setup.to_vec(), "a descriptor is missing"),
        (vec![4, 0, 0, 0, version, 1], ""),
        (vec![], ""),
    ] {
        let (mut child, mut socket) = raw_worker();
        let pidfd = pidfd(child.id());
        socket.write_all(&bytes).unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(ends(pidfd), "{bytes:?}");
        assert_eq!(child.wait().unwrap().code(), Some(i32::from(!told.is_empty())), "{bytes:?}");
        let (mut reply, mut printed) = (Vec::new(), Vec::new());
        // The system tells of bytes that the worker never read.
        let _ = socket.read_to_end(&mut reply);
        let reply = String::from_utf8_lossy(&reply);
        assert!(reply.contains(told), "{bytes:?}: {reply}");
        child.stdout.unwrap().read_to_end(&mut printed).unwrap();
        child.stderr.unwrap().read_to_end(&mut printed).unwrap();
        assert_eq!(printed, b"", "{bytes:?}");
    }
}

/// A worker that has said hello, talked to without the crate's own handle.
fn ready_worker() -> (Child, UnixStream) {
    let (child, mut socket) = raw_worker();
    let slot = SharedMemory::create(1).unwrap();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut descriptors = SendAncillaryBuffer::new(&mut space);
    let slot = [slot.fd()];
    assert!(descriptors.push(SendAncillaryMessage::ScmRights(&slot)));
    let setup = [6, 0, 0, 0, PROTOCOL_VERSION, 1, 0, 0, 0, 100];
    sendmsg(&socket, &[IoSlice::new(&setup)], &mut descriptors, SendFlags::empty()).unwrap();
    let mut header = [0; 5];
    socket.read_exact(&mut header).unwrap();
    assert_eq!(header[4], PROTOCOL_VERSION);
    let mut hello = vec![0; usize::from(header[0]) - 1];
    socket.read_exact(&mut hello).unwrap();
    assert!(String::from_utf8_lossy(&hello).contains(rom::built_in().rom_id()));
    (child, socket)
}

pub(crate) fn a_ready_worker_ends_as_it_should() {
    let version = PROTOCOL_VERSION;
    for (bytes, told) in [
        (vec![], ""),
        (vec![9, 0, 0, 0, version, 0], ""),
        // No task at all.
        (vec![2, 0, 0, 0, version, 0], "holds 0 tasks"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "speaks version 47"),
        (vec![0, 0, 0, 255, version], "is over the limit of 1048576"),
        (vec![4, 0, 0, 0, version, 255, 255, 255], "does not hold what it should"),
    ] {
        let (mut child, mut socket) = ready_worker();
        let pidfd = pidfd(child.id());
        socket.write_all(&bytes).unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(ends(pidfd), "{bytes:?}");
        // An exit status, not the signal of a call that the sandbox does not allow.
        assert_eq!(child.wait().unwrap().code(), Some(i32::from(!told.is_empty())), "{bytes:?}");
        let mut reply = Vec::new();
        let _ = socket.read_to_end(&mut reply);
        let reply = String::from_utf8_lossy(&reply);
        assert!(reply.contains(told), "{bytes:?}: {reply}");
    }
}

pub(crate) fn too_much_is_refused() {
    let mut worker = worker();
    let mut long = task(power_on(1), &"s".repeat(wire::KEYS_MAX + 1));
    let refused = worker.run(&long);
    assert!(matches!(&refused, Err(TaskError::Refused(reason)) if reason.contains("36001")), "{refused:?}");
    long.drive = Drive::Batch { batch: Batch::forced(vec![wire::Key(b's'); 2 << 20]), part: None };
    let refused = worker.run(&long);
    assert!(matches!(&refused, Err(TaskError::Refused(reason)) if reason.contains("over the limit")), "{refused:?}");
    let many = vec![task(power_on(1), ""); LINES_MAX + 1];
    for lines in [&many[..0], &many[..]] {
        assert!(matches!(worker.run_lines(lines), Err(TaskError::Refused(_))), "{} lines", lines.len());
    }
    worker.run(&task(power_on(1), "s")).unwrap();
}
