//! A mapped ROM: its memory as slices, its functions as methods.

use std::cell::RefCell;
use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use rom::{Access, PAGE_BYTES, Rom};
use wire::{COLUMNS, GENERATOR_BYTES, MAP_COLUMNS, MAP_ROWS, ROWS};

use crate::contract::{
    DISK_BASE, DISK_BYTES, EXTENT_CLASSES, EditBox, Ending, FileEntry, HEAP_BASE, HEAP_BYTES, Header, Instant, Mailbox,
    STACK_BASE, STACK_BYTES,
};
use crate::disk::DiskLayout;
use crate::isaac::CONTEXT_BYTES;
use crate::memory::Fixed;
use crate::signals::{self, Caught, Handlers};
use crate::{Arrays, MachineError, Observation};

/// Bytes of the fixed head of a frame.
pub(crate) const FRAME_HEAD_BYTES: usize = 3 * ROWS * COLUMNS + 2 * MAP_ROWS * MAP_COLUMNS + 16 + 8 * 30 + 16;

/// The longest JSON of what no player sees.
const HIDDEN_BYTES_MAX: usize = 16 << 20;

/// How much CPU time one key may take unless another limit is set.
const KEY_CPU_MS: u64 = 60_000;

static OCCUPIED: AtomicBool = AtomicBool::new(false);

/// Holds the process's one place for a machine.
struct Place;

impl Place {
    fn take() -> Result<Self, MachineError> {
        if OCCUPIED.swap(true, Ordering::SeqCst) {
            return Err(MachineError::Occupied);
        }
        Ok(Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        OCCUPIED.store(false, Ordering::SeqCst);
    }
}

/// A ROM mapped into this process, with its regions and handlers. Bound to the thread that opened it, whose CPU time
/// the watchdog counts.
pub(crate) struct Engine {
    header: Header,
    globals_bytes: usize,
    linked: Vec<u8>,
    contexts: [usize; 2],
    pub(crate) handlers: Handlers,
    frame_bytes: RefCell<Vec<u8>>,
    _regions: Vec<Fixed>,
    _place: Place,
    _this_thread: PhantomData<*const ()>,
}

/// One file of the game.
pub(crate) struct File<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) bytes: &'a [u8],
    pub(crate) read_only: bool,
}

