//! States as few bytes: keyframes and deltas.

use zstd::bulk::{Compressor, Decompressor};

use crate::patch::{Patch, Streams, put_number, take_byte, take_number};
use crate::regions::Image;
use crate::{Machine, MachineError, delta, keyframe};

/// zstd's fastest level that is not worse for it.
const LEVEL: i32 = 1;
const STREAMS_PLAIN: u8 = 0;
const STREAMS_ZSTD: u8 = 1;

/// A whole state, compressed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyframeBytes {
    /// All but the larger files of the game.
    pub body: Vec<u8>,
    /// Those files, each by itself, so that equal files are equal bytes.
    pub blobs: Vec<Vec<u8>>,
}

/// What making and reading keyframes and deltas keeps for the next time. The same input gives the same bytes, whatever
/// it was used for before.
#[derive(Default)]
pub struct Codec {
    compressor: Option<Compressor<'static>>,
    decompressor: Option<Decompressor<'static>>,
    pub(crate) patch: Patch,
    pub(crate) plain: Vec<u8>,
    streams: Vec<u8>,
}

const UNREADABLE: MachineError = MachineError::Image("its compressed bytes are damaged");

fn system(source: std::io::Error) -> MachineError {
    MachineError::System { what: "compress a state", source }
}

impl Codec {
    pub(crate) fn compress(&mut self, bytes: &[u8]) -> Result<Vec<u8>, MachineError> {
        if self.compressor.is_none() {
            self.compressor = Some(Compressor::new(LEVEL).map_err(system)?);
        }
        let compressor = self.compressor.as_mut().ok_or(UNREADABLE)?;
        compressor.compress(bytes).map_err(system)
    }

    /// Reads at most so many bytes into a buffer, in place of what is in it.
    pub(crate) fn decompress(&mut self, bytes: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), MachineError> {
        if self.decompressor.is_none() {
            self.decompressor = Some(Decompressor::new().map_err(system)?);
        }
        let decompressor = self.decompressor.as_mut().ok_or(UNREADABLE)?;
        out.clear();
        out.reserve(max);
        decompressor.decompress_to_buffer(bytes, out).map_err(|_| UNREADABLE)?;
        if out.len() > max { Err(UNREADABLE) } else { Ok(()) }
    }

    /// Appends the patch's streams.
    pub(crate) fn put_streams(&mut self, out: &mut Vec<u8>) {
        let mut joined = std::mem::take(&mut self.streams);
        joined.clear();
        let Patch { gaps, words, masks, bytes, .. } = &self.patch;
        let streams = [gaps, words, masks, bytes];
        streams.into_iter().for_each(|stream| joined.extend_from_slice(stream));
        let compressed = self.compress(&joined).ok().filter(|compressed| compressed.len() < joined.len());
        out.push(if compressed.is_some() { STREAMS_ZSTD } else { STREAMS_PLAIN });
        for stream in [&self.patch.gaps, &self.patch.words, &self.patch.masks, &self.patch.bytes] {
            put_number(out, stream.len() as u64);
        }
        out.extend_from_slice(compressed.as_ref().unwrap_or(&joined));
        self.streams = joined;
    }

    /// Reads what [`Codec::put_streams`] has written.
    pub(crate) fn take_streams<'a>(
        &'a mut self,
        mut rest: &'a [u8],
        bytes_max: u64,
    ) -> Result<Streams<'a>, MachineError> {
        let form = take_byte(&mut rest).ok_or(UNREADABLE)?;
        let mut lengths = [0; 4];
        let mut total = 0_u64;
        for length in &mut lengths {
            let number = take_number(&mut rest).ok_or(UNREADABLE)?;
            total = total.saturating_add(number);
            *length = usize::try_from(number).map_err(|_| UNREADABLE)?;
        }
        let total = usize::try_from(total.min(bytes_max + 1)).map_err(|_| UNREADABLE)?;
        if total as u64 > bytes_max {
            return Err(UNREADABLE);
        }
        let mut plain = match form {
            STREAMS_PLAIN => rest,
            STREAMS_ZSTD => {
                let mut joined = std::mem::take(&mut self.streams);
                let read = self.decompress(rest, total, &mut joined);
                self.streams = joined;
                read?;
                self.streams.as_slice()
            }
            _ => return Err(UNREADABLE),
        };
        if plain.len() != total {
            return Err(UNREADABLE);
        }
        let mut streams = [&[][..]; 4];
        for (stream, length) in streams.iter_mut().zip(lengths) {
            *stream = plain.split_off(..length).ok_or(UNREADABLE)?;
        }
        Ok(Streams::new(streams))
    }
}

impl Machine {
    /// Makes a keyframe of the machine.
    ///
    /// # Errors
    /// A machine that is off or broken.
    pub fn keyframe(&self, codec: &mut Codec) -> Result<KeyframeBytes, MachineError> {
        self.savable()?;
        keyframe::encode(self.engine(), self.rom_id(), codec)
    }

    /// Makes an image of a keyframe's bytes: the one of the machine that the keyframe was made of. Any bytes may be
    /// tried. Whether it is of a boundary shows when it is loaded.
    ///
    /// # Errors
    /// Bytes that are no keyframe of this ROM.
    pub fn decode_keyframe(&self, codec: &mut Codec, body: &[u8], blobs: &[&[u8]]) -> Result<Image, MachineError> {
        keyframe::decode(self.engine(), self.rom_id(), codec, body, blobs)
    }

    /// Appends what the machine differs in from an image that it has come from since it was loaded; false, and what was
    /// appended is worth nothing, when that takes more than `bytes_max`.
    ///
    /// # Errors
    /// A machine that is off or broken.
    pub fn delta(
        &self,
        codec: &mut Codec,
        base: &Image,
        bytes_max: usize,
        out: &mut Vec<u8>,
    ) -> Result<bool, MachineError> {
        self.savable()?;
        Ok(delta::encode(self.engine(), base, self.reseeded(), codec, bytes_max, out))
    }

    /// Leads an image on by a delta that was made against it. Any bytes may be tried. After an error the image is worth
    /// nothing.
    ///
    /// # Errors
    /// Bytes that are no delta, or one against another image.
    pub fn apply(&self, codec: &mut Codec, image: &mut Image, delta: &[u8]) -> Result<(), MachineError> {
        delta::apply(self.engine(), codec, image, delta)
    }
}
