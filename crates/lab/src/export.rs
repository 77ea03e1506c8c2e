use movie::{Finish, Movie};
use wire::Ended;

use crate::journal::marks;
use crate::lab::Inner;
use crate::line::Line;
use crate::power::account_of;
use crate::slot::Slot;
use crate::{Lab, LabError, MachineId};

impl Lab {
    /// The movie of a machine's straight line from power-on to where it is now, complete with its last line. Works for
    /// every machine, forks included; where one runs just now, up to its last boundary.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`]; [`LabError::BadMovie`] when it would be too long; engine failures.
    pub fn movie(&self, machine: MachineId) -> Result<Vec<u8>, LabError> {
        let lab = &self.0;
        let slot = lab.slot(machine)?;
        let tip = slot.tip();
        let mut line = tip.line.clone();
        if let Some(digest) = lab.state_digest(&tip)? {
            line.mark(tip.play, digest);
        }
        lab.movie_of(&slot, &line, tip.ended.as_deref())
    }
}

impl Inner {
    /// The movie of a line of a machine.
    pub(crate) fn movie_of(&self, slot: &Slot, line: &Line, ended: Option<&Ended>) -> Result<Vec<u8>, LabError> {
        let movie = Movie {
            header: self.header(&slot.power_on),
            steps: line.steps_from(crate::Boundary(0)).copied().collect(),
            marks: marks(line),
            finish: ended.map_or(Finish::Open, |ended| Finish::Ended(ended.clone())),
            account: account_of(line, slot.account()),
        };
        movie::export(&movie).map_err(|error| LabError::BadMovie(error.to_string()))
    }
}
