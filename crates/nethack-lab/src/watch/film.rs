use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lab::{Boundary, Control, Lab, Revision, Snapshot};
use movie::{Movie, Recording};
use spectator::{At, Index, Kind, Logged, Published, Refusal, Source, Symbols, Waited};
use wire::{Frame, Key};

use crate::viewer;
use crate::watch::head::{self, Head, Led};

/// The only machine's name.
const MAIN: &str = "main";
/// Boundaries after which what was found so far is shown.
const TELL_EVERY: u64 = 2_000;

/// A recording as a source: one machine stands at its end, or comes to it; another reads through it for the index.
pub(super) struct Film {
    lab: Lab,
    title: String,
    kind: Kind,
    stop: Arc<AtomicBool>,
    now: Mutex<Now>,
    changed: Condvar,
    index: Mutex<Found>,
}

struct Now {
    movie: Arc<Movie>,
    /// Grows with each recording that is shown.
    edition: u64,
    tip: Snapshot,
    /// What is wrong with the replay.
    astray: Option<Arc<str>>,
    /// What is wrong with the file just now.
    trouble: Option<Arc<str>>,
    torn_bytes: usize,
}

#[derive(Default)]
struct Found {
    index: Arc<Index>,
    log: Vec<Logged>,
}

impl Film {
    pub(super) fn new(
        lab: Lab,
        title: String,
        kind: Kind,
        recording: Recording,
        stop: Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        let movie = Arc::new(recording.movie);
        let tip = Head::new(&lab, &movie)?.snapshot;
        let torn_bytes = recording.torn_bytes;
        let now = Now { movie, edition: 1, tip, astray: None, trouble: None, torn_bytes };
        let index = Mutex::default();
        Ok(Self { lab, title, kind, stop, now: Mutex::new(now), changed: Condvar::new(), index })
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Has waiting threads look whether they are to stop.
    pub(super) fn wake(&self) {
        drop(self.now());
        self.changed.notify_all();
    }

    /// Takes a newer reading of the file.
    pub(super) fn show(&self, recording: Recording) {
        let mut now = self.now();
        now.torn_bytes = recording.torn_bytes;
        now.trouble = None;
        if *now.movie != recording.movie {
            now.movie = Arc::new(recording.movie);
            now.edition += 1;
        }
        drop(now);
        self.changed.notify_all();
    }

    /// Says that the file can't be read just now.
    pub(super) fn trouble(&self, text: &str) {
        self.now().trouble = Some(text.into());
    }

    /// The movie, once it is a newer one than `edition`; nothing when all is to stop.
    fn next(&self, edition: u64) -> Option<(Arc<Movie>, u64)> {
        let mut now = self.now();
        while now.edition <= edition && !self.stops() {
            now = self.changed.wait(now).unwrap_or_else(PoisonError::into_inner);
        }
        (!self.stops()).then(|| (Arc::clone(&now.movie), now.edition))
    }

    fn is_newest(&self, edition: u64) -> bool {
        self.now().edition == edition && !self.stops()
    }

    /// Leads the machine that is shown to the recording's end, and on with it.
    pub(super) fn lead(&self) {
        let tip = self.now().tip.clone();
        let mut head = Head::standing(&self.lab, tip);
        let mut seen = 0;
        while let Some((movie, edition)) = self.next(seen) {
            seen = edition;
            let led = head.rejoin(&movie).and_then(|_| self.lead_along(&mut head, &movie, edition));
            self.now().astray = led.err().map(|why| format!("{why:#}").into());
        }
    }

    fn lead_along(&self, head: &mut Head, movie: &Movie, edition: u64) -> anyhow::Result<()> {
        while self.is_newest(edition) {
            let led = head.go_on(movie, None);
            self.now().tip = head.snapshot.clone();
            match led? {
                Led::On => {}
                Led::Whole => break,
                Led::Astray(at) => anyhow::bail!(
                    "the replay is not what was recorded at boundary {at} or before: `nethack-lab movie verify` tells more"
                ),
            }
        }
        Ok(())
    }

    /// Reads through the recording key by key, and notes where turns, levels and messages are.
    pub(super) fn read_through(&self) {
        let mut head: Option<Head> = None;
        let mut index = Index::default();
        let mut seen = 0;
        while let Some((movie, edition)) = self.next(seen) {
            seen = edition;
            index.last = movie.boundary().0;
            if let Err(error) = self.read_along(&mut head, &mut index, &movie, edition) {
                // The machine that is shown comes to the same, and says it.
                index.last = index.through;
                self.now().trouble = Some(format!("{error:#}").as_str().into());
            }
            self.tell(&index);
        }
    }

    fn read_along(
        &self,
        head: &mut Option<Head>,
        index: &mut Index,
        movie: &Movie,
        edition: u64,
    ) -> anyhow::Result<()> {
        let head = match head {
            Some(head) => {
                if let Some(to) = head.rejoin(movie)? {
                    self.take_back(index, to);
                }
                head
            }
            empty => {
                let made = empty.insert(Head::new(&self.lab, movie)?);
                self.note(index, 0, &made.snapshot.frame);
                made
            }
        };
        let mut told = index.through;
        while self.is_newest(edition) {
            let led = head.go_on(movie, Some(&mut |boundary, frame| self.note(index, boundary, frame)))?;
            if let Some(ended) = &head.snapshot.ended
                && index.ends.is_empty()
            {
                index.ends.push((head.boundary(), ended.text.clone()));
            }
            if index.through >= told + TELL_EVERY {
                told = index.through;
                self.tell(index);
            }
            if led != Led::On {
                index.last = if led == Led::Whole { index.last } else { index.through };
                break;
            }
        }
        Ok(())
    }

    fn note(&self, index: &mut Index, boundary: u64, frame: &Frame) {
        index.note(boundary, frame);
        if frame.messages.is_empty() {
            return;
        }
        let mut found = self.found();
        let last = found.log.last().map_or(0, |last| last.message.id);
        let news = frame.messages.iter().filter(|message| message.id > last);
        found.log.extend(news.map(|message| Logged { message: message.clone(), boundary: Some(boundary) }));
    }

    fn take_back(&self, index: &mut Index, to: u64) {
        index.rewind(to);
        let mut found = self.found();
        found.log.retain(|logged| logged.boundary.is_some_and(|boundary| boundary <= to));
        index.messages = found.log.len() as u64;
    }

    fn tell(&self, index: &Index) {
        self.found().index = Arc::new(index.clone());
    }

    fn published(&self) -> Published {
        let now = self.now();
        let mut published = viewer::published(MAIN, &now.tip, |_| None);
        published.lineage = None;
        let torn = (now.torn_bytes > 0)
            .then(|| format!("the file's last {} bytes are torn: all before them is shown", now.torn_bytes).into());
        published.failure = now.astray.clone().or_else(|| now.trouble.clone()).or(torn).or(published.failure);
        published
    }
}

impl Source for Film {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn mark(&self) -> u64 {
        self.now().tip.revision.0
    }

