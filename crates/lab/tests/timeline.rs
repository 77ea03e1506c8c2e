//! Going back, long chains and wide fans, with the real game.

use lab::{Boundary, Control, Lab, Luck, MachineId, ResumeFrom, Snapshot, Verdict};
use wire::{Key, Seed};

use crate::support::{keys, lab, look, power_on, run};

fn seek(lab: &Lab, machine: MachineId, to: u64) -> Snapshot {
    let revision = lab.snapshot(machine).unwrap().revision;
    lab.seek(machine, revision, Boundary(to), &Control::default()).unwrap()
}

pub(crate) fn a_seek_anywhere_is_a_replay() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(Some(folder.path()), |options| options.limits.messages = 100_000);
    for seed in [3, 8] {
        let line = keys(seed, 2_600);
        let game = lab.new_game(power_on(seed), true).unwrap();
        let end = run(&lab, game.machine, &line).snapshot;
        let last = end.boundary.0;
        let bounds = [0, 1, 63, 64, 65, 129, 512, 700, 1_024, 1_777, 2_048, 2_500, 2_599];
        let bounds: Vec<u64> = bounds.into_iter().filter(|bound| *bound < last).collect();
        let twin = lab.new_game(power_on(seed), false).unwrap();
        let mut expected = Vec::new();
        for (&to, from) in bounds.iter().zip([0].iter().chain(&bounds)) {
            if to > *from {
                run(&lab, twin.machine, &line[*from as usize..to as usize]);
            }
            let messages = lab.messages_after(twin.machine, 0).unwrap();
            expected.push((to, look(&lab.snapshot(twin.machine).unwrap()), messages));
        }
        for (to, there, messages) in expected.iter().rev() {
            assert_eq!(&look(&seek(&lab, game.machine, *to)), there, "seed {seed}, boundary {to}");
            assert_eq!(&lab.messages_after(game.machine, 0).unwrap(), messages, "seed {seed}, boundary {to}");
            let again = run(&lab, game.machine, &line[*to as usize..]).snapshot;
            assert_eq!(look(&again), look(&end), "seed {seed}, boundary {to}");
        }
        let back = seek(&lab, game.machine, last / 2);
        let fork = lab.fork(game.machine, Some(Boundary(last / 3)), Luck::Same, 1).unwrap().remove(0);
        for machine in [game.machine, fork.machine] {
            let report = lab.verify(&lab.movie(machine).unwrap(), Some(machine), &Control::default()).unwrap();
            assert_eq!(report.verdict, Verdict::Exact, "seed {seed}: {}", report.verdict);
        }
        let journal = back.journal.clone().unwrap();
        let report = lab.verify(&std::fs::read(&journal).unwrap(), None, &Control::default()).unwrap();
        assert_eq!((report.verdict, report.inputs), (Verdict::Exact, last / 2), "seed {seed}");
        let account = movie::read(&lab.movie(game.machine).unwrap()).unwrap().movie.account;
        assert_eq!(account.seeks, bounds.len() as u64 + 1);
        // Another host goes on from there.
        lab.close(game.machine, None).unwrap();
    }
    let game = lab.new_game(power_on(12), true).unwrap();
    run(&lab, game.machine, &keys(12, 1_300));
    let back = seek(&lab, game.machine, 650);
    drop(lab);
    let lab = crate::support::lab(Some(folder.path()), |_| {});
    let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap();
    assert_eq!((look(&resumed.snapshot), resumed.inputs), (look(&back), 650));
}

pub(crate) fn luck_is_what_was_recorded() {
    let lab = lab(None, |_| {});
    let luck = |seed| Luck::Reseed { core: Seed(seed), display: Seed(seed + 1) };
    let game = lab.new_game(power_on(42), false).unwrap();
    run(&lab, game.machine, &keys(42, 300));
    let line: Vec<Key> = b"20s20s20s20s".iter().map(|&byte| Key(byte)).collect();
    let mut ends = Vec::new();
    for luck in [Luck::Same, luck(1), luck(1), luck(2), Luck::Same] {
        let fork = lab.fork(game.machine, None, luck, 1).unwrap().remove(0);
        run(&lab, fork.machine, &line);
        let report = lab.verify(&lab.movie(fork.machine).unwrap(), None, &Control::default()).unwrap();
        assert_eq!(report.verdict, Verdict::Exact, "{luck:?}: {}", report.verdict);
        ends.push(fork.machine);
    }
    let same = |a: usize, b: usize| lab.diff(ends[a], ends[b]).unwrap().play_same;
    assert!(same(0, 4) && same(1, 2), "the same luck is the same play");
    assert!(!same(0, 1) && !same(0, 3) && !same(1, 3), "other luck is other play");
    // Also where it is taken at a boundary that lies behind.
    let at = Some(Boundary(200));
    let forks: Vec<_> =
        [luck(1), luck(1), luck(2)].map(|luck| lab.fork(game.machine, at, luck, 1).unwrap().remove(0)).into();
    for fork in &forks {
        run(&lab, fork.machine, &line);
    }
    assert!(lab.diff(forks[0].machine, forks[1].machine).unwrap().images_same);
    assert!(!lab.diff(forks[0].machine, forks[2].machine).unwrap().play_same);
}

