//! NetHack 3.6.7 as a ROM: the game's own C, unpatched, with our BIOS under it,
//! linked at a fixed address; and the reader for such files.
//!
//! The build script makes the ROM (`build/`); [`built_in`] hands it out. A ROM that
//! comes from elsewhere goes through [`Rom::from_file`], which trusts nothing.
//! Nothing here maps or runs a ROM: that is the business of crate `machine`.
//!
//! # Reproducing a ROM
//!
//! The bytes depend on the sources, `build/flags.rs`, compiler and linker, the level
//! of optimisation, and on nothing else: not on the folders, the cargo profile,
//! CFLAGS, locale or user. The level is the highest that the compiler can do, or what
//! the environment variable `NETHACK_LAB_ROM_LEVEL` says: `plain`, `whole` (all files
//! as one program) or `trained` (after a training run; ADR 9). It changes the ROM id
//! and the speed, never the engine id or play. So
//! these two print one id, here or on another machine with the same toolchain:
//!
//! ```text
//! cargo run --target-dir ONE -- rom
//! cargo run --target-dir OTHER --release -- rom
//! ```
//!
//! The built ROM is under the NetHack General Public License, see `NGPL.md`.

mod built_in;
mod elf;
mod error;
mod rom;
mod symbols;

pub use built_in::built_in;
pub use elf::{ADDRESS_END, ADDRESS_MIN, Access, PAGE_BYTES, Segment};
pub use error::RomError;
pub use rom::{About, CONTRACT, MAGIC, ROM_BYTES_MAX, Rom};
pub use symbols::{Symbol, Symbols};
