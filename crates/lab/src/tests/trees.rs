//! Trees over toys: machines, forks and luck go from one lab to another.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use wire::Seed;

use super::{look, power_on, run, text, toy};
use crate::{
    AdoptMode, Boundary, Control, Imported, Lab, LabError, Lifecycle, Luck, MachineId, Snapshot, TreeFile, TreeMode,
    Verdict,
};

/// A lab with two games, forks with and without luck of their own, a fork of a fork, an adoption, an ended machine and
/// a closed one.
fn grown() -> Lab {
    let (lab, _) = toy::lab(None, |_| ());
    let game = lab.new_game(power_on(1), false).unwrap().machine;
    run(&lab, game, &text(1, 1_100));
    let same = lab.fork(game, Some(Boundary(700)), Luck::Same, 1).unwrap()[0].machine;
    run(&lab, same, "abc");
    let luck = Luck::Reseed { core: Seed(5), display: Seed(6) };
    let lucky = lab.fork(game, None, luck, 3).unwrap();
    run(&lab, lucky[1].machine, &text(2, 30));
    let again = lab.fork(lucky[1].machine, Some(Boundary(1_110)), luck.nth(9), 1).unwrap()[0].machine;
    run(&lab, again, "klM");
    let ended = lab.fork(game, None, Luck::Same, 1).unwrap()[0].machine;
    run(&lab, ended, "abQ");
    let other = lab.new_game(power_on(2), false).unwrap().machine;
    let fork = lab.fork(other, None, Luck::Same, 1).unwrap()[0].machine;
    run(&lab, fork, "fork");
    let revision = lab.snapshot(other).unwrap().revision;
    lab.adopt(other, revision, fork, AdoptMode::State { take_luck: false }, &Control::default()).unwrap();
    let closed = lab.fork(other, None, Luck::Same, 1).unwrap()[0].machine;
    lab.close(closed, None).unwrap();
    lab
}

fn export(lab: &Lab) -> Vec<u8> {
    lab.export_tree(None, Vec::new(), &Control::default()).unwrap()
}

fn import(lab: &Lab, bytes: &[u8], mode: TreeMode) -> Result<Vec<Imported>, LabError> {
    lab.import_tree(bytes, mode, false, &Control::default())
}

/// Everything of a machine that a tree keeps, but its names.
fn kept(snapshot: &Snapshot) -> impl PartialEq + std::fmt::Debug + use<> {
    let luck = snapshot.lineage.as_ref().map(|lineage| (lineage.base, lineage.luck));
    let (power_on, reseeds) = (snapshot.power_on.clone(), snapshot.reseeds);
    (look(snapshot), luck, power_on, reseeds, snapshot.lifecycle, snapshot.ended.clone())
}

fn assert_same(before: &Lab, after: &Lab, imported: &[Imported], rom_is_same: bool) {
    assert_eq!(imported.len(), before.info().machines);
    for Imported { was, snapshot } in imported {
        let old = before.snapshot(*was).unwrap();
        // A look of what was replayed has another first message; all else is the same.
        assert_eq!(kept(snapshot), kept(&old), "{was}");
        let new_name = |old: MachineId| imported.iter().find(|imported| imported.was == old).unwrap().snapshot.machine;
        let parents = [&old, snapshot].map(|snapshot| snapshot.lineage.as_ref().map(|lineage| lineage.parent));
        assert_eq!(parents[1], parents[0].map(new_name), "{was}");
        let movies = [(before, *was), (after, snapshot.machine)]
            .map(|(lab, machine)| movie::read(&lab.movie(machine).unwrap()).unwrap().movie);
        assert!(movies[0].steps == movies[1].steps && movies[0].account == movies[1].account, "{was}");
        if rom_is_same {
            let report = after.verify(&after.movie(snapshot.machine).unwrap(), None, &Control::default()).unwrap();
            assert_eq!(report.verdict, Verdict::Exact, "{was}");
        }
        if snapshot.lifecycle == Lifecycle::Idle {
            let pressed = [(before, *was), (after, snapshot.machine)].map(|(lab, machine)| {
                let fork = lab.fork(machine, None, Luck::Same, 1).unwrap()[0].machine;
                let report = run(lab, fork, "abcde");
                lab.delete(fork, None).unwrap();
                (look(&report.snapshot), report.turns)
            });
            assert_eq!(pressed[0], pressed[1], "{was}");
        }
    }
}

#[test]
fn a_tree_grows_on_in_another_lab() {
    let before = grown();
    let bytes = export(&before);
    assert_eq!(bytes, export(&before), "writing it changes nothing");
    let (after, _) = toy::lab(None, |_| ());
    // Names are not those of before.
    after.new_game(power_on(9), false).unwrap();
    let imported = import(&after, &bytes, TreeMode::Load).unwrap();
    assert_same(&before, &after, &imported, true);
    // The lines are shared, not repeated.
    assert!(bytes.len() < 40_000, "{}", bytes.len());
    // Forks of one game may still be adopted.
    let name = |old: u64| imported.iter().find(|imported| imported.was.0 == old).unwrap().snapshot.clone();
    let (game, fork) = (name(1), name(2));
    let mode = AdoptMode::State { take_luck: false };
    after.adopt(game.machine, game.revision, fork.machine, mode, &Control::default()).unwrap();
}

