//! What is compiled, and how: the lists of sources and the compiler's flags.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::Folders;

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

/// NetHack sources that `bios/port` stands in for, with the reason. Of sys/unix,
/// sys/share and win/tty only what `OTHER_GAME_SOURCES` names is used at all.
const REPLACED: [(&str, &str); 1] = [(
    "rnd.c",
    "port/random.c includes it, to reach its generators",
)];

const OTHER_GAME_SOURCES: [&str; 4] = [
    "sys/share/pmatchregex.c",
    "win/tty/getline.c",
    "win/tty/topl.c",
    "win/tty/wintty.c",
];

/// Where the game's headers are, generated ones first.
const GAME_HEADERS: [&str; 6] = [
    "generate/include",
    "tree/include",
    "tree/src",
    "tree/win/share",
    "tree/win/tty",
    "tree/sys/share",
];

/// One compiler call.
#[derive(Clone)]
pub(crate) struct Unit {
    /// Names the object: `objects/{name}.o`.
    pub(crate) name: String,
    /// The source, absolute or relative to the output folder.
    pub(crate) source: PathBuf,
    pub(crate) flags: Vec<String>,
}

impl Unit {
    fn new(group: &str, source: PathBuf, flags: Vec<String>) -> Self {
        let stem = stem(&source);
        Self {
            name: format!("{group}/{stem}"),
            source,
            flags,
        }
    }
}

/// A program of the build.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) units: Vec<Unit>,
}

/// The BIOS: our C and assembly, and the headers they share.
pub(crate) struct Bios {
    folder: PathBuf,
    /// Paths below `bios/`, sorted.
    pub(crate) files: Vec<PathBuf>,
}

impl Bios {
    pub(crate) fn read(folders: &Folders) -> Result<Self> {
        let folder = folders.krate.join("bios");
        let mut files = Vec::new();
        for part in ["", "libc", "port"] {
            let path = folder.join(part);
            for entry in
                fs::read_dir(&path).with_context(|| format!("reading {}", path.display()))?
            {
                let name = PathBuf::from(entry?.file_name());
                if matches!(extension(&name), "c" | "h" | "S") {
                    files.push(Path::new(part).join(name));
                }
            }
        }
        files.sort();
        Ok(Self { folder, files })
    }

    pub(crate) fn path(&self, file: &Path) -> PathBuf {
        self.folder.join(file)
    }

    /// The limit that `contract.h` sets to the frame of one function.
    pub(crate) fn frame_bytes_max(&self) -> Result<u64> {
        let path = self.path(Path::new("contract.h"));
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix("#define FRAME_BYTES_MAX "));
        let value = value.and_then(|value| value.trim().parse().ok());
        value.with_context(|| format!("{} defines no FRAME_BYTES_MAX", path.display()))
    }

    fn sources(&self, part: &str) -> impl Iterator<Item = PathBuf> {
        let inside = move |file: &&PathBuf| file.starts_with(part) && extension(file) != "h";
        self.files.iter().filter(inside).map(|file| self.path(file))
    }
}

/// The units of the program that writes headers and texts.
pub(crate) fn makedefs() -> Tool {
    tool(
        "makedefs",
        &["util/makedefs.c", "src/monst.c", "src/objects.c"],
    )
}

/// The programs that compile levels and pack the archive. The parsers are used as
/// the release brings them, so that no parser generator is needed.
pub(crate) fn archive_tools() -> Vec<Tool> {
    vec![
        tool(
            "lev_comp",
            &[
                "sys/share/lev_yacc.c",
                "sys/share/lev_lex.c",
                "util/lev_main.c",
                "util/panic.c",
                "src/alloc.c",
                "src/decl.c",
                "src/drawing.c",
                "src/monst.c",
                "src/objects.c",
            ],
        ),
        tool(
            "dgn_comp",
            &[
                "sys/share/dgn_yacc.c",
                "sys/share/dgn_lex.c",
                "util/dgn_main.c",
                "util/panic.c",
                "src/alloc.c",
            ],
        ),
        tool(
            "dlb",
            &[
                "util/dlb_main.c",
                "util/panic.c",
                "src/alloc.c",
                "src/dlb.c",
            ],
        ),
    ]
}

