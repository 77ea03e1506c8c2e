//! The parts of the ELF-64 format (System V ABI, gABI chapters 4 and 5) that a ROM
//! uses, read from bytes that nobody vouches for.

use std::ops::Range;

use crate::error::RomError;

/// Lowest address that a segment of a ROM may have.
pub const ADDRESS_MIN: u64 = 0x2000_0000;
/// First address past the room of a ROM.
pub const ADDRESS_END: u64 = 0x2800_0000;
/// Segments are whole pages of this many bytes, so that they can be mapped.
pub const PAGE_BYTES: u64 = 4096;

const HEADER_BYTES: usize = 64;
const PROGRAM_HEADER_BYTES: usize = 56;
const PROGRAM_HEADERS_MAX: usize = 16;
const EXECUTABLE: u16 = 2;
const MACHINE_X86_64: u16 = 62;
const LOAD: u32 = 1;
const STACK: u32 = 0x6474_e551;

/// What may be done with the memory of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Constants.
    Read,
    /// Code.
    ReadExecute,
    /// Variables.
    ReadWrite,
}

/// One piece of memory that a ROM asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Where it lies, a multiple of [`PAGE_BYTES`].
    pub address: u64,
    /// Its size in bytes; what the file doesn't fill is zero.
    pub memory_bytes: u64,
    /// Where its first bytes lie in the file; begins at a multiple of [`PAGE_BYTES`].
    pub file: Range<usize>,
    /// What may be done with it.
    pub access: Access,
}

/// The checked skeleton of an ELF file.
#[derive(Debug, Clone)]
pub(crate) struct Elf {
    /// In rising order of address, on pages of their own.
    pub(crate) segments: Vec<Segment>,
    /// The entry address.
    pub(crate) entry: u64,
}

impl Elf {
    /// Checks the file header and every program header.
    ///
    /// # Errors
    /// Anything but a static x86-64 executable whose segments are page-aligned, apart
    /// from each other, inside the room of a ROM and never both written and executed.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, RomError> {
        let not_rom = |reason| RomError::NotRom { reason };
        if bytes.len() < HEADER_BYTES {
            return Err(not_rom("it is shorter than an ELF header"));
        }
        if !bytes.starts_with(b"\x7fELF") {
            return Err(not_rom("it is not an ELF file"));
        }
        if bytes[4..7] != [2, 1, 1] {
            return Err(not_rom("it is not a 64-bit little-endian ELF file of version 1"));
        }
        if u16_at(bytes, 16) != Some(EXECUTABLE) || u16_at(bytes, 18) != Some(MACHINE_X86_64) {
            return Err(not_rom("it is not an x86-64 executable at fixed addresses"));
        }
        let (Some(entry), Some(table), Some(size), Some(count)) =
            (u64_at(bytes, 24), usize_at(bytes, 32), u16_at(bytes, 54), u16_at(bytes, 56))
        else {
            return Err(not_rom("its header is cut short"));
        };
        let count = usize::from(count);
        if usize::from(size) != PROGRAM_HEADER_BYTES || count > PROGRAM_HEADERS_MAX {
            return Err(not_rom("its program header table has an odd shape"));
        }
        let headers = table.checked_add(count * PROGRAM_HEADER_BYTES).and_then(|end| bytes.get(table..end));
        let headers = headers.ok_or(not_rom("its program header table is cut short"))?;
        let mut segments: Vec<Segment> = Vec::new();
        for (index, header) in headers.chunks_exact(PROGRAM_HEADER_BYTES).enumerate() {
            let segment = read_segment(header, bytes.len());
            let segment = segment.and_then(|segment| in_order(segment, segments.last()));
            segments.extend(segment.map_err(|reason| RomError::Segment { index, reason })?);
        }
        if segments.is_empty() {
            return Err(not_rom("it has no segment"));
        }
        Ok(Self { segments, entry })
    }

    /// Where in the file the `count` bytes at `address` lie, if they all do.
    pub(crate) fn file_range(&self, address: u64, count: usize) -> Option<Range<usize>> {
        self.segments.iter().find_map(|segment| {
            let offset = usize::try_from(address.checked_sub(segment.address)?).ok()?;
            let start = segment.file.start.checked_add(offset)?;
            let end = start.checked_add(count)?;
            (end <= segment.file.end).then_some(start..end)
        })
    }
}

/// One program header as a segment; `None` for those that ask for no memory.
fn read_segment(header: &[u8], file_bytes: usize) -> Result<Option<Segment>, &'static str> {
    let cut = "its header is cut short";
    let kind = u32_at(header, 0).ok_or(cut)?;
    let flags = u32_at(header, 4).ok_or(cut)?;
    let offset = usize_at(header, 8).ok_or(cut)?;
    let address = u64_at(header, 16).ok_or(cut)?;
    let in_file = usize_at(header, 32).ok_or(cut)?;
    let memory_bytes = u64_at(header, 40).ok_or(cut)?;
    match kind {
        LOAD => {}
        STACK if flags & 1 == 0 => return Ok(None),
        STACK => return Err("it asks for an executable stack"),
        _ => return Err("it asks for more than memory: an interpreter, relocation or threads"),
    }
    let access = match flags {
        4 => Access::Read,
        5 => Access::ReadExecute,
        6 => Access::ReadWrite,
        _ => return Err("its access is neither r--, r-x nor rw-"),
    };
    let file_end = offset.checked_add(in_file).filter(|end| *end <= file_bytes);
    let file_end = file_end.ok_or("its bytes lie past the end of the file")?;
    if in_file as u64 > memory_bytes {
        return Err("it has more bytes in the file than in memory");
    }
    if memory_bytes == 0 {
        return Ok(None);
    }
    if (in_file as u64) < memory_bytes && access != Access::ReadWrite {
        return Err("it asks for zeroes that nobody could write");
    }
    if !address.is_multiple_of(PAGE_BYTES) || !(offset as u64).is_multiple_of(PAGE_BYTES) {
        return Err("it does not begin on a page");
    }
    let end = address.checked_add(memory_bytes);
    if address < ADDRESS_MIN || end.is_none_or(|end| end > ADDRESS_END) {
        return Err("it lies outside the room of a ROM");
    }
    Ok(Some(Segment { address, memory_bytes, file: offset..file_end, access }))
}

fn in_order(segment: Option<Segment>, before: Option<&Segment>) -> Result<Option<Segment>, &'static str> {
    if let (Some(segment), Some(before)) = (&segment, before) {
        // Neither sum can overflow: both segments lie inside the room.
        let free_from = (before.address + before.memory_bytes).next_multiple_of(PAGE_BYTES);
        if segment.address < free_from {
            return Err("it overlaps the segment before it, or comes before it");
        }
    }
    Ok(segment)
}

pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    array_at(bytes, offset).map(u16::from_le_bytes)
}

pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    array_at(bytes, offset).map(u32::from_le_bytes)
}

pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    array_at(bytes, offset).map(u64::from_le_bytes)
}

pub(crate) fn usize_at(bytes: &[u8], offset: usize) -> Option<usize> {
    u64_at(bytes, offset).and_then(|value| usize::try_from(value).ok())
}

fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()
}
