use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use lab::{Control, Journalled, LabError, Ledger, LedgerStart, MachineId, Reopened, Resumed, Urgency};
use serde_json::{Map, Value, json};

use crate::breakpoints;
use crate::failure::{Failure, key_names};
use crate::fair::{self, Sealed};
use crate::names::fork_name;
use crate::options::ServeError;
use crate::session::Session;

/// Forks that could not be kept when they were made, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Unkept {
    forks: BTreeMap<u64, MachineId>,
    /// Why.
    reason: String,
}

/// What a server keeps in files, so that the next one brings it back: which machine is main, the forks under their
/// names, and notes.
///
/// This is the only place where machines get names.
impl Session {
    fn ledger(&self) -> MutexGuard<'_, Option<Ledger>> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a new main machine has a journal. It gets its name with [`Session::set_main`].
    pub(crate) fn journalled(&self) -> Journalled {
        if self.movies.is_some() { Journalled::Unnamed } else { Journalled::No }
    }

    /// Makes a machine the main one. Where it has a journal, forks are kept beside that from now on; `tip` is a new one
    /// of them, whose name is given.
    ///
    /// # Errors
    /// The forks can't be kept; no salt can be drawn. Nothing has changed then.
    pub(crate) fn set_main(&self, machine: MachineId, tip: Option<MachineId>) -> Result<Option<String>, LabError> {
        let mut ledger = self.ledger();
        let sealed = self.seal(&self.lab.snapshot(machine)?.power_on)?;
        let number = tip.map(|tip| self.names().add_fork(tip));
        let (last, kept) = self.names().numbered();
        let reserved = self.names().reserved();
        let text = sealed.as_ref().map_or_else(String::new, Sealed::note);
        let start =
            LedgerStart { last, kept: &kept, reserved: &reserved, notes: &[(fair::NOTE, &text)], old: ledger.as_ref() };
        let begun = self.lab.begin_ledger(machine, &start);
        *ledger = begun.inspect_err(|_| tip.into_iter().for_each(|tip| self.names().remove_fork(tip)))?;
        self.unkept().forks.clear();
        self.names().set_main(machine);
        self.commit(sealed);
        Ok(number.map(fork_name))
    }

    /// Gives a new fork its name.
    ///
    /// # Errors
    /// It can't be kept; then it is deleted.
    pub(crate) fn add_fork(&self, machine: MachineId) -> Result<String, Failure> {
        self.name_fork(machine).map_err(|error| {
            let failure = self.failure(error, None);
            self.names().remove_fork(machine);
            // It was made just now and nobody knows of it.
            let _ = self.lab.delete(machine, None);
            failure
        })
    }

    fn name_fork(&self, machine: MachineId) -> Result<String, LabError> {
        let ledger = self.ledger();
        let number = self.names().add_fork(machine);
        if let Some(ledger) = ledger.as_ref() {
            ledger.keep(&self.lab, number, machine)?;
        }
        Ok(fork_name(number))
    }

    /// Takes a number for a fork that what is about to be done leaves behind, so that it has one whatever happens.
    ///
    /// # Errors
    /// It can't be written down.
    pub(crate) fn reserve_fork(&self) -> Result<u64, Failure> {
        let ledger = self.ledger();
        let number = self.names().reserve();
        let reserved = ledger.as_ref().map_or(Ok(()), |ledger| ledger.reserve(number));
        reserved.map_err(|error| {
            self.names().give_back(number);
            self.failure(error, None)
        })?;
        Ok(number)
    }

    /// Gives a fork that there is, whether or not it can be kept now, the name of the number that was taken for it.
    pub(crate) fn add_fork_as(&self, number: u64, machine: MachineId) -> String {
        self.names().add_fork_as(number, machine);
        self.unkept().forks.insert(number, machine);
        self.keep_rest();
        fork_name(number)
    }

