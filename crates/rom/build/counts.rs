//! The compiler's files of counts, as GCC 12 and newer write them: four words of head,
//! then records of a tag, a length in bytes and that many bytes. A negative length
//! stands for as many zeroes that are left out.
//!
//! The function that hands out counts without an operating system leaves out the
//! summary, and without one the compiler quietly takes no notice of all the rest.

use anyhow::{Context, Result, ensure};

const HEAD_BYTES: usize = 16;
const MAGIC: &[u8] = b"adcg";
/// How often each branch was taken.
const TAG_ARCS: u32 = 0x01a1_0000;
/// How many runs are summed up, and the highest count of them.
const TAG_SUMMARY: u32 = 0xa100_0000;

/// The highest count in a file.
pub(crate) fn most(file: &[u8]) -> Result<u64> {
    ensure!(file.starts_with(MAGIC), "this is no file of counts");
    let mut rest = file.get(HEAD_BYTES..).context("a file of counts has no head")?;
    let mut most = 0;
    while let Some((tag, after)) = word(rest).filter(|(tag, _)| *tag != 0) {
        let (length, after) = word(after).context("a record has no length")?;
        let length = usize::try_from(length as i32).unwrap_or(0);
        let (body, after) = after.split_at_checked(length).context("a record is cut short")?;
        ensure!(tag != TAG_SUMMARY, "there is a summary already");
        if tag == TAG_ARCS {
            let (counts, _) = body.as_chunks();
            most = counts.iter().map(|count| u64::from_le_bytes(*count)).max().unwrap_or(0).max(most);
        }
        rest = after;
    }
    Ok(most)
}

/// The file with the summary of one run, for the whole program.
pub(crate) fn with_summary(file: &[u8], most: u64) -> Result<Vec<u8>> {
    let (head, records) = file.split_at_checked(HEAD_BYTES).context("a file of counts has no head")?;
    let most = u32::try_from(most).unwrap_or(u32::MAX);
    let summary = [TAG_SUMMARY, 8, 1, most].map(u32::to_le_bytes).concat();
    Ok([head, &summary, records].concat())
}

fn word(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*word), rest))
}
