use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use movie::{Finish, Mark, MarkKind, Movie, Recording, Step};
use wire::{Boundary, Event, Key, PowerOn};

use crate::dormant::NO_LEDGER;
use crate::journal::{self, Journal};
use crate::lab::Inner;
use crate::line::Line;
use crate::messages::MessageLog;
use crate::{Account, Control, Journalled, Lab, LabError, Snapshot};

/// Which journal to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeFrom {
    /// The one with the highest number in the movies directory.
    Latest,
    /// This one.
    File(PathBuf),
}

/// A machine that goes on with its journal.
#[derive(Clone, Debug)]
pub struct Resumed {
    /// The machine.
    pub snapshot: Snapshot,
    /// The journal that it goes on in.
    pub journal: PathBuf,
    /// How many inputs were replayed, each compared with its check.
    pub inputs: u64,
    /// Keys that were sent and of which nobody knows whether they were pressed. They are not pressed again: the machine
    /// is where the last acknowledged input has led it.
    pub unacknowledged: Vec<Key>,
    /// Bytes of a torn last line, which were cut off.
    pub torn_bytes: u64,
    /// Keys that had killed their workers on this line.
    pub lost: Vec<(Boundary, Key)>,
    /// True when the journal had its last line: the machine can be looked at and forked, and is over.
    pub closed: bool,
    /// True when the journal is a new one.
    pub is_new: bool,
    /// What the recording says of what happened on the way.
    pub account: Account,
}

/// A journal and its ledger as they would be resumed.
#[derive(Clone, Debug)]
pub struct Foreseen {
    /// The journal.
    pub journal: PathBuf,
    /// True where it would be gone on with in a new journal, without a ledger.
    pub is_new: bool,
    /// What the recording says of what happened on the way.
    pub account: Account,
    /// What the game was begun with.
    pub power_on: PowerOn,
    /// What is wrong with the ledger, where it is not as it was written or not there.
    pub damage: Option<String>,
    /// The ledger's notes, by their names.
    pub notes: BTreeMap<String, String>,
}

impl Lab {
    /// Makes a machine again from its journal, by replay up to the last acknowledged input, and goes on appending to
    /// the same file. A torn tail is cut off. A journal that was closed stays as it is; its machine is over. Only a file
    /// that is named and whose last line says that the game goes on, as an exported movie's does, is gone on with, in a
    /// new journal; [`Lab::begin_ledger`] gives that its name.
    ///
    /// # Errors
    /// [`LabError::NoJournal`], [`LabError::JournalInUse`]; [`LabError::InJournal`] around
    /// [`LabError::BadMovie`] (altered lines too), [`LabError::RomMismatch`], [`LabError::Desync`] and others;
    /// [`LabError::NoMovies`] where there is nowhere to put a new journal; journal failures.
    pub fn resume(&self, from: &ResumeFrom, control: &Control<'_>) -> Result<Resumed, LabError> {
        let lab = &self.0;
        lab.check_machines(1)?;
        let path = lab.resumed_path(from)?;
        let named = matches!(from, ResumeFrom::File(_));
        self.resume_path(&path, named, control).map_err(|error| error.in_journal(&path))
    }

    /// What [`Lab::resume`] and [`Lab::reopen_ledger`] would find, of which nothing is replayed, and no file changes.
    ///
    /// # Errors
    /// As those, but for what only a replay shows.
    pub fn foresee(&self, from: &ResumeFrom) -> Result<Foreseen, LabError> {
        let lab = &self.0;
        let path = lab.resumed_path(from)?;
        let named = matches!(from, ResumeFrom::File(_));
        let foreseen = || {
            let (file, bytes) = Journal::open(&path, lab.limits().movie_bytes)?;
            let recording = lab.read_movie(&bytes)?;
            lab.usable(&recording)?;
            let is_new = named && recording.movie.finish == Finish::Open;
            let ledger = if is_new { None } else { lab.read_ledger(&path, &bytes)? };
            drop(file);
            Ok(Foreseen {
                journal: path.clone(),
                is_new,
                account: recording.movie.account,
                power_on: recording.movie.header.power_on,
                damage: ledger.as_ref().map_or_else(|| Some(NO_LEDGER.to_owned()), |ledger| ledger.damage.clone()),
                notes: ledger.map(|ledger| ledger.notes).unwrap_or_default(),
            })
        };
        foreseen().map_err(|error: LabError| error.in_journal(&path))
    }

    fn resume_path(&self, path: &Path, named: bool, control: &Control<'_>) -> Result<Resumed, LabError> {
        let lab = &self.0;
        let bytes_max = lab.limits().movie_bytes;
        let (file, bytes) = Journal::open(path, bytes_max)?;
        let mut recording = lab.read_movie(&bytes)?;
        if named && recording.movie.finish == Finish::Open {
            let snapshot = self.open_recording(&mut recording, Journalled::Unnamed, control)?;
            let journal = snapshot.journal.clone().unwrap_or_default();
            return Ok(Resumed { is_new: true, ..resumed(snapshot, journal, recording) });
        }
        let (power_on, line) = lab.usable(&recording)?;
        if recording.movie.header.rom_id != lab.engine.identity().rom_id {
            return Err(lab.mismatch(&recording));
        }
        lab.raise_revisions();
        let tip = lab.rebuild(&power_on, &line, &MessageLog::default(), control)?;
        let closed = recording.is_closed();
        let journal = if closed { None } else { Some(Journal::resume(path, file, &recording, bytes_max)?) };
        let game = journal::game_of(path).unwrap_or_else(|| lab.new_game_id());
        let snapshot = lab.admit(game, power_on, tip, journal, recording.movie.account)?;
        let snapshot = if closed { self.close(snapshot.machine, None)? } else { snapshot };
        Ok(Resumed { closed, ..resumed(snapshot, path.to_owned(), recording) })
    }

