//! A game as Python holds it.

use std::sync::Arc;

use machine::{Arrays, Machine, Observation, Stop};
use movie::Step;
use nle::Array;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use render::{Scale, Symbols};
use wire::{EndKind, Ended, Key, PowerOn, Seed};

use crate::arrays::{self, Layout};
use crate::errors::{self, EngineError};
use crate::hub::{self, Seat};
use crate::line::Line;
use crate::power::Given;
use crate::sinks::Sinks;
use crate::state::{State, ended};

/// More keys than any chain of messages takes.
const KNOWN_STEPS_MAX: usize = 10_000;
/// More keys than any beginning takes.
const ENTER_KEYS_MAX: usize = 1_000;
/// Questions that are left to the player even where others are declined.
const OPEN_QUESTIONS: [&[u8]; 4] = [b"eat", b"attack", b"direction?", b"pray"];
/// Places in NLE's arrays.
const GAME_OVER: usize = 0;
const IN_MOVELOOP: usize = 3;
const SOMETHING_WORTH_SAVING: usize = 5;
const IN_QUESTION: usize = 0;
const IN_LINE: usize = 1;
const WAITS_FOR_SPACE: usize = 2;

/// All arrays, and those by name that the player is given.
type Seen<'py> = (Bound<'py, PyTuple>, Bound<'py, PyDict>);

/// NLE's four seeds: core, disp, reseed, lgen.
type Seeds = (u64, u64, bool, Option<u64>);

/// What is answered by itself after a key.
#[derive(Clone, Copy)]
struct Passing {
    /// Messages, lines of text, and questions.
    known: bool,
    /// Those too once the game is over.
    over: bool,
    /// But no question.
    all_questions: bool,
}

/// A game of NetHack with NLE's arrays.
#[pyclass(module = "nethack_lab._native")]
pub(crate) struct Game {
    layout: Arc<Layout>,
    sinks: Vec<Sinks>,
    play: Option<Play>,
}

/// What there is once a game has begun.
struct Play {
    seat: Arc<Seat>,
    record: Arc<PowerOn>,
    line: Line,
    seen: Box<Observation>,
    stop: Stop,
}

impl Play {
    fn ended(&self) -> Option<&Ended> {
        ended(&self.stop)
    }

    /// Presses one key, notes it, and looks.
    fn press(&mut self, machine: &mut Machine, layout: &Layout, key: Key) -> PyResult<()> {
        self.stop = machine.press(key).map_err(errors::machine)?;
        if let Some(failed) = self.ended().filter(|ended| is_broken(ended)) {
            let at = self.line.boundary();
            return Err(EngineError::new_err(format!("the engine failed at input {at} ({key}): {}", failed.text)));
        }
        self.line.push(Step { key, check: machine.play_digest().check() });
        if self.line.digests_due() {
            self.line.mark_digests(machine.play_digest(), machine.state_digest());
        }
        machine.observe_nle(&mut self.seen, layout.wanted);
        Ok(())
    }

    /// Reads on until the hero may act.
    fn enter(&mut self, machine: &mut Machine, layout: &Layout) -> PyResult<()> {
        for _ in 0..ENTER_KEYS_MAX {
            if self.seen.program_state[IN_MOVELOOP] != 0 {
                return Ok(());
            }
            if let Some(ended) = self.ended() {
                return Err(PyRuntimeError::new_err(format!("the game ended before it began: {}", ended.text)));
            }
            // A thing that lies where the hero begins may be asked a name for.
            let key = if self.seen.misc[IN_LINE] != 0 { Key::ESC } else { Key::SPACE };
            self.press(machine, layout, key)?;
        }
        Err(PyRuntimeError::new_err("the game does not come to its first command: choose other options"))
    }

    /// What NLE answers by itself: messages are read on, lines of text and most questions are declined.
    fn pass_known(&mut self, machine: &mut Machine, layout: &Layout, all_questions: bool) -> PyResult<()> {
        for _ in 0..KNOWN_STEPS_MAX {
            if self.ended().is_some() {
                return Ok(());
            }
            if self.seen.misc[WAITS_FOR_SPACE] != 0 {
                self.press(machine, layout, Key::SPACE)?;
            } else if self.seen.misc[IN_LINE] != 0 {
                self.press(machine, layout, Key::ESC)?;
            } else if self.seen.misc[IN_QUESTION] != 0 {
                if !all_questions && !self.asks_openly() {
                    self.press(machine, layout, Key::ESC)?;
                }
                return Ok(());
            } else {
                return Ok(());
            }
        }
        Err(PyRuntimeError::new_err("the game goes on showing messages"))
    }

    fn asks_openly(&self) -> bool {
        OPEN_QUESTIONS.iter().any(|words| self.seen.message.windows(words.len()).any(|part| part == *words))
    }
}

/// Whether the machine is of no use after such an end.
fn is_broken(ended: &Ended) -> bool {
    matches!(ended.kind, EndKind::Crashed | EndKind::Hung | EndKind::Unsupported)
}

