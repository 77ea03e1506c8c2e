//! The seam to the ROM: the layouts of `bios/contract.h` and `bios/port/header.c`, and nothing else of it.

use crate::Observation;

use std::ffi::{c_char, c_int, c_void};

pub(crate) const HEAP_BASE: usize = 0x100_0000_0000;
pub(crate) const HEAP_BYTES: usize = 64 << 20;
pub(crate) const STACK_BASE: usize = 0x110_0000_0000;
pub(crate) const STACK_BYTES: usize = 256 << 10;
pub(crate) const DISK_BASE: usize = 0x120_0000_0000;
pub(crate) const DISK_BYTES: usize = 32 << 20;

pub(crate) const YIELD_BOOT: i32 = 1;
pub(crate) const YIELD_KEY: i32 = 2;
pub(crate) const YIELD_EXIT: i32 = 3;
pub(crate) const YIELD_FAULT: i32 = 4;

pub(crate) const POWER_LEVEL_SEED: u32 = 1;
pub(crate) const POWER_RESEED: u32 = 2;
pub(crate) const POWER_DEBUG: u32 = 4;
pub(crate) const POWER_NLE: u32 = 8;
pub(crate) const POWER_FIXED_DATE: u32 = 16;

/// What stands for a key when the game is to read the edit box.
pub(crate) const KEY_EDIT: i32 = 256;
pub(crate) const EDIT_REQUEST_BYTES: usize = 1024;
pub(crate) const EDIT_REASON_BYTES: usize = 256;

pub(crate) const OPTIONS_BYTES: usize = 1024;

/// `struct mailbox`.
#[repr(C)]
pub(crate) struct Mailbox {
    pub(crate) reason: i32,
    pub(crate) key: i32,
    pub(crate) exit_status: i32,
    pub(crate) flags: u32,
    pub(crate) clock: i64,
    pub(crate) seed_core: u64,
    pub(crate) seed_display: u64,
    pub(crate) seed_level: u64,
    pub(crate) stack_pointer: u64,
    pub(crate) options: [u8; OPTIONS_BYTES],
    pub(crate) fault: [u8; 256],
}

/// `struct edit_box`: where host and game meet for an edit. It lies outside the image.
#[repr(C)]
pub(crate) struct EditBox {
    pub(crate) made: i32,
    pub(crate) request: [u8; EDIT_REQUEST_BYTES],
    pub(crate) reason: [u8; EDIT_REASON_BYTES],
}

/// `struct instant`: what a play digest needs.
#[repr(C)]
pub(crate) struct Instant {
    pub(crate) chars: *const u8,
    pub(crate) colors: *const u8,
    pub(crate) attributes: *const u8,
    pub(crate) row: u8,
    pub(crate) column: u8,
    pub(crate) pending: u8,
    pub(crate) unused: [u8; 5],
    pub(crate) turn: i64,
}

/// `struct ending`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Ending {
    pub(crate) how: c_int,
    pub(crate) saved: c_int,
}

/// `struct rom_header`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) magic: [u8; 8],
    pub(crate) contract: u32,
    pub(crate) header_bytes: u32,
    about: [*const c_char; 5],
    pub(crate) globals_start: *mut u8,
    pub(crate) data_end: *mut u8,
    pub(crate) globals_end: *mut u8,
    pub(crate) mailbox: *mut Mailbox,
    pub(crate) power_on: extern "C" fn(),
    pub(crate) resume: extern "C" fn(),
    pub(crate) abandon: usize,
    pub(crate) scrub: extern "C" fn(),
    pub(crate) frame: extern "C" fn(*mut u8, usize) -> usize,
    pub(crate) instant: extern "C" fn(*mut Instant),
    pub(crate) ending: extern "C" fn(*mut Ending),
    pub(crate) generators: extern "C" fn(*mut u8),
    pub(crate) seed: extern "C" fn(u64, u64),
    pub(crate) disk_entry: extern "C" fn(u32, *mut *const c_char, *mut *const c_void, *mut usize, *mut c_int) -> c_int,
    pub(crate) disk_files_max: u32,
    pub(crate) frame_head_bytes: u32,
    pub(crate) observe: extern "C" fn(*mut Observation, u32),
    pub(crate) observation_bytes: u32,
    pub(crate) context_bytes: u32,
    /// Where the core generator and the display's are.
    pub(crate) contexts: *const [usize; 2],
    pub(crate) disk_head_bytes: u32,
    pub(crate) disk_files_offset: u32,
    pub(crate) disk_file_bytes: u32,
    pub(crate) disk_free_offset: u32,
    pub(crate) hidden: extern "C" fn(u32, *mut u8, usize) -> usize,
    pub(crate) edit_box: *mut EditBox,
    pub(crate) edit_box_bytes: u32,
}

/// `struct file`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct FileEntry {
    pub(crate) name: [u8; 64],
    pub(crate) bytes: u64,
    pub(crate) length: u64,
    pub(crate) capacity: u64,
    pub(crate) state: u16,
    pub(crate) read_only: u16,
    pub(crate) opens: u32,
    pub(crate) written: u64,
}

/// `EXTENT_CLASSES`.
pub(crate) const EXTENT_CLASSES: usize = 17;
