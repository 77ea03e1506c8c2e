//! Recorded games of NLE agree with ours, and files that are none are refused in words.

mod files;
mod fixtures;
mod observations;

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;
use machine::Machine;

static PLACE: Mutex<()> = Mutex::new(());

/// A machine with the process's one place for it.
struct Held {
    machine: Machine,
    _place: MutexGuard<'static, ()>,
}

fn machine() -> Held {
    let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
    Held { machine: Machine::open(rom::built_in()).expect("the place is free"), _place: place }
}

/// The recordings in `fixtures/nle`, sorted.
fn recordings() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/nle");
    let entries = std::fs::read_dir(folder).expect("the fixtures are there");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "gz"));
    files.sort();
    files
}

/// The lines of the recording whose name begins so.
fn lines(name: &str) -> Vec<String> {
    let recordings = recordings();
    let path = recordings.iter().find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(name)).unwrap();
    let mut text = String::new();
    let mut file = flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap());
    std::io::Read::read_to_string(&mut file, &mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn zipped(text: &[u8]) -> Vec<u8> {
    let mut zip = GzEncoder::new(Vec::new(), Compression::fast());
    zip.write_all(text).unwrap();
    zip.finish().unwrap()
}
