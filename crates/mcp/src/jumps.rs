use lab::{Boundary, Revision, Urgency};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::PowerOn;

use crate::arguments::within;
use crate::failure::Failure;
use crate::game::{BEGUN, Heir, begun, drawn_seed, succeed};
use crate::layers::Want;
use crate::reply::{self, Call, LAYERS, RUNNING, Reply, STANDING};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

/// `seek`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seek {
    /// The main machine's.
    revision: u64,
    /// An earlier one of its line.
    #[schemars(range(min = 0))]
    boundary: u64,
}

const SOUGHT: &[Field] = &[("left", Kind::Integer, "Inputs that main no longer has.")];

impl ToolArguments for Seek {
    const NAME: &'static str = "seek";
    const TITLE: &'static str = "Go back";
    const TEXT: &'static str = "Takes the main machine back to an earlier boundary of its line, also out of a game that \
        has ended (not one that was quit). The inputs beyond it stay in the journal, which notes the jump, and nowhere \
        else: fork_create first keeps them as a fork. Forks stay.";
    const EFFECT: Effect = Effect::Plays;
    const RESULT: &'static [&'static [Field]] = &[SOUGHT, STANDING, LAYERS, RUNNING];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let main = session.machine(None)?;
        let before = session.current(main, self.revision)?;
        let at = |failure: Failure| failure.at(crate::names::MAIN, &before);
        let to = within("boundary", self.boundary, 0, before.boundary.0).map_err(at)?;
        call.works_on(session, main);
        let control = call.control(Urgency::Interactive);
        let sought = session.lab.seek(main, Revision(self.revision), Boundary(to), &control);
        let snapshot = sought.map_err(|error| session.failure(error, Some(main)))?;
        let view = reply::view(session, &reply::settled(&snapshot), &Want::of(None), &snapshot.frame.messages);
        Ok(view.with("left", before.boundary.0 - to))
    }
}

/// Which seeds a game that begins again has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResetKind {
    /// Those that it had: the same game.
    Same,
    /// New ones.
    NewSeed,
}

/// `reset`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reset {
    /// The main machine's.
    revision: u64,
    /// same: the very game again. new_seed: another game for the same character, options, profile and clock.
    kind: ResetKind,
}

impl ToolArguments for Reset {
    const NAME: &'static str = "reset";
    const TITLE: &'static str = "Begin again";
    const TEXT: &'static str = "Powers the main machine on again, whether its game runs or is over: with the same record, \
        or with newly drawn seeds, which power_on tells. The old game is gone but for its journal and its forks, which \
        stay; a new journal begins.";
    const EFFECT: Effect = Effect::Plays;
    const RESULT: &'static [&'static [Field]] = BEGUN;

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let main = session.machine(None)?;
        let before = session.current(main, self.revision)?;
        call.works_on(session, main);
        let record = match self.kind {
            ResetKind::Same => PowerOn::clone(&before.power_on),
            ResetKind::NewSeed => with_new_seeds(&before.power_on)?,
        };
        let heir = Heir::At { revision: self.revision, keeps_tip: false };
        let succession = succeed(session, call, heir, || session.lab.new_game(record, session.journalled()))?;
        Ok(begun(session, call, &succession.snapshot))
    }
}

/// The same record with other seeds. Levels that had a seed of their own get a new one.
fn with_new_seeds(record: &PowerOn) -> Result<PowerOn, Failure> {
    let core_seed = drawn_seed()?;
    Ok(PowerOn {
        core_seed,
        display_seed: PowerOn::display_seed_for(core_seed),
        level_seed: record.level_seed.map(|_| drawn_seed()).transpose()?,
        ..record.clone()
    })
}

#[cfg(test)]
mod tests {
    use wire::{Profile, Seed};

    use super::*;

    #[test]
    fn new_seeds_leave_the_rest_as_it_was() {
        for level_seed in [None, Some(Seed(3))] {
            let mut record = PowerOn::from_seed(Seed(1));
            record.level_seed = level_seed;
            record.profile = Profile::Nle13;
            record.options = "!autodig".to_owned();
            let mut other = with_new_seeds(&record).unwrap();
            assert_ne!(other.core_seed, record.core_seed);
            assert_eq!(other.display_seed, PowerOn::display_seed_for(other.core_seed));
            assert_eq!(other.level_seed.is_some(), level_seed.is_some());
            assert!(level_seed.is_none() || other.level_seed != level_seed);
            other.core_seed = record.core_seed;
            other.display_seed = record.display_seed;
            other.level_seed = level_seed;
            assert_eq!(other, record);
        }
    }
}
