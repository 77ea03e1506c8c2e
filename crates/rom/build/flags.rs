//! How files are compiled: the compiler's flags for each group of sources.

use std::path::{Path, PathBuf};

use crate::bios::{BIOS, extension, stem};
use crate::recipe::Unit;

/// Flags that carry meaning: with others the game would play differently.
pub(crate) const MEANING: [&str; 17] = [
    "-std=gnu99",
    "-DDLB",
    "-DNOMAIL",
    "-DNOCLIPPING",
    "-DSCORE_ON_BOTL",
    "-DNOTPARMDECL",
    "-DNOCWD_ASSUMPTIONS",
    "-DNO_SIGNAL",
    "-DNOSHELL",
    "-DNEED_VARARGS=",
    "-DREPRODUCIBLE_BUILD",
    "-DHACKDIR=\"/nethack\"",
    "-DSYSCF_FILE=\"sysconf\"",
    "-DCONFIG_ERROR_SECURE=FALSE",
    "-fsigned-char",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
];

/// Those of them that our own files are compiled with too.
const LANGUAGE: [&str; 3] = ["-fsigned-char", "-ffp-contract=off", "-fno-strict-aliasing"];

/// For NetHack's own files, which are not ours to mend. Newer compilers take an
/// undeclared function for an error even beside -w.
const SILENT: [&str; 2] = ["-w", "-Wno-error=implicit-function-declaration"];

/// The header that every file of the game sees first.
const OPTIONS: [&str; 2] = ["-include", "port/options.h"];

/// Keeps GCC from turning a loop in memset into a call of memset. Clang has no such
/// option and needs none.
pub(crate) const GCC_ONLY: &str = "-fno-tree-loop-distribute-patterns";

/// For the library itself: no libc's headers, and no calls of what it is to define.
/// The macro tells GCC's limits.h that no other limits.h comes after it.
const FREESTANDING: [&str; 5] = ["-ffreestanding", "-fno-builtin", GCC_ONLY, "-nostdinc", "-D_LIBC_LIMITS_H_"];

/// Flags for code that is linked into the ROM: plain, at a fixed address, with no
/// library or loader under it, and without what distributions switch on by default.
pub(crate) const CODE: [&str; 15] = [
    "-O2",
    "-march=x86-64",
    "-mtune=generic",
    "-fno-pic",
    "-fno-pie",
    "-fno-common",
    "-fno-stack-protector",
    "-fno-stack-clash-protection",
    "-fcf-protection=none",
    "-fno-asynchronous-unwind-tables",
    "-fno-exceptions",
    "-fno-ident",
    "-U_FORTIFY_SOURCE",
    "-g0",
    "-fstack-usage",
];

/// Where the game's headers are, generated ones first.
const GAME_HEADERS: [&str; 6] =
    ["generate/include", "tree/include", "tree/src", "tree/win/share", "tree/win/tty", "tree/sys/share"];

/// Tools see the options that the game sees; else the texts and version marks that
/// they write would speak of another game.
pub(crate) fn tool() -> Vec<String> {
    let own = ["-O1", "-DWEIRD_LEX=0", "-DBUILD_TOOL"];
    strings(&[&MEANING, &own, &SILENT, &OPTIONS])
}

/// NetHack's own files.
pub(crate) fn game(source: &Path) -> Vec<String> {
    let mut flags = strings(&[&MEANING, &CODE, &SILENT, &OPTIONS]);
    flags.push(single_out(source));
    flags
}

/// The library under the game.
pub(crate) fn libc(source: &Path) -> Vec<String> {
    let mut flags = ours(source);
    flags.extend(strings(&[&FREESTANDING]));
    flags
}

/// The port: our C that includes the game's headers.
pub(crate) fn port(source: &Path) -> Vec<String> {
    let mut flags = ours(source);
    if extension(source) == "c" {
        let defines = MEANING.iter().filter(|flag| flag.starts_with("-D"));
        flags.extend(defines.map(ToString::to_string));
        flags.extend(strings(&[&OPTIONS]));
        flags.push(single_out(source));
    }
    flags
}

/// Any file of our own.
pub(crate) fn ours(source: &Path) -> Vec<String> {
    let mut flags = strings(&[&CODE, &LANGUAGE]);
    if extension(source) == "c" {
        flags.extend(strings(&[&["-std=gnu11", "-Wall", "-Wextra", "-Werror"]]));
    }
    flags
}

/// Lets the options header single out one file.
fn single_out(source: &Path) -> String {
    format!("-DIN_{}", stem(source))
}

/// The folders that a unit's includes are looked up in, as compiler arguments. They
/// hold paths of this machine and so are no part of what a ROM says of itself.
pub(crate) fn include_arguments(unit: &Unit, compiler_headers: &[PathBuf]) -> Vec<String> {
    let mut arguments = vec!["-I".to_string(), BIOS.to_string()];
    let systems: Vec<PathBuf> = if unit.flags.iter().any(|flag| flag == "-nostdinc") {
        compiler_headers.to_vec()
    } else {
        GAME_HEADERS.iter().map(PathBuf::from).collect()
    };
    for folder in systems {
        arguments.push("-isystem".to_string());
        arguments.push(folder.display().to_string());
    }
    arguments
}

fn strings(groups: &[&[&str]]) -> Vec<String> {
    groups.iter().flat_map(|group| group.iter().map(ToString::to_string)).collect()
}
