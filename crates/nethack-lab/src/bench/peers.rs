//! The peers, in the same run, where they are installed: NLE and the Arcade Learning Environment.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::progress;

/// What measures them. It needs no file: it goes to the interpreter as its argument.
const SCRIPT: &str = include_str!("peers.py");

/// The figures of both; nothing for one that is not installed.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Peers {
    pub(super) nle: Option<Nle>,
    pub(super) ale: Option<Ale>,
}

/// NLE: to come back to a point is to play there again.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Nle {
    pub(super) version: String,
    /// How many steps into the game the point is.
    pub(super) depth: u64,
    /// Reset and play to the point.
    pub(super) replay_us: f64,
    pub(super) reset_us: f64,
    /// With the arrays of the Challenge task.
    pub(super) steps_per_s: f64,
}

/// The Arcade Learning Environment: Breakout, 200 frames in.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Ale {
    pub(super) version: String,
    pub(super) restore_us: f64,
    /// Restore a state and play one frame.
    pub(super) restore_act_us: f64,
    pub(super) clone_us: f64,
    pub(super) state_bytes: u64,
}

/// Measures them with a Python interpreter that may have them.
pub(super) fn measure(python: &Path) -> Result<Peers> {
    progress("the peers");
    let output = Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .with_context(|| format!("starting {}", python.display()))?;
    ensure!(output.status.success(), "{} ended with {}", python.display(), output.status);
    serde_json::from_slice(&output.stdout).context("the peers' figures")
}
