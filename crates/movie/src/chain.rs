/// The digest over all lines so far, of which every line carries the first 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chain(u64);

/// What stands before the digits in a line.
const BEFORE: &str = ",\"chain\":\"";
/// What stands after them.
const AFTER: &str = "\"}";
/// How many bytes of a line are its chain field.
const SUFFIX_BYTES: usize = BEFORE.len() + 16 + AFTER.len();

impl std::fmt::Display for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Chain {
    /// The chain after one more line, whose text without the chain field is `body`.
    #[must_use]
    pub(crate) fn after(self, body: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.to_string().as_bytes());
        hasher.update(body.as_bytes());
        let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
        Self(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }

    /// Adds a line to `text`: `body` with the chain field in it, and a newline. The chain goes on from it.
    pub(crate) fn push_line(&mut self, text: &mut String, body: &str) {
        *self = self.after(body);
        text.push_str(body.strip_suffix('}').unwrap_or(body));
        text.push_str(BEFORE);
        text.push_str(&self.to_string());
        text.push_str(AFTER);
        text.push('\n');
    }
}

/// The text of a line without its chain field, and the chain that it states. `None` when it ends in another way.
pub(crate) fn split(line: &str) -> Option<(String, Chain)> {
    let (head, suffix) = line.split_at_checked(line.len().checked_sub(SUFFIX_BYTES)?)?;
    let digits = suffix.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    let canonical = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if !digits.bytes().all(canonical) {
        return None;
    }
    let chain = u64::from_str_radix(digits, 16).ok().map(Chain)?;
    Some((format!("{head}}}"), chain))
}

/// True when a text without a newline goes on after what could be the end of a line: no tear leaves that.
pub(crate) fn runs_past_line(tail: &[u8]) -> bool {
    tail.windows(SUFFIX_BYTES)
        .position(|window| window.starts_with(BEFORE.as_bytes()) && window.ends_with(AFTER.as_bytes()))
        .is_some_and(|start| start + SUFFIX_BYTES < tail.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_splits_into_what_it_was_made_of() {
        let (mut chain, mut text) = (Chain::default(), String::new());
        chain.push_line(&mut text, r#"{"a":{"b":1}}"#);
        let line = text.strip_suffix('\n').unwrap();
        let (body, stated) = split(line).unwrap();
        assert_eq!((body.as_str(), stated), (r#"{"a":{"b":1}}"#, chain));
        assert_eq!(stated, Chain::default().after(&body));
        assert!(!runs_past_line(line.as_bytes()));
        assert!(runs_past_line(format!("{line}x").as_bytes()));
    }

    #[test]
    fn other_ends_are_no_chain() {
        for line in [
            "",
            "{}",
            r#"{"chain":"0123456789abcdef"}"#,
            r#"{"a":1,"chain":"0123456789ABCDEF"}"#,
            r#"{"a":1,"chain":"+123456789abcdef"}"#,
            r#"{"a":1,"chain":"0123456789abcde"}"#,
            r#"{"a":1,"chain":"0123456789abcdef"} "#,
            "ééééééééééééééééééééééééééééééé",
        ] {
            assert!(split(line).is_none(), "{line}");
        }
    }
}
