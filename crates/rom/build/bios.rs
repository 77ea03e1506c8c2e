//! The files of the BIOS, our own C under the game.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::Folders;
use crate::stamp::write_if_changed;

/// The BIOS's folder, below the output folder.
pub(crate) const BIOS: &str = "bios";

/// The BIOS: our C and assembly, and the headers they share.
pub(crate) struct Bios {
    folder: PathBuf,
    /// Paths below `bios/`, sorted.
    pub(crate) files: Vec<PathBuf>,
}

impl Bios {
    /// Copies the BIOS into the output folder: the compiler mixes the names of files into
    /// those of private functions, and these must not depend on where the crate lies.
    pub(crate) fn copy(folders: &Folders) -> Result<Self> {
        let bios = Self::list(folders.krate.join(BIOS))?;
        let folder = folders.out.join(BIOS);
        for file in &bios.files {
            let (from, to) = (bios.path(file), folder.join(file));
            let bytes = fs::read(&from).with_context(|| format!("reading {}", from.display()))?;
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).with_context(|| format!("creating {}", parent.display()))?;
            }
            write_if_changed(&to, &bytes)?;
        }
        let copy = Self::list(folder)?;
        for file in copy.files.iter().filter(|file| !bios.files.contains(file)) {
            let path = copy.path(file);
            fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
        Ok(Self { folder: copy.folder, files: bios.files })
    }

    fn list(folder: PathBuf) -> Result<Self> {
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

    /// What is compiled of one part, below the output folder, sorted.
    pub(crate) fn sources(&self, part: &str) -> Vec<PathBuf> {
        let inside = |file: &&PathBuf| file.starts_with(part) && extension(file) != "h";
        let inside = self.files.iter().filter(inside);
        inside.map(|file| Path::new(BIOS).join(file)).collect()
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
