use std::hash::{DefaultHasher, Hasher};

/// A part of the page.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) bytes: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! asset {
    ($name:literal, $media_type:expr) => {
        Asset { name: $name, media_type: $media_type, bytes: include_str!(concat!("../assets/", $name)) }
    };
}

/// The page itself.
pub(crate) const PAGE: Asset = asset!("index.html", "text/html; charset=utf-8");

/// What it is made of.
pub(crate) const PARTS: [Asset; 12] = [
    asset!("dom.js", SCRIPT),
    asset!("feed.js", SCRIPT),
    asset!("main.js", SCRIPT),
    asset!("panels.js", SCRIPT),
    asset!("replay.js", SCRIPT),
    asset!("terminal.js", SCRIPT),
    asset!("timeline.js", SCRIPT),
    asset!("tree.js", SCRIPT),
    asset!("colors.css", STYLE),
    asset!("page.css", STYLE),
    asset!("terminal.css", STYLE),
    asset!("icon.svg", "image/svg+xml"),
];

impl Asset {
    /// Its tag, quoted, as in the header: the same for the same bytes.
    pub(crate) fn etag(&self) -> String {
        let mut hasher = DefaultHasher::new();
        hasher.write(self.bytes.as_bytes());
        format!("\"{:016x}\"", hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_comes_from_elsewhere_and_nothing_is_inline() {
        for asset in PARTS.iter().chain([&PAGE]) {
            for wrong in
                ["https://", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "@import"]
            {
                assert!(!asset.bytes.contains(wrong), "{} holds {wrong}", asset.name);
            }
        }
        for wrong in ["style=", " onclick", " onload", "<style", "javascript:", "<script>"] {
            assert!(!PAGE.bytes.contains(wrong), "the page holds {wrong}");
        }
        for part in PARTS {
            let address = format!("/assets/{}", part.name);
            let used = PAGE.bytes.contains(&address) || PARTS.iter().any(|other| other.bytes.contains(part.name));
            assert!(used, "{} is used nowhere", part.name);
        }
    }
}
