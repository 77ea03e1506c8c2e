use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What memory goes back to the system in.
pub(crate) const PAGE: u64 = 4_096;
/// What room is given out in.
pub(crate) const UNIT: u64 = 64;

const WORD_BITS: u64 = u64::BITS as u64;

/// Who has which bytes of a memory: best fit in units, freed neighbours join, every step in logarithmic time.
///
/// It also knows which pages have been written since the system last had them, so that what is free and still takes
/// memory (*warm*) is known to the page.
#[derive(Debug)]
pub(crate) struct Space {
    /// Free ranges, offset to length, none touching another.
    by_offset: BTreeMap<u64, u64>,
    /// The same ranges, shortest first.
    by_length: BTreeSet<(u64, u64)>,
    /// A bit for each page that takes memory. Pages with a used byte all do.
    touched: Vec<u64>,
    used: u64,
    /// Pages that are wholly free and take memory.
    warm: u64,
}

/// Room for so many bytes.
pub(crate) fn room(bytes: u64) -> u64 {
    bytes.max(1).div_ceil(UNIT) * UNIT
}

impl Space {
    /// All free. `bytes` are whole pages.
    pub(crate) fn new(bytes: u64) -> Self {
        let mut space =
            Self { by_offset: BTreeMap::new(), by_length: BTreeSet::new(), touched: Vec::new(), used: 0, warm: 0 };
        if bytes > 0 {
            space.add_free(0, bytes);
        }
        space
    }

    /// Bytes in use.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Bytes that are free and take memory.
    pub(crate) fn warm(&self) -> u64 {
        self.warm * PAGE
    }

    /// Takes the start of the shortest range that is long enough; its offset.
    pub(crate) fn take(&mut self, room: u64) -> Option<u64> {
        let &(length, offset) = self.by_length.range((room, 0)..).next()?;
        self.remove_free(offset, length);
        if length > room {
            self.add_free(offset + room, length - room);
        }
        self.used += room;
        let whole = whole_pages(offset, offset + length);
        for page in whole.start..whole.end.min((offset + room).div_ceil(PAGE)) {
            if self.touch(page) {
                self.warm -= 1;
            }
        }
        Some(offset)
    }

    /// Takes room back that was given out.
    pub(crate) fn give_back(&mut self, offset: u64, room: u64) {
        self.used -= room;
        let (mut start, mut end) = (offset, offset + room);
        if let Some(&after) = self.by_offset.get(&end) {
            self.remove_free(end, after);
            end += after;
        }
        if let Some((&before, &length)) = self.by_offset.range(..offset).next_back()
            && before + length == offset
        {
            self.remove_free(before, length);
            start = before;
        }
        self.add_free(start, end - start);
        let whole = whole_pages(start, end);
        let first = whole.start.max(offset / PAGE);
        let last = whole.end.min((offset + room).div_ceil(PAGE));
        self.warm += last.saturating_sub(first);
    }

    /// Has free pages given back to the system, those of the longest ranges first, until no more than so many bytes of
    /// them take memory. `release` gets offset and length of each stretch.
    pub(crate) fn cool(&mut self, warm_max: u64, mut release: impl FnMut(u64, u64)) {
        let Self { by_length, touched, warm, .. } = self;
        for &(length, offset) in by_length.iter().rev() {
            if length < PAGE || *warm * PAGE <= warm_max {
                break;
            }
            let whole = whole_pages(offset, offset + length);
            let mut page = whole.start;
            while let Some(stretch) = next_touched(touched, page..whole.end) {
                release(stretch.start * PAGE, (stretch.end - stretch.start) * PAGE);
                stretch.clone().for_each(|page| clear(touched, page));
                *warm -= stretch.end - stretch.start;
                page = stretch.end;
            }
        }
    }

    fn add_free(&mut self, offset: u64, length: u64) {
        self.by_offset.insert(offset, length);
        self.by_length.insert((length, offset));
    }

    fn remove_free(&mut self, offset: u64, length: u64) {
        self.by_offset.remove(&offset);
        self.by_length.remove(&(length, offset));
    }

    /// Notes that a page takes memory; true when it did already.
    fn touch(&mut self, page: u64) -> bool {
        let word = index(page);
        if word >= self.touched.len() {
            self.touched.resize(word + 1, 0);
        }
        let bit = 1 << (page % WORD_BITS);
        let Some(word) = self.touched.get_mut(word) else { return false };
        let before = *word & bit != 0;
        *word |= bit;
        before
    }
}

/// The pages that lie wholly between two offsets; an empty range where there are none.
fn whole_pages(start: u64, end: u64) -> Range<u64> {
    let first = start.div_ceil(PAGE);
    first..(end / PAGE).max(first)
}

