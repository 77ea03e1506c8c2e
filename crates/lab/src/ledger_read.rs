//! Reading a ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use movie::{LEDGER_BYTES_MAX, LEDGER_FORKS_MAX, LINE_BYTES_MAX, LedgerBase, LedgerFork, LedgerReader, LedgerRecord};
use wire::{Boundary, PowerOn};

use crate::LabError;
use crate::disk;
use crate::journal::{failed, lock};
use crate::line::Line;
use crate::resume::extend;

/// A ledger as its file has it.
#[derive(Default)]
pub(crate) struct ReadLedger {
    pub(crate) last: u64,
    pub(crate) forks: BTreeMap<u64, ReadFork>,
    pub(crate) notes: BTreeMap<String, String>,
    /// Forks that can't be told, with the reason.
    pub(crate) lost: Vec<(u64, String)>,
    /// Bytes of a torn last line.
    pub(crate) torn_bytes: u64,
    /// What is wrong with the file, with the line, counted from 1; nothing from it on was taken.
    pub(crate) damage: Option<String>,
}

pub(crate) struct ReadFork {
    pub(crate) head: LedgerFork,
    /// Absent where its game is the journal's.
    pub(crate) power_on: Option<PowerOn>,
    pub(crate) line: Line,
}

/// What a ledger must be of, to be read.
pub(crate) struct Expected<'a> {
    pub(crate) engine_id: &'a str,
    pub(crate) rom_id: &'a str,
    pub(crate) journal: &'a Path,
    pub(crate) journal_bytes: &'a [u8],
}

/// The lines of a journal at some of its lengths.
type Lines = BTreeMap<u64, Line>;

/// Reads the ledger at a path. Absent: there is none.
///
/// # Errors
/// [`LabError::JournalInUse`]; the file can't be read. What is wrong with its content is told in what is read.
pub(crate) fn read(path: &Path, expected: &Expected<'_>) -> Result<Option<ReadLedger>, LabError> {
    let mut file = match disk::open(path, false) {
        // A link that leads nowhere is no absence.
        Err(error) if error.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() => return Ok(None),
        file => file.map_err(|error| failed(path, &error))?,
    };
    lock(&file, path)?;
    let length = file.metadata().map_err(|error| failed(path, &error))?.len();
    if length > LEDGER_BYTES_MAX {
        let error = LabError::LimitExceeded { what: "bytes of a ledger", given: length, max: LEDGER_BYTES_MAX };
        return Err(error.in_journal(path));
    }
    // First the places in the journal that it names, then the lines from there on.
    let mut places = BTreeSet::new();
    each_record(path, &file, expected, &mut |record| {
        if let LedgerRecord::Fork(fork) = record
            && let LedgerBase::Journal(bytes) = fork.base
        {
            places.insert(bytes);
        }
        Ok(())
    })?;
    let lines = lines_at(expected.journal_bytes, &places)?;
    file.seek(SeekFrom::Start(0)).map_err(|error| failed(path, &error))?;
    let mut ledger = ReadLedger::default();
    let (torn_bytes, damage) = each_record(path, &file, expected, &mut |record| ledger.take(record, &lines))?;
    Ok(Some(ReadLedger { torn_bytes, damage, ..ledger }))
}

/// The straight lines that the first so many bytes of a journal give.
fn lines_at(journal: &[u8], places: &BTreeSet<u64>) -> Result<Lines, LabError> {
    let (mut lines, mut last) = (Lines::new(), Line::default());
    let mut kept = Boundary(u64::MAX);
    let mut problem = Ok(());
    let read = movie::read_on_the_way(journal, &mut |bytes, movie, since| {
        kept = kept.min(since);
        if problem.is_err() || !places.contains(&(bytes as u64)) {
            return;
        }
        let mut line = last.prefix(kept.min(last.end()));
        let (from, steps) = (line.end(), line.steps_count());
        let new = movie.steps.get(steps..).unwrap_or_default();
        problem = extend(&mut line, new, movie.marks.iter().skip_while(|mark| mark.at < from), true);
        kept = line.end();
        last = line.clone();
        lines.insert(bytes as u64, line);
    });
    read.map_err(|error| LabError::BadMovie(error.to_string()))?;
    problem.map(|()| lines)
}

/// How many bytes are torn, and what is wrong.
type Tail = (u64, Option<String>);

