//! What is compiled: the lists of sources and programs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::bios::{Bios, extension, stem};
use crate::compile::OBJECTS;
use crate::optimise::{Level, TRAINER};
use crate::{Folders, flags};

/// NetHack sources that `bios/port` stands in for, with the reason. Of sys/unix,
/// sys/share and win/tty only what `OTHER_GAME_SOURCES` names is used at all.
const REPLACED: [(&str, &str); 1] = [("rnd.c", "port/random.c includes it, to reach its generators")];

const OTHER_GAME_SOURCES: [&str; 4] =
    ["sys/share/pmatchregex.c", "win/tty/getline.c", "win/tty/topl.c", "win/tty/wintty.c"];

/// One compiler call.
#[derive(Clone)]
pub(crate) struct Unit {
    /// Names the object: `objects/{name}.o`.
    pub(crate) name: String,
    /// The source, absolute or relative to the output folder.
    pub(crate) source: PathBuf,
    pub(crate) flags: Vec<String>,
    /// Whether the counts of a training run lie beside the object and are read.
    pub(crate) trained: bool,
}

impl Unit {
    /// Gives the counts and the private functions in them a name that is the same when
    /// they are read, and wherever the build's folder lies: a text of another length
    /// moves others, and how they are aligned is counted too.
    fn count_as_itself(&mut self) {
        let folder = self.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = format!("/{OBJECTS}/{folder}/");
        self.flags.extend(["-dumpdir".to_string(), folder]);
        // That would go there too; these objects' stack frames are no one's concern.
        self.flags.retain(|flag| flag != "-fstack-usage");
    }

    fn new(group: &str, source: PathBuf, flags: Vec<String>) -> Self {
        let stem = stem(&source);
        Self { name: format!("{group}/{stem}"), source, flags, trained: false }
    }
}

/// A program of the build.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) units: Vec<Unit>,
}

/// The units of the program that writes headers and texts.
pub(crate) fn makedefs() -> Tool {
    tool("makedefs", &["util/makedefs.c", "src/monst.c", "src/objects.c"])
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
            &["sys/share/dgn_yacc.c", "sys/share/dgn_lex.c", "util/dgn_main.c", "util/panic.c", "src/alloc.c"],
        ),
        tool("dlb", &["util/dlb_main.c", "util/panic.c", "src/alloc.c", "src/dlb.c"]),
    ]
}

fn tool(name: &'static str, sources: &[&str]) -> Tool {
    let unit = |source: &&str| Unit::new("tool", Path::new("tree").join(source), flags::tool());
    Tool { name, units: sources.iter().map(unit).collect() }
}

/// Everything that becomes part of the ROM, in link order, but what the build writes.
pub(crate) fn rom_units(folders: &Folders, bios: &Bios, level: Level) -> Result<Vec<Unit>> {
    let mut units = units(folders, bios)?;
    for unit in units.iter_mut().filter(|unit| extension(&unit.source) == "c") {
        unit.flags.extend(level.flags().into_iter().map(String::from));
        if level >= Level::Whole {
            // Names of what is private to a file; the path would be the default.
            unit.flags.push(format!("-frandom-seed={}", unit.name));
        }
        unit.trained = level >= Level::Trained;
        if unit.trained {
            unit.count_as_itself();
        }
    }
    Ok(units)
}

/// Folder of the trainer's objects.
pub(crate) const TRAINER_GROUP: &str = "trainer";

/// The same files, made to count as they run, and the main program that lets them.
pub(crate) fn trainer_units(folders: &Folders, bios: &Bios) -> Result<Vec<Unit>> {
    let mut units = units(folders, bios)?;
    for unit in units.iter_mut().filter(|unit| extension(&unit.source) == "c") {
        unit.count_as_itself();
        unit.flags.extend(TRAINER.map(String::from));
        unit.flags.push(format!("-frandom-seed={}", unit.name));
    }
    for name in ["start.c", "profile.c"] {
        let source = folders.krate.join("training").join(name);
        let flags = flags::port(&source);
        units.push(Unit::new("training", source, flags));
    }
    for unit in &mut units {
        unit.name = format!("{TRAINER_GROUP}/{}", unit.name);
    }
    Ok(units)
}

fn units(folders: &Folders, bios: &Bios) -> Result<Vec<Unit>> {
    type Flags = fn(&Path) -> Vec<String>;
    let groups: [(&str, Vec<PathBuf>, Flags); 3] = [
        ("game", game_sources(folders)?, flags::game),
        ("libc", bios.sources("libc"), flags::libc),
        ("port", bios.sources("port"), flags::port),
    ];
    let mut units = Vec::new();
    for (group, sources, flags) in groups {
        units.extend(sources.into_iter().map(|source| {
            let flags = flags(&source);
            Unit::new(group, source, flags)
        }));
    }
    Ok(units)
}

/// A generated source: strings and blobs.
pub(crate) fn generated_unit(source: PathBuf) -> Unit {
    let flags = flags::ours(&source);
    Unit::new("generated", source, flags)
}

/// The game's own sources, as the release's makefile lists them.
fn game_sources(folders: &Folders) -> Result<Vec<PathBuf>> {
    let path = folders.out.join("tree/sys/unix/Makefile.src");
    let makefile = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let listed = makefile_list(&makefile, "HACKCSRC");
    ensure!(listed.len() > 100, "{} lists no game sources", path.display());
    let kept = listed.iter().filter(|name| !REPLACED.iter().any(|(replaced, _)| replaced == *name));
    let mut sources: Vec<PathBuf> = kept.map(|name| Path::new("tree/src").join(name)).collect();
    sources.extend(OTHER_GAME_SOURCES.iter().map(|name| Path::new("tree").join(name)));
    Ok(sources)
}

/// The words of a makefile variable whose lines end with a backslash but the last.
fn makefile_list(makefile: &str, variable: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut lines = makefile.lines().skip_while(|line| !line.starts_with(variable));
    let mut rest = lines.next().and_then(|line| line.split_once('=')).map(|(_, rest)| rest);
    while let Some(line) = rest {
        let (body, goes_on) = line.strip_suffix('\\').map_or((line, false), |body| (body, true));
        words.extend(body.split_whitespace().map(String::from));
        rest = if goes_on { lines.next() } else { None };
    }
    words
}
