//! Generates headers, texts and levels, and packs the game's data archive.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::Folders;
use crate::compile::{Compiler, object};
use crate::process::{hermetic, run};
use crate::recipe::{Tool, makedefs};
use crate::source::TARBALL_SHA256;
use crate::stamp::{Fingerprint, is_fresh, set};

/// The archive, below the output folder.
pub(crate) const NHDAT: &str = "generate/dat/nhdat";

/// makedefs, one run each: names of objects and monsters, vision tables, version,
/// texts and the dungeon's outline.
const MAKEDEFS_RUNS: [&str; 10] = ["-o", "-p", "-z", "-v", "-d", "-r", "-q", "-h", "-s", "-e"];

/// What the archive holds beside the levels: DATHELP, dungeon, tribute and VARDATD
/// of the release's makefile.
const ARCHIVED: [&str; 17] = [
    "bogusmon",
    "cmdhelp",
    "data",
    "dungeon",
    "engrave",
    "epitaph",
    "help",
    "hh",
    "history",
    "keyhelp",
    "opthelp",
    "options",
    "oracles",
    "quest.dat",
    "rumors",
    "tribute",
    "wizhelp",
];

/// Builds makedefs and runs it; afterwards every game source can be compiled.
pub(crate) fn generate_headers(compiler: &Compiler, folders: &Folders) -> Result<()> {
    let tool = makedefs();
    compiler.compile(&tool.units)?;
    let program = link_tool(compiler, folders, &tool)?;
    let key = key(&[&program])?;
    let mark = folders.out.join("generate.made-from");
    if is_fresh(&mark, &key) {
        return Ok(());
    }
    let generate = folders.out.join("generate");
    if generate.exists() {
        fs::remove_dir_all(&generate).context("clearing generated files")?;
    }
    let dat = generate.join("dat");
    for folder in [&dat, &generate.join("include"), &generate.join("src")] {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    for path in sorted_files(&folders.out.join("tree/dat"))? {
        let target = dat.join(path.file_name().unwrap_or_default());
        fs::copy(&path, &target).with_context(|| format!("copying {}", path.display()))?;
    }
    for option in MAKEDEFS_RUNS {
        run(hermetic(&program, &dat).arg(option))?;
    }
    set(&mark, &key)
}

/// Builds the level compilers and the packer and runs them.
pub(crate) fn generate_data(compiler: &Compiler, folders: &Folders, tools: &[Tool]) -> Result<()> {
    let mut programs = Vec::new();
    for tool in tools {
        programs.push(link_tool(compiler, folders, tool)?);
    }
    let [lev_comp, dgn_comp, dlb] = &programs[..] else {
        anyhow::bail!("the archive takes three tools, not {}", programs.len());
    };
    let headers = fs::read_to_string(folders.out.join("generate.made-from")).context("reading a mark")?;
    let key = format!("{headers} {}", key(&[lev_comp, dgn_comp, dlb])?);
    let mark = folders.out.join("nhdat.made-from");
    if is_fresh(&mark, &key) && folders.out.join(NHDAT).is_file() {
        return Ok(());
    }
    let dat = folders.out.join("generate/dat");
    run(hermetic(dgn_comp, &dat).arg("dungeon.pdf"))?;
    for path in with_extension(&dat, "lev")? {
        fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
    }
    for path in with_extension(&dat, "des")? {
        run(hermetic(lev_comp, &dat).arg(path.file_name().unwrap_or_default()))?;
    }
    let levels = with_extension(&dat, "lev")?;
    ensure!(levels.len() > 100, "the level compiler made only {} levels", levels.len());
    let levels = levels.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = levels.chain(ARCHIVED.map(String::from)).collect();
    names.sort();
    run(hermetic(dlb, &dat).args(["cf", "nhdat"]).args(names))?;
    set(&mark, &key)
}

fn link_tool(compiler: &Compiler, folders: &Folders, tool: &Tool) -> Result<PathBuf> {
    let folder = folders.out.join("tools");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let program = folder.join(tool.name);
    let objects: Vec<PathBuf> = tool.units.iter().map(|unit| object(unit, "o")).collect();
    let mut fingerprint = Fingerprint::default();
    fingerprint.part(&compiler.toolchain.version);
    for path in &objects {
        fingerprint.file(&path.to_string_lossy(), &folders.out.join(path))?;
    }
    let key = fingerprint.hex();
    let mark = folder.join(format!("{}.made-from", tool.name));
    if !(is_fresh(&mark, &key) && program.is_file()) {
        run(compiler.toolchain.command(&folders.out).arg("-o").arg(&program).args(objects))
            .with_context(|| format!("linking {}", tool.name))?;
        set(&mark, &key)?;
    }
    Ok(program)
}

/// A digest of the release and of the programs that work on it.
fn key(programs: &[&Path]) -> Result<String> {
    let mut fingerprint = Fingerprint::default();
    fingerprint.part(TARBALL_SHA256).part(crate::process::SOURCE_DATE_EPOCH);
    for program in programs {
        fingerprint.file("", program)?;
    }
    Ok(fingerprint.hex())
}

fn sorted_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

fn with_extension(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = sorted_files(folder)?;
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    Ok(files)
}
