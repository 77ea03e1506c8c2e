//! A state as bytes: magic, version, the movie that leads to it, its image and arrays (deflated), and a digest of all.

use std::io::{Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use machine::{Arrays, Observation, SaveState, Stop};
use movie::{Act, Header, Movie};
use nle::Array;
use pyo3::prelude::*;
use wire::Key;

use crate::errors::StateError;
use crate::hub;
use crate::line::Line;
use crate::state::State;

const MAGIC: [u8; 8] = *b"NHLABPYS";
const VERSION: u32 = 1;
const DIGEST_BYTES: usize = 32;
const HEAD_BYTES: usize = 8 + 4 + 4 * 8;
/// The largest image that is unpacked: all of a machine's regions.
const IMAGE_BYTES_MAX: u64 = 128 << 20;
/// Keys between two looks whether the user wants to stop.
const KEYS_AT_ONCE: usize = 1_000;

/// What a file holds, checked as far as bytes can be.
pub(crate) struct StateFile {
    pub(crate) movie: Movie,
    pub(crate) image: Vec<u8>,
    pub(crate) seen: Box<Observation>,
}

fn refused(text: impl std::fmt::Display) -> PyErr {
    StateError::new_err(format!("not a state: {text}"))
}

fn deflated(bytes: &[u8]) -> PyResult<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

fn inflated(bytes: &[u8], length: u64) -> PyResult<Vec<u8>> {
    if length > IMAGE_BYTES_MAX {
        return Err(refused(format!("{length} bytes are too many for an image")));
    }
    let mut out = Vec::new();
    // One more than there should be, so that too many are told from enough.
    ZlibDecoder::new(bytes).take(length + 1).read_to_end(&mut out).map_err(refused)?;
    if out.len() as u64 == length { Ok(out) } else { Err(refused("an image of another length than it says")) }
}

fn observation_bytes(seen: &Observation) -> Vec<u8> {
    let (mut all, mut one) = (Vec::new(), Vec::new());
    for array in Array::ALL {
        array.bytes_into(seen, &mut one);
        all.extend_from_slice(&one);
    }
    all
}

/// Takes numbers from the front of some bytes; false when there are too few.
macro_rules! take {
    ($bytes:ident, $numbers:expr, $number:ty) => {
        for number in $numbers {
            let Some((first, rest)) = $bytes.split_first_chunk() else { return false };
            *number = <$number>::from_le_bytes(*first);
            $bytes = rest;
        }
    };
}

fn observation_from(mut bytes: &[u8], seen: &mut Observation) -> bool {
    for array in Array::ALL {
        match array {
            Array::Glyphs => take!(bytes, seen.glyphs.as_flattened_mut(), i16),
            Array::Chars => take!(bytes, seen.chars.as_flattened_mut(), u8),
            Array::Colors => take!(bytes, seen.colors.as_flattened_mut(), u8),
            Array::Specials => take!(bytes, seen.specials.as_flattened_mut(), u8),
            Array::Blstats => take!(bytes, &mut seen.blstats, i64),
            Array::Message => take!(bytes, &mut seen.message, u8),
            Array::ProgramState => take!(bytes, &mut seen.program_state, i32),
            Array::Internal => take!(bytes, &mut seen.internal, i32),
            Array::InvGlyphs => take!(bytes, &mut seen.inv_glyphs, i16),
            Array::InvLetters => take!(bytes, &mut seen.inv_letters, u8),
            Array::InvOclasses => take!(bytes, &mut seen.inv_oclasses, u8),
            Array::InvStrs => take!(bytes, seen.inv_strs.as_flattened_mut(), u8),
            Array::TtyChars => take!(bytes, seen.tty_chars.as_flattened_mut(), u8),
            Array::TtyColors => take!(bytes, seen.tty_colors.as_flattened_mut(), i8),
            Array::TtyCursor => take!(bytes, &mut seen.tty_cursor, u8),
            Array::Misc => take!(bytes, &mut seen.misc, i32),
        }
    }
    bytes.is_empty()
}

/// The bytes of a state.
pub(crate) fn write(movie: &[u8], image: &[u8], seen: &Observation) -> PyResult<Vec<u8>> {
    let (packed, arrays) = (deflated(image)?, deflated(&observation_bytes(seen))?);
    let mut out = Vec::with_capacity(HEAD_BYTES + movie.len() + packed.len() + arrays.len() + DIGEST_BYTES);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    for length in [movie.len(), packed.len(), image.len(), arrays.len()] {
        out.extend_from_slice(&(length as u64).to_le_bytes());
    }
    for part in [movie, &packed, &arrays] {
        out.extend_from_slice(part);
    }
    let digest = blake3::hash(&out);
    out.extend_from_slice(digest.as_bytes());
    Ok(out)
}

/// Reads the bytes of a state; nothing in them is run or trusted.
pub(crate) fn read(data: &[u8]) -> PyResult<StateFile> {
    let Some((body, digest)) = data.split_last_chunk::<DIGEST_BYTES>() else { return Err(refused("too short")) };
    if !body.starts_with(&MAGIC) {
        return Err(refused("it does not begin as one"));
    }
    let number = |at: usize| body.get(at..at + 8).and_then(<[u8]>::first_chunk).map(|bytes| u64::from_le_bytes(*bytes));
    match body.get(8..12).and_then(<[u8]>::first_chunk).map(|bytes| u32::from_le_bytes(*bytes)) {
        Some(VERSION) => {}
        Some(version) => return Err(refused(format!("format version {version}, this package reads {VERSION}"))),
        None => return Err(refused("too short")),
    }
    if blake3::hash(body).as_bytes() != digest {
        return Err(refused("it is damaged: its digest does not fit"));
    }
    let (Some(film), Some(packed), Some(image_bytes), Some(arrays)) = (number(12), number(20), number(28), number(36))
    else {
        return Err(refused("too short"));
    };
    let mut rest = &body[HEAD_BYTES..];
    let mut part = |length: u64| -> PyResult<&[u8]> {
        let length = usize::try_from(length).map_err(refused)?;
        let (part, after) = rest.split_at_checked(length).ok_or_else(|| refused("a part is cut short"))?;
        rest = after;
        Ok(part)
    };
    let (film, packed, arrays) = (part(film)?, part(packed)?, part(arrays)?);
    let movie = movie::read(film).map_err(refused)?.movie;
    let seen_bytes = observation_bytes(&Observation::default()).len() as u64;
    let mut seen = Box::<Observation>::default();
    if !observation_from(&inflated(arrays, seen_bytes)?, &mut seen) {
        return Err(refused("its arrays have other shapes"));
    }
    Ok(StateFile { movie, image: inflated(packed, image_bytes)?, seen })
}

/// Play that is not what the movie says, and why that may be.
fn differs(header: &Header, boundary: u64, key: Key) -> PyErr {
    let text = format!("play differs from its movie at boundary {boundary}, after {key}");
    let ours = rom::built_in().engine_id();
    if header.engine_id == ours {
        return refused(text);
    }
    refused(format!(
        "{text}: the movie was made by engine {} and this package plays engine {ours}, so use the version that made it",
        header.engine_id
    ))
}

/// Makes a state by playing the movie that leads to it, every check compared.
pub(crate) fn rebuild(py: Python<'_>, movie: &Movie) -> PyResult<State> {
    let (seat, mut stop) = hub::begin(&movie.header.power_on)?;
    let mut line = Line::default();
    let mut seen = Box::<Observation>::default();
    for act in movie.acts(KEYS_AT_ONCE) {
        py.check_signals()?;
        hub::with(&seat, |machine| {
            machine.observe_nle(&mut seen, Arrays::ALL);
            match act {
                Act::Press { at, steps } => {
                    for (boundary, step) in (at.0 + 1..).zip(steps) {
                        if stop != Stop::Boundary {
                            return Err(refused(format!("its game has ended before boundary {boundary}")));
                        }
                        stop = machine.press(step.key).map_err(crate::errors::machine)?;
                        machine.observe_nle(&mut seen, Arrays::ALL);
                        if machine.play_digest().check() != step.check {
                            return Err(differs(&movie.header, boundary, step.key));
                        }
                        line.push(*step);
                        if line.digests_due() {
                            line.mark_digests(machine.play_digest(), machine.state_digest());
                        }
                    }
                    Ok(())
                }
                Act::Reseed { at, .. } if stop != Stop::Boundary => {
                    Err(refused(format!("its game has ended before the new seeds at boundary {}", at.0)))
                }
                Act::Reseed { core, display, .. } => {
                    line.mark_reseed(core, display);
                    machine.reseed(core, display).map_err(crate::errors::machine)
                }
                Act::Compare { .. } => Ok(()),
                Act::Debug { at, args } => {
                    let edit: wire::Edit =
                        args.parse().map_err(|error| refused(format!("at boundary {at}: {error}")))?;
                    line.mark_edit(&edit);
                    machine.edit(&edit).map(drop).map_err(crate::errors::machine)
                }
            }
        })?;
    }
    let image: Arc<SaveState> = hub::copy(&seat)?;
    Ok(State { image, record: Arc::new(movie.header.power_on.clone()), line, seen, stop })
}
