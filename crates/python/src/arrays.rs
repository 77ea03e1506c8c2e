//! An observation's arrays as slices, and as fresh arrays of NumPy.

use machine::{Arrays, Observation};
use ndarray::{Array3, ArrayView1, ArrayView2};
use nle::Array;
use numpy::{Element, PyArray1, PyArray2, PyArray3};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// The numbers of one array in C order.
#[derive(Clone, Copy)]
pub(crate) enum Numbers<'a> {
    U8(&'a [u8]),
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
}

/// The numbers of one array.
pub(crate) fn numbers(array: Array, seen: &Observation) -> Numbers<'_> {
    match array {
        Array::Glyphs => Numbers::I16(seen.glyphs.as_flattened()),
        Array::Chars => Numbers::U8(seen.chars.as_flattened()),
        Array::Colors => Numbers::U8(seen.colors.as_flattened()),
        Array::Specials => Numbers::U8(seen.specials.as_flattened()),
        Array::Blstats => Numbers::I64(&seen.blstats),
        Array::Message => Numbers::U8(&seen.message),
        Array::ProgramState => Numbers::I32(&seen.program_state),
        Array::Internal => Numbers::I32(&seen.internal),
        Array::InvGlyphs => Numbers::I16(&seen.inv_glyphs),
        Array::InvLetters => Numbers::U8(&seen.inv_letters),
        Array::InvOclasses => Numbers::U8(&seen.inv_oclasses),
        Array::InvStrs => Numbers::U8(seen.inv_strs.as_flattened()),
        Array::TtyChars => Numbers::U8(seen.tty_chars.as_flattened()),
        Array::TtyColors => Numbers::I8(seen.tty_colors.as_flattened()),
        Array::TtyCursor => Numbers::U8(&seen.tty_cursor),
        Array::Misc => Numbers::I32(&seen.misc),
    }
}

/// Which of the machine's arrays are written for one of NLE's.
fn part(array: Array) -> Arrays {
    match array {
        Array::Glyphs => Arrays::GLYPHS,
        Array::Chars | Array::Colors | Array::Specials => Arrays::MAPPED,
        Array::Blstats => Arrays::BLSTATS,
        Array::Message => Arrays::MESSAGE,
        Array::InvGlyphs | Array::InvLetters | Array::InvOclasses | Array::InvStrs => Arrays::INVENTORY,
        Array::TtyChars | Array::TtyColors | Array::TtyCursor => Arrays::TTY,
        Array::ProgramState | Array::Internal | Array::Misc => Arrays::INTERNAL,
    }
}

fn copied<'py, T: Element>(py: Python<'py>, numbers: &[T], shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    match *shape {
        [rows, columns] => {
            let view = ArrayView2::from_shape((rows, columns), numbers);
            let view = view.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            Ok(PyArray2::from_array(py, &view).into_any())
        }
        _ => Ok(PyArray1::from_array(py, &ArrayView1::from(numbers)).into_any()),
    }
}

/// A fresh array.
fn fresh<'py>(py: Python<'py>, array: Array, seen: &Observation) -> PyResult<Bound<'py, PyAny>> {
    let shape = array.shape();
    match numbers(array, seen) {
        Numbers::U8(numbers) => copied(py, numbers, shape),
        Numbers::I8(numbers) => copied(py, numbers, shape),
        Numbers::I16(numbers) => copied(py, numbers, shape),
        Numbers::I32(numbers) => copied(py, numbers, shape),
        Numbers::I64(numbers) => copied(py, numbers, shape),
    }
}

/// Fresh arrays.
pub(crate) fn several<'py>(py: Python<'py>, arrays: &[Array], seen: &Observation) -> PyResult<Bound<'py, PyTuple>> {
    let fresh = arrays.iter().map(|array| fresh(py, *array, seen)).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, fresh)
}

/// A picture as rows of pixels of three bytes.
pub(crate) fn picture(py: Python<'_>, image: render::Image) -> PyResult<Bound<'_, PyAny>> {
    let pixels = Array3::from_shape_vec((image.height, image.width, 3), image.bytes);
    let pixels = pixels.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(PyArray3::from_owned_array(py, pixels).into_any())
}

/// Finds an array by NLE's name.
///
/// # Errors
/// Names the arrays that there are.
pub(crate) fn named(name: &str) -> PyResult<Array> {
    Array::ALL.into_iter().find(|array| array.name() == name).ok_or_else(|| {
        if name == "screen_descriptions" {
            return PyValueError::new_err(
                "screen_descriptions is left out: NLE makes it with NetHack's look command, which changes the game",
            );
        }
        let known: Vec<_> = Array::ALL.iter().map(|array| array.name()).collect();
        PyValueError::new_err(format!("{name:?} is no observation key: there are {}", known.join(", ")))
    })
}

/// Shape and type of an array, by NLE's name.
#[pyfunction]
pub(crate) fn array_description(name: &str) -> PyResult<(Vec<usize>, &'static str)> {
    let array = named(name)?;
    Ok((array.shape().to_vec(), array.dtype()))
}

/// Which arrays a game shows, and in what order.
pub(crate) struct Layout {
    pub(crate) arrays: Vec<Array>,
    pub(crate) wanted: Arrays,
    /// Those that the dictionary of observations holds, with their places among `arrays`.
    given: Vec<(Py<PyString>, usize)>,
}

impl Layout {
    /// All arrays that are made, and those among them that are given away.
    pub(crate) fn new(py: Python<'_>, made: &[String], given: &[String]) -> PyResult<Self> {
        let arrays = made.iter().map(|name| named(name)).collect::<PyResult<Vec<_>>>()?;
        let given = given
            .iter()
            .map(|name| {
                let place = made.iter().position(|made| made == name);
                let place = place.ok_or_else(|| PyValueError::new_err(format!("{name:?} is not made")))?;
                Ok((PyString::intern(py, name).unbind(), place))
            })
            .collect::<PyResult<_>>()?;
        // The machine's own questions are answered from these.
        let always = Arrays::INTERNAL.and(Arrays::MESSAGE);
        let wanted = arrays.iter().fold(always, |wanted, array| wanted.and(part(*array)));
        Ok(Self { arrays, wanted, given })
    }

    /// The names of the arrays that are given away.
    pub(crate) fn given_names(&self, py: Python<'_>) -> Vec<Py<PyString>> {
        self.given.iter().map(|(name, _)| name.clone_ref(py)).collect()
    }

    /// Fresh arrays, all of them.
    pub(crate) fn tuple<'py>(&self, py: Python<'py>, seen: &Observation) -> PyResult<Bound<'py, PyTuple>> {
        several(py, &self.arrays, seen)
    }

    /// Those of the arrays that are given away, by name.
    pub(crate) fn dictionary<'py>(&self, py: Python<'py>, tuple: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyDict>> {
        let dictionary = PyDict::new(py);
        for (name, place) in &self.given {
            dictionary.set_item(name, tuple.get_borrowed_item(*place)?)?;
        }
        Ok(dictionary)
    }
}
