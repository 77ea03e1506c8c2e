//! Debian's source package `nethack`, whose original archive is the release
//! tarball, through an apt-get that keeps all its state in a folder of ours.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::debian_sources::{Source, from_deb822, from_one_line};
use crate::process::{run, run_limited};
use crate::source::TARBALL_SHA256;
use crate::stamp::file_sha256;

/// Tries each Debian mirror of the machine's own apt sources.
pub(crate) fn fetch(folder: &Path) -> Result<PathBuf> {
    let sources = machine_sources(Path::new("/etc/apt"));
    ensure!(!sources.is_empty(), "this machine's apt sources name no Debian mirror");
    let settings = acquire_settings()?;
    let mut reasons = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let work = folder.join(format!("apt-{number}"));
        match fetch_from(&work, source, &settings) {
            Ok(path) => return Ok(path),
            Err(error) => reasons.push(format!("{error:#}")),
        }
    }
    bail!("{}", reasons.join("; "))
}

/// Every distinct Debian mirror in apt's configuration folder.
fn machine_sources(apt: &Path) -> Vec<Source> {
    let mut files = vec![apt.join("sources.list")];
    if let Ok(entries) = fs::read_dir(apt.join("sources.list.d")) {
        let mut parts: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        parts.sort();
        files.extend(parts);
    }
    let mut sources: Vec<Source> = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let found = match file.extension().and_then(|extension| extension.to_str()) {
            Some("sources") => from_deb822(&text),
            Some("list") => from_one_line(&text),
            _ => Vec::new(),
        };
        for source in found {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
    }
    sources
}

/// How this machine reaches its mirrors: proxies, certificates and the like. The
/// rest of its configuration, such as what to do after an update, stays out.
fn acquire_settings() -> Result<String> {
    run(Command::new("apt-config").args(["dump", "Acquire"])).context("is apt installed?")
}

fn fetch_from(work: &Path, source: &Source, settings: &str) -> Result<PathBuf> {
    for name in ["lists/partial", "cache/archives/partial", "state", "empty", "package"] {
        fs::create_dir_all(work.join(name)).with_context(|| format!("creating {name} in {}", work.display()))?;
    }
    let config = work.join("apt.conf");
    let files = [
        (work.join("status"), String::new()),
        (work.join("nethack.sources"), source.0.clone()),
        (config.clone(), configuration(work, settings)),
    ];
    for (path, text) in &files {
        fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    let package = work.join("package");
    let apt = |arguments: &[&str], seconds: u64| {
        let mut command = Command::new("apt-get");
        command.env("APT_CONFIG", &config).env("LC_ALL", "C").current_dir(&package).args(arguments);
        run_limited(&mut command, Duration::from_secs(seconds))
    };
    apt(&["--quiet=2", "--error-on=any", "update"], 120)?;
    // A mirror may lack the package's small files: apt-get then reports an error
    // although the archive has arrived. What is there decides.
    let fetched = apt(&["--quiet=2", "source", "--download-only", "nethack"], 120);
    match find_tarball(&package)? {
        Some(path) => Ok(path),
        None => fetched.and_then(|()| bail!("the package's archive is not the 3.6.7 release")),
    }
}

fn configuration(work: &Path, settings: &str) -> String {
    let folder = work.display();
    let mut text = format!(
        "{settings}\n\
         Dir::Etc::Parts \"{folder}/empty\";\n\
         Dir::Etc::Main \"/dev/null\";\n\
         Dir::Etc::SourceList \"{folder}/nethack.sources\";\n\
         Dir::Etc::SourceParts \"{folder}/empty\";\n\
         Dir::Etc::Preferences \"/dev/null\";\n\
         Dir::Etc::PreferencesParts \"{folder}/empty\";\n\
         Dir::State \"{folder}/state\";\n\
         Dir::State::Lists \"{folder}/lists\";\n\
         Dir::State::status \"{folder}/status\";\n\
         Dir::Cache \"{folder}/cache\";\n\
         Dir::Log \"{folder}/state\";\n\
         Acquire::Languages \"none\";\n\
         Acquire::Retries \"0\";\n\
         Acquire::http::Timeout \"5\";\n\
         Acquire::https::Timeout \"5\";\n"
    );
    // Root would hand the download to a user who can't enter our folders.
    if fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0) {
        text.push_str("APT::Sandbox::User \"root\";\n");
    }
    text
}

fn find_tarball(folder: &Path) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if file_sha256(&path).as_deref() == Some(TARBALL_SHA256) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
