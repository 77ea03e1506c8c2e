use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use movie::Account;
use wire::{Boundary, Ended, Frame, PlayDigest, PowerOn};

use crate::error::Stale;
use crate::journal::{Journal, Place};
use crate::ledger::Book;
use crate::line::Line;
use crate::messages::MessageLog;
use crate::store::Kept;
use crate::turnstile::{Turn, Turnstile};
use crate::{GameId, LabError, Lifecycle, Lineage, MachineId, Revision, Snapshot};

/// Revisions whose boundaries are remembered, so that an outdated call learns what it missed.
const RECENT_MAX: usize = 256;
/// Inputs that an outdated call is told.
const SINCE_MAX: u64 = 64;

/// A machine of a lab: what never changes, and what does behind a lock that is only ever held for an instant.
pub(crate) struct Slot {
    pub(crate) id: MachineId,
    pub(crate) game: GameId,
    pub(crate) power_on: Arc<PowerOn>,
    pub(crate) lineage: Option<Lineage>,
    /// Looking ahead on forks of a machine, counted for all of them in one place.
    pub(crate) peeks: Arc<Peeks>,
    journal_path: Option<PathBuf>,
    journal: Mutex<Option<Journal>>,
    /// What a journal would say of what happened on the way, where there is none.
    tally: Mutex<Account>,
    /// The ledger that keeps the machine, and its number there.
    entered: Mutex<Option<(Arc<Book>, u64)>>,
    turnstile: Turnstile,
    now: Mutex<Now>,
    changed: Condvar,
}

/// Where a machine is. A clone of it is all that a fork needs.
#[derive(Clone, Debug)]
pub(crate) struct Tip {
    pub(crate) line: Line,
    /// Absent when it could not be kept; it can be rebuilt from the line.
    pub(crate) state: Option<Arc<Kept>>,
    pub(crate) frame: Arc<Frame>,
    pub(crate) play: PlayDigest,
    pub(crate) ended: Option<Arc<Ended>>,
    pub(crate) messages: MessageLog,
}

struct Now {
    revision: Revision,
    /// The revision since which the line has only grown.
    line_since: Revision,
    tip: Tip,
    activity: Lifecycle,
    fate: Fate,
    recent: VecDeque<(Revision, Boundary)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    Alive,
    Aborted,
    Failed(Arc<str>),
    Deleted,
}

/// How often somebody looked ahead since it was last written down.
#[derive(Debug, Default)]
pub(crate) struct Peeks {
    pub(crate) forks: AtomicU64,
    pub(crate) lines: AtomicU64,
}

/// A machine's turn: nobody else changes the machine meanwhile.
pub(crate) struct Held<'a> {
    slot: &'a Slot,
    // Dropped after `drop` below has set the machine idle.
    _turn: Turn<'a>,
}

pub(crate) struct Origin {
    pub(crate) id: MachineId,
    pub(crate) game: GameId,
    pub(crate) power_on: Arc<PowerOn>,
    pub(crate) lineage: Option<Lineage>,
    pub(crate) peeks: Arc<Peeks>,
    /// What had happened before there was this machine.
    pub(crate) past: Account,
}

impl Slot {
    pub(crate) fn new(origin: Origin, revision: Revision, tip: Tip, journal: Option<Journal>) -> Self {
        let Origin { id, game, power_on, lineage, peeks, past } = origin;
        Self {
            id,
            game,
            power_on,
            lineage,
            peeks,
            journal_path: journal.as_ref().map(|journal| journal.path().to_owned()),
            journal: Mutex::new(journal),
            tally: Mutex::new(past),
            entered: Mutex::default(),
            turnstile: Turnstile::default(),
            now: Mutex::new(Now {
                revision,
                line_since: revision,
                recent: VecDeque::from([(revision, tip.line.end())]),
                tip,
                activity: Lifecycle::Idle,
                fate: Fate::Alive,
            }),
            changed: Condvar::new(),
        }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the machine's turn and checks that it is what the caller takes it for.
    pub(crate) fn take(&self, expected: Option<Revision>, queue: usize) -> Result<Held<'_>, LabError> {
        let turn = self.turnstile.take(queue).map_err(|queue| LabError::Busy { machine: self.id, queue })?;
        let mut now = self.now();
        if now.fate == Fate::Deleted {
            return Err(LabError::UnknownMachine(self.id));
        }
        if let Some(expected) = expected
            && expected != now.revision
        {
            return Err(LabError::Stale(Box::new(now.stale(self.id, expected))));
        }
        now.activity = Lifecycle::Waiting;
        drop(now);
        Ok(Held { slot: self, _turn: turn })
    }

    pub(crate) fn tip(&self) -> Tip {
        self.now().tip.clone()
    }

    pub(crate) fn line(&self) -> Line {
        self.now().tip.line.clone()
    }

    pub(crate) fn journal_path(&self) -> Option<&Path> {
        self.journal_path.as_deref()
    }

