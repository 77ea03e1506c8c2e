//! Why a file is not a usable ROM.

use std::path::PathBuf;

use thiserror::Error;

/// Why bytes were refused as a ROM. Nothing of them has been used then.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RomError {
    /// The file could not be read.
    #[error("the ROM file {} can't be read", path.display())]
    Read {
        /// The file asked for.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// More bytes than any ROM has.
    #[error("a ROM holds at most {max} bytes, this file holds more")]
    TooLarge {
        /// The limit in bytes.
        max: u64,
    },
    /// Not a file of the kind that a ROM is: a static ELF executable for x86-64.
    #[error("not a ROM: {reason}")]
    NotRom {
        /// What is missing or out of place.
        reason: &'static str,
    },
    /// A segment that can't or must not be mapped.
    #[error("segment {index} of the ROM is refused: {reason}")]
    Segment {
        /// Its place in the program header table, from 0.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The ROM and this program speak different versions of the seam between them.
    #[error("the ROM speaks contract {found}, this program contract {supported}")]
    Contract {
        /// The ROM's version.
        found: u32,
        /// The one version that this program speaks.
        supported: u32,
    },
    /// What the ROM says about itself is unreadable.
    #[error("the ROM's {field} is unreadable: {reason}")]
    About {
        /// The field's name.
        field: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
}
