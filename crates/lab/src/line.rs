use std::sync::Arc;

use wire::{Boundary, Key, PlayDigest, Seed, StateDigest};

use crate::chunked::Chunked;
use crate::store::Checkpoint;
use crate::trail::{Beginning, Trail};
use crate::{Reseed, Step};

/// All inputs of a machine since power-on, with what happened between them. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    steps: Chunked<Step>,
    reseeds: Vec<Reseed>,
    marks: Chunked<Mark>,
    /// States on the way, each before a reseed at its boundary.
    trail: Trail,
}

/// Whole digests at a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) at: Boundary,
    pub(crate) play: PlayDigest,
    pub(crate) state: StateDigest,
}

/// What can be done in one go from a boundary on: a reseed, perhaps, and then keys up to the next reseed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leg {
    pub(crate) from: Boundary,
    pub(crate) luck: Option<(Seed, Seed)>,
    pub(crate) steps: Vec<Step>,
}

impl Leg {
    pub(crate) fn keys(&self) -> Vec<Key> {
        self.steps.iter().map(|step| step.key).collect()
    }
}

impl Line {
    /// The boundary at its end.
    pub(crate) fn end(&self) -> Boundary {
        Boundary(self.steps.len() as u64)
    }

    pub(crate) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Notes new seeds at its end. A second reseed at one boundary takes the place of the first: it would undo it.
    pub(crate) fn reseed(&mut self, core: Seed, display: Seed) {
        let at = self.end();
        self.reseeds.retain(|reseed| reseed.at < at);
        self.marks = self.marks_before(at);
        self.reseeds.push(Reseed { at, core, display });
    }

    /// Notes whole digests at its end.
    pub(crate) fn mark(&mut self, play: PlayDigest, state: StateDigest) {
        let at = self.end();
        if self.last_mark().is_none_or(|mark| mark.at != at) {
            self.marks.push(Mark { at, play, state });
        }
    }

