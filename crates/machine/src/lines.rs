//! Lines of 64 bytes, the grain in which images are compared.

/// Bytes of a line.
pub(crate) const LINE: usize = 64;
/// Bytes that are compared at once before lines are.
const PAGE: usize = 4_096;

/// A line's bytes.
pub(crate) type Line = [u8; LINE];

/// An empty line.
pub(crate) const ZERO: Line = [0; LINE];

/// The lengths of what is rounded up to whole lines.
pub(crate) fn whole_lines(bytes: usize) -> usize {
    bytes.next_multiple_of(LINE)
}

/// Calls `changed` with the offset and the two versions of each line in which `new` differs from `old`. Both begin at
/// the same place; what `old` lacks is zero; a last part of `new` that is no whole line is filled up with zeroes.
pub(crate) fn differences(old: &[u8], new: &[u8], changed: &mut dyn FnMut(usize, &Line, &Line)) {
    let common = old.len().min(new.len()) / PAGE * PAGE;
    let pages = old[..common].chunks_exact(PAGE).zip(new[..common].chunks_exact(PAGE));
    for (page, (old, new)) in pages.enumerate() {
        if old != new {
            let (old, new) = (old.as_chunks::<LINE>().0, new.as_chunks::<LINE>().0);
            for (line, (old, new)) in old.iter().zip(new).enumerate() {
                if old != new {
                    changed(page * PAGE + line * LINE, old, new);
                }
            }
        }
    }
    let (lines, rest) = new[common..].as_chunks::<LINE>();
    let line_of_old = |at: usize| {
        let mut line = ZERO;
        let there = old.get(at..(at + LINE).min(old.len())).unwrap_or_default();
        line[..there.len()].copy_from_slice(there);
        line
    };
    for (line, new) in lines.iter().enumerate() {
        let at = common + line * LINE;
        let old = line_of_old(at);
        if old != *new {
            changed(at, &old, new);
        }
    }
    if !rest.is_empty() {
        let at = common + lines.len() * LINE;
        let (old, mut new) = (line_of_old(at), ZERO);
        new[..rest.len()].copy_from_slice(rest);
        if old != new {
            changed(at, &old, &new);
        }
    }
}
