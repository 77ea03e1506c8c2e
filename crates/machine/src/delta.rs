//! Deltas: what a machine differs in from an image that it has come from.
//!
//! A version; the lengths of the base's four regions and of the result's, in lines; for each random generator how to get
//! there; a check; the lengths of four streams and then those, compressed where that helps. Numbers are varints. The
//! lines are those of globals, heap, stack and disk one after the other, as they are in the result.

use std::ops::Range;

use crate::MachineError;
use crate::codec::Codec;
use crate::contract::{DISK_BYTES, HEAP_BYTES, STACK_BYTES};
use crate::engine::Engine;
use crate::isaac::{self, CONTEXT_BYTES, ContextBytes, Way};
use crate::lines::{LINE, Line, differences, whole_lines};
use crate::patch::{Streams, put_number, take_byte, take_number};
use crate::regions::{Image, Live};

const VERSION: u8 = 1;
const GENERATOR_AS_BYTES: u8 = 0;
const GENERATOR_REFILLED: u8 = 1;
const GENERATOR_SEEDED: u8 = 2;

const fn refused(why: &'static str) -> MachineError {
    MachineError::Image(why)
}

fn context(globals: &[u8], offset: usize) -> Option<&ContextBytes> {
    globals.get(offset..)?.first_chunk()
}

/// Writes what a machine differs in from an image; false, and nothing written that counts, when it would take more than
/// `bytes_max`.
pub(crate) fn encode(
    engine: &Engine,
    base: &Image,
    seeds: Option<[u64; 2]>,
    codec: &mut Codec,
    bytes_max: usize,
    out: &mut Vec<u8>,
) -> bool {
    let live = Live::of(engine);
    let start = out.len();
    out.push(VERSION);
    let lines = |region: &[u8]| (whole_lines(region.len()) / LINE) as u64;
    for region in [&base.globals, &base.heap, &base.stack, &base.disk] {
        put_number(out, lines(region));
    }
    for region in [live.heap, live.stack, live.disk] {
        put_number(out, lines(region));
    }
    let mut rebuilt: Vec<Range<usize>> = Vec::new();
    for (index, offset) in engine.contexts().into_iter().enumerate() {
        let seed = seeds.map(|seeds| seeds[index]);
        let pair = context(&base.globals, offset).zip(context(live.globals, offset));
        let way = pair.and_then(|(from, to)| isaac::way(from, to, seed));
        put_way(out, way);
        if way.is_some() {
            rebuilt.push(offset..offset + CONTEXT_BYTES);
        }
    }
    codec.patch.clear();
    scan(engine, base, live, &rebuilt, codec);
    out.extend_from_slice(&codec.patch.check.bytes());
    // The streams shrink to a third or so: what is far too long now will not fit then.
    if codec.patch.len() / 16 > bytes_max {
        return false;
    }
    codec.put_streams(out);
    out.len() - start <= bytes_max
}

/// Adds every changed line to the patch.
fn scan(engine: &Engine, base: &Image, live: Live<'_>, rebuilt: &[Range<usize>], codec: &mut Codec) {
    let patch = &mut codec.patch;
    differences(&base.globals, live.globals, &mut |at, old, new| {
        let mut old = *old;
        for range in rebuilt {
            let (from, to) = (range.start.max(at), range.end.min(at + LINE));
            if from < to {
                old[from - at..to - at].copy_from_slice(&new[from - at..to - at]);
            }
        }
        if old != *new {
            patch.add(at / LINE, &old, new);
        }
    });
    let mut first = whole_lines(live.globals.len()) / LINE;
    differences(&base.heap, live.heap, &mut |at, old, new| patch.add(first + at / LINE, old, new));
    first += live.heap.len() / LINE;
    // The stack's regions end at the same place.
    let grown = live.stack.len().saturating_sub(base.stack.len());
    let gone = base.stack.len().saturating_sub(live.stack.len());
    differences(&[], &live.stack[..grown], &mut |at, old, new| patch.add(first + at / LINE, old, new));
    let (old, new) = (&base.stack[gone..], &live.stack[grown..]);
    differences(old, new, &mut |at, old, new| patch.add(first + (grown + at) / LINE, old, new));
    first += live.stack.len() / LINE;
    for part in engine.disk_layout().changed_parts(&base.disk, live.disk) {
        let old = &base.disk[part.start.min(base.disk.len())..part.end.min(base.disk.len())];
        let changed = &mut |at: usize, old: &Line, new: &Line| patch.add(first + (part.start + at) / LINE, old, new);
        differences(old, &live.disk[part.clone()], changed);
    }
}

