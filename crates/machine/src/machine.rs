use std::cell::{RefCell, RefMut};

use rom::Rom;
use wire::{
    Edit, EndKind, Ended, Frame, Key, Message, Pending, PendingKind, PlayDigest, PowerOn, Seed, StateDigest,
    play_digest,
};

use crate::boot::{Boots, fault};
use crate::contract::{YIELD_BOOT, YIELD_EXIT, YIELD_KEY};
use crate::engine::Engine;
use crate::image::{self, RomId};
use crate::signals::{self, Caught};
use crate::{Arrays, Image, MachineError, Observation, SaveState, decode, regions};

/// Why control is back with the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The game waits for a key.
    Boundary,
    /// The game has ended.
    Ended(Ended),
}

/// The game in this process, stopped.
pub struct Machine {
    engine: Engine,
    rom_id: RomId,
    boots: Boots,
    state: State,
    reseeded: Option<[u64; 2]>,
    /// Reused for looks that want a part of a frame.
    seen: RefCell<Frame>,
}

enum State {
    Off,
    Stopped(Stop),
    /// The engine failed; its memory can't be trusted.
    Broken(Stop),
}

/// `done()`'s numbers for ends that are no deaths.
mod how {
    pub(super) const PANICKED: i32 = 11;
    pub(super) const QUIT: i32 = 13;
    pub(super) const ESCAPED: i32 = 14;
    pub(super) const ASCENDED: i32 = 15;
}

impl Machine {
    /// Maps a ROM into this process. The machine is off.
    ///
    /// # Errors
    /// A second machine in the process, addresses that are taken, a ROM of another contract.
    pub fn open(rom: &Rom) -> Result<Self, MachineError> {
        let rom_id =
            decode_id(rom.rom_id()).ok_or_else(|| MachineError::Contract("its id is no SHA-256".to_owned()))?;
        Ok(Self {
            engine: Engine::open(rom)?,
            rom_id,
            boots: Boots::default(),
            state: State::Off,
            reseeded: None,
            seen: RefCell::default(),
        })
    }

    /// Begins a new game and runs it to boundary 0.
    ///
    /// # Errors
    /// A record that is refused, before anything changes; an engine that does not come up.
    pub fn power_on(&mut self, record: &PowerOn) -> Result<Stop, MachineError> {
        record.check()?;
        self.state = State::Off;
        self.reseeded = None;
        self.boots.boot(&mut self.engine, &self.rom_id, record)?;
        Ok(self.run())
    }

    /// Presses one key and runs to the next boundary or the end.
    ///
    /// # Errors
    /// A machine that is off, has ended or is broken; nothing changes then.
    pub fn press(&mut self, key: Key) -> Result<Stop, MachineError> {
        match &self.state {
            State::Stopped(Stop::Boundary) => {}
            State::Stopped(Stop::Ended(_)) => return Err(MachineError::Ended),
            State::Off => return Err(MachineError::Off),
            State::Broken(_) => return Err(MachineError::Broken),
        }
        self.engine.mailbox_mut().key = i32::from(key.0);
        Ok(self.run())
    }

    fn run(&mut self) -> Stop {
        let caught = self.engine.run();
        let stop = match caught {
            Some(caught) => failed(caught),
            None => self.read_stop(),
        };
        let unsupported = matches!(&stop, Stop::Ended(ended) if ended.kind == EndKind::Unsupported);
        self.state = if caught.is_some() || unsupported {
            // Lets no reader follow what the game was in the middle of.
            self.engine.mailbox_mut().reason = YIELD_EXIT;
            State::Broken(stop.clone())
        } else {
            State::Stopped(stop.clone())
        };
        stop
    }

    /// What the game's memory says about why it stopped.
    fn read_stop(&self) -> Stop {
        match self.engine.mailbox().reason {
            YIELD_KEY => Stop::Boundary,
            YIELD_EXIT => Stop::Ended(self.read_end()),
            _ => Stop::Ended(Ended { kind: EndKind::Unsupported, how: None, text: fault(&self.engine), xlog: None }),
        }
    }

