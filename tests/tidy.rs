//! Order in the house: each failure says where and how to mend it.

use std::path::Path;

const LINES_MAX: usize = 600;

fn ends(path: &Path, endings: &[&str]) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
}

fn texts(endings: &[&str]) -> Vec<(String, String)> {
    let files = crate::files();
    assert!(files.len() > 50, "the list of files is too short to be true");
    files
        .iter()
        .filter(|path| ends(path, endings))
        .map(|path| {
            let text = std::fs::read_to_string(crate::top().join(path)).expect("a text file");
            (path.display().to_string(), text)
        })
        .collect()
}

fn none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

#[test]
fn source_files_are_small() {
    let long: Vec<_> = texts(&["rs", "c", "h", "py", "S"])
        .into_iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    none(&format!("split these files: at most {LINES_MAX} lines"), &long);
}

#[test]
fn lines_end_clean() {
    let mut found = Vec::new();
    for (path, text) in texts(&["rs", "c", "h", "S", "py", "sh", "md", "toml", "ld"]) {
        let dirty = text.lines().position(|line| line.ends_with([' ', '\t']));
        found.extend(dirty.map(|line| format!("{path}:{}: blanks at the end of the line", line + 1)));
        if !text.is_empty() && !text.ends_with('\n') {
            found.push(format!("{path}: no newline at the end"));
        }
    }
    none("clean these", &found);
}

#[test]
fn only_the_machine_is_unsafe() {
    let found: Vec<_> = texts(&["toml"])
        .into_iter()
        .filter(|(path, text)| {
            path.starts_with("crates/")
                && !path.starts_with("crates/machine/")
                && !text.contains("[lints]\nworkspace = true")
        })
        .map(|(path, _)| path)
        .filter(|path| path.ends_with("Cargo.toml"))
        .collect();
    none("take the workspace's lints, which forbid unsafe code", &found);
}

/// Words are put together here, so that this file does not hold what it looks for.
#[test]
fn nothing_is_left_undone_or_tied_to_a_machine() {
    let unwanted = [
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
        ["XX", "X:"].concat(),
        ["/ro", "ot/"].concat(),
        ["/wo", "rk/"].concat(),
        ["/tmp", "/nl"].concat(),
        ["todo", "!("].concat(),
        ["unimple", "mented!("].concat(),
    ];
    let mut found = Vec::new();
    for (path, text) in texts(&["rs", "c", "h", "S", "py", "sh", "md", "toml", "ld", "txt", "json"]) {
        for (number, line) in text.lines().enumerate() {
            if unwanted.iter().any(|word| line.contains(word)) {
                found.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    none("take these out", &found);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut found = Vec::new();
    for (path, text) in texts(&["md"]) {
        let folder = crate::top().join(&path).parent().expect("a folder").to_path_buf();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let outside = target.is_empty() || target.contains("://") || target.starts_with("mailto:");
            if !outside && !folder.join(target).exists() {
                found.push(format!("{path}: {target}"));
            }
        }
    }
    none("mend these links", &found);
}

#[test]
fn every_decision_is_listed() {
    let list = std::fs::read_to_string(crate::top().join("docs/adr/README.md")).expect("the list of decisions");
    let missing: Vec<_> = crate::files()
        .into_iter()
        .filter(|path| path.starts_with("docs/adr") && !path.ends_with("README.md"))
        .filter(|path| !list.contains(&format!("({})", path.file_name().expect("a name").to_string_lossy())))
        .map(|path| path.display().to_string())
        .collect();
    none("list these in docs/adr/README.md", &missing);
}
