//! Memory that a host and its workers share, so that a state crosses between them with one copy.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FallocateFlags, MemfdFlags, Mode, OFlags, SealFlags};

/// Why shared memory can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SharedError {
    /// The system refused.
    #[error("can't {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Bytes outside the memory.
    #[error("bytes {offset}..{offset}+{length} lie outside the {capacity} bytes of shared memory")]
    Bounds {
        /// Where they begin.
        offset: usize,
        /// How many they are.
        length: usize,
        /// How many there are in all.
        capacity: usize,
    },
    /// A write to memory that was opened for reading.
    #[error("this side may only read the shared memory")]
    ReadOnly,
}

/// Mapped memory of a file that has no name. Pages take room only once they are written.
///
/// Who may write where is for the two sides to agree: a slot is written by one side while the other waits for a
/// message about it, so no byte is read while it changes.
#[derive(Debug)]
pub struct SharedMemory {
    fd: OwnedFd,
    address: usize,
    capacity: usize,
    writable: bool,
    /// True when the disk under it may be full, which a write through the mapping could not tell.
    on_disk: bool,
}

/// How many names are tried for a file where the system makes none without a name.
const NAMES_MAX: u32 = 1_000;

fn system(what: &'static str) -> impl FnOnce(rustix::io::Errno) -> SharedError {
    move |errno| SharedError::System { what, source: errno.into() }
}

