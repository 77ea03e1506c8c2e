//! Holds every function's stack frame against the limit of the contract: the scrub
//! of dead stack relies on it.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::Folders;
use crate::bios::extension;
use crate::compile::object;
use crate::recipe::Unit;
use crate::toolchain::Toolchain;

/// Checks the reports of `-fstack-usage`.
pub(crate) fn check(toolchain: &Toolchain, folders: &Folders, units: &[Unit], bytes_max: u64) -> Result<()> {
    let mut offenders = Vec::new();
    for unit in units.iter().filter(|unit| extension(&unit.source) == "c") {
        let path = folders.out.join(object(unit, "su"));
        // Clang reports nothing for a file without functions.
        if toolchain.clang && !path.exists() {
            continue;
        }
        let report = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        for line in report.lines() {
            let offence = offence(line, bytes_max).with_context(|| format!("{}: odd line {line}", path.display()))?;
            offenders.extend(offence);
        }
    }
    offenders.sort();
    ensure!(
        offenders.is_empty(),
        "stack frames must be of a known size of at most {bytes_max} bytes (FRAME_BYTES_MAX):\n  {}",
        offenders.join("\n  ")
    );
    Ok(())
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
