use std::path::Path;

use sha2::{Digest, Sha256};

use crate::failure::{Code, Failure};
use crate::files::{FileName, NewFile};

/// The most bytes that one export may have.
pub(crate) const EXPORT_BYTES_MAX: u64 = 1 << 30;
/// Bytes that are handed out inline when it is asked for.
pub(crate) const INLINE_BYTES_MAX: usize = 8 << 20;

/// SHA-256 as 64 hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    digits(Sha256::new_with_prefix(bytes))
}

fn digits(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is exported, as it comes: in memory while it is small enough to be handed out, in a file of the directory beyond
/// that.
pub(crate) struct Output<'a> {
    directory: Option<&'a Path>,
    held: Vec<u8>,
    held_max: usize,
    file: Option<NewFile>,
    bytes: u64,
    hash: Sha256,
}

/// What has become of it.
pub(crate) struct Exported {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
    pub(crate) place: Place,
}

/// Where it is.
pub(crate) enum Place {
    Inline(Vec<u8>),
    File { name: String, path: String },
}

impl<'a> Output<'a> {
    /// Nothing yet. More than `held_max` bytes go to the directory.
    pub(crate) fn new(directory: Option<&'a Path>, held_max: usize) -> Self {
        Self { directory, held: Vec::new(), held_max, file: None, bytes: 0, hash: Sha256::new() }
    }

    /// Adds to it.
    ///
    /// # Errors
    /// `LIMIT_EXCEEDED`, also where it is too large to be held and there is no directory; `ENGINE_FAILURE` when the
    /// system refuses.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > EXPORT_BYTES_MAX {
            let message = format!("it has more than {EXPORT_BYTES_MAX} bytes: export a part, with `from` and `to`");
            return Err(Failure::new(Code::LimitExceeded, message).with("limit", EXPORT_BYTES_MAX));
        }
        self.hash.update(bytes);
        if self.bytes > self.held_max as u64 && self.file.is_none() {
            self.begin_file()?;
        }
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => {
                self.held.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn begin_file(&mut self) -> Result<(), Failure> {
        let directory = self.directory.ok_or_else(|| too_large(self.held_max))?;
        let mut file = NewFile::create(directory)?;
        file.write(&std::mem::take(&mut self.held))?;
        self.file = Some(file);
        Ok(())
    }

    /// It is whole. A file gets this name or, without one, that which its digest gives.
    ///
    /// # Errors
    /// `FILE_EXISTS`; `ENGINE_FAILURE` when the system refuses.
    pub(crate) fn finish(
        mut self,
        name: Option<FileName>,
        own: impl FnOnce(&str) -> Result<FileName, Failure>,
    ) -> Result<Exported, Failure> {
        if name.is_some() && self.file.is_none() {
            self.begin_file()?;
        }
        let sha256 = digits(self.hash);
        let place = match self.file {
            None => Place::Inline(self.held),
            Some(file) => {
                let name = name.map_or_else(|| own(&sha256), Ok)?;
                let path = file.link(&name)?.display().to_string();
                Place::File { name: name.as_str().to_owned(), path }
            }
        };
        Ok(Exported { bytes: self.bytes, sha256, place })
    }
}

fn too_large(max: usize) -> Failure {
    let hint = match max {
        INLINE_BYTES_MAX => "have the server started with --out-dir DIR".to_owned(),
        _ => format!("give inline true for up to {INLINE_BYTES_MAX}, or have it started with --out-dir DIR"),
    };
    let message =
        format!("more than {max} bytes are not handed out inline here, and the server has no export directory: {hint}");
    Failure::new(Code::LimitExceeded, message).with("limit", max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(digest: &str) -> Result<FileName, Failure> {
        FileName::parse(&digest[..8])
    }

    #[test]
    fn what_is_small_stays_in_memory_and_the_rest_goes_to_a_file() {
        let path = std::env::temp_dir().join(format!("nethack-lab-mcp-output-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let write = |parts: &[&[u8]], directory: Option<&Path>, held_max, name: Option<FileName>| {
            let mut output = Output::new(directory, held_max);
            parts.iter().try_for_each(|part| output.write(part))?;
            output.finish(name, own)
        };
        let parts: [&[u8]; 3] = [b"abc", b"", b"def"];
        let digest = sha256(b"abcdef");
        let small = write(&parts, Some(&path), 6, None).unwrap();
        assert_eq!((small.bytes, &small.sha256), (6, &digest));
        assert!(matches!(small.place, Place::Inline(bytes) if bytes == b"abcdef"));
        let large = write(&parts, Some(&path), 5, None).unwrap();
        let Place::File { name, path: at } = large.place else { panic!("inline") };
        assert_eq!((large.bytes, &large.sha256, &name), (6, &digest, &digest[..8].to_owned()));
        assert_eq!(std::fs::read(at).unwrap(), b"abcdef");
        assert_eq!(write(&parts, Some(&path), 5, None).err().unwrap().code, Code::FileExists);
        assert_eq!(write(&parts, None, 5, None).err().unwrap().code, Code::LimitExceeded);
        let named = write(&[], Some(&path), 0, Some(FileName::parse("empty").unwrap())).unwrap();
        assert!(matches!(named.place, Place::File { name, .. } if name == "empty"));
        let mut files: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        files.sort();
        assert_eq!(files.len(), 2, "{files:?}");
        std::fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn no_export_is_without_bounds() {
        let mut output = Output::new(None, usize::MAX);
        output.bytes = EXPORT_BYTES_MAX - 1;
        output.write(b"1").unwrap();
        assert_eq!(output.write(b"2").unwrap_err().code, Code::LimitExceeded);
    }
}
