//! Places and directions on the map.

use wire::{Cursor, Key, MAP_COLUMNS, MAP_ROWS};

/// Cells of a map.
pub(super) const CELLS: usize = MAP_ROWS * MAP_COLUMNS;

/// A cell of the map, as its index row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(u16);

/// One of the eight directions, as its index in [`DIRECTIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Direction(u8);

/// Key, rows down and columns right of each direction; the four straight ones first.
const DIRECTIONS: [(u8, i32, i32); 8] = [
    (b'h', 0, -1),
    (b'j', 1, 0),
    (b'k', -1, 0),
    (b'l', 0, 1),
    (b'y', -1, -1),
    (b'u', -1, 1),
    (b'b', 1, -1),
    (b'n', 1, 1),
];

impl Direction {
    /// All eight, the straight ones first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..8).map(Self)
    }

    /// The direction with this number, whatever the number.
    pub(super) fn nth(number: u64) -> Self {
        Self((number % 8) as u8)
    }

    /// The key for a step.
    pub(super) fn key(self) -> Key {
        Key(DIRECTIONS[usize::from(self.0)].0)
    }

    pub(super) fn is_diagonal(self) -> bool {
        self.0 >= 4
    }
}

impl Place {
    /// The place with this row and column of the map.
    pub(super) fn at(row: i32, column: i32) -> Option<Self> {
        let inside = (0..MAP_ROWS as i32).contains(&row) && (0..MAP_COLUMNS as i32).contains(&column);
        inside.then(|| Self((row * MAP_COLUMNS as i32 + column) as u16))
    }

    /// The place under a cell of the terminal.
    pub(super) fn on_terminal(cursor: Cursor) -> Option<Self> {
        Self::at(i32::from(cursor.row) - 1, i32::from(cursor.column))
    }

    pub(super) fn from_index(index: usize) -> Self {
        debug_assert!(index < CELLS);
        Self(index as u16)
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }

    pub(super) fn row(self) -> i32 {
        i32::from(self.0) / MAP_COLUMNS as i32
    }

    pub(super) fn column(self) -> i32 {
        i32::from(self.0) % MAP_COLUMNS as i32
    }

    /// The neighbour in a direction.
    pub(super) fn step(self, direction: Direction) -> Option<Self> {
        let (_, down, right) = DIRECTIONS[usize::from(direction.0)];
        Self::at(self.row() + down, self.column() + right)
    }

    /// All neighbours with their directions.
    pub(super) fn around(self) -> impl Iterator<Item = (Direction, Self)> {
        Direction::all().filter_map(move |direction| Some((direction, self.step(direction)?)))
    }

    /// The direction of a neighbour.
    pub(super) fn direction_of(self, other: Self) -> Option<Direction> {
        self.around().find(|(_, place)| *place == other).map(|(direction, _)| direction)
    }

    /// Steps between two places on open ground.
    pub(super) fn distance(self, other: Self) -> i32 {
        (self.row() - other.row()).abs().max((self.column() - other.column()).abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_back_and_stay_on_the_map() {
        let corner = Place::at(0, 0).unwrap();
        assert_eq!(corner.around().count(), 3);
        let middle = Place::at(10, 40).unwrap();
        for (direction, place) in middle.around() {
            assert_eq!(middle.direction_of(place), Some(direction));
            assert_eq!(middle.distance(place), 1);
        }
        assert_eq!(Place::at(21, 0), None);
        assert_eq!(Place::on_terminal(Cursor { row: 0, column: 3 }), None);
    }
}
