//! The file that is watched, and what becomes of it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use movie::Recording;

use crate::movies;
use crate::setup::read_movie;

/// What is to be said of a file while what was read of it before is shown.
const SHOWN: &str = "what was read of it before is shown";

/// A file whose recording is known as far as it was last taken.
pub(super) struct Watched {
    path: PathBuf,
    /// Its whole lines.
    whole: Vec<u8>,
    stamp: Option<Stamp>,
    /// Whether it was the same twice: a write right after a reading may leave the time as it is.
    is_settled: bool,
}

/// What tells whether a file was written to.
type Stamp = (u64, u64, i64, i64);

/// What has become of a file.
pub(super) enum Change {
    /// It goes on from what was read, or says the same.
    Grown(News),
    /// It holds another movie.
    Replaced(News),
    /// There is less than before, or nothing that can be read, for the reason given.
    Gone(String),
}

/// A new reading of a file.
pub(super) struct News {
    pub(super) recording: Recording,
    whole: Vec<u8>,
}

impl Watched {
    pub(super) fn open(path: &Path) -> anyhow::Result<(Self, Recording)> {
        let stamp = stamp(path);
        let bytes = read_movie(path)?;
        let News { recording, whole } = News::of(movies::parse_file(path, &bytes)?, bytes);
        Ok((Self { path: path.to_path_buf(), whole, stamp, is_settled: false }, recording))
    }

    /// Looks whether the file was written to since, and what it holds then.
    pub(super) fn look(&mut self) -> Option<Change> {
        let now = stamp(&self.path);
        let is_same = now == self.stamp;
        if is_same && self.is_settled {
            return None;
        }
        self.is_settled = is_same;
        self.stamp = now;
        Some(match read_movie(&self.path) {
            Ok(bytes) => change(&self.whole, bytes),
            Err(error) => Change::Gone(format!("{error:#}: {SHOWN}")),
        })
    }

    /// What comes next is measured by this reading.
    pub(super) fn take(&mut self, news: News) -> Recording {
        self.whole = news.whole;
        news.recording
    }
}

impl News {
    fn of(recording: Recording, mut bytes: Vec<u8>) -> Self {
        bytes.truncate(recording.whole_bytes);
        Self { recording, whole: bytes }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let facts = |file: Metadata| (file.ino(), file.len(), file.mtime(), file.mtime_nsec());
    std::fs::metadata(path).ok().map(facts)
}

/// What a file that held these whole lines has become. Its name and its place say nothing: a copy that has grown goes on
/// like the original, and another movie may be written over the old one.
fn change(before: &[u8], bytes: Vec<u8>) -> Change {
    let shorter = |bytes: usize| {
        let before = before.len();
        Change::Gone(format!("the file is shorter than it was, {bytes} bytes of {before}: {SHOWN}"))
    };
    match movie::read(&bytes) {
        Err(_) if before.starts_with(&bytes) => shorter(bytes.len()),
        Err(error) => Change::Gone(format!("the file can't be read any more, {error}: {SHOWN}")),
        Ok(recording) => {
            let length = bytes.len();
            let news = News::of(recording, bytes);
            if news.whole.starts_with(before) {
                Change::Grown(news)
            } else if before.starts_with(&news.whole) {
                shorter(length)
            } else {
                Change::Replaced(news)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A movie's lines; the chain says nothing here.
    fn movie(seed: u32, lines: &[&str]) -> Vec<u8> {
        let engine = "ab".repeat(32);
        let power_on = format!(
            "{{\"core_seed\":\"{seed}\",\"display_seed\":\"1\",\"level_seed\":null,\"reseed\":false,\"clock\":978436800,\
             \"character\":{{\"name\":\"Agent\",\"role\":null,\"race\":null,\"gender\":null,\"alignment\":null}},\
             \"options\":\"\",\"debug\":false,\"profile\":\"default\"}}"
        );
        let header = format!(
            "{{\"format\":\"nethack-lab-movie\",\"version\":1,\"engine_id\":\"{engine}\",\"rom_id\":\"{engine}\",\
             \"nethack_version\":\"3.6.7\",\"creator\":\"test\",\"power_on\":{power_on}"
        );
        let chained = |body: &str| format!("{body},\"chain\":\"0123456789abcdef\"}}\n");
        let lines = lines.iter().map(|line| chained(line));
        std::iter::once(chained(&header)).chain(lines).collect::<String>().into_bytes()
    }

    const A: &str = "{\"inputs\":{\"at\":0,\"keys\":\"h\",\"checks\":\"AAAAAQ==\"}";
    const B: &str = "{\"inputs\":{\"at\":1,\"keys\":\"j\",\"checks\":\"AAAAAg==\"}";
    const C: &str = "{\"inputs\":{\"at\":0,\"keys\":\"k\",\"checks\":\"AAAAAw==\"}";

    fn word(before: &[u8], now: &[u8]) -> &'static str {
        match change(before, now.to_vec()) {
            Change::Grown(_) => "grown",
            Change::Replaced(_) => "replaced",
            Change::Gone(why) if why.contains("shorter") => "shorter",
            Change::Gone(_) => "gone",
        }
    }

    #[test]
    fn what_goes_on_is_told_from_what_is_another_and_from_what_is_less() {
        let (one, two) = (movie(1, &[A]), movie(1, &[A, B]));
        assert!(::movie::read(&two).is_ok(), "{:?}", ::movie::read(&two));
        let torn = &two[..two.len() - 5];
        for (now, wanted) in [(&one[..], "grown"), (&two[..], "grown"), (torn, "grown")] {
            assert_eq!(word(&one, now), wanted);
        }
        for (now, wanted) in [
            (&one[..], "shorter"),
            (torn, "shorter"),
            (&movie(1, &[])[..], "shorter"),
            (&two[..9], "shorter"),
            (b"", "shorter"),
            (b"something else\n", "gone"),
            (&movie(1, &[C])[..], "replaced"),
            (&movie(2, &[A, B])[..], "replaced"),
            (&movie(2, &[])[..], "replaced"),
            (&movie(1, &[C, B])[..], "replaced"),
        ] {
            assert_eq!(word(&two, now), wanted, "{}", String::from_utf8_lossy(now));
        }
    }
}
