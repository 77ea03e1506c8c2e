use machine::Observation;
use serde::{Deserialize, Deserializer, de};
use sha2::{Digest as _, Sha256};

/// An array of the observation, by NLE's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are NLE's own")]
pub enum Array {
    Glyphs,
    Chars,
    Colors,
    Specials,
    Blstats,
    Message,
    ProgramState,
    Internal,
    InvGlyphs,
    InvLetters,
    InvOclasses,
    InvStrs,
    TtyChars,
    TtyColors,
    TtyCursor,
    Misc,
}

/// The SHA-256 of an array's bytes in C order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest(pub [u8; 32]);

impl Array {
    /// All of them, in NLE's order.
    pub const ALL: [Self; 16] = [
        Self::Glyphs,
        Self::Chars,
        Self::Colors,
        Self::Specials,
        Self::Blstats,
        Self::Message,
        Self::ProgramState,
        Self::Internal,
        Self::InvGlyphs,
        Self::InvLetters,
        Self::InvOclasses,
        Self::InvStrs,
        Self::TtyChars,
        Self::TtyColors,
        Self::TtyCursor,
        Self::Misc,
    ];

    /// NLE's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Glyphs => "glyphs",
            Self::Chars => "chars",
            Self::Colors => "colors",
            Self::Specials => "specials",
            Self::Blstats => "blstats",
            Self::Message => "message",
            Self::ProgramState => "program_state",
            Self::Internal => "internal",
            Self::InvGlyphs => "inv_glyphs",
            Self::InvLetters => "inv_letters",
            Self::InvOclasses => "inv_oclasses",
            Self::InvStrs => "inv_strs",
            Self::TtyChars => "tty_chars",
            Self::TtyColors => "tty_colors",
            Self::TtyCursor => "tty_cursor",
            Self::Misc => "misc",
        }
    }

    /// NumPy's name of its type.
    #[must_use]
    pub fn dtype(self) -> &'static str {
        match self {
            Self::Glyphs | Self::InvGlyphs => "int16",
            Self::Blstats => "int64",
            Self::ProgramState | Self::Internal | Self::Misc => "int32",
            Self::TtyColors => "int8",
            _ => "uint8",
        }
    }

    /// Its shape.
    #[must_use]
    pub fn shape(self) -> &'static [usize] {
        match self {
            Self::Glyphs | Self::Chars | Self::Colors | Self::Specials => &[21, 79],
            Self::Blstats => &[27],
            Self::Message => &[256],
            Self::ProgramState => &[6],
            Self::Internal => &[9],
            Self::InvGlyphs | Self::InvLetters | Self::InvOclasses => &[55],
            Self::InvStrs => &[55, 80],
            Self::TtyChars | Self::TtyColors => &[24, 80],
            Self::TtyCursor => &[2],
            Self::Misc => &[3],
        }
    }

    /// Writes its bytes, little-endian in C order, into an empty buffer.
    pub fn bytes_into(self, seen: &Observation, out: &mut Vec<u8>) {
        out.clear();
        match self {
            Self::Glyphs => out.extend(seen.glyphs.as_flattened().iter().flat_map(|glyph| glyph.to_le_bytes())),
            Self::InvGlyphs => out.extend(seen.inv_glyphs.iter().flat_map(|glyph| glyph.to_le_bytes())),
            Self::Blstats => out.extend(seen.blstats.iter().flat_map(|number| number.to_le_bytes())),
            Self::ProgramState => out.extend(seen.program_state.iter().flat_map(|number| number.to_le_bytes())),
            Self::Internal => out.extend(seen.internal.iter().flat_map(|number| number.to_le_bytes())),
            Self::Misc => out.extend(seen.misc.iter().flat_map(|number| number.to_le_bytes())),
            Self::TtyColors => out.extend(seen.tty_colors.as_flattened().iter().map(|color| color.to_le_bytes()[0])),
            Self::Chars => out.extend_from_slice(seen.chars.as_flattened()),
            Self::Colors => out.extend_from_slice(seen.colors.as_flattened()),
            Self::Specials => out.extend_from_slice(seen.specials.as_flattened()),
            Self::Message => out.extend_from_slice(&seen.message),
            Self::InvLetters => out.extend_from_slice(&seen.inv_letters),
            Self::InvOclasses => out.extend_from_slice(&seen.inv_oclasses),
            Self::InvStrs => out.extend_from_slice(seen.inv_strs.as_flattened()),
            Self::TtyChars => out.extend_from_slice(seen.tty_chars.as_flattened()),
            Self::TtyCursor => out.extend_from_slice(&seen.tty_cursor),
        }
    }
}

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        let mut digest = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
            return Err(de::Error::custom("a digest is 64 lower-case hexadecimal digits"));
        }
        for (byte, at) in digest.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(de::Error::custom)?;
        }
        Ok(Self(digest))
    }
}
