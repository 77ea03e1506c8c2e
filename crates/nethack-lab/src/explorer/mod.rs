//! A player that explores: it sees frames and nothing else, and presses one key at a time.
//!
//! It answers prompts by what is pending, fights what stands beside it, eats, prays and rests when it has to, looks at
//! every corner of a level and goes down. The keys follow from the frames and its own seed alone, so a game that it
//! plays can be made again.

mod fight;
mod glyphs;
mod grid;
mod items;
mod level;
mod needs;
mod prompts;
mod route;
#[cfg(test)]
mod tests;
mod wander;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wire::{Condition, Frame, Key, PendingKind, Seed, Status};

use glyphs::{Ground, Seen};
use grid::{Direction, Place};
use level::Level;

/// Command decisions without a turn passing after which the explorer stops trusting its own plans.
const IDLE_MAX: u32 = 10;

/// The explorer's mind. A clone decides as its original would.
#[derive(Clone, Debug)]
pub(crate) struct Explorer {
    chance: Chance,
    /// Keys to press next, each with what the game must wait for then.
    plan: VecDeque<(PendingKind, Key)>,
    levels: Vec<Level>,
    here: usize,
    /// Kinds of monster that turned out to be peaceful, and until when that is believed.
    peaceful: BTreeMap<i16, i64>,
    /// The place and kind that were attacked last.
    attacked: Option<(Place, Option<i16>)>,
    /// The last step: from where, and in which direction.
    step: Option<(Place, Direction)>,
    /// A climb or a fall was asked for by the last command: what lies under the hero afterwards.
    climbed: Option<Ground>,
    /// The turn of the last prayer.
    prayed: Option<i64>,
    /// Where and when the hero engraved last.
    engraved: Option<(Place, i64)>,
    /// Fresh corpses: where, and when they fell.
    corpses: BTreeMap<Place, i64>,
    /// The corpse that the hero means to eat.
    eating: Option<Place>,
    /// Items that were tried, by name.
    tried: BTreeSet<String>,
    /// Where and when the hero picked things up last.
    took: Option<(Place, i64)>,
    resting: bool,
    turn: i64,
    /// Decisions since the last turn passed.
    idle: u32,
    hp: i32,
    /// The last command cost hit points.
    hurt: bool,
}

/// What the explorer knows when it is free to act.
struct View<'a> {
    frame: &'a Frame,
    status: &'a Status,
    hero: Place,
    turn: i64,
    foes: Vec<Foe>,
}

/// A monster that may be fought.
#[derive(Clone, Copy, Debug)]
struct Foe {
    place: Place,
    /// Absent for something unseen.
    kind: Option<i16>,
    distance: i32,
}

/// A small generator of its own (SplitMix64), so that equal seeds give equal games.
#[derive(Clone, Debug)]
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `bound` - 1.
    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}

impl View<'_> {
    fn has(&self, condition: Condition) -> bool {
        self.status.conditions.contains(&condition)
    }

    /// Whether some message of the last key holds a text.
    fn hears(&self, text: &str) -> bool {
        self.frame.messages.iter().any(|message| message.text.contains(text))
    }
}

