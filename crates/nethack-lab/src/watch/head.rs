use std::cell::RefCell;
use std::sync::Arc;

use lab::{Boundary, Control, Lab, Luck, RunReport, Snapshot, Step, Urgency};
use movie::{Act, Movie};
use wire::{Batch, Event, Frame};

/// Keys that are pressed in one go.
const KEYS_AT_ONCE: usize = 2_000;

/// A machine of our own that is led along a line which somebody else has recorded.
pub(super) struct Head {
    lab: Lab,
    pub(super) snapshot: Snapshot,
    steps: Vec<Step>,
    events: Vec<(Boundary, Event)>,
}

/// What is told of each boundary that the machine comes to, and how it ended there.
pub(super) type Each<'a> = dyn FnMut(u64, &Frame) + 'a;

/// Where a step along the line has led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Led {
    /// There is more to go.
    On,
    /// The end of the line is reached.
    Whole,
    /// The replay does not come to what was recorded.
    Astray(u64),
}

impl Head {
    /// Powers on as the movie did.
    pub(super) fn new(lab: &Lab, movie: &Movie) -> anyhow::Result<Self> {
        let snapshot = lab.new_game(movie.header.power_on.clone(), false)?;
        Ok(Self::standing(lab, snapshot))
    }

    /// Over a machine that was powered on and no more.
    pub(super) fn standing(lab: &Lab, snapshot: Snapshot) -> Self {
        Self { lab: lab.clone(), snapshot, steps: Vec::new(), events: Vec::new() }
    }

    /// Lets the machine go: nobody asks for it any more.
    pub(super) fn close(self) {
        // It can only be gone already.
        let _ = self.lab.delete(self.snapshot.machine, None);
    }

    pub(super) fn boundary(&self) -> u64 {
        self.snapshot.boundary.0
    }

    /// Goes back to where the line parts from the movie's, if it does: a journal's seeks and adoptions take back what was
    /// pressed. Tells the boundary that it went back to.
    pub(super) fn rejoin(&mut self, movie: &Movie) -> anyhow::Result<Option<u64>> {
        let common = self.steps.iter().zip(&movie.steps).take_while(|(a, b)| a == b).count();
        let theirs = events(movie);
        let behind = self.events.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
        let events_agree =
            behind == self.events.len() && theirs.get(behind).is_none_or(|(at, _)| at.0 >= self.boundary());
        if common == self.steps.len() && events_agree {
            return Ok(None);
        }
        let before = self.snapshot.machine;
        let last_event = self.events.last().map_or(0, |(at, _)| at.0 + 1);
        if events_agree && common as u64 >= last_event {
            let fork = self.lab.fork(before, Some(Boundary(common as u64)), Luck::Same, 1)?.pop();
            self.snapshot = fork.ok_or_else(|| anyhow::anyhow!("no fork was made"))?;
            self.steps.truncate(common);
        } else {
            *self = Self::new(&self.lab, movie)?;
        }
        self.lab.delete(before, None)?;
        Ok(Some(self.boundary()))
    }

    /// Goes on along the movie by some keys, from where it has joined it. With `each`, keys go one at a time.
    pub(super) fn go_on(&mut self, movie: &Movie, each: Option<&mut Each<'_>>) -> anyhow::Result<Led> {
        let done = self.boundary();
        let mut known = self.events.len();
        for act in movie.acts(KEYS_AT_ONCE) {
            match act {
                Act::Press { at, steps } if at.0 + steps.len() as u64 > done => {
                    let skip = usize::try_from(done.saturating_sub(at.0)).unwrap_or(usize::MAX);
                    return self.press(steps.get(skip..).unwrap_or_default(), each);
                }
                Act::Reseed { .. } | Act::Debug { .. } if known > 0 => known -= 1,
                Act::Reseed { at, core, display } => {
                    self.happen(at, Event::Reseed { core, display })?;
                    return Ok(Led::On);
                }
                Act::Debug { at, args } => {
                    self.happen(at, Event::Edit(args.parse()?))?;
                    return Ok(Led::On);
                }
                Act::Press { .. } | Act::Compare { .. } => {}
            }
        }
        Ok(Led::Whole)
    }

