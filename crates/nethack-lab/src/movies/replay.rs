//! Playing a movie's straight line again, to look at it.

use lab::{Boundary, Control, Lab, Luck, Snapshot};
use movie::{Act, Movie};
use wire::{Batch, Edit};

/// A machine that follows a movie.
pub(crate) struct Replay {
    lab: Lab,
    snapshot: Snapshot,
}

impl Replay {
    /// Plays a movie's inputs, reseeds and edits up to a boundary, without asking whether play agrees. `look` is called with
    /// what is at each boundary that `wanted` picks.
    pub(crate) fn run(
        lab: &Lab,
        movie: &Movie,
        to: Boundary,
        every: u64,
        look: &mut dyn FnMut(&Snapshot),
    ) -> anyhow::Result<Self> {
        let snapshot = lab.new_game(movie.header.power_on.clone(), false)?;
        let mut replay = Self { lab: lab.clone(), snapshot };
        look(&replay.snapshot);
        for act in movie.acts(usize::MAX) {
            match act {
                Act::Press { at, steps } => {
                    let left = usize::try_from(to.0.saturating_sub(at.0)).unwrap_or(usize::MAX);
                    let keys: Vec<_> = steps.iter().take(left).map(|step| step.key).collect();
                    replay.press(&keys, every, look)?;
                }
                Act::Reseed { at, core, display } if at < to => replay.reseed(Luck::Reseed { core, display })?,
                Act::Debug { at, args } if at < to => replay.edit(&args.parse()?)?,
                Act::Reseed { .. } | Act::Debug { .. } | Act::Compare { .. } => {}
            }
            if replay.snapshot.boundary >= to || replay.snapshot.ended.is_some() {
                break;
            }
        }
        Ok(replay)
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    fn press(&mut self, mut keys: &[wire::Key], every: u64, look: &mut dyn FnMut(&Snapshot)) -> anyhow::Result<()> {
        while !keys.is_empty() && self.snapshot.ended.is_none() {
            let free = every - self.snapshot.boundary.0 % every;
            let count = usize::try_from(free).unwrap_or(usize::MAX).min(keys.len()).min(wire::KEYS_MAX);
            let (now, rest) = keys.split_at(count);
            let batch = Batch::forced(now.to_vec());
            let (machine, revision) = (self.snapshot.machine, self.snapshot.revision);
            self.snapshot = self.lab.run(machine, revision, &batch, &Control::default())?.snapshot;
            keys = rest;
            if self.snapshot.boundary.0.is_multiple_of(every) {
                look(&self.snapshot);
            }
        }
        Ok(())
    }

    fn edit(&mut self, edit: &Edit) -> anyhow::Result<()> {
        self.snapshot = self.lab.edit(self.snapshot.machine, self.snapshot.revision, edit)?;
        Ok(())
    }

    /// A reseed is a fork's: the replay goes on as one.
    fn reseed(&mut self, luck: Luck) -> anyhow::Result<()> {
        let before = self.snapshot.machine;
        let fork = self.lab.fork(before, None, luck, 1)?.pop();
        self.snapshot = fork.ok_or_else(|| anyhow::anyhow!("no fork was made"))?;
        self.lab.delete(before, None)?;
        Ok(())
    }
}