impl Explorer {
    /// An explorer whose choices among equals follow from a seed.
    #[must_use]
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            chance: Chance(seed.0),
            plan: VecDeque::new(),
            levels: Vec::new(),
            here: 0,
            peaceful: BTreeMap::new(),
            attacked: None,
            step: None,
            climbed: None,
            prayed: None,
            engraved: None,
            corpses: BTreeMap::new(),
            eating: None,
            tried: BTreeSet::new(),
            took: None,
            resting: false,
            turn: 0,
            idle: 0,
            hp: 0,
            hurt: false,
        }
    }

    /// Changes what chance will choose from now on; all that the explorer knows stays.
    pub(crate) fn reseed(&mut self, seed: Seed) {
        self.chance = Chance(seed.0);
        self.plan.clear();
        // A pause of another length is enough to meet other luck.
        for _ in 0..self.chance.below(6) {
            self.plan.push_back((PendingKind::Command, Key(b's')));
        }
    }

    /// The key to press at a frame. At the end of a game any key is as good.
    pub(crate) fn next_key(&mut self, frame: &Frame) -> Key {
        let Some(pending) = &frame.pending else { return Key::ESC };
        if let Some((kind, key)) = self.plan.pop_front() {
            if kind == pending.kind {
                return key;
            }
            // What comes between is answered and the plan goes on; anything else means that it has failed.
            if matches!(pending.kind, PendingKind::More | PendingKind::Window | PendingKind::Choice) {
                self.plan.push_front((kind, key));
            } else {
                self.plan.clear();
            }
        }
        if pending.kind == PendingKind::Command { self.command(frame) } else { self.answer(frame, pending) }
    }

    /// Presses a key of a command and keeps the rest for the prompts that follow.
    fn press(&mut self, first: u8, rest: &[(PendingKind, Key)]) -> Key {
        self.plan.extend(rest.iter().copied());
        Key(first)
    }

    fn command(&mut self, frame: &Frame) -> Key {
        let hero = frame.hero.and_then(Place::on_terminal);
        let (Some(hero), Some(status)) = (hero, &frame.status) else { return Key(b's') };
        self.idle = if frame.turn == self.turn { self.idle + 1 } else { 0 };
        self.find_level(frame, status, hero);
        let mut view = View { frame, status, hero, turn: frame.turn, foes: Vec::new() };
        self.learn(&view);
        view.foes = self.foes(&view);
        self.turn = frame.turn;
        self.hurt = status.hp < self.hp;
        self.hp = status.hp;
        self.levels[self.here].keys += 1;
        if self.idle > IDLE_MAX {
            return self.break_out();
        }
        self.survive(&view)
            .or_else(|| self.fight(&view))
            .or_else(|| self.care(&view))
            .or_else(|| self.handle_items(&view))
            .unwrap_or_else(|| self.wander(&view))
    }

    /// Something that passes a turn whatever is wrong, or nearly so.
    fn break_out(&mut self) -> Key {
        self.plan.clear();
        self.step = None;
        if self.idle > 4 * IDLE_MAX && self.idle.is_multiple_of(3) {
            return Direction::nth(self.chance.next()).key();
        }
        Key(b's')
    }

    /// Finds the memory of the level that the frame shows, or begins one.
    fn find_level(&mut self, frame: &Frame, status: &Status, hero: Place) {
        let name = &status.level_text;
        let left = self.levels.get(self.here).is_none_or(|level| level.name != *name);
        let climbed = self.climbed.take();
        if left {
            let known =
                (0..self.levels.len()).find(|at| self.levels[*at].name == *name && self.levels[*at].is_shown_by(frame));
            self.here = known.unwrap_or_else(|| {
                self.levels.push(Level::new(name, frame.turn));
                self.levels.len() - 1
            });
            self.step = None;
            self.corpses.clear();
            let level = &mut self.levels[self.here];
            level.arrived = frame.turn;
            level.news = frame.turn;
            level.forgive();
        }
        let level = &mut self.levels[self.here];
        level.observe(frame, hero);
        if let Some(ground) = climbed.filter(|_| left) {
            level.set_ground(hero, ground);
        }
    }

    /// Takes in what came of the last command.
    fn learn(&mut self, view: &View<'_>) {
        let turn = view.turn;
        let held = ["pit", "bear trap", "web", "stuck", "cannot escape", "You stop", "swap"];
        if let Some((from, direction)) = self.step.take()
            && from == view.hero
            && !held.iter().any(|text| view.hears(text))
        {
            let target = from.step(direction);
            let level = &mut self.levels[self.here];
            let creature = target.is_some_and(|place| matches!(level.shown(place), Seen::Monster(_) | Seen::Pet));
            if !creature || self.idle > 4 {
                level.fail(from, direction);
            }
            if view.hears("This door is locked")
                && let Some(door) = target
            {
                level.kicks.entry(door).or_insert(0);
            }
        }
        if let Some((place, _)) = self.attacked
            && (view.hears("You kill") || view.hears("You destroy"))
        {
            self.corpses.insert(place, turn);
            self.attacked = None;
        }
        if view.status.hp < self.hp {
            // Whoever hurts is no longer believed to be peaceful.
            for (_, place) in view.hero.around() {
                if let Seen::Monster(kind) = self.levels[self.here].shown(place) {
                    self.peaceful.remove(&kind);
                }
            }
        }
        self.corpses.retain(|_, fell| turn - *fell < 30);
        self.peaceful.retain(|_, until| turn < *until);
    }

    fn level(&self) -> &Level {
        &self.levels[self.here]
    }

    fn is_peaceful(&self, kind: i16) -> bool {
        glyphs::is_civil(kind) || self.peaceful.contains_key(&kind)
    }

    /// All that may be fought, nearest first.
    fn foes(&self, view: &View<'_>) -> Vec<Foe> {
        let level = self.level();
        let mut foes: Vec<Foe> = (0..grid::CELLS)
            .map(Place::from_index)
            .filter(|place| *place != view.hero)
            .filter_map(|place| {
                let kind = match level.shown(place) {
                    Seen::Monster(kind) if !self.is_peaceful(kind) => Some(kind),
                    Seen::Unseen => None,
                    _ => return None,
                };
                Some(Foe { place, kind, distance: view.hero.distance(place) })
            })
            .filter(|foe| foe.kind.is_none_or(|kind| !glyphs::is_untouchable(kind)))
            .collect();
        foes.sort_by_key(|foe| (foe.distance, foe.place));
        foes
    }
}
