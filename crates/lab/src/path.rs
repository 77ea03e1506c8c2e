use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use movie::Account;
use wire::{Boundary, Ended, Event, PowerOn, Seed};

use crate::line::Line;
use crate::slot::Peeks;
use crate::{GameId, MachineId, Step};

/// What a tree of states goes back to: a power-on, or a machine at one of its boundaries.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) power_on: Arc<PowerOn>,
    pub(crate) game: GameId,
    /// What leads to it from power-on.
    pub(crate) line: Line,
    /// The machine that it was taken from.
    pub(crate) machine: Option<MachineId>,
    /// That machine's count of looks ahead; its own where it was taken from none.
    pub(crate) peeks: Arc<Peeks>,
    /// What the machine's movie told of what happened on the way, when it was taken.
    pub(crate) past: Account,
    /// Lines tried since.
    lines: AtomicU64,
}

/// What leads to a state: the line that was tried from the state before, back to the root. States share what they have
/// in common, so that one costs what its own keys cost.
#[derive(Debug)]
pub(crate) struct Path {
    root: Arc<Root>,
    before: Option<Arc<Path>>,
    luck: Option<(Seed, Seed)>,
    steps: Box<[Step]>,
    end: Boundary,
    ended: Option<Box<Ended>>,
}

impl Root {
    /// A root that was taken from a machine.
    pub(crate) fn new(
        (power_on, game): (Arc<PowerOn>, GameId),
        line: Line,
        (machine, peeks): (Option<MachineId>, Arc<Peeks>),
        past: Account,
    ) -> Self {
        Self { power_on, game, line, machine, peeks, past, lines: AtomicU64::new(0) }
    }

    /// Counts lines that are tried: here, and for the machine that they look ahead of.
    pub(crate) fn count_lines(&self, lines: u64) {
        self.lines.fetch_add(lines, Ordering::Relaxed);
        self.peeks.lines.fetch_add(lines, Ordering::Relaxed);
    }

    /// What a movie of a state under this root tells of what happened on the way.
    pub(crate) fn account(&self) -> Account {
        let lines = self.lines.load(Ordering::Relaxed);
        let mut account = self.past;
        account.peeks += u64::from(lines > 0);
        account.lines += lines;
        account
    }
}

impl Path {
    /// The path of the root itself.
    pub(crate) fn start(root: Arc<Root>, ended: Option<Ended>) -> Arc<Self> {
        let end = root.line.end();
        Arc::new(Self { root, before: None, luck: None, steps: Box::default(), end, ended: ended.map(Box::new) })
    }

    /// The path of a state that a line has led to from this one's.
    pub(crate) fn extended(
        self: &Arc<Self>,
        luck: Option<(Seed, Seed)>,
        steps: Box<[Step]>,
        ended: Option<Ended>,
    ) -> Arc<Self> {
        let end = Boundary(self.end.0 + steps.len() as u64);
        let root = Arc::clone(&self.root);
        Arc::new(Self { root, before: Some(Arc::clone(self)), luck, steps, end, ended: ended.map(Box::new) })
    }

    pub(crate) fn root(&self) -> &Arc<Root> {
        &self.root
    }

    /// The boundary that it leads to.
    pub(crate) fn end(&self) -> Boundary {
        self.end
    }

    /// How the game ended there, if it did.
    pub(crate) fn ended(&self) -> Option<&Ended> {
        self.ended.as_deref()
    }

    /// The seeds of the first reseed after the root.
    pub(crate) fn first_luck(&self) -> Option<(Seed, Seed)> {
        self.back().filter_map(|path| path.luck).last()
    }

    /// All inputs since power-on.
    pub(crate) fn line(&self) -> Line {
        let mut paths: Vec<&Self> = self.back().collect();
        paths.reverse();
        let mut line = self.root.line.clone();
        for path in paths {
            if let Some((core, display)) = path.luck {
                line.happen(Event::Reseed { core, display });
            }
            path.steps.iter().for_each(|step| line.push(*step));
        }
        line
    }

    /// This path and all before it, the root's last.
    fn back(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |path| path.before.as_deref())
    }
}

impl Drop for Path {
    /// Drops a chain link by link: one that is as long as a game is would not fit on the stack.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut last) = next.and_then(Arc::into_inner) {
            next = last.before.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::{Check, Key};

    use super::*;

    fn root(text: &str) -> Arc<Path> {
        let mut line = Line::default();
        steps(text).iter().for_each(|step| line.push(*step));
        let names = (Arc::new(PowerOn::from_seed(Seed(1))), GameId("g".into()));
        let root = Root::new(names, line, (None, Arc::default()), Account { inputs: 7, ..Account::default() });
        Path::start(Arc::new(root), None)
    }

    fn steps(text: &str) -> Box<[Step]> {
        text.bytes().map(|byte| Step { key: Key(byte), check: Check(u32::from(byte)) }).collect()
    }

    fn text(line: &Line) -> String {
        line.steps_from(Boundary(0)).map(|step| char::from(step.key.0)).collect()
    }

    #[test]
    fn a_path_is_its_keys_and_luck_in_order() {
        let root = root("ab");
        let one = root.extended(None, steps("cd"), None);
        let two = one.extended(Some((Seed(1), Seed(2))), steps(""), None);
        let three = two.extended(Some((Seed(3), Seed(4))), steps("ef"), None);
        let other = one.extended(None, steps("x"), None);
        assert_eq!(
            (text(&root.line()), text(&three.line()), text(&other.line())),
            ("ab".into(), "abcdef".into(), "abcdx".into())
        );
        assert_eq!((three.end(), other.end()), (Boundary(6), Boundary(5)));
        let line = three.line();
        let events: Vec<_> = line.events().iter().map(|happened| (happened.at.0, happened.event.clone())).collect();
        let later = Event::Reseed { core: Seed(3), display: Seed(4) };
        assert_eq!(events, [(4, later)], "the later reseed at a boundary takes the place of the earlier");
        assert_eq!(three.first_luck(), Some((Seed(1), Seed(2))));
        assert_eq!(other.first_luck(), None);
    }

    #[test]
    fn the_longest_chain_drops_without_a_deep_stack() {
        let mut path = root("");
        let fork = path.extended(None, steps("z"), None);
        for _ in 0..400_000 {
            path = path.extended(None, steps("a"), None);
        }
        let twin = Arc::clone(&path);
        drop(path);
        assert_eq!(twin.line().end(), Boundary(400_000));
        // On two threads at once: each link goes exactly once.
        let branch = twin.extended(None, steps("b"), None);
        let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(move || drop(branch)).unwrap();
        drop(twin);
        thread.join().unwrap();
        assert_eq!(text(&fork.line()), "z");
        assert_eq!(Arc::strong_count(fork.root()), 2, "the fork's own path and the root's");
    }

    #[test]
    fn lines_tried_are_counted_twice_over() {
        let path = root("ab");
        assert_eq!(path.root().account(), path.root().past);
        path.root().count_lines(3);
        path.root().count_lines(4);
        let account = path.root().account();
        assert_eq!((account.inputs, account.peeks, account.lines), (7, 1, 7));
        assert_eq!(path.root().peeks.take(), (0, 7));
    }
}
