use movie::{Finish, Movie};

use crate::journal::marks;
use crate::power::account_of;
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
        let (revision, tip) = slot.revised();
        let mut line = tip.line.clone();
        if let Some(digest) = lab.state_digest(&tip, revision)? {
            line.mark(tip.play, digest);
        }
        let movie = Movie {
            header: lab.header(&slot.power_on),
            steps: line.steps_from(crate::Boundary(0)).copied().collect(),
            marks: marks(&line),
            finish: match &tip.ended {
                Some(ended) => Finish::Ended(ended.as_ref().clone()),
                None => Finish::Open,
            },
            account: account_of(&line, slot.account()),
        };
        movie::export(&movie).map_err(|error| LabError::BadMovie(error.to_string()))
    }
}
