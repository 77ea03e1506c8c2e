use serde::Deserialize;
use wire::{Boundary, Check, Key};

use crate::chain::{self, Chain};
use crate::export::{ExportError, export};
use crate::format::{Entry, FILE_BYTES_MAX, FORMAT, Finish, Header, HeaderLine, LINE_BYTES_MAX, VERSION};
use crate::movie::{Lost, Mark, MarkKind, Movie, Step, Unacknowledged};
use crate::rules::{Position, Refusal};

/// What a movie file or a journal says, up to its last whole line.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The straight line, seeks and adoptions resolved.
    pub movie: Movie,
    /// The line, counted from 1, at which the chain digest first tells a change. `None`: all lines are as written.
    pub broken_chain: Option<u64>,
    /// Keys that killed their worker at boundaries of the straight line.
    pub lost: Vec<Lost>,
    /// Keys that a journal's last lines send and do not acknowledge.
    pub unacknowledged: Option<Unacknowledged>,
    /// How many lines count, the header included.
    pub lines: u64,
    /// How many bytes these lines have. What follows them is torn: half a line, or an adoption that is not complete.
    pub whole_bytes: usize,
    /// How many bytes follow them.
    pub torn_bytes: usize,
    pub(crate) chain: Chain,
    pub(crate) position: Position,
}

/// Why a file is not read. No line after the one named was looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Too large to look at.
    #[error("the file has {0} bytes: at most {FILE_BYTES_MAX} are read")]
    FileBytes(usize),
    /// Not even a header.
    #[error("the file has no whole first line")]
    Empty,
    /// The first line is not a movie's.
    #[error("this is no movie: its first line does not say `\"format\":\"{FORMAT}\"`")]
    NotAMovie,
    /// A version that this reader does not know.
    #[error("the movie has format version {found}; this program reads up to version {VERSION}")]
    Version {
        /// The movie's version.
        found: u64,
    },
    /// One line is not right.
    #[error("line {line}: {problem}")]
    Line {
        /// Its number, counted from 1.
        line: u64,
        /// What is wrong with it.
        problem: LineProblem,
    },
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// Too long to look at.
    #[error("it is longer than {LINE_BYTES_MAX} bytes")]
    Bytes,
    /// Not text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// No chain digest at its end.
    #[error("it does not end with its chain digest")]
    NoChain,
    /// No JSON, or other fields than this version has.
    #[error("it cannot be understood ({0}): damaged, or written by a newer version")]
    Content(String),
    /// It breaks a rule.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Recording {
    /// True when the last line is there.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.position.closed
    }

    /// The straight line as a movie file.
    ///
    /// # Errors
    /// A recording whose lines were changed: an export would hide it.
    pub fn export(&self) -> Result<Vec<u8>, ExportError> {
        match self.broken_chain {
            Some(line) => Err(ExportError::Altered { line }),
            None => export(&self.movie),
        }
    }
}

/// Reads a movie file or a journal. A torn or missing tail is no error: see [`Recording::torn_bytes`].
///
/// # Errors
/// The first thing that is wrong, with its line.
pub fn read(bytes: &[u8]) -> Result<Recording, ReadError> {
    read_on_the_way(bytes, &mut |_, _, _| {})
}

