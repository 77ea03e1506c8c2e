//! The keys that led from power-on to where a game is, shared between a game and its forks.

use std::sync::Arc;

use movie::{Account, DIGESTS_EVERY, Finish, Header, Mark, MarkKind, Movie, Step};
use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use wire::{Boundary, Edit, Ended, PlayDigest, PowerOn, Seed, StateDigest};

/// Steps that are put together, so that a fork copies at most so many.
const SEALED_STEPS: usize = 1_024;

/// All inputs since power-on.
#[derive(Clone, Default)]
pub(crate) struct Line {
    sealed: Vec<Arc<[Step]>>,
    tail: Vec<Step>,
    marks: Vec<Mark>,
}

impl Line {
    /// How many keys it has.
    pub(crate) fn boundary(&self) -> u64 {
        (self.sealed.len() * SEALED_STEPS + self.tail.len()) as u64
    }

    pub(crate) fn push(&mut self, step: Step) {
        self.tail.push(step);
        if self.tail.len() == SEALED_STEPS {
            self.sealed.push(self.tail.as_slice().into());
            self.tail.clear();
        }
    }

    /// True where a movie that is whole has digests.
    pub(crate) fn digests_due(&self) -> bool {
        self.boundary().is_multiple_of(DIGESTS_EVERY)
    }

    pub(crate) fn mark_digests(&mut self, play: PlayDigest, state: StateDigest) {
        self.mark(MarkKind::Digests { play, state: Some(state) });
    }

    /// The seeds, core and display, that a running game was given last.
    pub(crate) fn last_reseed(&self) -> Option<(u64, u64)> {
        self.marks.iter().rev().find_map(|mark| match mark.kind {
            MarkKind::Reseed { core, display } => Some((core.0, display.0)),
            _ => None,
        })
    }

    pub(crate) fn mark_reseed(&mut self, core: Seed, display: Seed) {
        self.mark(MarkKind::Reseed { core, display });
    }

    pub(crate) fn mark_edit(&mut self, edit: &Edit) {
        self.mark(MarkKind::Debug { args: edit.to_string() });
    }

    fn mark(&mut self, kind: MarkKind) {
        self.marks.push(Mark { at: Boundary(self.boundary()), kind });
    }

    /// All steps in order.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.sealed.iter().flat_map(|steps| steps.iter()).chain(&self.tail)
    }

    /// The line of a movie.
    pub(crate) fn of(movie: &Movie) -> Self {
        let mut line = Self { marks: movie.marks.clone(), ..Self::default() };
        movie.steps.iter().for_each(|step| line.push(*step));
        line
    }

    /// The movie of this line.
    pub(crate) fn movie(&self, record: &PowerOn, ended: Option<&Ended>) -> Movie {
        let rom = rom::built_in();
        let steps: Vec<_> = self.steps().copied().collect();
        let count = |kind: fn(&MarkKind) -> bool| self.marks.iter().filter(|mark| kind(&mark.kind)).count() as u64;
        let reseeds = count(|kind| matches!(kind, MarkKind::Reseed { .. }));
        let debugs = count(|kind| matches!(kind, MarkKind::Debug { .. }));
        Movie {
            header: Header {
                engine_id: rom.engine_id().to_owned(),
                rom_id: rom.rom_id().to_owned(),
                nethack_version: rom.nethack_version().to_owned(),
                creator: concat!("nethack_lab ", env!("CARGO_PKG_VERSION")).to_owned(),
                power_on: record.clone(),
            },
            account: Account { inputs: steps.len() as u64, reseeds, debugs, ..Account::default() },
            steps,
            marks: self.marks.clone(),
            finish: ended.map_or(Finish::Open, |ended| Finish::Ended(ended.clone())),
        }
    }

    /// The file of the movie of this line, with the digests of its end.
    pub(crate) fn export(
        &self,
        record: &PowerOn,
        ended: Option<&Ended>,
        digests: (PlayDigest, StateDigest),
    ) -> PyResult<Vec<u8>> {
        let mut movie = self.movie(record, ended);
        let end = movie.boundary();
        let known =
            movie.marks.last().is_some_and(|mark| mark.at == end && matches!(mark.kind, MarkKind::Digests { .. }));
        if !known {
            movie.marks.push(Mark { at: end, kind: MarkKind::Digests { play: digests.0, state: Some(digests.1) } });
        }
        movie::export(&movie).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}