    /// Makes a machine from a movie, by replay, and goes on from its end: a new game with, if `journalled`, a new journal
    /// that begins with the movie's line. The movie may be of another ROM of the same engine.
    ///
    /// # Errors
    /// As [`Lab::resume`].
    pub fn open_movie(
        &self,
        movie: &[u8],
        journalled: impl Into<Journalled>,
        control: &Control<'_>,
    ) -> Result<Snapshot, LabError> {
        self.0.check_machines(1)?;
        self.open_recording(&mut self.0.read_movie(movie)?, journalled.into(), control)
    }

    fn open_recording(
        &self,
        recording: &mut Recording,
        journalled: Journalled,
        control: &Control<'_>,
    ) -> Result<Snapshot, LabError> {
        let lab = &self.0;
        lab.check_journalled(journalled)?;
        let (power_on, line) = lab.usable(recording)?;
        lab.raise_revisions();
        let tip = lab.rebuild(&power_on, &line, &MessageLog::default(), control)?;
        let game = lab.new_game_id();
        recording.movie.account = lab.left.account(&power_on, recording.movie.account);
        let (header, bytes_max) = (lab.header(&power_on), lab.limits().movie_bytes);
        let journal = lab.begin_journal(journalled, |movies| {
            Journal::continue_movie(movies, &game, &header, &recording.movie, bytes_max)
        })?;
        lab.admit(game, power_on, tip, journal, recording.movie.account)
    }
}

fn resumed(snapshot: Snapshot, journal: PathBuf, recording: Recording) -> Resumed {
    Resumed {
        snapshot,
        journal,
        inputs: recording.movie.boundary().0,
        unacknowledged: recording.unacknowledged.map(|sent| sent.keys).unwrap_or_default(),
        torn_bytes: recording.torn_bytes as u64,
        lost: recording.lost.iter().map(|lost| (lost.at, lost.key)).collect(),
        closed: false,
        is_new: false,
        account: recording.movie.account,
    }
}

impl Inner {
    fn resumed_path(&self, from: &ResumeFrom) -> Result<PathBuf, LabError> {
        match (from, &self.options.movies) {
            (ResumeFrom::File(path), _) => Ok(path.clone()),
            (ResumeFrom::Latest, Some(movies)) => journal::latest(movies),
            (ResumeFrom::Latest, None) => Err(LabError::NoMovies),
        }
    }

    /// What a recording is to be gone on from; refuses what would be gone on from wrongly.
    pub(crate) fn usable(&self, recording: &Recording) -> Result<(PowerOn, Line), LabError> {
        if let Some(line) = recording.broken_chain {
            return Err(LabError::BadMovie(format!("line {line} is not as it was written")));
        }
        let header = &recording.movie.header;
        if header.engine_id != self.engine.identity().engine_id {
            return Err(self.mismatch(recording));
        }
        header.power_on.check()?;
        let (given, max) = (recording.movie.boundary().0, self.limits().inputs);
        if given > max {
            return Err(LabError::LimitExceeded { what: "inputs of a machine", given, max });
        }
        let same_rom = header.rom_id == self.engine.identity().rom_id;
        let line = line_of(&recording.movie, same_rom)?;
        self.check_edits(&line)?;
        Ok((header.power_on.clone(), line))
    }

    /// Refuses to go on from an operator's edits where those are not allowed.
    pub(crate) fn check_edits(&self, line: &Line) -> Result<(), LabError> {
        match line.counts_from(Boundary(0)) {
            (_, edits) if edits > 0 && !self.options.allow_debug => Err(LabError::HoldsEdits(edits)),
            _ => Ok(()),
        }
    }

    fn mismatch(&self, recording: &Recording) -> LabError {
        LabError::RomMismatch {
            recorded: recording.movie.header.rom_id.clone(),
            running: self.engine.identity().rom_id.clone(),
        }
    }
}

/// A movie's line. Of its digests of memory, none where another ROM runs, which would not find them again.
pub(crate) fn line_of(movie: &Movie, same_rom: bool) -> Result<Line, LabError> {
    let mut line = Line::default();
    extend(&mut line, &movie.steps, movie.marks.iter(), same_rom)?;
    Ok(line)
}

/// Goes on with a line, as [`line_of`] does.
pub(crate) fn extend<'a>(
    line: &mut Line,
    steps: &[Step],
    marks: impl Iterator<Item = &'a Mark>,
    same_rom: bool,
) -> Result<(), LabError> {
    let mut marks = marks.peekable();
    let mut steps = steps.iter();
    loop {
        while let Some(mark) = marks.next_if(|mark| mark.at <= line.end()) {
            match &mark.kind {
                MarkKind::Reseed { core, display } => {
                    line.happen(Event::Reseed { core: *core, display: *display });
                }
                MarkKind::Digests { play, state } => {
                    if let Some(state) = state.filter(|_| same_rom) {
                        line.mark(*play, state);
                    }
                }
                MarkKind::Debug { args } => {
                    let edit = args.parse().map_err(|error| {
                        LabError::BadMovie(format!("an operator's edit at boundary {}: {error}", mark.at))
                    })?;
                    line.happen(Event::Edit(edit));
                }
            }
        }
        match steps.next() {
            Some(step) => line.push(*step),
            None => return Ok(()),
        }
    }
}