/// Tools see the options that the game sees; else the texts and version marks that
/// they write would speak of another game.
fn tool(name: &'static str, sources: &[&str]) -> Tool {
    let mut flags = strings(&MEANING);
    flags.extend(strings(&[
        "-O1",
        "-w",
        "-DWEIRD_LEX=0",
        "-DBUILD_TOOL",
        "-include",
        "port/options.h",
    ]));
    let unit = |source: &&str| Unit::new("tool", Path::new("tree").join(source), flags.clone());
    Tool {
        name,
        units: sources.iter().map(unit).collect(),
    }
}

/// Everything that becomes part of the ROM, in link order.
pub(crate) fn rom_units(folders: &Folders, bios: &Bios) -> Result<Vec<Unit>> {
    let mut units: Vec<Unit> = game_sources(folders)?.into_iter().map(game_unit).collect();
    units.extend(bios.sources("libc").map(libc_unit));
    units.extend(bios.sources("port").map(port_unit));
    Ok(units)
}

fn game_unit(source: PathBuf) -> Unit {
    let mut flags = strings(&MEANING);
    flags.extend(strings(&CODE));
    flags.extend(strings(&["-w", "-include", "port/options.h"]));
    // Lets that header single out one file.
    flags.push(format!("-DIN_{}", stem(&source)));
    Unit::new("game", source, flags)
}

fn libc_unit(source: PathBuf) -> Unit {
    let mut flags = ours(&source);
    // The macro tells GCC's limits.h that no other limits.h comes after it.
    flags.extend(strings(&[
        "-ffreestanding",
        "-fno-builtin",
        "-nostdinc",
        "-D_LIBC_LIMITS_H_",
    ]));
    Unit::new("libc", source, flags)
}

fn port_unit(source: PathBuf) -> Unit {
    let mut flags = ours(&source);
    if extension(&source) == "c" {
        flags.extend(
            MEANING
                .iter()
                .filter(|flag| flag.starts_with("-D"))
                .map(ToString::to_string),
        );
        flags.extend(strings(&["-include", "port/options.h"]));
        flags.push(format!("-DIN_{}", stem(&source)));
    }
    Unit::new("port", source, flags)
}

/// A generated source: strings and blobs.
pub(crate) fn generated_unit(source: PathBuf) -> Unit {
    let flags = ours(&source);
    Unit::new("generated", source, flags)
}

fn ours(source: &Path) -> Vec<String> {
    let mut flags = strings(&CODE);
    flags.extend(strings(&[
        "-fsigned-char",
        "-ffp-contract=off",
        "-fno-strict-aliasing",
    ]));
    if extension(source) == "c" {
        flags.extend(strings(&["-std=gnu11", "-Wall", "-Wextra", "-Werror"]));
    }
    flags
}

/// The folders that a unit's includes are looked up in, as compiler arguments. They
/// hold paths of this machine and so are no part of what a ROM says of itself.
pub(crate) fn include_arguments(
    unit: &Unit,
    bios: &Bios,
    compiler_headers: &[PathBuf],
) -> Vec<String> {
    let mut arguments = vec!["-I".to_string(), bios.folder.display().to_string()];
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

/// The game's own sources, as the release's makefile lists them.
fn game_sources(folders: &Folders) -> Result<Vec<PathBuf>> {
    let path = folders.out.join("tree/sys/unix/Makefile.src");
    let makefile =
        fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let listed = makefile_list(&makefile, "HACKCSRC");
    ensure!(
        listed.len() > 100,
        "{} lists no game sources",
        path.display()
    );
    let kept = listed
        .iter()
        .filter(|name| !REPLACED.iter().any(|(replaced, _)| replaced == *name));
    let mut sources: Vec<PathBuf> = kept.map(|name| Path::new("tree/src").join(name)).collect();
    sources.extend(
        OTHER_GAME_SOURCES
            .iter()
            .map(|name| Path::new("tree").join(name)),
    );
    Ok(sources)
}

/// The words of a makefile variable whose lines end with a backslash but the last.
fn makefile_list(makefile: &str, variable: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut lines = makefile
        .lines()
        .skip_while(|line| !line.starts_with(variable));
    let mut rest = lines
        .next()
        .and_then(|line| line.split_once('='))
        .map(|(_, rest)| rest);
    while let Some(line) = rest {
        let (body, goes_on) = line
            .strip_suffix('\\')
            .map_or((line, false), |body| (body, true));
        words.extend(body.split_whitespace().map(String::from));
        rest = if goes_on { lines.next() } else { None };
    }
    words
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn extension(path: &Path) -> &str {
    path.extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
}

fn strings(flags: &[&str]) -> Vec<String> {
    flags.iter().map(ToString::to_string).collect()
}
