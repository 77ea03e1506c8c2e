use std::sync::{Arc, MutexGuard, PoisonError};

use lab::{Control, LabError, Ledger, MachineId, Resumed, Urgency};
use serde_json::{Map, Value, json};

use crate::breakpoints;
use crate::failure::{Failure, key_names};
use crate::names::fork_name;
use crate::session::Session;

/// What a server keeps in files, so that the next one brings it back: which machine is main, the forks under their
/// names, and notes.
///
/// This is the only place where machines get names.
impl Session {
    fn ledger(&self) -> MutexGuard<'_, Option<Ledger>> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a machine the main one. Where it has a journal, forks are kept beside that from now on.
    pub(crate) fn set_main(&self, machine: MachineId) {
        let mut ledger = self.ledger();
        self.names().set_main(machine);
        let (last, kept) = self.names().numbered();
        let begun = self.lab.begin_ledger(machine, last, &kept, ledger.as_ref());
        *ledger = begun.unwrap_or_else(|error| {
            tracing::error!(%error, "forks are not kept");
            *self.not_kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            None
        });
        drop(ledger);
        if let Ok(snapshot) = self.lab.snapshot(machine) {
            self.seal(&snapshot.power_on, None);
        }
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

    /// As [`Session::add_fork`], for a machine that there is whether or not it can be kept.
    pub(crate) fn add_fork_always(&self, machine: MachineId) -> String {
        self.name_fork(machine).unwrap_or_else(|error| {
            tracing::error!(%error, "a fork is not kept");
            *self.not_kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            self.name_of(machine)
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
        let text = if value.is_null() { String::new() } else { value.to_string() };
        match self.ledger().as_ref() {
            Some(ledger) => ledger.note(name, &text).map_err(|error| self.failure(error, None)),
            None => Ok(()),
        }
    }

    /// The value that is kept under a name; it may be from a server before this one.
    pub(crate) fn note(&self, name: &str) -> Option<Value> {
        let text = self.ledger().as_ref()?.note_of(name)?;
        serde_json::from_str(&text).ok()
    }

    /// Takes over from a server before this one: its main machine, and its forks, which sleep.
    ///
    /// # Errors
    /// The ledger is in use, or can't be read or written.
    pub(crate) fn take_over(&mut self, resumed: &Resumed) -> Result<(), LabError> {
        let main = resumed.snapshot.machine;
        let reopened = self.lab.reopen_ledger(main, &resumed.journal)?;
        self.names().set_main(main);
        self.names().restore(reopened.last, &reopened.forks);
        let mut note = resumed_note(resumed);
        if self.fair.is_some() {
            note.remove("journal");
        }
        note.insert("forks".to_owned(), json!(reopened.forks.len()));
        if !reopened.lost.is_empty() {
            note.insert("forks_lost".to_owned(), lost_note(&reopened.lost));
        }
        if reopened.torn_bytes > 0 {
            note.insert("ledger_torn_bytes".to_owned(), json!(reopened.torn_bytes));
        }
        if let Some((line, reason)) = &reopened.damage {
            note.insert("ledger_damage".to_owned(), json!(format!("line {line}: {reason}")));
        }
        *self.ledger() = Some(reopened.ledger);
        self.resumed = Some(Value::Object(note));
        self.seal_again(&resumed.snapshot.power_on);
        breakpoints::restore(self);
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
        if let Some(reason) = self.not_kept.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
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
