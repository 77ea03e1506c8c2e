//! What a frame looks like: as a picture, as bytes for a terminal, as a recording that other players play.
//!
//! Pure: values in, bytes out. No file, no clock; the time in a recording is counted from inputs ([`Pace`]). All of
//! it takes a [`wire::Screen`] of any content, also one whose planes are too short or hold what no game writes: bytes
//! that are no symbol are shown as `?`, and nothing of them reaches a terminal as a control sequence.
//!
//! The picture's font is Spleen, by Frederic Cambus; its licence stands in `SPLEEN.md`.

mod palette;
mod symbols;

mod cell;

mod font;
mod image;

mod ansi;
mod cast;
mod pace;
mod text;
mod ttyrec;

pub use ansi::{Painter, difference, whole};
pub use cast::Cast;
pub use cell::{Cell, cells};
pub use image::{Image, RenderError, Scale, png, rgb};
pub use pace::Pace;
pub use palette::{BACKGROUND, COLORS, CURSOR, FOREGROUND, Rgb};
pub use symbols::Symbols;
pub use text::text;
pub use ttyrec::Ttyrec;
