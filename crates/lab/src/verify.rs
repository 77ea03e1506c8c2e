use std::sync::Arc;

use movie::{Act, Finish, Holdings, Judge, Movie, Recording, Verdict};
use wire::{Batch, Check, EditError, EndKind, Ended, Event, Frame, PlayDigest, PowerOn, StateDigest};
use worker::Report;

use crate::lab::Inner;
use crate::line::Leg;
use crate::replay::Replay;
use crate::task::{TRIES, Trouble};
use crate::{Boundary, Control, Lab, LabError, MachineId, Step};

/// What a replay from power-on says about a movie.
#[derive(Clone, Debug)]
pub struct VerifyReport {
    /// Its verdict; it names the first input after which play differs.
    pub verdict: Verdict,
    /// What the movie was powered on with.
    pub power_on: PowerOn,
    /// The engine that the movie names.
    pub engine_id: String,
    /// The ROM that the movie names.
    pub rom_id: String,
    /// How many inputs were replayed.
    pub inputs: u64,
    /// How many the movie has.
    pub inputs_recorded: u64,
    /// What the movie holds and claims beside plain play, whatever the verdict.
    pub holds: Holdings,
    /// How many bytes at the file's end were torn and left out.
    pub torn_bytes: usize,
    /// The digests where the replay came to its end.
    pub play: Option<PlayDigest>,
    /// The same for the whole image, where its engine still tells it.
    pub state: Option<StateDigest>,
    /// How the game ended in the replay.
    pub ended: Option<Ended>,
    /// The replay's frame at the boundary that a desync names.
    pub replayed_frame: Option<Arc<Frame>>,
    /// The recorded machine's frame at that boundary, where that machine was given and has it.
    pub recorded_frame: Option<Arc<Frame>>,
}

impl Lab {
    /// Replays a movie or journal from power-on in a fresh worker and compares every check and digest. `recorded` may
    /// name the machine that the movie is of, which then gives its own frame where they part.
    ///
    /// # Errors
    /// [`LabError::BadMovie`] when it can't be read at all, [`LabError::LimitExceeded`], [`LabError::Cancelled`]. A lost
    /// worker is no error but the verdict `cannot-judge`, and so is a ROM that crashes, hangs or asks for the unsupported
    /// where the movie does not say so.
    pub fn verify(
        &self,
        movie: &[u8],
        recorded: Option<MachineId>,
        control: &Control<'_>,
    ) -> Result<VerifyReport, LabError> {
        let lab = &self.0;
        let recorded = recorded.map(|machine| lab.slot(machine)).transpose()?;
        let recording = lab.read_movie(movie)?;
        let mut tries = 0;
        let mut report = loop {
            tries += 1;
            let mut trial = Trial::new(lab, &recording);
            match trial.replay(&recording, control) {
                Err(Trouble::Fatal(LabError::Cancelled)) => return Err(LabError::Cancelled),
                Err(Trouble::Lost(_)) if tries < TRIES => {}
                Err(trouble) => {
                    trial.judge.give_up(&trouble.into_error().to_string());
                    break trial.report(&recording);
                }
                Ok(()) => break trial.report(&recording),
            }
        };
        if let Verdict::Desync(desync) = &report.verdict {
            report.replayed_frame = lab.replayed_frame(&recording, desync.boundary, control);
            let frame = |slot: Arc<crate::slot::Slot>| lab.tip_at(&slot, Some(desync.boundary), control).ok();
            report.recorded_frame = recorded.and_then(frame).map(|tip| tip.frame);
        }
        Ok(report)
    }
}

/// A replay before its judge.
struct Trial<'a> {
    lab: &'a Inner,
    judge: Judge<'a>,
    inputs: u64,
    last: Option<Report>,
}

impl<'a> Trial<'a> {
    fn new(lab: &'a Inner, recording: &'a Recording) -> Self {
        let identity = lab.engine.identity();
        Self { lab, judge: Judge::new(recording, &identity.engine_id, &identity.rom_id), inputs: 0, last: None }
    }

    fn replay(&mut self, recording: &Recording, control: &Control<'_>) -> Result<(), Trouble> {
        if self.judge.is_decided() {
            return Ok(());
        }
        let (mut replay, report) = Replay::power_on(self.lab, &recording.movie.header.power_on, control, false)?;
        self.take(report, recording);
        let total = recording.movie.steps.len() as u64;
        for act in recording.movie.acts(self.lab.limits().chunk_keys) {
            if self.judge.is_decided() {
                break;
            }
            if control.is_cancelled() {
                return Err(Trouble::Fatal(LabError::Cancelled));
            }
            match act {
                Act::Press { at, steps } => self.take(replay.go(&leg(at, None, steps), false)?, recording),
                Act::Reseed { at, core, display } => {
                    let reseed = Event::Reseed { core, display };
                    self.take(replay.go(&leg(at, Some(reseed), &[]), false)?, recording);
                }
                Act::Compare { .. } => {
                    if let Some(last) = &self.last {
                        self.judge.digests(last.play, last.state_digest);
                    }
                }
                Act::Debug { at, args } => match edited(&mut replay, at, args) {
                    Ok(report) => self.take(report, recording),
                    Err(Trouble::Fatal(LabError::EditRefused(reason))) => self.judge.edit_refused(&reason),
                    Err(trouble) => return Err(trouble),
                },
            }
            control.report(self.inputs, total);
        }
        Ok(())
    }