    pub(crate) fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.marks.from(0)
    }

    pub(crate) fn last_mark(&self) -> Option<Mark> {
        self.marks.get(self.marks.len().checked_sub(1)?).copied()
    }

    pub(crate) fn mark_at(&self, at: Boundary) -> Option<&Mark> {
        self.marks().find(|mark| mark.at == at)
    }

    pub(crate) fn reseeds(&self) -> &[Reseed] {
        &self.reseeds
    }

    pub(crate) fn steps_from(&self, from: Boundary) -> impl Iterator<Item = &Step> {
        self.steps.from(index(from))
    }

    pub(crate) fn step(&self, at: Boundary) -> Option<Step> {
        self.steps.get(index(at)).copied()
    }

    /// The line up to a boundary. A reseed at that boundary belongs to what comes after, and so do digests after it.
    pub(crate) fn prefix(&self, end: Boundary) -> Self {
        let reseeded = self.reseeds.iter().any(|reseed| reseed.at == end);
        Self {
            steps: self.steps.prefix(index(end)),
            reseeds: self.reseeds.iter().filter(|reseed| reseed.at < end).copied().collect(),
            marks: self.marks_before(if reseeded { end } else { end.next() }),
            trail: self.trail.prefix(end),
        }
    }

    /// This line and what another, of which it is a beginning, holds from its end on. The other's checkpoints are left
    /// out.
    pub(crate) fn followed_by(mut self, other: &Self) -> Self {
        let start = self.end();
        let mut reseeds = other.reseeds.iter().filter(|reseed| reseed.at >= start).peekable();
        let mut marks = other.marks().filter(|mark| mark.at >= start).peekable();
        let mut steps = other.steps_from(start);
        loop {
            let at = self.end();
            if let Some(reseed) = reseeds.next_if(|reseed| reseed.at == at) {
                self.reseed(reseed.core, reseed.display);
            }
            if let Some(mark) = marks.next_if(|mark| mark.at == at) {
                self.mark(mark.play, mark.state);
            }
            match steps.next() {
                Some(step) => self.push(*step),
                None => return self,
            }
        }
    }

    /// Whether the state at its end should become a checkpoint. One after a reseed there would leave none before it.
    pub(crate) fn wants_checkpoint(&self) -> bool {
        self.trail.is_due(self.end()) && self.reseeds.last().is_none_or(|reseed| reseed.at < self.end())
    }

    /// Whether a replay of it should leave a checkpoint at a boundary that lies beyond all that it has.
    pub(crate) fn wants_checkpoint_at(&self, at: Boundary) -> bool {
        self.trail.is_due_on_the_way(at, self.end()) && self.reseeds.iter().all(|reseed| reseed.at != at)
    }

    pub(crate) fn add_checkpoint(&mut self, at: Boundary, checkpoint: Arc<Checkpoint>) {
        self.trail.add(at, checkpoint, self.end());
    }

    /// The state nearest before its end from which the end can be reached again; absent where that is power-on.
    pub(crate) fn beginning(&self) -> Option<Beginning> {
        self.trail.before(self.end())
    }

    /// Has the states on the way that another line has up to `common`, which both have in common.
    pub(crate) fn share_trail(&mut self, other: &Self, common: Boundary) {
        self.trail = other.trail.prefix(common);
    }

    /// How many inputs it has.
    pub(crate) fn steps_count(&self) -> usize {
        self.steps.len()
    }

    /// True for a line without inputs or reseeds.
    pub(crate) fn is_new(&self) -> bool {
        self.end() == Boundary(0) && self.reseeds.is_empty()
    }

    /// Forgets checkpoints beyond a boundary.
    pub(crate) fn cut_trail(&mut self, end: Boundary) {
        self.trail = self.trail.prefix(end);
    }

    fn marks_before(&self, end: Boundary) -> Chunked<Mark> {
        self.marks.prefix(self.marks.from(0).take_while(|mark| mark.at < end).count())
    }

    /// The last boundary up to which both lines are one.
    pub(crate) fn common(&self, other: &Self) -> Boundary {
        let steps = Boundary(self.steps.common(&other.steps) as u64);
        let same = self.common_reseeds(other);
        let parted = [self.reseeds.get(same), other.reseeds.get(same)];
        parted.into_iter().flatten().map(|reseed| reseed.at).fold(steps, Boundary::min)
    }

    /// How many reseeds both lines have in common.
    pub(crate) fn common_reseeds(&self, other: &Self) -> usize {
        self.reseeds.iter().zip(&other.reseeds).take_while(|(a, b)| a == b).count()
    }

    /// The reseeds that this line has after its common part with another.
    pub(crate) fn reseeds_beyond(&self, other: &Self) -> &[Reseed] {
        let common = self.common(other);
        let shared =
            self.reseeds.iter().take(self.common_reseeds(other)).take_while(|reseed| reseed.at <= common).count();
        self.reseeds.get(shared..).unwrap_or_default()
    }

    /// The legs that lead from a boundary to the end, none longer than `keys_max` keys, and each ending where `cuts`
    /// holds its end. `skip_reseed` leaves out a reseed at `from`, where the state to start from already has it.
    pub(crate) fn legs(&self, from: Boundary, skip_reseed: bool, keys_max: usize) -> Vec<Leg> {
        let mut legs: Vec<Leg> = Vec::new();
        let mut reseeds = self
            .reseeds
            .iter()
            .filter(|reseed| if skip_reseed { reseed.at > from } else { reseed.at >= from })
            .peekable();
        let mut marks = self.marks().map(|mark| mark.at).skip_while(|at| *at <= from).peekable();
        let mut at = from;
        loop {
            let luck = reseeds.next_if(|reseed| reseed.at == at).map(|r| (r.core, r.display));
            let cut = marks.next_if_eq(&at).is_some();
            let full = legs.last().is_none_or(|leg| leg.steps.len() >= keys_max.max(1));
            let step = self.step(at);
            if luck.is_some() || ((cut || full) && step.is_some()) {
                legs.push(Leg { from: at, luck, steps: Vec::new() });
            }
            let (Some(step), Some(leg)) = (step, legs.last_mut()) else {
                return legs;
            };
            leg.steps.push(step);
            at = at.next();
        }
    }
}

