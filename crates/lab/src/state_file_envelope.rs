//! The envelope of save state files and trees: what says what a file is, how long, and that it is as it was written.
//!
//! Magic, version, the head's length, the file's length; the head (JSON); parts of which the head tells the lengths;
//! a BLAKE3 over all of it.

use std::io::{self, Read, Write};

/// Bytes before the head: magic, version, length of the head, length of the file.
const FIXED_BYTES: usize = 8 + 4 + 4 + 8;
/// Bytes of the digest at the end.
const DIGEST_BYTES: usize = 32;
/// How much is read at once, so that no length is believed before the bytes are there.
const READ_BYTES: usize = 64 << 10;

/// One of the formats that are put in an envelope.
pub(crate) struct Kind {
    pub(crate) magic: [u8; 8],
    pub(crate) version: u32,
    pub(crate) head_bytes_max: usize,
    pub(crate) file_bytes_max: u64,
}

/// Why bytes are no save state or tree that can be used. Nothing of them has been used then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateFileError {
    /// It begins like something else.
    #[error("it does not begin like one")]
    Magic,
    /// A later or earlier version of the format.
    #[error("it has version {found} of the format, and this program reads version {known}")]
    Version {
        /// The file's.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// It ends before its end.
    #[error("it is cut short")]
    Short,
    /// Bytes follow its end.
    #[error("bytes follow its end")]
    Trailing,
    /// It, or a part of it, is longer than any that is read.
    #[error("{what}: {given} bytes, at most {max} are read")]
    TooLong {
        /// What is too long.
        what: &'static str,
        /// How long it says it is.
        given: u64,
        /// The bound.
        max: u64,
    },
    /// It is not as it was written.
    #[error("it is damaged: its digest is another")]
    Damaged,
    /// What it says of itself does not hold together.
    #[error("it does not hold together: {0}")]
    Inconsistent(String),
    /// It can't be read.
    #[error("it can't be read: {0}")]
    Unreadable(String),
}

/// Writes an envelope, part by part.
pub(crate) struct Sealer<W> {
    out: W,
    hasher: blake3::Hasher,
    left: u64,
}

impl<W: Write> Sealer<W> {
    /// Begins a file whose parts are `parts_bytes` long in all.
    pub(crate) fn begin(kind: &Kind, head: &[u8], parts_bytes: u64, out: W) -> io::Result<Self> {
        let length = (FIXED_BYTES + head.len() + DIGEST_BYTES) as u64 + parts_bytes;
        if head.len() > kind.head_bytes_max || length > kind.file_bytes_max {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file would be longer than any that is read"));
        }
        let head_bytes = u32::try_from(head.len()).map_err(io::Error::other)?;
        let mut sealer = Self { out, hasher: blake3::Hasher::new(), left: parts_bytes };
        for bytes in
            [&kind.magic[..], &kind.version.to_le_bytes(), &head_bytes.to_le_bytes(), &length.to_le_bytes(), head]
        {
            sealer.write(bytes)?;
        }
        Ok(sealer)
    }

    pub(crate) fn part(&mut self, bytes: &[u8]) -> io::Result<()> {
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or_else(|| io::Error::other("more bytes than the head says"))?;
        self.write(bytes)
    }

    /// Writes the digest and hands back what was written to.
    pub(crate) fn end(mut self) -> io::Result<W> {
        if self.left > 0 {
            return Err(io::Error::other("fewer bytes than the head says"));
        }
        let digest = self.hasher.finalize();
        self.out.write_all(digest.as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.out.write_all(bytes)
    }
}

/// Reads an envelope, part by part. Nothing of what is read is to be believed before [`Opener::end`].
pub(crate) struct Opener<R> {
    input: R,
    hasher: blake3::Hasher,
    /// Bytes of parts that are not yet read.
    left: u64,
}

impl<R: Read> Opener<R> {
    /// Reads the head. Lengths are checked before anything of their size is allocated.
    pub(crate) fn begin(kind: &Kind, input: R) -> Result<(Self, Vec<u8>), StateFileError> {
        let mut opener = Self { input, hasher: blake3::Hasher::new(), left: FIXED_BYTES as u64 };
        let fixed = opener.part(FIXED_BYTES as u64)?;
        let mut rest = fixed.as_slice();
        if take::<8>(&mut rest)? != kind.magic {
            return Err(StateFileError::Magic);
        }
        let version = u32::from_le_bytes(take(&mut rest)?);
        if version != kind.version {
            return Err(StateFileError::Version { found: version, known: kind.version });
        }
        let head_bytes = u64::from(u32::from_le_bytes(take(&mut rest)?));
        let length = u64::from_le_bytes(take(&mut rest)?);
        check_length("the file", length, kind.file_bytes_max)?;
        check_length("its head", head_bytes, kind.head_bytes_max as u64)?;
        let after_fixed = length.checked_sub((FIXED_BYTES + DIGEST_BYTES) as u64);
        opener.left = after_fixed.ok_or(StateFileError::Short)?;
        let head = opener.part(head_bytes)?;
        Ok((opener, head))
    }

