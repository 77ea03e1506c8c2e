use wire::{Boundary, Key};

use crate::format::{
    ARGS_BYTES_MAX, Account, COUNT_MAX, Entry, FILE_BYTES_MAX, HeaderError, INPUTS_MAX, LINE_BYTES_MAX,
    LINE_INPUTS_MAX, MARKS_MAX, NAME_BYTES_MAX,
};
use crate::text::{Checks, Keys};

/// Why a line can't stand where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The header's texts.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// A journal that should go on from a movie with another beginning.
    #[error("its power-on record is not that of the movie it goes on from")]
    PowerOn,
    /// The boundary does not follow from the lines before.
    #[error("it is for boundary {stated}, but the line before it leads to boundary {actual}")]
    Boundary {
        /// What the line says.
        stated: Boundary,
        /// Where the machine is.
        actual: Boundary,
    },
    /// A jump to a boundary that the line does not have.
    #[error("it goes back to boundary {to}, but the machine is at {at}")]
    Ahead {
        /// The goal.
        to: Boundary,
        /// Where the machine is.
        at: Boundary,
    },
    /// Keys are done that were never sent.
    #[error("it acknowledges keys that no line before it sends")]
    NotSent,
    /// The numbers of keys, checks and `n` do not go together.
    #[error("it has {checks} checks for {keys} keys")]
    Counts {
        /// How many keys.
        keys: u64,
        /// How many checks.
        checks: u64,
    },
    /// A line that needs keys has none, or has too many.
    #[error("it has {0} keys: 1 to {LINE_INPUTS_MAX} are possible (1 where a key is lost)")]
    Keys(usize),
    /// Too many inputs on the straight line.
    #[error("the straight line would have {0} inputs: at most {INPUTS_MAX} are possible")]
    Inputs(u64),
    /// Too many lines that must be kept.
    #[error("more than {MARKS_MAX} reseeds, edits, digests and lost keys")]
    Marks,
    /// An adoption is not complete.
    #[error(
        "{0} lines of the adopted fork are still to come; only inputs, reseeds, edits and digests may be among them"
    )]
    Adoption(u64),
    /// A line after the last one.
    #[error("it stands after the end")]
    Closed,
    /// An account of the past that is not at the start.
    #[error("the past stands right after the header, once")]
    Past,
    /// A name that no fork has.
    #[error("a fork's name is 1 to {NAME_BYTES_MAX} letters, digits, `_` or `-`")]
    Name,
    /// An edit's arguments.
    #[error("the arguments of an edit have {0} bytes: at most {ARGS_BYTES_MAX} are possible")]
    Args(usize),
    /// Counts that do not go together, or are over the limit.
    #[error("the account has less than the lines themselves, or a count over {COUNT_MAX}")]
    Account,
    /// A line that would be too long.
    #[error("it has {0} bytes: at most {LINE_BYTES_MAX} are possible")]
    LineBytes(usize),
    /// A file that would be too long.
    #[error("the file would have {0} bytes: at most {FILE_BYTES_MAX} are possible")]
    FileBytes(usize),
}

/// Where a journal stands after some of its lines: what decides whether a further line may follow. The writer asks it
/// before it writes, the reader after it has read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// How many inputs the straight line has.
    pub(crate) boundary: u64,
    /// What was sent and not acknowledged.
    pub(crate) sent: Option<Vec<Key>>,
    /// How many lines of an adopted fork are still to come.
    pub(crate) adopting: u64,
    /// Whether the last line is there.
    pub(crate) closed: bool,
    /// What the lines add up to.
    pub(crate) account: Account,
    entries: u64,
    marks: usize,
}

fn add(count: &mut u64, more: u64) -> Result<(), Refusal> {
    *count = count.checked_add(more).filter(|sum| *sum <= COUNT_MAX).ok_or(Refusal::Account)?;
    Ok(())
}

