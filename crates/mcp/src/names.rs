use std::collections::{BTreeMap, BTreeSet};

use lab::MachineId;

/// What clients call the machines: `main`, and `f1`, `f2`, … for forks, none of which is ever used again.
#[derive(Debug, Default)]
pub(crate) struct Names {
    main: Option<MachineId>,
    former: BTreeSet<MachineId>,
    forks: BTreeMap<u64, MachineId>,
    last: u64,
    /// Numbers that were taken for forks that there are not yet.
    reserved: BTreeSet<u64>,
}

/// The name of the main machine.
pub(crate) const MAIN: &str = "main";

/// The name of the fork with a number.
pub(crate) fn fork_name(number: u64) -> String {
    format!("f{number}")
}

impl Names {
    /// The main machine, once there is a game.
    pub(crate) fn main(&self) -> Option<MachineId> {
        self.main
    }

    pub(crate) fn set_main(&mut self, machine: MachineId) {
        self.former.extend(self.main.replace(machine));
        self.former.remove(&machine);
    }

    /// Whether a machine was the main machine once and is no more.
    pub(crate) fn was_main(&self, machine: MachineId) -> bool {
        self.former.contains(&machine)
    }

    /// Takes a number for a fork that there is not yet.
    pub(crate) fn reserve(&mut self) -> u64 {
        self.last += 1;
        self.reserved.insert(self.last);
        self.last
    }

    /// The numbers that were taken so.
    pub(crate) fn reserved(&self) -> Vec<u64> {
        self.reserved.iter().copied().collect()
    }

    /// Gives back a number that no fork got and nobody came to know; where it is the last, another may get it.
    pub(crate) fn give_back(&mut self, number: u64) {
        if self.reserved.remove(&number) && self.last == number {
            self.last -= 1;
        }
    }

    /// Gives a fork its number, of which its name is made.
    pub(crate) fn add_fork(&mut self, machine: MachineId) -> u64 {
        let number = self.reserve();
        self.add_fork_as(number, machine);
        number
    }

    /// Gives a fork a number that was taken for it.
    pub(crate) fn add_fork_as(&mut self, number: u64, machine: MachineId) {
        self.reserved.remove(&number);
        self.forks.insert(number, machine);
    }

    /// Takes in the forks of a server that was here before. Numbers up to `last` are not given again.
    pub(crate) fn restore(&mut self, last: u64, forks: &[(u64, MachineId)]) {
        self.last = self.last.max(last);
        self.forks.extend(forks.iter().copied());
    }

    /// The last number that was given, and the forks with theirs.
    pub(crate) fn numbered(&self) -> (u64, Vec<(u64, MachineId)>) {
        (self.last, self.forks.iter().map(|(number, machine)| (*number, *machine)).collect())
    }

    pub(crate) fn remove_fork(&mut self, machine: MachineId) {
        self.forks.retain(|_, fork| *fork != machine);
    }

    /// The machine of a fork's name.
    pub(crate) fn fork(&self, name: &str) -> Option<MachineId> {
        let digits = name.strip_prefix('f')?;
        let number: u64 = digits.parse().ok()?;
        // One spelling only, so that a name is a name.
        (digits == number.to_string()).then(|| self.forks.get(&number).copied()).flatten()
    }

    /// All forks with their names, oldest first.
    pub(crate) fn forks(&self) -> impl Iterator<Item = (String, MachineId)> {
        self.forks.iter().map(|(number, machine)| (fork_name(*number), *machine))
    }

    pub(crate) fn fork_count(&self) -> usize {
        self.forks.len()
    }

    /// What a machine is called; a machine that is no more is told so.
    pub(crate) fn name_of(&self, machine: MachineId) -> String {
        if self.main == Some(machine) {
            return MAIN.to_owned();
        }
        let fork = self.forks.iter().find(|(_, fork)| **fork == machine);
        fork.map_or_else(|| "a machine that is no more".to_owned(), |(number, _)| fork_name(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_once_and_spelled_one_way() {
        let mut names = Names::default();
        assert_eq!(names.main(), None);
        names.set_main(MachineId(1));
        assert_eq!(names.add_fork(MachineId(2)), 1);
        assert_eq!(names.add_fork(MachineId(3)), 2);
        names.remove_fork(MachineId(3));
        assert_eq!(names.add_fork(MachineId(4)), 3);
        assert_eq!(names.fork("f1"), Some(MachineId(2)));
        for other in ["f2", "f4", "f01", "f+1", "1", "F1", "", "f", "f99999999999999999999", "main"] {
            assert_eq!(names.fork(other), None, "{other:?}");
        }
        assert_eq!(names.name_of(MachineId(1)), MAIN);
        assert_eq!(names.name_of(MachineId(4)), "f3");
        assert_eq!(names.fork_count(), 2);
        let (first, second) = (names.reserve(), names.reserve());
        assert_eq!((first, second, names.reserved()), (4, 5, vec![4, 5]));
        names.give_back(first);
        names.give_back(second);
        names.give_back(second);
        assert_eq!((names.reserve(), names.reserved()), (5, vec![5]), "only the last can be had again");
        names.add_fork_as(5, MachineId(7));
        assert_eq!((names.fork("f5"), names.reserved()), (Some(MachineId(7)), vec![]));
        names.remove_fork(MachineId(7));
        let mut later = Names::default();
        let (last, forks) = names.numbered();
        later.restore(last.max(9), &forks);
        assert_eq!(later.fork("f3"), Some(MachineId(4)));
        assert_eq!(later.add_fork(MachineId(5)), 10);
        names.set_main(MachineId(9));
        assert_eq!((names.main(), names.name_of(MachineId(9)).as_str()), (Some(MachineId(9)), MAIN));
        assert_eq!([1, 2, 9].map(|machine| names.was_main(MachineId(machine))), [true, false, false]);
    }
}
