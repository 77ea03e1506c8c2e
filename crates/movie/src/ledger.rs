use serde::Deserialize;

use crate::chain::Chain;
use crate::format::{ARGS_BYTES_MAX, Entry, HEADER_TEXT_BYTES_MAX, INPUTS_MAX, LINE_BYTES_MAX};
use crate::journal::{Piece, entry_of, pieces, to_json};
use crate::ledger_format::{
    LEDGER_FORMAT, LEDGER_LINE_BYTES, LEDGER_VERSION, LedgerFork, LedgerHeader, LedgerHeaderLine, LedgerLine,
    LedgerRecord, LinePart, NOTE_BYTES_MAX,
};
use crate::movie::MarkKind;
use crate::reader::{LineProblem, parse, split};
use crate::rules::{Refusal, is_name};

/// Writes a ledger as text. It is pure: each call gives the text and the writer that stands after it, so that whoever
/// fails to write the text goes on with the writer from before.
#[derive(Clone, Copy, Debug)]
pub struct LedgerWriter {
    chain: Chain,
}

/// Reads a ledger line by line.
#[derive(Clone, Copy, Debug)]
pub struct LedgerReader {
    chain: Chain,
}

/// Why a line of a ledger is not taken. What stands before it counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The first line is not a ledger's.
    #[error("this is no ledger: its first line does not say `\"format\":\"{LEDGER_FORMAT}\"`")]
    NotALedger,
    /// A version that this reader does not know.
    #[error("the ledger has format version {found}; this program reads up to version {LEDGER_VERSION}")]
    Version {
        /// The ledger's version.
        found: u64,
    },
    /// The line is not as it was written.
    #[error("it is not as it was written")]
    Altered,
    /// A text or a number that can't be.
    #[error("it has a {0} that can't be")]
    Value(&'static str),
    /// What it tells of a line does not follow.
    #[error("its inputs do not follow one another")]
    Order,
    /// The line can't be understood.
    #[error(transparent)]
    Line(#[from] LineProblem),
    /// The record breaks a rule.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl LedgerWriter {
    /// The first line.
    ///
    /// # Errors
    /// A header that is refused.
    pub fn begin(header: &LedgerHeader) -> Result<(Self, String), LedgerError> {
        check_header(header)?;
        let writer = Self { chain: Chain::default() };
        let LedgerHeader { engine_id, rom_id, creator, journal } = header.clone();
        let line = LedgerHeaderLine {
            format: LEDGER_FORMAT.to_owned(),
            version: LEDGER_VERSION,
            engine_id,
            rom_id,
            creator,
            journal,
        };
        writer.push(&to_json(&line))
    }

    /// The line of a record, or its lines where it has many inputs. A ledger that is cut between these has a shorter
    /// line of the fork.
    ///
    /// # Errors
    /// A record that is refused.
    pub fn record(mut self, record: &LedgerRecord) -> Result<(Self, String), LedgerError> {
        check(record)?;
        let mut text = String::new();
        for line in lines_of(record)? {
            let (after, more) = self.push(&to_json(&line))?;
            self = after;
            text.push_str(&more);
        }
        Ok((self, text))
    }

    fn push(mut self, body: &str) -> Result<(Self, String), LedgerError> {
        let mut text = String::new();
        self.chain.push_line(&mut text, body);
        match text.len() - 1 {
            bytes if bytes > LINE_BYTES_MAX => Err(Refusal::LineBytes(bytes).into()),
            _ => Ok((self, text)),
        }
    }
}

impl LedgerReader {
    /// Reads the first line, without its newline.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn begin(line: &[u8]) -> Result<(Self, LedgerHeader), LedgerError> {
        #[derive(Deserialize)]
        struct Probe {
            format: String,
            version: u64,
        }
        let probe: Probe = serde_json::from_slice(line).map_err(|_| LedgerError::NotALedger)?;
        if probe.format != LEDGER_FORMAT {
            return Err(LedgerError::NotALedger);
        }
        if probe.version != u64::from(LEDGER_VERSION) {
            return Err(LedgerError::Version { found: probe.version });
        }
        let mut reader = Self { chain: Chain::default() };
        let body = reader.body(line)?;
        let LedgerHeaderLine { engine_id, rom_id, creator, journal, .. } = parse(&body)?;
        let header = LedgerHeader { engine_id, rom_id, creator, journal };
        check_header(&header)?;
        Ok((reader, header))
    }

    /// Reads the next line, without its newline.
    ///
    /// # Errors
    /// What is wrong with it. The reader stays where it was.
    pub fn record(&mut self, line: &[u8]) -> Result<LedgerRecord, LedgerError> {
        let mut after = *self;
        let body = after.body(line)?;
        let part = |common: u64, entries: Vec<Entry>| LinePart::of(common, entries).ok_or(LedgerError::Order);
        let record = match parse(&body)? {
            LedgerLine::Numbers { last } => LedgerRecord::Numbers { last },
            LedgerLine::Fork { fork, game, parent, account, base, common, line } => {
                let part = part(common, line)?;
                LedgerRecord::Fork(Box::new(LedgerFork { number: fork, game, parent, account, base, part }))
            }
            LedgerLine::Line { fork, common, line } => LedgerRecord::Line { fork, part: part(common, line)? },
            LedgerLine::Delete { fork } => LedgerRecord::Delete { fork },
            LedgerLine::Note { name, text } => LedgerRecord::Note { name, text },
        };
        check(&record)?;
        *self = after;
        Ok(record)
    }

    /// The writer that goes on after the lines read so far.
    #[must_use]
    pub fn writer(&self) -> LedgerWriter {
        LedgerWriter { chain: self.chain }
    }

    fn body(&mut self, line: &[u8]) -> Result<String, LedgerError> {
        if line.len() > LINE_BYTES_MAX {
            return Err(LineProblem::Bytes.into());
        }
        let (body, stated) = split(line)?;
        self.chain = self.chain.after(&body);
        if self.chain == stated { Ok(body) } else { Err(LedgerError::Altered) }
    }
}

