//! The official download, through whichever of curl and wget is installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process::run_limited;
use crate::source::OFFICIAL_URL;

const CONNECT_SECONDS: &str = "5";
const TOTAL_SECONDS: &str = "60";
/// The release is 5.3 MB; what is far larger is something else.
const BYTES_MAX: &str = "33554432";

/// Downloads the tarball into `folder`.
pub(crate) fn fetch(folder: &Path) -> Result<PathBuf> {
    let target = folder.join("download.tgz");
    let mut curl = Command::new("curl");
    curl.args(["--fail", "--silent", "--show-error", "--location", "--proto", "=https"])
        .args(["--connect-timeout", CONNECT_SECONDS, "--max-time", TOTAL_SECONDS])
        .args(["--max-filesize", BYTES_MAX, "--output"])
        .arg(&target)
        .arg(OFFICIAL_URL);
    let mut wget = Command::new("wget");
    wget.args(["--no-verbose", "--tries=1", "--https-only", "--max-redirect=5"])
        .arg(format!("--connect-timeout={CONNECT_SECONDS}"))
        .arg(format!("--dns-timeout={CONNECT_SECONDS}"))
        .arg("--read-timeout=15")
        .arg("--output-document")
        .arg(&target)
        .arg(OFFICIAL_URL);

    let mut reasons = Vec::new();
    for command in [&mut curl, &mut wget] {
        match run_limited(command, Duration::from_secs(62)) {
            Ok(()) => return Ok(target),
            Err(error) => {
                // Where one client ran and failed the other would meet the same
                // wall; only a missing client gives the next its turn.
                let missing = error.root_cause().downcast_ref::<std::io::Error>().is_some();
                reasons.push(format!("{error:#}"));
                if !missing {
                    break;
                }
            }
        }
    }
    bail!("{}", reasons.join("; "))
}
