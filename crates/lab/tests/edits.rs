//! Edits and looks with the real game.

use lab::{AdoptMode, Boundary, Control, Lab, LabError, LabOptions, Luck, ResumeFrom, Snapshot, Verdict};
use wire::{Edit, Hidden, HiddenPart};

use crate::support::{keys, look, run};

const PARTS: [HiddenPart; 4] = [HiddenPart::Hero, HiddenPart::Level, HiddenPart::Monsters, HiddenPart::Objects];

fn lab(movies: Option<&std::path::Path>) -> Lab {
    crate::support::lab(movies, |options: &mut LabOptions| options.allow_debug = true)
}

fn edit(lab: &Lab, at: &Snapshot, text: &str) -> Result<Snapshot, LabError> {
    lab.edit(at.machine, at.revision, &text.parse().unwrap())
}

/// Backs out of every prompt.
fn free(lab: &Lab, at: &Snapshot) -> Snapshot {
    run(lab, at.machine, &[27, 27, 13, 27, 27].map(wire::Key)).snapshot
}

pub(crate) fn a_look_changes_nothing() {
    let lab = lab(None);
    let game = lab.new_game(crate::support::power_on(4), false).unwrap();
    let there = run(&lab, game.machine, &keys(4, 200)).snapshot;
    let movie = lab.movie(game.machine).unwrap();
    for part in PARTS {
        let (seen, hidden) = lab.hidden(game.machine, part).unwrap();
        assert_eq!((look(&seen), seen.revision), (look(&there), there.revision));
        assert_eq!(lab.hidden(game.machine, part).unwrap().1, hidden);
    }
    let after = lab.snapshot(game.machine).unwrap();
    assert_eq!((look(&after), after.revision), (look(&there), there.revision));
    assert_eq!(lab.movie(game.machine).unwrap(), movie);
    let verdict = lab.verify(&movie, None, &Control::default()).unwrap().verdict;
    assert_eq!(verdict, Verdict::Exact);
}

pub(crate) fn edits_are_replayed_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab(Some(folder.path()));
    for seed in [2, 6, 11] {
        let mut now = lab.new_game(crate::support::power_on(seed), true).unwrap();
        for (part, text) in (0..).zip([
            "set experience_level 14 hp_max 500 hp 450 luck 5",
            "level 0 4",
            "item inventory blessed +4 gray dragon scale mail",
            "identify",
            "map",
            "level 1 2",
            "set nutrition 200 gold 777",
            "level 0 12",
        ]) {
            now = run(&lab, now.machine, &keys(seed * 100 + part, 60)).snapshot;
            now = free(&lab, &now);
            if now.ended.is_some() {
                break;
            }
            match edit(&lab, &now, text) {
                Ok(made) => now = made,
                Err(error) => assert!(matches!(error, LabError::EditRefused(_)), "seed {seed}: {text}: {error}"),
            }
        }
        assert!(now.edits >= 3, "seed {seed}: {}", now.edits);
        let control = Control::default();
        let verdict = |bytes: &[u8]| lab.verify(bytes, None, &control).unwrap().verdict;
        assert_eq!(verdict(&std::fs::read(now.journal.as_ref().unwrap()).unwrap()), Verdict::Exact, "seed {seed}");
        let movie = lab.movie(now.machine).unwrap();
        assert_eq!(verdict(&movie), Verdict::Exact, "seed {seed}");
        // A lab in which nobody may edit still judges.
        let strict = crate::support::lab(None, |_| {});
        assert_eq!(strict.verify(&movie, None, &control).unwrap().verdict, Verdict::Exact, "seed {seed}");
        if now.ended.is_some() {
            continue;
        }
        let state = lab.save_state(now.machine, None, &control).unwrap();
        let loaded = lab.load_state(&state, false, &control).unwrap();
        let fork = lab.fork(now.machine, Some(Boundary(now.boundary.0 / 2)), Luck::Same, 1).unwrap().remove(0);
        let made = edit(&lab, &free(&lab, &fork), "set luck -3");
        assert_eq!(verdict(&lab.movie(fork.machine).unwrap()), Verdict::Exact, "seed {seed}");
        let twin = run(&lab, loaded.machine, &keys(seed, 50)).snapshot;
        let ours = run(&lab, now.machine, &keys(seed, 50)).snapshot;
        assert_eq!(look(&twin), look(&ours), "seed {seed}");
        if made.is_ok() {
            let mode = AdoptMode::State { take_luck: false };
            let adopted = lab.adopt(now.machine, ours.revision, fork.machine, mode, &control).unwrap().snapshot;
            assert_eq!(verdict(&std::fs::read(adopted.journal.unwrap()).unwrap()), Verdict::Exact, "seed {seed}");
        }
        let sought = lab.snapshot(now.machine).unwrap();
        let to = Boundary(sought.boundary.0 / 3);
        let back = lab.seek(now.machine, sought.revision, to, &control).unwrap();
        assert_eq!(verdict(&lab.movie(back.machine).unwrap()), Verdict::Exact, "seed {seed}");
        lab.close(now.machine, None).unwrap();
    }
    let game = lab.new_game(crate::support::power_on(12), true).unwrap();
    let now = free(&lab, &run(&lab, game.machine, &keys(12, 40)).snapshot);
    let end = edit(&lab, &now, "level 0 3").unwrap();
    drop(lab);
    let lab = self::lab(Some(folder.path()));
    let resumed = lab.resume(&ResumeFrom::Latest, &Control::default()).unwrap().snapshot;
    assert_eq!((look(&resumed), resumed.edits), (look(&end), 1));
    let Hidden::Hero(hero) = lab.hidden(resumed.machine, HiddenPart::Hero).unwrap().1 else { panic!() };
    assert_eq!((hero.dungeon, hero.level), (0, 3));
    assert!(matches!(
        lab.edit(resumed.machine, resumed.revision, &Edit::Remove { id: 0 }),
        Err(LabError::EditRefused(_))
    ));
}
