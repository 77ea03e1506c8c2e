//! A copy of a game that can't change: its image, the line that leads to it, and what was seen there.

use std::sync::Arc;

use machine::{Observation, SaveState, Stop};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use wire::{Ended, PlayDigest, PowerOn, StateDigest};

use crate::errors::StateError;
use crate::hub::{self, Seat};
use crate::line::Line;
use crate::{errors, state_file};

/// A saved game.
#[pyclass(module = "nethack_lab._native", frozen)]
pub(crate) struct State {
    pub(crate) image: Arc<SaveState>,
    pub(crate) record: Arc<PowerOn>,
    pub(crate) line: Line,
    pub(crate) seen: Box<Observation>,
    pub(crate) stop: Stop,
}

/// How a game has ended, if it has.
pub(crate) fn ended(stop: &Stop) -> Option<&Ended> {
    match stop {
        Stop::Boundary => None,
        Stop::Ended(ended) => Some(ended),
    }
}

impl State {
    fn digests(&self) -> PyResult<(PlayDigest, StateDigest)> {
        let seat = Seat::with(Arc::clone(&self.image));
        hub::with(&seat, |machine| Ok((machine.play_digest(), machine.state_digest())))
    }

    fn film(&self) -> PyResult<Vec<u8>> {
        self.line.export(&self.record, ended(&self.stop), self.digests()?)
    }

    fn bytes(&self) -> PyResult<Vec<u8>> {
        state_file::write(&self.film()?, self.image.as_bytes(), &self.seen)
    }
}

#[pymethods]
impl State {
    /// Reads a state. `trust` takes its image as it is: only for bytes of your own, since an image holds code pointers.
    /// Without it, and with `rebuild`, the image is made anew by replaying the movie inside and comparing every check.
    #[staticmethod]
    #[pyo3(signature = (data, *, trust=false, rebuild=false))]
    fn from_bytes(py: Python<'_>, data: &[u8], trust: bool, rebuild: bool) -> PyResult<Self> {
        let file = state_file::read(data)?;
        let header = &file.movie.header;
        let ours = rom::built_in().rom_id();
        if header.rom_id != ours && !rebuild {
            return Err(errors::foreign(&header.rom_id, ours));
        }
        if !trust || rebuild {
            return state_file::rebuild(py, &file.movie);
        }
        let stop = match &file.movie.finish {
            movie::Finish::Ended(ended) => Stop::Ended(ended.clone()),
            _ => Stop::Boundary,
        };
        Ok(Self {
            image: Arc::new(SaveState::from_bytes(file.image)),
            record: Arc::new(header.power_on.clone()),
            line: Line::of(&file.movie),
            seen: file.seen,
            stop,
        })
    }

    /// The state at the end of a movie, which is replayed, every check compared. A movie of another ROM will do where
    /// play is the same.
    #[staticmethod]
    fn from_movie(py: Python<'_>, movie: &[u8]) -> PyResult<Self> {
        let recording = movie::read(movie).map_err(|error| StateError::new_err(error.to_string()))?;
        state_file::rebuild(py, &recording.movie)
    }

    /// The whole state as bytes: image, movie and arrays, with a version and a digest.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes()?))
    }

    /// The movie that leads from power-on to this state.
    fn movie<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.film()?))
    }

    /// How many keys lead to it.
    #[getter]
    fn boundary(&self) -> u64 {
        self.line.boundary()
    }

    /// The game's own count of turns, as the status line showed it last.
    #[getter]
    fn turn(&self) -> i64 {
        self.seen.blstats[20]
    }

    /// Whether the game has ended there.
    #[getter]
    fn done(&self) -> bool {
        self.stop != Stop::Boundary
    }

    /// What the state is: equal digests are equal images, under one ROM.
    fn digest(&self) -> PyResult<String> {
        Ok(self.digests()?.1.to_string())
    }

    /// Bytes of memory of its image.
    #[getter]
    fn image_bytes(&self) -> usize {
        self.image.as_bytes().len()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let maker = py.import("nethack_lab._states")?.getattr("trusted_native_state")?;
        Ok((maker, (slf.get().to_bytes(py)?,)))
    }
}