fn lines_of(record: &LedgerRecord) -> Result<Vec<LedgerLine>, Refusal> {
    Ok(match record {
        LedgerRecord::Numbers { last } => vec![LedgerLine::Numbers { last: *last }],
        LedgerRecord::Delete { fork } => vec![LedgerLine::Delete { fork: *fork }],
        LedgerRecord::Note { name, text } => vec![LedgerLine::Note { name: name.clone(), text: text.clone() }],
        LedgerRecord::Line { fork, part } => {
            let line = |(common, line)| LedgerLine::Line { fork: *fork, common, line };
            cut(part)?.into_iter().map(line).collect()
        }
        LedgerRecord::Fork(fork) => {
            let mut parts = cut(&fork.part)?.into_iter();
            let (common, line) = parts.next().unwrap_or((fork.part.common.0, Vec::new()));
            let first = LedgerLine::Fork {
                fork: fork.number,
                game: fork.game.clone(),
                parent: fork.parent,
                account: fork.account,
                base: fork.base.clone(),
                common,
                line,
            };
            let more = parts.map(|(common, line)| LedgerLine::Line { fork: fork.number, common, line });
            std::iter::once(first).chain(more).collect()
        }
    })
}

/// A part in pieces that fit on a line each, with the boundary that each begins at. A cut lies before inputs only, so
/// that all marks of a boundary are on one line.
fn cut(part: &LinePart) -> Result<Vec<(u64, Vec<Entry>)>, Refusal> {
    let mut lines = vec![(part.common.0, Vec::new())];
    let (mut at, mut bytes) = (part.common.0, 0);
    for piece in pieces(&part.steps, &part.marks, part.common)? {
        if bytes >= LEDGER_LINE_BYTES && matches!(piece, Piece::Inputs(_)) {
            lines.push((at, Vec::new()));
            bytes = 0;
        }
        if let Some((_, line)) = lines.last_mut() {
            line.push(entry_of(at, piece));
        }
        match piece {
            Piece::Inputs(steps) => {
                at += steps.len() as u64;
                bytes += 10 * steps.len() + 64;
            }
            Piece::Mark(MarkKind::Debug { args }) => bytes += args.len() + 64,
            Piece::Mark(_) => bytes += 160,
        }
    }
    Ok(lines)
}

fn check_header(header: &LedgerHeader) -> Result<(), LedgerError> {
    let LedgerHeader { engine_id, rom_id, creator, journal } = header;
    let plain = |text: &String| {
        (1..=HEADER_TEXT_BYTES_MAX).contains(&text.len()) && text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
    };
    match [engine_id, rom_id, creator, journal].into_iter().all(plain) && !journal.contains('/') {
        true => Ok(()),
        false => Err(LedgerError::Value("text")),
    }
}

/// What writer and reader refuse alike.
fn check(record: &LedgerRecord) -> Result<(), LedgerError> {
    let number = |number: u64| (1..=crate::COUNT_MAX).contains(&number);
    match record {
        LedgerRecord::Numbers { last } if *last > crate::COUNT_MAX => Err(LedgerError::Value("number")),
        LedgerRecord::Delete { fork } if !number(*fork) => Err(LedgerError::Value("number")),
        LedgerRecord::Note { name, .. } if !is_name(name) => Err(LedgerError::Value("name")),
        LedgerRecord::Note { text, .. } if text.len() > NOTE_BYTES_MAX => Err(LedgerError::Value("text")),
        LedgerRecord::Line { fork, part } => check_part(number(*fork), part),
        LedgerRecord::Fork(fork) => {
            if !is_name(&fork.game) {
                return Err(LedgerError::Value("game"));
            }
            if !fork.account.fits() {
                return Err(LedgerError::Value("account"));
            }
            check_part(number(fork.number), &fork.part)
        }
        LedgerRecord::Numbers { .. } | LedgerRecord::Delete { .. } | LedgerRecord::Note { .. } => Ok(()),
    }
}

fn check_part(number: bool, part: &LinePart) -> Result<(), LedgerError> {
    let max = INPUTS_MAX as u64;
    let long = |mark: &crate::Mark| matches!(&mark.kind, MarkKind::Debug { args } if args.len() > ARGS_BYTES_MAX);
    if !number {
        return Err(LedgerError::Value("number"));
    }
    if part.common.0 > max || part.end().0 > max || part.marks.iter().any(long) {
        return Err(LedgerError::Value("line"));
    }
    Ok(())
}
