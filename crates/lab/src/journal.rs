use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use movie::{Account, Finish, Header, JournalWriter, Mark, MarkKind, Movie, Recording, Step, WriteError};
use wire::{Boundary, Ended, Key};

use crate::line::{self, Line};
use crate::slot::Peeks;
use crate::{GameId, LabError, MachineId};

/// What ends the name of every journal.
const SUFFIX: &str = ".movie";

/// The journal of a live machine: a file that grows line by line, locked against other processes.
///
/// Lines that can't be written stay in memory and go out before the next one, so that a disk that was full for a
/// while costs refused calls and nothing else. Keys are only sent to a worker once the line that says so is out.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    writer: JournalWriter<Vec<u8>>,
    file: JournalFile,
}

#[derive(Debug)]
struct JournalFile {
    file: File,
    /// How many bytes of the file are whole lines.
    whole: u64,
    /// True when more than that may be in the file.
    torn: bool,
    /// How many bytes of the writer's output are in the file.
    taken: usize,
}

impl JournalFile {
    fn append(&mut self, output: &[u8]) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.whole)?;
            self.torn = false;
        }
        let owed = output.get(self.taken..).unwrap_or_default();
        if owed.is_empty() {
            return Ok(());
        }
        self.torn = true;
        self.file.write_all(owed)?;
        self.torn = false;
        self.whole += owed.len() as u64;
        self.taken = output.len();
        Ok(())
    }
}

impl Journal {
    /// Begins the next numbered journal of a directory, for a new game.
    pub(crate) fn create(movies: &Path, game: &GameId, header: &Header) -> Result<Self, LabError> {
        Self::begin(movies, game, |output| JournalWriter::create(header, output))
    }

    /// Begins the next numbered journal of a directory, for a machine that goes on from a movie.
    pub(crate) fn continue_movie(
        movies: &Path,
        game: &GameId,
        header: &Header,
        movie: &Movie,
    ) -> Result<Self, LabError> {
        Self::begin(movies, game, |output| JournalWriter::continue_movie(header, movie, output))
    }

    fn begin(
        movies: &Path,
        game: &GameId,
        write: impl FnOnce(Vec<u8>) -> Result<JournalWriter<Vec<u8>>, WriteError>,
    ) -> Result<Self, LabError> {
        let writer = write(Vec::new()).map_err(|error| failed(movies, &error))?;
        let (path, file) = create_numbered(movies, game)?;
        lock(&file, &path)?;
        let mut journal = Self {
            path,
            writer,
            file: JournalFile {
                file,
                whole: 0,
                torn: false,
                taken: 0,
            },
        };
        if let Err(error) = journal.flush() {
            // A journal without a header is of no use to anybody.
            let _ = std::fs::remove_file(&journal.path);
            return Err(error);
        }
        Ok(journal)
    }

    /// Opens a journal to go on with it: its bytes, of which at most `bytes_max` are taken.
    pub(crate) fn open(path: &Path, bytes_max: usize) -> Result<(File, Vec<u8>), LabError> {
        let file = OpenOptions::new().read(true).append(true).open(path);
        let mut file = file.map_err(|error| failed(path, &error))?;
        lock(&file, path)?;
        let length = file.metadata().map_err(|error| failed(path, &error))?.len();
        if length > bytes_max as u64 {
            return Err(LabError::LimitExceeded {
                what: "bytes of a journal",
                given: length,
                max: bytes_max as u64,
            });
        }
        let mut bytes = Vec::new();
        let read = Read::by_ref(&mut file).take(length).read_to_end(&mut bytes);
        read.map_err(|error| failed(path, &error))?;
        Ok((file, bytes))
    }

