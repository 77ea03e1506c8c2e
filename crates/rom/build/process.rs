//! Running other programs: with a limit on time, and where bytes depend on them,
//! with an environment of our own.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// The release day of NetHack 3.6.7; the game shows it as its build date.
pub(crate) const SOURCE_DATE_EPOCH: &str = "1676419200";

/// A command whose output depends on its arguments only: no locale, time zone or
/// compiler variable of the caller reaches it.
pub(crate) fn hermetic(program: impl AsRef<Path>, folder: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    command.current_dir(folder).env_clear();
    for kept in ["PATH", "HOME", "TMPDIR"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
    command.env("LC_ALL", "C").env("TZ", "UTC").env("SOURCE_DATE_EPOCH", SOURCE_DATE_EPOCH);
    command
}

/// Runs a command that has to succeed and hands out what it printed to stdout.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("starting {}", name(command)))?;
    ensure!(output.status.success(), "{} failed ({})\n{}", name(command), output.status, printed(&output));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command for at most `limit`, then ends it. The error tells what it
/// printed last.
pub(crate) fn run_limited(command: &mut Command, limit: Duration) -> Result<()> {
    let name = name(command);
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {name}"))?;
    let id = child.id();
    let (sender, receiver) = channel();
    let waiter = std::thread::spawn(move || {
        let output = child.wait_with_output();
        // A receiver that gave up waiting has no use for the result.
        let _ = sender.send(());
        output
    });
    let late = receiver.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
    if late {
        end(id);
    }
    let output = match waiter.join() {
        Ok(output) => output.with_context(|| format!("waiting for {name}"))?,
        Err(_) => bail!("waiting for {name} failed"),
    };
    ensure!(!late, "{name} took longer than {} s", limit.as_secs());
    ensure!(output.status.success(), "{name} failed ({}): {}", output.status, last_lines(&printed(&output)));
    Ok(())
}

/// Ends a child that has not been waited for yet, so its id is still its own.
fn end(id: u32) {
    // Failing to start `kill` leaves only a longer wait.
    let _ = Command::new("kill").arg(id.to_string()).stderr(Stdio::null()).status();
}

fn name(command: &Command) -> String {
    Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn printed(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stdout));
    text
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}