    fn unkept(&self) -> MutexGuard<'_, Unkept> {
        self.unkept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what could not be kept when it was made. Gives the reason where that is so still.
    pub(crate) fn keep_rest(&self) -> Option<String> {
        if self.unkept().forks.is_empty() {
            return None;
        }
        let ledger = self.ledger();
        let mut unkept = self.unkept();
        let Unkept { forks, reason } = &mut *unkept;
        forks.retain(|number, machine| {
            let kept = ledger.as_ref().map_or(Ok(()), |ledger| ledger.keep(&self.lab, *number, *machine));
            match kept {
                // One that is no more needs not be kept.
                Ok(()) | Err(LabError::UnknownMachine(_)) => false,
                Err(error) => {
                    tracing::error!(%error, "a fork is not kept");
                    *reason = error.to_string();
                    true
                }
            }
        });
        let names: Vec<String> = forks.keys().map(|number| fork_name(*number)).collect();
        (!names.is_empty()).then(|| format!("{}: lost if the server ends now: {reason}", names.join(", ")))
    }

    /// Deletes a fork.
    ///
    /// # Errors
    /// Refusals of the lab; its deletion can't be written down. It is there then.
    pub(crate) fn delete_fork(&self, machine: MachineId) -> Result<(), Failure> {
        self.lab.delete(machine, None).map_err(|error| self.failure(error, None))?;
        self.names().remove_fork(machine);
        Ok(())
    }

    /// Keeps a value under a name for the servers after this one; null takes it away. Without `--movies` it is kept
    /// nowhere.
    ///
    /// # Errors
    /// Too large, or it can't be written.
    pub(crate) fn keep_note(&self, name: &str, value: &Value) -> Result<(), Failure> {
        self.write_note(name, value).map_err(|error| self.failure(error, None))
    }

    /// The same, where nobody has called.
    pub(crate) fn write_note(&self, name: &str, value: &Value) -> Result<(), LabError> {
        let text = if value.is_null() { String::new() } else { value.to_string() };
        self.ledger().as_ref().map_or(Ok(()), |ledger| ledger.note(name, &text))
    }

    /// The value that is kept under a name; it may be from a server before this one.
    pub(crate) fn note(&self, name: &str) -> Option<Value> {
        let text = self.ledger().as_ref()?.note_of(name)?;
        serde_json::from_str(&text).ok()
    }

    /// Takes over from a server before this one: its main machine, and its forks, which sleep.
    ///
    /// # Errors
    /// The ledger is in use, or can't be read or written; the game is none to go on with fairly.
    pub(crate) fn take_over(&mut self, resumed: &Resumed) -> Result<(), ServeError> {
        let main = resumed.snapshot.machine;
        let mut note = resumed_note(resumed);
        if self.fair.is_some() {
            note.remove("journal");
        }
        if resumed.is_new {
            self.check_fair_start(resumed)?;
            self.set_main(main, None)?;
        } else {
            let reopened = self.lab.reopen_ledger(main, &resumed.journal)?;
            self.check_ledger(resumed, &reopened, &mut note)?;
            self.names().set_main(main);
            self.names().restore(reopened.last, &reopened.forks);
            *self.ledger() = Some(reopened.ledger);
            breakpoints::restore(self, reopened.damage.is_some().then_some(reopened.last))?;
        }
        self.resumed = Some(Value::Object(note));
        Ok(())
    }

