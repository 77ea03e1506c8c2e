use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;

use crate::failure::{Code, Failure};

/// The name of a file in one of the server's directories: nothing in it can lead out of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileName {
    /// Without its ending.
    stem: String,
    ending: &'static str,
}

/// What ends the names of movie files.
pub(crate) const MOVIE: &str = ".movie";
/// What ends the names of save state files.
pub(crate) const STATE: &str = ".state";
const NAME_BYTES_MAX: usize = 64;
/// How many files that were left behind are passed over.
const PARTIALS_MAX: u32 = 1_000;

impl FileName {
    /// A movie's name from outside, with or without its ending.
    ///
    /// # Errors
    /// `REFUSED_PATH`.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        Self::with_ending(text, MOVIE)
    }

    /// The name from outside, with or without its ending, of a file of the kind that has this one.
    ///
    /// # Errors
    /// `REFUSED_PATH`.
    pub(crate) fn with_ending(text: &str, ending: &'static str) -> Result<Self, Failure> {
        let stem = text.strip_suffix(ending).unwrap_or(text);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if (1..=NAME_BYTES_MAX).contains(&stem.len()) && stem.bytes().all(plain) {
            return Ok(Self { stem: stem.to_owned(), ending });
        }
        let given: String = text.chars().take(NAME_BYTES_MAX).collect();
        let message = format!("{given:?} is no name: give 1 to {NAME_BYTES_MAX} letters, digits, _ or -, and no path");
        Err(Failure::new(Code::RefusedPath, message).with("field", "name"))
    }

    /// The name without its ending.
    pub(crate) fn as_str(&self) -> &str {
        &self.stem
    }

    fn file_name(&self) -> String {
        format!("{}{}", self.stem, self.ending)
    }

    /// Refuses a name that is taken already, before there is any work. [`NewFile::link`] asks again.
    ///
    /// # Errors
    /// `FILE_EXISTS`.
    pub(crate) fn check_free(&self, directory: &Path) -> Result<(), Failure> {
        match std::fs::symlink_metadata(directory.join(self.file_name())) {
            Ok(_) => Err(self.exists()),
            Err(_) => Ok(()),
        }
    }

    fn exists(&self) -> Failure {
        Failure::new(Code::FileExists, format!("{} exists: give another name", self.file_name()))
    }
}

/// A file under way, without its name: it gets one once it is whole, and is gone otherwise.
pub(crate) struct NewFile {
    directory: PathBuf,
    partial: PathBuf,
    out: BufWriter<File>,
}

impl NewFile {
    /// An empty file in a directory.
    ///
    /// # Errors
    /// `ENGINE_FAILURE` when the system refuses.
    pub(crate) fn create(directory: &Path) -> Result<Self, Failure> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let mut tries = 0;
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let partial = directory.join(format!(".{}-{number}.partial", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&partial) {
                Ok(file) => return Ok(Self { directory: directory.to_owned(), partial, out: BufWriter::new(file) }),
                // A server of the same process id was killed and has left it.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && tries < PARTIALS_MAX => tries += 1,
                Err(error) => return Err(refused(&partial, &error)),
            }
        }
    }

    /// Adds to it.
    ///
    /// # Errors
    /// `ENGINE_FAILURE` when the system refuses.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.out.write_all(bytes).map_err(|error| refused(&self.partial, &error))
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// `FILE_EXISTS`; `ENGINE_FAILURE` when the system refuses.
    pub(crate) fn link(mut self, name: &FileName) -> Result<PathBuf, Failure> {
        let path = self.directory.join(name.file_name());
        let written = self.out.flush().and_then(|()| self.out.get_ref().sync_all());
        // Unlike renaming, linking never takes the place of a file that is there.
        let linked = written.and_then(|()| std::fs::hard_link(&self.partial, &path));
        match linked {
            Ok(()) => Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(name.exists()),
            Err(error) => Err(refused(&path, &error)),
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Where it has its name, it stays under that.
        let _ = std::fs::remove_file(&self.partial);
    }
}

