use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lab::{Boundary, Control, Lab, Revision, Snapshot};
use movie::{Movie, Recording};
use spectator::{At, Index, Kind, Logged, Published, Refusal, Source, Symbols, Waited};
use wire::Key;

use crate::viewer;
use crate::watch::head::{self, Head, Led};
use crate::watch::reader::Found;

/// How often frames are tried to be had.
const TRIES: u32 = 3;
/// The only machine's name.
const MAIN: &str = "main";
/// What is said once the file holds another movie.
const REPLACED: &str = "the file was replaced by another movie, which is shown now";

/// A recording as a source: one machine stands at its end, or comes to it; another reads through it for the index.
pub(super) struct Film {
    pub(super) lab: Lab,
    title: String,
    stop: Arc<AtomicBool>,
    now: Mutex<Now>,
    changed: Condvar,
    /// Locked after `now`, where both are.
    pub(super) found: Mutex<Found>,
}

pub(super) struct Now {
    pub(super) movie: Arc<Movie>,
    kind: Kind,
    /// Which of the movies that the file has held: grows with each that is another and not the same gone on.
    pub(super) reel: u64,
    /// Grows with each recording that is shown.
    pub(super) edition: u64,
    /// The game's name, the same for a whole reel whatever machines it takes.
    game: String,
    tip: Snapshot,
    /// What is wrong with the replay.
    astray: Option<Arc<str>>,
    /// What is wrong with the file just now.
    pub(super) trouble: Option<Arc<str>>,
    notice: Option<Arc<str>>,
    torn_bytes: usize,
}

/// What the file says, once it has said something new.
pub(super) struct Reading {
    pub(super) movie: Arc<Movie>,
    pub(super) reel: u64,
    pub(super) edition: u64,
    tip: Snapshot,
}

impl Now {
    /// A movie from its own power-on.
    fn of(lab: &Lab, recording: Recording, reel: u64, edition: u64) -> anyhow::Result<Self> {
        let kind = if recording.is_closed() { Kind::Movie } else { Kind::Journal };
        let movie = Arc::new(recording.movie);
        let tip = Head::new(lab, &movie)?.snapshot;
        let (game, torn_bytes) = (tip.game.to_string(), recording.torn_bytes);
        Ok(Self { movie, kind, reel, edition, game, tip, astray: None, trouble: None, notice: None, torn_bytes })
    }
}

impl Film {
    pub(super) fn new(lab: Lab, title: String, recording: Recording, stop: Arc<AtomicBool>) -> anyhow::Result<Self> {
        let now = Now::of(&lab, recording, 1, 1)?;
        let found = Mutex::new(Found::nothing(1, now.movie.boundary().0));
        Ok(Self { lab, title, stop, now: Mutex::new(now), changed: Condvar::new(), found })
    }

    pub(super) fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Has waiting threads look whether they are to stop.
    pub(super) fn wake(&self) {
        drop(self.now());
        self.changed.notify_all();
    }

    /// Takes a newer reading of the same movie.
    pub(super) fn show(&self, recording: Recording) {
        let mut now = self.now();
        now.torn_bytes = recording.torn_bytes;
        now.trouble = None;
        if *now.movie != recording.movie {
            now.movie = Arc::new(recording.movie);
            now.edition += 1;
            // There is more to be found than was, whether the reader has heard of it yet or not.
            let mut found = self.found();
            let index = Arc::make_mut(&mut found.index);
            index.complete = false;
            index.last = now.movie.boundary().0;
        }
        drop(now);
        self.changed.notify_all();
    }

    /// Takes another movie in place of the one that was shown, from its own power-on and as a game of its own.
    ///
    /// # Errors
    /// It can't be powered on; the old one stays.
    pub(super) fn replace(&self, recording: Recording) -> anyhow::Result<()> {
        let (reel, edition) = {
            let now = self.now();
            (now.reel + 1, now.edition + 1)
        };
        let mut new = Now::of(&self.lab, recording, reel, edition)?;
        new.notice = Some(REPLACED.into());
        let mut now = self.now();
        *self.found() = Found::nothing(reel, new.movie.boundary().0);
        *now = new;
        drop(now);
        self.changed.notify_all();
        Ok(())
    }

