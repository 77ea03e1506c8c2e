//! The save state file: a state, and the movie that leads to it. `docs/formats/state.md` is the norm.

use movie::{MarkKind, Recording};
use serde::{Deserialize, Serialize};
use wire::{Boundary, PlayDigest, StateDigest};

use crate::error::OtherRom;
use crate::state_file_envelope::{Kind, Opener, Sealer, StateFileError};

/// The version of the format that is written, and the only one that is read.
pub const STATE_FILE_VERSION: u32 = 1;
/// The largest save state file, in bytes.
pub const STATE_FILE_BYTES_MAX: u64 = movie::FILE_BYTES_MAX as u64 + IMAGE_BYTES_MAX + (1 << 20);
/// The most bytes of a state's parts, and of the image that they stand for.
pub(crate) const IMAGE_BYTES_MAX: u64 = 128 << 20;
/// The most blobs that a state has.
pub(crate) const BLOBS_MAX: usize = 4_096;

/// What every save state file begins with.
pub const STATE_FILE_MAGIC: [u8; 8] = *b"\x89NHLSAVE";

const KIND: Kind = Kind {
    magic: STATE_FILE_MAGIC,
    version: STATE_FILE_VERSION,
    head_bytes_max: 128 << 10,
    file_bytes_max: STATE_FILE_BYTES_MAX,
};

/// What a save state file says of itself, checked as far as that goes without an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFile {
    head: Head,
    movie: Vec<u8>,
    /// A keyframe as it lies in a store: only a worker takes it apart.
    pub(crate) body: Vec<u8>,
    pub(crate) blobs: Vec<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    engine_id: String,
    rom_id: String,
    nethack_version: String,
    creator: String,
    boundary: u64,
    play: PlayDigest,
    state: StateDigest,
    image_bytes: u64,
    movie: u64,
    body: u64,
    blobs: Vec<u64>,
}

/// What goes into a save state file beside its movie.
pub(crate) struct Contents<'a> {
    pub(crate) play: PlayDigest,
    pub(crate) state: StateDigest,
    pub(crate) image_bytes: u64,
    pub(crate) body: &'a [u8],
    pub(crate) blobs: &'a [Vec<u8>],
}

/// Writes a save state file of a state and the exported movie that leads to it.
pub(crate) fn write(
    header: &movie::Header,
    boundary: Boundary,
    movie: &[u8],
    contents: &Contents<'_>,
) -> std::io::Result<Vec<u8>> {
    let head = Head {
        engine_id: header.engine_id.clone(),
        rom_id: header.rom_id.clone(),
        nethack_version: header.nethack_version.clone(),
        creator: header.creator.clone(),
        boundary: boundary.0,
        play: contents.play,
        state: contents.state,
        image_bytes: contents.image_bytes,
        movie: movie.len() as u64,
        body: contents.body.len() as u64,
        blobs: contents.blobs.iter().map(|blob| blob.len() as u64).collect(),
    };
    let parts_bytes = head.movie + head.body + head.blobs.iter().sum::<u64>();
    let mut sealer = Sealer::begin(&KIND, &serde_json::to_vec(&head)?, parts_bytes, Vec::new())?;
    sealer.part(movie)?;
    sealer.part(contents.body)?;
    contents.blobs.iter().try_for_each(|blob| sealer.part(blob))?;
    sealer.end()
}