fn refused(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Code::EngineFailure, format!("{}: {error}", path.display()))
}

/// Reads a file of at most `bytes_max` bytes from the first directory that has it. Of one that does not begin as its kind
/// does, only the beginning: whoever parses it refuses that.
///
/// # Errors
/// `REFUSED_PATH` when none has it, `LIMIT_EXCEEDED`, `DISABLED` when there are no directories.
pub(crate) fn read(directories: &[Option<&Path>], name: &FileName, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    if directories.iter().all(Option::is_none) {
        let message = "the server has no directory to read from: give `source`, or start it with --out-dir or --movies";
        return Err(Failure::new(Code::Disabled, message));
    }
    for directory in directories.iter().copied().flatten() {
        let path = directory.join(name.file_name());
        let bytes = match read_bounded(&path, name.ending, bytes_max) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            bytes => bytes,
        };
        let bytes = bytes.map_err(|error| Failure::new(Code::RefusedPath, format!("{}: {error}", path.display())))?;
        return bytes.ok_or_else(|| {
            let message = format!("{} has more than {bytes_max} bytes", name.file_name());
            Failure::new(Code::LimitExceeded, message).with("limit", bytes_max)
        });
    }
    let message = format!("there is no {}; {}", name.file_name(), what_there_is(directories, name.ending));
    Err(Failure::new(Code::RefusedPath, message).with("field", "name"))
}

/// How many files a refusal names.
const NAMED_MAX: usize = 20;

/// The names that [`read`] would take, in words.
fn what_there_is(directories: &[Option<&Path>], ending: &'static str) -> String {
    let entries = directories.iter().copied().flatten().filter_map(|directory| std::fs::read_dir(directory).ok());
    let names: BTreeSet<String> = entries
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|file| file.strip_suffix(ending).map(str::to_owned))
        .filter(|stem| FileName::with_ending(stem, ending).is_ok())
        .collect();
    let total = names.len();
    if total == 0 {
        let maker = if ending == STATE { "state_save" } else { "movie_export with `name`" };
        return format!("there are no {ending} files yet: {maker} makes one");
    }
    let named: Vec<String> = names.into_iter().take(NAMED_MAX).collect();
    let more = total - named.len();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the names there are: {}{rest}", named.join(", "))
}

/// How every file of an ending begins; every byte where that is not known.
fn head(ending: &str) -> &'static [u8] {
    match ending {
        STATE => &lab::STATE_FILE_MAGIC,
        _ => b"",
    }
}

