//! Boot images: the game with its options read and nothing random done yet, from which a new game takes microseconds.

use wire::{PowerOn, Profile};

use crate::MachineError;
use crate::contract::{
    OPTIONS_BYTES, POWER_DEBUG, POWER_FIXED_DATE, POWER_LEVEL_SEED, POWER_NLE, POWER_RESEED, YIELD_BOOT, YIELD_FAULT,
};
use crate::engine::Engine;
use crate::image::{self, RomId};
use crate::signals;

/// How many boot images are kept.
const KEPT_MAX: usize = 4;

/// What a boot image depends on; clock and seeds come after it.
#[derive(Clone, PartialEq, Eq)]
struct Cause {
    options: String,
    flags: u32,
}

/// The boot images of the last few options texts, the latest last.
#[derive(Default)]
pub(crate) struct Boots {
    kept: Vec<(Cause, Vec<u8>)>,
}

fn flag(flag: u32, is_set: bool) -> u32 {
    if is_set { flag } else { 0 }
}

/// The flags that the game asks for before its seeds come.
fn flags(record: &PowerOn) -> u32 {
    flag(POWER_DEBUG, record.debug)
        | flag(POWER_NLE, record.profile.is_nle())
        | flag(POWER_FIXED_DATE, record.profile == Profile::Nle13FixMoonPhase)
}

/// Writes what comes after the boot image: clock and seeds.
fn seed(engine: &mut Engine, record: &PowerOn) {
    let mailbox = engine.mailbox_mut();
    mailbox.clock = record.clock.seconds();
    mailbox.seed_core = record.core_seed.0;
    mailbox.seed_display = record.display_seed.0;
    mailbox.seed_level = record.level_seed.map_or(0, |seed| seed.0);
    mailbox.flags |= flag(POWER_LEVEL_SEED, record.level_seed.is_some()) | flag(POWER_RESEED, record.reseed);
}

impl Boots {
    /// Brings a machine to where the game asks for its seeds, and gives them.
    pub(crate) fn boot(&mut self, engine: &mut Engine, rom_id: &RomId, record: &PowerOn) -> Result<(), MachineError> {
        let cause = Cause { options: record.options_text(), flags: flags(record) };
        if let Some(place) = self.kept.iter().position(|(kept, _)| *kept == cause) {
            let latest = self.kept.remove(place);
            let parts = image::check(engine, rom_id, &latest.1)?;
            image::load(engine, &parts);
            seed(engine, record);
            self.kept.push(latest);
            return Ok(());
        }
        cold(engine, &cause)?;
        let mut bytes = vec![0; image::bytes(engine)];
        image::write(engine, rom_id, &mut bytes)?;
        if self.kept.len() == KEPT_MAX {
            self.kept.remove(0);
        }
        self.kept.push((cause, bytes));
        seed(engine, record);
        Ok(())
    }
}

/// Boots from nothing.
fn cold(engine: &mut Engine, cause: &Cause) -> Result<(), MachineError> {
    let options = cause.options.as_bytes();
    if options.len() >= OPTIONS_BYTES {
        return Err(MachineError::Boot(format!("its options of {} bytes are too long", options.len())));
    }
    image::clear(engine);
    let mailbox = engine.mailbox_mut();
    mailbox.options[..options.len()].copy_from_slice(options);
    mailbox.flags = cause.flags;
    engine.power_on();
    match engine.run() {
        Some(signals::Caught::Fault(signal)) => Err(MachineError::Boot(signals::name(signal).to_owned())),
        Some(signals::Caught::Watchdog) => Err(MachineError::Boot("it hung".to_owned())),
        None => match engine.mailbox().reason {
            YIELD_BOOT => Ok(()),
            YIELD_FAULT => Err(MachineError::Boot(fault(engine))),
            _ => Err(MachineError::Options(complaint(engine))),
        },
    }
}

/// The BIOS's diagnosis.
pub(crate) fn fault(engine: &Engine) -> String {
    let text = &engine.mailbox().fault;
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    crate::decode::text(&text[..end])
}

/// What stands on the screen of a game that stopped to complain of its options.
fn complaint(engine: &Engine) -> String {
    let [chars, ..] = engine.planes(&engine.instant());
    let printable = |byte: &u8| if (0x21..0x7f).contains(byte) { char::from(*byte) } else { ' ' };
    let words: String = chars.iter().map(printable).collect();
    let words: Vec<_> = words.split_whitespace().collect();
    words.join(" ").chars().take(300).collect()
}
