use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use wire::{Key, PowerOn};

use crate::lines::Lines;
use crate::{Array, Digest, Header, NleError};

/// A recorded game, read step by step.
pub struct Trajectory<R: Read> {
    lines: Lines<R>,
    header: Header,
    next_step: u64,
    ended: bool,
    screen: Option<Screen>,
}

/// One step of a recorded game.
#[derive(Clone, Debug)]
pub struct Step {
    /// Counted from 0, which is what the game shows before the first key.
    pub index: u64,
    /// The key that led to it; none for step 0.
    pub key: Option<Key>,
    /// The arrays that changed.
    pub changed: BTreeMap<Array, Digest>,
    /// Whether the game ended with it.
    pub done: bool,
}

/// A screen that was recorded for humans.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Screen {
    /// The step that it belongs to.
    pub i: u64,
    /// The rows of the terminal.
    #[serde(rename = "tty_chars")]
    pub rows: Vec<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Header(Box<Header>),
    Step {
        i: u64,
        k: Option<i64>,
        #[serde(default)]
        h: BTreeMap<Array, Digest>,
        #[serde(default)]
        done: bool,
    },
    Screen(Screen),
    End {
        steps: u64,
    },
}

impl Trajectory<File> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// A file that can't be read, is no trajectory, or needs what this engine does not imitate.
    pub fn open(path: &Path) -> Result<Self, NleError> {
        let file = File::open(path).map_err(|source| NleError::Read { path: path.display().to_string(), source })?;
        Self::read(file)
    }
}

impl<R: Read> Trajectory<R> {
    /// Reads a header.
    ///
    /// # Errors
    /// As [`Trajectory::open`].
    pub fn read(file: R) -> Result<Self, NleError> {
        let mut lines = Lines::new(file);
        let Some(Line::Header(header)) = next(&mut lines)? else {
            return Err(NleError::form(1, "a trajectory begins with a header"));
        };
        header.check(1)?;
        Ok(Self { lines, header: *header, next_step: 0, ended: false, screen: None })
    }

    /// How the game was recorded.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next step; `None` after the last, once the end has been checked.
    ///
    /// # Errors
    /// A line that is damaged, out of order or missing.
    pub fn step(&mut self) -> Result<Option<Step>, NleError> {
        loop {
            let line = next(&mut self.lines)?;
            let number = self.lines.number;
            match line {
                Some(_) if self.ended => return Err(NleError::form(number, "a line follows the end")),
                None if self.ended => return Ok(None),
                None => return Err(NleError::form(number, "the file is cut short: it has no end")),
                Some(Line::Header(_)) => return Err(NleError::form(number, "a second header")),
                Some(Line::Screen(screen)) => self.screen = Some(screen),
                Some(Line::End { steps }) => {
                    if self.next_step.checked_sub(1) != Some(steps) {
                        return Err(NleError::form(number, format!("{steps} steps are told, but not recorded")));
                    }
                    self.ended = true;
                }
                Some(Line::Step { i, k, h, done }) => return self.checked(i, k, h, done).map(Some),
            }
        }
    }

    fn checked(&mut self, i: u64, k: Option<i64>, h: BTreeMap<Array, Digest>, done: bool) -> Result<Step, NleError> {
        let line = self.lines.number;
        if i != self.next_step {
            return Err(NleError::form(line, format!("step {i} stands where step {} belongs", self.next_step)));
        }
        let key = match k {
            None if i == 0 => None,
            // NLE takes both for ESC.
            Some(-1) if i > 0 => Some(Key(0)),
            Some(key) if i > 0 => {
                let key = u8::try_from(key).map_err(|_| NleError::form(line, format!("{key} is no key")))?;
                Some(Key(key))
            }
            _ => return Err(NleError::form(line, "every step but the first has a key")),
        };
        let known = &self.header.observation_keys;
        if let Some(array) = h.keys().find(|array| !known.contains(array)) {
            return Err(NleError::form(line, format!("{} is not among the header's observation_keys", array.name())));
        }
        if i == 0 && h.len() != known.len() {
            return Err(NleError::form(line, "the first step lacks arrays"));
        }
        self.next_step += 1;
        Ok(Step { index: i, key, changed: h, done })
    }

    /// The next recorded screen of a step, if there is one before the step after it; used once a difference is found.
    pub(crate) fn screen_of(&mut self, step: u64) -> Option<Screen> {
        if let Ok(Some(Line::Screen(screen))) = next(&mut self.lines) {
            self.screen = Some(screen);
        }
        self.screen.take().filter(|screen| screen.i == step)
    }
}

fn next<R: Read>(lines: &mut Lines<R>) -> Result<Option<Line>, NleError> {
    let number = lines.number + 1;
    let Some(line) = lines.next()? else {
        return Ok(None);
    };
    serde_json::from_slice(line).map(Some).map_err(|source| NleError::Json { line: number, source })
}

/// A trajectory as something that a machine can play.
#[derive(Clone, Debug)]
pub struct Import {
    /// What the game began with.
    pub power_on: PowerOn,
    /// All keys in order.
    pub keys: Vec<Key>,
    /// Whether the recorded game ended.
    pub done: bool,
}

/// Reads a whole file for what a movie needs.
///
/// # Errors
/// As [`Trajectory::open`] and [`Trajectory::step`].
pub fn import(path: &Path) -> Result<Import, NleError> {
    let mut trajectory = Trajectory::open(path)?;
    let mut import = Import { power_on: trajectory.header().power_on()?, keys: Vec::new(), done: false };
    while let Some(step) = trajectory.step()? {
        import.keys.extend(step.key);
        import.done |= step.done;
    }
    Ok(import)
}