/// As [`read`], and shows the straight line on the way: `visit` gets, after each line that counts and completes what it
/// belongs to, how many bytes lie behind it, the movie so far, and the boundary up to which that is, but for marks at
/// the boundary itself, what the visit before has seen.
///
/// # Errors
/// As [`read`]; the visits before stay.
pub fn read_on_the_way(bytes: &[u8], visit: &mut dyn FnMut(usize, &Movie, Boundary)) -> Result<Recording, ReadError> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(ReadError::FileBytes(bytes.len()));
    }
    let mut lines = WholeLines { rest: bytes, number: 0 };
    let first = lines.next().ok_or(ReadError::Empty)?;
    let mut reader = Reader::new(read_header(&first?)?);
    visit(reader.whole.bytes, &reader.movie, Boundary(0));
    for line in &mut lines {
        let Line { number, bytes } = line?;
        reader.line(number, bytes).map_err(|problem| ReadError::Line { line: number, problem })?;
        if reader.undo.is_none() {
            visit(reader.whole.bytes, &reader.movie, reader.kept);
            reader.kept = reader.movie.boundary();
        }
    }
    // A tear leaves the beginning of a line behind the last newline, nothing else.
    if chain::runs_past_line(lines.rest) {
        return Err(ReadError::Line { line: lines.number + 1, problem: LineProblem::NoChain });
    }
    Ok(reader.finish(bytes.len()))
}

struct Line<'a> {
    number: u64,
    bytes: &'a [u8],
}

/// The lines of a file that have their newline; `rest` is what lies behind those taken so far.
struct WholeLines<'a> {
    rest: &'a [u8],
    number: u64,
}

impl<'a> Iterator for WholeLines<'a> {
    type Item = Result<Line<'a>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let end = self.rest.iter().take(LINE_BYTES_MAX + 1).position(|byte| *byte == b'\n');
        match end {
            Some(end) => {
                let (bytes, rest) = self.rest.split_at(end);
                self.rest = rest.get(1..).unwrap_or_default();
                self.number += 1;
                Some(Ok(Line { number: self.number, bytes }))
            }
            None if self.rest.len() > LINE_BYTES_MAX => {
                let line = self.number + 1;
                Some(Err(ReadError::Line { line, problem: LineProblem::Bytes }))
            }
            None => None,
        }
    }
}

/// The header, the chain after it, whether it says the chain that its text has, and its length with the newline.
struct ReadHeader {
    header: Header,
    chain: Chain,
    whole: bool,
    bytes: usize,
}

#[derive(Deserialize)]
struct Probe {
    format: String,
    version: u64,
}

fn read_header(line: &Line<'_>) -> Result<ReadHeader, ReadError> {
    let probe: Probe = serde_json::from_slice(line.bytes).map_err(|_| ReadError::NotAMovie)?;
    if probe.format != FORMAT {
        return Err(ReadError::NotAMovie);
    }
    if probe.version != u64::from(VERSION) {
        return Err(ReadError::Version { found: probe.version });
    }
    let header = || -> Result<ReadHeader, LineProblem> {
        let (body, chain) = split(line.bytes)?;
        let read: HeaderLine = parse(&body)?;
        let header = Header::from(read);
        header.check().map_err(Refusal::from)?;
        Ok(ReadHeader { header, chain, whole: Chain::default().after(&body) == chain, bytes: line.bytes.len() + 1 })
    };
    header().map_err(|problem| ReadError::Line { line: line.number, problem })
}

pub(crate) fn split(bytes: &[u8]) -> Result<(String, Chain), LineProblem> {
    let line = std::str::from_utf8(bytes).map_err(|_| LineProblem::NotUtf8)?;
    chain::split(line).ok_or(LineProblem::NoChain)
}

pub(crate) fn parse<'de, T: Deserialize<'de>>(body: &'de str) -> Result<T, LineProblem> {
    serde_json::from_str(body).map_err(|error| {
        let text = error.to_string().replace(" at line 1 column ", " at byte ");
        LineProblem::Content(text.chars().take(200).flat_map(char::escape_debug).collect())
    })
}

/// What an adoption that is not complete yet took away.
struct Undo {
    steps: Vec<Step>,
    marks: Vec<Mark>,
    lost: Vec<Lost>,
    base: Boundary,
    before: Whole,
}

/// Where the lines end that count.
#[derive(Clone)]
struct Whole {
    position: Position,
    chain: Chain,
    lines: u64,
    bytes: usize,
}

