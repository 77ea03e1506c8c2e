//! Lines tried from saved games on all workers of a lab, told as arrays.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use lab::{Cancel, Control, LabError, LabOptions, LineStop, Luck, Tried, Try};
use ndarray::Array2;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use wire::{COLUMNS, Frame, MAP_COLUMNS, MAP_ROWS, ROWS, Seed, StopReason};

use crate::power::Given;

/// Worker processes, and the saved games that they play from.
#[pyclass(module = "nethack_lab._native", frozen)]
pub(crate) struct Lab(Own<lab::Lab>);

/// A saved game in a lab: a handle that costs little.
#[pyclass(module = "nethack_lab._native", frozen)]
pub(crate) struct LabState(Own<lab::State>);

impl LabState {
    fn new(state: lab::State) -> Self {
        Self(Own::new(state))
    }
}

/// What belongs to the process that made it. A forked process has a copy without the threads behind it, and must neither
/// wait for them nor end the workers of its parent: there it is left as it is.
struct Own<T> {
    value: Arc<T>,
    process: u32,
}

impl<T> Own<T> {
    fn new(value: T) -> Self {
        Self { value: Arc::new(value), process: std::process::id() }
    }
}

impl<T> Deref for Own<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Drop for Own<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // One more owner, which never goes.
            std::mem::forget(Arc::clone(&self.value));
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors arrive as values where they are mapped")]
fn told(error: LabError) -> PyErr {
    match error {
        LabError::PowerOn(_)
        | LabError::BadMovie(_)
        | LabError::Batch(_)
        | LabError::LimitExceeded { .. }
        | LabError::ForeignState => PyValueError::new_err(error.to_string()),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}

/// A state, keys, and core and display seeds.
type GivenLine<'py> = (PyRef<'py, LabState>, Vec<u8>, Option<(u64, u64)>);

/// A word for why a line ended where it did.
fn stop_word(stop: &LineStop) -> &'static str {
    match stop {
        LineStop::Line(StopReason::Done) => "done",
        LineStop::Line(StopReason::NotAccepted) => "not_accepted",
        LineStop::Line(StopReason::Ended) => "ended",
        LineStop::Line(StopReason::Turns) => "turns",
        LineStop::Line(StopReason::InputLimit) => "input_limit",
        LineStop::Line(StopReason::Policy) => "policy",
        LineStop::Cancelled => "cancelled",
        LineStop::Refused { .. } => "refused",
        LineStop::Lost { .. } => "lost",
    }
}

/// The numbers of the status lines, in this order; -1 where they are not shown.
const STATUS: [&str; 8] = ["hp", "hp_max", "depth", "gold", "score", "experience_level", "experience", "armor_class"];

fn status(frame: Option<&Frame>) -> [i64; 8] {
    let Some(status) = frame.and_then(|frame| frame.status.as_ref()) else { return [-1; 8] };
    [
        i64::from(status.hp),
        i64::from(status.hp_max),
        i64::from(status.depth),
        status.gold,
        status.score.unwrap_or(-1),
        status.experience_level.map_or(-1, i64::from),
        status.experience.unwrap_or(-1),
        i64::from(status.armor_class),
    ]
}

/// Rows of one length, a row of `empty` where a line has none.
fn rows<'py, T: numpy::Element + Copy>(
    py: Python<'py>,
    frames: &[Option<Frame>],
    row: impl Fn(&Frame) -> &[T],
    columns: usize,
    empty: T,
) -> Bound<'py, PyArray2<T>> {
    let mut all = Array2::from_elem((frames.len(), columns), empty);
    for (mut into, frame) in all.rows_mut().into_iter().zip(frames) {
        if let Some(cells) = frame.as_ref().map(&row).filter(|cells| cells.len() == columns) {
            into.iter_mut().zip(cells).for_each(|(place, cell)| *place = *cell);
        }
    }
    PyArray2::from_owned_array(py, all)
}

fn results<'py>(py: Python<'py>, tried: Vec<Tried>) -> PyResult<Bound<'py, PyDict>> {
    let frames: Vec<_> = tried.iter().map(Tried::frame).collect();
    let numbers = |number: &dyn Fn(&Tried) -> i64| PyArray1::from_iter(py, tried.iter().map(number));
    let answer = PyDict::new(py);
    answer.set_item("keys_used", numbers(&|line| line.keys_used as i64))?;
    answer.set_item("turns", numbers(&|line| line.turns))?;
    answer.set_item("turn", numbers(&|line| line.turn))?;
    answer.set_item("ended", PyArray1::from_iter(py, tried.iter().map(|line| line.ended.is_some())))?;
    answer.set_item("stop", tried.iter().map(|line| stop_word(&line.stop)).collect::<Vec<_>>())?;
    let ends: Vec<_> = tried.iter().map(|line| line.ended.as_ref().map(|ended| ended.text.clone())).collect();
    answer.set_item("end", ends)?;
    answer.set_item("play", tried.iter().map(|line| line.play.to_string()).collect::<Vec<_>>())?;
    answer.set_item("inputs", inputs(py, &tried)?)?;
    answer.set_item(
        "chars",
        rows(py, &frames, |frame| &frame.screen.chars, ROWS * COLUMNS, b' ').reshape([frames.len(), ROWS, COLUMNS])?,
    )?;
    answer.set_item(
        "colors",
        rows(py, &frames, |frame| &frame.screen.colors, ROWS * COLUMNS, 8).reshape([frames.len(), ROWS, COLUMNS])?,
    )?;
    answer.set_item(
        "glyphs",
        rows(py, &frames, |frame| &frame.glyphs, MAP_ROWS * MAP_COLUMNS, 2359).reshape([
            frames.len(),
            MAP_ROWS,
            MAP_COLUMNS,
        ])?,
    )?;
    for (place, name) in STATUS.iter().enumerate() {
        let numbers = frames.iter().map(|frame| status(frame.as_ref())[place]);
        answer.set_item(*name, PyArray1::from_iter(py, numbers))?;
    }
    answer.set_item("no_room", PyArray1::from_iter(py, tried.iter().map(|line| line.no_room)))?;
    let states: Vec<_> = tried.into_iter().map(|line| line.state.map(LabState::new)).collect();
    answer.set_item("states", states)?;
    Ok(answer)
}

