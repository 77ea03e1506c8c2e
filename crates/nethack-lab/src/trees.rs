//! `tree`: machines with their forks, lines and states in one file.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use anyhow::Context;
use lab::{
    Boundary, Control, Imported, Lab, LabError, Luck, MachineId, StateFileError, TreeFile, TreeMachine, TreeMode,
};
use serde_json::{Value, json};

use crate::command_line::{StateFileOptions, TreeCommand, TreeMovieOptions, TreeRebuildOptions, TreeSaveOptions};
use crate::movies;
use crate::out::outln;
use crate::outcome::{Outcome, Usage};
use crate::setup::{Setup, check_free, open_file, read_movie, write_new, write_new_with};
use crate::states::tell;

pub(crate) fn run(setup: &Setup, command: TreeCommand) -> anyhow::Result<Outcome> {
    match command {
        TreeCommand::Save(options) => save(setup, &options),
        TreeCommand::Info(options) => info(&options),
        TreeCommand::Check(options) => check(setup, &options),
        TreeCommand::Rebuild(options) => rebuild(setup, &options),
        TreeCommand::Movie(options) => take_movie(&options),
    }
}

fn save(setup: &Setup, options: &TreeSaveOptions) -> anyhow::Result<Outcome> {
    check_free(&options.out)?;
    let bytes = read_movie(&options.movie)?;
    let opened = movies::open_at(setup, bytes, None);
    let (lab, game, _) = opened.with_context(|| options.movie.display().to_string())?;
    if let Some(beyond) = options.at.iter().find(|at| Boundary(**at) > game.boundary) {
        let usage = Usage(format!("--at {beyond}: the movie's last boundary is {}", game.boundary));
        return Err(usage).with_context(|| options.movie.display().to_string());
    }
    for at in &options.at {
        lab.fork(game.machine, Some(Boundary(*at)), Luck::Same, 1)?;
    }
    write_tree(&lab, &options.out)
}

fn write_tree(lab: &Lab, path: &Path) -> anyhow::Result<Outcome> {
    let mut bytes = 0;
    write_new_with(path, |file| {
        lab.export_tree(None, BufWriter::new(&mut *file), &Control::default())?.flush()?;
        bytes = file.metadata()?.len();
        Ok(())
    })?;
    outln!("{}: {} machines, {bytes} bytes", path.display(), lab.info().machines);
    Ok(Outcome::Good)
}

fn open(path: &Path) -> anyhow::Result<BufReader<File>> {
    Ok(BufReader::new(open_file(path)?))
}

fn read(path: &Path) -> anyhow::Result<TreeFile> {
    let read = TreeFile::read(open(path)?).map_err(|error| {
        let other = kind(path).filter(|_| error == StateFileError::Magic);
        LabError::BadTree(other.map_or_else(|| error.to_string(), ToOwned::to_owned))
    });
    read.with_context(|| path.display().to_string())
}

/// What a file is that is no tree.
fn kind(path: &Path) -> Option<&'static str> {
    let mut start = Vec::new();
    open_file(path).ok()?.take(64).read_to_end(&mut start).ok()?;
    lab::kind_of_file(&start)
}

fn info(options: &StateFileOptions) -> anyhow::Result<Outcome> {
    let tree = read(&options.file)?;
    let (states, stored_bytes) = tree.states();
    let machines = tree.machines();
    let mut fields = vec![
        ("engine_id", json!(tree.engine_id())),
        ("engine_is_ours", json!(tree.engine_id() == rom::built_in().engine_id())),
        ("rom_id", json!(tree.rom_id())),
        ("rom_is_ours", json!(tree.rom_id() == rom::built_in().rom_id())),
        ("creator", json!(tree.creator())),
        ("states", json!(states)),
        ("stored_bytes", json!(stored_bytes)),
    ];
    if options.json {
        fields.push(("machines", machines.iter().map(as_json).collect()));
    }
    tell(&fields, options.json);
    if !options.json {
        machines.iter().for_each(|machine| outln!("{}", in_words(machine)));
    }
    Ok(Outcome::Good)
}

fn as_json(machine: &TreeMachine) -> Value {
    json!({
        "machine": machine.machine.0,
        "game": machine.game,
        "boundary": machine.boundary,
        "parent": machine.lineage.as_ref().map(|lineage| lineage.parent.0),
        "base": machine.lineage.as_ref().map(|lineage| lineage.base),
        "reseeded": machine.lineage.as_ref().is_some_and(|lineage| lineage.luck != Luck::Same),
        "finish": machine.finish,
        "closed": machine.closed,
        "has_state": machine.has_state,
    })
}

fn in_words(machine: &TreeMachine) -> String {
    let TreeMachine { machine: name, boundary, .. } = machine;
    let from = machine.lineage.as_ref().map_or_else(String::new, |lineage| {
        let luck = if lineage.luck == Luck::Same { "" } else { ", luck of its own" };
        format!(", a fork of {} at boundary {}{luck}", lineage.parent, lineage.base)
    });
    let end = match &machine.finish {
        movie::Finish::Ended(ended) => format!(", the end: {}", ended.text),
        _ if machine.closed => ", closed".to_owned(),
        _ => String::new(),
    };
    format!("machine {:<8} boundary {boundary}{from}{end}", name.0)
}

fn import(setup: &Setup, path: &Path, mode: TreeMode) -> anyhow::Result<(Lab, Vec<Imported>)> {
    let (lab, input) = (setup.lab()?, open(path)?);
    let imported = lab.import_tree(input, mode, false, &Control::default());
    let imported = imported.with_context(|| path.display().to_string())?;
    Ok((lab, imported))
}

fn check(setup: &Setup, options: &StateFileOptions) -> anyhow::Result<Outcome> {
    let (_lab, imported) = import(setup, &options.file, TreeMode::Load)?;
    if options.json {
        let machine = |Imported { was, snapshot }: &Imported| json!({ "machine": was.0, "boundary": snapshot.boundary, "play_digest": snapshot.play });
        outln!("{}", json!({ "machines": imported.iter().map(machine).collect::<Vec<_>>() }));
    } else {
        outln!("{}: {} machines, all as it says", options.file.display(), imported.len());
    }
    Ok(Outcome::Good)
}

fn rebuild(setup: &Setup, options: &TreeRebuildOptions) -> anyhow::Result<Outcome> {
    check_free(&options.out)?;
    let (lab, _) = import(setup, &options.file, TreeMode::Rebuild)?;
    write_tree(&lab, &options.out)
}

fn take_movie(options: &TreeMovieOptions) -> anyhow::Result<Outcome> {
    let tree = read(&options.file)?;
    let movie = tree.movie(MachineId(options.machine)).map_err(|error| LabError::BadTree(error.to_string()));
    let movie = movie.with_context(|| options.file.display().to_string())?;
    let Some(movie) = movie else {
        let names: Vec<_> = tree.machines().iter().map(|machine| machine.machine.0.to_string()).collect();
        let none = format!("--machine {}: the tree has {}", options.machine, names.join(", "));
        return Err(Usage(none).into());
    };
    write_new(&options.out, &movie)?;
    let boundary = movies::parse(&movie)?.movie.boundary();
    outln!("{}: {boundary} inputs, {} bytes", options.out.display(), movie.len());
    Ok(Outcome::Good)
}
