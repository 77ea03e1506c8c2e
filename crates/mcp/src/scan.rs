/// Finds the `id` of a JSON-RPC message that is too long to be kept, byte by byte, so that its sender gets an answer.
///
/// It looks for the key `id` of the outermost object and keeps its value when that is a number or a short string
/// without escapes. It judges nothing else.
#[derive(Debug, Default)]
pub(crate) struct IdScanner {
    depth: u32,
    text: Option<Vec<u8>>,
    escaped: bool,
    /// The last whole string at depth 1, where a key may stand.
    key: Option<Vec<u8>>,
    /// Set once `"id":` has been read, until its value ends.
    value: Option<Vec<u8>>,
    found: Option<Vec<u8>>,
}

/// The longest id that is kept, quotes included.
const ID_BYTES_MAX: usize = 128;

impl IdScanner {
    /// Takes the next bytes of the message.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.found.is_some() {
                return;
            }
            self.step(byte);
        }
    }

    /// The id as JSON, where one was found.
    pub(crate) fn id(&self) -> Option<serde_json::Value> {
        let value: serde_json::Value = serde_json::from_slice(self.found.as_ref()?).ok()?;
        (value.is_string() || value.is_number()).then_some(value)
    }

    fn step(&mut self, byte: u8) {
        if let Some(value) = &mut self.value {
            let in_text = value.first() == Some(&b'"') && (value.len() == 1 || value.last() != Some(&b'"'));
            let ends = matches!(byte, b',' | b'}') && !in_text;
            if ends || value.len() >= ID_BYTES_MAX {
                self.found = self.value.take();
            } else if !byte.is_ascii_whitespace() || in_text {
                value.push(byte);
            }
            return;
        }
        if let Some(text) = &mut self.text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.key = self.text.take().filter(|_| self.depth == 1),
                // A key that is longer than `id` is none that matters.
                _ if text.len() < 3 => text.push(byte),
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.text = Some(Vec::new()),
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' if self.depth == 1 && self.key.as_deref() == Some(b"id") => self.value = Some(Vec::new()),
            _ => {}
        }
        if !byte.is_ascii_whitespace() && byte != b'"' {
            self.key = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_outermost_id_is_found_wherever_it_stands() {
        for (line, id) in [
            (r#"{"id":5,"method":"x"}"#, Some(json!(5))),
            (r#"{"method":"x","params":{"id":7,"a":["id",{"id":1}]},"id" : "abc, }" }"#, Some(json!("abc, }"))),
            (r#"{"a":"\"id\":3","id":-1}"#, Some(json!(-1))),
            (r#"{"idx":4,"i":"id","id":6}"#, Some(json!(6))),
            (r#"{"params":{"id":7}}"#, None),
            (r#"{"id":null,"x":1}"#, None),
            (r#"{"id":{"id":3}}"#, None),
            ("garbage", None),
            ("", None),
        ] {
            let mut scanner = IdScanner::default();
            for chunk in line.as_bytes().chunks(3) {
                scanner.feed(chunk);
            }
            assert_eq!(scanner.id(), id, "{line}");
        }
    }
}
