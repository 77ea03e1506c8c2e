//! What the explorer remembers of one level.

use std::collections::BTreeMap;

use wire::Frame;

use super::glyphs::{Ground, Seen, seen};
use super::grid::{CELLS, Direction, Place};

/// The memory of one level. All of it comes from frames.
#[derive(Clone, Debug)]
pub(super) struct Level {
    /// As the status line names it.
    pub(super) name: String,
    /// The last ground that was seen at each place, also under what stands or lies there now.
    ground: Vec<Ground>,
    /// What each place shows now.
    pub(super) shown: Vec<Seen>,
    /// Places that the hero has stood on.
    visited: Vec<bool>,
    /// How often the hero has searched at a place.
    pub(super) searched: Vec<u16>,
    /// Steps that did not lead where they should, and how often.
    failed: BTreeMap<(Place, Direction), u8>,
    /// Places that are left alone until a turn.
    shunned: BTreeMap<Place, i64>,
    /// Kicks that each door has taken.
    pub(super) kicks: BTreeMap<Place, u16>,
    /// Things that were looked at.
    pub(super) looked_at: Vec<bool>,
    /// The turn at which the hero came here last.
    pub(super) arrived: i64,
    /// The turn at which something new was seen last.
    pub(super) news: i64,
    /// Keys pressed here in all.
    pub(super) keys: u64,
    /// Tries of the game's own travel command.
    pub(super) travels: u32,
    /// Rounds of search on this level.
    pub(super) searches: u32,
    known: usize,
}

impl Level {
    pub(super) fn new(name: &str, turn: i64) -> Self {
        Self {
            name: name.to_owned(),
            ground: vec![Ground::Unknown; CELLS],
            shown: vec![Seen::Passing; CELLS],
            visited: vec![false; CELLS],
            searched: vec![0; CELLS],
            failed: BTreeMap::new(),
            shunned: BTreeMap::new(),
            kicks: BTreeMap::new(),
            looked_at: vec![false; CELLS],
            arrived: turn,
            news: turn,
            keys: 0,
            travels: 0,
            searches: 0,
            known: 0,
        }
    }

    /// Whether a frame shows this level: what was remembered when the hero left is drawn again when it is back.
    pub(super) fn is_shown_by(&self, frame: &Frame) -> bool {
        let known: Vec<_> = (0..CELLS).filter(|at| self.ground[*at] == Ground::Wall).collect();
        let same = |at: &&usize| frame.glyphs.get(**at).copied().map(seen) == Some(Seen::Ground(Ground::Wall));
        let again = known.iter().filter(same).count();
        !known.is_empty() && again * 10 >= known.len() * 9
    }

    /// Takes in what a frame shows.
    pub(super) fn observe(&mut self, frame: &Frame, hero: Place) {
        for (at, glyph) in frame.glyphs.iter().copied().enumerate().take(CELLS) {
            let what = seen(glyph);
            self.shown[at] = what;
            match what {
                Seen::Ground(Ground::Unknown) => {
                    // Remembered ground stays: the game forgets what it draws on a dark floor now and then.
                }
                Seen::Ground(ground) => self.ground[at] = ground,
                Seen::Monster(_) | Seen::Pet | Seen::Thing | Seen::Boulder if !self.ground[at].is_walkable() => {
                    self.ground[at] = Ground::Floor;
                }
                _ => {}
            }
        }
        let here = hero.index();
        if !self.ground[here].is_walkable() || self.ground[here] == Ground::ClosedDoor {
            self.ground[here] = Ground::Floor;
        }
        self.looked_at[here] = true;
        let known = self.ground.iter().filter(|ground| **ground != Ground::Unknown).count();
        if known > self.known || !self.visited[here] {
            self.news = frame.turn;
        }
        self.known = known;
        self.visited[here] = true;
    }

    pub(super) fn ground(&self, place: Place) -> Ground {
        self.ground[place.index()]
    }

    pub(super) fn shown(&self, place: Place) -> Seen {
        self.shown[place.index()]
    }

    pub(super) fn is_visited(&self, place: Place) -> bool {
        self.visited[place.index()]
    }

    /// Says what the ground is where the frame can't show it, under the hero.
    pub(super) fn set_ground(&mut self, place: Place, ground: Ground) {
        self.ground[place.index()] = ground;
    }

    /// All places whose ground is of a kind.
    pub(super) fn places(&self, of: impl Fn(Ground) -> bool) -> impl Iterator<Item = Place> {
        (0..CELLS).filter(move |at| of(self.ground[*at])).map(Place::from_index)
    }

    /// Whether something unknown lies beside a place that the hero has not stood on yet.
    pub(super) fn is_frontier(&self, place: Place) -> bool {
        let ground = self.ground(place);
        ground.is_walkable()
            && !self.is_visited(place)
            && !matches!(self.shown(place), Seen::Boulder)
            && place.around().any(|(_, other)| self.ground(other) == Ground::Unknown)
    }

    /// Notes that a step did not lead where it should.
    pub(super) fn fail(&mut self, from: Place, direction: Direction) {
        let count = self.failed.entry((from, direction)).or_insert(0);
        *count = count.saturating_add(1);
    }

    /// Whether a step is known not to work.
    pub(super) fn is_failing(&self, from: Place, direction: Direction) -> bool {
        self.failed.get(&(from, direction)).is_some_and(|count| *count >= 2)
    }

    /// Forgets failed steps: what stood in the way may have gone.
    pub(super) fn forgive(&mut self) {
        self.failed.clear();
        self.shunned.clear();
    }

    /// Leaves a place alone until a turn.
    pub(super) fn shun(&mut self, place: Place, until: i64) {
        self.shunned.insert(place, until);
    }

    pub(super) fn is_shunned(&self, place: Place, turn: i64) -> bool {
        self.shunned.get(&place).is_some_and(|until| turn < *until)
    }
}
