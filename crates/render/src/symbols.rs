use wire::{PowerOn, Profile};

/// What a byte on the screen stands for: which of NetHack's symbol sets the game writes its map with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    /// ASCII; bytes above it are letters of Latin-1.
    #[default]
    Plain,
    /// `DECgraphics`: bytes with the high bit are the DEC terminals' line drawing.
    Dec,
    /// `IBMgraphics`: bytes are code page 437.
    Ibm,
}

/// DEC's special graphics, from `0x60`.
const DEC: [char; 31] = [
    '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴',
    '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

/// Code page 437 from `0x01`, where a terminal would take control bytes.
const IBM_LOW: &str = "☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼";

/// Code page 437 from `0x80`.
const IBM_HIGH: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■ ";

/// What is shown for a byte that is no symbol.
const UNKNOWN: char = '?';

impl Symbols {
    /// The symbol set that a power-on record asks for. Only NLE's profile lets its options choose one.
    #[must_use]
    pub fn of(record: &PowerOn) -> Self {
        if record.profile == Profile::Default {
            return Self::Plain;
        }
        let words = record.options.split(',').map(str::trim);
        let parts = words.map(|option| option.split_once([':', '=']).unwrap_or((option, "")));
        // NetHack reads its options from the last to the first, so that the first one stays.
        let named = |wanted: &'static str| {
            move |(name, value): (&str, &str)| {
                let name = name.to_ascii_lowercase();
                match name.as_str() {
                    "decgraphics" | "ibmgraphics" if wanted == "symset" => Some(name),
                    _ => (name == wanted).then(|| value.trim().to_ascii_lowercase()),
                }
            }
        };
        let primary = parts.clone().find_map(named("symset")).map_or(Self::Plain, |name| Self::named(&name));
        match primary {
            Self::Plain => parts.clone().find_map(named("roguesymset")).map_or(Self::Plain, |name| Self::named(&name)),
            chosen => chosen,
        }
    }

    /// A symbol set by its name in lower case.
    fn named(name: &str) -> Self {
        match name {
            "decgraphics" | "curses" => Self::Dec,
            _ if name.starts_with("ibmgraphics") || name.starts_with("rogue") => Self::Ibm,
            _ => Self::Plain,
        }
    }

    /// The character that a byte on the screen stands for: never a control character, always one column wide.
    #[must_use]
    pub fn symbol(self, byte: u8) -> char {
        match (byte, self) {
            (0, _) => ' ',
            (0x20..=0x7e, _) => char::from(byte),
            (0x01..=0x1f, Self::Ibm) => IBM_LOW.chars().nth(usize::from(byte) - 1).unwrap_or(UNKNOWN),
            (0x7f, Self::Ibm) => '⌂',
            (0x80.., Self::Ibm) => IBM_HIGH.chars().nth(usize::from(byte) - 0x80).unwrap_or(UNKNOWN),
            (0xdf, Self::Dec) => ' ',
            (0xe0..=0xfe, Self::Dec) => DEC[usize::from(byte - 0xe0)],
            // These two have no look of their own everywhere.
            (0xa0, _) => ' ',
            (0xad, _) => '-',
            (0xa1.., _) => char::from(byte),
            _ => UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(options: &str) -> Symbols {
        let mut record = PowerOn::from_seed(wire::Seed(1));
        record.profile = Profile::Nle13;
        record.options = options.to_owned();
        Symbols::of(&record)
    }

    #[test]
    fn options_choose_the_symbols_and_the_first_one_stays() {
        assert_eq!(set("autopickup,color"), Symbols::Plain);
        assert_eq!(set("color, symset:DECgraphics"), Symbols::Dec);
        assert_eq!(set("symset=curses"), Symbols::Dec);
        assert_eq!(set("DECgraphics,symset:IBMgraphics"), Symbols::Dec);
        assert_eq!(set("symset:IBMGraphics_2,symset:DECgraphics"), Symbols::Ibm);
        assert_eq!(set("symset:plain,roguesymset:RogueEpyx"), Symbols::Ibm);
        assert_eq!(set("!DECgraphics"), Symbols::Plain);
    }

    #[test]
    fn our_own_profile_has_no_symbol_sets() {
        let mut record = PowerOn::from_seed(wire::Seed(1));
        record.options = "symset:DECgraphics".to_owned();
        assert_eq!(Symbols::of(&record), Symbols::Plain);
    }

    #[test]
    fn tables_have_their_landmarks() {
        let expected = [
            (Symbols::Plain, 0xe9, 'é'),
            (Symbols::Plain, 0x9b, '?'),
            (Symbols::Plain, 0x1b, '?'),
            (Symbols::Dec, 0xf8, '│'),
            (Symbols::Dec, 0xf1, '─'),
            (Symbols::Dec, 0xfe, '·'),
            (Symbols::Dec, 0xe1, '▒'),
            (Symbols::Dec, b'x', 'x'),
            (Symbols::Ibm, 0xb3, '│'),
            (Symbols::Ibm, 0xc4, '─'),
            (Symbols::Ibm, 0xdb, '█'),
            (Symbols::Ibm, 0xf7, '≈'),
            (Symbols::Ibm, 0x01, '☺'),
            (Symbols::Ibm, 0xff, ' '),
        ];
        for (symbols, byte, symbol) in expected {
            assert_eq!(symbols.symbol(byte), symbol, "{symbols:?} {byte:#04x}");
        }
    }

    #[test]
    fn no_byte_becomes_a_control_character() {
        for symbols in [Symbols::Plain, Symbols::Dec, Symbols::Ibm] {
            assert!((0..=255).all(|byte| !symbols.symbol(byte).is_control()), "{symbols:?}");
        }
    }
}
