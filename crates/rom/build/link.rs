//! Adds data and identity, and links everything into one freestanding file.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::Folders;
use crate::archive::NHDAT;
use crate::compile::object;
use crate::flags::CODE;
use crate::identity::About;
use crate::optimise::{Level, WHOLE};
use crate::process::{hermetic, run};
use crate::recipe::{Unit, generated_unit};
use crate::stamp::{file_sha256, recreate, write_if_changed};
use crate::toolchain::Toolchain;

/// Files beside the archive, below the output folder.
pub(crate) const SYMBOLS: &str = "tree/dat/symbols";
pub(crate) const LICENSE: &str = "tree/dat/license";

/// For a program that stands by itself at a fixed address.
pub(crate) const LINK_FLAGS: [&str; 11] = [
    "-nostdlib",
    "-static",
    "-no-pie",
    "-Wl,--build-id=none",
    "-Wl,--hash-style=gnu",
    "-Wl,-z,norelro",
    "-Wl,-z,noexecstack",
    "-Wl,-z,max-page-size=4096",
    "-Wl,--orphan-handling=error",
    "-Wl,--strip-debug",
    "-Wl,--fatal-warnings",
];

/// Writes the sources of what only the build knows.
pub(crate) fn write_generated_sources(folders: &Folders, about: &About) -> Result<[Unit; 2]> {
    let mut text = String::from("/* What this ROM is; its header points here. */\n");
    for (name, value) in &about.strings {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        text.push_str(&format!("extern const char {name}[];\n"));
        text.push_str(&format!("__attribute__((section(\".rom_about\"))) const char {name}[] = \"{value}\";\n"));
    }
    let about = PathBuf::from("generate/about.c");
    write_if_changed(&folders.out.join(&about), text.as_bytes())?;

    let mut text = String::from("    .section .rodata\n");
    for (name, path) in [("nhdat", NHDAT), ("symbols", SYMBOLS), ("license", LICENSE)] {
        // The digest makes the text change with the data, and so the object.
        let digest = file_sha256(&folders.out.join(path)).with_context(|| format!("reading {path}"))?;
        text.push_str(&format!(
            "    /* SHA-256 {digest} */\n    .balign 16\n    .globl rom_data_{name}, rom_data_{name}_end\n\
             \x20   .type rom_data_{name}, @object\n    .size rom_data_{name}, rom_data_{name}_end - rom_data_{name}\n\
             rom_data_{name}:\n    .incbin \"{path}\"\nrom_data_{name}_end:\n    .byte 0\n"
        ));
    }
    text.push_str("    .section .note.GNU-stack, \"\", @progbits\n");
    let data = PathBuf::from("generate/data.S");
    write_if_changed(&folders.out.join(&data), text.as_bytes())?;
    Ok([generated_unit(about), generated_unit(data)])
}

/// Where the linker's compiler leaves its reports of stack frames, below the output
/// folder.
pub(crate) const REPORTS: &str = "linked";

/// Links the units in order; hands out the file.
pub(crate) fn link<'u>(
    toolchain: &Toolchain,
    folders: &Folders,
    level: Level,
    units: impl Iterator<Item = &'u Unit>,
) -> Result<PathBuf> {
    let rom = folders.out.join("linked.rom");
    if rom.exists() {
        fs::remove_file(&rom).context("removing the last ROM")?;
    }
    recreate(&folders.out.join(REPORTS))?;
    let mut command = toolchain.command(&folders.out);
    if level >= Level::Whole {
        // How the program is cut into parts for several cores depends on the program
        // alone, not on the cores.
        let cores = if has_make(folders) { "-flto=auto" } else { "-flto=1" };
        command.args(CODE).args(WHOLE).arg(cores).arg("-dumpdir").arg(format!("{REPORTS}/"));
    }
    let output = command
        .args(LINK_FLAGS)
        .arg("-Wl,-T")
        .arg(folders.krate.join("rom.ld"))
        .arg("-o")
        .arg(&rom)
        .args(units.map(|unit| object(unit, "o")))
        .stdin(Stdio::null())
        .output()
        .context("starting the linker")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(rom);
    }
    let undefined = undefined(&said);
    if undefined.is_empty() {
        bail!("the ROM doesn't link\n\n{said}");
    }
    let lines: Vec<String> =
        undefined.iter().map(|(name, users)| format!("{name:<24} used by {}", users.join(" "))).collect();
    bail!(
        "{} functions or variables are used that neither the game nor the BIOS defines:\n  {}",
        lines.len(),
        lines.join("\n  ")
    )
}

/// Whether there is a `make`: GCC runs it to keep several cores busy.
fn has_make(folders: &Folders) -> bool {
    run(hermetic("make", &folders.out).arg("--version")).is_ok()
}

/// Undefined names and the objects that use them, from what the linker printed. It
/// names an object once and then only lines of its sources.
fn undefined(printed: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut user = "?";
    for line in printed.lines() {
        if let Some(object) = line.split(':').map(str::trim).find(|part| part.ends_with(".o")) {
            user = object.trim_start_matches("objects/").trim_end_matches(".o");
        }
        let Some((_, rest)) = line.split_once("undefined reference to `") else {
            continue;
        };
        let users = found.entry(rest.trim_end_matches('\'').to_string()).or_default();
        if !users.iter().any(|known| known == user) {
            users.push(user.to_string());
        }
    }
    found
}
