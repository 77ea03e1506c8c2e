use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use movie::{Account, Finish, Header, JournalWriter, Mark, MarkKind, Movie, Recording, Step, WriteError};
use wire::{Boundary, Edit, Ended, Event, Key};

use crate::disk;
use crate::line::{self, Line};
use crate::slot::Peeks;
use crate::{GameId, LabError, MachineId};

/// What ends the name of every journal.
const SUFFIX: &str = ".movie";

/// Room that is kept for what must go out once keys were pressed, and for the last line, in bytes.
const RESERVE: usize = 64 << 10;
/// The same for every key that is sent: dismissals follow it, each with its own check.
const RESERVE_FOR_A_KEY: usize = 4 << 10;
/// The most that an adopted input and an adopted mark take.
const ADOPTED_STEP: usize = 32;
const ADOPTED_MARK: usize = 1024;

/// How many bytes a journal has, and the boundary that they lead to.
pub(crate) type Place = (u64, Boundary);

/// The journal of a live machine: a file that grows line by line, locked against other processes.
///
/// Lines that can't be written stay in memory and go out before the next one, so that a disk that was full for a
/// while costs refused calls and nothing else. Keys are only sent to a worker once the line that says so is out.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// What the file is called until it has its name.
    draft: Option<PathBuf>,
    writer: JournalWriter<Spool>,
    spool: Spool,
    file: JournalFile,
    /// How long the file may become.
    bytes_max: usize,
    closed: bool,
    /// Why the writer no longer stands for what the file holds, where it does not.
    astray: Option<String>,
}

/// What the writer has written and the file has not yet.
#[derive(Clone, Debug, Default)]
struct Spool(Arc<Mutex<Vec<u8>>>);

#[derive(Debug)]
struct JournalFile {
    file: File,
    /// How many bytes of the file are whole lines.
    whole: u64,
    /// True when more than that may be in the file.
    torn: bool,
    /// How a test makes the disk full: after so many more lines.
    #[cfg(test)]
    lines_left: Option<u32>,
}

