use wire::{Asked, Batch, Frame, Key, OnMore, PendingKind};
use worker::Part;

/// Cuts a batch into chunks that together do what the whole would.
#[derive(Debug)]
pub(crate) struct Plan {
    batch: Batch,
    keys: Vec<Key>,
    expects: Vec<Option<PendingKind>>,
    used: usize,
    turns: u64,
    /// Dismissals since the last key.
    dismissed: usize,
    /// What the last key has answered, where the game may yet refuse it.
    asked: Option<Asked>,
}

/// The most prompts in a row that are dismissed; as many as a worker does.
const DISMISSALS_IN_A_ROW_MAX: usize = 256;

/// Keys for a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) batch: Batch,
    pub(crate) part: Option<Part>,
    /// The keys that are meant, dismissals by the worker left out.
    pub(crate) keys: Vec<Key>,
    /// True for a dismissal, which is none of the batch's own keys.
    pub(crate) dismissal: bool,
}

impl Plan {
    pub(crate) fn new(batch: &Batch) -> Self {
        let segments = batch.segments.iter();
        Self {
            batch: batch.clone(),
            keys: segments.clone().flat_map(|segment| segment.keys.iter().copied()).collect(),
            expects: segments.flat_map(|segment| segment.keys.iter().map(|_| segment.expect)).collect(),
            used: 0,
            turns: 0,
            dismissed: 0,
            asked: None,
        }
    }

    /// How many keys the batch has.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// How many of them are used.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// True when the turns that the batch may take have passed.
    pub(crate) fn turns_spent(&self) -> bool {
        self.batch.turns_max.is_some_and(|max| self.turns >= max)
    }

    /// Whether the game still asks what the last key was to answer.
    pub(crate) fn is_refused(&self, frame: &Frame) -> bool {
        let (asked, pending) = (self.asked.as_ref(), frame.pending.as_ref());
        asked.zip(pending).is_some_and(|(asked, pending)| asked.stands_again(pending, frame.turn))
    }

    /// Notes what became of the chunk before, and what its last key has answered.
    pub(crate) fn advance(&mut self, chunk: &Chunk, keys_used: usize, turns: i64, asked: Option<Asked>) {
        if chunk.dismissal {
            self.dismissed += 1;
        } else {
            self.used = (self.used + keys_used).min(self.keys.len());
            self.dismissed = 0;
            self.asked = asked;
        }
        self.turns += u64::try_from(turns).unwrap_or(0);
    }

    /// The next chunk, of at most `keys_max` of the batch's keys; nothing when all are used. `single` makes one input
    /// of it, so that a dismissal is a chunk of its own.
    pub(crate) fn next(&self, pending: Option<PendingKind>, keys_max: usize, single: bool) -> Option<Chunk> {
        if single && self.dismisses(pending) {
            return Some(Chunk {
                batch: Batch::forced(vec![Key::ENTER]),
                part: None,
                keys: vec![Key::ENTER],
                dismissal: true,
            });
        }
        let count = if single { 1 } else { keys_max.max(1) }.min(self.keys.len() - self.used);
        if count == 0 {
            return None;
        }
        let mut batch = self.batch.clone();
        batch.turns_max = batch.turns_max.map(|max| max.saturating_sub(self.turns));
        if single {
            batch.on_more = OnMore::Stop;
        }
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Some(Chunk {
            batch,
            part: (count < self.keys.len()).then(|| Part {
                from: number(self.used),
                count: number(count),
                asked: self.asked.clone(),
            }),
            keys: self.keys.iter().skip(self.used).take(count).copied().collect(),
            dismissal: false,
        })
    }

    fn dismisses(&self, pending: Option<PendingKind>) -> bool {
        let stands_in_the_way = matches!(pending, Some(PendingKind::More | PendingKind::Window));
        let meant = self.expects.get(self.used).is_some_and(|expect| *expect == pending);
        self.batch.on_more == OnMore::Dismiss && stands_in_the_way && !meant && self.dismissed < DISMISSALS_IN_A_ROW_MAX
    }
}

