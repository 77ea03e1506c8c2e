//! `watch`: a movie, or a journal that somebody is writing, as a page.

mod file;
mod film;
mod head;
mod reader;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use lab::{LabError, LabInfo};
use movie::Recording;
use signal_hook::consts::{SIGINT, SIGTERM};
use spectator::Viewer;

use crate::command_line::WatchOptions;
use crate::out::outln;
use crate::outcome::Outcome;
use crate::setup::Setup;

use file::{Change, News, Watched};
use film::Film;

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(150);

pub(crate) fn run(setup: &Setup, options: &WatchOptions) -> anyhow::Result<Outcome> {
    let path = &options.file;
    let (mut file, recording) = Watched::open(path)?;
    let bound = spectator::bind(options.listen, options.public)?;
    let lab = setup.lab()?;
    let info = lab.info();
    check_engine(&recording, &info)?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("signals can't be taken")?;
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let film = Arc::new(Film::new(lab, name, recording, Arc::clone(&stop))?);
    let viewer = Viewer::start(bound, Arc::clone(&film) as Arc<dyn spectator::Source>)?;
    outln!("{}", viewer.url());
    std::thread::scope(|scope| {
        scope.spawn(|| film.lead());
        scope.spawn(|| film.read_through());
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK_EVERY);
            follow(&mut file, &film, &info);
        }
        film.wake();
    });
    Ok(Outcome::Good)
}

fn check_engine(recording: &Recording, lab: &LabInfo) -> anyhow::Result<()> {
    let header = &recording.movie.header;
    if header.engine_id == lab.engine_id {
        return Ok(());
    }
    Err(LabError::RomMismatch { recorded: header.rom_id.clone(), running: lab.rom_id.clone() }.into())
}

/// Shows what has become of the file: a journal grows, a movie may be written over.
fn follow(file: &mut Watched, film: &Film, info: &LabInfo) {
    match file.look() {
        None => {}
        Some(Change::Grown(news)) => film.show(file.take(news)),
        Some(Change::Replaced(news)) => {
            if let Err(error) = replace(file, film, info, news) {
                film.trouble(&format!(
                    "the file was replaced by another movie, which can't be shown, so the old one is: {error:#}"
                ));
            }
        }
        // Its writer may be at it just now; what was shown stays.
        Some(Change::Gone(why)) => film.trouble(&why),
    }
}

fn replace(file: &mut Watched, film: &Film, info: &LabInfo, news: News) -> anyhow::Result<()> {
    check_engine(&news.recording, info)?;
    film.replace(news.recording.clone())?;
    file.take(news);
    Ok(())
}
