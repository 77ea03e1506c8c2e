//! What a page shows of the machines of an MCP server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lab::{Boundary, Control, Lab, LabError, Luck, MachineId, Revision, Snapshot, Urgency};
use mcp::{Roster, StartViewer};
use spectator::{At, Bound, Index, Kind, Lineage, Logged, Published, Refusal, Source, Symbols, Viewer, Waited};
use wire::Key;

/// Machines whose newest message is remembered.
const HINTS_MAX: usize = 2_048;

/// The viewer of a server: an address at first, a page once there are machines.
pub(crate) struct OfServer(Arc<Mutex<Stage>>);

enum Stage {
    Bound(Option<Bound>),
    Serves { _viewer: Viewer },
}

pub(crate) fn of_server(bound: Bound) -> OfServer {
    OfServer(Arc::new(Mutex::new(Stage::Bound(Some(bound)))))
}

impl OfServer {
    /// What the server is to call when its machines are there.
    pub(crate) fn start(&self) -> StartViewer {
        let stage = Arc::clone(&self.0);
        StartViewer(Arc::new(move |roster| {
            let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
            let Stage::Bound(bound) = &mut *stage else { return Err(std::io::ErrorKind::AlreadyExists.into()) };
            let bound = bound.take().ok_or(std::io::ErrorKind::NotConnected)?;
            let viewer = Viewer::start(bound, Arc::new(Games { roster, hints: Mutex::default() }))?;
            let url = viewer.url().to_owned();
            eprintln!("nethack-lab: the games can be watched at {url}");
            *stage = Stage::Serves { _viewer: viewer };
            Ok(url)
        }))
    }
}

/// The machines of a server by their names.
struct Games {
    roster: Roster,
    /// The id of the newest message that a machine had when it was last asked, so that few are looked through.
    hints: Mutex<BTreeMap<MachineId, u64>>,
}

impl Games {
    fn find(&self, id: &str) -> Option<(Lab, MachineId)> {
        Some((self.roster.lab()?, self.roster.machine(id)?))
    }

    fn hints(&self) -> MutexGuard<'_, BTreeMap<MachineId, u64>> {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for Games {
    fn kind(&self) -> Kind {
        Kind::Live
    }

    fn title(&self) -> String {
        "played over MCP".to_owned()
    }

    fn mark(&self) -> u64 {
        self.roster.lab().map_or(0, |lab| lab.info().revision.0)
    }

    fn machines(&self) -> Vec<Published> {
        let Some(lab) = self.roster.lab() else { return Vec::new() };
        let names = self.roster.names();
        let by_id: BTreeMap<MachineId, &str> = names.iter().map(|(name, id)| (*id, name.as_str())).collect();
        let snapshots = names.iter().filter_map(|(name, id)| Some((name, lab.snapshot(*id).ok()?)));
        snapshots.map(|(name, snapshot)| published(name, &snapshot, |id| by_id.get(&id).copied())).collect()
    }

    fn look(&self, id: &str) -> Option<Published> {
        let (lab, machine) = self.find(id)?;
        let snapshot = lab.snapshot(machine).ok()?;
        let names = self.roster.names();
        let name_of = |id| names.iter().find(|(_, other)| *other == id).map(|(name, _)| name.as_str());
        Some(published(id, &snapshot, name_of))
    }

    fn wait(&self, id: &str, after: u64, timeout: Duration) -> Waited {
        let Some((lab, machine)) = self.find(id) else { return Waited::Gone };
        match lab.wait(machine, Revision(after), timeout) {
            Ok(None) => Waited::Unchanged,
            // Another machine may have the name by now, as after a new game.
            Ok(Some(_)) | Err(_) => self.look(id).map_or(Waited::Gone, |now| Waited::Changed(Box::new(now))),
        }
    }

