//! Movies are judged by a worker process, as the command line does.

use std::path::PathBuf;

use lab::{Control, Lab, LabError, LabOptions, VerifyReport};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

fn judge(movie: &[u8], program: PathBuf) -> Result<VerifyReport, LabError> {
    let mut options = LabOptions::new(program);
    (options.workers, options.reserved) = (1, 0);
    Lab::new(options)?.verify(movie, None, &Control::default())
}

/// Replays a movie in a fresh worker of `program` and gives its verdict with what it rests on.
#[pyfunction]
pub(crate) fn verify<'py>(py: Python<'py>, movie: &[u8], program: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    let report = py.detach(|| judge(movie, program)).map_err(|error| match error {
        LabError::BadMovie(_) => PyValueError::new_err(error.to_string()),
        _ => PyRuntimeError::new_err(error.to_string()),
    })?;
    let told = PyDict::new(py);
    told.set_item("verdict", report.verdict.name())?;
    told.set_item("text", report.verdict.to_string())?;
    told.set_item("inputs", report.inputs)?;
    told.set_item("inputs_recorded", report.inputs_recorded)?;
    told.set_item("engine_id", report.engine_id)?;
    told.set_item("rom_id", report.rom_id)?;
    told.set_item("ended", report.ended.map(|ended| ended.text))?;
    Ok(told)
}
