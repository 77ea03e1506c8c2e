//! `state`: save states that outlive the process.

use std::path::Path;

use anyhow::Context;
use lab::{Control, Lab, LabError, Snapshot, StateFile, StateFileError, Stop};
use serde_json::{Value, json};
use wire::{Batch, Key, Segment};

use crate::command_line::{StateCommand, StateFileOptions, StateLoadOptions, StateSaveOptions, TakeMovieOptions};
use crate::movies;
use crate::out::{complain, out, outln};
use crate::outcome::{Outcome, Usage};
use crate::paint::Paint;
use crate::setup::{Setup, check_free, is_same_name, read_file, read_movie, write_new};

pub(crate) fn run(setup: &Setup, command: StateCommand) -> anyhow::Result<Outcome> {
    match command {
        StateCommand::Save(options) => save(setup, &options),
        StateCommand::Info(options) => info(&options),
        StateCommand::Load(options) => go_on(setup, &options),
        StateCommand::Movie(options) => take_movie(&options),
    }
}

fn save(setup: &Setup, options: &StateSaveOptions) -> anyhow::Result<Outcome> {
    check_free(&options.out)?;
    let bytes = read_movie(&options.movie)?;
    let opened = movies::open_at(setup, bytes, options.at);
    let (lab, game, _) = opened.with_context(|| options.movie.display().to_string())?;
    let bytes = save_machine(&lab, &game, &options.out)?;
    let (file, ended) = (options.out.display(), end_in_words(&game));
    outln!("{file}: boundary {}, turn {}{ended}, {bytes} bytes", game.boundary, game.frame.turn);
    Ok(Outcome::Good)
}

fn save_machine(lab: &Lab, game: &Snapshot, path: &Path) -> anyhow::Result<usize> {
    let bytes = lab.save_state(game.machine, None, &Control::default())?;
    write_new(path, &bytes)?;
    Ok(bytes.len())
}

fn end_in_words(game: &Snapshot) -> String {
    game.ended.as_ref().map_or_else(String::new, |ended| format!(", the end: {}", ended.text))
}

/// Reads a save state's file, or says why it is none and what is left of it.
fn read(path: &Path) -> anyhow::Result<(Vec<u8>, StateFile)> {
    let bytes = read_file(path, lab::STATE_FILE_BYTES_MAX)?;
    let file = StateFile::read(&bytes).map_err(|error| match StateFile::rescue_movie(&bytes) {
        Some(_) => {
            LabError::BadState(format!("{error} (the movie inside is whole: `nethack-lab state movie` takes it out)"))
        }
        None => match lab::kind_of_file(&bytes).filter(|_| error == StateFileError::Magic) {
            Some(other) => LabError::BadState(other.to_owned()),
            None => LabError::from(error),
        },
    });
    let file = file.with_context(|| path.display().to_string())?;
    Ok((bytes, file))
}

/// Loads a save state into a lab of its own.
pub(crate) fn load(setup: &Setup, path: &Path) -> anyhow::Result<(Lab, Snapshot, StateFile)> {
    let (bytes, file) = read(path)?;
    let lab = setup.lab()?;
    let game = lab.load_state(&bytes, false, &Control::default()).with_context(|| path.display().to_string())?;
    Ok((lab, game, file))
}

fn info(options: &StateFileOptions) -> anyhow::Result<Outcome> {
    let (bytes, file) = read(&options.file)?;
    let movie = movies::parse(file.movie())?.movie;
    let fields = [
        ("boundary", json!(file.boundary())),
        ("seed", json!(movie.header.power_on.core_seed)),
        ("finish", json!(movie.finish)),
        ("engine_id", json!(file.engine_id())),
        ("engine_is_ours", json!(file.engine_id() == rom::built_in().engine_id())),
        ("rom_id", json!(file.rom_id())),
        ("rom_is_ours", json!(file.rom_id() == rom::built_in().rom_id())),
        ("nethack_version", json!(file.nethack_version())),
        ("creator", json!(file.creator())),
        ("play_digest", json!(file.play())),
        ("state_digest", json!(file.state())),
        ("bytes", json!(bytes.len())),
        ("movie_bytes", json!(file.movie().len())),
        ("stored_bytes", json!(file.stored_bytes())),
        ("image_bytes", json!(file.image_bytes())),
    ];
    tell(&fields, options.json);
    Ok(Outcome::Good)
}

