//! What workers and policies say, made fit to be shown: nobody knows what they put into it.

use worker::{LostReason, Refusal, Report, StateId, Task, TaskError, Unless};

use crate::engine::{Hosted, LineReport};

/// The most characters of a worker's words; with what the lab says around them it is not above 500.
const CHARS_MAX: usize = 440;

/// A worker's words, of bounded length and without control characters.
pub(crate) fn told(text: &str) -> String {
    let mut words = String::new();
    let mut left = CHARS_MAX;
    for character in text.chars() {
        let shown = if character.is_control() { character.escape_default().to_string() } else { character.into() };
        let chars = shown.chars().count();
        if chars > left {
            words.push('\u{2026}');
            break;
        }
        left -= chars;
        words.push_str(&shown);
    }
    words
}

/// A worker all of whose refusals and complaints have passed through [`told`].
pub(crate) struct WellSpoken<'a>(pub(crate) Box<dyn Hosted + 'a>);

fn error_told(error: TaskError) -> TaskError {
    match error {
        TaskError::Refused(text) => TaskError::Refused(told(&text)),
        TaskError::Displaced(text) => TaskError::Displaced(told(&text)),
        TaskError::Lost { reason: LostReason::Failed(text) } => {
            TaskError::Lost { reason: LostReason::Failed(told(&text)) }
        }
        TaskError::Lost { reason: LostReason::Protocol(text) } => {
            TaskError::Lost { reason: LostReason::Protocol(told(&text)) }
        }
        error => error,
    }
}

fn lines_told(
    lines: Result<Vec<Result<LineReport, Refusal>>, TaskError>,
) -> Result<Vec<Result<LineReport, Refusal>>, TaskError> {
    let refused = |refusal: Refusal| Refusal { reason: told(&refusal.reason), ..refusal };
    Ok(lines.map_err(error_told)?.into_iter().map(|line| line.map_err(refused)).collect())
}

impl Hosted for WellSpoken<'_> {
    fn set_resident(&mut self, state: Option<StateId>) {
        self.0.set_resident(state);
    }

    fn run(&mut self, task: &Task) -> Result<Report, TaskError> {
        self.0.run(task).map_err(error_told)
    }

    fn run_lines(&mut self, tasks: &[Task]) -> Result<Vec<Result<LineReport, Refusal>>, TaskError> {
        lines_told(self.0.run_lines(tasks))
    }

    fn run_lines_unless(
        &mut self,
        tasks: &[Task],
        stop: Unless<'_>,
    ) -> Result<Vec<Result<LineReport, Refusal>>, TaskError> {
        lines_told(self.0.run_lines_unless(tasks, stop))
    }

    fn output(&mut self, bytes: u64, read: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        self.0.output(bytes, read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_bounded_and_plain() {
        assert_eq!(told("no key \u{e9}"), "no key \u{e9}");
        assert_eq!(told("a\n\x1b[2J\u{7f}\u{9b}"), "a\\n\\u{1b}[2J\\u{7f}\\u{9b}");
        for text in ["x".repeat(1 << 20), "\0".repeat(1 << 20), "\u{10ffff}".repeat(9_999)] {
            let words = told(&text);
            assert!(words.chars().count() <= CHARS_MAX + 1 && words.ends_with('\u{2026}'), "{words}");
            assert!(!words.contains(char::is_control));
        }
        assert_eq!(told(&"y".repeat(CHARS_MAX)), "y".repeat(CHARS_MAX));
    }
}