impl StateFile {
    /// Reads a save state file and checks all that can be checked without an engine: that it is as it was written and
    /// whole, and that its movie is whole and leads to the boundary and the digests that the file names.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read(bytes: &[u8]) -> Result<Self, StateFileError> {
        let (mut opener, head) = Opener::begin(&KIND, bytes)?;
        let head = match Head::parse(&head, opener.left()) {
            Ok(head) => head,
            // Of a file that is damaged, that alone is said.
            Err(error) => return opener.end().and(Err(error)),
        };
        let movie = opener.part(head.movie)?;
        let body = opener.part(head.body)?;
        let blobs = head.blobs.iter().map(|length| opener.part(*length)).collect::<Result<_, _>>()?;
        opener.end()?;
        let file = Self { head, movie, body, blobs };
        file.check_movie()?;
        Ok(file)
    }

    /// What decides play in the engine that the state is of.
    #[must_use]
    pub fn engine_id(&self) -> &str {
        &self.head.engine_id
    }

    /// The ROM that the state is of; no other reads it.
    #[must_use]
    pub fn rom_id(&self) -> &str {
        &self.head.rom_id
    }

    /// NetHack's version.
    #[must_use]
    pub fn nethack_version(&self) -> &str {
        &self.head.nethack_version
    }

    /// Name and version of the program that wrote it.
    #[must_use]
    pub fn creator(&self) -> &str {
        &self.head.creator
    }

    /// How many inputs lead to it.
    #[must_use]
    pub fn boundary(&self) -> Boundary {
        Boundary(self.head.boundary)
    }

    /// What it plays like.
    #[must_use]
    pub fn play(&self) -> PlayDigest {
        self.head.play
    }

    /// What its memory is.
    #[must_use]
    pub fn state(&self) -> StateDigest {
        self.head.state
    }

    /// The movie that leads to it, as a file of its own.
    #[must_use]
    pub fn movie(&self) -> &[u8] {
        &self.movie
    }

    /// Bytes of the state as it is stored, without the movie.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.head.body + self.head.blobs.iter().sum::<u64>()
    }

    /// Bytes of the machine's image.
    #[must_use]
    pub fn image_bytes(&self) -> u64 {
        self.head.image_bytes
    }

    /// The movie inside a file that is damaged or cut short, where the movie itself is whole: its own digests tell.
    #[must_use]
    pub fn rescue_movie(bytes: &[u8]) -> Option<Vec<u8>> {
        let (mut opener, head) = Opener::begin(&KIND, bytes).ok()?;
        let movie = opener.part(Head::parse(&head, opener.left()).ok()?.movie).ok()?;
        let recording = movie::read(&movie).ok()?;
        is_whole(&recording).then_some(movie)
    }

    /// Refuses a state that is not of the engine and the ROM that run.
    pub(crate) fn check_rom(&self, engine_id: &str, rom_id: &str) -> Result<(), Box<OtherRom>> {
        check_rom((&self.head.engine_id, &self.head.rom_id), (engine_id, rom_id))
    }

    fn check_movie(&self) -> Result<(), StateFileError> {
        let wrong = |what: &str| Err(StateFileError::Inconsistent(what.to_owned()));
        let recording = match movie::read(&self.movie) {
            Ok(recording) if is_whole(&recording) => recording,
            Ok(_) => return wrong("its movie is not whole"),
            Err(error) => return wrong(&format!("its movie can't be read: {error}")),
        };
        let (movie, head) = (&recording.movie, &self.head);
        let header = &movie.header;
        let theirs = (&header.engine_id, &header.rom_id, &header.nethack_version, &header.creator);
        if theirs != (&head.engine_id, &head.rom_id, &head.nethack_version, &head.creator) {
            return wrong("its movie is of another ROM than it is, or of another program");
        }
        if movie.boundary() != self.boundary() {
            return wrong("its movie leads to another boundary");
        }
        let last = movie.marks.last().filter(|mark| mark.at == movie.boundary());
        match last.map(|mark| &mark.kind) {
            Some(MarkKind::Digests { play, state }) if *play == head.play && *state == Some(head.state) => Ok(()),
            _ => wrong("its movie does not lead to its digests"),
        }
    }
}

impl Head {
    /// Reads a head whose parts are `left` bytes long in all.
    fn parse(bytes: &[u8], left: u64) -> Result<Self, StateFileError> {
        let head: Self = serde_json::from_slice(bytes)
            .map_err(|error| StateFileError::Inconsistent(format!("its head can't be read: {error}")))?;
        head.check_lengths(left)?;
        Ok(head)
    }

    fn check_lengths(&self, left: u64) -> Result<(), StateFileError> {
        let too_long = |what, given, max| Err(StateFileError::TooLong { what, given, max });
        let stored = self.blobs.iter().try_fold(self.body, |sum, length| sum.checked_add(*length));
        let stored = stored.unwrap_or(u64::MAX);
        let longest = stored.max(self.image_bytes);
        if self.blobs.len() > BLOBS_MAX || longest > IMAGE_BYTES_MAX {
            return too_long("its state", longest, IMAGE_BYTES_MAX);
        }
        if self.movie > movie::FILE_BYTES_MAX as u64 {
            return too_long("its movie", self.movie, movie::FILE_BYTES_MAX as u64);
        }
        if self.movie + stored != left {
            return Err(StateFileError::Inconsistent("its parts are not as long as it is".to_owned()));
        }
        Ok(())
    }
}

fn is_whole(recording: &Recording) -> bool {
    recording.is_closed() && recording.broken_chain.is_none() && recording.torn_bytes == 0
}

/// Refuses what is not of the engine and the ROM that run.
pub(crate) fn check_rom(recorded: (&str, &str), running: (&str, &str)) -> Result<(), Box<OtherRom>> {
    if recorded == running {
        return Ok(());
    }
    Err(Box::new(OtherRom {
        engine_id: recorded.0.to_owned(),
        rom_id: recorded.1.to_owned(),
        running_engine_id: running.0.to_owned(),
        running_rom_id: running.1.to_owned(),
    }))
}
