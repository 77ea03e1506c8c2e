//! Unpacks the release tarball.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use tar::EntryType;

/// The release holds 25 MB in 860 files.
const BYTES_MAX: u64 = 128 << 20;
const ENTRIES_MAX: usize = 10_000;

/// Unpacks the tarball's one folder as `tree`; an interrupted run leaves none.
pub(crate) fn unpack(tarball: &Path, tree: &Path) -> Result<()> {
    let temporary = tree.with_extension("unpacking");
    for folder in [tree, &temporary] {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("clearing {}", folder.display()))?;
        }
    }
    unpack_entries(tarball, &temporary).with_context(|| format!("unpacking {}", tarball.display()))?;
    fs::rename(&temporary, tree).with_context(|| format!("creating {}", tree.display()))
}

fn unpack_entries(tarball: &Path, folder: &Path) -> Result<()> {
    let bounded = GzDecoder::new(File::open(tarball)?).take(BYTES_MAX);
    let mut archive = tar::Archive::new(bounded);
    for (count, entry) in archive.entries()?.enumerate() {
        ensure!(count < ENTRIES_MAX, "it holds more than {ENTRIES_MAX} entries");
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        let Some(inside) = inside_top_folder(&entry.path()?) else {
            ensure!(matches!(kind, EntryType::Directory | EntryType::XGlobalHeader), "a file lies outside its folder");
            continue;
        };
        let target = folder.join(inside);
        match kind {
            EntryType::Directory => fs::create_dir_all(&target)?,
            EntryType::Regular => {
                if let Some(parent) = target.parent() {
                    fs::create_dir_all(parent)?;
                }
                io::copy(&mut entry, &mut File::create(&target)?)?;
            }
            other => anyhow::bail!("{} is neither file nor folder ({other:?})", target.display()),
        }
    }
    Ok(())
}

/// The path below the archive's top folder; `None` for that folder itself and for
/// whatever would leave it.
fn inside_top_folder(path: &Path) -> Option<PathBuf> {
    let mut parts = path.components();
    parts.next()?;
    let inside: PathBuf = parts.clone().collect();
    let plain = parts.all(|part| matches!(part, Component::Normal(_)));
    (plain && inside != Path::new("")).then_some(inside)
}
