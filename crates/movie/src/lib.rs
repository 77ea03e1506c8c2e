//! The movie and journal format of NetHack Lab: power-on, every input, and digests that prove the play.
//!
//! A movie is text, one JSON object a line; a journal is the movie of a live machine, appended line by line. This
//! crate writes, reads, exports and judges them. It is pure: it opens no file, starts no process, holds no machine.
//! What the lines hold is laid down in `docs/formats/movie.md`; beside a journal lies a ledger of forks,
//! `docs/formats/ledger.md`.

mod format;
mod text;

mod chain;
mod rules;

mod movie;

mod journal;
mod reader;

mod export;
mod holdings;

mod judge;
mod verdict;

mod ledger;
mod ledger_format;

pub use export::{ExportError, export};
pub use format::{
    ARGS_BYTES_MAX, Account, COUNT_MAX, DIGESTS_EVERY, FILE_BYTES_MAX, FORMAT, Finish, HEADER_TEXT_BYTES_MAX, Header,
    HeaderError, INPUTS_MAX, LINE_BYTES_MAX, LINE_INPUTS_MAX, MARKS_MAX, NAME_BYTES_MAX, PACKED_INPUTS, VERSION,
};
pub use holdings::Holdings;
pub use journal::{JournalWriter, WriteError};
pub use judge::{Compared, Judge};
pub use ledger::{LedgerError, LedgerReader, LedgerWriter};
pub use ledger_format::{
    LEDGER_BYTES_MAX, LEDGER_FORKS_MAX, LEDGER_FORMAT, LEDGER_VERSION, LedgerBase, LedgerFork, LedgerHeader,
    LedgerParent, LedgerRecord, LinePart, NOTE_BYTES_MAX, NOTES_MAX,
};
pub use movie::{Act, Lost, Mark, MarkKind, Movie, Step, Unacknowledged};
pub use reader::{LineProblem, ReadError, Recording, read, read_on_the_way};
pub use rules::Refusal;
pub use verdict::{CannotJudge, Desync, Difference, Verdict};