#[test]
fn another_rom_is_named_and_rebuilds_the_tree() {
    let before = grown();
    let bytes = export(&before);
    let (after, _) = toy::lab_of("toy", "new-rom", None, |_| ());
    let error = import(&after, &bytes, TreeMode::Load).unwrap_err();
    assert!(error.to_string().contains("toy-rom") && error.to_string().contains("new-rom"), "{error}");
    assert_eq!((after.info().machines, after.info().store_states), (0, 0));
    let imported = import(&after, &bytes, TreeMode::Rebuild).unwrap();
    assert_same(&before, &after, &imported, false);
    // What it writes now is a tree of its own ROM.
    let (third, _) = toy::lab_of("toy", "new-rom", None, |_| ());
    assert_eq!(import(&third, &export(&after), TreeMode::Load).unwrap().len(), imported.len());
    let (strange, _) = toy::lab_of("other", "new-rom", None, |_| ());
    let error = import(&strange, &bytes, TreeMode::Rebuild).unwrap_err();
    assert!(matches!(error, LabError::OtherRom(_)), "{error}");
}

#[test]
fn a_part_of_a_lab_is_a_tree_as_well() {
    let before = grown();
    let some = [MachineId(4), MachineId(6)];
    let bytes = before.export_tree(Some(&some), Vec::new(), &Control::default()).unwrap();
    let tree = TreeFile::read(bytes.as_slice()).unwrap();
    assert_eq!(tree.machines().iter().map(|machine| machine.machine).collect::<Vec<_>>(), some);
    let directory = tempfile::tempdir().unwrap();
    let (after, _) = toy::lab(Some(directory.path()), |_| ());
    let imported = after.import_tree(bytes.as_slice(), TreeMode::Load, true, &Control::default()).unwrap();
    // They are forks, and forks get no journal. The first one's parent is not there.
    assert!(imported.iter().all(|imported| imported.snapshot.journal.is_none()));
    let parent = |place: usize| imported[place].snapshot.lineage.as_ref().unwrap().parent;
    assert!(matches!(after.snapshot(parent(0)), Err(LabError::UnknownMachine(_))));
    assert_eq!(parent(1), imported[0].snapshot.machine);
    for machine in some {
        let movie = tree.movie(machine).unwrap().unwrap();
        assert_eq!(after.verify(&movie, None, &Control::default()).unwrap().verdict, Verdict::Exact);
    }
    assert_eq!(tree.movie(MachineId(1)).unwrap(), None);
    assert!(matches!(
        before.export_tree(Some(&[MachineId(99)]), Vec::new(), &Control::default()),
        Err(LabError::UnknownMachine(_))
    ));
}

#[test]
fn journals_go_on_from_the_whole_line() {
    let before = grown();
    let directory = tempfile::tempdir().unwrap();
    let (after, _) = toy::lab(Some(directory.path()), |_| ());
    let bytes = export(&before);
    let imported = after.import_tree(bytes.as_slice(), TreeMode::Load, true, &Control::default()).unwrap();
    let roots: Vec<_> = imported.iter().filter(|imported| imported.snapshot.lineage.is_none()).collect();
    assert_eq!(roots.len(), 2);
    for Imported { was, snapshot } in roots {
        let report = run(&after, snapshot.machine, "abc");
        let journal = std::fs::read(snapshot.journal.as_ref().unwrap()).unwrap();
        let recording = movie::read(&journal).unwrap();
        assert_eq!(recording.movie.boundary(), report.snapshot.boundary);
        assert_eq!(after.verify(&journal, None, &Control::default()).unwrap().verdict, Verdict::Exact, "{was}");
    }
    assert!(matches!(
        before.import_tree(bytes.as_slice(), TreeMode::Load, true, &Control::default()),
        Err(LabError::NoMovies)
    ));
}

/// A tree with another head, sealed as if it were true.
fn with_head(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut head: Value = serde_json::from_slice(&bytes[24..24 + length]).unwrap();
    change(&mut head);
    let head = serde_json::to_vec(&head).unwrap();
    let whole = (bytes.len() - length + head.len()) as u64;
    let mut other = bytes[..12].to_vec();
    other.extend((head.len() as u32).to_le_bytes());
    other.extend(whole.to_le_bytes());
    other.extend(&head);
    other.extend(&bytes[24 + length..bytes.len() - 32]);
    let digest = blake3::hash(&other);
    other.extend(digest.as_bytes());
    other
}

