use wire::Boundary;

use crate::format::{Entry, FILE_BYTES_MAX};
use crate::journal::{Lines, pieces};
use crate::movie::Movie;
use crate::rules::Refusal;

/// Why a movie is not exported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// Its parts break a rule of the format.
    #[error("this is no movie that can be written: {0}")]
    Refused(#[from] Refusal),
    /// Its lines were changed since they were written; an export would hide it.
    #[error("line {line} was changed after it was written: an altered recording is not exported")]
    Altered {
        /// The line, counted from 1.
        line: u64,
    },
}

/// A movie as a file: header, packed inputs, reseeds and digests in their places, and the account in the last line.
///
/// # Errors
/// Marks that do not lie on the steps, an account that says less than them, a movie over a limit.
pub fn export(movie: &Movie) -> Result<Vec<u8>, ExportError> {
    let mut lines = Lines::with_header(&movie.header)?;
    for piece in pieces(&movie.steps, &movie.marks, Boundary(0))? {
        lines.push_piece(piece)?;
    }
    lines.push(&Entry::End { at: movie.boundary().0, how: movie.finish.clone(), account: movie.account })?;
    match lines.text.len() {
        bytes if bytes > FILE_BYTES_MAX => Err(Refusal::FileBytes(bytes).into()),
        _ => Ok(lines.text.into_bytes()),
    }
}