    /// How long the machine's journal is and the boundary that it leads to, with the machine's line, which is the
    /// journal's up to there: the line may have gone on already, but a jump is in both at once.
    pub(crate) fn journal_place(&self) -> Result<Option<(Place, Line)>, LabError> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let place = journal.as_mut().map(Journal::place).transpose()?;
        Ok(place.map(|place| (place, self.line())))
    }

    /// Has a ledger keep the machine from now on.
    pub(crate) fn enter(&self, book: Option<(Arc<Book>, u64)>) {
        *self.entered.lock().unwrap_or_else(PoisonError::into_inner) = book;
    }

    /// The ledger that keeps the machine, and its number there.
    pub(crate) fn entered(&self) -> Option<(Arc<Book>, u64)> {
        self.entered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The tip together with its revision.
    pub(crate) fn revised(&self) -> (Revision, Tip) {
        let now = self.now();
        (now.revision, now.tip.clone())
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.seen().0
    }

    /// The snapshot together with the tip that it is of.
    pub(crate) fn seen(&self) -> (Snapshot, Tip) {
        let queued = self.turnstile.waiting();
        let now = self.now();
        (self.snapshot_of(&now, queued), now.tip.clone())
    }

    fn snapshot_of(&self, now: &Now, queued: usize) -> Snapshot {
        let tip = &now.tip;
        Snapshot {
            machine: self.id,
            game: self.game.clone(),
            power_on: Arc::clone(&self.power_on),
            lineage: self.lineage.clone(),
            revision: now.revision,
            line_since: now.line_since,
            boundary: tip.line.end(),
            reseeds: tip.line.counts_from(Boundary(0)).0,
            edits: tip.line.counts_from(Boundary(0)).1,
            lifecycle: now.lifecycle(),
            queued,
            frame: Arc::clone(&tip.frame),
            ended: tip.ended.clone(),
            play: tip.play,
            state_bytes: tip.state.as_ref().map_or(0, |state| state.image_bytes()),
            journal: self.journal_path.clone(),
            failure: match &now.fate {
                Fate::Failed(reason) => Some(Arc::clone(reason)),
                _ => None,
            },
        }
    }

    /// Waits until the revision is past `after`; nothing at the timeout.
    #[expect(clippy::disallowed_methods, reason = "how long a caller waits reaches no machine")]
    pub(crate) fn wait(&self, after: Revision, timeout: Duration) -> Result<Option<Snapshot>, LabError> {
        let until = Instant::now().checked_add(timeout);
        let mut now = self.now();
        loop {
            if now.fate == Fate::Deleted {
                return Err(LabError::UnknownMachine(self.id));
            }
            if now.revision > after {
                drop(now);
                return Ok(Some(self.snapshot()));
            }
            let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(None);
            }
            let left = left.min(Duration::from_secs(3_600));
            let waited = self.changed.wait_timeout(now, left);
            now = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What happened on the way, as the journal says it or would say it.
    pub(crate) fn account(&self) -> Account {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let mut account = journal.as_ref().map_or_else(|| *self.tally(), Journal::account);
        drop(journal);
        if !self.is_fork() {
            add_peek(&mut account, self.peeks.now());
        }
        account
    }

    /// Gives the machine's journal its name.
    pub(crate) fn name_journal(&self) -> Result<(), LabError> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.as_mut().map_or(Ok(()), Journal::give_name)
    }

    /// Removes the journal of a machine that was not taken in.
    pub(crate) fn discard_journal(&self) {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(journal) = journal {
            journal.discard();
        }
    }

    /// True for a machine that was forked from another, on which pressing keys is looking ahead.
    pub(crate) fn is_fork(&self) -> bool {
        self.lineage.is_some()
    }

    fn tally(&self) -> MutexGuard<'_, Account> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True when nothing can be pressed any more.
    pub(crate) fn is_over(&self) -> bool {
        let now = self.now();
        now.tip.ended.is_some() || now.fate != Fate::Alive
    }
}

impl Now {
    fn lifecycle(&self) -> Lifecycle {
        match self.fate {
            Fate::Aborted | Fate::Deleted => Lifecycle::Aborted,
            Fate::Failed(_) => Lifecycle::Failed,
            Fate::Alive if self.activity == Lifecycle::Idle && self.tip.ended.is_some() => Lifecycle::Ended,
            Fate::Alive => self.activity,
        }
    }

    fn stale(&self, machine: MachineId, expected: Revision) -> Stale {
        let then = self.recent.iter().find(|(revision, _)| *revision == expected);
        let end = self.tip.line.end();
        let since = then.map(|(_, boundary)| {
            let first = Boundary(boundary.0.max(end.0.saturating_sub(SINCE_MAX)));
            self.tip.line.steps_from(first).map(|step| step.key).collect()
        });
        Stale {
            machine,
            expected,
            current: self.revision,
            boundary: end,
            since,
            since_total: then.map(|(_, boundary)| end.0 - boundary.0),
        }
    }
}

