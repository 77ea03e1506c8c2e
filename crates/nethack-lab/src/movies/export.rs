//! `movie export`: a movie as recordings and pictures that other programs open.
//!
//! A movie is verified first, in a sandboxed worker. One that does not replay here is no account of what was seen, so
//! nothing is written of it. Then it is played once more, frame by frame, into files that grow as it goes.

mod files;
mod sinks;
mod walk;

use lab::{Boundary, Control, Lab, Urgency, Verdict};
use movie::{CannotJudge, Movie};

use crate::command_line::ExportOptions;
use crate::out::{complain, outln};
use crate::outcome::{OTHER_ROM, Outcome, Usage};
use crate::setup::{Setup, read_movie};

use sinks::Sink;
use walk::Span;

/// Movies with more inputs than these tell how far they have come.
const PROGRESS_INPUTS: u64 = 10_000;

pub(super) fn run(setup: &Setup, options: &ExportOptions) -> anyhow::Result<Outcome> {
    let bytes = read_movie(&options.file)?;
    let recording = super::parse_file(&options.file, &bytes)?;
    let movie = &recording.movie;
    let span = span(options, movie.boundary())?;
    let mut sinks = sinks::open(options, movie, span)?;
    let lab = setup.lab()?;
    let control = Control { urgency: Urgency::Bulk, ..Control::default() };
    let verdict = lab.verify(&bytes, None, &control)?.verdict;
    if let Some(outcome) = refused(options, &verdict) {
        return Ok(outcome);
    }
    write(setup, &lab, movie, span, &mut sinks)?;
    for sink in sinks {
        outln!("{}", sink.finish()?);
    }
    if verdict == Verdict::SamePlay {
        outln!("same-play: the movie is of another ROM of the same engine, and it plays the same");
    }
    Ok(Outcome::Good)
}

/// The boundaries that are asked for.
fn span(options: &ExportOptions, last: Boundary) -> anyhow::Result<Span> {
    let to = options.at.or(options.to).map_or(last, Boundary);
    if to > last {
        let name = if options.at.is_some() { "--at" } else { "--to" };
        return Err(Usage(format!("{name} {to}: the movie's last boundary is {last}")).into());
    }
    let from = Boundary(options.from.unwrap_or(0));
    if from > to {
        return Err(Usage(format!("--from {from}: the last boundary asked for is {to}")).into());
    }
    // A picture or a screen alone needs no frame but the last.
    let runs = options.ttyrec.is_some() || options.cast.is_some();
    if options.from.is_some() && !runs && options.every.is_none() {
        let message = "--from: without --every, a picture or a text is one screen: that of --at, of --to, or the last";
        return Err(Usage(message.to_owned()).into());
    }
    let every = options.every.unwrap_or(if runs { 1 } else { u64::MAX });
    Ok(Span { from, to, every })
}

/// What an export that can't be made exits with, told on standard error.
fn refused(options: &ExportOptions, verdict: &Verdict) -> Option<Outcome> {
    let file = options.file.display();
    match verdict {
        Verdict::Exact | Verdict::SamePlay => return None,
        Verdict::Altered { .. } => {
            complain(&format!("{file}: {verdict}"));
            return None;
        }
        Verdict::Desync(_) => complain(&format!("{file} does not replay here, so nothing is exported: {verdict}")),
        Verdict::CannotJudge(reason) => {
            let hint =
                if matches!(reason, CannotJudge::OtherEngine { .. }) { OTHER_ROM } else { "nothing is exported" };
            complain(&format!("{file}: {verdict}: {hint}"));
        }
    }
    Some(Outcome::from(verdict))
}

fn write(setup: &Setup, lab: &Lab, movie: &Movie, span: Span, sinks: &mut [Box<dyn Sink + '_>]) -> anyhow::Result<()> {
    walk::walk(setup, lab, movie, span, &mut |at, frame| {
        if at.0 > 0 && at.0.is_multiple_of(PROGRESS_INPUTS) {
            complain(&format!("{at} of {} inputs", span.to));
        }
        sinks.iter_mut().try_for_each(|sink| sink.frame(at, frame))
    })
}
