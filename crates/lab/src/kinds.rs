//! What a file is that was given for another: each kind has tools of its own.

use crate::{STATE_FILE_MAGIC, tree_file};

/// What a file of this project is by its first bytes, and which command reads it; nothing of other bytes. Sixty-four of
/// them are enough.
#[must_use]
pub fn kind_of_file(start: &[u8]) -> Option<&'static str> {
    if start.starts_with(&STATE_FILE_MAGIC) {
        Some("this is a save state: `nethack-lab state info` reads it, `nethack-lab state movie` takes its movie out")
    } else if start.starts_with(&tree_file::KIND.magic) {
        Some("this is a tree: `nethack-lab tree info` reads it, `nethack-lab tree movie` takes a movie out")
    } else if is_movie(start) {
        Some("this is a movie: `nethack-lab movie info` reads it")
    } else if is_text(start, movie::LEDGER_FORMAT) {
        Some("this is a ledger: the journal beside it, of the same name, is the movie")
    } else {
        None
    }
}

/// True for what begins like a movie.
pub(crate) fn is_movie(start: &[u8]) -> bool {
    is_text(start, movie::FORMAT)
}

fn is_text(start: &[u8], format: &str) -> bool {
    start.starts_with(format!(r#"{{"format":"{format}""#).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_told_and_nothing_else() {
        let told = |start: &[u8]| kind_of_file(start).map(|told| told.split(':').next().unwrap_or_default());
        assert_eq!(told(b"\x89NHLSAVE\x01"), Some("this is a save state"));
        assert_eq!(told(b"\x89NHLTREE\x01"), Some("this is a tree"));
        assert_eq!(told(br#"{"format":"nethack-lab-movie","version":1"#), Some("this is a movie"));
        assert_eq!(told(br#"{"format":"nethack-lab-ledger","version":1"#), Some("this is a ledger"));
        for other in [&b""[..], b"\x89NHL", b"\x89PNG\r\n", br#"{"format":"nethack-lab-moviex""#] {
            assert_eq!(told(other), None);
        }
    }
}
