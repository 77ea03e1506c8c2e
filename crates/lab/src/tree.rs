//! Writing a tree: machines with their forks, lines and states, in one file.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use movie::Finish;
use wire::Boundary;

use crate::lab::Inner;
use crate::line::Line;
use crate::power::account_of;
use crate::slot::{Slot, Tip};
use crate::state_file_envelope::Sealer;
use crate::tree_file::{Head, KIND, KeptHead, LineHead, MachineHead, ParentHead};
use crate::tree_line::{encode, parting};
use crate::tree_states::States;
use crate::{Control, GameId, Lab, LabError, MachineId};

/// A machine on its way into a tree.
struct Taken {
    slot: Arc<Slot>,
    tip: Tip,
}

impl Lab {
    /// Writes machines into one file: the movie of each game, every machine's line, its luck and where it was forked
    /// from, and all states, each once. `machines` absent: all that there are. Another host with the same ROM goes on
    /// from it with [`Lab::import_tree`]. No machine changes; where one runs just now, its last boundary counts.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`], [`LabError::Cancelled`], [`LabError::StateFile`] when it can't be written; engine
    /// failures. What was written by then is no tree.
    pub fn export_tree<W: Write>(
        &self,
        machines: Option<&[MachineId]>,
        out: W,
        control: &Control<'_>,
    ) -> Result<W, LabError> {
        let lab = &self.0;
        let mut names = machines.map_or_else(|| lab.machine_ids(), <[_]>::to_vec);
        // Parents have lower numbers than their forks.
        names.sort_unstable();
        names.dedup();
        let taken = names.iter().map(|name| {
            let slot = lab.slot(*name)?;
            let tip = slot.tip();
            Ok(Taken { slot, tip })
        });
        let mut taken = taken.collect::<Result<Vec<_>, LabError>>()?;
        let (mut states, mut lines, mut heads) = (States::default(), Vec::new(), Vec::new());
        let mut games: BTreeMap<GameId, (u64, usize)> = BTreeMap::new();
        let total = taken.len() as u64;
        for place in 0..taken.len() {
            if control.is_cancelled() {
                return Err(LabError::Cancelled);
            }
            let (before, rest) = taken.split_at_mut(place);
            let Some(machine) = rest.first_mut() else { break };
            let state = lab.state_for_tree(&mut machine.tip, &mut states, control)?;
            let next = games.len() as u64;
            let (game, first) = *games.entry(machine.slot.game.clone()).or_insert((next, place));
            let (line, bytes) = lab.line_for_tree(machine, before, first)?;
            heads.push(machine_head(machine, game, line, state));
            lines.push(bytes);
            control.report(place as u64 + 1, total);
        }
        lab.write_tree(heads, &lines, &states, out)
    }
}

impl Inner {
    /// Adds a machine's state to those of a tree, and notes its digest on the line.
    fn state_for_tree(
        &self,
        tip: &mut Tip,
        states: &mut States,
        control: &Control<'_>,
    ) -> Result<Option<KeptHead>, LabError> {
        let Some(state) = &tip.state else { return Ok(None) };
        let digest = self.digest_of(state, control)?;
        let kept = states.add(state)?;
        tip.line.mark(tip.play, digest);
        Ok(Some(KeptHead { digest, kept }))
    }

    /// A machine's line as a part of a tree: what it has beyond an earlier machine's of its game, or its movie.
    fn line_for_tree(&self, machine: &Taken, before: &[Taken], first: usize) -> Result<(LineHead, Vec<u8>), LabError> {
        let Taken { slot, tip } = machine;
        let parent = slot.lineage.as_ref().map(|lineage| lineage.parent);
        let parent = before.iter().position(|other| Some(other.slot.id) == parent);
        let last = before.len().checked_sub(1);
        let same_game = |place: &usize| before.get(*place).is_some_and(|other| other.slot.game == slot.game);
        let bases = [parent, last, Some(first)].into_iter().flatten().filter(same_game);
        let found = bases.filter_map(|place| Some((parting(&tip.line, line_at(before, place)?)?, place)));
        // The longest common part, the earlier machine where two have it.
        let best = found.max_by_key(|(common, place)| (*common, std::cmp::Reverse(*place)));
        let base = best.and_then(|(common, place)| Some((common, place, line_at(before, place)?)));
        let (after, common, bytes) = match base {
            Some((common, place, base)) => (Some(place), common, encode(&tip.line, base, common)),
            None => (None, Boundary(0), self.movie_of(slot, &tip.line, tip.ended.as_deref())?),
        };
        Ok((LineHead { after, common: common.0, bytes: bytes.len() as u64 }, bytes))
    }

    fn write_tree<W: Write>(
        &self,
        machines: Vec<MachineHead>,
        lines: &[Vec<u8>],
        states: &States,
        out: W,
    ) -> Result<W, LabError> {
        let identity = self.engine.identity();
        let head = Head {
            engine_id: identity.engine_id.clone(),
            rom_id: identity.rom_id.clone(),
            nethack_version: identity.nethack_version.clone(),
            creator: self.options.creator.clone(),
            machines,
            blobs: states.blobs.clone(),
            states: states.heads.clone(),
        };
        let written = || -> std::io::Result<W> {
            let parts_bytes = lines.iter().map(|line| line.len() as u64).sum::<u64>() + head.states_bytes();
            let mut sealer = Sealer::begin(&KIND, &serde_json::to_vec(&head)?, parts_bytes, out)?;
            lines.iter().try_for_each(|line| sealer.part(line))?;
            states.write(&mut |part| sealer.part(part))?;
            sealer.end()
        };
        written().map_err(|error| LabError::StateFile(error.to_string()))
    }
}

fn line_at(before: &[Taken], place: usize) -> Option<&Line> {
    before.get(place).map(|other| &other.tip.line)
}

fn machine_head(machine: &Taken, game: u64, line: LineHead, state: Option<KeptHead>) -> MachineHead {
    let Taken { slot, tip } = machine;
    MachineHead {
        machine: slot.id.0,
        game,
        parent: slot.lineage.as_ref().map(|lineage| ParentHead {
            machine: lineage.parent.0,
            base: lineage.base.0,
            luck: lineage.luck.seeds().map(|(core, display)| [core, display]),
        }),
        line,
        boundary: tip.line.end().0,
        play: tip.play,
        finish: tip.ended.as_deref().map_or(Finish::Open, |ended| Finish::Ended(ended.clone())),
        account: account_of(&tip.line, slot.account()),
        closed: tip.ended.is_none() && slot.is_over(),
        state,
    }
}
