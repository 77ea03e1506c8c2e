//! Runs the executable in a directory of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// An empty directory in which the executable is run.
pub(crate) struct Bed(TempDir);

/// What a run came to.
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bed {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a directory"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn dir(&self) -> &Path {
        self.0.path()
    }

    /// The names of all files that are left, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the directory");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs with these arguments, separated by blanks, and nothing on standard input.
    pub(crate) fn run(&self, arguments: &str) -> Ran {
        let output = Command::new(executable())
            .args(arguments.split_whitespace())
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .output()
            .expect("the executable runs");
        Ran::of(&output)
    }

    /// Runs and demands an exit status.
    pub(crate) fn expect(&self, status: i32, arguments: &str) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.status, Some(status), "{arguments}\n{}\n{}", ran.out, ran.err);
        ran
    }

    /// Records a short game of the explorer's.
    pub(crate) fn record(&self, name: &str, seed: u64, keys: u64) -> PathBuf {
        self.expect(0, &format!("movie record --seed {seed} --role valkyrie --keys {keys} -o {name}"));
        self.path(name)
    }
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        Self { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

pub(crate) fn executable() -> &'static str {
    env!("CARGO_BIN_EXE_nethack-lab")
}
