//! A batch with conditions, beside the machine: what the host would do with a frame after every key is done in the
//! worker, where a frame costs next to nothing.

use lab::{Policy, Sight};
use serde::{Deserialize, Serialize};
use wire::{Asked, Batch, Frame, Key, OnMore, PendingKind, Segment, StopReason, accepts};

use crate::condition::{Condition, Sprung, Watch};

/// The name of the policy.
pub(crate) const WATCHED: &str = "watched-batch";

/// The most prompts in a row that are dismissed; as many as a batch does without conditions.
const DISMISSALS_IN_A_ROW_MAX: usize = 256;

/// Presses the keys of a batch as the worker's own batches do, until a condition holds.
#[derive(Default)]
pub(crate) struct Watched {
    /// The conditions as they were told, so that those of the next line need not be read again.
    told: Vec<u8>,
    watch: Watch,
    steps: Vec<Step>,
    /// Whether the batch ends with them, so that what is open then is dismissed too.
    is_last: bool,
    dismisses: bool,
    force: bool,
    turns_max: Option<u64>,
    course: Course,
    before: Frame,
}

/// A key of a batch with what its segment says of it.
struct Step {
    key: Key,
    expect: Option<PendingKind>,
    is_first: bool,
}

/// How far a line has come.
#[derive(Default)]
struct Course {
    has_begun: bool,
    turn_before: i64,
    used: usize,
    in_a_row: usize,
    /// What the last key has answered, and whether that was a place on the map.
    asked: Option<Asked>,
    was_place: bool,
    stop: Option<StopReason>,
    sprung: Option<Sprung>,
}

/// What the policy brings back.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct WatchedOutcome {
    /// The batch's own keys that were pressed.
    pub(crate) keys_used: usize,
    /// Why it stopped, unless the game ended or a condition held.
    pub(crate) stop: Option<StopReason>,
    /// The condition that held.
    pub(crate) sprung: Option<Sprung>,
    /// What its last key has answered, where the game may yet refuse it.
    pub(crate) asked: Option<Asked>,
}

/// The longest outcome that is read.
const OUTCOME_BYTES_MAX: usize = 16 << 10;

impl WatchedOutcome {
    /// Reads what a worker has brought back, if it is that.
    pub(crate) fn read(outcome: &[u8]) -> Option<Self> {
        serde_json::from_slice(outcome).ok().filter(|_| outcome.len() <= OUTCOME_BYTES_MAX)
    }
}

/// What the policy is told: conditions, their length before them, a batch, which of its keys to press (the first, and
/// how many; all without it), and what the key before them has answered.
///
/// # Errors
/// It would be longer than a policy can be told.
pub(crate) fn arguments(
    conditions: &[Condition],
    batch: &Batch,
    part: Option<(u32, u32)>,
    asked: Option<Asked>,
) -> Result<Vec<u8>, String> {
    let text = |error: postcard::Error| error.to_string();
    let conditions = postcard::to_stdvec(conditions).map_err(text)?;
    let length = u32::try_from(conditions.len()).map_err(|error| error.to_string())?;
    let keys = postcard::to_stdvec(&Cut { asked, ..cut(batch, part) }).map_err(text)?;
    Ok([length.to_le_bytes().as_slice(), &conditions, &keys].concat())
}

/// The keys of a batch that are to be pressed, with its rules.
#[derive(Serialize, Deserialize)]
struct Cut {
    batch: Batch,
    /// Whether its first key is not the first of its segment.
    is_within: bool,
    is_last: bool,
    asked: Option<Asked>,
}

/// A part of a batch: a long one is told in parts, so that each is short.
fn cut(batch: &Batch, part: Option<(u32, u32)>) -> Cut {
    let (from, count) = part.map_or((0, usize::MAX), |(from, count)| (from as usize, count as usize));
    let end = from.saturating_add(count);
    let (mut segments, mut at, mut is_within) = (Vec::new(), 0, false);
    for segment in &batch.segments {
        let start = at;
        at += segment.keys.len();
        let keys = segment.keys.iter().skip(from.saturating_sub(start)).take(end.saturating_sub(start.max(from)));
        let keys: Vec<Key> = keys.copied().collect();
        if !keys.is_empty() {
            is_within |= segments.is_empty() && start < from;
            segments.push(Segment { keys, expect: segment.expect });
        }
    }
    Cut { batch: Batch { segments, ..batch.clone() }, is_within, is_last: end >= at, asked: None }
}

