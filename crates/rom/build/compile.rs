//! Compiles units on all cores, and only those whose inputs have changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};

use crate::Folders;
use crate::bios::{Bios, extension};
use crate::flags::{GCC_ONLY, include_arguments};
use crate::optimise::COUNTS;
use crate::recipe::Unit;
use crate::stamp::{Fingerprint, file_sha256, is_fresh, set};
use crate::toolchain::Toolchain;

/// Compiles for one build; remembers the digest of each file it has looked at.
pub(crate) struct Compiler<'a> {
    pub(crate) toolchain: &'a Toolchain,
    folders: &'a Folders,
    bios: &'a Bios,
    digests: Mutex<BTreeMap<PathBuf, Option<String>>>,
}

/// The folder of all objects, below the output folder.
pub(crate) const OBJECTS: &str = "objects";

/// The file of a unit below the output folder, such as `objects/game/zap.o`.
pub(crate) fn object(unit: &Unit, extension: &str) -> PathBuf {
    PathBuf::from(format!("{OBJECTS}/{}.{extension}", unit.name))
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(toolchain: &'a Toolchain, folders: &'a Folders, bios: &'a Bios) -> Self {
        Self { toolchain, folders, bios, digests: Mutex::default() }
    }

    /// Brings the objects of all units up to date; several may share a unit.
    pub(crate) fn compile<'u>(&self, units: impl IntoIterator<Item = &'u Unit>) -> Result<()> {
        let mut names = BTreeSet::new();
        let mut stale = Vec::new();
        for unit in units.into_iter().filter(|unit| names.insert(unit.name.clone())) {
            let current = self.fingerprint(unit);
            if !current.is_some_and(|key| is_fresh(&self.path(unit, "key"), &key)) {
                stale.push(unit);
            }
        }
        // The longest first, so that no core waits for one at the end.
        let bytes = |unit: &Unit| fs::metadata(self.folders.out.join(&unit.source)).map_or(0, |data| data.len());
        stale.sort_by_key(|unit| std::cmp::Reverse(bytes(unit)));
        if !stale.is_empty() {
            eprintln!("compiling {} of {} files", stale.len(), names.len());
        }
        self.compile_all(&stale)
    }

    fn compile_all(&self, stale: &[&Unit]) -> Result<()> {
        let next = AtomicUsize::new(0);
        let failures = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads().min(stale.len()) {
                scope.spawn(|| {
                    while let Some(unit) = stale.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if let Err(error) = self.compile_one(unit) {
                            failures.lock().expect("no thread panics").push(format!("{error:#}"));
                        }
                    }
                });
            }
        });
        let failures = failures.into_inner().expect("no thread panics");
        ensure!(failures.is_empty(), "{} files don't compile\n\n{}", failures.len(), failures.join("\n"));
        Ok(())
    }

    fn compile_one(&self, unit: &Unit) -> Result<()> {
        let key = self.path(unit, "key");
        if let Some(parent) = key.parent() {
            fs::create_dir_all(parent).with_context(|| format!("creating {}", parent.display()))?;
        }
        // An object without a key is compiled again, however this run ends; a report
        // of stack frames that stays from before could pass for a new one.
        for old in [&key, &self.path(unit, "su")] {
            if old.exists() {
                fs::remove_file(old).with_context(|| format!("removing {}", old.display()))?;
            }
        }
        let output = self
            .toolchain
            .command(&self.folders.out)
            .args(self.arguments(unit))
            .args(["-MD", "-MF"])
            .arg(object(unit, "d"))
            .arg("-o")
            .arg(object(unit, "o"))
            .arg("-c")
            .arg(&unit.source)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("compiling {}", unit.name))?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr));
        }
        let current = self.fingerprint(unit);
        set(&key, &current.with_context(|| format!("{}: the compiler lists no inputs", unit.name))?)
    }

    fn arguments(&self, unit: &Unit) -> Vec<String> {
        let mut arguments = unit.flags.clone();
        if self.toolchain.clang {
            arguments.retain(|argument| argument != GCC_ONLY);
        }
        arguments.extend(include_arguments(unit, &self.toolchain.headers));
        arguments
    }

    /// A digest of all that the unit's object depends on, by the list of inputs of its
    /// last compilation; `None` where there was none, or an input is gone.
    fn fingerprint(&self, unit: &Unit) -> Option<String> {
        let list = fs::read_to_string(self.path(unit, "d")).ok()?;
        if !self.path(unit, "o").is_file() {
            return None;
        }
        let mut fingerprint = Fingerprint::default();
        fingerprint.part(&self.toolchain.version);
        for argument in self.arguments(unit) {
            fingerprint.part(argument);
        }
        // A header that is new may come before the one that was used.
        let headers = self.bios.files.iter();
        for file in headers.filter(|file| extension(file) == "h") {
            fingerprint.part(file.to_string_lossy().as_bytes());
        }
        if unit.trained {
            fingerprint.part(self.digest(&Path::new(COUNTS).join(object(unit, "gcda"))).unwrap_or_default());
        }
        for input in inputs(&list) {
            fingerprint.part(&input).part(self.digest(Path::new(&input))?);
        }
        Some(fingerprint.hex())
    }

    fn digest(&self, input: &Path) -> Option<String> {
        let path = self.folders.out.join(input);
        let mut digests = self.digests.lock().expect("no thread panics");
        digests.entry(path).or_insert_with_key(|path| file_sha256(path)).clone()
    }

    fn path(&self, unit: &Unit, extension: &str) -> PathBuf {
        self.folders.out.join(object(unit, extension))
    }
}

/// The prerequisites of a make rule as compilers write it.
fn inputs(rule: &str) -> Vec<String> {
    let text = rule.replace("\\\n", " ");
    let Some((_, text)) = text.split_once(": ") else {
        return Vec::new();
    };
    let mut inputs = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = match (letter, letters.peek()) {
            ('\\', Some(' ' | '#')) | ('$', Some('$')) => letters.next(),
            _ => None,
        };
        match (escaped, inputs.last_mut()) {
            (None, _) if letter.is_whitespace() => inputs.push(String::new()),
            (_, Some(input)) => input.push(escaped.unwrap_or(letter)),
            (_, None) => {}
        }
    }
    inputs.retain(|input| !input.is_empty());
    inputs
}

/// As many as cargo allows.
#[expect(clippy::disallowed_methods, reason = "how many files are compiled at once reaches no byte")]
fn threads() -> usize {
    let allowed = std::env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok());
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    allowed.unwrap_or_else(cores).max(1)
}
