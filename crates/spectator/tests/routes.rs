//! What is answered, and that nothing else is.

mod toy;

use spectator::{BindError, bind};
use toy::{Toy, get, machine, send};

const LISTED: [&str; 9] = [
    "/",
    "/assets/main.js",
    "/assets/page.css",
    "/assets/icon.svg",
    "/health",
    "/api/machines",
    "/api/machines/main/state",
    "/api/machines/main/frames/0?count=2",
    "/api/machines/f1/messages",
];

#[test]
fn listed_routes_answer_and_keep_to_themselves() {
    let toy = Toy::with(vec![machine("main", 3), machine("f1", 5)]);
    let viewer = toy.serve();
    for path in LISTED {
        let answer = get(&viewer, path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let policy = answer.header("content-security-policy").expect(path);
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert!(!answer.head.contains("access-control"), "{path} lets others in");
        let head =
            send(&viewer, format!("HEAD {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes());
        let head = head.expect("an answer");
        assert_eq!((head.status, head.body.len()), (200, 0), "HEAD {path}");
    }
    let state = get(&viewer, "/api/machines/main/state").json();
    assert_eq!(state["rows"][0], serde_json::json!([["revision 3 of main <b>", 8, 0]]));
    assert_eq!(state["boundary"], 3);
    let frames = get(&viewer, "/api/machines/main/frames/0?count=2").json();
    let frames = frames["frames"].as_array().unwrap();
    assert!(frames.len() == 2 && frames.iter().all(|frame| frame["game"] == state["game"]), "{frames:?}");
}

/// A client may close its side once it has asked, as `nc -N` does, and is answered all the same.
#[test]
fn one_that_only_listens_any_more_is_answered() {
    use std::io::{Read, Write};
    let viewer = Toy::with(vec![machine("main", 3)]).serve();
    let address = viewer.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
    for path in ["/health", "/api/machines/main/state", "/api/machines/main/frames/0?count=3"] {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
}

#[test]
fn a_state_that_is_known_is_not_sent_again() {
    let toy = Toy::with(vec![machine("main", 3)]);
    let viewer = toy.serve();
    let tag = get(&viewer, "/api/machines/main/state").header("etag").expect("a tag").to_owned();
    assert!(tag.contains("g1-3"), "{tag}");
    let again = |tag: &str| {
        let request = format!(
            "GET /api/machines/main/state HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {tag}\r\nConnection: close\r\n\r\n"
        );
        send(&viewer, request.as_bytes()).expect("an answer")
    };
    let known = again(&tag);
    assert_eq!((known.status, known.body.len()), (304, 0));
    assert_eq!(again("\"other\"").status, 200);
    toy.put(machine("main", 4));
    assert_eq!(again(&tag).status, 200);
}

#[test]
fn other_hosts_methods_and_paths_are_refused() {
    let toy = Toy::with(vec![machine("main", 3)]);
    let viewer = toy.serve();
    let status = |request: &str| send(&viewer, request.as_bytes()).map(|answer| answer.status);
    for host in [
        "Host: evil.example",
        "Host: localhost.evil.example",
        "Host: 10.0.0.1",
        "X: y",
        "Host: localhost\r\nHost: localhost",
    ] {
        let found = status(&format!("GET / HTTP/1.1\r\n{host}\r\nConnection: close\r\n\r\n"));
        assert!(matches!(found, Some(400 | 421)), "{host}: {found:?}");
    }
    assert_eq!(status("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"), Some(421));
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "NONSENSE"] {
        for path in LISTED.into_iter().chain(["/nothing", "/api/machines/main/events"]) {
            let request = format!(
                "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
            );
            assert_eq!(status(&request), Some(405), "{method} {path}");
        }
    }
    for path in [
        "/nothing",
        "/assets/",
        "/assets/../Cargo.toml",
        "/assets/%2e%2e/Cargo.toml",
        "/api",
        "/api/machines/",
        "/api/machines/f9/state",
        "/api/machines/f9/events",
        "/api/machines/main/frames/4",
        "/api/machines/main/index",
        "/api/machines/%00/state",
        "/g/main",
        "/api/games/g1/state",
    ] {
        let answer = get(&viewer, path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.json()["error"]["code"].is_string(), "{path}");
    }
    for path in [
        "/api/machines/main/frames/0?count=65",
        "/api/machines/main/frames/0?n=1",
        "/api/machines/main/frames/0?count=many",
        "/api/machines/main/frames/-1",
        "/api/machines/main/frames/x",
        "/api/machines/main/frames/99999999999999999",
        "/api/machines/main/messages?limit=0",
        "/api/machines/main/messages?after=1.5",
    ] {
        let answer = get(&viewer, path);
        assert_eq!(answer.status, 400, "{path}");
        // What was given, what is wanted: nothing about machines.
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(["boundary", "count", "limit", "after"].iter().any(|name| message.contains(name)), "{path}: {message}");
    }
    assert_eq!(get(&viewer, &format!("/{}", "a".repeat(600))).status, 414);
    let large = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\nConnection: close\r\n\r\n", "a".repeat(40_000));
    assert!(!matches!(status(&large), Some(200)));
}

/// Requests put together at random from likely and unlikely parts: only a listed GET or HEAD is answered with 200, and
/// what is shown stays as it was.
#[test]
fn whatever_is_asked_nothing_changes() {
    const SEED: u64 = 0x5eed_0006;
    let toy = Toy::with(vec![machine("main", 3), machine("f1", 5)]);
    let viewer = toy.serve();
    let before = [get(&viewer, "/api/machines").body, get(&viewer, "/api/machines/f1/state").body];
    let mut state = SEED;
    let mut draw = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "get", "", "G\u{e9}T", "OPTIONS"];
    let parts = [
        "api", "machines", "main", "f1", "state", "events", "frames", "0", "99", "..", "%2e%2e", "%00", "assets",
        "main.js", "health", "g", "games", "messages", "index", "", "?", "?count=1", "?after=x", "&", "#", "//",
        "\u{fc}", "*", ";",
    ];
    let headers = [
        "Host: localhost",
        "Host: evil",
        "Host: [::1]",
        "Content-Length: 5",
        "Content-Length: -1",
        "Transfer-Encoding: chunked",
        "Connection: close",
        "Connection: upgrade",
        "Upgrade: websocket",
        "Expect: 100-continue",
        "If-None-Match: *",
        "Range: bytes=0-1",
        "X-HTTP-Method-Override: DELETE",
        "Origin: http://evil",
        "\u{0}: x",
        "A",
        "Cookie: a=b",
    ];
    let listed = |method: &str, path: &str| {
        let path = path.split(['?', '#']).next().unwrap_or("");
        let known = LISTED.iter().any(|one| one.split('?').next() == Some(path));
        let shaped = ["/frames/0", "/messages", "/state", "/events"].iter().any(|end| path.ends_with(end));
        matches!(method, "GET" | "HEAD") && (known || shaped)
    };
    for round in 0..600 {
        let method = methods[draw(methods.len())];
        let path: String = (0..=draw(6)).map(|_| format!("/{}", parts[draw(parts.len())])).collect();
        let path = path.replace("/?", "?");
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
        for _ in 0..draw(3) {
            request.push_str(headers[draw(headers.len())]);
            request.push_str("\r\n");
        }
        request.push_str("Connection: close\r\n\r\n12345");
        if path.ends_with("/events") && method == "GET" {
            // It would not end by itself.
            continue;
        }
        if let Some(answer) = send(&viewer, request.as_bytes()) {
            let refused = matches!(answer.status, 400 | 404 | 405 | 408 | 411 | 413..=417 | 421 | 431 | 501 | 505);
            let fine = refused || (matches!(answer.status, 200 | 304) && listed(method, &path));
            assert!(fine, "seed {SEED:#x}, round {round}: {request:?} gives {}", answer.status);
        }
    }
    let after = [get(&viewer, "/api/machines").body, get(&viewer, "/api/machines/f1/state").body];
    assert_eq!(after, before);
}

#[test]
fn addresses_that_are_taken_or_open_to_others_are_refused() {
    let toy = Toy::with(Vec::new());
    let viewer = toy.serve();
    let address = viewer.url().trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
    assert!(matches!(bind(address, false), Err(BindError::InUse(_))));
    assert!(matches!(bind("0.0.0.0:0".parse().unwrap(), false), Err(BindError::NotLoopback(_))));
    assert!(bind("0.0.0.0:0".parse().unwrap(), true).is_ok());
    drop(viewer);
}
