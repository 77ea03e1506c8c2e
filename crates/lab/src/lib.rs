//! The host side of NetHack Lab: machines with their lines, forks, save states, journals and verification.
//!
//! A [`Lab`] has a pool of worker processes and any number of machines. All machines are alike: one that was powered on
//! ([`Lab::new_game`]), a fork of another ([`Lab::fork`]), one made again from a journal ([`Lab::resume`]) or a movie
//! ([`Lab::open_movie`]). A machine is its line (all inputs since power-on) and a save state that the lab holds; it
//! sits in a worker only while keys are pressed, so forks cost memory and no process, and a worker that dies costs
//! nothing but time.
//!
//! Every change of a machine gives it a [`Revision`] that never comes again, and every call that changes one names the
//! revision that it was decided on: a late or repeated call is refused as [`LabError::Stale`] and changes nothing.
//! Calls on one machine take turns in the order in which they came; other machines go on meanwhile.
//!
//! A journalled machine's file is written ahead: keys are in it before they go to a worker, and what came of them
//! before the call returns. When the first can't be written, nothing is pressed and the call is refused; when the
//! second can't, the machine has moved on, the call says so, and the line goes out before the next key.
//!
//! A search needs no machines: it holds [`State`]s, as many as it likes, and tries lines from them on all workers at
//! once ([`Lab::try_lines`]); `docs/search.md` is a guide to it.
//!
//! ```no_run
//! use lab::{Control, Lab, LabOptions, PowerOn, Seed, Try};
//!
//! let lab = Lab::new(LabOptions::new("nethack-lab"))?;
//! let start = lab.begin(PowerOn::from_seed(Seed(1)))?;
//! let lines = ["20s", "8hj", "8lj"].map(|keys| Try::keys(&start, keys).kept().framed());
//! let tried = lab.try_lines(&lines, &Control::default())?;
//! let best = tried.iter().max_by_key(|tried| tried.turns).and_then(|tried| tried.state.clone());
//! std::fs::write("best.movie", lab.movie_of(&best.unwrap())?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```no_run
//! use lab::{Control, Lab, LabOptions, Luck};
//! use wire::{Batch, PowerOn, Seed, Segment};
//!
//! let lab = Lab::new(LabOptions::new("nethack-lab"))?;
//! let game = lab.new_game(PowerOn::from_seed(Seed(42)), false)?;
//!
//! // Look ahead on a fork.
//! let fork = lab.fork(game.machine, None, Luck::Same, 1)?.remove(0);
//! let batch = Batch::forced(Segment::from_text("20s")?.keys);
//! let ahead = lab.run(fork.machine, fork.revision, &batch, &Control::default())?;
//! let diff = lab.diff(game.machine, fork.machine)?;
//! assert_eq!(diff.turns.1 - diff.turns.0, ahead.turns);
//!
//! // The movie of the fork proves itself from power-on.
//! let report = lab.verify(&lab.movie(fork.machine)?, None, &Control::default())?;
//! assert_eq!(report.verdict, lab::Verdict::Exact);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod control;
mod diff;
mod error;
mod ids;
mod options;
mod snapshot;

mod lab;

mod power;
mod run;

mod adopt;
mod compare;
mod edits;
mod export;
mod fork;
mod guard;
mod kinds;
mod replace;
mod resume;
mod seek;
mod verify;
mod walk;
mod words;

mod state_file;
mod state_file_envelope;
mod state_file_io;
mod state_file_parts;
mod tree;
mod tree_file;
mod tree_import;
mod tree_line;
mod tree_states;

mod lines;
mod lookout;
mod path;
mod policies;
mod state;

mod dormant;
mod ledger;
mod ledger_file;
mod ledger_read;

mod chunked;
mod disk;
mod journal;
mod line;
mod messages;
mod plan;
mod slot;
mod store;
mod trail;
mod turnstile;

mod engine;
mod host;
mod left;
mod replay;
mod task;

#[cfg(test)]
mod tests;

pub use adopt::{AdoptMode, Adoption, Parted};
pub use control::{Cancel, Control, Progress, Urgency};
pub use diff::{CellDiff, Diff, FieldDiff, GlyphDiff, ItemDiff};
pub use dormant::{Asleep, Reopened};
pub use error::{LabError, OtherRom, Stale};
pub use guard::Guard;
pub use ids::{GameId, Journalled, Lifecycle, Lineage, Luck, MachineId, Revision};
pub use kinds::kind_of_file;
pub use lab::Lab;
pub use ledger::{Ledger, LedgerStart};
pub use lines::{Drive, LineStop, Tried, Try};
pub use lookout::{Looked, Lookout};
pub use movie::{Account, Desync, Difference, Holdings, Step, Verdict};
pub use options::{LabOptions, Limits};
pub use policies::serve_if_worker;
pub use replace::Replaced;
pub use resume::{Foreseen, ResumeFrom, Resumed};
pub use snapshot::{HistoryPage, LabInfo, MessagePage, Reseed, RunReport, Snapshot, Stop};
pub use state::State;
pub use state_file::{STATE_FILE_BYTES_MAX, STATE_FILE_MAGIC, STATE_FILE_VERSION, StateFile};
pub use state_file_envelope::StateFileError;
pub use tree_file::{TREE_FILE_BYTES_MAX, TREE_FILE_VERSION, TreeFile, TreeMachine};
pub use tree_import::{Imported, TreeMode};
pub use verify::VerifyReport;
pub use wire::{Boundary, PowerOn, Seed};
pub use worker::{Policy, Sight, StateId};