fn put_way(out: &mut Vec<u8>, way: Option<Way>) {
    match way {
        None => out.push(GENERATOR_AS_BYTES),
        Some(Way::Refills { refills, left }) => {
            out.push(GENERATOR_REFILLED);
            put_number(out, refills);
            put_number(out, u64::from(left));
        }
        Some(Way::Seeded { seed, refills, left }) => {
            out.push(GENERATOR_SEEDED);
            out.extend_from_slice(&seed.to_le_bytes());
            put_number(out, refills);
            put_number(out, u64::from(left));
        }
    }
}

fn take_way(bytes: &mut &[u8]) -> Option<Option<Way>> {
    let tag = take_byte(bytes)?;
    let seed = match tag {
        GENERATOR_AS_BYTES => return Some(None),
        GENERATOR_REFILLED => None,
        GENERATOR_SEEDED => {
            let (seed, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*seed))
        }
        _ => return None,
    };
    let refills = take_number(bytes)?;
    let left = u32::try_from(take_number(bytes)?).ok()?;
    Some(Some(match seed {
        None => Way::Refills { refills, left },
        Some(seed) => Way::Seeded { seed, refills, left },
    }))
}

/// Leads an image on by a delta's bytes, of which nothing is believed. After an error the image is worth nothing.
pub(crate) fn apply(engine: &Engine, codec: &mut Codec, image: &mut Image, delta: &[u8]) -> Result<(), MachineError> {
    let damaged = refused("the delta is damaged");
    let mut rest = delta;
    let head = read_head(&mut rest).ok_or(refused("the delta is damaged"))?;
    let base = [&image.globals, &image.heap, &image.stack, &image.disk].map(|region| region.len() as u64);
    if head.base != base {
        return Err(refused("the delta belongs to another image"));
    }
    let [heap, stack, disk] = head.result;
    if heap > HEAP_BYTES as u64 || stack > STACK_BYTES as u64 || disk > DISK_BYTES as u64 {
        return Err(damaged);
    }
    // They are bounded by the regions, which are far below what a usize holds.
    let [heap, stack, disk] = [heap, stack, disk].map(|bytes| bytes as usize);
    for (offset, way) in engine.contexts().into_iter().zip(head.ways) {
        let context = image.globals.get_mut(offset..).and_then(<[u8]>::first_chunk_mut);
        let went = way.zip(context).is_none_or(|(way, context)| isaac::go(context, way));
        if !went {
            return Err(damaged);
        }
    }
    image.heap.resize(heap, 0);
    image.disk.resize(disk, 0);
    let gone = image.stack.len().saturating_sub(stack);
    let grown = stack.saturating_sub(image.stack.len());
    image.stack.splice(..gone, std::iter::repeat_n(0, grown));
    // A line takes at most 83 bytes of its 64.
    let streams = codec.take_streams(rest, 2 * image.bytes() as u64)?;
    patch(image, streams, head.check)
}

struct Head {
    base: [u64; 4],
    result: [u64; 3],
    ways: [Option<Way>; 2],
    check: [u8; 4],
}

fn read_head(rest: &mut &[u8]) -> Option<Head> {
    if take_byte(rest)? != VERSION {
        return None;
    }
    let mut lengths = [0; 7];
    for length in &mut lengths {
        *length = take_number(rest)?.checked_mul(LINE as u64)?;
    }
    let [globals, heap, stack, disk, new_heap, new_stack, new_disk] = lengths;
    let ways = [take_way(rest)?, take_way(rest)?];
    let (check, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(Head { base: [globals, heap, stack, disk], result: [new_heap, new_stack, new_disk], ways, check: *check })
}

fn patch(image: &mut Image, mut streams: Streams<'_>, check: [u8; 4]) -> Result<(), MachineError> {
    let damaged = || refused("the delta is damaged");
    let mut regions = [&mut image.globals, &mut image.heap, &mut image.stack, &mut image.disk]
        .map(|region| region.as_chunks_mut::<LINE>().0)
        .into_iter();
    let mut region = regions.next().ok_or_else(damaged)?;
    let mut first = 0;
    while !streams.gaps.is_empty() {
        let number = streams.next_line().ok_or_else(damaged)?;
        while number - first >= region.len() {
            first += region.len();
            region = regions.next().ok_or_else(damaged)?;
        }
        let line = region.get_mut(number - first).ok_or_else(damaged)?;
        streams.change(line).ok_or_else(damaged)?;
    }
    if !streams.is_done() || streams.check.bytes() != check {
        return Err(refused("the delta belongs to another image, or is damaged"));
    }
    Ok(())
}
