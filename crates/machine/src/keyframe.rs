//! Keyframes: whole images, compressed, the game's larger files each by itself.
//!
//! A body begins with its magic, its version, the ROM id, the lengths of the four regions in lines, how many files are
//! apart, and how long the rest is, all uncompressed; then one zstd frame with the regions, without the files that are
//! apart. Those are found by the disk's table, in the order in which they lie on the disk.

use crate::MachineError;
use crate::codec::{Codec, KeyframeBytes};
use crate::contract::{DISK_BYTES, HEAP_BYTES, STACK_BYTES};
use crate::disk::Extent;
use crate::engine::Engine;
use crate::image::{RomId, hex};
use crate::lines::{LINE, whole_lines};
use crate::regions::{Image, Live};

const MAGIC: [u8; 8] = *b"NHLABKEY";
const VERSION: u32 = 1;
/// Magic, version, ROM id, four lengths, and the number of blobs.
const HEADER_BYTES: usize = 8 + 4 + 32 + 4 * 4 + 4;
/// The shortest file that is a blob.
const BLOB_LENGTH_MIN: usize = 1_024;

const fn refused(why: &'static str) -> MachineError {
    MachineError::Image(why)
}

/// Makes a keyframe of the machine.
pub(crate) fn encode(engine: &Engine, rom_id: &RomId, codec: &mut Codec) -> Result<KeyframeBytes, MachineError> {
    let live = Live::of(engine);
    let files = engine.disk_layout().large_files(live.disk, BLOB_LENGTH_MIN);
    let mut keyframe = KeyframeBytes::default();
    for file in &files {
        let bytes = &live.disk[file.start..file.start + file.length];
        keyframe.blobs.push(codec.compress(bytes)?);
    }
    let body = &mut keyframe.body;
    body.extend_from_slice(&MAGIC);
    body.extend_from_slice(&VERSION.to_le_bytes());
    body.extend_from_slice(rom_id);
    let lengths = [live.globals, live.heap, live.stack, live.disk].map(|region| whole_lines(region.len()) / LINE);
    for number in lengths.into_iter().chain([files.len()]) {
        body.extend_from_slice(&(number as u32).to_le_bytes());
    }
    let mut plain = std::mem::take(&mut codec.plain);
    plain.clear();
    plain.extend_from_slice(live.globals);
    plain.resize(whole_lines(live.globals.len()), 0);
    plain.extend_from_slice(live.heap);
    plain.extend_from_slice(live.stack);
    let mut at = 0;
    for file in &files {
        plain.extend_from_slice(&live.disk[at..file.start]);
        at = file.start + file.capacity;
    }
    plain.extend_from_slice(&live.disk[at..]);
    let compressed = codec.compress(&plain);
    codec.plain = plain;
    body.extend_from_slice(&compressed?);
    Ok(keyframe)
}

/// Makes an image of a keyframe's bytes, of which nothing is believed.
pub(crate) fn decode(
    engine: &Engine,
    rom_id: &RomId,
    codec: &mut Codec,
    body: &[u8],
    blobs: &[&[u8]],
) -> Result<Image, MachineError> {
    let damaged = || refused("the keyframe is damaged");
    let (header, compressed) = body.split_first_chunk::<HEADER_BYTES>().ok_or_else(damaged)?;
    if header[..8] != MAGIC || header[8..12] != VERSION.to_le_bytes() {
        return Err(refused("it is no keyframe of this version"));
    }
    if header[12..44] != rom_id[..] {
        return Err(MachineError::ForeignRom { found: hex(&header[12..44]), expected: hex(rom_id) });
    }
    let number = |at: usize| header[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word) as usize);
    let [globals, heap, stack, disk] = [44, 48, 52, 56].map(|at| number(at).saturating_mul(LINE));
    let fits = globals == whole_lines(engine.globals().len())
        && heap <= HEAP_BYTES
        && stack <= STACK_BYTES
        && disk <= DISK_BYTES
        && number(60) == blobs.len();
    if !fits {
        return Err(damaged());
    }
    let mut plain = std::mem::take(&mut codec.plain);
    let read = codec.decompress(compressed, globals + heap + stack + disk, &mut plain);
    let image = read.and_then(|()| {
        let mut rest = plain.as_slice();
        let mut take = |bytes| rest.split_off(..bytes).map(<[u8]>::to_vec).ok_or_else(damaged);
        let (globals, heap, stack) = (take(globals)?, take(heap)?, take(stack)?);
        let disk = read_disk(engine, codec, rest, disk, blobs)?;
        Ok(Image { globals, heap, stack, disk })
    });
    codec.plain = plain;
    image
}

/// Puts the files that are apart back in their places.
fn read_disk(
    engine: &Engine,
    codec: &mut Codec,
    mut rest: &[u8],
    bytes: usize,
    blobs: &[&[u8]],
) -> Result<Vec<u8>, MachineError> {
    let damaged = || refused("the keyframe is damaged");
    let layout = engine.disk_layout();
    let mut disk = vec![0; bytes];
    let head = rest.split_off(..layout.head_bytes.min(rest.len())).ok_or_else(damaged)?;
    disk.get_mut(..head.len()).ok_or_else(damaged)?.copy_from_slice(head);
    let files = if blobs.is_empty() { Vec::new() } else { layout.large_files(&disk, BLOB_LENGTH_MIN) };
    if files.len() != blobs.len() {
        return Err(damaged());
    }
    let mut at = head.len();
    for (file, blob) in files.iter().zip(blobs) {
        let Extent { start, length, capacity } = *file;
        let between = rest.split_off(..start.checked_sub(at).ok_or_else(damaged)?).ok_or_else(damaged)?;
        disk.get_mut(at..start).ok_or_else(damaged)?.copy_from_slice(between);
        let mut plain = Vec::new();
        codec.decompress(blob, length, &mut plain)?;
        let place = disk.get_mut(start..start + length).filter(|place| place.len() == plain.len());
        place.ok_or_else(damaged)?.copy_from_slice(&plain);
        at = start + capacity;
    }
    let tail = disk.get_mut(at..).filter(|tail| tail.len() == rest.len()).ok_or_else(damaged)?;
    tail.copy_from_slice(rest);
    Ok(disk)
}
