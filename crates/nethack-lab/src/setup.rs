//! What every command that runs a machine needs.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use lab::{Lab, LabOptions};
use rom::{ROM_BYTES_MAX, Rom};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};

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
        let read = |path: &PathBuf| {
            let bytes = read_file(path, ROM_BYTES_MAX).map_err(|error| Usage(format!("--rom {error}")))?;
            Rom::parse(bytes).map_err(|error| refused(path, &error))
        };
        self.rom.as_ref().map(read).transpose()
    }

    /// The options of a lab whose workers are this executable.
    pub(crate) fn lab_options(&self) -> anyhow::Result<LabOptions> {
        // The running program itself, also when its file has been replaced meanwhile.
        let mut options = LabOptions::new("/proc/self/exe");
        options.rom = self.foreign_rom()?.map(|rom| rom.bytes().to_vec());
        Ok(options)
    }

    /// A lab for what has no tool to look at hidden state or to edit: it may follow and go on from movies with edits.
    pub(crate) fn lab(&self) -> anyhow::Result<Lab> {
        Lab::new(LabOptions { allow_debug: true, ..self.lab_options()? }).context("the workers can't be started")
    }
}

fn refused(path: &Path, error: &rom::RomError) -> anyhow::Error {
    use std::error::Error;
    let source = error.source().map_or_else(String::new, |source| format!(": {source}"));
    Usage(format!("--rom {}: {error}{source}", path.display())).into()
}

/// Reads a movie's file.
pub(crate) fn read_movie(path: &Path) -> anyhow::Result<Vec<u8>> {
    read_at_most(open_file(path)?, path, MOVIE_BYTES_MAX)
}

/// Opens a file to be read whole. What is none (a directory, a pipe that nobody may ever write to) is refused.
pub(crate) fn open_file(path: &Path) -> anyhow::Result<File> {
    let wrong = |error: std::io::Error| Usage(format!("{}: {error}", path.display()));
    // So that opening a pipe does not wait for its other end.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(wrong)?;
    if !file.metadata().map_err(wrong)?.is_file() {
        return Err(Usage(format!("{}: not a regular file", path.display())).into());
    }
    Ok(file)
}

/// True when both lead to one entry of one directory, whether there is one or not.
pub(crate) fn is_same_name(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        (parent.canonicalize().unwrap_or_else(|_| parent.to_owned()), path.file_name().map(ToOwned::to_owned))
    };
    place(a) == place(b)
}

/// Reads a file of at most `bytes_max` bytes.
pub(crate) fn read_file(path: &Path, bytes_max: u64) -> anyhow::Result<Vec<u8>> {
    let file = open_file(path)?;
    // Before anything of it is read.
    match file.metadata()?.len() {
        bytes if bytes > bytes_max => {
            Err(Usage(format!("{}: {bytes} bytes, and at most {bytes_max} are read", path.display())).into())
        }
        _ => read_at_most(file, path, bytes_max),
    }
}

fn read_at_most(file: File, path: &Path, bytes_max: u64) -> anyhow::Result<Vec<u8>> {
    use std::io::Read;
    let wrong = |error: std::io::Error| Usage(format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    // One byte over the limit is enough for the reader to refuse it.
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).map_err(wrong)?;
    Ok(bytes)
}

/// Refuses `-`, by which others mean standard output: that is for what is said here.
pub(crate) fn check_named(path: &Path) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        let message = "-: standard output takes no file: name one (./- for a file that is called so)";
        return Err(Usage(message.to_owned()).into());
    }
    Ok(())
}

/// Refuses a name that is taken, before any work is done for it.
pub(crate) fn check_free(path: &Path) -> anyhow::Result<()> {
    check_named(path)?;
    anyhow::ensure!(path.symlink_metadata().is_err(), "{} exists already: name another file", path.display());
    Ok(())
}

/// Creates a file that must not exist yet.
pub(crate) fn create_new(path: &Path) -> anyhow::Result<File> {
    check_named(path)?;
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    if created.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
        anyhow::bail!("{} exists already: name another file", path.display());
    }
    created.with_context(|| format!("{} can't be written", path.display()))
}

/// Writes a file that must not exist yet.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    use std::io::Write;
    write_new_with(path, |file| Ok(file.write_all(bytes)?))
}

/// Writes a file that must not exist yet. It has its name only once it is whole: whoever is killed before leaves none.
pub(crate) fn write_new_with(path: &Path, write: impl FnOnce(&mut File) -> anyhow::Result<()>) -> anyhow::Result<()> {
    check_free(path)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let (mut file, draft) = match rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666)) {
        Ok(nameless) => (File::from(nameless), None),
        // Not every file system has files without names.
        Err(_) => {
            let draft = draft_of(path);
            let created = OpenOptions::new().write(true).create_new(true).open(&draft);
            // Nobody knows the draft's name.
            (created.with_context(|| format!("{} can't be written", path.display()))?, Some(draft))
        }
    };
    let written = write(&mut file).and_then(|()| Ok(file.sync_all()?));
    let named = written.map(|()| match &draft {
        Some(draft) => std::fs::hard_link(draft, path),
        None => {
            let open = format!("/proc/self/fd/{}", file.as_raw_fd());
            Ok(rustix::fs::linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
        }
    });
    if let Some(draft) = draft {
        let _ = std::fs::remove_file(draft);
    }
    match named {
        Ok(Err(error)) if error.kind() == ErrorKind::AlreadyExists => {
            anyhow::bail!("{} exists already: name another file", path.display())
        }
        named => named.and_then(|named| Ok(named?)).with_context(|| format!("{} can't be written", path.display())),
    }
}

/// Where a file is written that has no name yet, on file systems that ask for one.
fn draft_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}
