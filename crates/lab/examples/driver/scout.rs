use std::collections::VecDeque;

use lab::{Policy, Sight};
use wire::{Key, PendingKind};

use crate::chance::Chance;
use crate::map::{DIRECTIONS, Map};
use crate::walker::Report;

/// A policy that looks for what it does not know, and goes down where it can, with a wrong step now and then. It is told
/// 8 bytes of seed and brings back a [`Report`].
pub(crate) struct Scout {
    chance: Chance,
    plan: VecDeque<u8>,
}

impl Scout {
    pub(crate) fn new() -> Self {
        Self { chance: Chance::new(0), plan: VecDeque::new() }
    }

    fn command(&mut self, sight: &Sight<'_>) -> u8 {
        if self.chance.below(12) == 0 {
            self.plan.clear();
            return DIRECTIONS[self.chance.below(DIRECTIONS.len())].0;
        }
        if self.plan.is_empty()
            && let Some(map) = Map::read(sight.frame())
        {
            self.plan = self.route(&map).into();
        }
        self.plan.pop_front().unwrap_or(b's')
    }

    fn route(&mut self, map: &Map) -> Vec<u8> {
        if let Some(foe) = map.foes().first() {
            return vec![b'F', *foe];
        }
        if let Some(way) = map.way_down() {
            return [way, b">".to_vec()].concat();
        }
        let mut ways = map.frontiers(3);
        if ways.is_empty() {
            return b"10s".to_vec();
        }
        let (_, way) = ways.swap_remove(self.chance.below(ways.len()));
        // Once to open what is closed there, then in and on.
        let last = way.last().copied();
        way.into_iter().chain(last.into_iter().flat_map(|key| [key; 2])).collect()
    }
}

impl Policy for Scout {
    fn name(&self) -> &str {
        "scout"
    }

    fn begin(&mut self, arguments: &[u8]) -> Result<(), String> {
        let seed = <[u8; 8]>::try_from(arguments).map_err(|_| "a scout takes 8 bytes of seed".to_owned())?;
        *self = Self { chance: Chance::new(u64::from_le_bytes(seed)), ..Self::new() };
        Ok(())
    }

    fn next(&mut self, sight: &Sight<'_>) -> Option<Key> {
        Some(Key(match sight.pending_kind()? {
            PendingKind::Command => self.command(sight),
            // The rest of a count or of a fight that the plan has begun.
            PendingKind::Count | PendingKind::Direction => self.plan.pop_front().unwrap_or(0x1b),
            PendingKind::More | PendingKind::Window => b'\r',
            _ => {
                self.plan.clear();
                0x1b
            }
        }))
    }

    fn outcome(&mut self, sight: &Sight<'_>) -> Vec<u8> {
        Report::of(sight.frame()).to_bytes()
    }
}
