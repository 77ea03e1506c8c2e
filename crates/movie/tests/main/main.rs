//! What the movie format promises, tried with a machine small enough to be replayed at every byte of a journal.

mod document;
mod edits;
mod hostile;
mod judging;
mod laws;
mod ledger;
mod toy;
mod writing;