/// The most keys that a batch presses with its dismissals. It bounds what a line may cost; more than one dismissal a key
/// is rare.
pub(crate) fn keys_max(batch: &Batch) -> u32 {
    let dismissals = if batch.on_more == OnMore::Dismiss { batch.len() + 32 } else { 0 };
    u32::try_from(batch.len() + dismissals + 1).unwrap_or(u32::MAX)
}

impl Watched {
    /// The policy. It must be made before the worker is shut in: the first table of an expression's names asks the
    /// system for random bytes.
    pub(crate) fn new() -> Self {
        let _ = crate::condition::expression("a");
        Self::default()
    }

    fn learn(&mut self, told: &[u8]) -> Result<(), String> {
        let (length, rest) = told.split_first_chunk::<4>().ok_or("no conditions")?;
        let length = u32::from_le_bytes(*length) as usize;
        let (conditions, batch) = rest.split_at_checked(length).ok_or("conditions that end early")?;
        if self.told != conditions {
            let read: Vec<Condition> = postcard::from_bytes(conditions).map_err(|error| error.to_string())?;
            self.told.clear();
            self.watch = Watch::new(read).map_err(|(index, reason)| format!("condition {index}: {reason}"))?;
            self.told.extend_from_slice(conditions);
        }
        let cut: Cut = postcard::from_bytes(batch).map_err(|error| error.to_string())?;
        let Cut { batch, is_within, is_last, asked } = cut;
        let steps = batch.segments.iter().flat_map(|segment| {
            let keys = segment.keys.iter().enumerate();
            keys.map(|(index, &key)| Step { key, expect: segment.expect, is_first: index == 0 })
        });
        self.steps = steps.collect();
        if let Some(first) = self.steps.first_mut() {
            first.is_first &= !is_within;
        }
        self.is_last = is_last;
        (self.dismisses, self.force) = (batch.on_more == OnMore::Dismiss, batch.force);
        self.turns_max = batch.turns_max;
        self.course = Course { asked, ..Course::default() };
        Ok(())
    }

    /// The next key, or the reason why there is none.
    fn choose(&mut self, frame: &Frame) -> Result<Key, StopReason> {
        if std::mem::take(&mut self.course.was_place) {
            let said = || frame.messages.iter().map(|message| message.text.as_str());
            self.course.asked = self.course.asked.take().filter(|asked| asked.is_refused_by(said()));
        }
        let Course { used, in_a_row, turn_before, .. } = self.course;
        let step = self.steps.get(used);
        let turns = u64::try_from(frame.turn - turn_before).unwrap_or(0);
        let is_late = step.is_some() && self.turns_max.is_some_and(|max| turns >= max);
        if is_late && in_a_row == 0 {
            return Err(StopReason::Turns);
        }
        if step.is_none() && !self.is_last {
            return Err(StopReason::Done);
        }
        let kind = frame.pending.as_ref().map(|pending| pending.kind);
        let is_open = matches!(kind, Some(PendingKind::More | PendingKind::Window));
        let is_meant = step.is_some_and(|step| step.expect == kind);
        if self.dismisses && is_open && !is_meant && in_a_row < DISMISSALS_IN_A_ROW_MAX {
            self.course.in_a_row += 1;
            return Ok(Key::ENTER);
        }
        let asked = self.course.asked.as_ref().zip(frame.pending.as_ref());
        let is_refused = asked.is_some_and(|(asked, pending)| asked.stands_again(pending, frame.turn));
        let Some(step) = step else {
            return Err(if is_refused { StopReason::NotAccepted } else { StopReason::Done });
        };
        if is_late {
            return Err(StopReason::Turns);
        }
        if !self.force {
            if is_refused || !step.is_meant(frame) {
                return Err(StopReason::NotAccepted);
            }
            let pending = frame.pending.as_ref();
            self.course.was_place = kind == Some(PendingKind::Position);
            let before = self.course.asked.take();
            self.course.asked = pending.and_then(|pending| Asked::after(before, pending, step.key, frame.turn));
        }
        self.course.used += 1;
        self.course.in_a_row = 0;
        Ok(step.key)
    }
}

