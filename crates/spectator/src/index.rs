use serde_json::{Value, json};
use wire::Frame;

/// Where things happen along a line: what a replay jumps to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Whether it holds all that there is by now. Who makes it says so: one that nothing was noted in yet looks like one
    /// of a line without inputs.
    pub complete: bool,
    /// Another number once the line was taken back, and what was known of it with it.
    pub line: u64,
    /// The boundary up to which it was made.
    pub through: u64,
    /// The last boundary of the line.
    pub last: u64,
    /// Boundary and turn wherever the turn is another than before, in order.
    pub turns: Vec<(u64, i64)>,
    /// Where the hero comes to another level, the first one included.
    pub levels: Vec<LevelChange>,
    /// Where games end, and how.
    pub ends: Vec<(u64, String)>,
    /// How many messages there were.
    pub messages: u64,
}

/// A hero's arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelChange {
    /// The boundary.
    pub boundary: u64,
    /// The turn.
    pub turn: i64,
    /// The level as the status line has it.
    pub level: String,
}

impl Index {
    /// Takes in the frame of the next boundary.
    pub fn note(&mut self, boundary: u64, frame: &Frame) {
        self.through = boundary;
        self.last = self.last.max(boundary);
        if self.turns.last().is_none_or(|(_, turn)| *turn != frame.turn) {
            self.turns.push((boundary, frame.turn));
        }
        if let Some(status) = &frame.status
            && self.levels.last().is_none_or(|before| before.level != status.level_text)
        {
            self.levels.push(LevelChange { boundary, turn: frame.turn, level: status.level_text.clone() });
        }
        self.messages += frame.messages.len() as u64;
    }

    /// Forgets what lies beyond a boundary. How many messages there were must be said anew.
    pub fn rewind(&mut self, to: u64) {
        self.through = self.through.min(to);
        self.turns.retain(|(boundary, _)| *boundary <= to);
        self.levels.retain(|change| change.boundary <= to);
        self.ends.retain(|(boundary, _)| *boundary <= to);
    }

    /// Turns are told as differences, since there may be tens of thousands.
    pub(crate) fn json(&self) -> Value {
        let mut before = (0, 0);
        let (mut boundaries, mut turns) = (Vec::new(), Vec::new());
        for &(boundary, turn) in &self.turns {
            boundaries.push(boundary - before.0);
            turns.push(turn - before.1);
            before = (boundary, turn);
        }
        let levels: Vec<Value> =
            self.levels.iter().map(|at| json!({"boundary": at.boundary, "turn": at.turn, "level": at.level})).collect();
        let ends: Vec<Value> =
            self.ends.iter().map(|(boundary, text)| json!({"boundary": boundary, "text": text})).collect();
        json!({
            "through": self.through,
            "last": self.last,
            "complete": self.complete,
            "line": self.line,
            "turns": {"boundaries": boundaries, "turns": turns},
            "levels": levels,
            "ends": ends,
            "messages": self.messages,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Status;

    fn frame(turn: i64, level: &str) -> Frame {
        let status = Status { level_text: level.to_owned(), ..Status::default() };
        Frame { turn, status: Some(status), ..Frame::default() }
    }

    #[test]
    fn it_notes_what_changes_and_forgets_what_is_taken_back() {
        let mut index = Index { last: 9, ..Index::default() };
        let line = [(1, "Dlvl:1"), (1, "Dlvl:1"), (2, "Dlvl:1"), (5, "Dlvl:2"), (6, "Dlvl:1")];
        for (boundary, (turn, level)) in line.into_iter().enumerate() {
            index.note(boundary as u64, &frame(turn, level));
        }
        assert_eq!(index.turns, [(0, 1), (2, 2), (3, 5), (4, 6)]);
        assert_eq!(index.levels.iter().map(|at| at.boundary).collect::<Vec<_>>(), [0, 3, 4]);
        let told = index.json();
        assert_eq!(told["complete"], json!(false));
        assert_eq!(told["turns"], json!({"boundaries": [0, 2, 1, 1], "turns": [1, 1, 3, 1]}));
        index.rewind(2);
        assert_eq!((index.through, index.turns.len(), index.levels.len()), (2, 2, 1));
    }
}