pub(crate) fn is_name(text: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

impl Position {
    /// Takes one more line, or refuses it and stays as it was. Returns the keys that it adds to the straight line.
    pub(crate) fn admit(&mut self, entry: &Entry) -> Result<Vec<Key>, Refusal> {
        let mut next = Self { sent: None, ..*self };
        let keys = next.advance(entry, self.sent.as_deref())?;
        if matches!(entry, Entry::Peek { .. }) {
            next.sent = self.sent.take();
        }
        *self = next;
        Ok(keys)
    }

    fn advance(&mut self, entry: &Entry, sent: Option<&[Key]>) -> Result<Vec<Key>, Refusal> {
        if self.closed {
            return Err(Refusal::Closed);
        }
        self.check_adoption(entry)?;
        self.check_boundary(entry)?;
        self.entries += 1;
        match entry {
            Entry::Inputs { keys, checks, .. } => return self.press(check_keys(keys)?, checks),
            Entry::Done { n, checks, keys, .. } => {
                let sent = sent.ok_or(Refusal::NotSent)?;
                return self.press(done_keys(sent, *n, keys.as_ref())?, checks);
            }
            Entry::Send { keys, .. } => self.sent = Some(check_keys(keys)?.to_vec()),
            Entry::Past { account } => self.past(account)?,
            Entry::End { account, .. } => self.end(account)?,
            Entry::Digests { .. } => self.mark()?,
            Entry::Lost { .. } | Entry::Reseed { .. } | Entry::Debug { .. } => self.event(entry)?,
            Entry::Seek { .. } | Entry::Adopt { .. } | Entry::Peek { .. } => self.jump(entry)?,
        }
        Ok(Vec::new())
    }

    fn event(&mut self, entry: &Entry) -> Result<(), Refusal> {
        match entry {
            Entry::Lost { key, .. } if key.0.len() != 1 => return Err(Refusal::Keys(key.0.len())),
            Entry::Debug { args, .. } if args.len() > ARGS_BYTES_MAX => return Err(Refusal::Args(args.len())),
            Entry::Lost { .. } => add(&mut self.account.lost, 1)?,
            Entry::Debug { .. } => add(&mut self.account.debugs, 1)?,
            _ => add(&mut self.account.reseeds, 1)?,
        }
        self.mark()
    }

    fn jump(&mut self, entry: &Entry) -> Result<(), Refusal> {
        match entry {
            Entry::Seek { to, .. } => {
                add(&mut self.account.seeks, 1)?;
                self.go_back(*to)
            }
            Entry::Adopt { from, base, lines, .. } => {
                if !is_name(from) {
                    return Err(Refusal::Name);
                }
                add(&mut self.account.adoptions, 1)?;
                self.adopting = *lines;
                self.go_back(*base)
            }
            Entry::Peek { forks, lines, .. } => {
                add(&mut self.account.peeks, 1)?;
                add(&mut self.account.forks, *forks)?;
                add(&mut self.account.lines, *lines)
            }
            _ => Ok(()),
        }
    }

    fn check_adoption(&mut self, entry: &Entry) -> Result<(), Refusal> {
        if self.adopting == 0 {
            return Ok(());
        }
        match entry {
            Entry::Inputs { .. } | Entry::Reseed { .. } | Entry::Debug { .. } | Entry::Digests { .. } => {
                self.adopting -= 1;
                Ok(())
            }
            _ => Err(Refusal::Adoption(self.adopting)),
        }
    }

    fn check_boundary(&self, entry: &Entry) -> Result<(), Refusal> {
        match entry.at() {
            Some(at) if at != self.boundary => {
                Err(Refusal::Boundary { stated: Boundary(at), actual: Boundary(self.boundary) })
            }
            _ => Ok(()),
        }
    }

    fn past(&mut self, account: &Account) -> Result<(), Refusal> {
        if self.entries > 1 {
            return Err(Refusal::Past);
        }
        if !account.fits() {
            return Err(Refusal::Account);
        }
        self.account = *account;
        Ok(())
    }

    fn end(&mut self, account: &Account) -> Result<(), Refusal> {
        if !account.covers(&self.account) || !account.fits() {
            return Err(Refusal::Account);
        }
        self.account = *account;
        self.closed = true;
        Ok(())
    }

    fn press(&mut self, keys: &[Key], checks: &Checks) -> Result<Vec<Key>, Refusal> {
        let count = keys.len() as u64;
        if checks.0.len() != keys.len() {
            return Err(Refusal::Counts { keys: count, checks: checks.0.len() as u64 });
        }
        self.boundary += count;
        if self.boundary > INPUTS_MAX as u64 {
            return Err(Refusal::Inputs(self.boundary));
        }
        add(&mut self.account.inputs, count)?;
        Ok(keys.to_vec())
    }

    fn mark(&mut self) -> Result<(), Refusal> {
        self.marks += 1;
        if self.marks > MARKS_MAX { Err(Refusal::Marks) } else { Ok(()) }
    }

    fn go_back(&mut self, to: u64) -> Result<(), Refusal> {
        if to > self.boundary {
            return Err(Refusal::Ahead { to: Boundary(to), at: Boundary(self.boundary) });
        }
        self.boundary = to;
        Ok(())
    }
}

fn check_keys(keys: &Keys) -> Result<&[Key], Refusal> {
    if (1..=LINE_INPUTS_MAX).contains(&keys.0.len()) { Ok(&keys.0) } else { Err(Refusal::Keys(keys.0.len())) }
}

fn done_keys<'a>(sent: &'a [Key], n: u64, others: Option<&'a Keys>) -> Result<&'a [Key], Refusal> {
    let all = others.map_or(sent, |keys| keys.0.as_slice());
    let count = usize::try_from(n).ok().filter(|count| others.map_or(*count <= all.len(), |_| *count == all.len()));
    match count {
        Some(count) if count <= LINE_INPUTS_MAX => Ok(&all[..count]),
        Some(count) => Err(Refusal::Keys(count)),
        None => Err(Refusal::Counts { keys: all.len() as u64, checks: n }),
    }
}

impl Entry {
    /// The boundary that a line says it stands at.
    pub(crate) fn at(&self) -> Option<u64> {
        match self {
            Self::Past { .. } => None,
            Self::Inputs { at, .. }
            | Self::Send { at, .. }
            | Self::Done { at, .. }
            | Self::Lost { at, .. }
            | Self::Reseed { at, .. }
            | Self::Seek { at, .. }
            | Self::Adopt { at, .. }
            | Self::Peek { at, .. }
            | Self::Debug { at, .. }
            | Self::Digests { at, .. }
            | Self::End { at, .. } => Some(*at),
        }
    }
}
