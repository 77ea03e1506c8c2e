use wire::{Boundary, Check, Edit, Ended, PlayDigest, StateDigest};

use crate::format::Finish;
use crate::movie::{Mark, MarkKind};
use crate::reader::Recording;
use crate::verdict::{CannotJudge, Desync, Difference, Verdict};

/// Compares a replay from power-on with a movie, step by step. It plays nothing: who replays follows
/// [`crate::Movie::acts`] and tells the judge what the machine gives.
#[derive(Debug)]
pub struct Judge<'a> {
    recording: &'a Recording,
    same_rom: bool,
    inputs: usize,
    marks: usize,
    compared: Compared,
    ended: Option<Ended>,
    verdict: Option<Verdict>,
}

/// How much was compared: what a good verdict rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Checks of inputs.
    pub checks: u64,
    /// Whole play digests.
    pub play_digests: u64,
    /// State digests.
    pub state_digests: u64,
}

impl<'a> Judge<'a> {
    /// Begins with a movie and the engine and ROM that it is replayed with. It may have its verdict at once.
    #[must_use]
    pub fn new(recording: &'a Recording, engine_id: &str, rom_id: &str) -> Self {
        let header = &recording.movie.header;
        let mut judge = Self {
            recording,
            same_rom: header.rom_id == rom_id,
            inputs: 0,
            marks: 0,
            compared: Compared::default(),
            ended: None,
            verdict: None,
        };
        if header.engine_id != engine_id {
            judge.cannot(CannotJudge::OtherEngine { movie: header.engine_id.clone(), ours: engine_id.to_owned() });
        } else if let Err(error) = header.power_on.check() {
            judge.cannot(error.into());
        } else if let Some(edit) = recording.movie.marks.iter().find(|mark| is_unknown_edit(mark)) {
            judge.cannot(CannotJudge::Debug(edit.at));
        }
        judge
    }

    /// True once nothing that follows can change the verdict.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.verdict.is_some()
    }

    /// How much was compared so far, differences included.
    #[must_use]
    pub fn compared(&self) -> Compared {
        self.compared
    }

    /// True where [`Self::digests`] needs the state digest too: the ROM is the movie's.
    #[must_use]
    pub fn compares_states(&self) -> bool {
        self.same_rom
    }

    /// The boundary that the replay has come to.
    #[must_use]
    pub fn boundary(&self) -> Boundary {
        Boundary(self.inputs as u64)
    }

    /// Takes the play digest's first bits after the next input.
    pub fn check(&mut self, actual: Check) {
        if self.verdict.is_some() {
            return;
        }
        self.pass_events();
        let skipped = self.next_mark().is_some_and(|mark| mark.at <= self.boundary());
        let Some(step) = self.recording.movie.steps.get(self.inputs).filter(|_| !skipped) else {
            return self.cannot(CannotJudge::Incomplete(self.boundary()));
        };
        self.inputs += 1;
        self.compared.checks += 1;
        if step.check != actual {
            let expected = step.check;
            let is_first = self.inputs == 1 && self.compared.play_digests == 0;
            self.desync(if is_first {
                Difference::First { expected, actual }
            } else {
                Difference::Check { expected, actual }
            });
        }
    }

    /// Takes the digests of the machine where the movie has some.
    pub fn digests(&mut self, play: PlayDigest, state: Option<StateDigest>) {
        if self.verdict.is_some() {
            return;
        }
        self.pass_events();
        let at = self.boundary();
        let expected = match self.next_mark() {
            Some(Mark { at: here, kind: MarkKind::Digests { play, state } }) if *here == at => Some((*play, *state)),
            _ => None,
        };
        let Some((expected_play, expected_state)) = expected else {
            return self.cannot(CannotJudge::Incomplete(at));
        };
        self.marks += 1;
        self.compared.play_digests += 1;
        if expected_play != play {
            return self.desync(Difference::Play { expected: expected_play, actual: play });
        }
        match (expected_state.filter(|_| self.same_rom), state) {
            (Some(expected), Some(actual)) => {
                self.compared.state_digests += 1;
                if expected != actual {
                    self.desync(Difference::State { expected, actual });
                }
            }
            (Some(_), None) => self.cannot(CannotJudge::Incomplete(at)),
            (None, _) => {}
        }
    }

    /// Takes the news that the game ended with the last input (or with power-on). Digests of the end may still follow.
    pub fn ended(&mut self, ended: &Ended) {
        let left = self.recording.movie.steps.len() - self.inputs;
        if left > 0 {
            let actual = Box::new(ended.clone());
            self.desync(Difference::EndedEarly { inputs_left: left as u64, actual });
        }
        self.ended = Some(ended.clone());
    }

    /// Takes the news that the game refuses an edit that was made when the movie was.
    pub fn edit_refused(&mut self, reason: &str) {
        self.desync(Difference::Edit { reason: reason.to_owned() });
    }

    /// Takes the news that the replay can't go on: the worker was lost, or somebody stopped it.
    pub fn give_up(&mut self, reason: &str) {
        self.cannot(CannotJudge::Worker(reason.to_owned()));
    }

    /// The verdict, after all acts of the replay or as soon as it is decided.
    #[must_use]
    pub fn finish(mut self) -> Verdict {
        self.pass_events();
        if self.inputs < self.recording.movie.steps.len() || self.next_mark().is_some() {
            self.cannot(CannotJudge::Incomplete(self.boundary()));
        }
        let expected = &self.recording.movie.finish;
        if !finish_agrees(expected, self.ended.as_ref()) {
            let actual = self.ended.clone().map(Box::new);
            self.desync(Difference::Finish { expected: Box::new(expected.clone()), actual });
        }
        self.verdict.unwrap_or(match self.recording.broken_chain {
            Some(line) => Verdict::Altered { line },
            None if self.same_rom => Verdict::Exact,
            None => Verdict::SamePlay,
        })
    }

    fn next_mark(&self) -> Option<&'a Mark> {
        self.recording.movie.marks.get(self.marks)
    }

    /// Reseeds and edits are the replay's affair: what they do shows in what follows.
    fn pass_events(&mut self) {
        let at = self.boundary();
        while self.next_mark().is_some_and(|mark| mark.at <= at && !matches!(mark.kind, MarkKind::Digests { .. })) {
            self.marks += 1;
        }
    }

    fn desync(&mut self, difference: Difference) {
        let steps = &self.recording.movie.steps;
        let key = self.inputs.checked_sub(1).and_then(|last| steps.get(last)).map(|step| step.key);
        let boundary = self.boundary();
        self.verdict.get_or_insert(Verdict::Desync(Desync { boundary, key, difference }));
    }

    fn cannot(&mut self, reason: CannotJudge) {
        self.verdict.get_or_insert(Verdict::CannotJudge(reason));
    }
}

fn is_unknown_edit(mark: &Mark) -> bool {
    matches!(&mark.kind, MarkKind::Debug { args } if args.parse::<Edit>().is_err())
}

/// Ends that the game's rules know are compared word for word. A failing engine fails in its own words (a signal's
/// name, a diagnosis), so there the kind decides.
fn finish_agrees(expected: &Finish, actual: Option<&Ended>) -> bool {
    match (expected, actual) {
        (Finish::Unknown, _) | (Finish::Open, None) => true,
        (Finish::Ended(expected), Some(actual)) => {
            expected == actual || (!expected.kind.is_regular() && expected.kind == actual.kind)
        }
        (Finish::Open, Some(_)) | (Finish::Ended(_), None) => false,
    }
}
