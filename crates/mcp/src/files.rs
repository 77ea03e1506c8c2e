use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::failure::{Code, Failure};

/// The name of a movie's file, without its ending: nothing in it can lead out of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileName(String);

/// What ends the names of movie files.
const SUFFIX: &str = ".movie";
const NAME_BYTES_MAX: usize = 64;

impl FileName {
    /// A name from outside, with or without its ending.
    ///
    /// # Errors
    /// `REFUSED_PATH`.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let stem = text.strip_suffix(SUFFIX).unwrap_or(text);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if (1..=NAME_BYTES_MAX).contains(&stem.len()) && stem.bytes().all(plain) {
            return Ok(Self(stem.to_owned()));
        }
        let given: String = text.chars().take(NAME_BYTES_MAX).collect();
        let message = format!("{given:?} is no name: give 1 to {NAME_BYTES_MAX} letters, digits, _ or -, and no path");
        Err(Failure::new(Code::RefusedPath, message).with("field", "name"))
    }

    /// The name without its ending.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn file_name(&self) -> String {
        format!("{}{SUFFIX}", self.0)
    }
}

/// Writes a file that was not there, whole or not at all.
///
/// # Errors
/// `FILE_EXISTS`; `ENGINE_FAILURE` when the system refuses.
pub(crate) fn write_new(directory: &Path, name: &FileName, bytes: &[u8]) -> Result<PathBuf, Failure> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let path = directory.join(name.file_name());
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let partial = directory.join(format!(".{}.{}-{number}.partial", name.as_str(), std::process::id()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&partial)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        // Unlike renaming, linking never takes the place of a file that is there.
        .and_then(|()| std::fs::hard_link(&partial, &path));
    // It may never have been made.
    let _ = std::fs::remove_file(&partial);
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::new(Code::FileExists, format!("{} exists: give another name", name.file_name()))
        }
        _ => Failure::new(Code::EngineFailure, format!("{}: {error}", path.display())),
    })?;
    Ok(path)
}

/// Reads a file of at most `bytes_max` bytes from the first directory that has it.
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
        let bytes = match File::open(&path) {
            Ok(file) => read_bounded(file, bytes_max),
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => Err(error),
        };
        let bytes = bytes.map_err(|error| Failure::new(Code::RefusedPath, format!("{}: {error}", path.display())))?;
        if bytes.len() > bytes_max {
            let message = format!("{} has more than {bytes_max} bytes", name.file_name());
            return Err(Failure::new(Code::LimitExceeded, message).with("limit", bytes_max));
        }
        return Ok(bytes);
    }
    let message = format!("there is no {}; {}", name.file_name(), what_there_is(directories));
    Err(Failure::new(Code::RefusedPath, message).with("field", "name"))
}

/// How many files a refusal names.
const NAMED_MAX: usize = 20;

/// The names that [`read`] would take, in words.
fn what_there_is(directories: &[Option<&Path>]) -> String {
    let entries = directories.iter().copied().flatten().filter_map(|directory| std::fs::read_dir(directory).ok());
    let names: BTreeSet<String> = entries
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|file| file.strip_suffix(SUFFIX).map(str::to_owned))
        .filter(|stem| FileName::parse(stem).is_ok())
        .collect();
    let total = names.len();
    if total == 0 {
        return "there are no movie files yet: movie_export with `name` makes one".to_owned();
    }
    let named: Vec<String> = names.into_iter().take(NAMED_MAX).collect();
    let more = total - named.len();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the names there are: {}{rest}", named.join(", "))
}

fn read_bounded(file: File, bytes_max: usize) -> std::io::Result<Vec<u8>> {
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
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
    }

    #[test]
    fn files_are_written_once_and_read_within_bounds() {
        let scratch = Scratch::new("files");
        let directory = scratch.0.as_path();
        let name = FileName::parse("one").unwrap();
        write_new(directory, &name, b"first").unwrap();
        assert_eq!(write_new(directory, &name, b"second").unwrap_err().code, Code::FileExists);
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
        let left: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "{left:?}");
        let missing = directory.join("missing");
        assert_eq!(write_new(&missing, &name, b"x").unwrap_err().code, Code::EngineFailure);
    }
}
