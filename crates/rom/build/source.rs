//! Where the pristine release tarball comes from: a file that the user names, the
//! user's cache, nethack.org, or Debian's source package. Its hash decides.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::stamp::{file_sha256, is_fresh, recreate, set};
use crate::{Folders, debian, download, unpack};

/// The SHA-256 of the NetHack 3.6.7 release tarball.
pub(crate) const TARBALL_SHA256: &str = "98cf67df6debf9668a61745aa84c09bcab362e5d33f5b944ec5155d44d2aacb2";
/// Names a tarball file; no other place is looked at then.
pub(crate) const TARBALL_VARIABLE: &str = "NETHACK_LAB_TARBALL";
/// Where the release is published.
pub(crate) const OFFICIAL_URL: &str = "https://www.nethack.org/download/3.6.7/nethack-367-src.tgz";

const FILE_NAME: &str = "nethack-367-src.tgz";

/// Makes sure that `tree/` under the output folder is the unpacked release.
pub(crate) fn obtain_tree(folders: &Folders) -> Result<()> {
    let named = std::env::var_os(TARBALL_VARIABLE).filter(|value| !value.is_empty());
    let named = named.map(|value| check_named(Path::new(&value))).transpose()?;
    let tree = folders.out.join("tree");
    let mark = folders.out.join("tree.made-from");
    if is_fresh(&mark, TARBALL_SHA256) && tree.is_dir() {
        return Ok(());
    }
    let tarball = match named {
        Some(path) => path,
        None => search(folders)?,
    };
    unpack::unpack(&tarball, &tree)?;
    set(&mark, TARBALL_SHA256)
}

fn check_named(path: &Path) -> Result<PathBuf> {
    println!("cargo::rerun-if-changed={}", path.display());
    let Some(found) = file_sha256(path) else {
        bail!("{TARBALL_VARIABLE} names {}, which can't be read", path.display());
    };
    ensure!(
        found == TARBALL_SHA256,
        "{TARBALL_VARIABLE} names {}, which is not the NetHack 3.6.7 release tarball:\n  \
         its SHA-256 is {found}\n  expected     {TARBALL_SHA256}",
        path.display()
    );
    Ok(path.to_path_buf())
}

/// Looks in the caches, then fetches; the error lists every attempt.
fn search(folders: &Folders) -> Result<PathBuf> {
    let mut tried = Vec::new();
    let caches: Vec<PathBuf> = user_cache().into_iter().chain([folders.out.clone()]).collect();
    for cache in &caches {
        let path = cache.join(FILE_NAME);
        match file_sha256(&path) {
            Some(found) if found == TARBALL_SHA256 => return Ok(path),
            Some(found) => tried.push(format!("{}: a damaged or foreign file, SHA-256 {found}", path.display())),
            None => tried.push(format!("{}: no such file", path.display())),
        }
    }
    let work = folders.out.join("fetch");
    type Fetch = fn(&Path) -> Result<PathBuf>;
    let ways: [(&str, Fetch); 2] = [(OFFICIAL_URL, download::fetch), ("Debian source package nethack", debian::fetch)];
    for (name, fetch) in ways {
        eprintln!("fetching the NetHack 3.6.7 release: {name}");
        let fetched = recreate(&work).and_then(|()| fetch(&work)).and_then(|path| verify(&path));
        match fetched.and_then(|path| keep(&path, &caches)) {
            Ok(path) => {
                println!("cargo::warning=fetched the NetHack 3.6.7 release ({name}) into {}", path.display());
                // A leftover costs disk space only.
                let _ = fs::remove_dir_all(&work);
                return Ok(path);
            }
            Err(error) => tried.push(format!("{name}: {error:#}")),
        }
    }
    bail!(
        "no NetHack 3.6.7 release tarball was found. Tried:\n  - {}\n\
         To supply it by hand, get {OFFICIAL_URL}\n\
         (or Debian's nethack_3.6.7.orig.tar.gz, the same file; SHA-256 {TARBALL_SHA256})\n\
         and set {TARBALL_VARIABLE} to its absolute path, or put it at {}",
        tried.join("\n  - "),
        caches[0].join(FILE_NAME).display()
    )
}

/// `nethack-lab` under the user's cache folder, where the environment has one.
fn user_cache() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("nethack-lab"))
}

fn verify(path: &Path) -> Result<PathBuf> {
    let found = file_sha256(path).with_context(|| format!("{} can't be read", path.display()))?;
    ensure!(found == TARBALL_SHA256, "what arrived is not the 3.6.7 release (SHA-256 {found})");
    Ok(path.to_path_buf())
}

/// Copies a verified tarball into the first cache folder that takes it. Another
/// build may do the same at once: both move a whole file into place.
fn keep(tarball: &Path, caches: &[PathBuf]) -> Result<PathBuf> {
    let mut reasons = Vec::new();
    for cache in caches {
        let target = cache.join(FILE_NAME);
        let temporary = cache.join(format!(".{FILE_NAME}.{}", std::process::id()));
        let kept = fs::create_dir_all(cache)
            .and_then(|()| fs::copy(tarball, &temporary))
            .and_then(|_| fs::rename(&temporary, &target));
        match kept {
            // Another container may have used the same temporary name at once.
            Ok(()) if file_sha256(&target).as_deref() == Some(TARBALL_SHA256) => return Ok(target),
            Ok(()) => reasons.push(format!("{}: it was damaged on the way", cache.display())),
            Err(error) => {
                // The temporary file may not have come into being at all.
                let _ = fs::remove_file(&temporary);
                reasons.push(format!("{}: {error}", cache.display()));
            }
        }
    }
    bail!("it could not be stored ({})", reasons.join("; "))
}