fn index(boundary: Boundary) -> usize {
    usize::try_from(boundary.0).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use wire::Check;

    use super::*;

    fn line(text: &str) -> Line {
        let mut line = Line::default();
        extend(&mut line, text);
        line
    }

    fn extend(line: &mut Line, text: &str) {
        for byte in text.bytes() {
            if byte.is_ascii_digit() {
                line.reseed(Seed(u64::from(byte)), Seed(0));
            } else {
                line.push(Step { key: Key(byte), check: Check(u32::from(byte)) });
            }
        }
    }

    #[test]
    fn lines_part_at_the_first_key_or_reseed_that_differs() {
        let rows = [
            ("abc", "abd", 2, 0),
            ("abc", "abc", 3, 0),
            ("ab", "abc", 2, 0),
            ("ab1c", "abc", 2, 1),
            ("ab1c", "ab2c", 2, 1),
            ("ab1c", "ab1d", 2, 0),
            ("a1b2c", "a1b3c", 2, 1),
            ("a1bc", "a1bc4", 3, 0),
            ("abc4", "abc", 3, 1),
            ("1a", "a", 0, 1),
            ("", "abc", 0, 0),
        ];
        for (a, b, common, beyond) in rows {
            let (left, right) = (line(a), line(b));
            assert_eq!(left.common(&right), Boundary(common), "{a} {b}");
            assert_eq!(right.common(&left), Boundary(common), "{b} {a}");
            assert_eq!(left.reseeds_beyond(&right).len(), beyond, "{a} {b}");
        }
    }

    #[test]
    fn legs_lead_over_the_whole_line() {
        for (text, from, skip, keys_max, shape) in [
            ("abcde", 0, false, 2, "ab cd e"),
            ("abcde", 3, false, 9, "de"),
            ("ab1cd", 0, false, 9, "ab 1cd"),
            ("1abcd", 0, false, 9, "1abcd"),
            ("1abcd", 0, true, 9, "abcd"),
            ("ab1cd2", 2, false, 9, "1cd 2"),
            ("ab1cd2", 2, true, 9, "cd 2"),
            ("ab12c", 0, false, 1, "a b 2c"),
            ("", 0, false, 9, ""),
            ("ab", 2, false, 9, ""),
        ] {
            let legs = line(text).legs(Boundary(from), skip, keys_max);
            let shown: Vec<String> = legs
                .iter()
                .map(|leg| {
                    let luck = leg.luck.map(|(core, _)| core.0 as u8 as char);
                    luck.into_iter().chain(leg.keys().into_iter().map(|key| char::from(key.0))).collect()
                })
                .collect();
            assert_eq!(shown.join(" "), shape, "{text} from {from}");
        }
    }

    #[test]
    fn a_prefix_and_what_follows_are_the_whole() {
        for text in ["abc", "ab1c", "1ab", "ab1", "a1b2c3", "1", ""] {
            let mut whole = line(text);
            whole.mark(PlayDigest([1; 16]), StateDigest([1; 32]));
            extend(&mut whole, "x4y");
            whole.mark(PlayDigest([2; 16]), StateDigest([2; 32]));
            for end in 0..=whole.end().0 {
                let again = whole.prefix(Boundary(end)).followed_by(&whole);
                assert_eq!((again.end(), again.common(&whole)), (whole.end(), whole.end()), "{text} at {end}");
                assert_eq!(again.reseeds(), whole.reseeds(), "{text} at {end}");
                assert!(again.marks().eq(whole.marks()), "{text} at {end}");
            }
        }
    }

    #[test]
    fn a_prefix_keeps_marks_and_drops_reseeds_at_its_end() {
        let mut whole = line("ab");
        whole.mark(PlayDigest([1; 16]), StateDigest([1; 32]));
        extend(&mut whole, "cd3e");
        let prefix = whole.prefix(Boundary(2));
        assert_eq!(prefix.marks().count(), 1);
        assert_eq!(whole.prefix(Boundary(1)).marks().count(), 0);
        assert!(whole.prefix(Boundary(4)).reseeds().is_empty());
        assert_eq!(whole.prefix(Boundary(5)).reseeds().len(), 1);
        assert_eq!(whole.common(&prefix), Boundary(2));
        let legs = whole.legs(Boundary(0), false, 9);
        assert_eq!(legs.iter().map(|leg| leg.steps.len()).collect::<Vec<_>>(), [2, 2, 1]);
        // Digests after a reseed are not those of the arrival.
        whole.reseed(Seed(1), Seed(1));
        whole.mark(PlayDigest([2; 16]), StateDigest([2; 32]));
        assert_eq!((whole.marks().count(), whole.prefix(whole.end()).marks().count()), (2, 1));
    }
}