/// Absent: it has more than `bytes_max` bytes.
fn read_bounded(path: &Path, ending: &str, bytes_max: usize) -> std::io::Result<Option<Vec<u8>>> {
    // A link may lead anywhere, and opening a pipe would wait for somebody to write.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let plain = || std::io::Error::other("it is no plain file");
    let is_link = std::fs::symlink_metadata(path)?.is_symlink();
    let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(_) if is_link => return Err(plain()),
        file => file?,
    };
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(plain());
    }
    if about.len() > bytes_max as u64 {
        return Ok(None);
    }
    let head = head(ending);
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(head.len() as u64).read_to_end(&mut bytes)?;
    if bytes == head {
        file.take((bytes_max - bytes.len().min(bytes_max)) as u64).read_to_end(&mut bytes)?;
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that goes away with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("nethack-lab-mcp-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn names_lead_nowhere() {
        for good in ["a", "A-b_9", "a.movie", &"x".repeat(64)] {
            assert!(FileName::parse(good).is_ok(), "{good:?}");
        }
        for bad in [
            "",
            ".",
            "..",
            "a/b",
            "../a",
            "/etc/passwd",
            "a.b",
            "a\0",
            "é",
            "a b",
            ".movie",
            "~",
            "a\\b",
            "a.movie.movie",
            &"x".repeat(65),
        ] {
            assert_eq!(FileName::parse(bad).unwrap_err().code, Code::RefusedPath, "{bad:?}");
        }
        assert_eq!(FileName::with_ending("a.png", ".png").unwrap().file_name(), "a.png");
        assert_eq!(FileName::with_ending("a", ".png").unwrap().file_name(), "a.png");
        assert!(FileName::with_ending("a.movie", ".png").is_err());
    }

    #[test]
    fn files_are_written_once_and_read_within_bounds() {
        let scratch = Scratch::new("files");
        let directory = scratch.0.as_path();
        let name = FileName::parse("one").unwrap();
        let write_new = |directory: &Path, bytes: &[u8]| {
            let mut file = NewFile::create(directory)?;
            file.write(bytes)?;
            file.link(&name)
        };
        name.check_free(directory).unwrap();
        write_new(directory, b"first").unwrap();
        assert_eq!(write_new(directory, b"second").unwrap_err().code, Code::FileExists);
        assert_eq!(name.check_free(directory).unwrap_err().code, Code::FileExists);
        let mut given_up = NewFile::create(directory).unwrap();
        given_up.write(b"third").unwrap();
        drop(given_up);
        assert_eq!(read(&[None, Some(directory)], &name, 5).unwrap(), b"first");
        assert_eq!(read(&[Some(directory)], &name, 4).unwrap_err().code, Code::LimitExceeded);
        let other = FileName::parse("other").unwrap();
        let missing = read(&[Some(directory)], &other, 9).unwrap_err();
        assert_eq!(missing.code, Code::RefusedPath);
        assert!(missing.message.ends_with("names there are: one"), "{}", missing.message);
        assert_eq!(read(&[None, None], &name, 9).unwrap_err().code, Code::Disabled);
        std::fs::create_dir(directory.join("dir.movie")).unwrap();
        let dir = FileName::parse("dir").unwrap();
        assert_eq!(read(&[Some(directory)], &dir, 9).unwrap_err().code, Code::RefusedPath);
        std::os::unix::fs::symlink(directory.join("one.movie"), directory.join("link.movie")).unwrap();
        let link = FileName::parse("link").unwrap();
        assert_eq!(read(&[Some(directory)], &link, 9).unwrap_err().code, Code::RefusedPath);
        assert_eq!(write_new(directory, b"x").unwrap_err().code, Code::FileExists);
        let pipe = directory.join("pipe.movie");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let pipe = FileName::parse("pipe").unwrap();
        assert_eq!(read(&[Some(directory)], &pipe, 9).unwrap_err().code, Code::RefusedPath);
        std::fs::remove_file(directory.join("pipe.movie")).unwrap();
        let state = FileName::with_ending("one", STATE).unwrap();
        let missing = read(&[Some(directory)], &state, 9).unwrap_err();
        assert!(missing.message.ends_with("state_save makes one"), "{}", missing.message);
        // Of what is no state only as much is read as shows that; what is too large is not begun with.
        let sparse = File::create(directory.join("sparse.state")).unwrap();
        let name = FileName::with_ending("sparse", STATE).unwrap();
        for (bytes, found) in [(0, Some(0)), (5, Some(5)), (1 << 40, Some(8)), ((1 << 40) + 1, None)] {
            sparse.set_len(bytes).unwrap();
            let read = read(&[Some(directory)], &name, 1 << 40).map_err(|failure| failure.code);
            assert_eq!(read.map(|bytes| bytes.len()), found.ok_or(Code::LimitExceeded), "{bytes} bytes");
        }
        std::fs::write(directory.join("sparse.state"), [&lab::STATE_FILE_MAGIC[..], b"and more"].concat()).unwrap();
        assert_eq!(read(&[Some(directory)], &name, 16).unwrap().len(), 16);
        std::fs::remove_file(directory.join("sparse.state")).unwrap();
        let left: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 3, "{left:?}");
        let missing = directory.join("missing");
        assert_eq!(write_new(&missing, b"x").unwrap_err().code, Code::EngineFailure);
    }
}
