//! What becomes of the frames.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use lab::Boundary;
use movie::{Movie, Step};
use render::{Cast, Pace, Scale, Symbols, Ttyrec};
use wire::Frame;

use super::files::{NewDirectory, NewFile};
use super::walk::Span;
use crate::command_line::ExportOptions;

/// Takes frames in order.
pub(super) trait Sink {
    fn frame(&mut self, at: Boundary, frame: &Frame) -> anyhow::Result<()>;

    /// Makes what was written stay, and tells what it is.
    fn finish(self: Box<Self>) -> anyhow::Result<String>;
}

/// Everything that was asked for, with its files made.
pub(super) fn open<'a>(
    options: &ExportOptions,
    movie: &'a Movie,
    span: Span,
) -> anyhow::Result<Vec<Box<dyn Sink + 'a>>> {
    let symbols = Symbols::of(&movie.header.power_on);
    let pace = Pace::new(NonZeroU32::new(options.inputs_per_second).unwrap_or(NonZeroU32::MIN));
    let mut sinks: Vec<Box<dyn Sink + 'a>> = Vec::new();
    if let Some(path) = &options.ttyrec {
        let recording = Recording::create(path, span, pace)?;
        sinks.push(Box::new(TtyrecFile { ttyrec: Ttyrec::new(symbols, pace), recording }));
    }
    if let Some(path) = &options.cast {
        let mut recording = Recording::create(path, span, pace)?;
        let seed = movie.header.power_on.core_seed;
        let title = format!("NetHack {}, seed {seed}", movie.header.nethack_version);
        recording.file.write(Cast::header(&title).as_bytes())?;
        let keys = options.keys.then_some(movie.steps.as_slice());
        sinks.push(Box::new(CastFile { cast: Cast::new(symbols, pace), recording, keys, pressed: span.from }));
    }
    let many = options.every.is_some();
    if let Some(path) = &options.png {
        let scale = if options.scale == 1 { Scale::One } else { Scale::Two };
        let pictures = if many {
            Pictures::Many(NewDirectory::create(path)?)
        } else {
            Pictures::One(NewFile::create(path)?, span.to)
        };
        sinks.push(Box::new(PngFiles { path: path.clone(), pictures, symbols, scale }));
    }
    if let Some(path) = &options.text {
        let only = (!many).then_some(span.to);
        sinks.push(Box::new(TextFile { path: path.clone(), file: NewFile::create(path)?, only, screens: 0, symbols }));
    }
    Ok(sinks)
}

/// What both recordings have.
struct Recording {
    path: PathBuf,
    file: NewFile,
    /// The boundary of the first frame, once there is one: the recording's time begins with it.
    start: Option<Boundary>,
    end: Boundary,
    frames: u64,
    pace: Pace,
}

impl Recording {
    fn create(path: &Path, span: Span, pace: Pace) -> anyhow::Result<Self> {
        let file = NewFile::create(path)?;
        Ok(Self { path: path.to_path_buf(), file, start: None, end: span.from, frames: 0, pace })
    }

    /// Counts a frame, and tells how many inputs lie between the recording's beginning and it.
    fn count(&mut self, at: Boundary) -> u64 {
        self.frames += 1;
        self.end = at;
        at.0 - self.start.get_or_insert(at).0
    }

    fn finish(self) -> anyhow::Result<String> {
        let inputs = self.start.map_or(0, |start| self.end.0 - start.0);
        let (frames, tenths) = (self.frames, self.pace.micros(inputs) / 100_000);
        let bytes = self.file.finish()?;
        let path = self.path.display();
        Ok(format!("{path}: {frames} frames, {}.{} s, {bytes} bytes", tenths / 10, tenths % 10))
    }
}

struct TtyrecFile {
    ttyrec: Ttyrec,
    recording: Recording,
}

impl Sink for TtyrecFile {
    fn frame(&mut self, at: Boundary, frame: &Frame) -> anyhow::Result<()> {
        let inputs = self.recording.count(at);
        self.recording.file.write(&self.ttyrec.frame(inputs, &frame.screen))
    }

    fn finish(self: Box<Self>) -> anyhow::Result<String> {
        self.recording.finish()
    }
}

struct CastFile<'a> {
    cast: Cast,
    recording: Recording,
    /// The movie's inputs, where they are to be told.
    keys: Option<&'a [Step]>,
    /// Inputs from here on have not been told yet.
    pressed: Boundary,
}

impl Sink for CastFile<'_> {
    fn frame(&mut self, at: Boundary, frame: &Frame) -> anyhow::Result<()> {
        let is_first = self.recording.start.is_none();
        let inputs = self.recording.count(at);
        // Each key stands before what came of it, and at its time.
        let told = self.pressed.0..if is_first { self.pressed.0 } else { at.0 };
        for input in told {
            let step = self.keys.zip(usize::try_from(input).ok()).and_then(|(keys, input)| keys.get(input));
            if let Some(step) = step {
                let line = self.cast.key(inputs - (at.0 - input - 1), step.key);
                self.recording.file.write(line.as_bytes())?;
            }
        }
        self.pressed = at;
        self.recording.file.write(self.cast.frame(inputs, &frame.screen).as_bytes())
    }

    fn finish(self: Box<Self>) -> anyhow::Result<String> {
        self.recording.finish()
    }
}

enum Pictures {
    One(NewFile, Boundary),
    Many(NewDirectory),
}

struct PngFiles {
    path: PathBuf,
    pictures: Pictures,
    symbols: Symbols,
    scale: Scale,
}

impl Sink for PngFiles {
    fn frame(&mut self, at: Boundary, frame: &Frame) -> anyhow::Result<()> {
        let png = || render::png(&frame.screen, self.symbols, self.scale);
        match &mut self.pictures {
            Pictures::One(file, only) if *only == at => file.write(&png()?),
            Pictures::One(..) => Ok(()),
            // Seven digits take the longest movie that there can be, so that names sort as boundaries do.
            Pictures::Many(directory) => directory.add(&format!("{:07}.png", at.0), &png()?),
        }
    }

    fn finish(self: Box<Self>) -> anyhow::Result<String> {
        let (files, bytes) = match self.pictures {
            Pictures::One(file, _) => (1, file.finish()?),
            Pictures::Many(directory) => directory.finish(),
        };
        let (width, height) = self.scale.pixels();
        let what = if files == 1 { "1 picture".to_owned() } else { format!("{files} pictures") };
        Ok(format!("{}: {what} of {width} x {height}, {bytes} bytes", self.path.display()))
    }
}

struct TextFile {
    path: PathBuf,
    file: NewFile,
    /// The one screen that is wanted, alone and without a title.
    only: Option<Boundary>,
    screens: u64,
    symbols: Symbols,
}

impl Sink for TextFile {
    fn frame(&mut self, at: Boundary, frame: &Frame) -> anyhow::Result<()> {
        if self.only.is_some_and(|only| only != at) {
            return Ok(());
        }
        let text = render::text(&frame.screen, self.symbols);
        let title = self.only.map_or_else(|| format!("boundary {at}, turn {}\n", frame.turn), |_| String::new());
        self.screens += 1;
        self.file.write(format!("{title}{text}").as_bytes())
    }

    fn finish(self: Box<Self>) -> anyhow::Result<String> {
        let what = if self.screens == 1 { "1 screen".to_owned() } else { format!("{} screens", self.screens) };
        Ok(format!("{}: {what}, {} bytes", self.path.display(), self.file.finish()?))
    }
}
