use std::sync::{Arc, Weak};

use lab::{Lab, MachineId};

use crate::names::MAIN;
use crate::session::Session;

/// The machines of a server by the names that its tools use, for whoever looks on. It keeps no server from ending:
/// afterwards there are no machines any more.
#[derive(Clone)]
pub struct Roster(Weak<Session>);

impl Roster {
    pub(crate) fn new(session: &Arc<Session>) -> Self {
        Self(Arc::downgrade(session))
    }

    /// The lab that the machines are in.
    #[must_use]
    pub fn lab(&self) -> Option<Lab> {
        self.0.upgrade().map(|session| session.lab.clone())
    }

    /// All names, `main` first, then the forks from the oldest on, but for those that sleep: nobody has asked for them
    /// since the server began.
    #[must_use]
    pub fn names(&self) -> Vec<(String, MachineId)> {
        let Some(session) = self.0.upgrade() else { return Vec::new() };
        let names = session.names();
        let main = names.main().map(|machine| (MAIN.to_owned(), machine));
        main.into_iter().chain(names.forks().filter(|(_, fork)| session.lab.asleep(*fork).is_none())).collect()
    }

    /// The machine of a name.
    #[must_use]
    pub fn machine(&self, name: &str) -> Option<MachineId> {
        let session = self.0.upgrade()?;
        let names = session.names();
        if name == MAIN { names.main() } else { names.fork(name) }
    }
}
