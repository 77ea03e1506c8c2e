//! Arrays of the caller's that are written in place: for vector environments and for whoever wants no fresh ones.

use machine::Observation;
use nle::Array;
use numpy::{Element, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{Numbers, numbers};

enum Sink {
    U8(Py<PyArrayDyn<u8>>),
    I8(Py<PyArrayDyn<i8>>),
    I16(Py<PyArrayDyn<i16>>),
    I32(Py<PyArrayDyn<i32>>),
    I64(Py<PyArrayDyn<i64>>),
}

/// One array of the caller's for each of a game's.
pub(crate) struct Sinks(Vec<(Array, Sink)>);

fn taken<T: Element>(array: Array, given: &Bound<'_, PyAny>) -> PyResult<Py<PyArrayDyn<T>>> {
    let wrong = || {
        PyValueError::new_err(format!(
            "{} needs a writable array in C order of shape {:?} and type {}",
            array.name(),
            array.shape(),
            array.dtype()
        ))
    };
    let given = given.cast::<PyArrayDyn<T>>().map_err(|_| wrong())?;
    let mut writable = given.try_readwrite().map_err(|_| wrong())?;
    let fits = writable.as_slice_mut().is_ok_and(|slice| slice.len() == array.shape().iter().product::<usize>());
    drop(writable);
    if fits { Ok(given.clone().unbind()) } else { Err(wrong()) }
}

fn write<T: Element + Copy>(py: Python<'_>, sink: &Py<PyArrayDyn<T>>, numbers: &[T]) -> PyResult<()> {
    // Its owner may have changed it since it was bound.
    let changed = || {
        PyValueError::new_err(
            "an array that observations are written into was made read-only or resized: leave it as it was",
        )
    };
    let mut writable = sink.bind(py).try_readwrite().map_err(|_| changed())?;
    let slice = writable.as_slice_mut().map_err(|_| changed())?;
    if slice.len() != numbers.len() {
        return Err(changed());
    }
    slice.copy_from_slice(numbers);
    Ok(())
}

impl Sinks {
    /// Takes one array for each of a game's, in their order.
    pub(crate) fn new(arrays: &[Array], given: &[Bound<'_, PyAny>]) -> PyResult<Self> {
        if arrays.len() != given.len() {
            return Err(PyValueError::new_err(format!("give {} arrays, not {}", arrays.len(), given.len())));
        }
        let seen = Observation::default();
        let sinks = arrays.iter().zip(given).map(|(array, given)| {
            let sink = match numbers(*array, &seen) {
                Numbers::U8(_) => Sink::U8(taken(*array, given)?),
                Numbers::I8(_) => Sink::I8(taken(*array, given)?),
                Numbers::I16(_) => Sink::I16(taken(*array, given)?),
                Numbers::I32(_) => Sink::I32(taken(*array, given)?),
                Numbers::I64(_) => Sink::I64(taken(*array, given)?),
            };
            Ok((*array, sink))
        });
        sinks.collect::<PyResult<_>>().map(Self)
    }

    /// Writes what was seen into the caller's arrays.
    pub(crate) fn fill(&self, py: Python<'_>, seen: &Observation) -> PyResult<()> {
        self.0.iter().try_for_each(|(array, sink)| match (sink, numbers(*array, seen)) {
            (Sink::U8(sink), Numbers::U8(numbers)) => write(py, sink, numbers),
            (Sink::I8(sink), Numbers::I8(numbers)) => write(py, sink, numbers),
            (Sink::I16(sink), Numbers::I16(numbers)) => write(py, sink, numbers),
            (Sink::I32(sink), Numbers::I32(numbers)) => write(py, sink, numbers),
            (Sink::I64(sink), Numbers::I64(numbers)) => write(py, sink, numbers),
            _ => Err(PyValueError::new_err(format!("{} has another type", array.name()))),
        })
    }
}
