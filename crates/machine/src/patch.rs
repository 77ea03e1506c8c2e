//! Changed lines in few bytes: which lines, which words of each, which bytes of each, and those bytes.
//!
//! Four streams, one for each of these, since each is like itself and unlike the others: how many lines were left out
//! (varint), a bit for each word of 8 bytes, a bit for each byte of a changed word, the new bytes.

use crate::lines::{LINE, Line};

/// A word of a line.
const WORD: usize = 8;

/// Takes changed lines, which must come in order.
#[derive(Default)]
pub(crate) struct Patch {
    pub(crate) gaps: Vec<u8>,
    pub(crate) words: Vec<u8>,
    pub(crate) masks: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
    next: usize,
    pub(crate) check: Check,
}

/// A check over the old and the new bytes of every changed line: it tells a wrong base, and damage.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Check(u64);

impl Check {
    fn add(&mut self, line: &Line) {
        for word in line.as_chunks::<WORD>().0 {
            self.0 = (self.0 ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 ^= self.0 >> 29;
        }
    }

    /// The four bytes that are stored.
    pub(crate) fn bytes(self) -> [u8; 4] {
        let [a, b, c, d, ..] = (self.0 ^ self.0 >> 32).to_le_bytes();
        [a, b, c, d]
    }
}

/// Appends a number in 7-bit groups, the lowest first.
pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number off the front.
pub(crate) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Takes a byte off the front.
pub(crate) fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (&byte, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(byte)
}

impl Patch {
    /// Forgets all, but for the room that it has.
    pub(crate) fn clear(&mut self) {
        [&mut self.gaps, &mut self.words, &mut self.masks, &mut self.bytes].into_iter().for_each(Vec::clear);
        (self.next, self.check) = (0, Check::default());
    }

    /// How many bytes there are so far.
    pub(crate) fn len(&self) -> usize {
        self.gaps.len() + self.words.len() + self.masks.len() + self.bytes.len()
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, line: usize, old: &Line, new: &Line) {
        put_number(&mut self.gaps, (line - self.next) as u64);
        self.next = line + 1;
        self.check.add(old);
        self.check.add(new);
        let mut words = 0;
        let pairs = old.as_chunks::<WORD>().0.iter().zip(new.as_chunks::<WORD>().0);
        for (index, (old, new)) in pairs.enumerate() {
            let difference = u64::from_le_bytes(*old) ^ u64::from_le_bytes(*new);
            if difference == 0 {
                continue;
            }
            words |= 1 << index;
            let mut mask = 0;
            for (place, (changed, byte)) in difference.to_le_bytes().into_iter().zip(new).enumerate() {
                if changed != 0 {
                    mask |= 1 << place;
                    self.bytes.push(*byte);
                }
            }
            self.masks.push(mask);
        }
        self.words.push(words);
    }
}

/// The streams of a patch, while they are read.
pub(crate) struct Streams<'a> {
    pub(crate) gaps: &'a [u8],
    pub(crate) words: &'a [u8],
    pub(crate) masks: &'a [u8],
    pub(crate) bytes: &'a [u8],
    next: usize,
    pub(crate) check: Check,
}

impl<'a> Streams<'a> {
    pub(crate) fn new([gaps, words, masks, bytes]: [&'a [u8]; 4]) -> Self {
        Self { gaps, words, masks, bytes, next: 0, check: Check::default() }
    }

    /// The number of the next line.
    pub(crate) fn next_line(&mut self) -> Option<usize> {
        let gap = usize::try_from(take_number(&mut self.gaps)?).ok()?;
        let line = self.next.checked_add(gap)?;
        self.next = line.checked_add(1)?;
        Some(line)
    }

    /// Changes the line whose number was asked for last.
    pub(crate) fn change(&mut self, line: &mut Line) -> Option<()> {
        self.check.add(line);
        let words = take_byte(&mut self.words)?;
        for (index, word) in line.as_chunks_mut::<WORD>().0.iter_mut().enumerate() {
            if words >> index & 1 == 0 {
                continue;
            }
            let mask = take_byte(&mut self.masks)?;
            for (place, byte) in word.iter_mut().enumerate() {
                if mask >> place & 1 == 1 {
                    *byte = take_byte(&mut self.bytes)?;
                }
            }
        }
        self.check.add(line);
        Some(())
    }

    /// True when all is used up.
    pub(crate) fn is_done(&self) -> bool {
        [self.gaps, self.words, self.masks, self.bytes].iter().all(|stream| stream.is_empty())
    }
}

const _: () = assert!(LINE == 8 * WORD, "a bit for each word");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            let mut rest = bytes.as_slice();
            assert_eq!((take_number(&mut rest), rest.len()), (Some(number), 0));
            bytes.pop();
            assert_eq!(take_number(&mut bytes.as_slice()), None);
        }
        assert_eq!(take_number(&mut [0xff; 11].as_slice()), None);
    }

    #[test]
    fn a_patched_line_is_the_new_one() {
        let old: Line = std::array::from_fn(|index| index as u8);
        let mut new = old;
        (new[0], new[17], new[63]) = (9, 0, 1);
        let mut patch = Patch::default();
        patch.add(5, &old, &new);
        patch.add(7, &new, &old);
        let mut streams = Streams::new([&patch.gaps, &patch.words, &patch.masks, &patch.bytes]);
        let mut line = old;
        assert_eq!((streams.next_line(), streams.change(&mut line)), (Some(5), Some(())));
        assert_eq!(line, new);
        assert_eq!((streams.next_line(), streams.change(&mut line)), (Some(7), Some(())));
        assert_eq!(line, old);
        assert!(streams.is_done() && streams.check == patch.check && streams.next_line().is_none());
        let mut other = Streams::new([&patch.gaps, &patch.words, &patch.masks, &patch.bytes]);
        let mut wrong = new;
        assert_eq!((other.next_line(), other.change(&mut wrong)), (Some(5), Some(())));
        assert!(other.check != patch.check);
    }
}
