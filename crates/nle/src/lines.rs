use std::io::{BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;

use crate::NleError;

/// The longest line, in bytes: several times that of a screen.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// The most lines: more than a hundred million keys.
const LINES_MAX: u64 = 200_000_000;

/// The lines of a gzip file, read as they come, each bounded.
pub(crate) struct Lines<R: Read> {
    reader: BufReader<MultiGzDecoder<R>>,
    /// Of the line that was read last, counted from 1.
    pub(crate) number: u64,
    line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(file: R) -> Self {
        Self { reader: BufReader::with_capacity(64 << 10, MultiGzDecoder::new(file)), number: 0, line: Vec::new() }
    }

    /// The next line without its end; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, NleError> {
        let line = self.number;
        if line >= LINES_MAX {
            return Err(NleError::Size { line, what: "the file has too many lines" });
        }
        self.line.clear();
        let mut bounded = (&mut self.reader).take(LINE_BYTES_MAX + 1);
        let read = bounded.read_until(b'\n', &mut self.line);
        read.map_err(|source| NleError::Gzip { line, source })?;
        if self.line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if self.line.len() as u64 > LINE_BYTES_MAX {
            return Err(NleError::Size { line: self.number, what: "the line is longer than 1 MiB" });
        }
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        }
        Ok(Some(&self.line))
    }
}