/// Writes facts as one JSON object, or a line for each.
pub(crate) fn tell(fields: &[(&str, Value)], as_json: bool) {
    if as_json {
        let object: serde_json::Map<_, _> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        outln!("{}", Value::Object(object));
        return;
    }
    let fields: Vec<_> = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    out!("{}", movies::as_text(&fields, 0));
}

fn go_on(setup: &Setup, options: &StateLoadOptions) -> anyhow::Result<Outcome> {
    [&options.out, &options.save].into_iter().flatten().try_for_each(|path| check_free(path))?;
    if let (Some(out), Some(save)) = (&options.out, &options.save)
        && is_same_name(out, save)
    {
        return Err(Usage(format!("-o {} and --save are the same file: name two", out.display())).into());
    }
    let keys = options.keys.as_deref().map_or(Ok(Vec::new()), keys)?;
    let (lab, mut game, _) = load(setup, &options.file)?;
    let mut stop = None;
    if !keys.is_empty() {
        let report = lab.run(game.machine, game.revision, &Batch::forced(keys), &Control::default())?;
        (game, stop) = (report.snapshot, Some(report.stop));
    }
    if let Some(path) = &options.out {
        write_new(path, &lab.movie(game.machine)?)?;
    }
    if let Some(path) = &options.save {
        save_machine(&lab, &game, path)?;
    }
    show(&lab, &game, options.json)?;
    match stop {
        Some(Stop::Lost { key, reason }) => {
            anyhow::bail!("the engine did not survive key {key} and stands before it: {reason}")
        }
        _ => Ok(Outcome::Good),
    }
}

fn keys(text: &str) -> anyhow::Result<Vec<Key>> {
    let names: Vec<&str> = text.split_whitespace().collect();
    let segment = Segment::from_names(&names).map_err(|error| Usage(format!("--keys: {error}")))?;
    Ok(segment.keys)
}

fn show(lab: &Lab, game: &Snapshot, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let digest = lab.digest(&lab.state(game.machine)?)?;
        let object = json!({
            "boundary": game.boundary,
            "turn": game.frame.turn,
            "pending": game.frame.pending,
            "ended": game.ended,
            "play_digest": game.play,
            "state_digest": digest,
            "screen": game.frame.screen.text(),
        });
        outln!("{object}");
        return Ok(());
    }
    let paint = Paint::for_stdout();
    let title = format!("boundary {}, turn {}{}", game.boundary, game.frame.turn, end_in_words(game));
    out!("{}\n{}\n", paint.styled("1", &title), paint.rows(&game.frame.screen).join("\n"));
    Ok(())
}

fn take_movie(options: &TakeMovieOptions) -> anyhow::Result<Outcome> {
    let bytes = read_file(&options.file, lab::STATE_FILE_BYTES_MAX)?;
    let movie = match StateFile::read(&bytes) {
        Ok(file) => file.movie().to_vec(),
        Err(error) => {
            let rescued = StateFile::rescue_movie(&bytes);
            let file = options.file.display();
            let movie = rescued.ok_or_else(|| LabError::from(error.clone())).with_context(|| file.to_string())?;
            complain(&format!("{file}: the state can't be used ({error}); the movie inside is whole"));
            movie
        }
    };
    write_new(&options.out, &movie)?;
    let boundary = movies::parse(&movie)?.movie.boundary();
    outln!("{}: {boundary} inputs, {} bytes", options.out.display(), movie.len());
    Ok(Outcome::Good)
}
