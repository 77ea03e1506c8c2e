//! The tree's file: machines, their lines and their states. `docs/formats/state.md` is the norm.

use std::collections::BTreeSet;
use std::io::Read;

use movie::{Account, Finish, Header, Movie};
use serde::{Deserialize, Serialize};
use wire::{Boundary, PlayDigest, Seed, StateDigest};

use crate::journal::marks;
use crate::line::Line;
use crate::state_file::{BLOBS_MAX, IMAGE_BYTES_MAX};
use crate::state_file_envelope::{Kind, Opener, StateFileError};
use crate::store::CHAIN_MAX;
use crate::tree_line::decode;
use crate::{Lineage, Luck, MachineId};

/// The version of the format that is written, and the only one that is read.
pub const TREE_FILE_VERSION: u32 = 1;
/// The most bytes of a tree.
pub const TREE_FILE_BYTES_MAX: u64 = 1 << 40;
/// The most bytes of all lines of a tree.
pub(crate) const LINES_BYTES_MAX: u64 = 1 << 30;
/// No account counts more.
const COUNTS_MAX: Account = Account {
    inputs: movie::COUNT_MAX,
    peeks: movie::COUNT_MAX,
    forks: movie::COUNT_MAX,
    lines: movie::COUNT_MAX,
    seeks: movie::COUNT_MAX,
    adoptions: movie::COUNT_MAX,
    reseeds: movie::COUNT_MAX,
    debugs: movie::COUNT_MAX,
    lost: movie::COUNT_MAX,
};

pub(crate) const KIND: Kind = Kind {
    magic: *b"\x89NHLTREE",
    version: TREE_FILE_VERSION,
    head_bytes_max: 64 << 20,
    file_bytes_max: TREE_FILE_BYTES_MAX,
};

/// A tree as a file has it, without its states: what machines there are, and the movies that lead to them.
#[derive(Clone, Debug)]
pub struct TreeFile {
    pub(crate) head: Head,
    /// Of each machine, in the order of the head.
    pub(crate) lines: Vec<Vec<u8>>,
}

