use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::arguments::{self, Arguments};
use crate::failure::Failure;
use crate::reply::{Call, LAYERS, REPORT, RUNNING, Reply, STANDING};
use crate::schema::{self, Field, Schema};
use crate::session::Session;

/// One tool: its arguments are `Self`.
pub(crate) trait ToolArguments: DeserializeOwned + JsonSchema + 'static {
    /// Its name.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// What it does, for the agent that is to use it; under 2 kB.
    const TEXT: &'static str;
    /// What it does to the world.
    const EFFECT: Effect;
    /// The groups of fields that its result has.
    const RESULT: &'static [&'static [Field]];

    /// Does it, on a thread of its own.
    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure>;
}

/// The groups of fields that a tool's schema leaves to another's: `observe` tells of machines and frames, `run` of keys
/// that were sent. A list of tools is read whole, so it says nothing twice.
fn told_elsewhere(name: &str) -> &'static [&'static [Field]] {
    match name {
        "observe" => &[],
        "run" => &[STANDING, LAYERS],
        _ => &[STANDING, LAYERS, REPORT, RUNNING],
    }
}

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It looks. Such a call is waited for as long as it takes.
    Reads,
    /// It works long on what it looks at and changes nothing.
    Computes,
    /// It adds something.
    Adds,
    /// It presses keys: what was before can't be had again, but by a fork.
    Plays,
    /// It ends or removes something; once is as good as twice.
    Ends,
}

/// A tool as the server keeps it.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
    pub(crate) effect: Effect,
    pub(crate) input: Schema,
    pub(crate) output: Schema,
    /// The groups of fields of its results, in full.
    pub(crate) result: &'static [&'static [Field]],
    run: fn(Arguments, &Session, &Call<'_>) -> Result<Reply, Failure>,
    /// Reads arguments and does no more.
    #[cfg(test)]
    pub(crate) read: fn(Arguments) -> Result<(), Failure>,
}

impl Tool {
    /// The tool whose arguments are `T`.
    pub(crate) fn of<T: ToolArguments>() -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            text: T::TEXT,
            effect: T::EFFECT,
            input: schema::of_arguments::<T>(),
            output: schema::of_result(T::RESULT, told_elsewhere(T::NAME)),
            result: T::RESULT,
            run: |given, session, call| arguments::read::<T>(given)?.call(session, call),
            #[cfg(test)]
            read: |given| arguments::read::<T>(given).map(drop),
        }
    }

    /// Calls it.
    pub(crate) fn run(&self, given: Arguments, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        (self.run)(given, session, call)
    }
}
