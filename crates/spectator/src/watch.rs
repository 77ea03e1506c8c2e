use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch::{Receiver, Sender, channel};

use crate::pace::pause;
use crate::source::{Published, Source, Waited};
use crate::view::{Encoded, etag};

/// Machines that are watched at once. Whoever wants to see more of them asks for their states.
pub(crate) const WATCHED_MAX: usize = 192;
/// How long a wait for a change lasts at most: after so long, what nobody watches any more is let go of.
const SLICE: Duration = Duration::from_secs(1);
/// The same while a machine runs, since it comes to rest without another revision.
const SLICE_RUNNING: Duration = Duration::from_millis(40);
/// How often it is asked whether the list of machines has changed.
const LIST_EVERY: Duration = Duration::from_millis(250);

/// What viewers of one thing are shown.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    /// Nothing has been looked at yet.
    Nothing,
    /// This.
    Here(Arc<Encoded>),
    /// There is no such machine, or no longer.
    Gone,
}

/// What is watched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    List,
    Machine(String),
}

/// Looks at a thing for all who watch it: one thread for each that is watched, none for others.
pub(crate) struct Watchers {
    pub(crate) source: Arc<dyn Source>,
    /// Tells one run of the server from another.
    pub(crate) server: String,
    seats: Mutex<BTreeMap<Subject, Sender<Shown>>>,
}

impl Watchers {
    pub(crate) fn new(source: Arc<dyn Source>, server: String) -> Self {
        Self { source, server, seats: Mutex::default() }
    }

    /// Watches a machine; nothing when too many are watched already.
    pub(crate) fn machine(self: &Arc<Self>, id: &str) -> Option<Receiver<Shown>> {
        self.subscribe(Subject::Machine(id.to_owned()))
    }

    /// Watches the list of machines.
    pub(crate) fn list(self: &Arc<Self>) -> Option<Receiver<Shown>> {
        self.subscribe(Subject::List)
    }

    /// What viewers of a machine are shown, if there are any.
    pub(crate) fn shown(&self, id: &str) -> Option<Arc<Encoded>> {
        let seats = self.seats();
        let sender = seats.get(&Subject::Machine(id.to_owned()))?;
        let shown = sender.borrow();
        match &*shown {
            Shown::Here(encoded) => Some(Arc::clone(encoded)),
            _ => None,
        }
    }

    fn seats(&self) -> MutexGuard<'_, BTreeMap<Subject, Sender<Shown>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn subscribe(self: &Arc<Self>, subject: Subject) -> Option<Receiver<Shown>> {
        let mut seats = self.seats();
        let mut receiver = match seats.get(&subject) {
            Some(sender) => sender.subscribe(),
            None if seats.len() > WATCHED_MAX => return None,
            None => {
                let (sender, receiver) = channel(Shown::Nothing);
                seats.insert(subject.clone(), sender.clone());
                let watcher = Watcher { all: Arc::clone(self), subject, sender };
                tokio::task::spawn_blocking(move || watcher.run());
                receiver
            }
        };
        // What is shown already is news to a newcomer.
        receiver.mark_changed();
        Some(receiver)
    }
}

struct Watcher {
    all: Arc<Watchers>,
    subject: Subject,
    sender: Sender<Shown>,
}

impl Watcher {
    fn run(&self) {
        match &self.subject {
            Subject::List => self.follow_list(),
            Subject::Machine(id) => self.follow(id),
        }
    }

    /// Whether nobody watches any more. The seat is then gone: whoever comes next begins anew.
    fn is_alone(&self) -> bool {
        let mut seats = self.all.seats();
        let alone = self.sender.receiver_count() == 0;
        if alone {
            seats.remove(&self.subject);
        }
        alone
    }

    /// Shows something and lets as much time pass as its viewers need.
    fn show(&self, encoded: Encoded) {
        let bytes = encoded.event.len();
        self.sender.send_replace(Shown::Here(Arc::new(encoded)));
        std::thread::sleep(pause(bytes, self.sender.receiver_count()));
    }

    fn follow(&self, id: &str) {
        let source = &*self.all.source;
        let mut now = source.look(id);
        let mut seen = String::new();
        while let Some(published) = now {
            let tag = etag(&published);
            if tag != seen {
                self.show(Encoded::state(&self.all.server, source, &published));
                seen = tag;
            }
            if self.is_alone() {
                return;
            }
            now = self.next(id, &published);
        }
        self.sender.send_replace(Shown::Gone);
    }

    /// The machine after its next change, or after a while.
    fn next(&self, id: &str, published: &Published) -> Option<Published> {
        let runs = matches!(published.lifecycle, "running" | "waiting");
        let slice = if runs { SLICE_RUNNING } else { SLICE };
        match self.all.source.wait(id, published.revision, slice) {
            Waited::Changed(published) => Some(*published),
            Waited::Unchanged => self.all.source.look(id),
            Waited::Gone => None,
        }
    }

    fn follow_list(&self) {
        let source = &*self.all.source;
        let mut settled = None;
        let mut shown: Option<Vec<String>> = None;
        while !self.is_alone() {
            let mark = source.mark();
            let restless = shown.as_ref().is_none_or(|tags| Self::is_restless(tags));
            if restless || settled != Some(mark) {
                let machines = source.machines();
                let tags: Vec<String> = machines.iter().map(|one| one.id.clone() + &etag(one)).collect();
                // A change shows in the list a little after it shows in the mark, so what was new is looked at again.
                let is_news = shown.as_ref() != Some(&tags);
                settled = (!is_news).then_some(mark);
                if is_news {
                    self.show(Encoded::list(&self.all.server, source, &machines));
                    shown = Some(tags);
                }
            }
            std::thread::sleep(LIST_EVERY);
        }
    }

    fn is_restless(tags: &[String]) -> bool {
        tags.iter().any(|tag| tag.ends_with("-running\"") || tag.ends_with("-waiting\""))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Also where the source has panicked: nobody is to wait for a watcher that is no more.
        let mut seats = self.all.seats();
        if seats.get(&self.subject).is_some_and(|sender| sender.same_channel(&self.sender)) {
            seats.remove(&self.subject);
        }
    }
}
