//! `rom`: what the engine is.

use std::path::Path;

use rom::Rom;
use serde_json::json;

use crate::command_line::{RomCommand, RomOptions};
use crate::out::{out, outln};
use crate::outcome::Outcome;
use crate::setup::{Setup, write_new};

pub(crate) fn run(setup: &Setup, options: &RomOptions) -> anyhow::Result<Outcome> {
    let foreign = setup.foreign_rom()?;
    let rom = foreign.as_ref().unwrap_or_else(|| rom::built_in());
    match &options.command {
        Some(RomCommand::Export { file }) => export(rom, file)?,
        None => out!("{}", describe(rom, options.json)),
    }
    Ok(Outcome::Good)
}

fn export(rom: &Rom, file: &Path) -> anyhow::Result<()> {
    write_new(file, rom.bytes())?;
    outln!("{}: {} bytes, ROM {}", file.display(), rom.bytes().len(), rom.rom_id());
    Ok(())
}

fn describe(rom: &Rom, as_json: bool) -> String {
    let about = rom.about();
    let fields = [
        ("engine_id", about.engine_id.as_str()),
        ("rom_id", rom.rom_id()),
        ("nethack_version", &about.nethack_version),
        ("tarball_sha256", &about.tarball_sha256),
        ("compiler", &about.compiler),
        ("flags", &about.flags),
    ];
    if as_json {
        let mut object = json!({ "rom_bytes": rom.bytes().len() });
        for (name, value) in fields {
            object[name] = value.into();
        }
        return format!("{object}\n");
    }
    let mut text = String::new();
    for (name, value) in fields {
        text.push_str(&format!("{:<16} {value}\n", name.replace('_', " ")));
    }
    text + &format!("{:<16} {}\n", "rom bytes", rom.bytes().len())
}
