use std::io::{self, Write};

use wire::{Boundary, Check, Key, PlayDigest, Seed, StateDigest};

use crate::chain::Chain;
use crate::format::{
    Account, DIGESTS_EVERY, Entry, FILE_BYTES_MAX, Finish, Header, HeaderLine, LINE_BYTES_MAX, PACKED_INPUTS,
};
use crate::movie::{Mark, MarkKind, Movie, Step};
use crate::reader::Recording;
use crate::rules::{Position, Refusal};
use crate::text::{Checks, Keys};

/// Writes a journal, or a movie, line by line. Each call is one `write_all` and one `flush`; a call that is refused has
/// written nothing; after a failed write nothing more is written.
#[derive(Debug)]
pub struct JournalWriter<W> {
    out: W,
    chain: Chain,
    position: Position,
    bytes: usize,
    digests_at: Option<u64>,
    poisoned: bool,
}

/// A part of a straight line that takes one line of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'a> {
    Inputs(&'a [Step]),
    Mark(&'a MarkKind),
}

/// Why a line was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The line can't stand here; nothing was written.
    #[error("a journal cannot take this line: {0}")]
    Refused(#[from] Refusal),
    /// The output failed. Part of the line may be there: read the journal again and resume it.
    #[error("the journal could not be written: {0}")]
    Io(#[source] io::Error),
    /// The output had failed before.
    #[error("the journal could not be written before, so nothing more is written to it")]
    Poisoned,
}

/// Lines on their way out, with the state that they lead to.
pub(crate) struct Lines {
    pub(crate) text: String,
    pub(crate) chain: Chain,
    pub(crate) position: Position,
}

impl Lines {
    pub(crate) fn with_header(header: &Header) -> Result<Self, Refusal> {
        header.check()?;
        let mut lines = Self { text: String::new(), chain: Chain::default(), position: Position::default() };
        lines.push_body(&to_json(&HeaderLine::from(header)))?;
        Ok(lines)
    }

    pub(crate) fn push(&mut self, entry: &Entry) -> Result<(), Refusal> {
        self.position.admit(entry)?;
        self.push_body(&to_json(entry))
    }

    pub(crate) fn push_piece(&mut self, piece: Piece<'_>) -> Result<(), Refusal> {
        self.push(&entry_of(self.position.boundary, piece))
    }

    fn push_body(&mut self, body: &str) -> Result<(), Refusal> {
        let before = self.text.len();
        self.chain.push_line(&mut self.text, body);
        match self.text.len() - before - 1 {
            bytes if bytes > LINE_BYTES_MAX => Err(Refusal::LineBytes(bytes)),
            _ => Ok(()),
        }
    }
}

/// The line of a piece at a boundary.
pub(crate) fn entry_of(at: u64, piece: Piece<'_>) -> Entry {
    match piece {
        Piece::Inputs(steps) => Entry::Inputs {
            at,
            keys: Keys(steps.iter().map(|step| step.key).collect()),
            checks: Checks(steps.iter().map(|step| step.check).collect()),
        },
        Piece::Mark(MarkKind::Reseed { core, display }) => Entry::Reseed { at, core: *core, display: *display },
        Piece::Mark(MarkKind::Debug { args }) => Entry::Debug { at, args: args.clone() },
        Piece::Mark(MarkKind::Digests { play, state }) => Entry::Digests { at, play: *play, state: *state },
    }
}

pub(crate) fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("lines hold only strings, numbers and structs of them, which JSON can say")
}

/// The pieces of a straight line from boundary `from` on, in order.
pub(crate) fn pieces<'a>(mut steps: &'a [Step], marks: &'a [Mark], from: Boundary) -> Result<Vec<Piece<'a>>, Refusal> {
    let mut at = from;
    let mut pieces = Vec::new();
    for mark in marks {
        let count = mark.at.0.checked_sub(at.0).and_then(|count| usize::try_from(count).ok());
        let split = count.and_then(|count| steps.split_at_checked(count));
        let (before, rest) = split.ok_or(Refusal::Boundary { stated: mark.at, actual: at })?;
        pieces.extend(before.chunks(PACKED_INPUTS).map(Piece::Inputs));
        pieces.push(Piece::Mark(&mark.kind));
        (at, steps) = (mark.at, rest);
    }
    pieces.extend(steps.chunks(PACKED_INPUTS).map(Piece::Inputs));
    Ok(pieces)
}

impl<W: Write> JournalWriter<W> {
    /// Begins a journal: writes its header.
    ///
    /// # Errors
    /// A header that is refused, or a failed output.
    pub fn create(header: &Header, out: W) -> Result<Self, WriteError> {
        let lines = Lines::with_header(header)?;
        let mut writer = Self {
            out,
            chain: Chain::default(),
            position: Position::default(),
            bytes: 0,
            digests_at: None,
            poisoned: false,
        };
        writer.write(lines)?;
        Ok(writer)
    }

    /// Goes on with a journal that was read. `out` appends to the file, which the caller has cut to
    /// [`Recording::whole_bytes`].
    ///
    /// # Errors
    /// A journal that has its last line.
    pub fn resume(recording: &Recording, out: W) -> Result<Self, WriteError> {
        if recording.position.closed {
            return Err(Refusal::Closed.into());
        }
        Ok(Self {
            out,
            chain: recording.chain,
            position: recording.position.clone(),
            bytes: recording.whole_bytes,
            digests_at: recording.movie.digests_at(),
            poisoned: false,
        })
    }

    /// Begins the journal of a machine that goes on from a movie: the header, what the movie had seen beside its
    /// straight line, and that line. `header` names the ROM in use; state digests of another ROM are left out.
    ///
    /// # Errors
    /// A movie that breaks the rules, or a failed output. A header with another power-on than the movie's is refused.
    pub fn continue_movie(header: &Header, movie: &Movie, out: W) -> Result<Self, WriteError> {
        if header.power_on != movie.header.power_on {
            return Err(Refusal::PowerOn.into());
        }
        let mut marks = movie.marks.clone();
        if header.rom_id != movie.header.rom_id {
            for mark in &mut marks {
                if let MarkKind::Digests { state, .. } = &mut mark.kind {
                    *state = None;
                }
            }
        }
        let mut writer = Self::create(header, out)?;
        let mut lines = writer.begin()?;
        lines.push(&Entry::Past { account: movie.past()? })?;
        for piece in pieces(&movie.steps, &marks, Boundary(0))? {
            lines.push_piece(piece)?;
        }
        writer.write(lines)?;
        writer.digests_at = movie.digests_at();
        Ok(writer)
    }

    /// Says which keys are about to be pressed. Call it before they are.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn send(&mut self, keys: &[Key]) -> Result<(), WriteError> {
        let at = self.position.boundary;
        self.line(&Entry::Send { at, keys: Keys(keys.to_vec()) })
    }

    /// Says which inputs were really pressed after [`Self::send`], maybe none, and what play was after each. They may
    /// be others than those sent, where texts were dismissed in between.
    ///
    /// # Errors
    /// See [`WriteError`]; refused where nothing was sent.
    pub fn done(&mut self, inputs: &[Key], checks: &[Check]) -> Result<(), WriteError> {
        let as_sent = self.position.sent.as_ref().is_some_and(|sent| sent.starts_with(inputs));
        self.line(&Entry::Done {
            at: self.position.boundary,
            n: inputs.len() as u64,
            checks: Checks(checks.to_vec()),
            keys: (!as_sent).then(|| Keys(inputs.to_vec())),
        })
    }

    /// Says that a key at this boundary killed its worker; it was not pressed, and must not be tried again.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn lost(&mut self, key: Key) -> Result<(), WriteError> {
        let at = self.position.boundary;
        self.line(&Entry::Lost { at, key: Keys(vec![key]) })
    }

    /// Says that both generators got new seeds at this boundary.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn reseed(&mut self, core: Seed, display: Seed) -> Result<(), WriteError> {
        let at = self.position.boundary;
        self.line(&Entry::Reseed { at, core, display })
    }

    /// Says that the machine goes back to where it first came to boundary `to`, before any reseed there.
    ///
    /// # Errors
    /// See [`WriteError`]; refused where `to` lies ahead.
    pub fn seek(&mut self, to: Boundary) -> Result<(), WriteError> {
        let at = self.position.boundary;
        self.line(&Entry::Seek { at, to: to.0 })?;
        self.digests_at = self.digests_at.map(|digests| digests.min(to.0));
        Ok(())
    }

    /// Says that a fork's line takes the place of all that lies from boundary `base` on. `steps` and `marks` are those
    /// of the fork's own line at and beyond `base`, reseeds that it inherited there included. All its lines go out in
    /// one write, and a reader takes either all of them or none. Digests of the arrival at `base` are not written again.
    ///
    /// # Errors
    /// See [`WriteError`]; refused where `base` lies ahead or the marks do not lie on the steps.
    pub fn adopt(&mut self, from: &str, base: Boundary, steps: &[Step], marks: &[Mark]) -> Result<(), WriteError> {
        let mut lines = self.begin()?;
        let known = marks.iter().take_while(|mark| mark.is_arrival(base)).count();
        let pieces = pieces(steps, marks.get(known..).unwrap_or_default(), base)?;
        lines.push(&Entry::Adopt {
            at: self.position.boundary,
            from: from.to_owned(),
            base: base.0,
            lines: pieces.len() as u64,
        })?;
        for piece in pieces {
            lines.push_piece(piece)?;
        }
        self.write(lines)?;
        self.digests_at = self.digests_at.map(|digests| digests.min(base.0));
        Ok(())
    }

    /// Says that `forks` forks were made and `lines` lines were tried ahead from this boundary.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn peek(&mut self, forks: u64, lines: u64) -> Result<(), WriteError> {
        let at = self.position.boundary;
        self.line(&Entry::Peek { at, forks, lines })
    }

    /// Says that an operator edited the machine.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn debug(&mut self, args: &str) -> Result<(), WriteError> {
        let at = self.position.boundary;
        self.line(&Entry::Debug { at, args: args.to_owned() })
    }

    /// Says what the machine is now.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn digests(&mut self, play: PlayDigest, state: Option<StateDigest>) -> Result<(), WriteError> {
        let at = self.position.boundary;
        self.line(&Entry::Digests { at, play, state })?;
        self.digests_at = Some(at);
        Ok(())
    }

    /// True at boundary 0, and [`DIGESTS_EVERY`] inputs after the last digests: time for [`Self::digests`].
    #[must_use]
    pub fn digests_due(&self) -> bool {
        self.digests_at.is_none_or(|at| self.position.boundary.saturating_sub(at) >= DIGESTS_EVERY)
    }

    /// Writes the last line; digests of the end belong before it.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn end(&mut self, how: Finish) -> Result<(), WriteError> {
        self.line(&Entry::End { at: self.position.boundary, how, account: self.position.account })
    }

    /// The boundary that the straight line leads to.
    #[must_use]
    pub fn boundary(&self) -> Boundary {
        Boundary(self.position.boundary)
    }

    /// What happened so far.
    #[must_use]
    pub fn account(&self) -> Account {
        self.position.account
    }

    /// How many bytes the file has.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// True after a failed write.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// The output.
    #[must_use]
    pub fn get_ref(&self) -> &W {
        &self.out
    }

    /// Gives the output back.
    #[must_use]
    pub fn into_inner(self) -> W {
        self.out
    }

    fn line(&mut self, entry: &Entry) -> Result<(), WriteError> {
        let mut lines = self.begin()?;
        lines.push(entry)?;
        self.write(lines)
    }

    fn begin(&self) -> Result<Lines, WriteError> {
        if self.poisoned {
            return Err(WriteError::Poisoned);
        }
        Ok(Lines { text: String::new(), chain: self.chain, position: self.position.clone() })
    }

    fn write(&mut self, lines: Lines) -> Result<(), WriteError> {
        let bytes = self.bytes + lines.text.len();
        if bytes > FILE_BYTES_MAX {
            return Err(Refusal::FileBytes(bytes).into());
        }
        let written = self.out.write_all(lines.text.as_bytes()).and_then(|()| self.out.flush());
        self.poisoned = written.is_err();
        written.map_err(WriteError::Io)?;
        (self.chain, self.position, self.bytes) = (lines.chain, lines.position, bytes);
        Ok(())
    }
}
