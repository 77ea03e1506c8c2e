//! The files of the BIOS, our own C under the game.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::Folders;

/// The BIOS: our C and assembly, and the headers they share.
pub(crate) struct Bios {
    pub(crate) folder: PathBuf,
    /// Paths below `bios/`, sorted.
    pub(crate) files: Vec<PathBuf>,
}

impl Bios {
    pub(crate) fn read(folders: &Folders) -> Result<Self> {
        let folder = folders.krate.join("bios");
        let mut files = Vec::new();
        for part in ["", "libc", "port"] {
            let path = folder.join(part);
            for entry in fs::read_dir(&path).with_context(|| format!("reading {}", path.display()))? {
                let name = PathBuf::from(entry?.file_name());
                if matches!(extension(&name), "c" | "h" | "S") {
                    files.push(Path::new(part).join(name));
                }
            }
        }
        files.sort();
        Ok(Self { folder, files })
    }

    pub(crate) fn path(&self, file: &Path) -> PathBuf {
        self.folder.join(file)
    }

    /// The limit that `contract.h` sets to the frame of one function.
    pub(crate) fn frame_bytes_max(&self) -> Result<u64> {
        let path = self.path(Path::new("contract.h"));
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let value = text.lines().find_map(|line| line.strip_prefix("#define FRAME_BYTES_MAX "));
        let value = value.and_then(|value| value.trim().parse().ok());
        value.with_context(|| format!("{} defines no FRAME_BYTES_MAX", path.display()))
    }

    /// What is compiled of one part, sorted.
    pub(crate) fn sources(&self, part: &str) -> Vec<PathBuf> {
        let inside = |file: &&PathBuf| file.starts_with(part) && extension(file) != "h";
        let inside = self.files.iter().filter(inside);
        inside.map(|file| self.path(file)).collect()
    }
}

/// A file's name without its extension.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The extension without its dot, empty where there is none.
pub(crate) fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}