    fn machines(&self) -> Vec<Published> {
        vec![self.published()]
    }

    fn look(&self, id: &str) -> Option<Published> {
        (id == MAIN).then(|| self.published())
    }

    fn wait(&self, id: &str, after: u64, timeout: Duration) -> Waited {
        if id != MAIN {
            return Waited::Gone;
        }
        let machine = self.now().tip.machine;
        let waited = self.lab.wait(machine, Revision(after), timeout);
        if let Ok(Some(snapshot)) = waited {
            let mut now = self.now();
            if now.tip.machine == machine && now.tip.revision < snapshot.revision {
                now.tip = snapshot;
            }
        }
        let published = self.published();
        if published.revision > after { Waited::Changed(Box::new(published)) } else { Waited::Unchanged }
    }

    fn frames(&self, id: &str, from: u64, count: usize) -> Result<Vec<At>, Refusal> {
        if id != MAIN {
            return Err(Refusal::UnknownMachine);
        }
        let (tip, movie) = {
            let now = self.now();
            (now.tip.clone(), Arc::clone(&now.movie))
        };
        let last = movie.boundary().0;
        if from > tip.boundary.0 {
            let through = tip.boundary.0;
            return Err(if from > last { Refusal::NoBoundary { last } } else { Refusal::NotYet { through } });
        }
        let count = usize::try_from(tip.boundary.0 - from).unwrap_or(usize::MAX).saturating_add(1).min(count);
        let frames = if count == 1 {
            let frame = self.lab.frame_at(tip.machine, Boundary(from), &Control::default());
            vec![frame.map_err(|error| viewer::refusal(&error))?]
        } else {
            head::frames(&self.lab, &tip, from, count).map_err(|error| Refusal::Failed(format!("{error:#}")))?
        };
        let key = |boundary: u64| {
            let before = usize::try_from(boundary).ok().and_then(|at| at.checked_sub(1));
            before.and_then(|at| movie.steps.get(at)).map(|step| step.key)
        };
        let symbols = Symbols::of(&tip.power_on);
        let at = |(index, frame)| {
            let boundary = from + index as u64;
            let ended = tip.ended.clone().filter(|_| boundary == tip.boundary.0);
            At { boundary, key: key(boundary), frame, symbols, ended }
        };
        Ok(frames.into_iter().enumerate().map(at).collect())
    }

    fn messages(&self, id: &str, after: u64, limit: usize) -> Vec<Logged> {
        if id != MAIN {
            return Vec::new();
        }
        let found = self.found();
        let from = found.log.partition_point(|logged| logged.message.id <= after);
        found.log.iter().skip(from).take(limit).cloned().collect()
    }

    fn last_messages(&self, id: &str, count: usize) -> Vec<Logged> {
        if id != MAIN {
            return Vec::new();
        }
        let machine = self.now().tip.machine;
        viewer::newest(&self.lab, machine, 0, count)
    }

    fn keys(&self, id: &str, from: u64, count: usize) -> Vec<Key> {
        let machine = self.now().tip.machine;
        if id == MAIN { viewer::keys(&self.lab, machine, from, count) } else { Vec::new() }
    }

    fn index(&self, id: &str) -> Option<Arc<Index>> {
        (id == MAIN).then(|| Arc::clone(&self.found().index))
    }
}
