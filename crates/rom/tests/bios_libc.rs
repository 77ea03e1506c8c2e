//! The C library under the game: compiled as the ROM has it, its names and frames are
//! looked at; compiled for the host, beside glibc under prefixed names, every suite of
//! `tests/bios` holds it against glibc and the kernel, plainly and under sanitisers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};

/// Each suite runs once per seed.
const SEEDS: [u64; 2] = [1, 20_260_113];

/// What the port defines for the library.
const PORT_NAMES: [&str; 4] = ["bios_getkey", "bios_yield", "mailbox", "terminal_put"];

/// Names by which the library's files, the port and the host know each other.
const OWN_PREFIXES: [&str; 4] = ["bios_", "descriptor_", "disk_", "heap_"];
const OWN_NAMES: [&str; 2] = ["error_set", "format_into"];

/// `FRAME_BYTES_MAX` of the contract.
const FRAME_BYTES_MAX: u64 = 8192;

const LIBRARY_FLAGS: [&str; 11] = [
    "-c",
    "-std=gnu11",
    "-O2",
    "-ffreestanding",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fcf-protection=none",
    "-fno-strict-aliasing",
    "-Wall",
    "-Wextra",
    "-Werror",
];

const TEST_FLAGS: [&str; 7] = ["-c", "-std=gnu11", "-O1", "-fno-builtin", "-Wall", "-Wextra", "-Werror"];

/// Suites that the harness knows, each a test of its own.
macro_rules! suites {
    ($($suite:ident)*) => {
        $(#[test]
        fn $suite() -> Result<()> {
            run_suite(stringify!($suite))
        })*
    };
}

suites! { string number ctype format scan sort clock heap disk stream process }

#[test]
fn a_frame_is_small_in_each_function() -> Result<()> {
    let folder = rom_objects()?;
    let mut functions = 0;
    for report in files_of(folder, "su")? {
        for line in fs::read_to_string(&report)?.lines() {
            let mut fields = line.split('\t');
            let (name, bytes, kind) = (fields.next(), fields.next(), fields.next());
            let bytes: u64 = bytes.with_context(|| format!("{}: {line}", report.display()))?.parse()?;
            ensure!(
                bytes <= FRAME_BYTES_MAX && kind == Some("static"),
                "{name:?} has a frame of {bytes} bytes, {kind:?}"
            );
            functions += 1;
        }
    }
    ensure!(functions > 100, "only {functions} functions are reported");
    Ok(())
}

#[test]
fn exactly_the_listed_names_are_defined_and_only_the_port_is_missing() -> Result<()> {
    let objects = files_of(rom_objects()?, "o")?;
    let defined = symbols(&objects, "--defined-only")?;
    let own = |name: &String| {
        OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || OWN_NAMES.contains(&name.as_str())
    };
    let public: BTreeSet<String> = defined.iter().filter(|name| !own(name)).cloned().collect();
    assert_eq!(public, public_names()?);
    let missing: BTreeSet<String> = symbols(&objects, "--undefined-only")?.difference(&defined).cloned().collect();
    assert_eq!(missing, PORT_NAMES.map(String::from).into());
    Ok(())
}

fn source_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A folder of its own for each build, empty at first.
fn fresh_folder(name: &str) -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bios_libc").join(name);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => fs::create_dir_all(&folder)?,
    }
    Ok(folder)
}

fn files_of(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    ensure!(!files.is_empty(), "no .{extension} files in {}", folder.display());
    Ok(files)
}

fn public_names() -> Result<BTreeSet<String>> {
    let list = fs::read_to_string(source_folder("tests/bios/names.txt"))?;
    Ok(list.lines().map(String::from).collect())
}

/// Runs a command to its end; an error holds all it has to say.
fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} ends with {}:\n{said}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

fn symbols(objects: &[PathBuf], which: &str) -> Result<BTreeSet<String>> {
    let listed = run(Command::new("nm").args(["-g", "--format=posix", which]).args(objects))?;
    // A line without a type is the name of an object.
    let name = |line: &str| line.split_once(' ').map(|(name, _)| name.to_string());
    Ok(listed.lines().filter_map(name).collect())
}