    fn read_end(&self) -> Ended {
        let ending = self.engine.ending();
        let xlog = self.last_line(b"xlogfile");
        let panic = self.last_line(b"paniclog");
        // In a panic the game tries to save itself first, and no `done` is told.
        let gave_up = panic.as_deref().is_some_and(|line| line.contains(": panic "));
        let kind = match ending.how {
            _ if gave_up => EndKind::Panicked,
            _ if ending.saved != 0 => EndKind::Saved,
            how::PANICKED => EndKind::Panicked,
            how::QUIT => EndKind::Quit,
            how::ESCAPED => EndKind::Escaped,
            how::ASCENDED => EndKind::Ascended,
            0..how::PANICKED => EndKind::Died,
            _ if panic.is_some() => EndKind::Panicked,
            _ => EndKind::Exited,
        };
        let death = xlog
            .as_deref()
            .and_then(|line| line.split('\t').find_map(|field| field.strip_prefix("death=")).map(str::to_owned));
        let text = match kind {
            EndKind::Panicked => panic,
            EndKind::Saved => Some("saved".to_owned()),
            _ => death,
        };
        Ended {
            kind,
            how: u8::try_from(ending.how).ok(),
            text: text.unwrap_or_else(|| format!("exit status {}", self.engine.mailbox().exit_status)),
            xlog,
        }
    }

    /// The last line of one of the game's files, tabs kept.
    fn last_line(&self, name: &[u8]) -> Option<String> {
        let files = self.engine.files();
        let file = files.iter().find(|file| file.name == name)?;
        let line = file.bytes.rsplit(|byte| *byte == b'\n').find(|line| !line.is_empty())?;
        let fields: Vec<_> = line.split(|byte| *byte == b'\t').map(decode::text).collect();
        Some(fields.join("\t"))
    }

    /// Why the machine stopped last; `None` when it is off.
    #[must_use]
    pub fn stop(&self) -> Option<&Stop> {
        match &self.state {
            State::Off => None,
            State::Stopped(stop) | State::Broken(stop) => Some(stop),
        }
    }

    /// Everything visible now, also after the end. After a failure of the engine only the screen is left.
    #[must_use]
    pub fn frame(&self) -> Frame {
        let mut frame = Frame::default();
        self.frame_into(&mut frame);
        frame
    }

    /// As [`Machine::frame`], reusing what a frame has allocated.
    pub fn frame_into(&self, frame: &mut Frame) {
        match &self.state {
            State::Off => *frame = Frame::default(),
            State::Stopped(_) => self.engine.with_frame(|bytes| {
                // Only a foreign state can lead to a frame that its own ROM writes wrong.
                if decode::frame(bytes, frame).is_err() {
                    *frame = Frame::default();
                }
            }),
            State::Broken(_) => {
                *frame = Frame::default();
                let instant = self.engine.instant();
                let [chars, colors, attributes] = self.engine.planes(&instant);
                frame.screen.chars = chars.to_vec();
                frame.screen.colors = colors.to_vec();
                frame.screen.attributes = attributes.to_vec();
                frame.turn = instant.turn;
            }
        }
    }

    /// Shows the present frame in the ROM's own form, which [`decode_frame`](crate::decode_frame) reads, and what the
    /// game waits for; no bytes when the machine is off.
    pub fn with_frame<R>(&self, read: impl FnOnce(&[u8], Option<Pending>) -> R) -> R {
        match &self.state {
            State::Stopped(_) => self.engine.with_frame(|bytes| read(bytes, decode::pending(bytes))),
            State::Off | State::Broken(_) => {
                let mut bytes = Vec::new();
                self.frame_bytes_into(&mut bytes);
                read(&bytes, None)
            }
        }
    }

    /// Appends the present frame in the ROM's own form, which [`decode_frame`](crate::decode_frame) reads; nothing when
    /// the machine is off.
    pub fn frame_bytes_into(&self, out: &mut Vec<u8>) {
        match &self.state {
            State::Off => {}
            State::Stopped(_) => self.engine.with_frame(|bytes| out.extend_from_slice(bytes)),
            State::Broken(_) => {
                let instant = self.engine.instant();
                self.engine.planes(&instant).into_iter().for_each(|plane| out.extend_from_slice(plane));
                out.extend_from_slice(&instant.turn.to_le_bytes());
            }
        }
    }

