//! Lines in a tree: the first of a game as a movie, every other as what it has beyond an earlier one.

use movie::{Mark, MarkKind, Step};
use wire::{Boundary, Check, Event, Key, PlayDigest, Seed, StateDigest};

use crate::journal::marks;
use crate::line::Line;
use crate::state_file_envelope::{StateFileError, take};

const RESEED: u8 = 0;
const DIGESTS: u8 = 1;
const EDIT: u8 = 2;

/// What a line has beyond its first `common` inputs, which are another's, as bytes.
pub(crate) fn encode(line: &Line, other: &Line, common: Boundary) -> Vec<u8> {
    let steps: Vec<&Step> = line.steps_from(common).collect();
    let mut bytes = Vec::with_capacity(8 + 5 * steps.len());
    bytes.extend((steps.len() as u64).to_le_bytes());
    for Step { key, check } in steps {
        bytes.push(key.0);
        bytes.extend(check.0.to_le_bytes());
    }
    // Digests at the parting are those that the other has, unless it has none or an event comes before them.
    let own = other.mark_at(common).is_none() || line.happens_at(common);
    for mark in marks(line).iter().filter(|mark| mark.at > common || (mark.at == common && own)) {
        encode_mark(mark, &mut bytes);
    }
    bytes
}

fn encode_mark(mark: &Mark, bytes: &mut Vec<u8>) {
    match &mark.kind {
        MarkKind::Reseed { core, display } => {
            bytes.extend(mark.at.0.to_le_bytes());
            bytes.push(RESEED);
            bytes.extend(core.0.to_le_bytes());
            bytes.extend(display.0.to_le_bytes());
        }
        MarkKind::Digests { play, state: Some(state) } => {
            bytes.extend(mark.at.0.to_le_bytes());
            bytes.push(DIGESTS);
            bytes.extend(play.0);
            bytes.extend(state.0);
        }
        MarkKind::Debug { args } => {
            bytes.extend(mark.at.0.to_le_bytes());
            bytes.push(EDIT);
            bytes.extend((args.len() as u64).to_le_bytes());
            bytes.extend(args.as_bytes());
        }
        // No line of a machine has these.
        MarkKind::Digests { state: None, .. } => {}
    }
}

/// Adds to a line, which is at the parting, what [`encode`] wrote. `keep_digests` is false where another ROM runs,
/// under which memory has other digests.
pub(crate) fn decode(bytes: &[u8], line: &mut Line, keep_digests: bool) -> Result<(), StateFileError> {
    let mut rest = bytes;
    let count = u64::from_le_bytes(take(&mut rest)?);
    let bytes_of_steps = count.checked_mul(5).and_then(|bytes| usize::try_from(bytes).ok());
    let split = bytes_of_steps.and_then(|bytes| rest.split_at_checked(bytes));
    let (mut steps, mut rest) = split.ok_or_else(|| wrong("a line is shorter than it says"))?;
    let end = line.end().0 + count;
    loop {
        while let Some(mark) = next_mark(&mut rest, line.end(), end)? {
            match mark.kind {
                MarkKind::Reseed { core, display } => line.happen(Event::Reseed { core, display }),
                MarkKind::Debug { args } => {
                    let edit = args.parse().map_err(|_| wrong("a line has an edit that is none"))?;
                    line.happen(Event::Edit(edit));
                }
                MarkKind::Digests { play, state: Some(state) } if keep_digests => line.mark(play, state),
                MarkKind::Digests { .. } => {}
            }
        }
        if steps.is_empty() {
            break;
        }
        let [key] = take(&mut steps)?;
        line.push(Step { key: Key(key), check: Check(u32::from_le_bytes(take(&mut steps)?)) });
    }
    if rest.is_empty() { Ok(()) } else { Err(wrong("a line's marks are out of order")) }
}