pub(crate) fn what_memory_has_no_room_for_lies_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(None, |options| {
        options.spill = Some(folder.path().to_owned());
        options.limits.store_bytes = 64 << 10;
        options.limits.spill_bytes = 8 << 20;
    });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file has no name");
    let games: Vec<_> = (20..26).map(|seed| lab.new_game(power_on(seed), false).unwrap()).collect();
    let info = lab.info();
    assert!(info.store_bytes <= 64 << 10 && info.spill_bytes > 100 << 10, "{info:?}");
    let peace = crate::support::lab(None, |_| {});
    for (seed, game) in (20..).zip(&games) {
        let line = keys(seed, 300);
        for part in line.chunks(25) {
            if lab.snapshot(game.machine).unwrap().ended.is_none() {
                run(&lab, game.machine, part);
            }
        }
        let twin = peace.new_game(power_on(seed), false).unwrap();
        let there = run(&peace, twin.machine, &line).snapshot;
        assert_eq!(look(&lab.snapshot(game.machine).unwrap()), look(&there), "seed {seed}");
        let back = there.boundary.0 / 2;
        assert_eq!(look(&seek(&lab, game.machine, back)), look(&seek(&peace, twin.machine, back)), "seed {seed}");
    }
    games.iter().for_each(|game| lab.delete(game.machine, None).unwrap());
    let info = lab.info();
    assert_eq!((info.store_bytes, info.spill_bytes, info.store_states), (0, 0, 0));
}

/// Descriptors, children and memory of this process, in that order; memory in KiB.
fn footprint() -> (usize, usize, u64) {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let children = crate::losses::workers().len();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let kib = |name: &str| -> u64 {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    (descriptors, children, kib("RssShmem:"))
}

/// Runs in a process of its own, so that what it counts is its own.
pub(crate) fn chains_and_fans_leave_nothing() {
    let output = std::process::Command::new(std::env::current_exe().unwrap()).arg(AS_COUNTED).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// Makes this executable a host that counts what it has.
pub(crate) const AS_COUNTED: &str = "as-counted";

const DEEP: usize = 2_000;
const WIDE: usize = 2_000;

/// A chain of forks of forks and a fan of forks of one, twice over: what the first time leaves is all there ever is.
pub(crate) fn counted() {
    let lab = lab(None, |options| options.limits.machines = DEEP + WIDE + 10);
    let game = lab.new_game(power_on(9), false).unwrap();
    let start = run(&lab, game.machine, &keys(9, 200)).snapshot;
    let line = keys(90, DEEP);
    let mut footprints = Vec::new();
    let before = lab.info();
    for _ in 0..2 {
        let mut chain = vec![start.machine];
        for key in &line {
            let fork = lab.fork(*chain.last().unwrap(), None, Luck::Same, 1).unwrap().remove(0);
            if fork.ended.is_some() {
                break;
            }
            run(&lab, fork.machine, &[*key]);
            chain.push(fork.machine);
        }
        let deep = chain.len() as u64 - 1;
        assert!(deep > DEEP as u64 / 10, "the game ended after {deep} keys");
        let twin = lab.fork(game.machine, None, Luck::Same, 1).unwrap().remove(0);
        let twin = run(&lab, twin.machine, &line[..deep as usize]).snapshot;
        assert_eq!(look(&lab.snapshot(*chain.last().unwrap()).unwrap()), look(&twin), "{deep} deep");
        // In whatever order they go, those that stay are whole.
        let middle = chain.swap_remove(chain.len() / 2);
        let there = look(&lab.snapshot(middle).unwrap());
        chain.iter().skip(1).for_each(|machine| lab.delete(*machine, None).unwrap());
        assert!(lab.info().store_deltas <= before.store_deltas + 3 * 8 + 40, "{:?}", lab.info());
        let again = lab.fork(game.machine, Some(start.boundary), Luck::Same, 1).unwrap().remove(0);
        let count = (there.0 - start.boundary.0) as usize;
        assert_eq!(look(&run(&lab, again.machine, &line[..count]).snapshot), there);
        assert!(lab.diff(again.machine, middle).unwrap().images_same);
        [middle, twin.machine, again.machine].iter().for_each(|machine| lab.delete(*machine, None).unwrap());
        assert_eq!(lab.info().store_bytes, before.store_bytes);

        let fan = lab.fork(game.machine, None, Luck::Reseed { core: Seed(1), display: Seed(2) }, WIDE).unwrap();
        let info = lab.info();
        assert!(info.store_deltas >= WIDE && info.store_keyframes <= before.store_keyframes + 1, "{info:?}");
        assert!((info.store_bytes - before.store_bytes) / WIDE as u64 <= 6_000, "{info:?}");
        fan.iter().for_each(|fork| lab.delete(fork.machine, None).unwrap());
        let after = lab.info();
        assert_eq!((after.store_bytes, after.store_states), (before.store_bytes, before.store_states));
        footprints.push(footprint());
    }
    assert_eq!((footprints[0].0, footprints[0].1), (footprints[1].0, footprints[1].1), "descriptors, children");
    lab.delete(game.machine, None).unwrap();
    let empty = lab.info();
    assert_eq!((empty.store_bytes, empty.store_states, empty.store_blobs), (0, 0, 0));
    let (_, _, shared_kib) = footprint();
    assert!(shared_kib < footprints[1].2.max(16_384), "{shared_kib} KiB stay of {footprints:?}");
}
