//! The C compiler, and the linker that it drives.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{hermetic, run};

/// The triple that the ROM is compiled for, whatever libc the host's Rust uses.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

const NO_COMPILER: &str = "no C compiler was found; install gcc and binutils, or set CC";

/// Environment variables that choose the compiler.
pub(crate) const VARIABLES: [&str; 4] = ["CC", "HOST_CC", "CC_x86_64-unknown-linux-gnu", "CC_x86_64_unknown_linux_gnu"];

/// A compiler of the GCC or Clang family.
pub(crate) struct Toolchain {
    path: PathBuf,
    /// Whether it is Clang, which knows not quite the same options.
    pub(crate) clang: bool,
    /// Version lines of compiler and linker.
    pub(crate) version: String,
    /// Folders with the compiler's own headers, such as stddef.h.
    pub(crate) headers: Vec<PathBuf>,
}

impl Toolchain {
    /// Finds the compiler as crate `cc` does: CC and its relatives, else `cc`. Its
    /// idea of flags is not used, for CFLAGS must not reach the ROM.
    pub(crate) fn find() -> Result<Self> {
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
        };
        if !found.clang && !tool.is_like_gnu() {
            bail!("{} is neither GCC nor Clang", found.path.display());
        }
        let compiler = found.ask(&["--version"]).context(NO_COMPILER)?;
        let linker =
            found.ask(&["-nostdlib", "-Wl,--version"]).context("no linker was found; is binutils installed?")?;
        found.version = version_text(&compiler, &linker, found.clang);
        found.headers = found.find_headers()?;
        Ok(found)
    }

    /// A call of the compiler that depends on its arguments only.
    pub(crate) fn command(&self, folder: &Path) -> Command {
        hermetic(&self.path, folder)
    }

    fn ask(&self, arguments: &[&str]) -> Result<String> {
        run(self.command(Path::new("/")).args(arguments))
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