    /// Bytes of parts that are still to come.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Reads the next part.
    pub(crate) fn part(&mut self, bytes: u64) -> Result<Vec<u8>, StateFileError> {
        let mut part = Vec::new();
        self.pour(bytes, &mut |piece| part.extend_from_slice(piece))?;
        Ok(part)
    }

    /// Reads the next part and keeps nothing of it.
    pub(crate) fn skip(&mut self, bytes: u64) -> Result<(), StateFileError> {
        self.pour(bytes, &mut |_| {})
    }

    fn pour(&mut self, bytes: u64, sink: &mut dyn FnMut(&[u8])) -> Result<(), StateFileError> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| StateFileError::Inconsistent("its parts are longer than it is".to_owned()))?;
        let mut buffer = vec![0; READ_BYTES.min(usize::try_from(bytes).unwrap_or(READ_BYTES))];
        let mut missing = bytes;
        while missing > 0 {
            let count = READ_BYTES.min(usize::try_from(missing).unwrap_or(READ_BYTES));
            let piece = buffer.get_mut(..count).unwrap_or_default();
            self.input.read_exact(piece).map_err(|error| unreadable(&error))?;
            self.hasher.update(piece);
            sink(piece);
            missing -= count as u64;
        }
        Ok(())
    }

    /// Demands that all of it was read, that it is as it was written, and that nothing follows.
    pub(crate) fn end(mut self) -> Result<(), StateFileError> {
        self.skip(self.left)?;
        let mut digest = [0; DIGEST_BYTES];
        self.input.read_exact(&mut digest).map_err(|error| unreadable(&error))?;
        if self.hasher.finalize() != blake3::Hash::from_bytes(digest) {
            return Err(StateFileError::Damaged);
        }
        match self.input.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(StateFileError::Trailing),
            Err(error) => Err(unreadable(&error)),
        }
    }
}

fn check_length(what: &'static str, given: u64, max: u64) -> Result<(), StateFileError> {
    if given > max { Err(StateFileError::TooLong { what, given, max }) } else { Ok(()) }
}

fn unreadable(error: &io::Error) -> StateFileError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => StateFileError::Short,
        _ => StateFileError::Unreadable(error.to_string()),
    }
}

/// The next bytes of a part that was read.
pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], StateFileError> {
    let (bytes, after) = rest.split_first_chunk().ok_or(StateFileError::Short)?;
    *rest = after;
    Ok(*bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { magic: *b"toy file", version: 3, head_bytes_max: 16, file_bytes_max: 200 };

    fn sealed(head: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        let bytes = parts.iter().map(|part| part.len() as u64).sum();
        let mut sealer = Sealer::begin(&KIND, head, bytes, Vec::new()).unwrap();
        parts.iter().for_each(|part| sealer.part(part).unwrap());
        sealer.end().unwrap()
    }

    fn opened(bytes: &[u8]) -> Result<(Vec<u8>, Vec<u8>), StateFileError> {
        let (mut opener, head) = Opener::begin(&KIND, bytes)?;
        let rest = opener.part(opener.left())?;
        opener.end()?;
        Ok((head, rest))
    }

    #[test]
    fn what_is_sealed_opens_and_nothing_else_does() {
        let whole = sealed(b"head", &[b"one", b"", b"two"]);
        assert_eq!(opened(&whole).unwrap(), (b"head".to_vec(), b"onetwo".to_vec()));
        for bit in 0..whole.len() * 8 {
            let mut other = whole.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(opened(&other).is_err(), "bit {bit}");
        }
        for length in 0..whole.len() {
            assert!(opened(&whole[..length]).is_err(), "{length} bytes");
        }
        let longer = [whole.as_slice(), b"x"].concat();
        assert_eq!(opened(&longer), Err(StateFileError::Trailing));
    }

    #[test]
    fn lengths_are_refused_before_they_are_believed() {
        let whole = sealed(b"head", &[b"part"]);
        let with = |at: usize, bytes: &[u8]| {
            let mut other = whole.clone();
            other[at..at + bytes.len()].copy_from_slice(bytes);
            opened(&other).unwrap_err()
        };
        assert!(matches!(with(12, &17_u32.to_le_bytes()), StateFileError::TooLong { what: "its head", .. }));
        assert!(matches!(with(16, &201_u64.to_le_bytes()), StateFileError::TooLong { what: "the file", .. }));
        assert_eq!(with(16, &7_u64.to_le_bytes()), StateFileError::Short);
        assert_eq!(with(16, &199_u64.to_le_bytes()), StateFileError::Short);
        assert_eq!(with(0, b"T"), StateFileError::Magic);
        assert_eq!(with(8, &[4]), StateFileError::Version { found: 4, known: 3 });
        assert!(Sealer::begin(&KIND, &[0; 17], 0, Vec::new()).is_err());
        assert!(Sealer::begin(&KIND, b"", 200, Vec::new()).is_err());
        let mut sealer = Sealer::begin(&KIND, b"", 2, Vec::new()).unwrap();
        assert!(sealer.part(b"abc").is_err());
        assert!(Sealer::begin(&KIND, b"", 2, Vec::new()).unwrap().end().is_err());
    }
}
