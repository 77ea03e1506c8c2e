//! Spleen's bitmaps, read from the console font files that the crate `spleen-font` carries.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::Scale;

/// A font whose glyphs all have one size.
pub(crate) struct Font {
    /// Columns of a glyph, 8 or 16.
    pub(crate) width: usize,
    /// Rows of a glyph.
    pub(crate) height: usize,
    bitmaps: &'static [u8],
    places: BTreeMap<char, usize>,
}

static SMALL: LazyLock<Font> =
    LazyLock::new(|| Font::psf1(spleen_font::FONT_8X16).expect("the font of 8 × 16 pixels is whole"));
static LARGE: LazyLock<Font> =
    LazyLock::new(|| Font::psf2(spleen_font::FONT_16X32).expect("the font of 16 × 32 pixels is whole"));

/// The font of a scale: drawn for its size, not blown up.
pub(crate) fn of(scale: Scale) -> &'static Font {
    match scale {
        Scale::One => &SMALL,
        Scale::Two => &LARGE,
    }
}

impl Font {
    /// Rows of a glyph from the top, the leftmost pixel in the highest bit. A character that the font does not have
    /// looks like a question mark.
    pub(crate) fn rows(&self, symbol: char) -> impl Iterator<Item = u16> {
        let bytes = self.width / 8;
        let length = bytes * self.height;
        let place = self.places.get(&symbol).or_else(|| self.places.get(&'?')).copied().unwrap_or(0);
        let bitmap = self.bitmaps.get(place * length..(place + 1) * length).unwrap_or_default();
        bitmap.chunks_exact(bytes).map(|row| match row {
            [left] => u16::from(*left) << 8,
            [left, right] => u16::from_be_bytes([*left, *right]),
            _ => 0,
        })
    }

    /// A PC Screen Font of version 1: glyphs of 8 columns; then for each its characters, 2 bytes each and `ffff`.
    fn psf1(file: &'static [u8]) -> Option<Self> {
        let ([0x36, 0x04, mode, height], rest) = file.split_first_chunk()? else { return None };
        let (height, glyphs) = (usize::from(*height), if mode & 1 == 1 { 512 } else { 256 });
        let (bitmaps, table) = rest.split_at_checked(glyphs * height)?;
        let words: Vec<u16> = table.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
        let mut places = BTreeMap::new();
        for (place, words) in words.split(|word| *word == 0xffff).take(glyphs).enumerate() {
            // From `fffe` on there are sequences of characters, which no cell holds.
            let single = words.iter().take_while(|word| **word != 0xfffe);
            places.extend(single.filter_map(|word| Some((char::from_u32(u32::from(*word))?, place))));
        }
        Some(Self { width: 8, height, bitmaps, places })
    }

    /// A PC Screen Font of version 2: a header of 32 bytes; glyphs; for each its characters in UTF-8 and `ff`.
    fn psf2(file: &'static [u8]) -> Option<Self> {
        let (header, _) = file.as_chunks::<4>();
        let word = |at: usize| header.get(at).map(|bytes| u32::from_le_bytes(*bytes) as usize);
        let (start, glyphs, length) = (word(2)?, word(4)?, word(5)?);
        let (height, width) = (word(6)?, word(7)?);
        let fits = word(0)? == 0x864a_b572 && width.is_multiple_of(8) && width <= 16 && length == width / 8 * height;
        let (bitmaps, table) = file.get(start..)?.split_at_checked(glyphs * length).filter(|_| fits)?;
        let mut places = BTreeMap::new();
        for (place, bytes) in table.split(|byte| *byte == 0xff).take(glyphs).enumerate() {
            let single = bytes.split(|byte| *byte == 0xfe).next().unwrap_or_default();
            places.extend(std::str::from_utf8(single).ok()?.chars().map(|symbol| (symbol, place)));
        }
        Some(Self { width, height, bitmaps, places })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Symbols;

    /// What neither size draws; all else that a symbol set writes a map with is there.
    const ABSENT: &str = "αΣστΘδφε►◄∟␉␌␍␊␤␋⎺⎻⎼⎽≠";

    #[test]
    fn both_fonts_draw_what_a_screen_holds() {
        for (scale, width, height) in [(Scale::One, 8, 16), (Scale::Two, 16, 32)] {
            let font = of(scale);
            assert_eq!((font.width, font.height), (width, height));
            for symbols in [Symbols::Plain, Symbols::Dec, Symbols::Ibm] {
                for byte in 0..=255 {
                    let symbol = symbols.symbol(byte);
                    assert!(font.places.contains_key(&symbol) || ABSENT.contains(symbol), "{symbol} at {scale:?}");
                }
            }
        }
    }

    #[test]
    fn glyphs_are_the_right_ones() {
        for scale in [Scale::One, Scale::Two] {
            let font = of(scale);
            let ink = |symbol| font.rows(symbol).map(u16::count_ones).sum::<u32>();
            assert_eq!(ink(' '), 0);
            assert_eq!(ink('█') as usize, font.width * font.height);
            assert_eq!(font.rows('@').count(), font.height);
            let looks: std::collections::BTreeSet<Vec<u16>> =
                (' '..='~').map(|symbol| font.rows(symbol).collect()).collect();
            assert_eq!(looks.len(), 95, "every character of ASCII has its own look at {scale:?}");
            let middle = font.rows('│').all(|row| row != 0 && row == font.rows('│').next().unwrap_or(0));
            assert!(middle, "a wall is one unbroken line");
            assert!(font.rows('Ω').ne(font.rows('?')) && font.rows('\u{1f600}').eq(font.rows('?')));
        }
    }

    #[test]
    fn left_is_left() {
        for scale in [Scale::One, Scale::Two] {
            let font = of(scale);
            let right = 0x8000 >> (font.width - 1);
            let touches = |symbol, bit: u16| font.rows(symbol).any(|row| row & bit != 0);
            assert!(touches('┤', 0x8000) && !touches('┤', right), "{scale:?}");
            assert!(touches('├', right) && !touches('├', 0x8000), "{scale:?}");
        }
    }
}
