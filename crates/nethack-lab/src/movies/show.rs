//! `movie show`: screens of a movie.

use lab::{Boundary, Snapshot};

use crate::command_line::ShowOptions;
use crate::movies::Replay;
use crate::out::out;
use crate::outcome::{Outcome, Usage};
use crate::paint::Paint;
use crate::setup::{Setup, read_movie};

pub(super) fn run(setup: &Setup, options: &ShowOptions) -> anyhow::Result<Outcome> {
    let recording = super::parse_file(&options.file, &read_movie(&options.file)?)?;
    let movie = &recording.movie;
    let last = movie.boundary();
    let to = options.at.map_or(last, Boundary);
    if to > last {
        return Err(Usage(format!("--at {to}: the movie's last boundary is {last}")).into());
    }
    let lab = setup.lab()?;
    let paint = Paint::for_stdout();
    let mut shown = None;
    let replay = Replay::run(&lab, movie, to, options.every.unwrap_or(u64::MAX), &mut |snapshot| {
        if options.every.is_some() {
            shown = Some(snapshot.boundary);
            show(paint, snapshot);
        }
    })?;
    let snapshot = replay.snapshot();
    if shown != Some(snapshot.boundary) {
        show(paint, snapshot);
    }
    let before = usize::try_from(snapshot.boundary.0).ok().and_then(|at| at.checked_sub(1));
    let recorded = before.and_then(|at| movie.steps.get(at)).map(|step| step.check);
    let same = recorded.is_none_or(|check| check == snapshot.play.check());
    if !same || snapshot.boundary < to {
        eprintln!("nethack-lab: this is not what was recorded: `nethack-lab movie verify` names the first difference");
        return Ok(Outcome::Failure);
    }
    Ok(Outcome::Good)
}

fn show(paint: Paint, snapshot: &Snapshot) {
    let end = snapshot.ended.as_ref().map_or_else(String::new, |ended| format!(", the end: {}", ended.text));
    let title = format!("boundary {}, turn {}{end}", snapshot.boundary, snapshot.frame.turn);
    let text = format!("{}\n{}\n", paint.styled("1", &title), paint.rows(&snapshot.frame.screen).join("\n"));
    out!("{text}");
}
