use serde_json::{Value, json};
use wire::{COLUMNS, Key, ROWS, Screen};

use crate::palette::hex;
use crate::{BACKGROUND, COLORS, FOREGROUND, Pace, Painter, Rgb, Symbols};

/// A recording in the asciicast format, version 2, line by line: JSON, each line with its newline.
#[derive(Clone, Debug)]
pub struct Cast {
    painter: Painter,
    pace: Pace,
}

impl Cast {
    /// A recording without lines: [`Cast::header`] comes first.
    #[must_use]
    pub fn new(symbols: Symbols, pace: Pace) -> Self {
        Self { painter: Painter::new(symbols), pace }
    }

    /// The first line: size, title, and the colours of our own pictures.
    #[must_use]
    pub fn header(title: &str) -> String {
        let palette: Vec<String> = (0..16).map(|color| hex(terminal_color(color))).collect();
        let header = json!({
            "version": 2,
            "width": COLUMNS,
            "height": ROWS,
            "title": title,
            "env": { "TERM": "xterm-256color" },
            "theme": { "fg": hex(FOREGROUND), "bg": hex(BACKGROUND), "palette": palette.join(":") },
        });
        format!("{header}\n")
    }

    /// The line of the next frame, `inputs` inputs after the recording's beginning.
    pub fn frame(&mut self, inputs: u64, screen: &Screen) -> String {
        let text = self.painter.paint(screen);
        self.event(inputs, "o", text)
    }

    /// A line that tells a key, which players pass over. Bytes above ASCII stand as letters of Latin-1.
    #[must_use]
    pub fn key(&self, inputs: u64, key: Key) -> String {
        self.event(inputs, "i", char::from(key.0).to_string())
    }

    fn event(&self, inputs: u64, kind: &str, text: String) -> String {
        let micros = self.pace.micros(inputs);
        let text = Value::String(text);
        format!("[{}.{:06}, \"{kind}\", {text}]\n", micros / 1_000_000, micros % 1_000_000)
    }
}

/// A colour as a terminal numbers it. The terminal's black is what lies under the text; NetHack's is bright black.
fn terminal_color(number: usize) -> Rgb {
    match number {
        0 => BACKGROUND,
        8 => COLORS[0],
        other => COLORS[other],
    }
}