fn index(page: u64) -> usize {
    usize::try_from(page / WORD_BITS).unwrap_or(usize::MAX)
}

fn is_touched(touched: &[u64], page: u64) -> bool {
    touched.get(index(page)).is_some_and(|word| word >> (page % WORD_BITS) & 1 == 1)
}

fn clear(touched: &mut [u64], page: u64) {
    if let Some(word) = touched.get_mut(index(page)) {
        *word &= !(1 << (page % WORD_BITS));
    }
}

/// The first stretch of touched pages.
fn next_touched(touched: &[u64], pages: Range<u64>) -> Option<Range<u64>> {
    let mut start = pages.start;
    loop {
        if start >= pages.end {
            return None;
        }
        // What lies beyond was never touched.
        let word = *touched.get(index(start))? >> (start % WORD_BITS);
        if word == 0 {
            start = (start / WORD_BITS + 1) * WORD_BITS;
            continue;
        }
        start += u64::from(word.trailing_zeros());
        break;
    }
    if start >= pages.end {
        return None;
    }
    let end = (start + 1..pages.end).find(|&page| !is_touched(touched, page)).unwrap_or(pages.end);
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by brute force: a byte of memory is a number, 0 where nobody has it.
    struct Model {
        owners: Vec<u32>,
        resident: BTreeSet<u64>,
        held: Vec<(u64, u64, u32)>,
    }

    const PAGES: u64 = 40;

    impl Model {
        fn units(offset: u64, room: u64) -> Range<usize> {
            (offset / UNIT) as usize..((offset + room) / UNIT) as usize
        }

        fn take(&mut self, offset: u64, room: u64, owner: u32) {
            let units = &mut self.owners[Self::units(offset, room)];
            assert!(units.iter().all(|unit| *unit == 0), "given out twice");
            units.fill(owner);
            self.resident.extend(offset / PAGE..(offset + room).div_ceil(PAGE));
            self.held.push((offset, room, owner));
        }

        fn release(&mut self, offset: u64, length: u64) {
            assert!(offset.is_multiple_of(PAGE) && length.is_multiple_of(PAGE) && length > 0);
            assert!(self.owners[Self::units(offset, length)].iter().all(|unit| *unit == 0), "somebody's page released");
            for page in offset / PAGE..(offset + length) / PAGE {
                assert!(self.resident.remove(&page), "released twice");
            }
        }

        fn check(&self, space: &Space) {
            let used = self.held.iter().map(|(_, room, _)| room).sum::<u64>();
            assert_eq!(space.used(), used);
            let free_pages = |page: &&u64| self.owners[Self::units(**page * PAGE, PAGE)].iter().all(|unit| *unit == 0);
            assert_eq!(space.warm(), self.resident.iter().filter(free_pages).count() as u64 * PAGE);
            assert_eq!(space.by_offset.len(), space.by_length.len());
            let free: u64 = space.by_offset.values().sum();
            assert_eq!(free + used, PAGES * PAGE);
        }
    }

    #[test]
    fn it_does_what_the_model_does() {
        for seed in 1..40_u64 {
            let mut random = super::super::tests::random(seed);
            let mut space = Space::new(PAGES * PAGE);
            let units = (PAGES * PAGE / UNIT) as usize;
            let mut model = Model { owners: vec![0; units], resident: BTreeSet::new(), held: Vec::new() };
            for step in 1..600_u32 {
                match random(10) {
                    0..=5 => {
                        let room = room(if random(4) == 0 { random(20_000) } else { random(700) });
                        match space.take(room) {
                            Some(offset) => model.take(offset, room, step),
                            None => assert!(space.by_offset.values().all(|length| *length < room)),
                        }
                    }
                    6..=8 if !model.held.is_empty() => {
                        let index = random(model.held.len() as u64) as usize;
                        let (offset, room, _) = model.held.swap_remove(index);
                        model.owners[Model::units(offset, room)].fill(0);
                        space.give_back(offset, room);
                    }
                    _ => {
                        let most = random(10) * PAGE;
                        space.cool(most, |offset, length| model.release(offset, length));
                        assert!(space.warm() <= most);
                    }
                }
                model.check(&space);
            }
            for (offset, room, _) in std::mem::take(&mut model.held) {
                model.owners[Model::units(offset, room)].fill(0);
                space.give_back(offset, room);
            }
            space.cool(0, |offset, length| model.release(offset, length));
            model.check(&space);
            assert!(model.resident.is_empty() && space.take(PAGES * PAGE) == Some(0), "seed {seed}");
        }
    }
}
