//! What the disk's head says of the rest of it: which bytes a change of a file touches.

use std::ops::Range;

use crate::contract::{DISK_BASE, EXTENT_CLASSES, FileEntry};
use crate::lines::LINE;

/// Where the tables of the disk's head are. They lie inside the head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskLayout {
    pub(crate) head_bytes: usize,
    pub(crate) files: usize,
    pub(crate) files_max: usize,
    pub(crate) free: usize,
}

/// Free extents that are followed in one list before it is taken for a ring.
const FREE_MAX: usize = 4_096;

/// A file's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    bytes: u64,
    length: u64,
    capacity: u64,
    written: u64,
}

/// A file's bytes on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) start: usize,
    pub(crate) length: usize,
    pub(crate) capacity: usize,
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u64::from_le_bytes(*word))
}

impl DiskLayout {
    /// The place of a file by its slot, zero when there is none. Never fails: what is not on the disk is zero.
    fn place(&self, disk: &[u8], slot: usize) -> Place {
        let at = self.files + slot * size_of::<FileEntry>();
        let field = |offset: usize| word(disk, at + offset);
        Place {
            bytes: field(std::mem::offset_of!(FileEntry, bytes)),
            length: field(std::mem::offset_of!(FileEntry, length)),
            capacity: field(std::mem::offset_of!(FileEntry, capacity)),
            written: field(std::mem::offset_of!(FileEntry, written)),
        }
    }

    /// The extent of a place that has one on this disk; an error for one that is not as the BIOS makes them.
    fn extent(&self, disk: &[u8], place: Place) -> Result<Option<Extent>, ()> {
        if place.capacity == 0 {
            return Ok(None);
        }
        let start = place.bytes.checked_sub(DISK_BASE as u64).and_then(|start| usize::try_from(start).ok());
        let start = start.ok_or(())?;
        let capacity = usize::try_from(place.capacity).map_err(|_| ())?;
        let end = start.checked_add(capacity).ok_or(())?;
        let is_whole = start.is_multiple_of(LINE) && capacity.is_multiple_of(LINE);
        if start < self.head_bytes || end > disk.len() || !is_whole || place.length > place.capacity {
            return Err(());
        }
        Ok(Some(Extent { start, length: usize::try_from(place.length).map_err(|_| ())?, capacity }))
    }

    /// The files of at least this length that lie on the disk, by their places; none at all when the table is not as
    /// the BIOS keeps it.
    pub(crate) fn large_files(&self, disk: &[u8], length_min: usize) -> Vec<Extent> {
        let mut files = Vec::new();
        for slot in 0..self.files_max {
            match self.extent(disk, self.place(disk, slot)) {
                Ok(Some(extent)) if extent.length >= length_min => files.push(extent),
                Ok(_) => {}
                Err(()) => return Vec::new(),
            }
        }
        files.sort_unstable_by_key(|extent| extent.start);
        let apart = files.windows(2).all(|pair| pair[0].start + pair[0].capacity <= pair[1].start);
        if apart { files } else { Vec::new() }
    }

    /// The parts of a disk, in order and in whole lines, outside of which it holds what an earlier version of it held.
    /// Both are whole lines long. Everything, when one of the tables is not as the BIOS keeps it.
    pub(crate) fn changed_parts(&self, old: &[u8], new: &[u8]) -> Vec<Range<usize>> {
        self.try_changed_parts(old, new).unwrap_or_else(|()| std::iter::once(0..new.len()).collect())
    }

    fn try_changed_parts(&self, old: &[u8], new: &[u8]) -> Result<Vec<Range<usize>>, ()> {
        let mut parts = vec![0..self.head_bytes.min(new.len()), old.len().min(new.len())..new.len()];
        for slot in 0..self.files_max {
            let (before, after) = (self.place(old, slot), self.place(new, slot));
            if before != after {
                for (disk, place) in [(old, before), (new, after)] {
                    if let Some(extent) = self.extent(disk, place)? {
                        parts.push(extent.start..(extent.start + extent.capacity).min(new.len()));
                    }
                }
            }
        }
        // Nobody has these, but for the links.
        for class in 0..EXTENT_CLASSES {
            let mut link = word(new, self.free + 8 * class);
            for _ in 0..FREE_MAX {
                if link == 0 {
                    break;
                }
                let start =
                    link.checked_sub(DISK_BASE as u64).and_then(|start| usize::try_from(start).ok()).ok_or(())?;
                if !start.is_multiple_of(LINE) || start >= new.len() {
                    return Err(());
                }
                parts.push(start..start + LINE);
                link = word(new, start);
            }
            if link != 0 {
                return Err(());
            }
        }
        Ok(joined(parts))
    }
}

/// Sorts ranges and joins those that touch.
fn joined(mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    parts.retain(|part| !part.is_empty());
    parts.sort_unstable_by_key(|part| part.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(parts.len());
    for part in parts {
        match joined.last_mut() {
            Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
            _ => joined.push(part),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_in_order() {
        assert_eq!(joined(vec![128..192, 0..64, 64..64, 64..100, 190..256]), [0..100, 128..256]);
        assert!(joined(Vec::new()).is_empty());
    }

    #[test]
    fn a_table_that_is_nonsense_means_everything() {
        let layout = DiskLayout { head_bytes: 1_024, files: 256, files_max: 4, free: 24 };
        let quiet = vec![0; 2_048];
        let changed = |now: &[u8]| match layout.changed_parts(&quiet, now).as_slice() {
            [one] => one.clone(),
            several => panic!("{several:?}"),
        };
        assert_eq!(changed(&quiet), 0..1_024);
        for (at, value) in [(256 + 80, 512_u64), (24, 7), (24, DISK_BASE as u64 + 2_048), (24, DISK_BASE as u64 + 1)] {
            let mut wild = quiet.clone();
            wild[at..at + 8].copy_from_slice(&value.to_le_bytes());
            assert_eq!(changed(&wild), 0..2_048, "{at} {value}");
        }
        let mut ring = quiet.clone();
        let address = (DISK_BASE as u64 + 1_024).to_le_bytes();
        ring[24..32].copy_from_slice(&address);
        ring[1_024..1_032].copy_from_slice(&address);
        assert_eq!(changed(&ring), 0..2_048);
    }
}