    /// Writes the wanted arrays of NLE's observation, in any profile, without a change to the machine.
    ///
    /// As in NLE, after the end only the terminal's arrays are written and the others stay as they were at the last
    /// boundary, and the inventory's arrays are left alone until the game has begun. So one observation goes with one
    /// line of play. When the machine is off or broken, nothing is written.
    pub fn observe_nle(&self, observation: &mut Observation, wanted: Arrays) {
        if let State::Stopped(_) = &self.state {
            self.engine.observe(observation, wanted);
        }
    }

    /// What the game waits for; `None` when it waits for nothing.
    #[must_use]
    pub fn pending(&self) -> Option<Pending> {
        match &self.state {
            State::Stopped(_) => self.engine.with_frame(decode::pending),
            State::Off | State::Broken(_) => None,
        }
    }

    /// The present frame in the place that is kept for such looks.
    fn look(&self) -> RefMut<'_, Frame> {
        let mut seen = self.seen.borrow_mut();
        self.frame_into(&mut seen);
        seen
    }

    /// The kind of what the game waits for, without the cost of a frame.
    #[must_use]
    pub fn pending_kind(&self) -> Option<PendingKind> {
        match &self.state {
            State::Stopped(Stop::Boundary) => PendingKind::from_number(self.engine.instant().pending),
            _ => None,
        }
    }

    /// NetHack's move counter; 0 when off.
    #[must_use]
    pub fn turn(&self) -> i64 {
        match &self.state {
            State::Off => 0,
            _ => self.engine.instant().turn,
        }
    }

    /// Appends the messages that the last key brought; true when older ones of that key are missing.
    pub fn messages_into(&self, out: &mut Vec<Message>) -> bool {
        let mut frame = self.look();
        out.append(&mut frame.messages);
        frame.messages_truncated
    }

    /// The play digest at this boundary: the same under any ROM of this engine.
    #[must_use]
    pub fn play_digest(&self) -> PlayDigest {
        let instant = self.engine.instant();
        play_digest(
            self.engine.planes(&instant),
            [instant.row, instant.column],
            instant.pending,
            instant.turn,
            &self.engine.generators(),
        )
    }

    /// The state digest at this boundary: comparable under one ROM only.
    #[must_use]
    pub fn state_digest(&self) -> StateDigest {
        image::digest(&self.engine)
    }

    /// Seeds both generators anew, as a journalled event would.
    ///
    /// # Errors
    /// A machine that is not at a boundary.
    pub fn reseed(&mut self, core: Seed, display: Seed) -> Result<(), MachineError> {
        self.at_boundary()?;
        self.engine.seed(core.0, display.0);
        self.reseeded = Some([core.0, display.0]);
        Ok(())
    }

    /// Makes an operator's edit, as a journalled event would. It draws on the game's own generators.
    ///
    /// # Errors
    /// A machine that is not at a boundary; an edit that is refused. The machine is as it was then.
    pub fn edit(&mut self, edit: &Edit) -> Result<Stop, MachineError> {
        self.at_boundary()?;
        edit.check()?;
        let (before, reseeded) = (self.save()?, self.reseeded);
        self.engine.put_edit(&edit.to_string())?;
        let stop = self.run();
        let made = self.engine.take_edit();
        if made.is_ok() && stop == Stop::Boundary {
            return Ok(stop);
        }
        self.load(&before)?;
        self.reseeded = reseeded;
        Err(MachineError::EditRefused(match (made, stop) {
            (_, Stop::Ended(ended)) => format!("it would end the game: {}", ended.text),
            (made, Stop::Boundary) => made.err().unwrap_or_default(),
        }))
    }

    fn at_boundary(&self) -> Result<(), MachineError> {
        match &self.state {
            State::Stopped(Stop::Boundary) => Ok(()),
            State::Stopped(Stop::Ended(_)) => Err(MachineError::Ended),
            State::Off => Err(MachineError::Off),
            State::Broken(_) => Err(MachineError::Broken),
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn rom_id(&self) -> &RomId {
        &self.rom_id
    }

    /// The seeds of the last [`Machine::reseed`] since the machine was loaded.
    pub(crate) fn reseeded(&self) -> Option<[u64; 2]> {
        self.reseeded
    }

    /// Refuses a machine that is off or broken.
    pub(crate) fn savable(&self) -> Result<(), MachineError> {
        match &self.state {
            State::Stopped(_) => Ok(()),
            State::Off => Err(MachineError::Off),
            State::Broken(_) => Err(MachineError::Broken),
        }
    }

    /// How many bytes [`Machine::save_image`] writes now.
    #[must_use]
    pub fn image_bytes(&self) -> usize {
        image::bytes(&self.engine)
    }

    /// A copy of the machine.
    ///
    /// # Errors
    /// A machine that is off or broken.
    pub fn save(&self) -> Result<SaveState, MachineError> {
        let mut state = SaveState::default();
        self.save_into(&mut state)?;
        Ok(state)
    }

    /// As [`Machine::save`], reusing what a state has allocated.
    ///
    /// # Errors
    /// A machine that is off or broken.
    pub fn save_into(&self, state: &mut SaveState) -> Result<(), MachineError> {
        self.savable()?;
        let bytes = state.bytes_mut();
        bytes.resize(image::bytes(&self.engine), 0);
        image::write(&self.engine, &self.rom_id, bytes)?;
        Ok(())
    }

    /// Writes the machine's image and returns its length in bytes.
    ///
    /// # Errors
    /// A machine that is off or broken; a buffer that is too small.
    pub fn save_image(&self, out: &mut [u8]) -> Result<usize, MachineError> {
        self.savable()?;
        image::write(&self.engine, &self.rom_id, out)
    }

    /// Makes this machine what the saved one was.
    ///
    /// # Errors
    /// A state of another ROM, or one that is damaged; the machine is as it was then.
    pub fn load(&mut self, state: &SaveState) -> Result<Stop, MachineError> {
        self.load_image(state.as_bytes())
    }

    /// As [`Machine::load`], from an image's bytes. An image holds code pointers: one that nobody vouches for belongs
    /// into a sandboxed worker.
    ///
    /// # Errors
    /// As [`Machine::load`].
    pub fn load_image(&mut self, bytes: &[u8]) -> Result<Stop, MachineError> {
        let parts = image::check(&self.engine, &self.rom_id, bytes)?;
        if self.engine.mailbox_in(parts.globals).reason == YIELD_BOOT {
            return Err(MachineError::Image("its game has not begun"));
        }
        image::load(&mut self.engine, &parts);
        Ok(self.loaded())
    }

    /// Makes this machine what an image is. With `descends` the machine must have come from that very image, or be at
    /// it: files that were not written since are then left alone, which is faster.
    ///
    /// # Errors
    /// An image that is of no boundary; the machine is as it was then.
    pub fn load_from(&mut self, image: &Image, descends: bool) -> Result<Stop, MachineError> {
        regions::check(&self.engine, image)?;
        // A key that failed may have left a file half written.
        let descends = descends && !matches!(self.state, State::Broken(_));
        regions::load(&mut self.engine, image, descends);
        Ok(self.loaded())
    }

    fn loaded(&mut self) -> Stop {
        let stop = self.read_stop();
        self.state = State::Stopped(stop.clone());
        self.reseeded = None;
        stop
    }

    /// How often the watchdog of this process has looked so far: four times in what one key may take, and at least once
    /// in a second of CPU time. Asking costs next to nothing, where a clock costs a tenth of a short key.
    #[must_use]
    pub fn ticks() -> u64 {
        signals::ticks()
    }

    /// Sets how much CPU time one key may take before its game is given up, in milliseconds.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_key_cpu_limit(&mut self, limit_ms: u64) -> Result<(), MachineError> {
        self.engine.handlers.set_limit(limit_ms)
    }
}

fn failed(caught: Caught) -> Stop {
    let (kind, text) = match caught {
        Caught::Fault(signal) => (EndKind::Crashed, signals::name(signal)),
        Caught::Watchdog => (EndKind::Hung, "one key took too long"),
    };
    Stop::Ended(Ended { kind, how: None, text: text.to_owned(), xlog: None })
}

fn decode_id(text: &str) -> Option<RomId> {
    let mut id = [0; 32];
    for (byte, at) in id.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(id)
}
