//! `movie verify`: whether a movie is true.

use lab::{Boundary, Control, Desync, LabError, Urgency, Verdict, VerifyReport};
use movie::{CannotJudge, Difference};
use serde_json::{Value, json};

use crate::command_line::MovieFile;
use crate::movies::Replay;
use crate::out::{out, outln};
use crate::outcome::{OTHER_ROM, Outcome};
use crate::paint::Paint;
use crate::setup::{Setup, read_movie};

pub(super) fn run(setup: &Setup, options: &MovieFile) -> anyhow::Result<Outcome> {
    let bytes = read_movie(&options.file)?;
    let lab = setup.lab()?;
    let control = Control { urgency: Urgency::Bulk, ..Control::default() };
    let report = match lab.verify(&bytes, None, &control) {
        Ok(report) => report,
        Err(error @ (LabError::BadMovie(_) | LabError::LimitExceeded { .. })) => {
            return Ok(not_judged(options, &error));
        }
        Err(error) => return Err(error.into()),
    };
    let around = match &report.verdict {
        Verdict::Desync(desync) => frames_around(&lab, &bytes, desync)?,
        _ => None,
    };
    if options.json {
        outln!("{}", as_json(&report, around.as_ref()));
    } else {
        let end = end_in_words(&bytes, report.torn_bytes);
        out!("{}", as_text(options, &report, &end, around.as_ref()));
    }
    Ok(Outcome::from(&report.verdict))
}

fn not_judged(options: &MovieFile, error: &LabError) -> Outcome {
    if options.json {
        outln!("{}", json!({ "verdict": "cannot-judge", "reason": error.to_string() }));
    } else {
        outln!("{}: cannot-judge: {error}", options.file.display());
    }
    Outcome::CannotJudge
}

/// The screens on both sides of the first input after which play differs.
struct Around {
    /// Where the input was pressed: the last screen that the movie and the replay have in common, if they have any.
    before: wire::Screen,
    is_common: bool,
    /// What the replay shows after it; the movie holds a digest of its own.
    replayed: wire::Screen,
}

fn frames_around(lab: &lab::Lab, bytes: &[u8], desync: &Desync) -> anyhow::Result<Option<Around>> {
    if desync.key.is_none() {
        return Ok(None);
    }
    let recording = super::parse(bytes)?;
    let at = Boundary(desync.boundary.0.saturating_sub(1));
    let show = |to| -> anyhow::Result<wire::Screen> {
        let replay = Replay::run(lab, &recording.movie, to, u64::MAX, &mut |_| {})?;
        Ok(replay.snapshot().frame.screen.clone())
    };
    let is_common = !matches!(desync.difference, Difference::First { .. });
    Ok(Some(Around { before: show(at)?, is_common, replayed: show(desync.boundary)? }))
}

fn as_json(report: &VerifyReport, around: Option<&Around>) -> Value {
    let mut object = json!({
        "verdict": report.verdict.name(),
        "reason": report.verdict.to_string(),
        "inputs": report.inputs,
        "inputs_recorded": report.inputs_recorded,
        "torn_bytes": report.torn_bytes,
        "edits": report.holds.edits,
        "reseeds": report.holds.reseeds,
        "debug_mode": report.holds.debug_mode,
        "claimed": report.holds.claimed,
        "remarks": report.holds.in_words(),
        "engine_id": report.engine_id,
        "rom_id": report.rom_id,
        "play_digest": report.play,
        "state_digest": report.state,
        "ended": report.ended,
    });
    if let Verdict::Desync(desync) = &report.verdict {
        object["first_difference"] = json!({
            "input": desync.boundary.0.checked_sub(1),
            "key": desync.key.map(wire::Key::name),
            "boundary": desync.boundary,
            "difference": desync.difference.to_string(),
            "screen_before": around.map(|around| around.before.text()),
            "screen_replayed": around.map(|around| around.replayed.text()),
        });
    }
    object
}

/// What is to be said of a file that was never closed, or is not whole.
fn end_in_words(bytes: &[u8], torn_bytes: usize) -> String {
    let closed = movie::read(bytes).is_ok_and(|recording| recording.is_closed());
    match (torn_bytes, closed) {
        (0, true) => String::new(),
        (0, false) => " (it has no end line: it may go on)".to_owned(),
        (torn, true) => format!(" ({torn} torn bytes at its end were left out)"),
        (torn, false) => format!(" (it has no end line: it may go on; {torn} torn bytes at its end were left out)"),
    }
}

fn as_text(options: &MovieFile, report: &VerifyReport, end: &str, around: Option<&Around>) -> String {
    let paint = Paint::for_stdout();
    let file = options.file.display();
    let inputs = report.inputs;
    let verdict = match &report.verdict {
        Verdict::Exact => {
            let state = report.state.map_or_else(String::new, |state| format!("\n  state {state}"));
            format!("{}: {inputs} inputs, the same byte for byte{end}{state}", paint.styled("1;32", "exact"))
        }
        Verdict::SamePlay => {
            let word = paint.styled("1;32", "same-play");
            format!("{word}: {inputs} inputs, another ROM of the same engine, and it plays the same{end}")
        }
        other @ Verdict::CannotJudge(CannotJudge::OtherEngine { .. }) => {
            paint.styled("1;31", &format!("{other}: {OTHER_ROM}"))
        }
        other => format!("{}{end}", paint.styled("1;31", &other.to_string())),
    };
    let mut text = format!("{file}: {verdict}\n");
    if let Some(remarks) = report.holds.in_words() {
        text.push_str(&format!("  {remarks}\n"));
    }
    if let Some(around) = around {
        text.push_str(if around.is_common {
            "\nThe screen at which that input was pressed, the last one in common:\n"
        } else {
            "\nThe screen of the replay's power-on, of which the movie holds nothing:\n"
        });
        text.push_str(&paint.framed(&around.before, true));
        text.push_str("What the replay shows after it (of what the movie saw, the file holds a check only):\n");
        text.push_str(&paint.framed(&around.replayed, true));
    }
    text
}