fn no_game() -> PyErr {
    PyRuntimeError::new_err("no game has begun: call reset() first")
}

impl Game {
    fn begun(&self) -> PyResult<&Play> {
        self.play.as_ref().ok_or_else(no_game)
    }

    fn begun_mut(&mut self) -> PyResult<(&mut Play, &Layout)> {
        Ok((self.play.as_mut().ok_or_else(no_game)?, &self.layout))
    }

    fn show<'py>(&self, py: Python<'py>) -> PyResult<Seen<'py>> {
        let tuple = self.layout.tuple(py, &self.begun()?.seen)?;
        let dictionary = self.layout.dictionary(py, &tuple)?;
        Ok((tuple, dictionary))
    }

    fn act(&mut self, key: u8, passing: Passing) -> PyResult<()> {
        let (play, layout) = self.begun_mut()?;
        let seat = Arc::clone(&play.seat);
        hub::with(&seat, |machine| {
            play.press(machine, layout, Key(key))?;
            if passing.known || (passing.over && play.seen.program_state[GAME_OVER] != 0) {
                play.pass_known(machine, layout, passing.all_questions)?;
            }
            Ok(())
        })
    }
}

#[pymethods]
impl Game {
    /// A game that shows the arrays `made`, and `given` among them by name.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "Python's lists arrive as values of their own")]
    fn new(py: Python<'_>, made: Vec<String>, given: Vec<String>) -> PyResult<Self> {
        Ok(Self { layout: Arc::new(Layout::new(py, &made, &given)?), sinks: Vec::new(), play: None })
    }

    /// Begins a new game; with `known` passes what stands before the first command.
    fn power_on(&mut self, given: Given, known: bool) -> PyResult<()> {
        let record = given.record()?;
        let (seat, stop) = hub::begin(&record)?;
        let seen = Box::<Observation>::default();
        let mut play = Play { seat: Arc::clone(&seat), record: Arc::new(record), line: Line::default(), seen, stop };
        hub::with(&seat, |machine| {
            machine.observe_nle(&mut play.seen, self.layout.wanted);
            if known { play.enter(machine, &self.layout) } else { Ok(()) }
        })?;
        self.play = Some(play);
        Ok(())
    }

