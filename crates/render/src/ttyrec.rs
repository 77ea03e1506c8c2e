use wire::Screen;

use crate::{Pace, Painter, Symbols};

/// A recording in the ttyrec format, frame by frame: a header of 12 bytes (seconds, microseconds, length of what
/// follows, each 4 bytes, little-endian) and the bytes for a terminal of 80 × 24, in UTF-8.
#[derive(Clone, Debug)]
pub struct Ttyrec {
    painter: Painter,
    pace: Pace,
}

impl Ttyrec {
    /// An empty recording, which has no bytes.
    #[must_use]
    pub fn new(symbols: Symbols, pace: Pace) -> Self {
        Self { painter: Painter::new(symbols), pace }
    }

    /// The bytes of the next frame, `inputs` inputs after the recording's beginning.
    pub fn frame(&mut self, inputs: u64, screen: &Screen) -> Vec<u8> {
        let text = self.painter.paint(screen);
        let micros = self.pace.micros(inputs);
        let seconds = micros / 1_000_000;
        let header = [seconds, micros % 1_000_000, text.len() as u64];
        let mut bytes = Vec::with_capacity(12 + text.len());
        for number in header {
            bytes.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        bytes.extend(text.as_bytes());
        bytes
    }
}
