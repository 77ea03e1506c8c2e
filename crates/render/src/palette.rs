/// A colour: red, green and blue.
pub type Rgb = [u8; 3];

/// What lies under the text.
pub const BACKGROUND: Rgb = [0x12, 0x14, 0x1a];
/// Text that has no colour of its own.
pub const FOREGROUND: Rgb = [0xc9, 0xcd, 0xd6];
/// The block that is the cursor; the symbol in it has the background's colour.
pub const CURSOR: Rgb = [0xff, 0xb3, 0x47];

/// NetHack's sixteen colours, by its own numbers. Number 8 is "no colour", the foreground; black is a dark gray, or
/// it could not be seen.
pub const COLORS: [Rgb; 16] = [
    [0x6c, 0x74, 0x86], // black
    [0xe0, 0x5c, 0x55], // red
    [0x56, 0xae, 0x5a], // green
    [0xb9, 0x86, 0x42], // brown
    [0x6a, 0x8b, 0xf0], // blue
    [0xbd, 0x6f, 0xd0], // magenta
    [0x3c, 0xae, 0xb4], // cyan
    [0xa6, 0xac, 0xb8], // gray
    FOREGROUND,
    [0xff, 0x91, 0x55], // orange
    [0x86, 0xe5, 0x77], // bright green
    [0xf7, 0xe2, 0x62], // yellow
    [0x8f, 0xb8, 0xff], // bright blue
    [0xf5, 0x94, 0xee], // bright magenta
    [0x79, 0xea, 0xea], // bright cyan
    [0xff, 0xff, 0xff], // white
];

/// Half way to the background.
pub(crate) fn dimmed(color: Rgb) -> Rgb {
    let mut dimmed = color;
    for (part, below) in dimmed.iter_mut().zip(BACKGROUND) {
        *part = part.midpoint(below);
    }
    dimmed
}

/// A colour as `#rrggbb`.
pub(crate) fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(color: Rgb) -> f64 {
        let linear = color.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// 4.5 is what WCAG 2 (AA) asks of text; black may be half hidden, as it is in the game.
    #[test]
    fn every_colour_can_be_read_and_told_from_the_others() {
        for (number, color) in COLORS.into_iter().enumerate() {
            let least = if number == 0 { 3.5 } else { 4.5 };
            assert!(contrast(color, BACKGROUND) >= least, "colour {number}: {}", contrast(color, BACKGROUND));
            for (other, second) in COLORS.into_iter().enumerate().skip(number + 1) {
                let far: u32 = color.iter().zip(second).map(|(a, b)| u32::from(a.abs_diff(b))).sum();
                assert!(far >= 60, "colours {number} and {other} look alike");
            }
        }
        assert!(contrast(CURSOR, BACKGROUND) >= 7.0);
    }
}
