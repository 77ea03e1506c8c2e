//! Tests of the whole house.

mod crates;
mod surroundings;
mod tidy;

use std::path::{Path, PathBuf};

/// The top of the repository.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lies below the top").to_path_buf()
}

/// The files that the repository holds, below its top, as git lists them; without git, all but build output.
fn files() -> Vec<PathBuf> {
    let list = std::process::Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(top())
        .output();
    let listed = list.ok().filter(|list| list.status.success()).map(|list| {
        String::from_utf8_lossy(&list.stdout)
            .lines()
            .map(PathBuf::from)
            .filter(|file| top().join(file).is_file())
            .collect()
    });
    listed.unwrap_or_else(|| {
        let mut found = Vec::new();
        walk(&top(), &mut found);
        found
    })
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && name != ".git" {
            walk(&path, found);
        } else if path.is_file()
            && let Ok(below) = path.strip_prefix(top())
        {
            found.push(below.to_path_buf());
        }
    }
}
