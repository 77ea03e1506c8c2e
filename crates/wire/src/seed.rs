use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A 64-bit seed. In text it is a string, decimal or `0x…`, since JSON numbers above 2^53 get rounded on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed(pub u64);

/// Why a text is no seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a seed: give a decimal or 0x… number from 0 to 18446744073709551615")]
pub struct SeedError {
    given: String,
}

impl std::str::FromStr for Seed {
    type Err = SeedError;

    fn from_str(text: &str) -> Result<Self, SeedError> {
        let digits = |s: &str, radix: u32| -> Option<u64> {
            (!s.is_empty() && s.len() <= 20 && s.chars().all(|c| c.is_digit(radix)))
                .then(|| u64::from_str_radix(s, radix).ok())
                .flatten()
        };
        text.strip_prefix("0x")
            .map_or_else(|| digits(text, 10), |hex| digits(hex, 16))
            .map(Self)
            .ok_or_else(|| SeedError { given: text.chars().take(40).collect() })
    }
}

impl std::fmt::Display for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { serializer.serialize_u64(self.0) }
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            text.parse().map_err(de::Error::custom)
        } else {
            u64::deserialize(deserializer).map(Self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_exact_or_refused() {
        for (text, value) in [
            ("0", 0),
            ("1", 1),
            ("2147483647", (1 << 31) - 1),
            ("4294967295", u64::from(u32::MAX)),
            ("9007199254740993", (1 << 53) + 1),
            ("18446744073709551615", u64::MAX),
            ("0x0", 0),
            ("0xffffffffffffffff", u64::MAX),
            ("0xFF", 255),
        ] {
            let seed: Seed = text.parse().unwrap();
            assert_eq!(seed.0, value);
            let json = serde_json::to_string(&seed).unwrap();
            assert_eq!(serde_json::from_str::<Seed>(&json).unwrap(), seed);
        }
        for text in [
            "",
            "-1",
            "+1",
            "42.0",
            "1e3",
            " 1",
            "1 ",
            "0x",
            "0x1ffffffffffffffff",
            "18446744073709551616",
            "seed",
            "0X1f",
            "१",
        ] {
            assert!(text.parse::<Seed>().is_err(), "{text:?}");
        }
        assert!(serde_json::from_str::<Seed>("42").is_err());
    }
}
