//! Saving a machine to a file's bytes, and making one from them.

use movie::Header;
use wire::Boundary;

use crate::journal::Journal;
use crate::messages::MessageLog;
use crate::state_file::{Contents, StateFile, write};
use crate::state_file_parts::{Whole, check_report};
use crate::{Control, Journalled, Lab, LabError, MachineId, Snapshot, State};

impl Lab {
    /// The bytes of a save state file: a machine's state, now or at an earlier boundary of its line, and the movie that
    /// leads to it. Any host with the same ROM makes the machine from it with [`Lab::load_state`]; with another ROM of
    /// the same engine the movie inside does. The machine does not change.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`], [`LabError::NoBoundary`]; [`LabError::NoState`] where the game's end left none;
    /// [`LabError::BadMovie`] when the movie would be too long; engine failures.
    pub fn save_state(
        &self,
        machine: MachineId,
        at: Option<Boundary>,
        control: &Control<'_>,
    ) -> Result<Vec<u8>, LabError> {
        let lab = &self.0;
        let slot = lab.slot(machine)?;
        let tip = lab.tip_at(&slot, at, control)?;
        let state = tip.state.as_ref().ok_or(LabError::NoState(machine))?;
        let whole = lab.whole_state(state, control)?;
        let mut line = tip.line.clone();
        line.mark(whole.play, whole.state);
        let movie = lab.movie_of(&slot, &line, tip.ended.as_deref())?;
        write_file(&lab.header(&slot.power_on), line.end(), &movie, &whole)
    }

    /// The bytes of a save state file of a state, as [`Lab::save_state`] makes them of a machine.
    ///
    /// # Errors
    /// [`LabError::ForeignState`]; [`LabError::BadMovie`] when the movie would be too long; engine failures.
    pub fn save_state_of(&self, state: &State, control: &Control<'_>) -> Result<Vec<u8>, LabError> {
        // Whose state it is is checked first.
        let movie = self.movie_of(state)?;
        let whole = self.0.whole_state(state.kept(), control)?;
        write_file(&self.0.header(state.power_on()), state.boundary(), &movie, &whole)
    }

    /// Makes a machine from the bytes of a save state file: a new game with, if `journalled`, a new journal that begins
    /// with the movie's line. Its messages are those of its last input.
    ///
    /// Everything that can be checked is, before there is a machine: the file's digest, ROM and engine, the movie inside;
    /// then a sandboxed worker loads the state, and its digests must be those that file and movie name. That the movie
    /// leads there is what the file says; [`Lab::verify`] of [`StateFile::movie`] proves it.
    ///
    /// # Errors
    /// [`LabError::BadState`], [`LabError::OtherRom`], [`LabError::NoMovies`], limits; engine and journal failures.
    /// Nothing has changed then.
    pub fn load_state(
        &self,
        bytes: &[u8],
        journalled: impl Into<Journalled>,
        control: &Control<'_>,
    ) -> Result<Snapshot, LabError> {
        let file = StateFile::read(bytes)?;
        let lab = &self.0;
        let identity = lab.engine.identity();
        file.check_rom(&identity.engine_id, &identity.rom_id)?;
        lab.check_machines(1)?;
        let journalled = journalled.into();
        lab.check_journalled(journalled)?;
        let mut recording = lab.read_movie(file.movie())?;
        let (power_on, line) = lab.usable(&recording)?;
        let state = lab.put_whole(&file.body, &file.blobs, file.image_bytes())?;
        let mut report = lab.look_at(&state, control)?;
        check_report(&report, (file.play(), file.state(), file.image_bytes()), &recording.movie.finish)?;
        if control.is_cancelled() {
            return Err(LabError::Cancelled);
        }
        lab.raise_revisions();
        let mut tip = lab.tip_after(line, MessageLog::default(), &mut report, Some(state));
        lab.leave_checkpoint(&mut tip);
        let game = lab.new_game_id();
        recording.movie.account = lab.left.account(&power_on, recording.movie.account);
        let (header, bytes_max) = (lab.header(&power_on), lab.limits().movie_bytes);
        let journal = lab.begin_journal(journalled, |movies| {
            Journal::continue_movie(movies, &game, &header, &recording.movie, bytes_max)
        })?;
        lab.admit(game, power_on, tip, journal, recording.movie.account)
    }
}

fn write_file(header: &Header, at: Boundary, movie: &[u8], whole: &Whole) -> Result<Vec<u8>, LabError> {
    let Whole { play, state, image_bytes, body, blobs } = whole;
    let contents = Contents { play: *play, state: *state, image_bytes: *image_bytes, body, blobs };
    write(header, at, movie, &contents).map_err(|error| LabError::StateFile(error.to_string()))
}
