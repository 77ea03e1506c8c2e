//! Keeps the movie of a game on disk while it is played.

use std::path::{Path, PathBuf};

use anyhow::Context;
use lab::{Boundary, Lab, Snapshot};

use crate::setup::write_new;

/// Inputs between two writes: the most that a killed program loses.
const KEEP_EVERY: u64 = 50;

/// A movie's file that is written anew, whole, every now and then.
pub(super) struct Keeper {
    path: PathBuf,
    began: Boundary,
    kept: Boundary,
}

impl Keeper {
    /// Takes the name, which must be free.
    pub(super) fn new(lab: &Lab, game: &Snapshot, path: PathBuf) -> anyhow::Result<Self> {
        write_new(&path, &lab.movie(game.machine)?)?;
        Ok(Self { path, began: game.boundary, kept: game.boundary })
    }

    /// Writes the movie when enough is new.
    pub(super) fn keep(&mut self, lab: &Lab, game: &Snapshot) -> anyhow::Result<()> {
        let new = game.boundary.0 - self.kept.0;
        if new >= KEEP_EVERY || game.ended.is_some() { self.write(lab, game) } else { Ok(()) }
    }

    /// Writes the whole movie and names its file; a movie of nothing new is removed.
    pub(super) fn finish(&mut self, lab: &Lab, game: &Snapshot) -> anyhow::Result<Option<&Path>> {
        if game.boundary == self.began {
            std::fs::remove_file(&self.path).with_context(|| self.path.display().to_string())?;
            return Ok(None);
        }
        if self.kept < game.boundary {
            self.write(lab, game)?;
        }
        Ok(Some(&self.path))
    }

    fn write(&mut self, lab: &Lab, game: &Snapshot) -> anyhow::Result<()> {
        let bytes = lab.movie(game.machine)?;
        // Beside it and then into place, so that the file is whole at any time.
        let mut beside = self.path.clone().into_os_string();
        beside.push(".new");
        let beside = PathBuf::from(beside);
        let written = write_new(&beside, &bytes)
            .and_then(|()| std::fs::rename(&beside, &self.path).with_context(|| self.path.display().to_string()));
        self.kept = game.boundary;
        written
    }
}
