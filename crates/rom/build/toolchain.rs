//! The C compiler, and the linker that it drives.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::Folders;
use crate::optimise::{Level, TRAINER, WHOLE};
use crate::process::{hermetic, run};
use crate::stamp::write_if_changed;

/// The triple that the ROM is compiled for, whatever libc the host's Rust uses.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

const NO_COMPILER: &str = "no C compiler was found; install gcc and binutils, or set CC";

/// Environment variables that choose the compiler.
pub(crate) const VARIABLES: [&str; 4] = ["CC", "HOST_CC", "CC_x86_64-unknown-linux-gnu", "CC_x86_64_unknown_linux_gnu"];

/// A file as the ROM has them: with no library under it, and for training with the
/// one function that writes counts without an operating system (GCC 12 and newer).
const PROBE: &str = "\
int count;
void probe(void (**function)(void)) {
    count++;
    (*function)();
}
#ifdef TRAINER
void profile_write(void);
void keep(void) { profile_write(); }
void abort(void) { for (;;); }
void *calloc() { return 0; }
#endif
";
const PROBE_FLAGS: [&str; 7] = ["-std=gnu11", "-w", "-O2", "-fno-pie", "-no-pie", "-nostdlib", "-Wl,-e,probe"];
/// The compiler's library for counts; to be named after what uses it.
pub(crate) const LIBGCOV: &str = "-lgcov";

/// A compiler of the GCC or Clang family.
pub(crate) struct Toolchain {
    path: PathBuf,
    /// Whether it is Clang, which knows not quite the same options.
    pub(crate) clang: bool,
    /// Version lines of compiler and linker.
    pub(crate) version: String,
    /// Folders with the compiler's own headers, such as stddef.h.
    pub(crate) headers: Vec<PathBuf>,
    /// The highest level that it can build.
    pub(crate) level_max: Level,
}

impl Toolchain {
    /// Finds the compiler as crate `cc` does: CC and its relatives, else `cc`. Its
    /// idea of flags is not used, for CFLAGS must not reach the ROM.
    ///
    /// What it can do is tried out in the output folder.
    pub(crate) fn find(folders: &Folders) -> Result<Self> {
        let tool = cc::Build::new()
            .cargo_metadata(false)
            .cargo_warnings(false)
            .target(TRIPLE)
            .host(TRIPLE)
            .opt_level(2)
            .try_get_compiler()
            .context(NO_COMPILER)?;
        let mut found = Self {
            path: tool.path().to_path_buf(),
            clang: tool.is_like_clang(),
            version: String::new(),
            headers: Vec::new(),
            level_max: Level::Plain,
        };
        if !found.clang && !tool.is_like_gnu() {
            bail!("{} is neither GCC nor Clang", found.path.display());
        }
        let compiler = found.ask(&["--version"]).context(NO_COMPILER)?;
        let linker =
            found.ask(&["-nostdlib", "-Wl,--version"]).context("no linker was found; is binutils installed?")?;
        found.version = version_text(&compiler, &linker, found.clang);
        found.headers = found.find_headers()?;
        found.level_max = found.find_level_max(folders)?;
        Ok(found)
    }

    /// A call of the compiler that depends on its arguments only.
    pub(crate) fn command(&self, folder: &Path) -> Command {
        hermetic(&self.path, folder)
    }

    fn ask(&self, arguments: &[&str]) -> Result<String> {
        run(self.command(Path::new("/")).args(arguments))
    }

    /// Tries out what the higher levels need. Clang's ways to them are others, and
    /// nothing here is made for them.
    fn find_level_max(&self, folders: &Folders) -> Result<Level> {
        if self.clang {
            return Ok(Level::Plain);
        }
        let folder = &folders.out;
        let [source, program] = ["probe.c", "probe"].map(|name| folder.join(name));
        write_if_changed(&source, PROBE.as_bytes())?;
        let probe = || {
            let mut command = self.command(folder);
            command.args(PROBE_FLAGS).arg("-o").arg(&program).arg(&source);
            command
        };
        if run(probe().args(WHOLE)).is_err() {
            return Ok(Level::Plain);
        }
        let counts = folders.krate.join("training/profile.c");
        let can_train = run(probe().args(TRAINER).arg("-DTRAINER").arg(counts).arg(LIBGCOV)).is_ok();
        Ok(if can_train { Level::Trained } else { Level::Whole })
    }

    fn find_headers(&self) -> Result<Vec<PathBuf>> {
        let answers = if self.clang {
            vec![Path::new(self.ask(&["-print-resource-dir"])?.trim()).join("include")]
        } else {
            let names = ["-print-file-name=include", "-print-file-name=include-fixed"];
            let answers = names.iter().map(|name| self.ask(&[name]));
            answers.map(|answer| Ok(PathBuf::from(answer?.trim()))).collect::<Result<_>>()?
        };
        // What GCC doesn't find it gives back as a bare name.
        Ok(answers.into_iter().filter(|path| path.is_absolute() && path.is_dir()).collect())
    }
}

/// One line for both. GCC begins its line with the name that it was called by, and
/// `cc` and `gcc` are the same compiler.
fn version_text(compiler: &str, linker: &str, clang: bool) -> String {
    let first = |text: &str| text.lines().next().unwrap_or_default().trim().to_string();
    let compiler = first(compiler);
    let compiler = match compiler.split_once(' ') {
        Some((_, rest)) if !clang => format!("gcc {rest}"),
        _ => compiler,
    };
    let text = format!("{compiler}, {}", first(linker));
    text.chars().filter(|letter| matches!(letter, ' '..='~')).collect()
}