/// Takes the next mark if it is at this boundary. One that is behind it, or beyond the line's end, is refused.
fn next_mark(rest: &mut &[u8], here: Boundary, end: u64) -> Result<Option<Mark>, StateFileError> {
    let mut after = *rest;
    if after.is_empty() {
        return Ok(None);
    }
    let at = Boundary(u64::from_le_bytes(take(&mut after)?));
    if at < here || at.0 > end {
        return Err(wrong("a line's marks are out of order"));
    }
    if at > here {
        return Ok(None);
    }
    let kind = match take(&mut after)? {
        [RESEED] => {
            let mut seed = || Ok::<_, StateFileError>(Seed(u64::from_le_bytes(take(&mut after)?)));
            MarkKind::Reseed { core: seed()?, display: seed()? }
        }
        [DIGESTS] => {
            let play = PlayDigest(take(&mut after)?);
            MarkKind::Digests { play, state: Some(StateDigest(take(&mut after)?)) }
        }
        [EDIT] => MarkKind::Debug { args: take_text(&mut after)? },
        _ => return Err(wrong("a line has a mark of no known kind")),
    };
    *rest = after;
    Ok(Some(Mark { at, kind }))
}

fn take_text(rest: &mut &[u8]) -> Result<String, StateFileError> {
    let length = usize::try_from(u64::from_le_bytes(take(rest)?)).unwrap_or(usize::MAX);
    let split = rest.split_at_checked(length).filter(|_| length <= movie::ARGS_BYTES_MAX);
    let (text, after) = split.ok_or_else(|| wrong("a line's edit is longer than an edit may be"))?;
    *rest = after;
    String::from_utf8(text.to_vec()).map_err(|_| wrong("a line's edit is no text"))
}

fn wrong(what: &str) -> StateFileError {
    StateFileError::Inconsistent(what.to_owned())
}

/// The last boundary up to which a line can be told as another's: they are one up to there, and nothing happened
/// at that very boundary, so that its digests are those of the arrival.
pub(crate) fn parting(line: &Line, other: &Line) -> Option<Boundary> {
    let mut common = line.common(other);
    while other.happens_at(common) {
        common = Boundary(common.0.checked_sub(1)?);
    }
    Some(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        let mut line = Line::default();
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => line.happen(Event::Reseed { core: Seed(u64::from(byte)), display: Seed(9) }),
                b'A'..=b'Z' => line.happen(Event::Edit(wire::Edit::Remove { id: byte.into() })),
                b'!' => line.mark(PlayDigest([7; 16]), StateDigest([line.end().0 as u8; 32])),
                _ => line.push(Step { key: Key(byte), check: Check(0x0102_0300 + u32::from(byte)) }),
            }
        }
        line
    }

    #[test]
    fn a_line_comes_back_from_what_it_has_beyond_another() {
        let texts = [
            "",
            "!abc",
            "!abcdef",
            "!abc!def!",
            "!abc1!de!",
            "!abc1de",
            "!abc2!de",
            "!abc1!",
            "3!ab",
            "3ab!",
            "!xyz",
            "!abcA1B!de!",
            "!abcA!de",
        ];
        for (one, other) in texts.iter().flat_map(|one| texts.iter().map(move |other| (*one, *other))) {
            let (full, base) = (line(one), line(other));
            let Some(common) = parting(&full, &base) else { continue };
            let bytes = encode(&full, &base, common);
            let mut again = base.prefix(common);
            decode(&bytes, &mut again, true).unwrap();
            assert!(again.common(&full) == full.end() && again.end() == full.end(), "{one} {other}");
            // Digests that only one of them has before the parting are as true of the other.
            let late = |line: &Line| marks(line).into_iter().filter(|mark| mark.at > common).collect::<Vec<_>>();
            assert_eq!(late(&again), late(&full), "{one} {other}");
            assert!(full.mark_at(full.end()).is_none() || again.mark_at(full.end()).is_some(), "{one} {other}");
            for length in 0..bytes.len() {
                // A line may end between two marks; whoever cuts there has the file's digest against him.
                let mut cut = base.prefix(common);
                assert!(decode(&bytes[..length], &mut cut, true).is_err() || cut.end() == full.end(), "{one} {other}");
            }
        }
    }

    #[test]
    fn what_does_not_hold_together_is_no_line() {
        let bytes = encode(&line("!ab1c!"), &line("!"), Boundary(0));
        for (at, value) in [(0, 4_u8), (0, 200), (7, 255), (8 + 15, 9), (8 + 15 + 8, 2)] {
            let mut other = bytes.clone();
            other[at] = value;
            let mut begun = Line::default();
            assert!(decode(&other, &mut begun, true).is_err(), "{at} {value}");
        }
        let mut begun = Line::default();
        decode(&bytes, &mut begun, false).unwrap();
        assert!(begun.marks().next().is_none() && begun.end() == Boundary(3));
    }
}
