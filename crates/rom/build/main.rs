//! Builds the ROM: from the pristine NetHack 3.6.7 release and our BIOS to one
//! freestanding ELF file and its two identities.

mod archive;
mod bios;
mod compile;
mod counts;
mod debian;
mod debian_sources;
mod download;
mod flags;
mod frames;
mod games;
mod identity;
mod link;
mod optimise;
mod process;
mod recipe;
mod source;
mod stamp;
mod toolchain;
mod training;
mod unpack;

// The reader that hosts use checks each ROM before it leaves the build, too.
#[allow(dead_code, unreachable_pub)]
#[path = "../src/elf.rs"]
mod elf;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/error.rs"]
mod error;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/rom.rs"]
mod rom;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/symbols.rs"]
mod symbols;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::optimise::Level;
use crate::toolchain::Toolchain;

/// The folders of one build.
pub(crate) struct Folders {
    /// The crate's own folder, with `bios/` and `rom.ld`.
    pub(crate) krate: PathBuf,
    /// Cargo's output folder; every command runs in it, so that no path of this
    /// machine reaches the ROM.
    pub(crate) out: PathBuf,
}

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nThe ROM can't be built: {error:#}\n");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<()> {
    announce_inputs();
    check_platform()?;
    let folders = Folders { krate: env_path("CARGO_MANIFEST_DIR")?, out: env_path("OUT_DIR")? };
    let toolchain = Toolchain::find(&folders)?;
    let level = optimise::Level::choose(&toolchain)?;
    source::obtain_tree(&folders)?;

    let bios = bios::Bios::copy(&folders)?;
    let compiler = compile::Compiler::new(&toolchain, &folders, &bios);
    archive::generate_headers(&compiler, &folders)?;

    // One batch each, so that the cores stay busy to the end.
    let tools = recipe::archive_tools();
    let game = recipe::rom_units(&folders, &bios, level)?;
    let trained = level >= Level::Trained;
    let trainer = if trained { recipe::trainer_units(&folders, &bios)? } else { Vec::new() };
    let first = if trained { &trainer } else { &game };
    compiler.compile(tools.iter().flat_map(|tool| &tool.units).chain(first))?;
    archive::generate_data(&compiler, &folders, &tools)?;

    let engine_id = identity::engine_id(&folders, &bios, &toolchain)?;
    let about = identity::About::new(&engine_id, &toolchain, level);
    let extra = link::write_generated_sources(&folders, &about)?;
    compiler.compile(&extra)?;
    if trained {
        training::train(&compiler, &folders, &[&trainer[..], &extra].concat())?;
        compiler.compile(&game)?;
    }
    let rom = link::link(&toolchain, &folders, level, game.iter().chain(&extra))?;
    frames::check(&toolchain, &folders, level, &game, bios.frame_bytes_max()?)?;
    identity::publish(&folders, &rom, &about)
}

/// Tells cargo what the ROM is made from. Only these, or a change of this script
/// itself, start it again.
fn announce_inputs() {
    for path in ["bios", "training", "rom.ld"] {
        println!("cargo::rerun-if-changed={path}");
    }
    for name in [source::TARBALL_VARIABLE, optimise::LEVEL_VARIABLE].iter().chain(&toolchain::VARIABLES) {
        println!("cargo::rerun-if-env-changed={name}");
    }
}

#[expect(clippy::disallowed_methods, reason = "it decides whether there is a ROM at all")]
fn check_platform() -> Result<()> {
    for variable in ["TARGET", "HOST"] {
        let triple = std::env::var(variable).with_context(|| format!("cargo did not set {variable}"))?;
        let supported = triple.starts_with("x86_64-") && triple.contains("-linux-");
        ensure!(
            supported,
            "NetHack Lab runs on x86-64 Linux only so far, and this build's {variable} is {triple}. \
             The stack switch, the fixed addresses and the ELF machine are written for x86-64."
        );
    }
    Ok(())
}

fn env_path(name: &str) -> Result<PathBuf> {
    std::env::var_os(name)
        .map(PathBuf::from)
        .with_context(|| format!("{name} is not set: this program is run by cargo"))
}
