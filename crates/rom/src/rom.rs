//! A checked ROM.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use crate::elf::{Elf, Segment, u32_at, u64_at};
use crate::error::RomError;
use crate::symbols::Symbols;

/// The first bytes of a ROM's header, `ROM_MAGIC` of `bios/contract.h`.
pub const MAGIC: &[u8; 8] = b"NHLABROM";
/// The version of the seam that this program speaks, `ROM_CONTRACT` there.
pub const CONTRACT: u32 = 3;
/// More bytes are refused as a ROM.
pub const ROM_BYTES_MAX: u64 = 64 << 20;

/// Magic, contract, size of the header, five pointers to strings.
const HEADER_BYTES_MIN: usize = 56;
const HEADER_BYTES_MAX: usize = 4096;

/// What a ROM says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Digest of all that decides play, 64 hexadecimal digits.
    pub engine_id: String,
    /// The game's version, such as `3.6.7`.
    pub nethack_version: String,
    /// The release that it was built from, 64 hexadecimal digits.
    pub tarball_sha256: String,
    /// Compiler and linker.
    pub compiler: String,
    /// What the compiler was told for the game's own files.
    pub flags: String,
}

/// A built engine whose every header has been checked.
#[derive(Debug)]
pub struct Rom {
    bytes: Cow<'static, [u8]>,
    rom_id: String,
    elf: Elf,
    header_bytes: usize,
    about: About,
    symbols: OnceLock<Symbols>,
}

impl Rom {
    /// Reads and checks a ROM file.
    ///
    /// # Errors
    /// A file that can't be read, or that [`Rom::parse`] refuses.
    pub fn from_file(path: &Path) -> Result<Self, RomError> {
        let read = |source| RomError::Read { path: path.to_path_buf(), source };
        let mut bytes = Vec::new();
        // One byte over the limit is enough for parse to refuse it.
        File::open(path).map_err(read)?.take(ROM_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(read)?;
        Self::parse(bytes)
    }

    /// Checks the bytes of a ROM that nobody vouches for.
    ///
    /// # Errors
    /// Anything that could not be mapped and driven as it says.
    pub fn parse(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, RomError> {
        let bytes = bytes.into();
        if bytes.len() as u64 > ROM_BYTES_MAX {
            return Err(RomError::TooLarge { max: ROM_BYTES_MAX });
        }
        let hash = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Self::with_id(bytes, hash)
    }

    /// Checks bytes; `rom_id` gives the SHA-256 of those that pass.
    pub(crate) fn with_id(bytes: Cow<'static, [u8]>, rom_id: impl FnOnce(&[u8]) -> String) -> Result<Self, RomError> {
        let elf = Elf::parse(&bytes)?;
        let header_bytes = check_header(&bytes, &elf)?;
        let about = read_about(&bytes, &elf)?;
        let rom_id = rom_id(&bytes);
        Ok(Self { bytes, rom_id, elf, header_bytes, about, symbols: OnceLock::new() })
    }

    /// The whole file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The SHA-256 of the file, 64 hexadecimal digits.
    #[must_use]
    pub fn rom_id(&self) -> &str {
        &self.rom_id
    }

    /// Digest of all that decides play, 64 hexadecimal digits, as the ROM gives it.
    #[must_use]
    pub fn engine_id(&self) -> &str {
        &self.about.engine_id
    }

    /// The game's version, such as `3.6.7`, as the ROM gives it.
    #[must_use]
    pub fn nethack_version(&self) -> &str {
        &self.about.nethack_version
    }

    /// What the ROM says about itself.
    #[must_use]
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The memory that the ROM asks for, in rising order of address.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.elf.segments
    }

    /// The bytes that the file gives for a segment; the rest of it is zero.
    #[must_use]
    pub fn segment_bytes(&self, segment: &Segment) -> &[u8] {
        // A segment of another ROM may lie elsewhere.
        self.bytes.get(segment.file.clone()).unwrap_or_default()
    }

    /// The address of the ROM's header, which begins with [`MAGIC`].
    #[must_use]
    pub fn header_address(&self) -> u64 {
        self.elf.entry
    }

    /// The ROM's header as the file holds it, as long as it says it is.
    #[must_use]
    pub fn header(&self) -> &[u8] {
        self.read(self.elf.entry, self.header_bytes).unwrap_or_default()
    }

    /// The `count` bytes at an address, as the file holds them; `None` where they are
    /// not all in the file.
    #[must_use]
    pub fn read(&self, address: u64, count: usize) -> Option<&[u8]> {
        self.bytes.get(self.elf.file_range(address, count)?)
    }

    /// The ROM's symbols, for tests and profilers.
    #[must_use]
    pub fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::parse(&self.bytes))
    }
}

/// Checks magic and contract; hands out the size of the header.
fn check_header(bytes: &[u8], elf: &Elf) -> Result<usize, RomError> {
    let not_rom = |reason| RomError::NotRom { reason };
    let header = elf.file_range(elf.entry, HEADER_BYTES_MIN).and_then(|range| bytes.get(range));
    let header = header.ok_or(not_rom("its entry is not in the file"))?;
    if !header.starts_with(MAGIC) {
        return Err(not_rom("its entry does not hold a ROM header"));
    }
    let (Some(contract), Some(size)) = (u32_at(header, 8), u32_at(header, 12)) else {
        return Err(not_rom("its header is cut short"));
    };
    if contract != CONTRACT {
        return Err(RomError::Contract { found: contract, supported: CONTRACT });
    }
    let size = size as usize;
    if !(HEADER_BYTES_MIN..=HEADER_BYTES_MAX).contains(&size) || elf.file_range(elf.entry, size).is_none() {
        return Err(not_rom("its header has an impossible size"));
    }
    Ok(size)
}

fn read_about(bytes: &[u8], elf: &Elf) -> Result<About, RomError> {
    let text = |index: u64, field: &'static str, max: usize| {
        let pointer = elf.file_range(elf.entry + 16 + 8 * index, 8).and_then(|range| u64_at(bytes, range.start));
        let start = pointer.and_then(|address| elf.file_range(address, 1));
        let text = start.ok_or("it is not in the file").and_then(|start| string_at(bytes, start.start, max));
        text.map_err(|reason| RomError::About { field, reason })
    };
    let digest = |index, field| {
        let text = text(index, field, 64)?;
        let sound = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if sound { Ok(text) } else { Err(RomError::About { field, reason: "it is not a SHA-256" }) }
    };
    Ok(About {
        engine_id: digest(0, "engine id")?,
        nethack_version: text(1, "version", 32)?,
        tarball_sha256: digest(2, "tarball digest")?,
        compiler: text(3, "compiler", 512)?,
        flags: text(4, "flags", 8192)?,
    })
}

/// The printable text of 1 to `max` bytes that a zero byte ends.
fn string_at(bytes: &[u8], start: usize, max: usize) -> Result<String, &'static str> {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.iter().take(max + 1).position(|byte| *byte == 0).ok_or("it has no end")?;
    let text = &rest[..length];
    if text.is_empty() || !text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err("it is empty or not printable");
    }
    Ok(String::from_utf8_lossy(text).into_owned())
}
