//! A ledger's file: it grows line by line, and is written anew in one go.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use movie::{LEDGER_BYTES_MAX, LedgerError, LedgerHeader, LedgerRecord, LedgerWriter};

use crate::LabError;
use crate::disk;
use crate::journal::{failed, lock};

/// What ends the name of every ledger.
const ENDING: &str = "ledger";

/// The file of a ledger, locked against other processes.
#[derive(Debug)]
pub(crate) struct LedgerFile {
    path: PathBuf,
    file: File,
    writer: LedgerWriter,
    /// How many bytes of the file are whole lines.
    whole: u64,
    /// True when more than that may be in the file.
    torn: bool,
    #[cfg(test)]
    pub(crate) is_full: bool,
}

/// A ledger that is written anew and takes the place of the old one once it is whole.
pub(crate) struct Draft {
    path: PathBuf,
    draft: PathBuf,
    out: BufWriter<File>,
    writer: LedgerWriter,
    whole: u64,
}

/// The ledger that lies beside a journal.
pub(crate) fn beside(journal: &Path) -> PathBuf {
    journal.with_extension(ENDING)
}

impl Draft {
    /// Begins with the header.
    pub(crate) fn begin(path: &Path, header: &LedgerHeader) -> Result<Self, LabError> {
        let draft = path.with_extension("ledger.new");
        // What a writer that was killed has left.
        disk::remove(&draft).map_err(|error| failed(&draft, &error))?;
        let file = disk::create(&draft).map_err(|error| failed(&draft, &error))?;
        lock(&file, path)?;
        let (writer, text) = LedgerWriter::begin(header).map_err(|error| failed(path, &error))?;
        let mut begun = Self { path: path.to_owned(), draft, out: BufWriter::new(file), writer, whole: 0 };
        begun.write(&text)?;
        Ok(begun)
    }

    pub(crate) fn push(&mut self, record: &LedgerRecord) -> Result<(), LabError> {
        let (writer, text) = self.writer.record(record).map_err(|error| failed(&self.path, &error))?;
        self.writer = writer;
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<(), LabError> {
        self.whole += text.len() as u64;
        check_bytes(self.whole)?;
        self.out.write_all(text.as_bytes()).map_err(|error| failed(&self.path, &error))
    }

    /// Puts it in its place.
    pub(crate) fn finish(mut self) -> Result<LedgerFile, LabError> {
        let written = self.out.flush().and_then(|()| disk::replace(&self.draft, &self.path));
        written.map_err(|error| failed(&self.path, &error))?;
        let file = self.out.get_ref().try_clone().map_err(|error| failed(&self.path, &error))?;
        let (path, writer, whole) = (self.path.clone(), self.writer, self.whole);
        Ok(LedgerFile {
            path,
            file,
            writer,
            whole,
            torn: false,
            #[cfg(test)]
            is_full: false,
        })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Where it has its place, it is not there any more.
        let _ = disk::remove(&self.draft);
    }
}

impl LedgerFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.whole
    }

    /// Refuses so many more bytes where there is no room for them.
    pub(crate) fn check_room(&self, more: u64) -> Result<(), LabError> {
        check_bytes(self.whole.saturating_add(more))
    }

    /// Appends a record, or leaves the file as it was.
    pub(crate) fn append(&mut self, record: &LedgerRecord) -> Result<(), LabError> {
        let path = self.path.clone();
        let failed_here = |error: &dyn std::fmt::Display| failed(&path, error);
        let (writer, text) = self.writer.record(record).map_err(|error: LedgerError| failed_here(&error))?;
        check_bytes(self.whole + text.len() as u64)?;
        if self.torn {
            disk::cut(&self.file, self.whole).map_err(|error| failed_here(&error))?;
            self.torn = false;
        }
        if let Err(error) = self.write(text.as_bytes()) {
            // Best at once; where that fails too, before the next line.
            self.torn = disk::cut(&self.file, self.whole).is_err();
            return Err(failed_here(&error));
        }
        self.whole += text.len() as u64;
        self.writer = writer;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        #[cfg(test)]
        if self.is_full {
            self.file.write_all(bytes.get(..bytes.len() / 2).unwrap_or_default())?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        disk::append(&mut self.file, bytes)
    }
}

fn check_bytes(given: u64) -> Result<(), LabError> {
    match given > LEDGER_BYTES_MAX {
        true => Err(LabError::LimitExceeded { what: "bytes of a ledger", given, max: LEDGER_BYTES_MAX }),
        false => Ok(()),
    }
}
