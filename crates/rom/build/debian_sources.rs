//! Derives a private apt source for Debian trixie's source packages from the
//! machine's own apt sources: the same mirror, the same key.

/// One `deb-src` source in deb822 form, without its field separator line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source(pub(crate) String);

/// Suites that mark a mirror as Debian's main archive. Security and update
/// archives carry other suites, third-party ones too.
const SUITES: [&str; 10] =
    ["buster", "bullseye", "bookworm", "trixie", "forky", "oldstable", "stable", "testing", "unstable", "sid"];

/// Fields of a deb822 source that are set anew; all others (the key above all)
/// are taken over.
const REPLACED_FIELDS: [&str; 7] = ["types", "uris", "suites", "components", "enabled", "architectures", "languages"];

/// Options of a one-line source that carry over, with their deb822 names.
const OPTIONS: [(&str, &str); 5] = [
    ("signed-by", "Signed-By"),
    ("trusted", "Trusted"),
    ("check-valid-until", "Check-Valid-Until"),
    ("allow-insecure", "Allow-Insecure"),
    ("by-hash", "By-Hash"),
];

/// The sources that the text of a `.sources` file gives.
pub(crate) fn from_deb822(text: &str) -> Vec<Source> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines.split(|line| line.trim().is_empty()).filter_map(from_stanza).collect()
}

fn from_stanza(lines: &[&str]) -> Option<Source> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in lines {
        if line.starts_with([' ', '\t']) {
            // A continuation: an embedded key block, or a list over many lines.
            let (_, value) = fields.last_mut()?;
            value.push('\n');
            value.push_str(line);
        } else {
            let (name, value) = line.split_once(':')?;
            fields.push((name.trim().to_string(), value.trim().to_string()));
        }
    }
    let field = |wanted: &str| {
        let found = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map_or("", |(_, value)| value.as_str())
    };
    let words = |wanted: &str| field(wanted).split_whitespace();
    let disabled = ["no", "false", "without", "off", "disable"].contains(&field("enabled"));
    if disabled || !is_debian(words("suites"), words("components")) {
        return None;
    }
    let uri = words("uris").next()?;
    let kept = fields.iter().filter(|(name, _)| !REPLACED_FIELDS.contains(&name.to_ascii_lowercase().as_str()));
    Some(source(uri, kept.map(|(name, value)| (name.as_str(), value.as_str()))))
}

/// The sources that the text of a `sources.list` file gives.
pub(crate) fn from_one_line(text: &str) -> Vec<Source> {
    text.lines().filter_map(from_line).collect()
}

fn from_line(line: &str) -> Option<Source> {
    let line = line.split('#').next()?.trim();
    let rest = line.strip_prefix("deb-src").or_else(|| line.strip_prefix("deb"))?;
    if !rest.starts_with([' ', '\t', '[']) {
        return None;
    }
    let rest = rest.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(inside) => inside.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace();
    let (uri, suite) = (words.next()?, words.next()?);
    if !is_debian([suite].into_iter(), words) {
        return None;
    }
    let kept = options.split_whitespace().filter_map(|option| {
        let (name, value) = option.split_once('=')?;
        let (_, field) = OPTIONS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known))?;
        Some((*field, value))
    });
    Some(source(uri, kept))
}

fn is_debian<'a>(mut suites: impl Iterator<Item = &'a str>, mut components: impl Iterator<Item = &'a str>) -> bool {
    suites.any(|suite| SUITES.contains(&suite)) && components.any(|component| component == "main")
}

fn source<'a>(uri: &str, kept: impl Iterator<Item = (&'a str, &'a str)>) -> Source {
    let mut text = format!("Types: deb-src\nURIs: {uri}\nSuites: trixie\nComponents: main\n");
    for (name, value) in kept {
        text.push_str(&format!("{name}: {value}\n"));
    }
    Source(text)
}