    /// Says that the file can't be read just now.
    pub(super) fn trouble(&self, text: &str) {
        self.now().trouble = Some(text.into());
    }

    /// What the file says, once that is newer than `edition`; nothing when all is to stop.
    pub(super) fn next(&self, edition: u64) -> Option<Reading> {
        let mut now = self.now();
        while now.edition <= edition && !self.stops() {
            now = self.changed.wait(now).unwrap_or_else(PoisonError::into_inner);
        }
        let Now { movie, reel, edition, tip, .. } = &*now;
        let reading = Reading { movie: Arc::clone(movie), reel: *reel, edition: *edition, tip: tip.clone() };
        (!self.stops()).then_some(reading)
    }

    pub(super) fn is_newest(&self, edition: u64) -> bool {
        self.now().edition == edition && !self.stops()
    }

    /// Leads the machine that is shown to the recording's end, and on with it.
    pub(super) fn lead(&self) {
        let mut led: Option<(u64, Head)> = None;
        let mut seen = 0;
        while let Some(reading) = self.next(seen) {
            seen = reading.edition;
            let mut head = match led.take() {
                Some((reel, head)) if reel == reading.reel => head,
                old => {
                    if let Some((_, old)) = old {
                        old.close();
                    }
                    Head::standing(&self.lab, reading.tip.clone())
                }
            };
            let went = self.lead_along(&mut head, &reading);
            let mut now = self.now();
            if now.reel == reading.reel {
                now.astray = went.err().map(|why| format!("{why:#}").into());
            }
            drop(now);
            led = Some((reading.reel, head));
        }
    }

    fn lead_along(&self, head: &mut Head, reading: &Reading) -> anyhow::Result<()> {
        head.rejoin(&reading.movie)?;
        self.stand(head, reading.reel);
        while self.is_newest(reading.edition) {
            let led = head.go_on(&reading.movie, None);
            self.stand(head, reading.reel);
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

    /// Shows where the machine stands, unless another movie is shown by now.
    fn stand(&self, head: &Head, reel: u64) {
        let mut now = self.now();
        if now.reel == reel {
            now.tip = head.snapshot.clone();
        }
    }

    fn published(&self) -> Published {
        let now = self.now();
        let mut published = viewer::published(MAIN, &now.tip, |_| None);
        published.lineage = None;
        published.game.clone_from(&now.game);
        published.notice.clone_from(&now.notice);
        let torn = (now.torn_bytes > 0)
            .then(|| format!("the file's last {} bytes are torn: all before them is shown", now.torn_bytes).into());
        published.failure = now.astray.clone().or_else(|| now.trouble.clone()).or(torn).or(published.failure);
        published
    }
}

impl Source for Film {
    fn kind(&self) -> Kind {
        self.now().kind
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
        let mut found = self.frames_once(from, count);
        for _ in 1..TRIES {
            // A worker that was killed, or a machine that has given way to the next while it was asked.
            if !matches!(found, Err(Refusal::Failed(_) | Refusal::UnknownMachine)) {
                break;
            }
            found = self.frames_once(from, count);
        }
        found
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

impl Film {
    fn frames_once(&self, from: u64, count: usize) -> Result<Vec<At>, Refusal> {
        let (tip, last, game) = {
            let now = self.now();
            (now.tip.clone(), now.movie.boundary().0, now.game.clone())
        };
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
        // Of the machine that gave the frames: the movie may have gone another way since.
        let first = from.saturating_sub(1);
        let keys = viewer::keys(&self.lab, tip.machine, first, frames.len() + 1);
        let key = |boundary: u64| {
            let at = boundary.checked_sub(1)?.checked_sub(first)?;
            keys.get(usize::try_from(at).ok()?).copied()
        };
        let symbols = Symbols::of(&tip.power_on);
        let at = |(index, frame)| {
            let boundary = from + index as u64;
            let ended = tip.ended.clone().filter(|_| boundary == tip.boundary.0);
            At { game: game.clone(), boundary, key: key(boundary), frame, symbols, ended }
        };
        Ok(frames.into_iter().enumerate().map(at).collect())
    }
}
