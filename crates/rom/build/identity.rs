//! The names of what was built: engine id and ROM id.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::Folders;
use crate::archive::NHDAT;
use crate::bios::Bios;
use crate::flags::{CODE, MEANING};
use crate::link::{LICENSE, SYMBOLS};
use crate::optimise::Level;
use crate::process::SOURCE_DATE_EPOCH;
use crate::rom::Rom;
use crate::source::TARBALL_SHA256;
use crate::stamp::{Fingerprint, write_if_changed};
use crate::toolchain::Toolchain;

/// The version of the release.
const NETHACK_VERSION: &str = "3.6.7";

/// What the ROM will say about itself, by the names of its symbols.
pub(crate) struct About {
    pub(crate) strings: [(&'static str, String); 5],
}

impl About {
    pub(crate) fn new(engine_id: &str, toolchain: &Toolchain, level: Level) -> Self {
        let flags: Vec<&str> = MEANING.into_iter().chain(CODE).chain(level.flags()).collect();
        Self {
            strings: [
                ("rom_engine_id", engine_id.to_string()),
                ("rom_nethack_version", NETHACK_VERSION.to_string()),
                ("rom_tarball_sha256", TARBALL_SHA256.to_string()),
                ("rom_compiler", toolchain.version.clone()),
                ("rom_flags", flags.join(" ")),
            ],
        }
    }
}

/// Digest of all that decides play: the release, the BIOS, the flags that carry
/// meaning, the game's data, and the family of the compiler. The game draws random
/// numbers in the arguments of calls, and C leaves the order of arguments to the
/// compiler: GCC's and Clang's games differ. How well the code is optimised is no
/// part of it.
pub(crate) fn engine_id(folders: &Folders, bios: &Bios, toolchain: &Toolchain) -> Result<String> {
    let mut fingerprint = Fingerprint::default();
    fingerprint.part("nethack-lab engine 1").part(TARBALL_SHA256).part(SOURCE_DATE_EPOCH);
    fingerprint.part(if toolchain.clang { "clang" } else { "gcc" });
    for flag in MEANING {
        fingerprint.part(flag);
    }
    for file in &bios.files {
        fingerprint.file(&file.to_string_lossy(), &bios.path(file))?;
    }
    for data in [NHDAT, SYMBOLS, LICENSE] {
        fingerprint.file(data, &folders.out.join(data))?;
    }
    Ok(fingerprint.hex())
}

/// Checks the ROM as a host will, and hands its bytes and id to the library.
pub(crate) fn publish(folders: &Folders, rom: &Path, about: &About) -> Result<()> {
    let checked = Rom::from_file(rom).context("the ROM that was built is refused by its own reader")?;
    let undefined = checked.symbols().undefined();
    ensure!(undefined.is_empty(), "the ROM uses what nothing defines: {}", undefined.join(" "));
    let said = checked.about();
    let said = [&said.engine_id, &said.nethack_version, &said.tarball_sha256, &said.compiler, &said.flags];
    for ((name, meant), said) in about.strings.iter().zip(said) {
        ensure!(meant == said, "the ROM's header gives {said:?} as {name}, it should be {meant:?}");
    }
    let text =
        format!("/// The SHA-256 of the built ROM.\npub(super) const ROM_ID: &str = \"{}\";\n", checked.rom_id());
    write_if_changed(&folders.out.join("nethack.rom"), &fs::read(rom).context("reading the ROM")?)?;
    write_if_changed(&folders.out.join("identity.rs"), text.as_bytes())
}