    fn take(&mut self, report: Report, recording: &Recording) {
        let end = self.inputs + report.checks.len() as u64;
        let broken =
            report.ended.as_ref().filter(|ended| has_broken(ended, end, report.checks.last(), &recording.movie));
        // What the input that broke the engine did on the way proves nothing.
        let sound = report.checks.len() - usize::from(broken.is_some()).min(report.checks.len());
        for check in report.checks.iter().take(sound) {
            self.judge.check(*check);
        }
        self.inputs = end;
        match (&report.ended, broken) {
            (_, Some(ended)) => {
                let place = end.checked_sub(1).map_or("power-on".to_owned(), |input| format!("input {input}"));
                self.judge.give_up(&format!("the ROM failed: {} at {place}", ended.text));
            }
            (Some(ended), None) => self.judge.ended(ended),
            (None, None) => {}
        }
        self.last = Some(report);
    }

    fn report(self, recording: &Recording) -> VerifyReport {
        let header = &recording.movie.header;
        let (play, state, ended) = match self.last {
            Some(report) => (Some(report.play), report.state_digest, report.ended),
            None => (None, None, None),
        };
        VerifyReport {
            verdict: self.judge.finish(),
            power_on: header.power_on.clone(),
            engine_id: header.engine_id.clone(),
            rom_id: header.rom_id.clone(),
            inputs: self.inputs,
            inputs_recorded: recording.movie.steps.len() as u64,
            holds: Holdings::of(&recording.movie),
            torn_bytes: recording.torn_bytes,
            play,
            state,
            ended,
            replayed_frame: None,
            recorded_frame: None,
        }
    }
}

/// True when an engine has failed where the movie does not say so. How a ROM breaks is no play that could differ.
fn has_broken(ended: &Ended, inputs: u64, last: Option<&Check>, movie: &Movie) -> bool {
    let recorded = match &movie.finish {
        Finish::Ended(recorded) => recorded.kind == ended.kind,
        // Its writer need not have come to the last line; then the last input's check has to do.
        Finish::Unknown => movie.steps.last().map(|step| &step.check) == last,
        Finish::Open => false,
    };
    let fails = matches!(ended.kind, EndKind::Crashed | EndKind::Hung | EndKind::Unsupported);
    fails && !(recorded && inputs == movie.boundary().0)
}

fn leg(from: Boundary, event: Option<Event>, steps: &[Step]) -> Leg {
    Leg { from, event, steps: steps.to_vec(), before_event: false }
}

/// Makes a movie's edit. The judge has refused a movie with one that is none.
fn edited(replay: &mut Replay<'_>, at: Boundary, args: &str) -> Result<Report, Trouble> {
    let edit = args.parse().map_err(|error: EditError| Trouble::Fatal(error.into()))?;
    replay.go(&leg(at, Some(Event::Edit(edit)), &[]), false)
}

impl Inner {
    pub(crate) fn read_movie(&self, bytes: &[u8]) -> Result<Recording, LabError> {
        if bytes.len() > self.limits().movie_bytes {
            return Err(LabError::LimitExceeded {
                what: "bytes of a movie",
                given: bytes.len() as u64,
                max: self.limits().movie_bytes as u64,
            });
        }
        movie::read(bytes).map_err(|error| LabError::of_movie(bytes, &error))
    }

    /// What a replay of a recording's keys shows at a boundary, whatever its checks say.
    fn replayed_frame(&self, recording: &Recording, at: Boundary, control: &Control<'_>) -> Option<Arc<Frame>> {
        let power_on = &recording.movie.header.power_on;
        let (mut replay, mut report) = Replay::power_on(self, power_on, control, false).ok()?;
        for act in recording.movie.acts(self.limits().chunk_keys) {
            report = match act {
                Act::Press { at: from, steps } => {
                    let left = usize::try_from(at.0.saturating_sub(from.0)).unwrap_or(usize::MAX);
                    let keys: Vec<_> = steps.iter().take(left).map(|step| step.key).collect();
                    if keys.is_empty() {
                        break;
                    }
                    replay.press(Batch::forced(keys)).ok()?
                }
                Act::Reseed { at: from, core, display } if from < at => {
                    replay.go(&leg(from, Some(Event::Reseed { core, display }), &[]), false).ok()?
                }
                Act::Debug { at: from, args } if from < at => edited(&mut replay, from, args).ok()?,
                Act::Reseed { .. } | Act::Compare { .. } | Act::Debug { .. } => continue,
            };
        }
        report.frame.map(Arc::new)
    }
}