impl Engine {
    pub(crate) fn open(rom: &Rom) -> Result<Self, MachineError> {
        let place = Place::take()?;
        let mut regions = Vec::new();
        for segment in rom.segments() {
            let page = PAGE_BYTES as usize;
            let start = segment.address as usize / page * page;
            let end = (segment.address + segment.memory_bytes) as usize;
            let fixed = Fixed::map("a segment", start, (end - start).next_multiple_of(page))?;
            let bytes = rom.segment_bytes(segment);
            // SAFETY: the parsed ROM guarantees file bytes <= memory bytes, and those pages have just been mapped.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), segment.address as *mut u8, bytes.len());
            };
            fixed.protect(segment.access == Access::ReadWrite, segment.access == Access::ReadExecute)?;
            regions.push(fixed);
        }
        regions.push(Fixed::map("the heap", HEAP_BASE, HEAP_BYTES)?);
        regions.push(Fixed::map("the stack", STACK_BASE, STACK_BYTES)?);
        regions.push(Fixed::map("the disk", DISK_BASE, DISK_BYTES)?);
        let header = read_header(rom)?;
        let globals_bytes = header.globals_end as usize - header.globals_start as usize;
        let data_bytes = header.data_end as usize - header.globals_start as usize;
        let linked = rom
            .read(header.globals_start as u64, data_bytes)
            .ok_or_else(|| MachineError::Contract("its data is not in the file".to_owned()))?
            .to_vec();
        Ok(Self {
            handlers: Handlers::install(header.abandon, KEY_CPU_MS)?,
            contexts: read_contexts(rom, &header)?,
            header,
            globals_bytes,
            linked,
            frame_bytes: RefCell::new(vec![0; 64 << 10]),
            _regions: regions,
            _place: place,
            _this_thread: PhantomData,
        })
    }

    /// Where in the globals the two generators are.
    pub(crate) fn contexts(&self) -> [usize; 2] {
        self.contexts
    }

    /// How the disk is laid out.
    pub(crate) fn disk_layout(&self) -> DiskLayout {
        DiskLayout {
            head_bytes: self.header.disk_head_bytes as usize,
            files: self.header.disk_files_offset as usize,
            files_max: self.header.disk_files_max as usize,
            free: self.header.disk_free_offset as usize,
        }
    }

    pub(crate) fn mailbox(&self) -> &Mailbox {
        // SAFETY: the checked header points into the mapped globals; the game is stopped while `self` is borrowed.
        unsafe { &*self.header.mailbox }
    }

    pub(crate) fn mailbox_mut(&mut self) -> &mut Mailbox {
        // SAFETY: as in `mailbox`, and `self` is borrowed alone.
        unsafe { &mut *self.header.mailbox }
    }

    /// The mailbox within a copy of the globals.
    pub(crate) fn mailbox_in(&self, globals: &[u8]) -> Mailbox {
        let offset = self.header.mailbox as usize - self.header.globals_start as usize;
        let bytes = &globals[offset..offset + size_of::<Mailbox>()];
        // SAFETY: the slice holds as many bytes as a mailbox has, and any bytes are one.
        unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) }
    }

    /// The box of edits. What is in it belongs to no image.
    pub(crate) fn edit_box_mut(&mut self) -> &mut EditBox {
        // SAFETY: the checked header points into a mapped writable segment; the game is stopped and `self` borrowed alone.
        unsafe { &mut *self.header.edit_box }
    }

    /// A part of what no player sees, as JSON; nothing when no game is under way.
    pub(crate) fn hidden(&self, part: u32) -> Vec<u8> {
        let mut bytes = vec![0; 64 << 10];
        loop {
            let needed = (self.header.hidden)(part, bytes.as_mut_ptr(), bytes.len());
            // The ROM ends its text with a zero byte, which is not counted.
            if needed < bytes.len() || needed > HIDDEN_BYTES_MAX {
                bytes.truncate(needed);
                return bytes;
            }
            bytes.resize(needed + 1, 0);
        }
    }

    pub(crate) fn globals(&self) -> &[u8] {
        // SAFETY: the checked header bounds the globals, which are mapped; the game is stopped.
        unsafe { std::slice::from_raw_parts(self.header.globals_start, self.globals_bytes) }
    }

    pub(crate) fn globals_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `globals`, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.header.globals_start, self.globals_bytes) }
    }

    pub(crate) fn heap(&self) -> &[u8] {
        // SAFETY: the whole region is mapped; the game is stopped.
        unsafe { std::slice::from_raw_parts(HEAP_BASE as *const u8, HEAP_BYTES) }
    }

    pub(crate) fn heap_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `heap`, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(HEAP_BASE as *mut u8, HEAP_BYTES) }
    }

    pub(crate) fn stack(&self) -> &[u8] {
        // SAFETY: the whole region is mapped; the game is stopped.
        unsafe { std::slice::from_raw_parts(STACK_BASE as *const u8, STACK_BYTES) }
    }

    pub(crate) fn stack_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `stack`, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(STACK_BASE as *mut u8, STACK_BYTES) }
    }

    pub(crate) fn disk(&self) -> &[u8] {
        // SAFETY: the whole region is mapped; the game is stopped.
        unsafe { std::slice::from_raw_parts(DISK_BASE as *const u8, DISK_BYTES) }
    }

    pub(crate) fn disk_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `disk`, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(DISK_BASE as *mut u8, DISK_BYTES) }
    }

    /// The globals as they are linked; what lies behind them is zero.
    pub(crate) fn linked(&self) -> &[u8] {
        &self.linked
    }

    /// Lets the ROM prepare its regions, which must be empty, and enter the game at the next run.
    pub(crate) fn power_on(&mut self) {
        (self.header.power_on)();
    }

    /// Runs the game until it yields or is caught, and clears what it left on its stack.
    pub(crate) fn run(&mut self) -> Option<Caught> {
        let caught = signals::run(self.header.resume);
        if caught.is_none() {
            (self.header.scrub)();
        }
        caught
    }

    pub(crate) fn seed(&mut self, core: u64, display: u64) {
        (self.header.seed)(core, display);
    }

    pub(crate) fn instant(&self) -> Instant {
        let mut instant = Instant {
            chars: std::ptr::null(),
            colors: std::ptr::null(),
            attributes: std::ptr::null(),
            row: 0,
            column: 0,
            pending: 0,
            unused: [0; 5],
            turn: 0,
        };
        (self.header.instant)(&raw mut instant);
        instant
    }

    /// Characters, colours and attributes of the terminal.
    pub(crate) fn planes(&self, instant: &Instant) -> [&[u8]; 3] {
        [instant.chars, instant.colors, instant.attributes].map(|plane| {
            // SAFETY: the ROM's terminal has three planes of this size, which live as long as its globals.
            unsafe { std::slice::from_raw_parts(plane, ROWS * COLUMNS) }
        })
    }

    pub(crate) fn observe(&self, observation: &mut Observation, wanted: Arrays) {
        (self.header.observe)(observation, wanted.bits());
    }

    pub(crate) fn generators(&self) -> [u8; GENERATOR_BYTES] {
        let mut out = [0; GENERATOR_BYTES];
        (self.header.generators)(out.as_mut_ptr());
        out
    }

    pub(crate) fn ending(&self) -> Ending {
        let mut ending = Ending::default();
        (self.header.ending)(&raw mut ending);
        ending
    }

    /// Hands the bytes of the present frame to a reader.
    pub(crate) fn with_frame<R>(&self, read: impl FnOnce(&[u8]) -> R) -> R {
        let mut bytes = self.frame_bytes.borrow_mut();
        loop {
            let needed = (self.header.frame)(bytes.as_mut_ptr(), bytes.len());
            if let Some(frame) = bytes.get(..needed) {
                return read(frame);
            }
            bytes.resize(needed, 0);
        }
    }

    /// The file in a slot of the disk.
    pub(crate) fn file(&self, slot: u32) -> Option<File<'_>> {
        let mut name = std::ptr::null();
        let mut bytes = std::ptr::null();
        let (mut length, mut read_only): (usize, c_int) = (0, 0);
        let found = (self.header.disk_entry)(slot, &raw mut name, &raw mut bytes, &raw mut length, &raw mut read_only);
        if found == 0 {
            return None;
        }
        // SAFETY: the ROM ends every name with a zero byte; it lives as long as the game is stopped.
        let name = unsafe { CStr::from_ptr(name) };
        let bytes = if length == 0 {
            &[]
        } else {
            // SAFETY: the ROM names bytes of its disk or of its data that live as long as the game is stopped.
            unsafe { std::slice::from_raw_parts(bytes.cast(), length) }
        };
        Some(File { name: name.to_bytes(), bytes, read_only: read_only != 0 })
    }

    /// All files, sorted by name.
    pub(crate) fn files(&self) -> Vec<File<'_>> {
        let mut files: Vec<_> = (0..self.header.disk_files_max).filter_map(|slot| self.file(slot)).collect();
        files.sort_by(|a, b| a.name.cmp(b.name));
        files
    }
}

