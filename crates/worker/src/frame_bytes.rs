//! Frames between processes: the ROM's bytes, with runs of equal words written once.
//!
//! Most of a frame is empty screen and blank map. Packed, it takes a fifth of the memory, and memory that a host
//! touches for the first time is what lines with frames cost it most.

use machine::{FRAME_BYTES_MAX, FrameError};
use wire::Frame;

/// Bytes of a word.
const WORD: usize = 8;
/// The fewest equal words that are worth a run.
const RUN_MIN: usize = 3;
/// How many bytes it may take to say how long the frame is.
const LENGTH_BYTES: usize = 4;
/// Words as they are and equal words, each counted in two bytes.
const COUNT_BYTES: usize = 2;
const COUNT_MAX: usize = u16::MAX as usize;

/// The most bytes of a packed frame: one that has no runs.
pub(crate) const PACKED_BYTES_MAX: usize =
    FRAME_BYTES_MAX + LENGTH_BYTES + (FRAME_BYTES_MAX / WORD / COUNT_MAX + 2) * 16;

/// A frame as a worker sent it, to be read on demand.
#[derive(Clone, PartialEq, Eq)]
pub struct FrameBytes(pub(crate) Box<[u8]>);

impl FrameBytes {
    /// Reads the frame.
    ///
    /// # Errors
    /// Bytes that are no frame, which a worker sends only when its engine or its ROM is broken.
    pub fn decode(&self) -> Result<Frame, FrameError> {
        let mut bytes = Vec::new();
        // What is cut short is no frame either, and its reader says so.
        unpack(&self.0, &mut bytes).unwrap_or_else(|| bytes.clear());
        machine::decode_frame(&bytes)
    }

    /// How many bytes it takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
}

impl std::fmt::Debug for FrameBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FrameBytes({} bytes)", self.0.len())
    }
}

/// Packs a frame: its length (4 bytes, little-endian); then, until all words are told: how many words follow as they
/// are, how many equal ones after them (2 bytes each), the words, the one that is repeated where there is any; at the
/// end what is left of the last word.
pub(crate) fn pack(bytes: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    let (words, tail) = bytes.as_chunks::<WORD>();
    let mut plain = 0;
    let mut at = 0;
    while at + RUN_MIN <= words.len() {
        if words[at] != words[at + 1] || words[at] != words[at + 2] {
            at += 1;
            continue;
        }
        let run = words[at..].iter().take(COUNT_MAX).take_while(|word| **word == words[at]).count();
        put(&words[plain..at], Some((run, &words[at])), out);
        at += run;
        plain = at;
    }
    if plain < words.len() {
        put(&words[plain..], None, out);
    }
    out.extend_from_slice(tail);
}

fn put(plain: &[[u8; WORD]], run: Option<(usize, &[u8; WORD])>, out: &mut Vec<u8>) {
    let count = |count: usize| u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes();
    let mut parts = plain.chunks(COUNT_MAX);
    let last = if plain.len().is_multiple_of(COUNT_MAX) && run.is_some() { None } else { parts.next_back() };
    for part in parts {
        out.extend_from_slice(&count(part.len()));
        out.extend_from_slice(&count(0));
        out.extend_from_slice(part.as_flattened());
    }
    let last = last.unwrap_or_default();
    out.extend_from_slice(&count(last.len()));
    out.extend_from_slice(&count(run.map_or(0, |(length, _)| length)));
    out.extend_from_slice(last.as_flattened());
    if let Some((_, word)) = run {
        out.extend_from_slice(word);
    }
}

/// Appends the bytes that were packed; `None` when these are none, or too many, before more is allocated than a frame
/// may have.
pub(crate) fn unpack(packed: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (length, mut rest) = packed.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|length| *length <= FRAME_BYTES_MAX)?;
    out.reserve(length);
    let mut words = length / WORD;
    while words > 0 {
        let (counts, after) = rest.split_first_chunk::<{ 2 * COUNT_BYTES }>()?;
        let [a, b, c, d] = *counts;
        let (plain, run) = (usize::from(u16::from_le_bytes([a, b])), usize::from(u16::from_le_bytes([c, d])));
        // A part that tells of nothing would let a few bytes keep the host busy for long.
        words = words.checked_sub(plain + run).filter(|_| plain + run > 0)?;
        let (here, after) = after.split_at_checked(plain * WORD)?;
        out.extend_from_slice(here);
        rest = after;
        if run > 0 {
            let (word, after) = rest.split_first_chunk::<WORD>()?;
            out.extend(std::iter::repeat_n(word, run).flatten());
            rest = after;
        }
    }
    (rest.len() == length % WORD).then(|| out.extend_from_slice(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(bytes: &[u8]) -> usize {
        let (mut packed, mut back) = (vec![7], Vec::new());
        pack(bytes, &mut packed);
        assert_eq!(unpack(&packed, &mut back), Some(()), "{} bytes", bytes.len());
        assert!(back == bytes, "{} bytes", bytes.len());
        assert!(packed.len() <= PACKED_BYTES_MAX);
        for cut in [0, 3, packed.len() / 2, packed.len() - 1] {
            if cut < packed.len() {
                assert_eq!(unpack(&packed[..cut], &mut Vec::new()), None, "{} bytes cut to {cut}", bytes.len());
            }
        }
        packed.push(0);
        assert_eq!(unpack(&packed, &mut Vec::new()), None, "a byte follows {} bytes", bytes.len());
        packed.len() - 1
    }

    #[test]
    fn what_was_packed_comes_back() {
        let distinct = |words: usize| (0..words as u64).flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
        for length in [0_usize, 1, 7, 8, 9, 23, 24, 25, 1_000] {
            round(&distinct(length.div_ceil(8))[..length]);
            round(&vec![b' '; length]);
        }
        assert_eq!(round(&[b' '; 8_000]), 4 + 4 + 8);
        // Counts at their end, with and without a run after them.
        for words in [COUNT_MAX - 1, COUNT_MAX, COUNT_MAX + 1, 2 * COUNT_MAX] {
            let plain = distinct(words);
            round(&plain);
            round(&[plain.clone(), vec![1; 80]].concat());
            round(&vec![9; words * WORD]);
            round(&[vec![9; words * WORD], plain].concat());
        }
        round(&distinct(FRAME_BYTES_MAX / WORD));
        let mut number = 1_u32;
        for length in 0..300 {
            let mixed: Vec<u8> = (0..length)
                .flat_map(|_| {
                    number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    vec![(number >> 24) as u8 & 1; (number >> 16) as usize & 31]
                })
                .collect();
            round(&mixed);
        }
    }

    #[test]
    fn what_is_not_packed_is_refused() {
        let long = |length: u32, rest: &[u8]| [&length.to_le_bytes()[..], rest].concat();
        let run = [0, 0, 255, 255, 1, 1, 1, 1, 1, 1, 1, 1];
        for bad in [
            vec![],
            vec![1, 0, 0],
            // More than a frame may have, and more words than it says.
            long(u32::MAX, &run),
            long(FRAME_BYTES_MAX as u32 + 1, &run),
            long(16, &run),
            // Words that are not there; a run without its word; parts of nothing.
            long(16, &[2, 0, 0, 0, 1]),
            long(16, &[0, 0, 2, 0, 1, 1]),
            long(16, &[0; 400]),
        ] {
            let mut out = Vec::new();
            assert_eq!(unpack(&bad, &mut out), None, "{bad:?}");
            assert!(out.capacity() <= FRAME_BYTES_MAX);
            assert!(FrameBytes(bad.into()).decode().is_err());
        }
    }
}
