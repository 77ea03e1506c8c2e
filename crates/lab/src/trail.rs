use std::sync::Arc;

use wire::Boundary;

use crate::store::{Checkpoint, Kept};

/// How many inputs lie between two checkpoints near a line's end.
const NEAR: u64 = 64;
/// How many at most lie between two checkpoints that are kept, however old: what going back to anywhere costs.
const FAR: u64 = 2_048;
/// As a part of their distance from the line's end, so far apart are checkpoints in between.
const AGE_PART: u64 = 8;

/// The checkpoints of a line: close together near its end, further apart the older they are. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail(Arc<Vec<(Boundary, Arc<Checkpoint>)>>);

/// Where a replay of a line may begin.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub(crate) at: Boundary,
    pub(crate) state: Arc<Kept>,
    /// The newest message at that time.
    pub(crate) last_message: u64,
}

impl Trail {
    /// Whether a checkpoint is due at the end of a line.
    pub(crate) fn is_due(&self, end: Boundary) -> bool {
        end.0 >= self.last() + NEAR
    }

    /// Whether a replay that leads to `end` should leave a checkpoint at `at`.
    pub(crate) fn is_due_on_the_way(&self, at: Boundary, end: Boundary) -> bool {
        at.0 >= self.last() + apart(end.0.saturating_sub(at.0))
    }

    fn last(&self) -> u64 {
        self.0.last().map_or(0, |(at, _)| at.0)
    }

    /// Takes in a checkpoint beyond all others, and lets older ones go that are closer together than their age asks for
    /// by now. `end` is the end of the line.
    pub(crate) fn add(&mut self, at: Boundary, checkpoint: Arc<Checkpoint>, end: Boundary) {
        let checkpoints = Arc::make_mut(&mut self.0);
        checkpoints.push((at, checkpoint));
        let nexts: Vec<u64> = checkpoints.iter().skip(1).map(|(at, _)| at.0).collect();
        let mut nexts = nexts.into_iter();
        let mut before = 0;
        checkpoints.retain(|(at, checkpoint)| {
            let needed = nexts.next().is_none_or(|next| next > before + apart(end.0.saturating_sub(at.0)));
            let stays = needed && checkpoint.kept().is_some();
            before = if stays { at.0 } else { before };
            stays
        });
    }

    /// The last checkpoint before a boundary that was not given up.
    pub(crate) fn before(&self, end: Boundary) -> Option<Beginning> {
        let count = self.0.partition_point(|(at, _)| *at < end);
        self.0.iter().take(count).rev().find_map(|(at, checkpoint)| {
            let state = checkpoint.kept()?;
            Some(Beginning { at: *at, state, last_message: checkpoint.last_message() })
        })
    }

    /// Those up to a boundary.
    pub(crate) fn prefix(&self, end: Boundary) -> Self {
        match self.0.partition_point(|(at, _)| *at <= end) {
            count if count == self.0.len() => self.clone(),
            count => Self(Arc::new(self.0.iter().take(count).cloned().collect())),
        }
    }
}

/// How far apart checkpoints are that lie so many inputs behind the end.
fn apart(age: u64) -> u64 {
    (age / AGE_PART).clamp(NEAR, FAR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::plain_store;

    /// The boundaries of a trail over a line on which a checkpoint was offered every `every` inputs.
    fn trail(inputs: u64, every: usize) -> (Trail, crate::store::Store) {
        let store = plain_store(1);
        let state = store.put_keyframe(b"state", &[], 1).unwrap();
        let mut trail = Trail::default();
        for at in (0..=inputs).step_by(every).map(Boundary) {
            if trail.is_due(at) {
                trail.add(at, store.checkpoint(&state, at.0), at);
            }
        }
        (trail, store)
    }

    #[test]
    fn going_back_is_never_far_and_the_trail_is_short() {
        for (inputs, every) in [(500, 1), (5_000, 1), (50_000, 1), (300_000, 64), (50_000, 512)] {
            let (trail, _store) = trail(inputs, every);
            for back in [1, 10, 63, 64, 500, 1_000, 10_000, inputs / 2, inputs - 1, inputs] {
                let to = Boundary(inputs.saturating_sub(back));
                let from = trail.before(to).map_or(0, |beginning| beginning.at.0);
                let most = apart(back).max(every as u64) + 2 * NEAR;
                assert!(to.0 - from <= most, "{to} from {from}, most {most}, of {inputs} every {every}");
            }
            let most = inputs / FAR + 8 * 7 + 16;
            assert!(trail.0.len() as u64 <= most, "{} checkpoints of {inputs}", trail.0.len());
        }
    }

    #[test]
    fn what_was_given_up_is_passed_over() {
        let (mut trail, store) = trail(1_000, 1);
        let first = trail.before(Boundary(200)).unwrap();
        assert_eq!(first.at.0, first.last_message);
        assert_eq!(trail.prefix(first.at).0.last().unwrap().0, first.at);
        while trail.before(Boundary(200)).is_some() {
            assert!(store.give_up_one());
        }
        assert!(trail.before(Boundary(1_000)).is_some());
        while store.give_up_one() {}
        assert!(trail.before(Boundary(1_000)).is_none());
        let end = Boundary(1_001);
        trail.add(end, store.checkpoint(&first.state, 0), end);
        assert_eq!(trail.0.len(), 1, "those that were given up go when another comes");
        drop((first, trail));
        assert_eq!(store.usage().keyframes, 0);
    }
}