fn read_header(rom: &Rom) -> Result<Header, MachineError> {
    let contract = |text: String| Err(MachineError::Contract(text));
    if rom.header().len() != size_of::<Header>() {
        return contract(format!("its header has {} bytes, not {}", rom.header().len(), size_of::<Header>()));
    }
    // SAFETY: the segments are mapped, and the parsed ROM guarantees that the whole header lies in one of them.
    let header = unsafe { std::ptr::read_unaligned(rom.header_address() as *const Header) };
    let inside = |pointer: usize, bytes: usize| {
        pointer >= header.globals_start as usize
            && pointer.checked_add(bytes).is_some_and(|end| end <= header.globals_end as usize)
    };
    let mapped = rom.segments().iter().any(|segment| {
        segment.access == Access::ReadWrite
            && header.globals_start as u64 >= segment.address
            && header.globals_end as u64 <= segment.address + segment.memory_bytes.next_multiple_of(PAGE_BYTES)
    });
    if !mapped
        || header.globals_start >= header.globals_end
        || !inside(header.data_end as usize, 0)
        || !inside(header.mailbox as usize, size_of::<Mailbox>())
    {
        return contract("its header points outside its globals".to_owned());
    }
    let writable = |pointer: u64, bytes: u64| {
        rom.segments().iter().any(|segment| {
            segment.access == Access::ReadWrite
                && pointer >= segment.address
                && pointer.checked_add(bytes).is_some_and(|end| end <= segment.address + segment.memory_bytes)
        })
    };
    if header.edit_box_bytes as usize != size_of::<EditBox>()
        || !(header.edit_box as usize).is_multiple_of(align_of::<EditBox>())
        || !writable(header.edit_box as u64, size_of::<EditBox>() as u64)
        || inside(header.edit_box as usize, 0)
    {
        return contract("its edit box is elsewhere".to_owned());
    }
    if header.frame_head_bytes as usize != FRAME_HEAD_BYTES {
        return contract(format!("a frame's head has {} bytes, not {FRAME_HEAD_BYTES}", header.frame_head_bytes));
    }
    if header.observation_bytes as usize != size_of::<Observation>() {
        return contract(format!(
            "an observation has {} bytes, not {}",
            header.observation_bytes,
            size_of::<Observation>()
        ));
    }
    let head = header.disk_head_bytes as usize;
    let fits = |offset: u32, count: usize, bytes: usize| {
        count.checked_mul(bytes).and_then(|bytes| bytes.checked_add(offset as usize)).is_some_and(|end| end <= head)
    };
    if head > DISK_BYTES
        || !head.is_multiple_of(64)
        || header.disk_file_bytes as usize != size_of::<FileEntry>()
        || !fits(header.disk_files_offset, header.disk_files_max as usize, size_of::<FileEntry>())
        || !fits(header.disk_free_offset, EXTENT_CLASSES, 8)
    {
        return contract("its disk is laid out in another way".to_owned());
    }
    Ok(header)
}

/// Where in the globals the generators are.
fn read_contexts(rom: &Rom, header: &Header) -> Result<[usize; 2], MachineError> {
    let wrong = || MachineError::Contract("its generators are elsewhere".to_owned());
    let bytes = rom.read(header.contexts as u64, 16).ok_or_else(wrong)?;
    let globals = header.globals_end as usize - header.globals_start as usize;
    let mut offsets = [0; 2];
    for (offset, address) in offsets.iter_mut().zip(bytes.chunks_exact(8)) {
        let address = address.first_chunk().map_or(0, |word| u64::from_le_bytes(*word) as usize);
        *offset = address.checked_sub(header.globals_start as usize).ok_or_else(wrong)?;
        let end = offset.checked_add(CONTEXT_BYTES).ok_or_else(wrong)?;
        if header.context_bytes as usize != CONTEXT_BYTES || end > globals {
            return Err(wrong());
        }
    }
    Ok(offsets)
}