#[cfg(test)]
mod tests {
    use wire::Segment;

    use super::*;

    fn batch(on_more: OnMore) -> Batch {
        Batch {
            segments: vec![
                Segment::from_text("abc").unwrap(),
                Segment { expect: Some(PendingKind::Window), ..Segment::from_text("de").unwrap() },
            ],
            on_more,
            force: false,
            turns_max: Some(10),
        }
    }

    #[test]
    fn parts_cover_the_batch_and_turns_count_down() {
        let mut plan = Plan::new(&batch(OnMore::Stop));
        let (mut parts, mut last) = (Vec::new(), None);
        while let Some(chunk) = plan.next(Some(PendingKind::Command), 2, false) {
            let part = chunk.part.clone().unwrap();
            parts.push((part.from, part.count, chunk.batch.turns_max));
            plan.advance(&chunk, chunk.keys.len(), 3, None);
            last = Some(chunk);
        }
        assert_eq!(parts, [(0, 2, Some(10)), (2, 2, Some(7)), (4, 1, Some(4))]);
        assert!(!plan.turns_spent());
        plan.advance(&last.unwrap(), 0, 1, None);
        assert!(plan.turns_spent());
        assert_eq!(Plan::new(&batch(OnMore::Stop)).next(None, 5, false).unwrap().part, None);
    }

    #[test]
    fn what_was_answered_goes_on_to_the_next_part_past_dismissals() {
        let mut plan = Plan::new(&batch(OnMore::Dismiss));
        let asked = Asked { kind: PendingKind::Item, prompt: "Drop what?".to_owned(), turn: 0, counting: false };
        let chunk = plan.next(Some(PendingKind::Item), 1, true).unwrap();
        plan.advance(&chunk, 1, 0, Some(asked.clone()));
        let dismissal = plan.next(Some(PendingKind::More), 1, true).unwrap();
        assert!(dismissal.dismissal);
        plan.advance(&dismissal, 1, 0, None);
        let chunk = plan.next(Some(PendingKind::Item), 1, true).unwrap();
        assert_eq!(chunk.part.as_ref().unwrap().asked, Some(asked.clone()));
        let pending = wire::Pending {
            kind: PendingKind::Item,
            stage: wire::Stage::Play,
            prompt: asked.prompt,
            answers: String::new(),
            default: None,
            capacity: None,
            typed: String::new(),
        };
        let frame = Frame { pending: Some(pending), ..Frame::default() };
        assert!(plan.is_refused(&frame) && !plan.is_refused(&Frame::default()));
        plan.advance(&chunk, 1, 0, None);
        assert!(!plan.is_refused(&frame));
    }

    #[test]
    fn single_inputs_dismiss_what_stands_in_the_way_and_nothing_else() {
        let more = Some(PendingKind::More);
        let window = Some(PendingKind::Window);
        for (on_more, used, pending, key) in [
            (OnMore::Dismiss, 0, more, Some(Key::ENTER)),
            (OnMore::Dismiss, 0, Some(PendingKind::Command), Some(Key(b'a'))),
            (OnMore::Stop, 0, more, Some(Key(b'a'))),
            (OnMore::Dismiss, 3, window, Some(Key(b'd'))),
            (OnMore::Dismiss, 5, more, Some(Key::ENTER)),
            (OnMore::Dismiss, 5, Some(PendingKind::Command), None),
        ] {
            let mut plan = Plan::new(&batch(on_more));
            if let Some(chunk) = plan.next(None, used, false).filter(|_| used > 0) {
                plan.advance(&chunk, used, 0, None);
            }
            let chunk = plan.next(pending, 9, true);
            assert_eq!(chunk.map(|chunk| chunk.keys[0]), key, "{used} {pending:?}");
        }
    }
}
