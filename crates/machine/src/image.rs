//! Images: a machine's whole memory as bytes, with a header that is checked before anything moves.

use wire::StateDigest;

use crate::MachineError;
use crate::contract::{DISK_BYTES, HEAP_BYTES, STACK_BASE, STACK_BYTES, YIELD_EXIT, YIELD_KEY};
use crate::engine::Engine;

const MAGIC: [u8; 8] = *b"NHLABIMG";
const VERSION: u32 = 1;
/// Magic, version, padding, ROM id, and the lengths of globals, heap, stack and disk.
const HEADER_BYTES: usize = 8 + 4 + 4 + 32 + 4 * 8;

/// The binary form of a ROM id.
pub(crate) type RomId = [u8; 32];

/// A copy of a machine's image at a boundary.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SaveState {
    bytes: Vec<u8>,
}

impl std::fmt::Debug for SaveState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SaveState({} bytes)", self.bytes.len())
    }
}

impl SaveState {
    /// Takes bytes for a state; they are checked when it is loaded.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// The image with its header.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

/// The lengths of an image's four parts.
#[derive(Clone, Copy)]
pub(crate) struct Lengths {
    pub(crate) globals: usize,
    pub(crate) heap: usize,
    pub(crate) stack: usize,
    pub(crate) disk: usize,
}

impl Lengths {
    fn total(self) -> usize {
        HEADER_BYTES + self.globals + self.heap + self.stack + self.disk
    }

    /// What a machine's image would have now.
    pub(crate) fn of(engine: &Engine) -> Self {
        Self {
            globals: engine.globals().len(),
            heap: used(engine.heap(), HEAP_BYTES),
            stack: STACK_BYTES - stack_offset(engine.mailbox().stack_pointer),
            disk: used(engine.disk(), DISK_BYTES),
        }
    }
}

/// A region's first word says how many bytes of it are used.
pub(crate) fn used(region: &[u8], capacity: usize) -> usize {
    let used = region.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    usize::try_from(used).map_or(capacity, |used| used.min(capacity))
}

/// Where in the stack's region a stack pointer points; its end if it points elsewhere.
pub(crate) fn stack_offset(pointer: u64) -> usize {
    usize::try_from(pointer)
        .ok()
        .and_then(|pointer| pointer.checked_sub(STACK_BASE))
        .map_or(STACK_BYTES, |offset| offset.min(STACK_BYTES))
}

/// How many bytes [`write`] needs.
pub(crate) fn bytes(engine: &Engine) -> usize {
    Lengths::of(engine).total()
}

/// Copies a machine's image out.
pub(crate) fn write(engine: &Engine, rom_id: &RomId, out: &mut [u8]) -> Result<usize, MachineError> {
    let lengths = Lengths::of(engine);
    let needed = lengths.total();
    let given = out.len();
    let Some(out) = out.get_mut(..needed) else {
        return Err(MachineError::Space { needed, given });
    };
    let (header, body) = out.split_at_mut(HEADER_BYTES);
    write_header(header, rom_id, lengths);
    let parts = [
        engine.globals(),
        &engine.heap()[..lengths.heap],
        &engine.stack()[STACK_BYTES - lengths.stack..],
        &engine.disk()[..lengths.disk],
    ];
    let mut rest = body;
    for part in parts {
        let (here, after) = rest.split_at_mut(part.len());
        here.copy_from_slice(part);
        rest = after;
    }
    Ok(needed)
}

fn write_header(header: &mut [u8], rom_id: &RomId, lengths: Lengths) {
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].fill(0);
    header[16..48].copy_from_slice(rom_id);
    let parts = [lengths.globals, lengths.heap, lengths.stack, lengths.disk];
    for (word, length) in header[48..].chunks_exact_mut(8).zip(parts) {
        word.copy_from_slice(&(length as u64).to_le_bytes());
    }
}

/// The parts of a checked image.
pub(crate) struct Parts<'a> {
    pub(crate) globals: &'a [u8],
    heap: &'a [u8],
    stack: &'a [u8],
    disk: &'a [u8],
}