    /// Goes on with an opened journal. What is torn at its end is cut off.
    pub(crate) fn resume(path: &Path, file: File, recording: &Recording) -> Result<Self, LabError> {
        let writer = JournalWriter::resume(recording, Vec::new()).map_err(|error| failed(path, &error))?;
        let mut journal = Self {
            path: path.to_owned(),
            writer,
            file: JournalFile {
                file,
                whole: recording.whole_bytes as u64,
                torn: recording.torn_bytes > 0,
                taken: 0,
            },
        };
        journal.flush()?;
        Ok(journal)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn account(&self) -> Account {
        self.writer.account()
    }

    /// Says that keys are about to be pressed. Nothing is noted when that can't be written.
    pub(crate) fn send(&mut self, keys: &[Key]) -> Result<(), LabError> {
        // First what is owed, so that a disk that stays full does not make the debt grow with every refused call.
        self.flush()?;
        self.line(|writer| writer.send(keys))
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

    /// Says that a fork's line takes the place of what lies beyond a boundary.
    pub(crate) fn adopt(&mut self, fork: MachineId, base: Boundary, line: &Line) -> Result<(), LabError> {
        let steps: Vec<Step> = line.steps_from(base).copied().collect();
        let marks: Vec<Mark> = marks(line)
            .into_iter()
            .skip_while(|mark| mark.at < base || (mark.at == base && is_digests(mark)))
            .collect();
        self.line(|writer| writer.adopt(&fork.to_string(), base, &steps, &marks))
    }

    /// Writes the last line. A journal that has it already stays as it is.
    pub(crate) fn end(&mut self, ended: Option<&Ended>) -> Result<(), LabError> {
        let how = ended.map_or(Finish::Open, |ended| Finish::Ended(ended.clone()));
        self.line(|writer| writer.end(how))
    }

    fn line(
        &mut self,
        write: impl FnOnce(&mut JournalWriter<Vec<u8>>) -> Result<(), WriteError>,
    ) -> Result<(), LabError> {
        write(&mut self.writer).map_err(|error| failed(&self.path, &error))?;
        self.flush()
    }

    fn flush(&mut self) -> Result<(), LabError> {
        let result = self.file.append(self.writer.get_ref());
        result.map_err(|error| failed(&self.path, &error))
    }
}

fn is_digests(mark: &Mark) -> bool {
    matches!(mark.kind, MarkKind::Digests { .. })
}

/// Reseeds and digests of a line as a movie has them; at one boundary the reseed comes first.
pub(crate) fn marks(line: &Line) -> Vec<Mark> {
    let reseeds = line.reseeds().iter().map(|reseed| Mark {
        at: reseed.at,
        kind: MarkKind::Reseed {
            core: reseed.core,
            display: reseed.display,
        },
    });
    let digests = line.marks().map(|mark| Mark {
        at: mark.at,
        kind: MarkKind::Digests {
            play: mark.play,
            state: Some(mark.state),
        },
    });
    let mut marks: Vec<Mark> = reseeds.chain(digests).collect();
    marks.sort_by_key(|mark| mark.at);
    marks
}

/// The file of the highest number in a directory of journals.
pub(crate) fn latest(movies: &Path) -> Result<PathBuf, LabError> {
    let newest = numbered(movies)?.into_iter().max();
    newest.map(|(_, path)| path).ok_or_else(|| LabError::NoJournal(movies.to_owned()))
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

fn create_numbered(movies: &Path, game: &GameId) -> Result<(PathBuf, File), LabError> {
    std::fs::create_dir_all(movies).map_err(|error| failed(movies, &error))?;
    let mut number = numbered(movies)?.into_iter().map(|(number, _)| number).max().unwrap_or(0);
    loop {
        number = number.saturating_add(1);
        let path = movies.join(format!("{number:04}-{game}{SUFFIX}"));
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < u64::MAX => {}
            Err(error) => return Err(failed(&path, &error)),
        }
    }
}

fn lock(file: &File, path: &Path) -> Result<(), LabError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(LabError::JournalInUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(failed(path, &error)),
    }
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> LabError {
    LabError::Journal {
        path: path.to_owned(),
        reason: error.to_string(),
        nothing_sent: true,
    }
}