    /// Tells what is wrong with a ledger, and what it says of fairness.
    fn check_ledger(
        &self,
        resumed: &Resumed,
        reopened: &Reopened,
        note: &mut Map<String, Value>,
    ) -> Result<(), ServeError> {
        note.insert("forks".to_owned(), json!(reopened.forks.len()));
        if !reopened.lost.is_empty() {
            note.insert("forks_lost".to_owned(), lost_note(&reopened.lost));
        }
        if reopened.torn_bytes > 0 {
            note.insert("ledger_torn_bytes".to_owned(), json!(reopened.torn_bytes));
        }
        if let Some(damage) = &reopened.damage {
            let ledger = reopened.ledger.path();
            let next = fork_name(reopened.last + 1);
            let aside = reopened.aside.as_ref().map(|path| path.display().to_string());
            tracing::warn!(
                ledger = %ledger.display(), damage, kept_as = aside,
                "the ledger is not as it was written: forks and breakpoints may be lost; ids go on from {next}"
            );
            note.insert("ledger_damage".to_owned(), json!(damage));
            note.insert("fork_ids_from".to_owned(), json!(next));
            if self.fair.is_none() {
                note.insert("ledger_kept_as".to_owned(), json!(aside));
            }
        }
        if let Some(told) = self.resume_fairness(resumed, reopened)? {
            note.insert("fair".to_owned(), json!(told));
        }
        Ok(())
    }

    /// What `info` tells of the ledger.
    pub(crate) fn ledger_note(&self) -> Value {
        let mut note = Map::new();
        if let Some(ledger) = self.ledger().as_ref() {
            if self.fair.is_none() {
                note.insert("file".to_owned(), json!(ledger.path().display().to_string()));
            }
            let lost = ledger.lost();
            if !lost.is_empty() {
                note.insert("dropped".to_owned(), lost_note(&lost));
            }
        }
        let asleep = self.names().forks().filter(|(_, fork)| self.lab.asleep(*fork).is_some()).count();
        if asleep > 0 {
            note.insert("asleep".to_owned(), json!(asleep));
        }
        if let Some(reason) = self.keep_rest() {
            note.insert("not_kept".to_owned(), json!(reason));
        }
        if note.is_empty() { Value::Null } else { Value::Object(note) }
    }
}

/// Wakes the forks that sleep, oldest first, on a thread of its own, until the server ends. Whoever asks for one sooner
/// does not wait for the others.
pub(crate) fn wake_forks(session: &Arc<Session>) -> std::io::Result<()> {
    let forks: Vec<MachineId> = session.names().forks().map(|(_, fork)| fork).collect();
    if forks.is_empty() {
        return Ok(());
    }
    let session = Arc::downgrade(session);
    let wake = move || {
        let cancel = lab::Cancel::default();
        for fork in forks {
            let Some(session) = session.upgrade() else { return };
            let call = session.begin_call(&cancel);
            let control = Control { cancel: Some(&cancel), urgency: Urgency::Bulk, ..Control::default() };
            let woken = session.lab.wake(fork, &control);
            session.end_call(call);
            match woken {
                // Deleted, or it was asked for and did not replay.
                Err(LabError::Desync { .. } | LabError::UnknownMachine(_)) => session.names().remove_fork(fork),
                Err(LabError::Cancelled) => return,
                Err(error) => tracing::warn!(%error, "a fork could not be woken"),
                Ok(()) => {}
            }
        }
    };
    std::thread::Builder::new().name("wake-forks".to_owned()).spawn(wake).map(|_| ())
}

fn lost_note(lost: &[(u64, String)]) -> Value {
    lost.iter().map(|(number, reason)| json!({"fork": fork_name(*number), "reason": reason})).collect()
}

/// What `info` tells of a resumed journal.
fn resumed_note(resumed: &Resumed) -> Map<String, Value> {
    let lost: Vec<Value> = resumed.lost.iter().map(|(at, key)| json!({"at": at.0, "key": key.name()})).collect();
    let mut note = Map::new();
    note.insert("journal".to_owned(), json!(resumed.journal.display().to_string()));
    note.insert("inputs".to_owned(), json!(resumed.inputs));
    if !resumed.unacknowledged.is_empty() {
        note.insert("unacknowledged".to_owned(), key_names(&resumed.unacknowledged));
    }
    if resumed.torn_bytes > 0 {
        note.insert("torn_bytes".to_owned(), json!(resumed.torn_bytes));
    }
    if !lost.is_empty() {
        note.insert("lost".to_owned(), json!(lost));
    }
    note.insert("closed".to_owned(), json!(resumed.closed));
    note
}
