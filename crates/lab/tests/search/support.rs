//! What several tests need.

use lab::{Control, Lab, LabOptions, State, Tried, Try, Verdict};
use wire::{PowerOn, Seed};

use crate::chance::Chance;

/// Keys of ordinary play.
const MIX: &[u8] = b"hjklyubnhjklyubnHJKLYUBNssss..,,io:;@^ewrqdtzasEFZPRTWV<>\x1b\x1b\x1b\x1b\r\r  ynqa1234";

pub(crate) fn lab(change: impl FnOnce(&mut LabOptions)) -> Lab {
    let mut options = LabOptions::this_program();
    options.workers = 2;
    change(&mut options);
    Lab::new(options).unwrap()
}

pub(crate) fn begin(lab: &Lab, seed: u64) -> State {
    lab.begin(PowerOn::from_seed(Seed(seed))).unwrap()
}

/// A seeded sequence of keys of ordinary play.
pub(crate) fn keys(seed: u64, count: usize) -> Vec<u8> {
    let mut chance = Chance::new(seed);
    (0..count).map(|_| MIX[chance.below(MIX.len())]).collect()
}

pub(crate) fn all(lab: &Lab, tries: &[Try]) -> Vec<Tried> {
    lab.try_lines(tries, &Control::default()).unwrap()
}

pub(crate) fn verdict(lab: &Lab, state: &State) -> Verdict {
    lab.verify(&lab.movie_of(state).unwrap(), None, &Control::default()).unwrap().verdict
}

/// What must be the same for two lines to be the same.
pub(crate) fn look(tried: &Tried) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        tried.inputs.clone(),
        tried.keys_used,
        tried.stop.clone(),
        tried.turn,
        tried.play,
        tried.frame(),
        tried.outcome.clone(),
    )
}