impl Spool {
    fn owed(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.owed().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl JournalFile {
    fn after(file: File, whole: usize, torn: bool) -> Self {
        Self {
            file,
            whole: whole as u64,
            torn,
            #[cfg(test)]
            lines_left: None,
        }
    }

    fn append(&mut self, owed: &mut Vec<u8>) -> io::Result<()> {
        if self.torn {
            disk::cut(&self.file, self.whole)?;
            self.torn = false;
        }
        if let Err(error) = self.write(owed) {
            // Best at once; where that fails too, before the next line.
            self.torn = disk::cut(&self.file, self.whole).is_err();
            return Err(error);
        }
        self.whole += owed.len() as u64;
        owed.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        #[cfg(test)]
        if let Some(left) = self.lines_left.as_mut().filter(|_| !bytes.is_empty()) {
            if *left == 0 {
                self.file.write_all(bytes.get(..bytes.len() / 2).unwrap_or_default())?;
                return Err(io::ErrorKind::StorageFull.into());
            }
            *left -= 1;
        }
        disk::append(&mut self.file, bytes)
    }
}

impl Journal {
    /// Begins the next numbered journal of a directory, for a new game. Its file has no name yet.
    pub(crate) fn create(movies: &Path, game: &GameId, header: &Header, bytes_max: usize) -> Result<Self, LabError> {
        Self::begin(movies, game, bytes_max, |output| JournalWriter::create(header, output))
    }

    /// The same for a machine that goes on from a movie.
    pub(crate) fn continue_movie(
        movies: &Path,
        game: &GameId,
        header: &Header,
        movie: &Movie,
        bytes_max: usize,
    ) -> Result<Self, LabError> {
        Self::begin(movies, game, bytes_max, |output| JournalWriter::continue_movie(header, movie, output))
    }

    fn begin(
        movies: &Path,
        game: &GameId,
        bytes_max: usize,
        write: impl FnOnce(Spool) -> Result<JournalWriter<Spool>, WriteError>,
    ) -> Result<Self, LabError> {
        let spool = Spool::default();
        let writer = write(spool.clone()).map_err(|error| failed(movies, &error))?;
        check_bytes(writer.bytes(), bytes_max)?;
        std::fs::create_dir_all(movies).map_err(|error| failed(movies, &error))?;
        let number = numbered(movies)?.into_iter().map(|(number, _)| number).max().unwrap_or(0).saturating_add(1);
        let path = movies.join(format!("{number:04}-{game}{SUFFIX}"));
        let draft = movies.join(format!("{game}.new"));
        let file = write_new(&draft, &spool.owed())?;
        let file = JournalFile::after(file, writer.bytes(), false);
        spool.owed().clear();
        let draft = Some(draft);
        Ok(Self { path, draft, writer, spool, file, bytes_max, closed: false, astray: None })
    }

    /// Gives the file its name, under which whoever goes on with the latest journal finds it.
    pub(crate) fn give_name(&mut self) -> Result<(), LabError> {
        self.flush()?;
        if let Some(draft) = &self.draft {
            disk::name(draft, &self.path).map_err(|error| failed(&self.path, &error))?;
            // Best at once; a draft that stays is no journal and in nobody's way.
            let _ = disk::remove(draft);
            self.draft = None;
        }
        Ok(())
    }

    /// Opens a journal to go on with it: its bytes, of which at most `bytes_max` are taken.
    pub(crate) fn open(path: &Path, bytes_max: usize) -> Result<(File, Vec<u8>), LabError> {
        let mut file = disk::open(path, true).map_err(|error| failed(path, &error))?;
        lock(&file, path)?;
        let length = file.metadata().map_err(|error| failed(path, &error))?.len();
        if length > bytes_max as u64 {
            return Err(LabError::LimitExceeded { what: "bytes of a journal", given: length, max: bytes_max as u64 });
        }
        let bytes = disk::read(&mut file, length).map_err(|error| failed(path, &error))?;
        Ok((file, bytes))
    }

    /// Goes on with an opened journal. What is torn at its end is cut off.
    pub(crate) fn resume(path: &Path, file: File, recording: &Recording, bytes_max: usize) -> Result<Self, LabError> {
        let spool = Spool::default();
        let writer = JournalWriter::resume(recording, spool.clone()).map_err(|error| failed(path, &error))?;
        let file = JournalFile::after(file, recording.whole_bytes, recording.torn_bytes > 0);
        let path = path.to_owned();
        let mut journal = Self { path, draft: None, writer, spool, file, bytes_max, closed: false, astray: None };
        journal.flush()?;
        Ok(journal)
    }

    /// Removes the file, best effort.
    pub(crate) fn discard(self) {
        if self.draft.is_none() {
            let _ = disk::remove(&self.path);
        }
    }

    #[cfg(test)]
    pub(crate) fn fill_disk(&mut self, full: bool) {
        self.file.lines_left = full.then_some(0);
    }

    /// Lets so many more lines go out before the disk is full.
    #[cfg(test)]
    pub(crate) fn fill_disk_after(&mut self, lines: u32) {
        self.file.lines_left = Some(lines);
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes the file has, with what is still to be written, and the boundary that they lead to.
    ///
    /// # Errors
    /// They can't be written.
    pub(crate) fn place(&mut self) -> Result<Place, LabError> {
        self.flush()?;
        Ok((self.file.whole, self.writer.boundary()))
    }

    pub(crate) fn account(&self) -> Account {
        self.writer.account()
    }

    /// Refuses so many keys where what comes of them might not fit any more.
    pub(crate) fn check_room(&self, keys: usize) -> Result<(), LabError> {
        self.check_bytes(keys.saturating_mul(RESERVE_FOR_A_KEY))
    }

    fn check_bytes(&self, more: usize) -> Result<(), LabError> {
        check_bytes(self.writer.bytes().saturating_add(RESERVE).saturating_add(more), self.bytes_max)
    }

    /// Says that keys are about to be pressed. Nothing is noted when that can't be written.
    pub(crate) fn send(&mut self, keys: &[Key]) -> Result<(), LabError> {
        self.line_or_nothing(|writer| writer.send(keys))
    }

    /// Says which inputs were really pressed.
    pub(crate) fn done(&mut self, steps: &[Step]) -> Result<(), LabError> {
        let keys: Vec<_> = steps.iter().map(|step| step.key).collect();
        let checks: Vec<_> = steps.iter().map(|step| step.check).collect();
        self.line(|writer| writer.done(&keys, &checks))
    }

    /// Says that a key killed its workers.
    pub(crate) fn lost(&mut self, key: Key) -> Result<(), LabError> {
        self.line(|writer| writer.lost(key))
    }

    pub(crate) fn digests(&mut self, mark: &line::Mark) -> Result<(), LabError> {
        self.line(|writer| writer.digests(mark.play, Some(mark.state)))
    }

    /// Says how often somebody looked ahead since it was last said, if anybody did.
    pub(crate) fn peek(&mut self, peeks: &Peeks) -> Result<(), LabError> {
        match peeks.take() {
            (0, 0) => Ok(()),
            (forks, lines) => self.line(|writer| writer.peek(forks, lines)),
        }
    }

    /// Says that a fork's line takes the place of what lies beyond a boundary. Nothing is noted when that can't be
    /// written.
    pub(crate) fn adopt(&mut self, fork: MachineId, base: Boundary, line: &Line) -> Result<(), LabError> {
        let steps: Vec<Step> = line.steps_from(base).copied().collect();
        let marks: Vec<Mark> = marks(line)
            .into_iter()
            .skip_while(|mark| mark.at < base || (mark.at == base && is_digests(mark)))
            .collect();
        self.check_bytes(steps.len() * ADOPTED_STEP + marks.len() * ADOPTED_MARK)?;
        self.line_or_nothing(|writer| writer.adopt(&fork.to_string(), base, &steps, &marks))
    }

    /// Says that the machine goes back. Nothing is noted when that can't be written.
    pub(crate) fn seek(&mut self, to: Boundary) -> Result<(), LabError> {
        self.line_or_nothing(|writer| writer.seek(to))
    }

    /// Says that an operator has edited the machine, and what it is now. Nothing is noted when that can't be written.
    pub(crate) fn edit(&mut self, edit: &Edit, after: Option<&line::Mark>) -> Result<(), LabError> {
        self.line_or_nothing(|writer| {
            writer.debug(&edit.to_string())?;
            after.map_or(Ok(()), |mark| writer.digests(mark.play, Some(mark.state)))
        })
    }

    /// Writes the last line, or nothing. A journal that has it already stays as it is.
    pub(crate) fn end(&mut self, ended: Option<&Ended>) -> Result<(), LabError> {
        if self.closed {
            return self.flush();
        }
        let how = ended.map_or(Finish::Open, |ended| Finish::Ended(ended.clone()));
        self.line_or_nothing(|writer| writer.end(how))?;
        self.closed = true;
        Ok(())
    }

    /// True when it has its last line.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Writes a line of something that is yet to happen: when it fails, it must not come out later.
    fn line_or_nothing(
        &mut self,
        write: impl FnOnce(&mut JournalWriter<Spool>) -> Result<(), WriteError>,
    ) -> Result<(), LabError> {
        // First what is owed.
        self.flush()?;
        let result = self.line(write);
        if result.is_err()
            && let Err(error) = self.forget_owed()
        {
            self.astray = Some(error.to_string());
        }
        result
    }

    /// Goes back to what the file holds.
    fn forget_owed(&mut self) -> Result<(), LabError> {
        let failed = |error: &dyn std::fmt::Display| failed(&self.path, error);
        self.file.file.seek(SeekFrom::Start(0)).map_err(|error| failed(&error))?;
        let bytes = disk::read(&mut self.file.file, self.file.whole).map_err(|error| failed(&error))?;
        let recording = movie::read(&bytes).map_err(|error| failed(&error))?;
        self.writer = JournalWriter::resume(&recording, self.spool.clone()).map_err(|error| failed(&error))?;
        self.spool.owed().clear();
        Ok(())
    }

    fn line(
        &mut self,
        write: impl FnOnce(&mut JournalWriter<Spool>) -> Result<(), WriteError>,
    ) -> Result<(), LabError> {
        self.check_astray()?;
        write(&mut self.writer).map_err(|error| failed(&self.path, &error))?;
        self.flush()
    }

    fn check_astray(&self) -> Result<(), LabError> {
        self.astray.as_ref().map_or(Ok(()), |reason| Err(failed(&self.path, reason)))
    }

    fn flush(&mut self) -> Result<(), LabError> {
        self.check_astray()?;
        let result = self.file.append(&mut self.spool.owed());
        result.map_err(|error| failed(&self.path, &error))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Of a machine that nobody came to know.
        if let Some(draft) = &self.draft {
            let _ = disk::remove(draft);
        }
    }
}

fn is_digests(mark: &Mark) -> bool {
    matches!(mark.kind, MarkKind::Digests { .. })
}

fn mark_kind(event: &Event) -> MarkKind {
    match event {
        Event::Reseed { core, display } => MarkKind::Reseed { core: *core, display: *display },
        Event::Edit(edit) => MarkKind::Debug { args: edit.to_string() },
    }
}

/// Events and digests of a line as a movie has them; at one boundary the events come first.
pub(crate) fn marks(line: &Line) -> Vec<Mark> {
    let events = line.events().iter().map(|happened| Mark { at: happened.at, kind: mark_kind(&happened.event) });
    let digests = line
        .marks()
        .map(|mark| Mark { at: mark.at, kind: MarkKind::Digests { play: mark.play, state: Some(mark.state) } });
    let mut marks: Vec<Mark> = events.chain(digests).collect();
    marks.sort_by_key(|mark| mark.at);
    marks
}

/// The file of the highest number in a directory of journals. One without a whole first line is damaged, for a journal
/// has that line before it has its name: passing it over would go on with another game, and give its ids again.
pub(crate) fn latest(movies: &Path) -> Result<PathBuf, LabError> {
    let (_, path) = numbered(movies)?.into_iter().max().ok_or_else(|| LabError::NoJournal(movies.to_owned()))?;
    if has_first_line(&path).map_err(|error| failed(&path, &error))? {
        return Ok(path);
    }
    let reason = "its first line is not whole. It is the latest journal: move it away with its ledger to go on with the \
        one before, or name another with --resume";
    Err(LabError::BadMovie(reason.to_owned()).in_journal(&path))
}

/// False for a file that was emptied or cut within its header.
fn has_first_line(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    let file = BufReader::new(disk::open(path, false)?);
    file.take(movie::LINE_BYTES_MAX as u64 + 2).read_until(b'\n', &mut start)?;
    // A line that is too long is no torn one: reading it tells what is wrong.
    Ok(start.ends_with(b"\n") || start.len() > movie::LINE_BYTES_MAX)
}

/// The game id that a journal's name tells, if it tells one.
pub(crate) fn game_of(path: &Path) -> Option<GameId> {
    let stem = path.file_name()?.to_str()?.strip_suffix(SUFFIX)?;
    let (_, game) = stem.split_once('-')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (game.starts_with('g') && game.len() <= 64 && game.bytes().all(plain)).then(|| GameId(game.into()))
}

fn numbered(movies: &Path) -> Result<Vec<(u64, PathBuf)>, LabError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(movies).map_err(|error| failed(movies, &error))? {
        let path = entry.map_err(|error| failed(movies, &error))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_suffix(SUFFIX).and_then(|stem| stem.split_once('-'));
        if let Some(Ok(number)) = number.map(|(number, _)| number.parse()) {
            found.push((number, path));
        }
    }
    Ok(found)
}

/// Makes a file with these bytes, locked.
fn write_new(path: &Path, bytes: &[u8]) -> Result<File, LabError> {
    let mut file = disk::create(path).map_err(|error| failed(path, &error))?;
    let written = lock(&file, path).and_then(|()| disk::append(&mut file, bytes).map_err(|error| failed(path, &error)));
    if let Err(error) = written {
        // A journal without a header is of no use to anybody.
        let _ = disk::remove(path);
        return Err(error);
    }
    Ok(file)
}

fn check_bytes(given: usize, max: usize) -> Result<(), LabError> {
    if given > max {
        return Err(LabError::LimitExceeded { what: "bytes of a journal", given: given as u64, max: max as u64 });
    }
    Ok(())
}

/// How often and how long apart a lock is tried: a server that was killed a moment ago may not be gone yet.
const LOCK_TRIES: u32 = 60;
const LOCK_PAUSE: Duration = Duration::from_millis(25);

pub(crate) fn lock(file: &File, path: &Path) -> Result<(), LabError> {
    for _ in 1..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            result => return result.map_err(|error| failed(path, &error)),
        }
    }
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(LabError::JournalInUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(failed(path, &error)),
    }
}

pub(crate) fn failed(path: &Path, error: &dyn std::fmt::Display) -> LabError {
    LabError::Journal { path: path.to_owned(), reason: error.to_string(), nothing_sent: true, applied: 0 }
}
