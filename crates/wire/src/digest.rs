use serde::{Deserialize, Serialize};

/// Why a text is no digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a digest: give {digits} hexadecimal digits")]
pub struct DigestError {
    given: String,
    digits: usize,
}

/// What a boundary plays like under any ROM: XXH3-128 of frame v1 and both random generators.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlayDigest(pub [u8; 16]);

/// What a machine's memory is at a boundary under one ROM: BLAKE3 of the canonical image.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateDigest(pub [u8; 32]);

/// The first 32 bits of a play digest: what a movie holds for every input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Check(pub u32);

impl PlayDigest {
    /// The part that a movie holds for every input.
    #[must_use]
    pub fn check(&self) -> Check {
        let [a, b, c, d, ..] = self.0;
        Check(u32::from_le_bytes([a, b, c, d]))
    }
}

impl StateDigest {
    /// The digest of a canonical image.
    #[must_use]
    pub fn from_hasher(hasher: &blake3::Hasher) -> Self {
        Self(*hasher.finalize().as_bytes())
    }
}

fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex<const N: usize>(text: &str) -> Result<[u8; N], DigestError> {
    let refused = || DigestError { given: text.chars().take(80).collect(), digits: 2 * N };
    if text.len() != 2 * N || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(refused());
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| refused())?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| refused())?;
    }
    Ok(bytes)
}

macro_rules! hex_text {
    ($digest:ident) => {
        impl std::fmt::Display for $digest {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&to_hex(&self.0))
            }
        }
        impl std::fmt::Debug for $digest {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($digest), "({})"), self)
            }
        }
        impl std::str::FromStr for $digest {
            type Err = DigestError;
            fn from_str(text: &str) -> Result<Self, DigestError> {
                from_hex(text).map(Self)
            }
        }
        // Text where people read it, bytes between processes.
        impl Serialize for $digest {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
            }
        }
        impl<'de> Deserialize<'de> for $digest {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
                } else {
                    Deserialize::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}
hex_text!(PlayDigest);
hex_text!(StateDigest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_survive_their_text() {
        let digest = PlayDigest(*b"0123456789abcdef");
        assert_eq!(digest.to_string().parse::<PlayDigest>().unwrap(), digest);
        assert_eq!(digest.check(), Check(u32::from_le_bytes(*b"0123")));
        for text in ["", "00", &"0".repeat(31), &"g".repeat(32), &"é".repeat(16)] {
            assert!(text.parse::<PlayDigest>().is_err(), "{text:?}");
        }
    }
}