fn inputs<'py>(py: Python<'py>, tried: &[Tried]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(
        py,
        tried.iter().map(|line| {
            let keys: Vec<u8> = line.inputs.iter().map(|key| key.0).collect();
            PyBytes::new(py, &keys)
        }),
    )
}

#[pymethods]
impl Lab {
    /// Starts `workers` worker processes of `program`, as many as processor cores where none are given.
    #[new]
    #[pyo3(signature = (program, workers=None))]
    fn new(py: Python<'_>, program: PathBuf, workers: Option<usize>) -> PyResult<Self> {
        let mut options = LabOptions::new(program);
        options.workers = workers.unwrap_or(options.workers).max(1);
        options.reserved = 0;
        py.detach(|| lab::Lab::new(options)).map(|lab| Self(Own::new(lab))).map_err(told)
    }

    /// Begins a game.
    fn begin(&self, py: Python<'_>, given: Given) -> PyResult<LabState> {
        let record = given.record()?;
        py.detach(|| self.0.begin(record)).map(LabState::new).map_err(told)
    }

    /// The state at the end of a movie, which is replayed and compared.
    fn open_movie(&self, py: Python<'_>, movie: &[u8]) -> PyResult<LabState> {
        py.detach(|| {
            let machine = self.0.open_movie(movie, false, &Control::default())?;
            let state = self.0.state(machine.machine)?;
            self.0.delete(machine.machine, None)?;
            Ok(state)
        })
        .map(LabState::new)
        .map_err(told)
    }

    /// Tries lines: each from a state, with its keys and, where given, seeds for luck of its own.
    fn try_lines<'py>(
        &self,
        py: Python<'py>,
        lines: Vec<GivenLine<'py>>,
        keep: bool,
        frames: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let tries = lines.into_iter().map(|(state, keys, seeds)| {
            let seeded = |(core, display)| Luck::Reseed { core: Seed(core), display: Seed(display) };
            let luck = seeds.map_or(Luck::Same, seeded);
            Try { keep, frame: frames, ..Try::keys(&state.0, &keys).with_luck(luck) }
        });
        let tries: Vec<Try> = tries.collect();
        let cancel = Cancel::default();
        let (tried, interrupted) = py.detach(|| {
            let interrupted = std::cell::RefCell::new(None);
            let look = |_| {
                let asked = Python::attach(|py| -> PyResult<()> { py.check_signals() });
                if let Err(error) = asked {
                    interrupted.replace(Some(error));
                    cancel.cancel();
                }
            };
            let control = Control { cancel: Some(&cancel), progress: Some(&look), ..Control::default() };
            (self.0.try_lines(&tries, &control), interrupted.into_inner())
        });
        match interrupted {
            Some(error) => Err(error),
            None => results(py, tried.map_err(told)?),
        }
    }

    /// The movie that leads to a state.
    fn movie<'py>(&self, py: Python<'py>, state: &LabState) -> PyResult<Bound<'py, PyBytes>> {
        let movie = py.detach(|| self.0.movie_of(&state.0)).map_err(told)?;
        Ok(PyBytes::new(py, &movie))
    }

    /// What a state is: equal digests are equal images.
    fn digest(&self, py: Python<'_>, state: &LabState) -> PyResult<Option<String>> {
        let digest = py.detach(|| self.0.digest(&state.0)).map_err(told)?;
        Ok(digest.map(|digest| digest.to_string()))
    }
}

#[pymethods]
impl LabState {
    /// How many keys lead to it.
    #[getter]
    fn boundary(&self) -> u64 {
        self.0.boundary().0
    }

    /// How its game ended, in its own words.
    #[getter]
    fn end(&self) -> Option<String> {
        self.0.ended().map(|ended| ended.text.clone())
    }

    /// Refuses to be pickled or copied, and says what can be.
    #[expect(clippy::unused_self, reason = "Python calls it on a state")]
    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a state of a lab can't be copied or pickled: lab.travelling(state) gives one that can",
        ))
    }

    /// Bytes that it takes beyond the states that it builds on.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}