impl Held<'_> {
    pub(crate) fn slot(&self) -> &Slot {
        self.slot
    }

    /// The machine as the call leaves it.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.slot.now().activity = Lifecycle::Idle;
        self.slot.snapshot()
    }

    /// Refuses a machine that can't go on.
    pub(crate) fn check_alive(&self) -> Result<(), LabError> {
        let now = self.slot.now();
        match &now.fate {
            Fate::Failed(reason) => Err(LabError::Failed { machine: self.slot.id, reason: reason.to_string() }),
            Fate::Alive if now.tip.ended.is_none() => Ok(()),
            Fate::Alive | Fate::Aborted | Fate::Deleted => Err(LabError::GameOver(self.slot.id)),
        }
    }

    /// Refuses a machine that was closed or has failed. One whose game has ended may still take over a fork.
    pub(crate) fn check_open(&self) -> Result<(), LabError> {
        match self.check_alive() {
            Err(LabError::GameOver(_)) if self.slot.now().fate == Fate::Alive => Ok(()),
            result => result,
        }
    }

    pub(crate) fn running(&self, runs: bool) {
        self.slot.now().activity = if runs { Lifecycle::Running } else { Lifecycle::Waiting };
    }

    /// Shows what has become of the machine. Without `same_line`, its line is no longer an extension of what it was.
    pub(crate) fn publish(&self, revision: Revision, tip: Tip, same_line: bool) {
        let mut now = self.slot.now();
        if !same_line {
            now.recent.clear();
            now.line_since = revision;
        }
        now.recent.push_back((revision, tip.line.end()));
        if now.recent.len() > RECENT_MAX {
            now.recent.pop_front();
        }
        now.revision = revision;
        let old = std::mem::replace(&mut now.tip, tip);
        drop(now);
        self.slot.changed.notify_all();
        // Freeing a state may give memory back to the system, which takes its time.
        drop(old);
    }

    /// Gives the machine as it is a new revision, so that a call which was accepted and has changed nothing is not taken
    /// a second time either.
    pub(crate) fn renew(&self, revision: Revision) {
        let mut now = self.slot.now();
        let end = now.tip.line.end();
        now.recent.push_back((revision, end));
        if now.recent.len() > RECENT_MAX {
            now.recent.pop_front();
        }
        now.revision = revision;
        drop(now);
        self.slot.changed.notify_all();
    }

    /// Keeps a state for the present tip, where it had none.
    pub(crate) fn keep_state(&self, state: Arc<Kept>) {
        self.slot.now().tip.state = Some(state);
    }

    pub(crate) fn abort(&self, revision: Revision) {
        self.set_fate(revision, Fate::Aborted);
    }

    pub(crate) fn fail(&self, revision: Revision, reason: &str) {
        self.set_fate(revision, Fate::Failed(reason.into()));
    }

    pub(crate) fn delete(&self, revision: Revision) {
        self.set_fate(revision, Fate::Deleted);
        self.slot.now().tip.state = None;
        self.journal().take();
    }

    /// Writes what is still to be written into the machine's journal, and its last line, if it has a journal. Where that
    /// fails, the journal stays open.
    pub(crate) fn end_journal(&self) -> Result<(), LabError> {
        let mut journal = self.journal();
        let Some(journal) = journal.as_mut() else {
            return Ok(());
        };
        if !journal.is_closed() {
            journal.peek(&self.slot.peeks)?;
        }
        journal.end(self.slot.tip().ended.as_deref())
    }

    fn set_fate(&self, revision: Revision, fate: Fate) {
        let mut now = self.slot.now();
        now.fate = fate;
        now.revision = revision;
        let end = now.tip.line.end();
        now.recent.push_back((revision, end));
        drop(now);
        self.slot.changed.notify_all();
    }

    /// Counts what is about to be pressed on a machine without a journal: somebody may have looked ahead before it.
    pub(crate) fn tally_peeks(&self) {
        if !self.slot.is_fork() {
            add_peek(&mut self.slot.tally(), self.slot.peeks.take());
        }
    }

    /// Has the ledger that keeps the machine, if one does, write down what its line has become.
    pub(crate) fn tell_ledger(&self) -> Result<(), LabError> {
        match self.slot.entered() {
            Some((book, number)) => book.tell(number, &self.slot.line()),
            None => Ok(()),
        }
    }

    /// Counts what has happened to a machine without a journal.
    pub(crate) fn tally(&self, count: impl FnOnce(&mut Account)) {
        count(&mut self.slot.tally());
    }

    /// The machine's journal, which only the holder of its turn touches.
    pub(crate) fn journal(&self) -> MutexGuard<'_, Option<Journal>> {
        self.slot.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.slot.now().activity = Lifecycle::Idle;
    }
}

impl Peeks {
    fn now(&self) -> (u64, u64) {
        (self.forks.load(Ordering::Relaxed), self.lines.load(Ordering::Relaxed))
    }

    /// What was counted since the last call.
    pub(crate) fn take(&self) -> (u64, u64) {
        (self.forks.swap(0, Ordering::Relaxed), self.lines.swap(0, Ordering::Relaxed))
    }
}

fn add_peek(account: &mut Account, (forks, lines): (u64, u64)) {
    account.peeks += u64::from((forks, lines) != (0, 0));
    account.forks += forks;
    account.lines += lines;
}
