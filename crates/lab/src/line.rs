use std::sync::Arc;

use wire::{Boundary, Event, Key, PlayDigest, StateDigest};

use crate::Step;
use crate::chunked::Chunked;
use crate::store::Checkpoint;
use crate::trail::{Beginning, Trail};

/// All inputs of a machine since power-on, with what happened between them. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    steps: Chunked<Step>,
    events: Vec<Happened>,
    marks: Chunked<Mark>,
    /// States on the way, each before any event at its boundary.
    trail: Trail,
}

/// What happened at a boundary, before its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Happened {
    pub(crate) at: Boundary,
    pub(crate) event: Event,
}

/// Whole digests at a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) at: Boundary,
    pub(crate) play: PlayDigest,
    pub(crate) state: StateDigest,
}

/// What can be done in one go from a boundary on: an event, perhaps, and then keys up to the next event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leg {
    pub(crate) from: Boundary,
    pub(crate) event: Option<Event>,
    pub(crate) steps: Vec<Step>,
    /// Another event happens where it ends, so that digests there are not of its end.
    pub(crate) before_event: bool,
}

impl Leg {
    fn new(from: Boundary, event: Option<Event>) -> Self {
        Self { from, event, steps: Vec::new(), before_event: false }
    }

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

    /// Notes an event at its end. A reseed takes the place of one right before it, which it would undo.
    pub(crate) fn happen(&mut self, event: Event) {
        let at = self.end();
        let is_reseed = |event: &Event| matches!(event, Event::Reseed { .. });
        if self.events.last().is_some_and(|last| last.at == at && is_reseed(&last.event) && is_reseed(&event)) {
            self.events.pop();
        }
        self.marks = self.marks_before(at);
        self.events.push(Happened { at, event });
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

    pub(crate) fn events(&self) -> &[Happened] {
        &self.events
    }

    /// How many reseeds and how many edits lie at a boundary or beyond it.
    pub(crate) fn counts_from(&self, from: Boundary) -> (u64, u64) {
        let beyond = self.events.iter().filter(|happened| happened.at >= from);
        beyond.fold((0, 0), |(reseeds, edits), happened| match happened.event {
            Event::Reseed { .. } => (reseeds + 1, edits),
            Event::Edit(_) => (reseeds, edits + 1),
        })
    }

    /// Whether anything happens at a boundary.
    pub(crate) fn happens_at(&self, at: Boundary) -> bool {
        self.events.iter().any(|happened| happened.at == at)
    }

    pub(crate) fn steps_from(&self, from: Boundary) -> impl Iterator<Item = &Step> {
        self.steps.from(index(from))
    }

    pub(crate) fn step(&self, at: Boundary) -> Option<Step> {
        self.steps.get(index(at)).copied()
    }

    /// The line up to a boundary. Events at that boundary belong to what comes after, and so do digests after them.
    pub(crate) fn prefix(&self, end: Boundary) -> Self {
        Self {
            steps: self.steps.prefix(index(end)),
            events: self.events.iter().filter(|happened| happened.at < end).cloned().collect(),
            marks: self.marks_before(if self.happens_at(end) { end } else { end.next() }),
            trail: self.trail.prefix(end),
        }
    }

    /// This line and what another, of which it is a beginning, holds from its end on. The other's checkpoints are left
    /// out.
    pub(crate) fn followed_by(mut self, other: &Self) -> Self {
        let start = self.end();
        let mut events = other.events.iter().filter(|happened| happened.at >= start).peekable();
        let mut marks = other.marks().filter(|mark| mark.at >= start).peekable();
        let mut steps = other.steps_from(start);
        loop {
            let at = self.end();
            while let Some(happened) = events.next_if(|happened| happened.at == at) {
                self.happen(happened.event.clone());
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

    /// Whether the state at its end should become a checkpoint. One after an event there would leave none before it.
    pub(crate) fn wants_checkpoint(&self) -> bool {
        self.trail.is_due(self.end()) && self.events.last().is_none_or(|happened| happened.at < self.end())
    }

    /// Whether a replay of it should leave a checkpoint at a boundary that lies beyond all that it has.
    pub(crate) fn wants_checkpoint_at(&self, at: Boundary) -> bool {
        self.trail.is_due_on_the_way(at, self.end()) && !self.happens_at(at)
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

    /// True for a line without inputs or events.
    pub(crate) fn is_new(&self) -> bool {
        self.end() == Boundary(0) && self.events.is_empty()
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
        let same = self.common_events(other);
        let parted = [self.events.get(same), other.events.get(same)];
        parted.into_iter().flatten().map(|happened| happened.at).fold(steps, Boundary::min)
    }

    /// How many events both lines have in common.
    fn common_events(&self, other: &Self) -> usize {
        self.events.iter().zip(&other.events).take_while(|(a, b)| a == b).count()
    }

    /// The events that this line has after its common part with another.
    pub(crate) fn events_beyond(&self, other: &Self) -> &[Happened] {
        let common = self.common(other);
        let alike = self.events.iter().take(self.common_events(other));
        let shared = alike.take_while(|happened| happened.at <= common).count();
        self.events.get(shared..).unwrap_or_default()
    }

    /// The legs that lead from a boundary to the end, none longer than `keys_max` keys, and each ending where `cuts`
    /// holds its end. `skip_events` leaves out events at `from`, where the state to start from already has them.
    pub(crate) fn legs(&self, from: Boundary, skip_events: bool, keys_max: usize) -> Vec<Leg> {
        let mut legs: Vec<Leg> = Vec::new();
        let first = if skip_events { from.next() } else { from };
        let mut events = self.events.iter().filter(|happened| happened.at >= first).peekable();
        let mut marks = self.marks().map(|mark| mark.at).skip_while(|at| *at <= from).peekable();
        let mut at = from;
        loop {
            let mut begun = false;
            while let Some(happened) = events.next_if(|happened| happened.at == at) {
                if let Some(last) = legs.last_mut() {
                    last.before_event = true;
                }
                legs.push(Leg::new(at, Some(happened.event.clone())));
                begun = true;
            }
            let cut = marks.next_if_eq(&at).is_some();
            let full = legs.last().is_none_or(|leg| leg.steps.len() >= keys_max.max(1));
            let step = self.step(at);
            if !begun && (cut || full) && step.is_some() {
                legs.push(Leg::new(at, None));
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
    use wire::{Check, Edit, Seed};

    use super::*;

    fn line(text: &str) -> Line {
        let mut line = Line::default();
        extend(&mut line, text);
        line
    }

    fn reseed(number: u8) -> Event {
        Event::Reseed { core: Seed(number.into()), display: Seed(0) }
    }

    fn extend(line: &mut Line, text: &str) {
        for byte in text.bytes() {
            if byte.is_ascii_digit() {
                line.happen(reseed(byte));
            } else if byte.is_ascii_uppercase() {
                line.happen(Event::Edit(Edit::Remove { id: byte.into() }));
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
            ("abA", "abB", 2, 1),
            ("abAAc", "abAc", 2, 1),
            ("ab1Ac", "ab1A2c", 2, 0),
            ("1a", "a", 0, 1),
            ("", "abc", 0, 0),
        ];
        for (a, b, common, beyond) in rows {
            let (left, right) = (line(a), line(b));
            assert_eq!(left.common(&right), Boundary(common), "{a} {b}");
            assert_eq!(right.common(&left), Boundary(common), "{b} {a}");
            assert_eq!(left.events_beyond(&right).len(), beyond, "{a} {b}");
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
            ("ab1A2BCc", 0, false, 9, "ab 1 A 2 B Cc"),
            ("ab1A2c", 2, true, 9, "c"),
            ("AAab", 0, false, 1, "A Aa b"),
            ("", 0, false, 9, ""),
            ("ab", 2, false, 9, ""),
        ] {
            let legs = line(text).legs(Boundary(from), skip, keys_max);
            let shown: Vec<String> = legs
                .iter()
                .map(|leg| {
                    let event = leg.event.as_ref().map(|event| match event {
                        Event::Reseed { core, .. } => core.0 as u8 as char,
                        Event::Edit(Edit::Remove { id }) => *id as u8 as char,
                        Event::Edit(edit) => panic!("{edit}"),
                    });
                    event.into_iter().chain(leg.keys().into_iter().map(|key| char::from(key.0))).collect()
                })
                .collect();
            assert_eq!(shown.join(" "), shape, "{text} from {from}");
            let follows = legs.iter().skip(1).map(|leg| leg.event.is_some()).chain([false]).take(legs.len());
            assert!(legs.iter().map(|leg| leg.before_event).eq(follows), "{text} from {from}");
        }
    }

    #[test]
    fn a_prefix_and_what_follows_are_the_whole() {
        for text in ["abc", "ab1c", "1ab", "ab1", "a1b2c3", "1", "A1Ab", "abAA", ""] {
            let mut whole = line(text);
            whole.mark(PlayDigest([1; 16]), StateDigest([1; 32]));
            extend(&mut whole, "x4y");
            whole.mark(PlayDigest([2; 16]), StateDigest([2; 32]));
            for end in 0..=whole.end().0 {
                let again = whole.prefix(Boundary(end)).followed_by(&whole);
                assert_eq!((again.end(), again.common(&whole)), (whole.end(), whole.end()), "{text} at {end}");
                assert_eq!(again.events(), whole.events(), "{text} at {end}");
                assert!(again.marks().eq(whole.marks()), "{text} at {end}");
            }
        }
    }

    #[test]
    fn a_prefix_keeps_marks_and_drops_events_at_its_end() {
        let mut whole = line("ab");
        whole.mark(PlayDigest([1; 16]), StateDigest([1; 32]));
        extend(&mut whole, "cd3e");
        let prefix = whole.prefix(Boundary(2));
        assert_eq!(prefix.marks().count(), 1);
        assert_eq!(whole.prefix(Boundary(1)).marks().count(), 0);
        assert!(whole.prefix(Boundary(4)).events().is_empty());
        assert_eq!(whole.prefix(Boundary(5)).events().len(), 1);
        assert_eq!(whole.common(&prefix), Boundary(2));
        let legs = whole.legs(Boundary(0), false, 9);
        assert_eq!(legs.iter().map(|leg| leg.steps.len()).collect::<Vec<_>>(), [2, 2, 1]);
        // Digests after a reseed are not those of the arrival.
        whole.happen(reseed(b'1'));
        whole.mark(PlayDigest([2; 16]), StateDigest([2; 32]));
        assert_eq!((whole.marks().count(), whole.prefix(whole.end()).marks().count()), (2, 1));
    }
}