struct Reader {
    movie: Movie,
    lost: Vec<Lost>,
    broken_chain: Option<u64>,
    whole: Whole,
    undo: Option<Undo>,
    /// The lowest boundary that was gone back to since the last visit; without that, the boundary then.
    kept: Boundary,
}

impl Reader {
    fn new(read: ReadHeader) -> Self {
        Self {
            movie: Movie::new(read.header),
            lost: Vec::new(),
            broken_chain: (!read.whole).then_some(1),
            whole: Whole { position: Position::default(), chain: read.chain, lines: 1, bytes: read.bytes },
            undo: None,
            kept: Boundary(0),
        }
    }

    fn line(&mut self, number: u64, bytes: &[u8]) -> Result<(), LineProblem> {
        let (body, chain) = split(bytes)?;
        let entry: Entry = parse(&body)?;
        let before = matches!(entry, Entry::Adopt { .. }).then(|| self.whole.clone());
        let keys = self.whole.position.admit(&entry)?;
        if self.whole.chain.after(&body) != chain {
            self.broken_chain.get_or_insert(number);
        }
        self.whole.chain = chain;
        self.whole.lines = number;
        self.whole.bytes += bytes.len() + 1;
        self.take(entry, &keys, before);
        if self.whole.position.adopting == 0 {
            self.undo = None;
        }
        Ok(())
    }

    fn take(&mut self, entry: Entry, keys: &[Key], before: Option<Whole>) {
        let mark = |at, kind| Mark { at: Boundary(at), kind };
        match entry {
            Entry::Inputs { checks, .. } | Entry::Done { checks, .. } => self.press(keys, &checks.0),
            Entry::Lost { at, key } => {
                self.lost.extend(key.0.iter().map(|key| Lost { at: Boundary(at), key: *key }));
            }
            Entry::Reseed { at, core, display } => {
                self.movie.marks.push(mark(at, MarkKind::Reseed { core, display }));
            }
            Entry::Debug { at, args } => self.movie.marks.push(mark(at, MarkKind::Debug { args })),
            Entry::Digests { at, play, state } => {
                self.movie.marks.push(mark(at, MarkKind::Digests { play, state }));
            }
            Entry::Seek { to, .. } => {
                self.go_back(Boundary(to));
            }
            Entry::Adopt { base, .. } => {
                let lost = self.lost.clone();
                let (steps, marks) = self.go_back(Boundary(base));
                self.undo = before.map(|before| Undo { steps, marks, lost, base: Boundary(base), before });
            }
            Entry::End { how, .. } => self.movie.finish = how,
            Entry::Past { .. } | Entry::Send { .. } | Entry::Peek { .. } => {}
        }
    }

    fn press(&mut self, keys: &[Key], checks: &[Check]) {
        let steps = keys.iter().zip(checks).map(|(key, check)| Step { key: *key, check: *check });
        self.movie.steps.extend(steps);
    }

    fn go_back(&mut self, to: Boundary) -> (Vec<Step>, Vec<Mark>) {
        self.lost.retain(|lost| lost.at <= to);
        self.kept = self.kept.min(to);
        self.movie.rewind(to)
    }

    fn finish(mut self, bytes: usize) -> Recording {
        if let Some(undo) = self.undo.take() {
            self.movie.rewind(undo.base);
            self.movie.steps.extend(undo.steps);
            self.movie.marks.extend(undo.marks);
            self.lost = undo.lost;
            self.whole = undo.before;
        }
        let Whole { position, chain, lines, bytes: whole_bytes } = self.whole;
        self.movie.account = position.account;
        debug_assert!(position.closed || self.movie.finish == Finish::Unknown);
        Recording {
            movie: self.movie,
            broken_chain: self.broken_chain,
            lost: self.lost,
            unacknowledged: position.sent.clone().map(|keys| Unacknowledged { at: Boundary(position.boundary), keys }),
            lines,
            whole_bytes,
            torn_bytes: bytes - whole_bytes,
            chain,
            position,
        }
    }
}
