//! Holds every function's stack frame against the limit of the contract: the scrub
//! of dead stack relies on it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::Folders;
use crate::bios::extension;
use crate::compile::object;
use crate::link::REPORTS;
use crate::optimise::Level;
use crate::recipe::Unit;
use crate::toolchain::Toolchain;

/// The game has thousands of functions; with fewer, a report is not of all of it.
const FUNCTIONS_MIN: usize = 1000;

/// Checks the reports of `-fstack-usage`: from the compiler for each file, or for the
/// whole program from the linker, when what is called has become part of its callers.
pub(crate) fn check(
    toolchain: &Toolchain,
    folders: &Folders,
    level: Level,
    units: &[Unit],
    bytes_max: u64,
) -> Result<()> {
    let reports = if level >= Level::Whole {
        whole_program(&folders.out.join(REPORTS))?
    } else {
        let units = units.iter().filter(|unit| extension(&unit.source) == "c");
        let paths = units.map(|unit| folders.out.join(object(unit, "su")));
        // Clang reports nothing for a file without functions.
        paths.filter(|path| !toolchain.clang || path.exists()).collect()
    };
    let (mut functions, mut offenders) = (0, Vec::new());
    for path in &reports {
        let report = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        for line in report.lines() {
            let offence = offence(line, bytes_max).with_context(|| format!("{}: odd line {line}", path.display()))?;
            offenders.extend(offence);
            functions += 1;
        }
    }
    ensure!(functions >= FUNCTIONS_MIN, "stack frames are reported of {functions} functions only");
    offenders.sort();
    ensure!(
        offenders.is_empty(),
        "stack frames must be of a known size of at most {bytes_max} bytes (FRAME_BYTES_MAX):\n  {}",
        offenders.join("\n  ")
    );
    Ok(())
}

fn whole_program(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if extension(&path) == "su" {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// A line is `file:line:column:function`, bytes, kind, with tabs between.
fn offence(line: &str, bytes_max: u64) -> Result<Option<String>> {
    let mut fields = line.split('\t');
    let (place, bytes, kind) = (fields.next(), fields.next(), fields.next());
    let place = place.context("no place")?;
    let bytes: u64 = bytes.context("no size")?.parse()?;
    let kind = kind.context("no kind")?;
    let sound = bytes <= bytes_max && kind != "dynamic";
    Ok((!sound).then(|| format!("{bytes:>8} {kind:<8} {place}")))
}
