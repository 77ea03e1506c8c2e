//! The files that a lab keeps: how they are opened, and every change of them, so that a test can stop at each.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// How many copies of one file are kept aside.
const ASIDE_MAX: u32 = 1_000;

/// Opens a file to read it, and with `appends` to go on with it. What is no regular file is refused: a pipe would be
/// waited for, a device may do anything.
pub(crate) fn open(path: &Path, appends: bool) -> io::Result<File> {
    // So that opening a pipe does not wait for its other end.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).append(appends).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no regular file")),
    }
}

/// Reads what a file has from where it stands, at most `bytes`.
pub(crate) fn read(file: &mut File, bytes: u64) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    file.take(bytes).read_to_end(&mut read)?;
    Ok(read)
}

/// Makes a file that was not there, to append to.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    step()?;
    OpenOptions::new().read(true).append(true).create_new(true).open(path)
}

/// Appends bytes.
pub(crate) fn append(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    step()?;
    file.write_all(bytes)
}

/// Cuts a file off.
pub(crate) fn cut(file: &File, bytes: u64) -> io::Result<()> {
    step()?;
    file.set_len(bytes)
}

/// Puts a file in the place of another, or where there is none.
pub(crate) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    step()?;
    std::fs::rename(from, to)
}

/// Gives a file a second name, which must be free. Where the file system has no second names, it is the only one then.
pub(crate) fn name(from: &Path, to: &Path) -> io::Result<()> {
    step()?;
    match std::fs::hard_link(from, to) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        Err(_) if to.symlink_metadata().is_ok() => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(from, to),
        linked => linked,
    }
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    step()?;
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Keeps a file under a further name, `ending` and a number after it; gives that name. One that a killed process has kept
/// so already has it.
pub(crate) fn keep_aside(path: &Path, ending: &str) -> io::Result<PathBuf> {
    let same = path.metadata().map(|about| (about.dev(), about.ino()))?;
    for number in 1..=ASIDE_MAX {
        let ending = if number == 1 { ending.to_owned() } else { format!("{ending}-{number}") };
        let aside = path.with_extension(ending);
        match aside.symlink_metadata() {
            Ok(about) if (about.dev(), about.ino()) == same => return Ok(aside),
            Ok(_) => {}
            Err(_) => return name(path, &aside).map(|()| aside),
        }
    }
    Err(io::Error::other(format!("{ASIDE_MAX} damaged ones are kept already")))
}

#[cfg(test)]
thread_local! {
    /// How many more changes are made on this thread, where a test has it stop.
    static STEPS: std::cell::Cell<Option<u32>> = const { std::cell::Cell::new(None) };
}

/// Lets a thread make so many more changes and then none, as if its process were killed there.
#[cfg(test)]
pub(crate) fn stop_after(steps: Option<u32>) {
    STEPS.set(steps);
}

/// Whether a thread has come to where it stops.
#[cfg(test)]
pub(crate) fn is_stopped() -> bool {
    STEPS.get() == Some(0)
}

#[cfg_attr(not(test), expect(clippy::unnecessary_wraps, reason = "tests stop here"))]
fn step() -> io::Result<()> {
    #[cfg(test)]
    if let Some(left) = STEPS.get() {
        STEPS.set(Some(left.saturating_sub(1)));
        if left == 0 {
            return Err(io::Error::other("a test has stopped here"));
        }
    }
    Ok(())
}
