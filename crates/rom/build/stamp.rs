//! Digests, and marks that say which inputs a built file was made from.

use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// A SHA-256 over named parts, each preceded by its length so that no two
/// different lists of parts read the same.
#[derive(Default)]
pub(crate) struct Fingerprint(Sha256);

impl Fingerprint {
    pub(crate) fn part(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let bytes = bytes.as_ref();
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds a file's name as `name` and its bytes.
    pub(crate) fn file(&mut self, name: &str, path: &Path) -> Result<&mut Self> {
        let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        Ok(self.part(name).part(bytes))
    }

    pub(crate) fn hex(&mut self) -> String {
        hex(&self.0.finalize_reset())
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The SHA-256 of a file in hexadecimal, or `None` where it can't be read.
pub(crate) fn file_sha256(path: &Path) -> Option<String> {
    let mut file = fs::File::open(path).ok()?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hex(&hasher.finalize())),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// True where `mark` holds `key`: what it stands for needs no making again.
pub(crate) fn is_fresh(mark: &Path, key: &str) -> bool {
    fs::read_to_string(mark).is_ok_and(|text| text == key)
}

/// Records that what `mark` stands for is made from the inputs of `key`.
pub(crate) fn set(mark: &Path, key: &str) -> Result<()> {
    fs::write(mark, key).with_context(|| format!("writing {}", mark.display()))
}

/// Writes a file, through a neighbour, so that a reader sees all or nothing;
/// a file that already holds these bytes is left alone.
pub(crate) fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let temporary = path.with_extension(format!("tmp{}", std::process::id()));
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("writing {}", path.display()))
}

/// Makes an empty folder, whatever was there.
pub(crate) fn recreate(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("clearing {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))
}
