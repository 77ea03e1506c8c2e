use wire::{COLUMNS, ROWS, Screen};

use crate::cell::{self, Cell, cells};
use crate::palette::dimmed;
use crate::{BACKGROUND, COLORS, CURSOR, FOREGROUND, Rgb, Symbols, font};

/// How large a picture is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// 640 × 384 pixels, 8 × 16 for each cell.
    #[default]
    One,
    /// 1280 × 768 pixels, 16 × 32 for each cell.
    Two,
}

/// A picture without compression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green and blue of each pixel, row by row from the top left: `height` × `width` × 3.
    pub bytes: Vec<u8>,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The encoder refused it.
    #[error("the picture can't be encoded: {0}")]
    Png(#[from] png::EncodingError),
}

impl Scale {
    /// Width and height of a picture in pixels.
    #[must_use]
    pub fn pixels(self) -> (usize, usize) {
        let font = font::of(self);
        (font.width * COLUMNS, font.height * ROWS)
    }
}

/// A screen as pixels, cursor included.
#[must_use]
pub fn rgb(screen: &Screen, symbols: Symbols, scale: Scale) -> Image {
    let (width, height) = scale.pixels();
    let palette = palette();
    let bytes = paint(screen, symbols, scale).into_iter().flat_map(|index| palette[usize::from(index)]).collect();
    Image { width, height, bytes }
}

/// A screen as a PNG file, cursor included: the pixels of [`rgb`], with a palette.
///
/// # Errors
/// [`RenderError::Png`], which no screen causes.
pub fn png(screen: &Screen, symbols: Symbols, scale: Scale) -> Result<Vec<u8>, RenderError> {
    let (width, height) = scale.pixels();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette().concat());
    encoder.set_compression(png::Compression::High);
    // Filters are for pictures whose neighbours are alike in value; here they are numbers of colours.
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&paint(screen, symbols, scale))?;
    writer.finish()?;
    Ok(bytes)
}

/// Places in the palette: these three, then the sixteen colours, then foreground and colours once more, dimmed.
const UNDER: u8 = 0;
const PLAIN: u8 = 1;
const BLOCK: u8 = 2;
const FIRST_COLOR: u8 = 3;
const DIM_PLAIN: u8 = FIRST_COLOR + 16;
const FIRST_DIM: u8 = DIM_PLAIN + 1;
const PALETTE: usize = FIRST_DIM as usize + 16;

fn palette() -> [Rgb; PALETTE] {
    let mut palette = [BACKGROUND; PALETTE];
    palette[usize::from(PLAIN)] = FOREGROUND;
    palette[usize::from(BLOCK)] = CURSOR;
    palette[usize::from(DIM_PLAIN)] = dimmed(FOREGROUND);
    for (number, color) in COLORS.into_iter().enumerate() {
        palette[usize::from(FIRST_COLOR) + number] = color;
        palette[usize::from(FIRST_DIM) + number] = dimmed(color);
    }
    palette
}

/// The places of foreground and background.
fn inks(cell: Cell, under_cursor: bool) -> (u8, u8) {
    if under_cursor {
        return (UNDER, BLOCK);
    }
    let ink = match (cell.color, cell.dim) {
        (None, false) => PLAIN,
        (None, true) => DIM_PLAIN,
        (Some(color), false) => FIRST_COLOR + color,
        (Some(color), true) => FIRST_DIM + color,
    };
    if cell.inverse { (UNDER, ink) } else { (ink, UNDER) }
}

/// A screen as places in the palette, one for each pixel. What blinks is drawn as it looks when it is there.
fn paint(screen: &Screen, symbols: Symbols, scale: Scale) -> Vec<u8> {
    let font = font::of(scale);
    let (width, height) = scale.pixels();
    let mut pixels = vec![UNDER; width * height];
    let cursor = cell::cursor(screen);
    let cursor = usize::from(cursor.row) * COLUMNS + usize::from(cursor.column);
    // The line lies in the space below the letters, as thick as their strokes.
    let line = font.height - font.height / 8..font.height - font.height / 16;
    for (at, cell) in cells(screen, symbols).into_iter().enumerate() {
        if cell == Cell::BLANK && at != cursor {
            continue;
        }
        let (ink, under) = inks(cell, at == cursor);
        let (top, left) = (at / COLUMNS * font.height, at % COLUMNS * font.width);
        for (row, bits) in font.rows(cell.symbol).enumerate() {
            let bits = if cell.bold { bits | bits >> 1 } else { bits };
            let bits = if cell.underline && line.contains(&row) { u16::MAX } else { bits };
            let start = (top + row) * width + left;
            for (column, pixel) in pixels[start..start + font.width].iter_mut().enumerate() {
                *pixel = if bits << column & 0x8000 == 0 { under } else { ink };
            }
        }
    }
    pixels
}