impl Step {
    fn is_meant(&self, frame: &Frame) -> bool {
        let Some(pending) = &frame.pending else { return false };
        let expected = self.expect == Some(pending.kind);
        (expected || !self.is_first || self.expect.is_none()) && accepts(pending, self.key, expected)
    }
}

impl Policy for Watched {
    fn name(&self) -> &str {
        WATCHED
    }

    fn begin(&mut self, arguments: &[u8]) -> Result<(), String> {
        self.learn(arguments)
    }

    fn next(&mut self, sight: &Sight<'_>) -> Option<Key> {
        let frame = sight.frame();
        if self.course.has_begun {
            self.course.sprung = self.watch.look(&self.before, frame);
            if self.course.sprung.is_some() {
                return None;
            }
        } else {
            (self.course.has_begun, self.course.turn_before) = (true, frame.turn);
        }
        self.before.clone_from(frame);
        match self.choose(frame) {
            Ok(key) => Some(key),
            Err(stop) => {
                self.course.stop = Some(stop);
                None
            }
        }
    }

    fn outcome(&mut self, _: &Sight<'_>) -> Vec<u8> {
        let course = std::mem::take(&mut self.course);
        let asked = course.asked.filter(|_| !course.was_place);
        let outcome = WatchedOutcome { keys_used: course.used, stop: course.stop, sprung: course.sprung, asked };
        serde_json::to_vec(&outcome).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use wire::{Pending, Stage};

    use super::*;

    fn told(conditions: &[Condition], batch: &Batch) -> Vec<u8> {
        arguments(conditions, batch, None, None).unwrap()
    }

    fn frame(turn: i64, kind: Option<PendingKind>) -> Frame {
        let pending = kind.map(|kind| Pending {
            kind,
            stage: Stage::Play,
            prompt: "?".to_owned(),
            answers: "yn".to_owned(),
            default: None,
            capacity: None,
            typed: String::new(),
        });
        Frame { turn, pending, ..Frame::default() }
    }

    fn batch(on_more: OnMore) -> Batch {
        let choice = Segment { expect: Some(PendingKind::Choice), ..Segment::from_text("y").unwrap() };
        Batch { segments: vec![Segment::from_text("ab").unwrap(), choice], on_more, force: false, turns_max: Some(9) }
    }

    #[test]
    fn workers_are_given_the_policy_that_they_are_asked_for() {
        let policies = crate::policies();
        assert_eq!(policies.iter().map(|policy| policy.name()).collect::<Vec<_>>(), [WATCHED]);
    }

    #[test]
    fn keys_are_chosen_as_batches_choose_them() {
        use PendingKind::{Choice, Command, More};
        let enter = Ok(Key::ENTER);
        for (on_more, seen, last) in [
            (OnMore::Stop, vec![(1, Command), (1, Command), (1, Choice), (1, Command)], Err(StopReason::Done)),
            (OnMore::Stop, vec![(1, Command), (1, More)], Err(StopReason::NotAccepted)),
            (OnMore::Stop, vec![(1, Command), (1, Command), (1, Command)], Err(StopReason::NotAccepted)),
            (OnMore::Dismiss, vec![(1, Command), (1, More)], enter),
            (OnMore::Dismiss, vec![(1, Command), (1, More), (1, More), (1, Command)], Ok(Key(b'b'))),
            (OnMore::Stop, vec![(1, Command), (10, Command)], Err(StopReason::Turns)),
            (OnMore::Stop, vec![(1, Command), (9, Command)], Ok(Key(b'b'))),
            // What is being dismissed is dismissed to its end.
            (OnMore::Dismiss, vec![(1, Command), (1, More), (10, More)], enter),
            (OnMore::Dismiss, vec![(1, Command), (1, More), (10, Command)], Err(StopReason::Turns)),
            (OnMore::Dismiss, vec![(1, Command), (1, Command), (1, Choice), (99, More)], enter),
        ] {
            let mut policy = Watched::new();
            policy.learn(&told(&[], &batch(on_more))).unwrap();
            policy.course.turn_before = 1;
            let chosen: Vec<_> = seen.iter().map(|&(turn, kind)| policy.choose(&frame(turn, Some(kind)))).collect();
            assert_eq!(chosen.last(), Some(&last), "{on_more:?} {seen:?}: {chosen:?}");
        }
    }

    #[test]
    fn answers_that_are_refused_are_seen_as_batches_see_them() {
        use PendingKind::{Command, Item, More, Position};
        let keys = Segment::from_text("wzF").unwrap();
        let keys = Batch { segments: vec![keys], on_more: OnMore::Dismiss, force: false, turns_max: None };
        let forced = Batch { force: true, ..keys.clone() };
        let refused = Err(StopReason::NotAccepted);
        for (batch, seen, last) in [
            (&keys, vec![Command, Item, More, Item], refused),
            (&keys, vec![Command, Item, More, Command], Ok(Key(b'F'))),
            (&keys, vec![Command, Position, Position], Ok(Key(b'F'))),
            (&keys, vec![Command, Command, Item, More, Item], refused),
            (&forced, vec![Command, Item, Item], Ok(Key(b'F'))),
        ] {
            let mut policy = Watched::new();
            policy.learn(&told(&[], batch)).unwrap();
            let chosen: Vec<_> = seen.iter().map(|&kind| policy.choose(&frame(1, Some(kind)))).collect();
            assert_eq!(chosen.last(), Some(&last), "{seen:?}: {chosen:?}");
        }
        let mut policy = Watched::new();
        policy.learn(&told(&[], &keys)).unwrap();
        policy.choose(&frame(1, Some(Command))).unwrap();
        policy.choose(&frame(1, Some(Position))).unwrap();
        let mut strange = frame(1, Some(Position));
        let text = "Unknown direction: 'z'".to_owned();
        strange.messages.push(wire::Message { id: 1, turn: 1, text, shown: true });
        assert_eq!(policy.choose(&strange), refused);
        // A part goes on with what the one before has answered.
        let pending = frame(1, Some(Item)).pending.unwrap();
        let asked = Asked::after(None, &pending, Key(b'z'), 1);
        policy.learn(&arguments(&[], &keys, Some((2, 1)), asked).unwrap()).unwrap();
        assert_eq!(policy.choose(&frame(1, Some(Item))), refused);
    }

    #[test]
    fn parts_hold_the_keys_between_and_know_where_they_stand() {
        let whole = batch(OnMore::Stop);
        for (part, keys, is_within, is_last) in [
            (None, vec!["ab", "y"], false, true),
            (Some((0, 1)), vec!["a"], false, false),
            (Some((1, 1)), vec!["b"], true, false),
            (Some((1, 2)), vec!["b", "y"], true, true),
            (Some((2, 1)), vec!["y"], false, true),
            (Some((0, 99)), vec!["ab", "y"], false, true),
            (Some((3, 5)), vec![], false, true),
        ] {
            let cut = cut(&whole, part);
            let text = |segment: &Segment| segment.keys.iter().map(|key| char::from(key.0)).collect::<String>();
            assert_eq!(cut.batch.segments.iter().map(text).collect::<Vec<_>>(), keys, "{part:?}");
            assert_eq!((cut.is_within, cut.is_last), (is_within, is_last), "{part:?}");
            assert_eq!(cut.batch.turns_max, whole.turns_max);
        }
        let told = arguments(&[], &whole, Some((1, 1)), None).unwrap();
        let mut policy = Watched::new();
        policy.learn(&told).unwrap();
        assert!(!policy.steps[0].is_first && !policy.is_last);
        // What is open after the last key of a part is the next part's.
        policy.dismisses = true;
        policy.choose(&frame(0, Some(PendingKind::Command))).unwrap();
        assert_eq!(policy.choose(&frame(0, Some(PendingKind::More))), Err(StopReason::Done));
    }

    #[test]
    fn what_is_told_is_read_within_its_bounds() {
        let mut policy = Watched::new();
        let conditions = [Condition::Message { pattern: "a+".to_owned(), regex: true }, Condition::Turn(3)];
        let good = told(&conditions, &batch(OnMore::Stop));
        policy.begin(&good).unwrap();
        assert_eq!(policy.steps.len(), 3);
        for bad in [&b""[..], b"abc", b"\xff\xff\xff\xff", b"\x05\0\0\0abc", &good[..good.len() - 1], &good[..6]] {
            assert!(policy.begin(bad).is_err(), "{bad:?}");
        }
        // A list that was refused is not taken for one that is known.
        let broken = told(&[Condition::Message { pattern: "(".to_owned(), regex: true }], &batch(OnMore::Stop));
        for _ in 0..2 {
            assert!(policy.begin(&broken).is_err());
        }
        policy.begin(&good).unwrap();
    }
}
