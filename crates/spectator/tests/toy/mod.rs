//! A source without an engine, and a client that speaks HTTP by hand.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test binary uses its part")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use spectator::{At, Index, Kind, Lineage, Logged, Published, Refusal, Source, Symbols, Viewer, Waited};
use wire::{Frame, Key};

/// Machines that count.
#[derive(Default)]
pub struct Toy {
    machines: Mutex<Vec<Published>>,
    changed: Condvar,
    pub asked: AtomicU64,
}

pub fn machine(id: &str, revision: u64) -> Published {
    let mut frame = Frame { turn: i64::try_from(revision).unwrap(), ..Frame::default() };
    for (cell, byte) in frame.screen.chars.iter_mut().zip(format!("revision {revision} of {id} <b>").bytes()) {
        *cell = byte;
    }
    Published {
        id: id.to_owned(),
        game: "g1".to_owned(),
        lineage: (id != "main").then(|| Lineage { parent: Some("main".to_owned()), base: 1, reseeded: false }),
        revision,
        line: 0,
        boundary: revision,
        lifecycle: "idle",
        ended: None,
        failure: None,
        notice: None,
        frame: Arc::new(frame),
        symbols: Symbols::Plain,
    }
}

impl Toy {
    pub fn with(machines: Vec<Published>) -> Arc<Self> {
        let toy = Self::default();
        *toy.machines.lock().unwrap() = machines;
        Arc::new(toy)
    }

    pub fn put(&self, published: Published) {
        let mut machines = self.machines.lock().unwrap();
        match machines.iter_mut().find(|one| one.id == published.id) {
            Some(one) => *one = published,
            None => machines.push(published),
        }
        drop(machines);
        self.changed.notify_all();
    }

    pub fn remove(&self, id: &str) {
        self.machines.lock().unwrap().retain(|one| one.id != id);
        self.changed.notify_all();
    }

    pub fn serve(self: &Arc<Self>) -> Viewer {
        let bound = spectator::bind("127.0.0.1:0".parse().unwrap(), false).unwrap();
        Viewer::start(bound, Arc::clone(self) as Arc<dyn Source>).unwrap()
    }

    fn find(&self, id: &str) -> Option<Published> {
        self.machines.lock().unwrap().iter().find(|one| one.id == id).cloned()
    }
}

impl Source for Toy {
    fn kind(&self) -> Kind {
        Kind::Live
    }
    fn title(&self) -> String {
        "a toy".to_owned()
    }
    fn mark(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.machines.lock().unwrap().iter().map(|one| one.revision + 1).sum()
    }
    fn machines(&self) -> Vec<Published> {
        self.machines.lock().unwrap().clone()
    }
    fn look(&self, id: &str) -> Option<Published> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.find(id)
    }
    fn wait(&self, id: &str, after: u64, timeout: Duration) -> Waited {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let machines = self.machines.lock().unwrap();
        let is_news = |machines: &Vec<Published>| {
            let found = machines.iter().find(|one| one.id == id);
            found.is_none_or(|one| one.revision > after)
        };
        let waited = self.changed.wait_timeout_while(machines, timeout, |machines| !is_news(machines));
        let (machines, result) = waited.unwrap();
        if result.timed_out() {
            return Waited::Unchanged;
        }
        let found = machines.iter().find(|one| one.id == id).cloned();
        found.map_or(Waited::Gone, |one| Waited::Changed(Box::new(one)))
    }
    fn frames(&self, id: &str, from: u64, count: usize) -> Result<Vec<At>, Refusal> {
        let now = self.find(id).ok_or(Refusal::UnknownMachine)?;
        if from > now.boundary {
            return Err(Refusal::NoBoundary { last: now.boundary });
        }
        let at = |boundary| At {
            game: now.game.clone(),
            boundary,
            key: (boundary > 0).then_some(Key(b's')),
            frame: machine(id, boundary).frame,
            symbols: Symbols::Plain,
            ended: None,
        };
        Ok((from..=now.boundary).take(count).map(at).collect())
    }
    fn messages(&self, _: &str, _: u64, _: usize) -> Vec<Logged> {
        Vec::new()
    }
    fn last_messages(&self, _: &str, _: usize) -> Vec<Logged> {
        Vec::new()
    }
    fn keys(&self, _: &str, from: u64, count: usize) -> Vec<Key> {
        (from..).take(count).map(|_| Key(b's')).collect()
    }
    fn index(&self, _: &str) -> Option<Arc<Index>> {
        None
    }
}

/// An answer: status, head in lower case, body.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub fn connect(viewer: &Viewer) -> TcpStream {
    let address = viewer.url().trim_start_matches("http://").trim_end_matches('/');
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Sends bytes as they are and reads one answer to the end of the connection. Nothing where there is no answer.
pub fn send(viewer: &Viewer, request: &[u8]) -> Option<Answer> {
    let mut stream = connect(viewer);
    // It may be refused before all of it is read.
    let _ = stream.write_all(request);
    stream.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let cut = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..cut]).to_lowercase();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head, body: bytes[cut + 4..].to_vec() })
}

pub fn get(viewer: &Viewer, path: &str) -> Answer {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    send(viewer, request.as_bytes()).expect("an answer")
}

/// Server-sent events as they come; the newest of each kind that was passed over, since kinds come in no set order.
pub struct Stream(BufReader<TcpStream>, BTreeMap<String, String>);

impl Stream {
    pub fn open(viewer: &Viewer, id: &str) -> Self {
        let mut stream = connect(viewer);
        let request = format!("GET /api/machines/{id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        Self(BufReader::new(stream), BTreeMap::new())
    }

    /// What comes within a while, besides the line that ends the last event.
    pub fn quiet(&mut self, time: Duration) -> String {
        self.0.get_ref().set_read_timeout(Some(time)).unwrap();
        let mut lines = String::new();
        while self.0.read_line(&mut lines).is_ok_and(|bytes| bytes > 0) {}
        lines.lines().filter(|line| line.starts_with("event")).collect()
    }

    /// The next event of a kind, or the one that came while another kind was waited for: its data.
    pub fn next(&mut self, kind: &str) -> serde_json::Value {
        let parsed = |data: &str| serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"));
        if let Some(data) = self.1.remove(kind) {
            return parsed(&data);
        }
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.0.read_line(&mut line).expect("an event in time") > 0, "the stream ended");
            assert!(!line.starts_with(':'), "nothing comes but heartbeats");
            let Some(found) = line.trim_end().strip_prefix("event: ").map(str::to_owned) else { continue };
            line.clear();
            self.0.read_line(&mut line).unwrap();
            let data = line.strip_prefix("data: ").expect("data");
            if found == kind {
                return parsed(data);
            }
            self.1.insert(found, data.to_owned());
        }
    }
}
