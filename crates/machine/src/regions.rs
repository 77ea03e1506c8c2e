//! A machine's memory as four regions in whole lines, live or as an image.

use crate::contract::{DISK_BYTES, HEAP_BYTES, STACK_BYTES, YIELD_EXIT, YIELD_KEY};
use crate::engine::Engine;
use crate::image::{Lengths, stack_offset, used};
use crate::lines::whole_lines;
use crate::{Machine, MachineError};

/// The image of a state, uncompressed: to be loaded, or to be the base of deltas.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Image {
    pub(crate) globals: Vec<u8>,
    pub(crate) heap: Vec<u8>,
    /// Ends where the stack begins.
    pub(crate) stack: Vec<u8>,
    pub(crate) disk: Vec<u8>,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({} bytes)", self.bytes())
    }
}

impl Image {
    /// How many bytes it takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.globals.len() + self.heap.len() + self.stack.len() + self.disk.len()
    }
}

/// The live regions, in whole lines but for the globals.
#[derive(Clone, Copy)]
pub(crate) struct Live<'a> {
    pub(crate) globals: &'a [u8],
    pub(crate) heap: &'a [u8],
    pub(crate) stack: &'a [u8],
    pub(crate) disk: &'a [u8],
}

impl<'a> Live<'a> {
    pub(crate) fn of(engine: &'a Engine) -> Self {
        let lengths = Lengths::of(engine);
        Self {
            globals: engine.globals(),
            heap: &engine.heap()[..whole_lines(lengths.heap)],
            stack: &engine.stack()[STACK_BYTES - whole_lines(lengths.stack)..],
            disk: &engine.disk()[..whole_lines(lengths.disk)],
        }
    }
}

impl Machine {
    /// The machine's image.
    ///
    /// # Errors
    /// A machine that is off or broken.
    pub fn image(&self) -> Result<Image, MachineError> {
        self.savable()?;
        let live = Live::of(self.engine());
        let mut globals = Vec::with_capacity(whole_lines(live.globals.len()));
        globals.extend_from_slice(live.globals);
        globals.resize(whole_lines(live.globals.len()), 0);
        Ok(Image { globals, heap: live.heap.to_vec(), stack: live.stack.to_vec(), disk: live.disk.to_vec() })
    }
}

/// Refuses an image that is of no boundary of this machine.
pub(crate) fn check(engine: &Engine, image: &Image) -> Result<(), MachineError> {
    let refused = |why| Err(MachineError::Image(why));
    if image.globals.len() != whole_lines(engine.globals().len()) {
        return refused("its globals have another size");
    }
    let agrees = |region: &[u8], capacity: usize| {
        region.len() <= capacity && region.len() >= 8 && whole_lines(used(region, capacity)) == region.len()
    };
    if !agrees(&image.heap, HEAP_BYTES) || !agrees(&image.disk, DISK_BYTES) {
        return refused("its heap or disk does not agree with its length");
    }
    let mailbox = engine.mailbox_in(&image.globals);
    let stack = STACK_BYTES - stack_offset(mailbox.stack_pointer);
    if !matches!(mailbox.reason, YIELD_KEY | YIELD_EXIT) || stack == 0 || whole_lines(stack) != image.stack.len() {
        return refused("it is of no boundary");
    }
    Ok(())
}

/// Copies a checked image in; what the machine had beyond it becomes zero. With `descends` the machine has come from
/// this image since it was loaded, so that files that were not written since are there already.
pub(crate) fn load(engine: &mut Engine, image: &Image, descends: bool) {
    let before = Lengths::of(engine);
    let globals = engine.globals().len();
    engine.globals_mut().copy_from_slice(&image.globals[..globals]);
    fill(engine.heap_mut(), &image.heap, before.heap);
    if descends {
        let parts = engine.disk_layout().changed_parts(&image.disk, Live::of(engine).disk);
        let disk = engine.disk_mut();
        for part in parts {
            let end = part.end.min(image.disk.len());
            if part.start < end {
                disk[part.start..end].copy_from_slice(&image.disk[part.start..end]);
            }
        }
        fill_up(disk, image.disk.len(), before.disk);
    } else {
        fill(engine.disk_mut(), &image.disk, before.disk);
    }
    let stack = engine.stack_mut();
    let start = STACK_BYTES - image.stack.len();
    let start_before = STACK_BYTES - before.stack;
    if start_before < start {
        stack[start_before..start].fill(0);
    }
    stack[start..].copy_from_slice(&image.stack);
}

fn fill(region: &mut [u8], part: &[u8], used_before: usize) {
    region[..part.len()].copy_from_slice(part);
    fill_up(region, part.len(), used_before);
}

fn fill_up(region: &mut [u8], used: usize, used_before: usize) {
    if used_before > used {
        region[used..used_before].fill(0);
    }
}
