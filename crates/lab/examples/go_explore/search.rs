use std::collections::BTreeMap;

use lab::{Control, Lab, LabError, State, Try};
use wire::{MAP_COLUMNS, MAP_ROWS, PowerOn, Seed};

use crate::chance::Chance;
use crate::walker::Report;

/// Lines of one round.
const ROUND: usize = 128;
/// Keys of one line.
const KEYS: u32 = 40;
/// Rows and columns of the map that count as one place.
const CELL: (u8, u8) = (2, 4);

/// A place: the level's depth, and where on it.
type Cell = (i32, u8, u8);

/// The best that was found of a place.
pub(crate) struct Entry {
    pub(crate) state: State,
    pub(crate) report: Report,
    /// How often it was set out from.
    chosen: u32,
}

/// All places that were reached.
pub(crate) struct Archive {
    entries: BTreeMap<Cell, Entry>,
    pub(crate) lines: usize,
    pub(crate) keys: u64,
    pub(crate) deaths: usize,
}

/// Explores for `budget` lines.
pub(crate) fn explore(lab: &Lab, seed: u64, budget: usize) -> Result<Archive, LabError> {
    let state = lab.begin(PowerOn::from_seed(Seed(seed)))?;
    let report = Report::of(&lab.look(&state)?);
    let entries = BTreeMap::from([(cell(&report), Entry { state, report, chosen: 0 })]);
    let mut archive = Archive { entries, lines: 0, keys: 0, deaths: 0 };
    let mut chance = Chance::new(seed);
    while archive.lines < budget {
        let chosen = archive.choose(&mut chance, ROUND.min(budget - archive.lines));
        let seeds = chosen.iter().map(|state| (state, chance.next().to_le_bytes()));
        let tries: Vec<Try> = seeds.map(|(state, seed)| Try::policy(state, "walk", seed, KEYS).kept()).collect();
        for tried in lab.try_lines(&tries, &Control::default())? {
            archive.lines += 1;
            archive.keys += tried.inputs.len() as u64;
            archive.deaths += usize::from(tried.ended.is_some());
            if let (Some(state), Some(report), None) = (tried.state, Report::from_bytes(&tried.outcome), tried.ended) {
                archive.take(state, report);
            }
        }
    }
    Ok(archive)
}

impl Archive {
    /// Chooses states to set out from: the deeper and the less tried, the likelier.
    fn choose(&mut self, chance: &mut Chance, count: usize) -> Vec<State> {
        let weight = |entry: &Entry| (1 + entry.report.depth.max(0) as u64) * 1_000 / u64::from(1 + entry.chosen);
        let mut sum = 0;
        let weights: Vec<(u64, Cell)> = self
            .entries
            .iter()
            .map(|(cell, entry)| {
                sum += weight(entry).max(1);
                (sum, *cell)
            })
            .collect();
        let mut chosen = Vec::with_capacity(count);
        for _ in 0..count {
            let at = chance.next() % sum;
            let index = weights.partition_point(|(end, _)| *end <= at);
            if let Some(entry) = weights.get(index).and_then(|(_, cell)| self.entries.get_mut(cell)) {
                entry.chosen += 1;
                chosen.push(entry.state.clone());
            }
        }
        chosen
    }

    /// Keeps a state where its place is new, or it is the better one there.
    fn take(&mut self, state: State, report: Report) {
        let value = |entry: &Entry| (entry.report.hp, entry.report.known, u64::MAX - entry.state.boundary().0);
        let new = Entry { state, report, chosen: 0 };
        match self.entries.entry(cell(&report)) {
            std::collections::btree_map::Entry::Vacant(place) => drop(place.insert(new)),
            std::collections::btree_map::Entry::Occupied(mut place) if value(&new) > value(place.get()) => {
                drop(place.insert(new));
            }
            std::collections::btree_map::Entry::Occupied(_) => {}
        }
    }

    /// The deepest place; of those the one with the best health.
    pub(crate) fn best(&self) -> &Entry {
        let value = |entry: &&Entry| (entry.report.depth, entry.report.hp, entry.report.known);
        self.entries.values().max_by_key(value).expect("the archive begins with one place")
    }

    /// Depth, number of places, most hit points.
    pub(crate) fn table(&self) -> Vec<(i32, usize, i32)> {
        let mut rows: BTreeMap<i32, (usize, i32)> = BTreeMap::new();
        for ((depth, ..), entry) in &self.entries {
            let row = rows.entry(*depth).or_default();
            *row = (row.0 + 1, row.1.max(entry.report.hp));
        }
        rows.into_iter().map(|(depth, (places, hp))| (depth, places, hp)).collect()
    }

    /// A map of a level: how often each place was set out from.
    pub(crate) fn coverage(&self, depth: i32) -> String {
        let (rows, columns) = CELL;
        let shown = |row: u8, column: u8| match self.entries.get(&(depth, row, column)).map(|entry| entry.chosen) {
            None => ' ',
            Some(0) => '.',
            Some(1..10) => 'o',
            Some(_) => '#',
        };
        let width = MAP_COLUMNS as u8 / columns;
        let lines = (0..=MAP_ROWS as u8 / rows).map(|row| (0..=width).map(|column| shown(row, column)).collect());
        lines.map(|line: String| line.trim_end().to_owned() + "\n").collect()
    }
}

fn cell(report: &Report) -> Cell {
    let (rows, columns) = CELL;
    (report.depth, report.row / rows, report.column / columns)
}
