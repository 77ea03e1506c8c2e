//! Viewers of events: many, slow, gone.

mod toy;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

use toy::{Stream, Toy, connect, get, machine};

#[test]
fn a_viewer_follows_a_machine_and_its_forks() {
    let toy = Toy::with(vec![machine("main", 1)]);
    let viewer = toy.serve();
    let mut stream = Stream::open(&viewer, "main");
    assert_eq!(stream.next("state")["revision"], 1);
    for revision in 2..6 {
        toy.put(machine("main", revision));
        let state = stream.next("state");
        assert_eq!(state["revision"], revision);
        assert_eq!(state["rows"][0][0][0], format!("revision {revision} of main <b>"));
    }
    toy.put(machine("f1", 9));
    let parent = loop {
        let list = stream.next("machines");
        if let Some(fork) = list["machines"].get(1) {
            break fork["parent"].clone();
        }
    };
    assert_eq!(parent, serde_json::json!({"id": "main", "base": 1, "reseeded": false}));
    toy.remove("main");
    stream.next("gone");
}

#[test]
fn what_does_not_change_is_not_sent_again() {
    let toy = Toy::with(vec![machine("main", 7)]);
    let viewer = toy.serve();
    let mut stream = Stream::open(&viewer, "main");
    stream.next("state");
    stream.next("machines");
    assert_eq!(stream.quiet(Duration::from_millis(1_500)), "");
}

#[test]
fn a_newcomer_is_shown_what_others_see_though_nothing_changes() {
    let toy = Toy::with(vec![machine("main", 7)]);
    let viewer = toy.serve();
    let mut first = Stream::open(&viewer, "main");
    assert_eq!(first.next("state")["revision"], 7);
    assert_eq!(first.next("machines")["total"], 1);
    let mut second = Stream::open(&viewer, "main");
    assert_eq!(second.next("state")["revision"], 7);
    let mut third = Stream::open(&viewer, "main");
    assert_eq!(third.next("machines")["total"], 1);
}

#[test]
fn a_slow_viewer_is_skipped_ahead_and_keeps_nobody_waiting() {
    const LAST: u64 = 1_500;
    let toy = Toy::with(vec![machine("main", 1)]);
    let viewer = toy.serve();
    let mut slow = Stream::open(&viewer, "main");
    slow.next("state");
    let mut quick = Stream::open(&viewer, "main");
    quick.next("state");
    let mut seen = 0;
    for revision in 2..=LAST {
        toy.put(machine("main", revision));
        if revision % 100 == 0 {
            // The quick one sees each of these, whatever the other does.
            while quick.next("state")["revision"] != revision {}
            seen += 1;
        }
    }
    assert_eq!(seen, 15);
    let mut events = 0;
    while slow.next("state")["revision"] != LAST {
        events += 1;
    }
    assert!(events < LAST / 4, "{events} states were kept for a viewer that did not take them");
}

#[test]
fn what_nobody_watches_costs_nothing() {
    let toy = Toy::with(vec![machine("main", 1), machine("f1", 1)]);
    let viewer = toy.serve();
    let asked = || toy.asked.load(Ordering::Relaxed);
    get(&viewer, "/");
    assert_eq!(asked(), 0, "a page alone asks for nothing");
    let mut stream = Stream::open(&viewer, "main");
    stream.next("state");
    stream.next("machines");
    drop(stream);
    // The watchers find out within a second or two that they are alone.
    let quiet = (0..40).any(|_| {
        let before = asked();
        std::thread::sleep(Duration::from_millis(1_300));
        asked() == before
    });
    assert!(quiet, "a machine is looked at though nobody watches");
}

#[test]
fn a_viewer_that_ends_cuts_its_connections() {
    let toy = Toy::with(vec![machine("main", 1)]);
    let viewer = toy.serve();
    let mut stream = Stream::open(&viewer, "main");
    stream.next("state");
    drop(viewer);
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        loop {
            stream.next("state");
        }
    }));
    assert!(ended.is_err());
}

#[test]
fn a_thousand_viewers_that_read_nothing_lock_nobody_out() {
    let toy = Toy::with(vec![machine("main", 1)]);
    let viewer = toy.serve();
    let request = b"GET /api/machines/main/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let hog: Vec<TcpStream> = (0..spectator::CONNECTIONS_MAX + 100)
        .map(|_| {
            let mut stream = connect(&viewer);
            stream.write_all(request).unwrap();
            stream
        })
        .collect();
    // Pages, questions and events: all that a newcomer wants, several times over.
    for revision in 2..12 {
        assert_eq!(get(&viewer, "/").status, 200);
        assert_eq!(get(&viewer, "/api/machines/main/state").status, 200);
        toy.put(machine("main", revision));
        let mut stream = Stream::open(&viewer, "main");
        while stream.next("state")["revision"] != revision {}
    }
    // Of the hog's, as many are left as there may be, and the first are gone.
    let is_open = |stream: &TcpStream| {
        stream.set_nonblocking(true).unwrap();
        let mut buffer = vec![0; 64 << 10];
        loop {
            match (&*stream).read(&mut buffer) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
            }
        }
    };
    assert!(!is_open(&hog[0]) && is_open(&hog[hog.len() - 1]));
    let open = hog.iter().filter(|stream| is_open(stream)).count();
    assert!(open <= spectator::CONNECTIONS_MAX * 5 / 8, "{open} of one peer's are sent events");
}
