//! Keeps the movie of a game on disk while it is played.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;
use lab::{Boundary, Lab, Snapshot};
use movie::{Finish, Header, JournalWriter, MarkKind, Movie};
use wire::Key;

use crate::setup::create_new;

/// A movie's file that grows by every key: a killed program loses nothing that was shown.
pub(super) struct Keeper {
    path: PathBuf,
    began: Boundary,
    writer: JournalWriter<File>,
}

impl Keeper {
    /// Takes the name, which must be free. `past` is the movie that the game goes on from.
    pub(super) fn new(lab: &Lab, game: &Snapshot, past: Option<&Movie>, path: PathBuf) -> anyhow::Result<Self> {
        let info = lab.info();
        let header = Header {
            engine_id: info.engine_id,
            rom_id: info.rom_id,
            nethack_version: info.nethack_version,
            creator: concat!("nethack-lab ", env!("CARGO_PKG_VERSION")).to_owned(),
            power_on: (*game.power_on).clone(),
        };
        let file = create_new(&path)?;
        let begun = match past {
            Some(movie) => JournalWriter::continue_movie(&header, movie, file),
            None => JournalWriter::create(&header, file),
        };
        if begun.is_err() {
            // Half a header is of no use to anybody.
            let _ = std::fs::remove_file(&path);
        }
        let writer = begun.with_context(|| path.display().to_string())?;
        let mut keeper = Self { path, began: game.boundary, writer };
        keeper.mark(game)?;
        Ok(keeper)
    }

    /// Says that a key is about to be pressed.
    pub(super) fn sends(&mut self, key: Key) -> anyhow::Result<()> {
        self.writer.send(&[key]).with_context(|| self.path.display().to_string())
    }

    /// Says that the key was pressed.
    pub(super) fn pressed(&mut self, key: Key, game: &Snapshot) -> anyhow::Result<()> {
        let written = self.writer.done(&[key], &[game.play.check()]);
        written.with_context(|| self.path.display().to_string())?;
        self.mark(game)
    }

    /// Says that the key was not pressed after all.
    pub(super) fn not_pressed(&mut self) -> anyhow::Result<()> {
        self.writer.done(&[], &[]).with_context(|| self.path.display().to_string())
    }

    /// Says that the key has killed its workers.
    pub(super) fn lost(&mut self, key: Key) -> anyhow::Result<()> {
        self.not_pressed()?;
        self.writer.lost(key).with_context(|| self.path.display().to_string())
    }

    /// Writes the last lines and names the file; a movie of nothing new is removed.
    pub(super) fn finish(&mut self, lab: &Lab, game: &Snapshot) -> anyhow::Result<Option<&Path>> {
        if self.writer.boundary() == self.began {
            std::fs::remove_file(&self.path).with_context(|| self.path.display().to_string())?;
            return Ok(None);
        }
        let how = game.ended.as_ref().map_or(Finish::Open, |ended| Finish::Ended(ended.as_ref().clone()));
        let ended = self.digests(lab, game).and_then(|()| Ok(self.writer.end(how)?));
        ended.with_context(|| self.path.display().to_string())?;
        Ok(Some(&self.path))
    }

    /// Notes what the play is, where that is due.
    fn mark(&mut self, game: &Snapshot) -> anyhow::Result<()> {
        if !self.writer.digests_due() {
            return Ok(());
        }
        self.writer.digests(game.play, None).with_context(|| self.path.display().to_string())
    }

    /// Notes what the whole machine is, as far as the lab can tell.
    fn digests(&mut self, lab: &Lab, game: &Snapshot) -> anyhow::Result<()> {
        // A worker that can't be had costs the digest and not the movie.
        let exported = lab.movie(game.machine).ok().and_then(|bytes| movie::read(&bytes).ok());
        let last = exported.as_ref().and_then(|recording| recording.movie.marks.last());
        match last.map(|mark| (mark.at, &mark.kind)) {
            Some((at, MarkKind::Digests { play, state })) if at == self.writer.boundary() => {
                Ok(self.writer.digests(*play, *state)?)
            }
            _ => Ok(()),
        }
    }
}
