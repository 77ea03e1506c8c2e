use std::sync::{Arc, MutexGuard, PoisonError};

use spectator::{Index, Logged};
use wire::Frame;

use crate::watch::film::{Film, Reading};
use crate::watch::head::{Head, Led};

/// Boundaries after which what was found so far is shown.
const TELL_EVERY: u64 = 2_000;

/// What was found in the movie that is shown.
#[derive(Default)]
pub(super) struct Found {
    /// Which of the movies that the file has held.
    pub(super) reel: u64,
    pub(super) index: Arc<Index>,
    pub(super) log: Vec<Logged>,
}

impl Found {
    /// Of a movie of which nothing was read yet.
    pub(super) fn nothing(reel: u64, last: u64) -> Self {
        Self { reel, index: Arc::new(Index { last, ..Index::default() }), log: Vec::new() }
    }
}

/// Reads through a movie key by key, and notes where turns, levels and messages are.
struct Reader<'a> {
    film: &'a Film,
    reel: u64,
    head: Head,
    index: Index,
}

impl Film {
    /// Notes what the recording holds, until all is to stop.
    pub(super) fn read_through(&self) {
        let mut reader: Option<Reader<'_>> = None;
        let mut seen = 0;
        while let Some(reading) = self.next(seen) {
            seen = reading.edition;
            if reader.as_ref().is_some_and(|reader| reader.reel != reading.reel)
                && let Some(old) = reader.take()
            {
                old.head.close();
            }
            let read = match &mut reader {
                Some(reader) => reader.read_along(&reading),
                empty => Reader::begin(self, &reading).and_then(|begun| empty.insert(begun).read_along(&reading)),
            };
            // The machine that is shown comes to the same, and says it.
            let trouble = read.err().map(|error| format!("{error:#}"));
            let index = reader.as_ref().map_or_else(Index::default, |reader| reader.index.clone());
            self.tell(&reading, index, true, trouble);
        }
    }

    /// Shows what was found, unless the file has said more since, or is another.
    fn tell(&self, reading: &Reading, mut index: Index, is_all: bool, trouble: Option<String>) {
        let mut now = self.now();
        if now.reel != reading.reel {
            return;
        }
        if trouble.is_some() {
            index.last = index.through;
            now.trouble = trouble.map(Into::into);
        }
        let is_newest = now.edition == reading.edition;
        index.complete = is_all && is_newest;
        if !is_newest {
            index.last = now.movie.boundary().0;
        }
        self.found().index = Arc::new(index);
    }

    pub(super) fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Reader<'a> {
    fn begin(film: &'a Film, reading: &Reading) -> anyhow::Result<Self> {
        let head = Head::new(&film.lab, &reading.movie)?;
        let frame = Arc::clone(&head.snapshot.frame);
        let index = Index { line: head.snapshot.line_since.0, ..Index::default() };
        let mut reader = Self { film, reel: reading.reel, head, index };
        note(film, reading.reel, &mut reader.index, 0, &frame);
        Ok(reader)
    }

    fn read_along(&mut self, reading: &Reading) -> anyhow::Result<()> {
        let movie = &reading.movie;
        self.index.last = movie.boundary().0;
        if let Some(to) = self.head.rejoin(movie)? {
            self.take_back(to);
        }
        let mut told = self.index.through;
        while self.film.is_newest(reading.edition) {
            let Self { film, reel, head, index } = self;
            let led = head.go_on(movie, Some(&mut |boundary, frame| note(film, *reel, index, boundary, frame)))?;
            if let Some(ended) = &head.snapshot.ended
                && index.ends.is_empty()
            {
                index.ends.push((head.boundary(), ended.text.clone()));
            }
            if index.through >= told + TELL_EVERY {
                told = index.through;
                film.tell(reading, index.clone(), false, None);
            }
            if led != Led::On {
                index.last = if led == Led::Whole { index.last } else { index.through };
                break;
            }
        }
        Ok(())
    }

    fn take_back(&mut self, to: u64) {
        self.index.rewind(to);
        self.index.line = self.head.snapshot.line_since.0;
        let mut found = self.film.found();
        if found.reel == self.reel {
            found.log.retain(|logged| logged.boundary.is_some_and(|boundary| boundary <= to));
            self.index.messages = found.log.len() as u64;
        }
    }
}

fn note(film: &Film, reel: u64, index: &mut Index, boundary: u64, frame: &Frame) {
    index.note(boundary, frame);
    if frame.messages.is_empty() {
        return;
    }
    let mut found = film.found();
    if found.reel != reel {
        return;
    }
    let last = found.log.last().map_or(0, |last| last.message.id);
    let news = frame.messages.iter().filter(|message| message.id > last);
    found.log.extend(news.map(|message| Logged { message: message.clone(), boundary: Some(boundary) }));
}
