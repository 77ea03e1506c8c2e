//! Memory at fixed addresses.

use std::io;

use crate::MachineError;

/// Pages at a fixed address, given back when dropped.
#[derive(Debug)]
pub(crate) struct Fixed {
    address: usize,
    bytes: usize,
}

impl Fixed {
    /// Maps zeroed, writable pages at an address where nothing is mapped yet.
    pub(crate) fn map(what: &'static str, address: usize, bytes: usize) -> Result<Self, MachineError> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: with MAP_FIXED_NOREPLACE the kernel refuses where anything is mapped, so no memory of others changes.
        let mapped = unsafe {
            libc::mmap(address as *mut libc::c_void, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        let failed = |source| MachineError::Map { what, address, source };
        if mapped == libc::MAP_FAILED {
            return Err(failed(io::Error::last_os_error()));
        }
        let fixed = Self { address: mapped as usize, bytes };
        if fixed.address != address {
            return Err(failed(io::Error::other("the kernel chose another address")));
        }
        Ok(fixed)
    }

    /// Sets what may be done with the pages.
    pub(crate) fn protect(&self, write: bool, execute: bool) -> Result<(), MachineError> {
        let mut access = libc::PROT_READ;
        if write {
            access |= libc::PROT_WRITE;
        }
        if execute {
            access |= libc::PROT_EXEC;
        }
        // SAFETY: the pages are this mapping's own, and no reference to them is alive while a ROM is being mapped.
        let failed = unsafe { libc::mprotect(self.address as *mut libc::c_void, self.bytes, access) };
        if failed == 0 {
            return Ok(());
        }
        Err(MachineError::Map {
            what: "a segment's protection",
            address: self.address,
            source: io::Error::last_os_error(),
        })
    }
}

impl Drop for Fixed {
    fn drop(&mut self) {
        // SAFETY: the pages are this mapping's own; its owner drops it after all that points into it.
        let _ = unsafe { libc::munmap(self.address as *mut libc::c_void, self.bytes) };
    }
}