fn each_record(
    path: &Path,
    file: &File,
    expected: &Expected<'_>,
    take: &mut dyn FnMut(LedgerRecord) -> Result<(), String>,
) -> Result<Tail, LabError> {
    let mut input = BufReader::new(file);
    let mut number = 0_u64;
    let mut reader = None;
    loop {
        number += 1;
        let mut line = Vec::new();
        let read = input.by_ref().take(LINE_BYTES_MAX as u64 + 2).read_until(b'\n', &mut line);
        read.map_err(|error| failed(path, &error))?;
        if line.pop_if(|byte| *byte == b'\n').is_none() {
            let long = line.len() > LINE_BYTES_MAX;
            let damage = match (&reader, long) {
                (_, true) => Some(format!("line {number}: it is too long")),
                // A ledger has its first line before it has its name.
                (None, _) => Some("line 1: it is not there".to_owned()),
                (Some(_), false) => None,
            };
            return Ok((if long { 0 } else { line.len() as u64 }, damage));
        }
        let taken = match &mut reader {
            None => begin(&line, expected).map(|begun| reader = Some(begun)),
            Some(reader) => reader.record(&line).map_err(|error| error.to_string()).and_then(&mut *take),
        };
        if let Err(reason) = taken {
            return Ok((0, Some(format!("line {number}: {reason}"))));
        }
    }
}

fn begin(line: &[u8], expected: &Expected<'_>) -> Result<LedgerReader, String> {
    let (reader, header) = LedgerReader::begin(line).map_err(|error| error.to_string())?;
    let journal = expected.journal.file_name().and_then(|name| name.to_str());
    if journal != Some(header.journal.as_str()) {
        return Err(format!("it is beside {}", header.journal));
    }
    if header.engine_id != expected.engine_id || header.rom_id != expected.rom_id {
        return Err(format!("it is of ROM {}, the workers run {}", header.rom_id, expected.rom_id));
    }
    Ok(reader)
}

impl ReadLedger {
    fn take(&mut self, record: LedgerRecord, lines: &Lines) -> Result<(), String> {
        match record {
            LedgerRecord::Numbers { last } => self.last = self.last.max(last),
            LedgerRecord::Fork(fork) => self.begin_fork(*fork, lines)?,
            LedgerRecord::Line { fork, part } => match self.forks.get_mut(&fork) {
                Some(told) => {
                    told.line = grown(&told.line, part.common)?;
                    extend(&mut told.line, &part.steps, part.marks.iter(), true).map_err(|error| error.to_string())?;
                }
                None if self.lost.iter().any(|(number, _)| *number == fork) => {}
                None => return Err(format!("there is no fork {fork}")),
            },
            LedgerRecord::Delete { fork } => {
                self.forks.remove(&fork);
                self.lost.retain(|(number, _)| *number != fork);
            }
            LedgerRecord::Note { name, text } if text.is_empty() => {
                self.notes.remove(&name);
            }
            LedgerRecord::Note { name, text } => {
                self.notes.insert(name, text);
                if self.notes.len() > movie::NOTES_MAX {
                    return Err("there are too many notes".to_owned());
                }
            }
        }
        Ok(())
    }

    fn begin_fork(&mut self, head: LedgerFork, lines: &Lines) -> Result<(), String> {
        let number = head.number;
        if self.forks.contains_key(&number) || self.forks.len() >= LEDGER_FORKS_MAX {
            return Err(format!("there can't be a fork {number}"));
        }
        self.last = self.last.max(number);
        let (base, power_on) = match &head.base {
            LedgerBase::Journal(bytes) => (lines.get(bytes).cloned(), None),
            LedgerBase::Fork(other) => {
                let other = self.forks.get(other).filter(|other| other.head.game == head.game);
                (other.map(|other| other.line.clone()), other.and_then(|other| other.power_on.clone()))
            }
            LedgerBase::PowerOn(record) => {
                record.check().map_err(|error| error.to_string())?;
                (Some(Line::default()), Some((**record).clone()))
            }
        };
        let base = base.filter(|base| base.end() >= head.part.common);
        let Some(base) = base else {
            self.lost.push((number, "the line that it is told from is not there any more".to_owned()));
            return Ok(());
        };
        let mut line = base.prefix(head.part.common);
        extend(&mut line, &head.part.steps, head.part.marks.iter(), true).map_err(|error| error.to_string())?;
        let head = LedgerFork { part: movie::LinePart::default(), ..head };
        self.forks.insert(number, ReadFork { head, power_on, line });
        Ok(())
    }
}

fn grown(line: &Line, common: Boundary) -> Result<Line, String> {
    if common > line.end() {
        return Err(format!("there is no boundary {common} to go on from"));
    }
    Ok(line.prefix(common))
}
