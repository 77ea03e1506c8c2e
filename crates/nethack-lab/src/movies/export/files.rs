//! Files that are kept only when they are whole.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::setup::{check_named, create_new};

/// A file under way. It must not exist before, and unless it is finished it does not exist after.
pub(super) struct NewFile {
    path: PathBuf,
    out: BufWriter<File>,
    bytes: u64,
    is_whole: bool,
}

impl NewFile {
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        Ok(Self { out: BufWriter::new(create_new(path)?), path: path.to_path_buf(), bytes: 0, is_whole: false })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes).with_context(|| format!("{} can't be written", self.path.display()))
    }

    /// Makes it stay, and tells how many bytes it has.
    pub(super) fn finish(mut self) -> anyhow::Result<u64> {
        let written = self.out.flush().and_then(|()| self.out.get_ref().sync_all());
        written.with_context(|| format!("{} can't be written", self.path.display()))?;
        self.is_whole = true;
        Ok(self.bytes)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_whole {
            // Half a file would be taken for a whole one.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A directory of files under way, with the same promise.
pub(super) struct NewDirectory {
    path: PathBuf,
    files: u64,
    bytes: u64,
    is_whole: bool,
}

impl NewDirectory {
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        check_named(path)?;
        let created = std::fs::create_dir(path);
        if created.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists) {
            anyhow::bail!("{} exists already: name another directory", path.display());
        }
        created.with_context(|| format!("{} can't be made", path.display()))?;
        Ok(Self { path: path.to_path_buf(), files: 0, bytes: 0, is_whole: false })
    }

    pub(super) fn add(&mut self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let mut file = NewFile::create(&self.path.join(name))?;
        file.write(bytes)?;
        self.bytes += file.finish()?;
        self.files += 1;
        Ok(())
    }

    /// Makes it stay, and tells how many files and bytes it has.
    pub(super) fn finish(mut self) -> (u64, u64) {
        self.is_whole = true;
        (self.files, self.bytes)
    }
}

impl Drop for NewDirectory {
    fn drop(&mut self) {
        if !self.is_whole {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
