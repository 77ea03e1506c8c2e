use serde::{Deserialize, Serialize};

use crate::{Edit, Seed};

/// What happens to a machine at a boundary and consumes none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Both generators get new seeds.
    Reseed {
        /// For the generator that decides play.
        core: Seed,
        /// For the generator that decides looks.
        display: Seed,
    },
    /// An operator's edit.
    Edit(Edit),
}