#[test]
fn a_head_that_does_not_hold_together_is_refused() {
    let before = grown();
    let bytes = export(&before);
    let (lab, _) = toy::lab(None, |_| ());
    assert!(import(&lab, &with_head(&bytes, |_| ()), TreeMode::Load).is_ok());
    let (lab, _) = toy::lab(None, |_| ());
    let rows: [(&str, &str, Value); 24] = [
        ("/machines/1/machine", "one name", json!(1)),
        ("/machines/1/line/after", "told from one", json!(1)),
        ("/machines/1/line/after", "told from one", json!(99)),
        ("/machines/1/line/after", "told from one", json!(null)),
        ("/machines/1/line/common", "told from one", json!(5_000)),
        ("/machines/1/line/common", "hold together", json!(699)),
        ("/machines/1/line/bytes", "as long", json!(7)),
        ("/machines/1/line/bytes", "its lines", json!(u64::MAX)),
        ("/machines/1/game", "told from one", json!(7)),
        ("/machines/1/boundary", "another boundary", json!(4)),
        ("/machines/1/play", "play digest", json!("00".repeat(16))),
        ("/machines/1/state/digest", "state digest", json!("00".repeat(32))),
        ("/machines/1/state/kept", "told from one", json!(1_000)),
        ("/machines/1/state/kept", "digest", json!(0)),
        ("/machines/1/finish", "told from one", json!("unknown")),
        ("/machines/1/account/inputs", "account", json!(u64::MAX)),
        ("/machines/1/parent/machine", "told from one", json!(2)),
        ("/states/0/base", "state is told", json!(0)),
        ("/states/1/base", "state is told", json!(77)),
        ("/states/0/blobs", "state is told", json!([0])),
        ("/states/0/image_bytes", "one of its states", json!(1_u64 << 40)),
        ("/states/0/bytes", "as long", json!(1)),
        ("/creator", "text", json!("\u{1b}[2J")),
        ("/rom_id", "strange", json!("strange")),
    ];
    for (field, reason, value) in rows {
        let other = with_head(&bytes, |head| {
            *head.pointer_mut(field).unwrap_or_else(|| panic!("{field}")) = value.clone();
        });
        let result = import(&lab, &other, TreeMode::Load).map(|imported| imported.len());
        let text = match &result {
            Err(error @ (LabError::BadTree(_) | LabError::OtherRom(_))) => error.to_string(),
            result => panic!("{field} {value}: {result:?}"),
        };
        assert!(text.contains(reason), "{field} {value}: {text}");
    }
    let more = with_head(&bytes, |head| head["more"] = json!(1));
    assert!(matches!(import(&lab, &more, TreeMode::Load), Err(LabError::BadTree(_))));
    let longer = with_head(&bytes, |head| {
        head["states"].as_array_mut().unwrap().iter_mut().for_each(|state| state["image_bytes"] = json!(301));
    });
    let error = import(&lab, &longer, TreeMode::Load).unwrap_err().to_string();
    assert!(error.contains("a tree") && error.contains("length of its image"), "{error}");
    assert_eq!((lab.info().machines, lab.info().store_states), (0, 0));
}

#[test]
fn damage_and_limits_are_refused_and_nothing_stays() {
    let before = grown();
    let bytes = export(&before);
    let (lab, faults) = toy::lab(None, |_| ());
    let fresh = lab.info();
    let refused = |bytes: &[u8], what: &str| {
        let result = import(&lab, bytes, TreeMode::Load).map(|imported| imported.len());
        assert!(matches!(result, Err(LabError::BadTree(_))), "{what}: {result:?}");
    };
    for bit in (0..bytes.len() * 8).step_by(13) {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        refused(&other, &format!("bit {bit}"));
    }
    for length in (0..bytes.len()).step_by(97).chain(bytes.len() - 40..bytes.len()) {
        refused(&bytes[..length], &format!("{length} bytes"));
    }
    refused(&[&bytes[..], b"x"].concat(), "a byte more");
    let one = before.save_state(MachineId(1), None, &Control::default()).unwrap();
    refused(&one, "a save state");
    faults.deaths.store(3, Ordering::SeqCst);
    refused(&bytes, "three workers lost");
    assert_eq!(lab.info().machines, 0);
    assert_eq!((lab.info().store_states, lab.info().store_bytes), (fresh.store_states, fresh.store_bytes));
    assert_eq!(import(&lab, &bytes, TreeMode::Load).unwrap().len(), before.info().machines);
    let (few, _) = toy::lab(None, |options| options.limits.machines = 5);
    let (small, _) = toy::lab(None, |options| options.limits.store_bytes = 256);
    for lab in [few, small] {
        assert!(matches!(import(&lab, &bytes, TreeMode::Load), Err(LabError::LimitExceeded { .. })));
        assert_eq!((lab.info().machines, lab.info().store_states), (0, 0));
    }
}