impl SharedMemory {
    /// Makes shared memory of `capacity` bytes, all zero, that keeps its size.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(capacity: usize) -> Result<Self, SharedError> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = rustix::fs::memfd_create(c"nethack-lab", flags).map_err(system("create shared memory"))?;
        rustix::fs::ftruncate(&fd, capacity as u64).map_err(system("size shared memory"))?;
        let seals = SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&fd, seals).map_err(system("seal shared memory"))?;
        Self::open(fd, capacity, true)
    }

    /// Makes shared memory of `capacity` bytes, all zero, in a file of a directory. The file has no name and goes with
    /// the last process that has it; it takes room on the disk only where it is written.
    ///
    /// # Errors
    /// What the system says.
    pub fn in_file(directory: &Path, capacity: usize) -> Result<Self, SharedError> {
        let fd = nameless(directory).map_err(system("create a file for shared memory"))?;
        rustix::fs::ftruncate(&fd, capacity as u64).map_err(system("size shared memory"))?;
        let mut memory = Self::open(fd, capacity, true)?;
        memory.on_disk = true;
        Ok(memory)
    }

    /// Maps shared memory that another process made.
    ///
    /// # Errors
    /// A file of another size, or what the system says.
    pub fn open(fd: OwnedFd, capacity: usize, writable: bool) -> Result<Self, SharedError> {
        let size = rustix::fs::fstat(&fd).map_err(system("look at shared memory"))?.st_size;
        if u64::try_from(size) != Ok(capacity as u64) || capacity == 0 {
            return Err(SharedError::Bounds { offset: 0, length: capacity, capacity: size.max(0) as usize });
        }
        let access = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        // SAFETY: the kernel chooses fresh addresses; the file is as long as the mapping.
        let mapped = unsafe { libc::mmap(std::ptr::null_mut(), capacity, access, flags, fd.as_raw_fd(), 0) };
        if mapped == libc::MAP_FAILED {
            return Err(SharedError::System { what: "map shared memory", source: io::Error::last_os_error() });
        }
        Ok(Self { fd, address: mapped as usize, capacity, writable, on_disk: false })
    }

    /// The file behind it, to pass to another process.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Its size in bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    fn check(&self, offset: usize, length: usize) -> Result<(), SharedError> {
        match offset.checked_add(length) {
            Some(end) if end <= self.capacity => Ok(()),
            _ => Err(SharedError::Bounds { offset, length, capacity: self.capacity }),
        }
    }

    /// Hands out bytes for reading.
    ///
    /// # Errors
    /// Bytes outside the memory.
    pub fn with_bytes<R>(&self, offset: usize, length: usize, read: impl FnOnce(&[u8]) -> R) -> Result<R, SharedError> {
        self.check(offset, length)?;
        // SAFETY: the bytes are inside the mapping; the side that may write them waits meanwhile (see the type).
        let bytes = unsafe { std::slice::from_raw_parts((self.address + offset) as *const u8, length) };
        Ok(read(bytes))
    }

    /// Hands out bytes for writing.
    ///
    /// # Errors
    /// Bytes outside the memory, or memory opened for reading.
    pub fn with_bytes_mut<R>(
        &mut self,
        offset: usize,
        length: usize,
        write: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R, SharedError> {
        self.check(offset, length)?;
        if !self.writable {
            return Err(SharedError::ReadOnly);
        }
        // SAFETY: the bytes are inside a writable mapping borrowed alone; the other side waits meanwhile (see the type).
        let bytes = unsafe { std::slice::from_raw_parts_mut((self.address + offset) as *mut u8, length) };
        Ok(write(bytes))
    }

    /// Copies bytes in. Several threads may do so at once where their bytes don't meet, which is theirs to see to.
    ///
    /// # Errors
    /// Bytes outside the memory, or memory opened for reading.
    pub fn copy_in(&self, offset: usize, bytes: &[u8]) -> Result<(), SharedError> {
        self.check(offset, bytes.len())?;
        if !self.writable {
            return Err(SharedError::ReadOnly);
        }
        if self.on_disk {
            return self.write_file(offset, bytes);
        }
        // SAFETY: the target is inside a writable mapping, and a private slice can't overlap it.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), (self.address + offset) as *mut u8, bytes.len());
        }
        Ok(())
    }

    /// Writes bytes to the file, which the mapping shows at once.
    fn write_file(&self, offset: usize, bytes: &[u8]) -> Result<(), SharedError> {
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            let written = rustix::io::pwrite(&self.fd, rest, (offset + done) as u64);
            match written {
                Ok(0) => return Err(system("write shared memory")(rustix::io::Errno::NOSPC)),
                Ok(count) => done += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(system("write shared memory")(errno)),
            }
        }
        Ok(())
    }

    /// Copies bytes out.
    ///
    /// # Errors
    /// Bytes outside the memory.
    pub fn copy_out(&self, offset: usize, bytes: &mut [u8]) -> Result<(), SharedError> {
        self.with_bytes(offset, bytes.len(), |shared| bytes.copy_from_slice(shared))
    }

    /// Gives whole pages back to the system; they read as zero afterwards.
    ///
    /// # Errors
    /// Bytes outside the memory, or what the system says.
    pub fn release(&self, offset: usize, length: usize) -> Result<(), SharedError> {
        self.check(offset, length)?;
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&self.fd, flags, offset as u64, length as u64).map_err(system("release shared memory"))
    }
}

/// A new file without a name.
fn nameless(directory: &Path) -> rustix::io::Result<OwnedFd> {
    let (flags, mode) = (OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
    if let Ok(fd) = rustix::fs::open(directory, flags | OFlags::TMPFILE, mode) {
        return Ok(fd);
    }
    // Not every file system can do that; then it has a name for an instant.
    let mut number = 0;
    loop {
        let path = directory.join(format!(".nethack-lab-{}-{number}", std::process::id()));
        match rustix::fs::open(&path, flags | OFlags::CREATE | OFlags::EXCL, mode) {
            Ok(fd) => return rustix::fs::unlinkat(CWD, &path, AtFlags::empty()).map(|()| fd),
            Err(rustix::io::Errno::EXIST) if number < NAMES_MAX => number += 1,
            Err(errno) => return Err(errno),
        }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no borrow of it is alive.
        let _ = unsafe { libc::munmap(self.address as *mut libc::c_void, self.capacity) };
    }
}