    /// Presses a key, passes what NLE passes (`known`; `over`: once the game is over; `all_questions`: but these), and
    /// shows the arrays: all, those given by name, and whether the game has ended.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        key: u8,
        known: bool,
        all_questions: bool,
        over: bool,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>, bool)> {
        self.act(key, Passing { known, over, all_questions })?;
        let (tuple, dictionary) = self.show(py)?;
        Ok((tuple, dictionary, self.done()))
    }

    /// As `step`, but writes a set of bound arrays and gives only whether the game has ended.
    #[pyo3(signature = (key, known, all_questions, over, to=0))]
    fn step_into(
        &mut self,
        py: Python<'_>,
        key: u8,
        known: bool,
        all_questions: bool,
        over: bool,
        to: usize,
    ) -> PyResult<bool> {
        self.act(key, Passing { known, over, all_questions })?;
        self.fill(py, to)?;
        Ok(self.done())
    }

    /// Presses keys one after the other, as they are, until the game ends; gives how many were pressed.
    fn play(&mut self, py: Python<'_>, keys: &[u8]) -> PyResult<usize> {
        let (play, layout) = self.begun_mut()?;
        let seat = Arc::clone(&play.seat);
        let mut pressed = 0;
        for chunk in keys.chunks(1_000) {
            py.check_signals()?;
            hub::with(&seat, |machine| {
                for key in chunk {
                    if play.ended().is_some() {
                        break;
                    }
                    play.press(machine, layout, Key(*key))?;
                    pressed += 1;
                }
                Ok(())
            })?;
        }
        Ok(pressed)
    }

    /// The arrays as they were seen last: all, and those given by name.
    fn observe<'py>(&self, py: Python<'py>) -> PyResult<Seen<'py>> {
        self.show(py)
    }

    /// Binds sets of the caller's arrays, one array for each of those made, which `fill` and `step_into` write.
    #[expect(clippy::needless_pass_by_value, reason = "Python's lists arrive as values of their own")]
    fn bind(&mut self, sets: Vec<Vec<Bound<'_, PyAny>>>) -> PyResult<()> {
        let sinks = sets.iter().map(|set| Sinks::new(&self.layout.arrays, set));
        self.sinks = sinks.collect::<PyResult<_>>()?;
        Ok(())
    }

    /// Writes what was seen last into a set of bound arrays.
    #[pyo3(signature = (to=0))]
    fn fill(&self, py: Python<'_>, to: usize) -> PyResult<()> {
        let sinks =
            self.sinks.get(to).ok_or_else(|| PyValueError::new_err(format!("no set {to} of arrays is bound")))?;
        sinks.fill(py, &self.begun()?.seen)
    }

    /// Characters, colours and cursor of the terminal as they are now, whatever arrays the game shows.
    fn terminal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut seen = Box::<Observation>::default();
        hub::with(&self.begun()?.seat, |machine| {
            machine.observe_nle(&mut seen, Arrays::TTY);
            Ok(())
        })?;
        arrays::several(py, &[Array::TtyChars, Array::TtyColors, Array::TtyCursor], &seen)
    }

    /// The terminal as a picture: red, green and blue of 384 rows of 640 pixels.
    fn picture<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let play = self.begun()?;
        let frame = hub::with(&play.seat, |machine| Ok(machine.frame()))?;
        let image = render::rgb(&frame.screen, Symbols::of(&play.record), Scale::One);
        arrays::picture(py, image)
    }

    /// Another game that stands where this one does. Bound arrays stay with this one.
    fn fork(&self) -> PyResult<Self> {
        let play = self.play.as_ref().map(|play| {
            Ok::<_, PyErr>(Play {
                seat: Seat::with(hub::copy(&play.seat)?),
                record: Arc::clone(&play.record),
                line: play.line.clone(),
                seen: play.seen.clone(),
                stop: play.stop.clone(),
            })
        });
        Ok(Self { layout: Arc::clone(&self.layout), sinks: Vec::new(), play: play.transpose()? })
    }

    /// A copy of the game that can't change.
    fn save(&self) -> PyResult<State> {
        let play = self.begun()?;
        Ok(State {
            image: hub::copy(&play.seat)?,
            record: Arc::clone(&play.record),
            line: play.line.clone(),
            seen: play.seen.clone(),
            stop: play.stop.clone(),
        })
    }

    /// Makes this game what the saved one was.
    fn load(&mut self, state: &State) {
        self.play = Some(Play {
            seat: Seat::with(Arc::clone(&state.image)),
            record: Arc::clone(&state.record),
            line: state.line.clone(),
            seen: state.seen.clone(),
            stop: state.stop.clone(),
        });
    }

    /// Gives both generators new seeds; the movie holds it.
    fn reseed(&mut self, core: u64, display: u64) -> PyResult<()> {
        let (play, _) = self.begun_mut()?;
        hub::with(&play.seat, |machine| machine.reseed(Seed(core), Seed(display)).map_err(errors::machine))?;
        play.line.mark_reseed(Seed(core), Seed(display));
        Ok(())
    }

    /// The movie from power-on to here.
    fn movie<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let play = self.begun()?;
        let digests = hub::with(&play.seat, |machine| Ok((machine.play_digest(), machine.state_digest())))?;
        Ok(PyBytes::new(py, &play.line.export(&play.record, play.ended(), digests)?))
    }

    /// What the machine is now: equal digests are equal images, under one ROM.
    fn digest(&self) -> PyResult<String> {
        hub::with(&self.begun()?.seat, |machine| Ok(machine.state_digest().to_string()))
    }

    /// All keys since power-on.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let keys: Vec<u8> = self.begun()?.line.steps().map(|step| step.key.0).collect();
        Ok(PyBytes::new(py, &keys))
    }

    /// The seeds that the game was begun with: core, disp, reseed, lgen.
    #[getter]
    fn seeds(&self) -> PyResult<Seeds> {
        let record = &self.begun()?.record;
        Ok((record.core_seed.0, record.display_seed.0, record.reseed, record.level_seed.map(|seed| seed.0)))
    }

    /// As `seeds`, but with those that the running game was given last.
    #[getter]
    fn current_seeds(&self) -> PyResult<Seeds> {
        let (core, display, reseed, level) = self.seeds()?;
        let (core, display) = self.begun()?.line.last_reseed().unwrap_or((core, display));
        Ok((core, display, reseed, level))
    }

    /// How many keys have been pressed since power-on.
    #[getter]
    fn boundary(&self) -> PyResult<u64> {
        Ok(self.begun()?.line.boundary())
    }

    /// Whether the game has ended.
    #[getter]
    fn done(&self) -> bool {
        self.play.as_ref().is_some_and(|play| play.ended().is_some())
    }

    /// NetHack's number for how the game ended; 0 while it has not.
    #[getter]
    fn how(&self) -> u8 {
        self.play.as_ref().and_then(Play::ended).and_then(|ended| ended.how).unwrap_or_default()
    }

    /// Why the game ended, in its own words.
    #[getter]
    fn end(&self) -> Option<String> {
        self.play.as_ref().and_then(Play::ended).map(|ended| ended.text.clone())
    }

    /// Whether there is a hero whose game is worth saving: not before the start, not at the end.
    #[getter]
    fn in_normal_game(&self) -> bool {
        let worth = |play: &Play| play.ended().is_none() && play.seen.program_state[SOMETHING_WORTH_SAVING] != 0;
        self.play.as_ref().is_some_and(worth)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let game = slf.borrow();
        let state = game.play.is_some().then(|| game.save()).transpose()?;
        let made: Vec<_> = game.layout.arrays.iter().map(|array| array.name()).collect();
        let maker = py.import("nethack_lab._states")?.getattr("native_game")?;
        Ok((maker, (made, game.layout.given_names(py), state).into_pyobject(py)?))
    }
}
