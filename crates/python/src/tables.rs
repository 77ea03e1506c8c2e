//! What the ROM says of monsters, things and symbols, as bytes; Python gives them their names.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Bytes of the ROM's segments as they are before power-on.
#[pyfunction]
pub(crate) fn rom_read(py: Python<'_>, address: u64, count: usize) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = rom::built_in().read(address, count);
    let bytes = bytes.ok_or_else(|| PyKeyError::new_err(format!("the ROM has no {count} bytes at {address:#x}")))?;
    Ok(PyBytes::new(py, bytes))
}

/// Address and size of a table of the ROM.
#[pyfunction]
pub(crate) fn rom_symbol(name: &str) -> PyResult<(u64, u64)> {
    let symbol = rom::built_in().symbols().get(name);
    let symbol = symbol.ok_or_else(|| PyKeyError::new_err(format!("the ROM has no {name}")))?;
    Ok((symbol.address, symbol.bytes))
}