/// A machine of a tree, as the file tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeMachine {
    /// Its id in the lab that wrote the tree.
    pub machine: MachineId,
    /// Machines with the same number go back to one power-on.
    pub game: u64,
    /// Where it was forked from, in ids of the lab that wrote the tree.
    pub lineage: Option<Lineage>,
    /// How many inputs lie behind it.
    pub boundary: Boundary,
    /// Whether its game goes on, and how it ended.
    pub finish: Finish,
    /// Whether it was closed.
    pub closed: bool,
    /// Whether the tree has its state, so that nothing needs to be replayed.
    pub has_state: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    pub(crate) engine_id: String,
    pub(crate) rom_id: String,
    pub(crate) nethack_version: String,
    pub(crate) creator: String,
    pub(crate) machines: Vec<MachineHead>,
    pub(crate) blobs: Vec<u64>,
    pub(crate) states: Vec<StateHead>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MachineHead {
    pub(crate) machine: u64,
    pub(crate) game: u64,
    pub(crate) parent: Option<ParentHead>,
    pub(crate) line: LineHead,
    pub(crate) boundary: u64,
    pub(crate) play: PlayDigest,
    pub(crate) finish: Finish,
    pub(crate) account: Account,
    pub(crate) closed: bool,
    pub(crate) state: Option<KeptHead>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParentHead {
    pub(crate) machine: u64,
    pub(crate) base: u64,
    /// Seeds of both generators, or null for the same luck.
    pub(crate) luck: Option<[Seed; 2]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineHead {
    /// The machine (by its place in the head) whose line this one is told from; null: it is a movie.
    pub(crate) after: Option<usize>,
    /// How many inputs both have in common.
    pub(crate) common: u64,
    pub(crate) bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptHead {
    pub(crate) digest: StateDigest,
    /// Its place among the states.
    pub(crate) kept: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateHead {
    /// The state, earlier in the list, that it is a delta against; null: a keyframe.
    pub(crate) base: Option<usize>,
    pub(crate) image_bytes: u64,
    pub(crate) bytes: u64,
    pub(crate) blobs: Vec<usize>,
}

/// A state of a tree: a keyframe's body or a delta, and what goes with it.
pub(crate) struct StatePart<'a> {
    pub(crate) head: &'a StateHead,
    pub(crate) body: Vec<u8>,
    pub(crate) blobs: Vec<&'a [u8]>,
}

impl TreeFile {
    /// Reads a tree and checks all that can be checked without an engine. Its states are read and not kept.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read(input: impl Read) -> Result<Self, StateFileError> {
        Self::read_states(input, &mut |_| Ok(true), &mut |_| Ok::<(), StateFileError>(()))
    }

    /// As [`TreeFile::read`]. `first` gets the head and says whether states are skipped; otherwise `sink` gets each of
    /// them. What it gets is not to be believed before this returns.
    pub(crate) fn read_states<E: From<StateFileError>>(
        input: impl Read,
        first: &mut dyn FnMut(&Head) -> Result<bool, E>,
        sink: &mut dyn FnMut(StatePart<'_>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let (mut opener, head) = Opener::begin(&KIND, input)?;
        let head = match Head::parse(&head, opener.left()) {
            Ok(head) => head,
            // Of a file that is damaged, that alone is said.
            Err(error) => return Err(opener.end().err().unwrap_or(error).into()),
        };
        let skips = first(&head)?;
        let mut lines = Vec::with_capacity(head.machines.len());
        for machine in &head.machines {
            lines.push(opener.part(machine.line.bytes)?);
        }
        if skips {
            opener.skip(opener.left())?;
        } else {
            let blobs = head.blobs.iter().map(|bytes| opener.part(*bytes)).collect::<Result<Vec<_>, _>>()?;
            for state in &head.states {
                let body = opener.part(state.bytes)?;
                let blobs = state.blobs.iter().filter_map(|blob| blobs.get(*blob)).map(Vec::as_slice).collect();
                sink(StatePart { head: state, body, blobs })?;
            }
        }
        opener.end()?;
        Ok(Self { head, lines })
    }

    /// What decides play in the engine that the tree is of.
    #[must_use]
    pub fn engine_id(&self) -> &str {
        &self.head.engine_id
    }

    /// The ROM that its states are of; no other reads them.
    #[must_use]
    pub fn rom_id(&self) -> &str {
        &self.head.rom_id
    }

    /// Name and version of the program that wrote it.
    #[must_use]
    pub fn creator(&self) -> &str {
        &self.head.creator
    }

    /// Its machines, parents before their forks.
    #[must_use]
    pub fn machines(&self) -> Vec<TreeMachine> {
        let machine = |head: &MachineHead| TreeMachine {
            machine: MachineId(head.machine),
            game: head.game,
            lineage: head.lineage(),
            boundary: Boundary(head.boundary),
            finish: head.finish.clone(),
            closed: head.closed,
            has_state: head.state.is_some(),
        };
        self.head.machines.iter().map(machine).collect()
    }

    /// How many states it holds, those between a keyframe and a machine's state included, and their bytes.
    #[must_use]
    pub fn states(&self) -> (usize, u64) {
        (self.head.states.len(), self.head.states_bytes())
    }

    /// The movie of a machine, as a file of its own; nothing when the tree has no such machine.
    ///
    /// # Errors
    /// Lines that do not hold together.
    pub fn movie(&self, machine: MachineId) -> Result<Option<Vec<u8>>, StateFileError> {
        let Some(place) = self.head.machines.iter().position(|head| head.machine == machine.0) else {
            return Ok(None);
        };
        let movies = self.movies(true)?;
        let exported = movies.get(place).map(|movie| movie::export(&movie.movie()));
        exported.transpose().map_err(|error| StateFileError::Inconsistent(error.to_string()))
    }

    /// The header and the line of every machine. Digests of memory are left out where another ROM runs.
    pub(crate) fn movies(&self, same_rom: bool) -> Result<Vec<Branch>, StateFileError> {
        let wrong = |place: usize, what: &str| StateFileError::Inconsistent(format!("its machine {place}: {what}"));
        let mut branches: Vec<Branch> = Vec::with_capacity(self.lines.len());
        for (place, (head, bytes)) in self.head.machines.iter().zip(&self.lines).enumerate() {
            let (header, mut line) = match head.line.after.and_then(|after| branches.get(after)) {
                Some(base) => (base.header.clone(), base.line.prefix(Boundary(head.line.common))),
                None => self.first_line(bytes, same_rom).map_err(|what| wrong(place, &what))?,
            };
            if head.line.after.is_some() {
                decode(bytes, &mut line, same_rom)?;
            }
            if line.end().0 != head.boundary {
                return Err(wrong(place, "its line leads to another boundary"));
            }
            branches.push(Branch { header, line, finish: head.finish.clone(), account: head.account });
        }
        Ok(branches)
    }

    fn first_line(&self, bytes: &[u8], same_rom: bool) -> Result<(Header, Line), String> {
        let recording = movie::read(bytes).map_err(|error| error.to_string())?;
        if !recording.is_closed() || recording.broken_chain.is_some() || recording.torn_bytes > 0 {
            return Err("its movie is not whole".to_owned());
        }
        let header = &recording.movie.header;
        let theirs = (&header.engine_id, &header.rom_id, &header.nethack_version);
        if theirs != (&self.head.engine_id, &self.head.rom_id, &self.head.nethack_version) {
            return Err("its movie is of another ROM than the tree".to_owned());
        }
        header.power_on.check().map_err(|error| error.to_string())?;
        let line = crate::resume::line_of(&recording.movie, same_rom).map_err(|error| error.to_string())?;
        Ok((recording.movie.header, line))
    }
}

/// A machine's line with what makes a movie of it.
pub(crate) struct Branch {
    pub(crate) header: Header,
    pub(crate) line: Line,
    pub(crate) finish: Finish,
    pub(crate) account: Account,
}

impl Branch {
    pub(crate) fn movie(&self) -> Movie {
        Movie {
            header: self.header.clone(),
            steps: self.line.steps_from(Boundary(0)).copied().collect(),
            marks: marks(&self.line),
            finish: self.finish.clone(),
            account: self.account,
        }
    }
}

impl MachineHead {
    pub(crate) fn lineage(&self) -> Option<Lineage> {
        self.parent.as_ref().map(|parent| Lineage {
            parent: MachineId(parent.machine),
            base: Boundary(parent.base),
            luck: parent.luck.map_or(Luck::Same, |[core, display]| Luck::Reseed { core, display }),
        })
    }
}

impl Head {
    /// Reads a head whose parts are `left` bytes long in all.
    fn parse(bytes: &[u8], left: u64) -> Result<Self, StateFileError> {
        let head: Self = serde_json::from_slice(bytes)
            .map_err(|error| StateFileError::Inconsistent(format!("its head can't be read: {error}")))?;
        let checked = head.check(left);
        checked.map(|()| head)
    }

    /// Bytes of all states as they are stored.
    pub(crate) fn states_bytes(&self) -> u64 {
        let bodies = self.states.iter().map(|state| state.bytes);
        self.blobs.iter().copied().chain(bodies).fold(0, u64::saturating_add)
    }

    fn check(&self, left: u64) -> Result<(), StateFileError> {
        let wrong = |what: &str| Err(StateFileError::Inconsistent(what.to_owned()));
        let too_long = |what, given, max| Err(StateFileError::TooLong { what, given, max });
        let lines = self.machines.iter().map(|machine| machine.line.bytes).fold(0, u64::saturating_add);
        if lines > LINES_BYTES_MAX {
            return too_long("its lines", lines, LINES_BYTES_MAX);
        }
        let bodies = self.states.iter().flat_map(|state| [state.bytes, state.image_bytes]);
        let longest = self.blobs.iter().copied().chain(bodies).max().unwrap_or(0);
        if longest > IMAGE_BYTES_MAX {
            return too_long("one of its states", longest, IMAGE_BYTES_MAX);
        }
        if lines.checked_add(self.states_bytes()) != Some(left) {
            return wrong("its parts are not as long as it is");
        }
        if !self.texts_are_printable() {
            return wrong("a text has characters that it can't have");
        }
        if !self.machines.iter().all(|machine| COUNTS_MAX.covers(&machine.account)) {
            return wrong("an account counts too much");
        }
        let mut names = BTreeSet::new();
        if !self.machines.iter().all(|machine| names.insert(machine.machine)) {
            return wrong("two of its machines have one name");
        }
        if !self.lines_hold_together() {
            return wrong("a machine's line is told from one that is not there");
        }
        if !self.states_hold_together() {
            return wrong("a state is told from one that is not there, or from too many");
        }
        Ok(())
    }

    /// Whoever shows a tree's texts can do so as they are.
    fn texts_are_printable(&self) -> bool {
        let plain = |text: &str| text.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
        let ends = self.machines.iter().filter_map(|machine| match &machine.finish {
            Finish::Ended(ended) => Some(ended.text.as_str()),
            Finish::Open | Finish::Unknown => None,
        });
        let ids = [&self.engine_id, &self.rom_id, &self.nethack_version, &self.creator];
        ids.iter().all(|text| text.len() <= movie::HEADER_TEXT_BYTES_MAX && plain(text))
            && ends.into_iter().all(|text| !text.contains(char::is_control))
    }

    fn lines_hold_together(&self) -> bool {
        self.machines.iter().enumerate().all(|(place, machine)| {
            let state = machine.state.as_ref().is_none_or(|state| state.kept < self.states.len());
            let base = machine.line.after.map(|after| self.machines.get(after).filter(|_| after < place));
            let line = match base {
                Some(Some(base)) => base.game == machine.game && machine.line.common <= base.boundary,
                Some(None) => false,
                None => machine.line.common == 0,
            };
            let fork = machine.parent.as_ref().is_none_or(|parent| parent.machine != machine.machine);
            state && line && fork && machine.finish != Finish::Unknown
        })
    }

    fn states_hold_together(&self) -> bool {
        let mut depths: Vec<u8> = Vec::with_capacity(self.states.len());
        for state in &self.states {
            let blobs = state.blobs.len() <= BLOBS_MAX && state.blobs.iter().all(|blob| *blob < self.blobs.len());
            let depth = match state.base {
                None => Some(0),
                // A delta has no files of its own.
                Some(base) if state.blobs.is_empty() => depths.get(base).map(|depth| depth + 1),
                Some(_) => None,
            };
            match depth.filter(|depth| blobs && *depth <= CHAIN_MAX) {
                Some(depth) => depths.push(depth),
                None => return false,
            }
        }
        true
    }
}
