use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The most lines of texts that are kept.
pub const TEXT_LINES_MAX: usize = 200;
/// Their most bytes.
pub const TEXT_BYTES_MAX: usize = 8 << 10;

/// The lines of the windows of text that were closed while keys were pressed: the newest of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Texts {
    /// A list of lines for each window, oldest first. The first may lack its first lines.
    pub windows: VecDeque<Vec<String>>,
    /// How many lines were left out, the oldest.
    pub omitted: u64,
}

impl Texts {
    /// Adds a window's lines, and drops the oldest lines that are too many.
    pub fn push(&mut self, lines: Vec<String>) {
        if !lines.is_empty() {
            self.windows.push_back(lines);
        }
        let (mut count, mut bytes, mut fits) = (0, 0, true);
        for lines in self.windows.iter_mut().rev() {
            let kept = lines.iter().rev().take_while(|line| {
                (count, bytes) = (count + 1, bytes + line.len());
                fits &= count <= TEXT_LINES_MAX && bytes <= TEXT_BYTES_MAX;
                fits
            });
            let over = lines.len() - kept.count();
            self.omitted = self.omitted.saturating_add(over as u64);
            lines.drain(..over);
        }
        self.windows.retain(|lines| !lines.is_empty());
    }

    /// Adds the windows of what was pressed afterwards.
    pub fn extend(&mut self, later: Self) {
        self.omitted = self.omitted.saturating_add(later.omitted);
        later.windows.into_iter().for_each(|lines| self.push(lines));
    }

    /// Whether it is as short as those that were pushed to.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        let lines = || self.windows.iter().flatten();
        self.windows.len() <= TEXT_LINES_MAX
            && lines().count() <= TEXT_LINES_MAX
            && lines().map(String::len).sum::<usize>() <= TEXT_BYTES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(from: usize, count: usize, bytes: usize) -> Vec<String> {
        (from..from + count).map(|number| format!("{number:0bytes$}")).collect()
    }

    #[test]
    fn the_newest_lines_are_kept_within_both_bounds() {
        for (pushed, windows, omitted) in [
            (vec![lines(0, 3, 4), Vec::new(), lines(3, 2, 4)], vec![lines(0, 3, 4), lines(3, 2, 4)], 0),
            (vec![lines(0, 150, 4), lines(150, 60, 4)], vec![lines(10, 140, 4), lines(150, 60, 4)], 10),
            (vec![lines(0, 150, 4), lines(150, 250, 4)], vec![lines(200, 200, 4)], 200),
            (vec![lines(0, 1, 8_192), lines(1, 1, 4)], vec![lines(1, 1, 4)], 1),
            (vec![lines(0, 1, 4), lines(1, 1, 8_193)], vec![], 2),
            (vec![lines(0, 4, 2_048), lines(4, 1, 1)], vec![lines(1, 3, 2_048), lines(4, 1, 1)], 1),
        ] {
            let mut texts = Texts::default();
            for lines in pushed {
                texts.push(lines);
                assert!(texts.is_bounded());
            }
            assert_eq!((texts.windows, texts.omitted), (windows.into(), omitted));
        }
        let wide = Texts { windows: vec![vec!["x".repeat(TEXT_BYTES_MAX + 1)]].into(), omitted: 0 };
        let many = Texts { windows: vec![Vec::new(); TEXT_LINES_MAX + 1].into(), omitted: 0 };
        assert!(!wide.is_bounded() && !many.is_bounded());
    }

    #[test]
    fn what_comes_later_is_added() {
        let mut texts = Texts::default();
        texts.push(lines(0, 150, 1));
        texts.extend(Texts { windows: vec![lines(500, 100, 1)].into(), omitted: 7 });
        assert_eq!((texts.windows.len(), texts.windows[0].len(), texts.omitted), (2, 100, 57));
    }
}