    /// One frame at a time: more would take a fork, and forks are counted in journals.
    fn frames(&self, id: &str, from: u64, _count: usize) -> Result<Vec<At>, Refusal> {
        let (lab, machine) = self.find(id).ok_or(Refusal::UnknownMachine)?;
        let snapshot = lab.snapshot(machine).map_err(|error| refusal(&error))?;
        let control = Control { urgency: Urgency::Bulk, ..Control::default() };
        let frame = lab.frame_at(machine, Boundary(from), &control).map_err(|error| refusal(&error))?;
        let key = from.checked_sub(1).and_then(|before| self.keys(id, before, 1).pop());
        let symbols = Symbols::of(&snapshot.power_on);
        let ended = snapshot.ended.filter(|_| snapshot.boundary.0 == from);
        let game = snapshot.game.to_string();
        Ok(vec![At { game, boundary: from, key, frame, symbols, ended }])
    }

    fn messages(&self, id: &str, after: u64, limit: usize) -> Vec<Logged> {
        let page = self.find(id).and_then(|(lab, machine)| lab.messages_after(machine, after).ok());
        page.map_or_else(Vec::new, |page| page.messages.into_iter().take(limit).map(logged).collect())
    }

    fn last_messages(&self, id: &str, count: usize) -> Vec<Logged> {
        let Some((lab, machine)) = self.find(id) else { return Vec::new() };
        let hint = self.hints().get(&machine).copied().unwrap_or(0);
        let messages = newest(&lab, machine, hint, count);
        let mut hints = self.hints();
        if hints.len() > HINTS_MAX {
            hints.clear();
        }
        hints.insert(machine, messages.last().map_or(0, |last| last.message.id));
        messages
    }

    fn keys(&self, id: &str, from: u64, count: usize) -> Vec<Key> {
        self.find(id).map_or_else(Vec::new, |(lab, machine)| keys(&lab, machine, from, count))
    }

    fn index(&self, _: &str) -> Option<Arc<Index>> {
        None
    }
}

/// A machine under a name.
pub(crate) fn published<'a>(
    id: &str,
    snapshot: &Snapshot,
    name_of: impl Fn(MachineId) -> Option<&'a str>,
) -> Published {
    Published {
        id: id.to_owned(),
        game: snapshot.game.to_string(),
        lineage: snapshot.lineage.as_ref().map(|lineage| Lineage {
            parent: name_of(lineage.parent).map(str::to_owned),
            base: lineage.base.0,
            reseeded: lineage.luck != Luck::Same,
        }),
        revision: snapshot.revision.0,
        line: snapshot.line_since.0,
        boundary: snapshot.boundary.0,
        lifecycle: snapshot.lifecycle.word(),
        ended: snapshot.ended.clone(),
        failure: snapshot.failure.clone(),
        notice: None,
        frame: Arc::clone(&snapshot.frame),
        symbols: Symbols::of(&snapshot.power_on),
    }
}

/// The newest messages of a machine whose newest was `hint` a while ago.
pub(crate) fn newest(lab: &Lab, machine: MachineId, hint: u64, count: usize) -> Vec<Logged> {
    let after = |id| lab.messages_after(machine, id).map_or_else(|_| Vec::new(), |page| page.messages);
    let mut messages = after(hint.saturating_sub(count as u64));
    if messages.last().is_none_or(|last| last.id < hint) {
        // Its line goes another way now, and has said less.
        messages = after(0);
    }
    let cut = messages.len().saturating_sub(count);
    messages.drain(cut..).map(logged).collect()
}

fn logged(message: wire::Message) -> Logged {
    Logged { message, boundary: None }
}

/// Keys of a machine's line.
pub(crate) fn keys(lab: &Lab, machine: MachineId, from: u64, count: usize) -> Vec<Key> {
    let page = lab.history(machine, Boundary(from), count);
    page.map_or_else(|_| Vec::new(), |page| page.steps.iter().map(|step| step.key).collect())
}

/// A lab's refusal in the viewer's words.
pub(crate) fn refusal(error: &LabError) -> Refusal {
    match error {
        LabError::UnknownMachine(_) => Refusal::UnknownMachine,
        LabError::NoBoundary { last, .. } => Refusal::NoBoundary { last: last.0 },
        other => Refusal::Failed(other.to_string()),
    }
}
