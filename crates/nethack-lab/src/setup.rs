//! What every command that runs a machine needs.

use std::path::{Path, PathBuf};

use anyhow::Context;
use lab::{Lab, LabOptions};
use rom::Rom;

use crate::outcome::Usage;

/// The most bytes of a movie that are read.
const MOVIE_BYTES_MAX: u64 = 64 << 20;

/// The executable's surroundings.
pub(crate) struct Setup {
    /// The file of another ROM than the built-in one.
    rom: Option<PathBuf>,
}

impl Setup {
    pub(crate) fn new(rom: Option<PathBuf>) -> Self {
        Self { rom }
    }

    /// Whether the ROM is the executable's own, and so may run in this very process.
    pub(crate) fn is_built_in(&self) -> bool {
        self.rom.is_none()
    }

    /// The foreign ROM, checked, or `None` for the built-in one.
    pub(crate) fn foreign_rom(&self) -> anyhow::Result<Option<Rom>> {
        let read = |path: &PathBuf| Rom::from_file(path).map_err(|error| refused(path, &error));
        self.rom.as_ref().map(read).transpose()
    }

    /// The options of a lab whose workers are this executable.
    pub(crate) fn lab_options(&self) -> anyhow::Result<LabOptions> {
        // The running program itself, also when its file has been replaced meanwhile.
        let mut options = LabOptions::new("/proc/self/exe");
        options.rom = self.foreign_rom()?.map(|rom| rom.bytes().to_vec());
        Ok(options)
    }

    pub(crate) fn lab(&self) -> anyhow::Result<Lab> {
        Lab::new(self.lab_options()?).context("the workers can't be started")
    }
}

fn refused(path: &Path, error: &rom::RomError) -> anyhow::Error {
    use std::error::Error;
    let source = error.source().map_or_else(String::new, |source| format!(": {source}"));
    Usage(format!("--rom {}: {error}{source}", path.display())).into()
}

/// Reads a movie's file.
pub(crate) fn read_movie(path: &Path) -> anyhow::Result<Vec<u8>> {
    use std::io::Read;
    let wrong = |error: std::io::Error| Usage(format!("{}: {error}", path.display()));
    let file = std::fs::File::open(path).map_err(wrong)?;
    let mut bytes = Vec::new();
    // One byte over the limit is enough for the reader to refuse it.
    file.take(MOVIE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(wrong)?;
    Ok(bytes)
}

/// Creates a file that must not exist yet.
pub(crate) fn create_new(path: &Path) -> anyhow::Result<std::fs::File> {
    let created = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    if created.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists) {
        anyhow::bail!("{} exists already: name another file", path.display());
    }
    created.with_context(|| format!("{} can't be written", path.display()))
}

/// Writes a file that must not exist yet.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    use std::io::Write;
    let mut file = create_new(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a file would be taken for a whole one.
        let _ = std::fs::remove_file(path);
    }
    written.with_context(|| format!("{} can't be written", path.display()))
}
