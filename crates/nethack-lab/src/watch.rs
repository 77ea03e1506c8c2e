//! `watch`: a movie, or a journal that somebody is writing, as a page.

mod film;
mod head;

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use lab::LabError;
use movie::Recording;
use signal_hook::consts::{SIGINT, SIGTERM};
use spectator::{Kind, Viewer};

use crate::command_line::WatchOptions;
use crate::movies;
use crate::out::outln;
use crate::outcome::Outcome;
use crate::setup::{Setup, read_movie};

use film::Film;

/// How often a journal is asked whether it has grown.
const LOOK_EVERY: Duration = Duration::from_millis(150);

pub(crate) fn run(setup: &Setup, options: &WatchOptions) -> anyhow::Result<Outcome> {
    let path = &options.file;
    let first = stamp(path);
    let recording = read(path)?;
    let bound = spectator::bind(options.listen, options.public)?;
    let lab = setup.lab()?;
    check_engine(&recording, &lab.info())?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("signals can't be taken")?;
    }
    let kind = if recording.is_closed() { Kind::Movie } else { Kind::Journal };
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let film = Arc::new(Film::new(lab, name, kind, recording, Arc::clone(&stop))?);
    let viewer = Viewer::start(bound, Arc::clone(&film) as Arc<dyn spectator::Source>)?;
    outln!("{}", viewer.url());
    std::thread::scope(|scope| {
        scope.spawn(|| film.lead());
        scope.spawn(|| film.read_through());
        if kind == Kind::Journal {
            follow(path, &film, first, &stop);
        }
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK_EVERY);
        }
        film.wake();
    });
    Ok(Outcome::Good)
}

fn read(path: &Path) -> anyhow::Result<Recording> {
    movies::parse_file(path, &read_movie(path)?)
}

fn check_engine(recording: &Recording, lab: &lab::LabInfo) -> anyhow::Result<()> {
    let header = &recording.movie.header;
    if header.engine_id == lab.engine_id {
        return Ok(());
    }
    Err(LabError::RomMismatch { recorded: header.rom_id.clone(), running: lab.rom_id.clone() }.into())
}

/// What tells whether a file was written to.
fn stamp(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let facts = |file: Metadata| (file.ino(), file.len(), file.mtime(), file.mtime_nsec());
    std::fs::metadata(path).ok().map(facts)
}

/// Reads a journal again each time that it has grown, until its last line.
fn follow(path: &Path, film: &Film, mut seen: Option<(u64, u64, i64, i64)>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK_EVERY);
        let now = stamp(path);
        if now == seen {
            continue;
        }
        seen = now;
        match read(path) {
            Ok(recording) => {
                let closed = recording.is_closed();
                film.show(recording);
                if closed {
                    return;
                }
            }
            // Its writer may be at it just now; what was shown stays.
            Err(error) => film.trouble(&format!("{error:#}")),
        }
    }
}
