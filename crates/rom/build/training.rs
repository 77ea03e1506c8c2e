//! The training run: the ROM, made to count, plays a fixed list of games, and leaves
//! its counts beside the objects that are compiled next. The game is deterministic and
//! the list is part of the sources, so the counts are the same at each build.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::Folders;
use crate::compile::{Compiler, OBJECTS, object};
use crate::counts;
use crate::games::{GAMES, read_games};
use crate::link::LINK_FLAGS;
use crate::optimise::{COUNTS, LEVEL_VARIABLE};
use crate::process::{hermetic, run, run_limited};
use crate::recipe::{TRAINER_GROUP, Unit};
use crate::stamp::{Fingerprint, is_fresh, recreate, set};
use crate::toolchain::LIBGCOV;

/// Below the crate's folder.
const SCRIPT: &str = "training/trainer.ld";
/// What the trainer reads and writes, in the folder that it runs in.
const LIST: &str = "training.bin";
const PROFILE: &str = "profile.bin";
const LIMIT: Duration = Duration::from_secs(600);
/// Game, library and port have more files than this that hold code.
const FILES_MIN: usize = 100;

/// Links and runs the trainer, if anything of it has changed; its units are compiled.
pub(crate) fn train(compiler: &Compiler, folders: &Folders, units: &[Unit]) -> Result<()> {
    let games = read_games(&folders.krate.join(GAMES))?;
    let script = folders.krate.join(SCRIPT);
    let objects: Vec<PathBuf> = units.iter().map(|unit| object(unit, "o")).collect();
    let mut fingerprint = Fingerprint::default();
    fingerprint.part(&compiler.toolchain.version).part(&games).file(SCRIPT, &script)?;
    for path in &objects {
        fingerprint.file(&path.to_string_lossy(), &folders.out.join(path))?;
    }
    let key = fingerprint.hex();
    let mark = folders.out.join("trainer.made-from");
    if is_fresh(&mark, &key) {
        return Ok(());
    }
    eprintln!("training the ROM");
    // Without a mark, whatever this run leaves half done is done again.
    if mark.exists() {
        fs::remove_file(&mark).context("removing the mark of the last training")?;
    }
    let folder = folders.out.join(TRAINER_GROUP);
    recreate(&folder)?;
    let program = folder.join(TRAINER_GROUP);
    let mut command = compiler.toolchain.command(&folders.out);
    command.args(LINK_FLAGS).arg("-Wl,-T").arg(&script).arg("-o").arg(&program).args(&objects).arg(LIBGCOV);
    run(&mut command).context("linking the trainer")?;
    fs::write(folder.join(LIST), games).context("writing the games")?;
    run_limited(&mut hermetic(&program, &folder), LIMIT)
        .with_context(|| format!("the training run failed; {LEVEL_VARIABLE}=whole builds without it"))?;
    let counts = fs::read(folder.join(PROFILE)).context("reading the counts")?;
    let files = lay_out(&folders.out, &counts)?;
    ensure!(files > FILES_MIN, "the training run counted in {files} files only");
    set(&mark, &key)
}

/// Puts the counts of each file where its next compilation looks for them, and tells
/// of how many files.
fn lay_out(out: &Path, counts: &[u8]) -> Result<usize> {
    let (mut rest, mut files) = (counts, Vec::new());
    while !rest.is_empty() {
        let name = String::from_utf8(part(&mut rest)?.to_vec()).context("a file's name is no text")?;
        let mut bytes = Vec::new();
        loop {
            match part(&mut rest)? {
                [] => break,
                more => bytes.extend_from_slice(more),
            }
        }
        let sound = name.starts_with(&format!("/{OBJECTS}/")) && name.split('/').all(|part| part != "..");
        ensure!(sound, "counts of an odd file, {name}");
        files.push((name, bytes));
    }
    let most = files.iter().map(|(_, bytes)| counts::most(bytes)).collect::<Result<Vec<_>>>()?;
    let most = most.into_iter().max().unwrap_or_default();
    // Counts of files that are no more must not be taken for those of new ones.
    let folder = out.join(COUNTS);
    recreate(&folder)?;
    for (name, bytes) in &files {
        let bytes = counts::with_summary(bytes, most)?;
        // Compilers of different age make different names for the same place.
        for path in [folder.join(&name[1..]), folder.join(name.replace('/', "#"))] {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).with_context(|| format!("creating {}", parent.display()))?;
            }
            fs::write(&path, &bytes).with_context(|| format!("writing {}", path.display()))?;
        }
    }
    Ok(files.len())
}

/// A length of four bytes, and that many bytes.
fn part<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let cut = "the counts are cut short";
    let (length, bytes) = rest.split_first_chunk().context(cut)?;
    let (part, bytes) = bytes.split_at_checked(u32::from_le_bytes(*length) as usize).context(cut)?;
    *rest = bytes;
    Ok(part)
}
