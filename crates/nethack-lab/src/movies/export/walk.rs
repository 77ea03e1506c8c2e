//! A movie that has been verified, played frame by frame.

use lab::{Boundary, Lab};
use machine::{Machine, Stop};
use movie::{Act, Movie, Step};
use wire::Frame;

use crate::movies::Replay;
use crate::setup::Setup;

/// Which frames are looked at: those at multiples of `every` from `from` to `to`, and that at `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: Boundary,
    pub(super) to: Boundary,
    pub(super) every: u64,
}

impl Span {
    pub(super) fn wants(self, at: Boundary) -> bool {
        at == self.to || (self.from..=self.to).contains(&at) && at.0.is_multiple_of(self.every)
    }
}

/// Called with each frame that is looked at, in order.
type Look<'a> = &'a mut dyn FnMut(Boundary, &Frame) -> anyhow::Result<()>;

/// Plays a movie and looks at its frames: the built-in ROM in this process, another one in a sandboxed worker.
pub(super) fn walk(setup: &Setup, lab: &Lab, movie: &Movie, span: Span, look: Look<'_>) -> anyhow::Result<()> {
    if setup.is_built_in() { here(movie, span, look) } else { in_worker(lab, movie, span, look) }
}

fn here(movie: &Movie, span: Span, look: Look<'_>) -> anyhow::Result<()> {
    let mut machine = Machine::open(rom::built_in())?;
    machine.power_on(&movie.header.power_on)?;
    let mut player = Player { machine, frame: Frame::default(), at: Boundary(0), span, look };
    player.look()?;
    for act in movie.acts(usize::MAX) {
        match act {
            Act::Press { steps, .. } => player.press(steps)?,
            Act::Reseed { at, core, display } if at < span.to => player.machine.reseed(core, display)?,
            Act::Debug { at, args } if at < span.to => {
                player.machine.edit(&args.parse()?)?;
            }
            Act::Reseed { .. } | Act::Debug { .. } | Act::Compare { .. } => {}
        }
        if player.at >= span.to {
            return Ok(());
        }
    }
    anyhow::bail!("the game ended at boundary {}, before {}", player.at, span.to)
}

struct Player<'a> {
    machine: Machine,
    frame: Frame,
    at: Boundary,
    span: Span,
    look: Look<'a>,
}

impl Player<'_> {
    fn press(&mut self, steps: &[Step]) -> anyhow::Result<()> {
        for step in steps {
            if self.at >= self.span.to || matches!(self.machine.stop(), Some(Stop::Ended(_))) {
                return Ok(());
            }
            self.machine.press(step.key)?;
            self.at = self.at.next();
            let sound = self.machine.play_digest().check() == step.check;
            anyhow::ensure!(sound, "play differs at boundary {} from what was just verified", self.at);
            self.look()?;
        }
        Ok(())
    }

    fn look(&mut self) -> anyhow::Result<()> {
        if !self.span.wants(self.at) {
            return Ok(());
        }
        self.machine.frame_into(&mut self.frame);
        (self.look)(self.at, &self.frame)
    }
}

fn in_worker(lab: &Lab, movie: &Movie, span: Span, look: Look<'_>) -> anyhow::Result<()> {
    let (mut failed, mut seen) = (None, None);
    let mut show = |at: Boundary, frame: &Frame| {
        if failed.is_none() && seen != Some(at) && span.wants(at) {
            seen = Some(at);
            failed = look(at, frame).err();
        }
    };
    let replay =
        Replay::run(lab, movie, span.to, span.every, &mut |snapshot| show(snapshot.boundary, &snapshot.frame))?;
    let end = replay.snapshot();
    show(end.boundary, &end.frame);
    failed.map_or(Ok(()), Err)?;
    anyhow::ensure!(end.boundary == span.to, "the game ended at boundary {}, before {}", end.boundary, span.to);
    Ok(())
}