fn compile_library(folder: &Path, flags: &[&str]) -> Result<()> {
    let mut compiler = Command::new("cc");
    compiler.current_dir(folder).args(LIBRARY_FLAGS).args(flags);
    if !run(Command::new("cc").arg("--version"))?.contains("clang") {
        // Else a loop in memset becomes a call of memset.
        compiler.arg("-fno-tree-loop-distribute-patterns");
    }
    run(compiler.args(files_of(&source_folder("bios/libc"), "c")?)).map(drop)
}

/// A result that is made once and then kept, also when it is an error.
fn once(cell: &'static OnceLock<Result<PathBuf>>, make: impl FnOnce() -> Result<PathBuf>) -> Result<&'static Path> {
    match cell.get_or_init(make) {
        Ok(path) => Ok(path),
        Err(error) => anyhow::bail!("{error:#}"),
    }
}

/// The folder with the library's objects as the ROM has them.
fn rom_objects() -> Result<&'static Path> {
    static OBJECTS: OnceLock<Result<PathBuf>> = OnceLock::new();
    once(&OBJECTS, || {
        let folder = fresh_folder("rom")?;
        compile_library(&folder, &["-fno-pic", "-fno-pie", "-fno-common", "-fstack-usage"])?;
        Ok(folder)
    })
}

/// Renames every public name, and for the sanitiser, whose own memory lies where the
/// regions are, moves these.
fn write_prefix_headers(folder: &Path, move_regions: bool) -> Result<()> {
    let names = public_names()?;
    let mut prefix: String = names.iter().map(|name| format!("#define {name} lab_{name}\n")).collect();
    if move_regions {
        let contract = source_folder("bios/contract.h");
        prefix += &format!("#include \"{}\"\n", contract.display());
        prefix += "#undef HEAP_BASE\n#define HEAP_BASE 0x200000000000ull\n";
        prefix += "#undef DISK_BASE\n#define DISK_BASE 0x220000000000ull\n";
    }
    fs::write(folder.join("prefix.h"), prefix)?;
    let unprefix: String = names.iter().map(|name| format!("#undef {name}\n")).collect();
    Ok(fs::write(folder.join("unprefix.h"), unprefix)?)
}

fn build_harness(name: &str, flags: &[&str], move_regions: bool) -> Result<PathBuf> {
    let folder = fresh_folder(name)?;
    write_prefix_headers(&folder, move_regions)?;
    compile_library(&folder, &[&["-g", "-include", "prefix.h", "-I."], flags].concat())?;
    let mut compiler = Command::new("cc");
    compiler.current_dir(&folder).args(TEST_FLAGS).args(flags).args(["-g", "-I."]);
    compiler.arg("-I").arg(source_folder("bios/libc"));
    run(compiler.args(files_of(&source_folder("tests/bios"), "c")?))?;
    let harness = folder.join("harness");
    run(Command::new("cc").args(flags).arg("-o").arg(&harness).args(files_of(&folder, "o")?))?;
    Ok(harness)
}

fn plain_harness() -> Result<&'static Path> {
    static HARNESS: OnceLock<Result<PathBuf>> = OnceLock::new();
    once(&HARNESS, || build_harness("plain", &[], false))
}

/// With the address sanitiser where the compiler brings its library, else with traps
/// for undefined behaviour, which need none.
fn sanitized_harness() -> Result<&'static Path> {
    const ADDRESS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    const TRAPS: [&str; 2] = ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"];
    static HARNESS: OnceLock<Result<PathBuf>> = OnceLock::new();
    once(&HARNESS, || {
        let probe = fresh_folder("probe")?;
        let source = probe.join("probe.c");
        let program = probe.join("probe");
        fs::write(&source, "int main(void) { return 0; }\n")?;
        let built = run(Command::new("cc").args(ADDRESS).arg(&source).arg("-o").arg(&program));
        if built.and_then(|_| run(&mut Command::new(&program))).is_ok() {
            build_harness("sanitized", &ADDRESS, true)
        } else {
            build_harness("sanitized", &TRAPS, false)
        }
    })
}

fn run_suite(suite: &str) -> Result<()> {
    for harness in [plain_harness()?, sanitized_harness()?] {
        for seed in SEEDS {
            let build = harness.parent().and_then(Path::file_name).context("a harness without a folder")?;
            let folder = fresh_folder(&format!("runs/{}-{suite}-{seed}", build.display()))?;
            run(Command::new(harness).args([suite, &seed.to_string()]).current_dir(folder))?;
        }
    }
    Ok(())
}