    fn press(&mut self, steps: &[Step], each: Option<&mut Each<'_>>) -> anyhow::Result<Led> {
        let batch = Batch::forced(steps.iter().map(|step| step.key).collect());
        let from = self.boundary();
        let report = match each {
            Some(each) => self.press_each(&batch, each)?,
            None => self.run(&batch, None)?,
        };
        let pressed = report.inputs.len();
        self.snapshot = report.snapshot;
        self.steps.extend(steps.iter().take(pressed));
        let last = steps.get(pressed.wrapping_sub(1));
        if pressed < steps.len() || last.is_none_or(|last| last.check != self.snapshot.play.check()) {
            return Ok(Led::Astray(from + pressed as u64));
        }
        Ok(Led::On)
    }

    fn press_each(&self, batch: &Batch, each: &mut Each<'_>) -> anyhow::Result<RunReport> {
        let now = RefCell::new((self.boundary(), each));
        let look = |frame: &Frame| {
            let mut now = now.borrow_mut();
            now.0 += 1;
            let boundary = now.0;
            (now.1)(boundary, frame);
            false
        };
        let report = self.run(batch, Some(&look))?;
        let (seen, each) = now.into_inner();
        // Where the game ends there is a last frame, and nobody was asked about it.
        if seen < report.snapshot.boundary.0 {
            each(report.snapshot.boundary.0, &report.snapshot.frame);
        }
        Ok(report)
    }

    fn run(&self, batch: &Batch, look: Option<&dyn Fn(&Frame) -> bool>) -> anyhow::Result<RunReport> {
        let control = Control { stop_when: look, urgency: Urgency::Bulk, ..Control::default() };
        Ok(self.lab.run(self.snapshot.machine, self.snapshot.revision, batch, &control)?)
    }

    /// New random numbers are a fork's: the machine goes on as one.
    fn happen(&mut self, at: Boundary, event: Event) -> anyhow::Result<()> {
        let before = self.snapshot.machine;
        match &event {
            Event::Edit(edit) => self.snapshot = self.lab.edit(before, self.snapshot.revision, edit)?,
            Event::Reseed { core, display } => {
                let luck = Luck::Reseed { core: *core, display: *display };
                let fork = self.lab.fork(before, None, luck, 1)?.pop();
                self.snapshot = fork.ok_or_else(|| anyhow::anyhow!("no fork was made"))?;
                self.lab.delete(before, None)?;
            }
        }
        self.events.push((at, event));
        Ok(())
    }
}

/// What happens in a movie beside its inputs. An edit that this program does not know ends it.
fn events(movie: &Movie) -> Vec<(Boundary, Event)> {
    let event = |act| match act {
        Act::Reseed { at, core, display } => Some((at, Event::Reseed { core, display })),
        Act::Debug { at, args } => Some((at, Event::Edit(args.parse().ok()?))),
        _ => None,
    };
    movie.acts(usize::MAX).filter_map(event).collect()
}

/// Frames after one another: those of the boundary given and of the next ones, by a fork that is gone afterwards.
///
/// # Errors
/// As the lab has them.
pub(super) fn frames(lab: &Lab, of: &Snapshot, from: u64, count: usize) -> anyhow::Result<Vec<Arc<Frame>>> {
    let line = lab.history(of.machine, Boundary(from), count.saturating_sub(1))?;
    // What happens on the way beside inputs belongs to a line and not to a fork of it.
    let edited = line.edits.first().map_or(u64::MAX, |(at, _)| at.0);
    let until = line.reseeds.first().map_or(u64::MAX, |reseed| reseed.at.0).min(edited);
    let most = usize::try_from(until.saturating_sub(from)).unwrap_or(usize::MAX);
    let keys: Vec<_> = line.steps.iter().take(most).map(|step| step.key).collect();
    if keys.is_empty() {
        return Ok(vec![lab.frame_at(of.machine, Boundary(from), &Control::default())?]);
    }
    let fork = lab.fork(of.machine, Some(Boundary(from)), Luck::Same, 1)?.pop();
    let fork = fork.ok_or_else(|| anyhow::anyhow!("no fork was made"))?;
    let mut frames = vec![Arc::clone(&fork.frame)];
    let wanted = keys.len() + 1;
    let seen = RefCell::new(&mut frames);
    let look = |frame: &Frame| {
        seen.borrow_mut().push(Arc::new(frame.clone()));
        false
    };
    let control = Control { stop_when: Some(&look), ..Control::default() };
    let ran = lab.run(fork.machine, fork.revision, &Batch::forced(keys), &control);
    lab.delete(fork.machine, None)?;
    let ran = ran?;
    if frames.len() < wanted && ran.snapshot.boundary.0 == from + frames.len() as u64 {
        frames.push(ran.snapshot.frame);
    }
    Ok(frames)
}