/// Checks an image against a machine, without a change to either.
pub(crate) fn check<'a>(engine: &Engine, rom_id: &RomId, image: &'a [u8]) -> Result<Parts<'a>, MachineError> {
    let refused = |why| Err(MachineError::Image(why));
    let Some((header, body)) = image.split_at_checked(HEADER_BYTES) else {
        return refused("it is shorter than a header");
    };
    if header[..8] != MAGIC {
        return refused("it does not begin like one");
    }
    if header[8..12] != VERSION.to_le_bytes() {
        return refused("it has another version");
    }
    if header[16..48] != rom_id[..] {
        return Err(MachineError::ForeignRom { found: hex(&header[16..48]), expected: hex(rom_id) });
    }
    let mut rest = body;
    let mut parts = [&[][..]; 4];
    for (word, part) in header[48..].chunks_exact(8).zip(&mut parts) {
        let length = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let taken = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
        let Some((here, after)) = taken else {
            return refused("it is cut short");
        };
        (*part, rest) = (here, after);
    }
    let [globals, heap, stack, disk] = parts;
    if !rest.is_empty() {
        return refused("bytes follow it");
    }
    if globals.len() != engine.globals().len() {
        return refused("its globals have another size");
    }
    if !whole(heap, HEAP_BYTES) || !whole(disk, DISK_BYTES) {
        return refused("its heap or disk does not agree with its length");
    }
    let mailbox = engine.mailbox_in(globals);
    if !matches!(mailbox.reason, YIELD_KEY | YIELD_EXIT | crate::contract::YIELD_BOOT)
        || stack.is_empty()
        || stack_offset(mailbox.stack_pointer) != STACK_BYTES.saturating_sub(stack.len())
    {
        return refused("it is of no boundary");
    }
    Ok(Parts { globals, heap, stack, disk })
}

/// Whether a region's part is as long as its first word says, which is not more than the region.
fn whole(part: &[u8], capacity: usize) -> bool {
    part.len() >= 8 && part.len() <= capacity && {
        let word = part.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        word == part.len() as u64
    }
}

/// Copies a checked image in. What the machine had beyond it becomes zero, as it would be had the machine only ever
/// run to this boundary.
pub(crate) fn load(engine: &mut Engine, parts: &Parts<'_>) {
    let before = Lengths::of(engine);
    engine.globals_mut().copy_from_slice(parts.globals);
    fill(engine.heap_mut(), parts.heap, before.heap);
    fill(engine.disk_mut(), parts.disk, before.disk);
    let stack = engine.stack_mut();
    let start = STACK_BYTES - parts.stack.len();
    let start_before = STACK_BYTES - before.stack;
    if start_before < start {
        stack[start_before..start].fill(0);
    }
    stack[start..].copy_from_slice(parts.stack);
}

fn fill(region: &mut [u8], part: &[u8], used_before: usize) {
    region[..part.len()].copy_from_slice(part);
    if used_before > part.len() {
        region[part.len()..used_before].fill(0);
    }
}

/// Empties a machine for power-on: globals as linked, everything else zero.
pub(crate) fn clear(engine: &mut Engine) {
    let before = Lengths::of(engine);
    engine.heap_mut()[..before.heap].fill(0);
    engine.disk_mut()[..before.disk].fill(0);
    engine.stack_mut().fill(0);
    let linked = engine.linked().to_vec();
    let (data, rest) = engine.globals_mut().split_at_mut(linked.len());
    data.copy_from_slice(&linked);
    rest.fill(0);
}

/// The digest of the canonical image: globals, heap and stack, then the files by name, so that where the disk keeps
/// them does not matter.
pub(crate) fn digest(engine: &Engine) -> StateDigest {
    let lengths = Lengths::of(engine);
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(engine.globals());
    part(&engine.heap()[..lengths.heap]);
    part(&engine.stack()[STACK_BYTES - lengths.stack..]);
    for file in engine.files() {
        part(file.name);
        // The bytes of a read-only file are the ROM's, which both digests are compared under.
        part(if file.read_only { &[] } else { file.bytes });
    }
    StateDigest::from_hasher(&hasher)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
