//! Save state files over toys: what is saved is loaded, and nothing else is.

use wire::Seed;

use super::{look, power_on, run, text, toy};
use crate::state_file_envelope::{Kind, Sealer};
use crate::{Boundary, Control, Lab, LabError, Luck, StateFile};

fn saved(lab: &Lab, seed: u64, keys: usize) -> (crate::Snapshot, Vec<u8>) {
    let game = lab.new_game(power_on(seed), false).unwrap();
    let snapshot = run(lab, game.machine, &text(seed, keys)).snapshot;
    let bytes = lab.save_state(game.machine, None, &Control::default()).unwrap();
    (snapshot, bytes)
}

#[test]
fn another_lab_goes_on_from_what_one_has_saved() {
    let (first, _) = toy::lab(None, |_| ());
    let (snapshot, bytes) = saved(&first, 5, 1_200);
    let before = run(&first, snapshot.machine, "abc").snapshot;
    let steps = |movie: &[u8]| movie::read(movie).unwrap().movie.steps;
    let played = steps(&first.movie(snapshot.machine).unwrap());
    drop(first);

    let directory = tempfile::tempdir().unwrap();
    let (second, _) = toy::lab(Some(directory.path()), |_| ());
    let loaded = second.load_state(&bytes, true, &Control::default()).unwrap();
    assert_eq!(look(&loaded), look(&snapshot));
    let after = run(&second, loaded.machine, "abc").snapshot;
    assert_eq!(look(&after), look(&before));
    let movie = second.movie(loaded.machine).unwrap();
    assert!(steps(&movie) == played, "the same inputs and checks");
    assert_eq!(second.verify(&movie, None, &Control::default()).unwrap().verdict, crate::Verdict::Exact);
    // Its journal begins at power-on.
    let journal = std::fs::read(loaded.journal.unwrap()).unwrap();
    assert!(steps(&journal) == played, "the journal has the whole line");
}

#[test]
fn an_earlier_boundary_a_fork_and_new_luck_are_saved_as_well() {
    let (lab, _) = toy::lab(None, |_| ());
    let game = lab.new_game(power_on(6), false).unwrap();
    run(&lab, game.machine, "abcdef");
    let luck = Luck::Reseed { core: Seed(77), display: Seed(78) };
    let fork = lab.fork(game.machine, Some(Boundary(3)), luck, 1).unwrap().remove(0);
    let control = Control::default();
    // Right after the reseed, where the digests are those after it.
    let reseeded = lab.load_state(&lab.save_state(fork.machine, None, &control).unwrap(), false, &control).unwrap();
    assert_eq!((look(&reseeded), reseeded.reseeds), (look(&lab.snapshot(fork.machine).unwrap()), 1));
    run(&lab, fork.machine, "xyz");
    for (machine, at) in [(game.machine, 0), (game.machine, 4), (fork.machine, 3), (fork.machine, 5)] {
        let bytes = lab.save_state(machine, Some(Boundary(at)), &control).unwrap();
        let loaded = lab.load_state(&bytes, false, &control).unwrap();
        assert_eq!(look(&loaded).2.screen, lab.frame_at(machine, Boundary(at), &control).unwrap().screen);
        let report = lab.verify(&lab.movie(loaded.machine).unwrap(), None, &control).unwrap();
        assert_eq!((report.verdict, report.inputs), (crate::Verdict::Exact, at));
    }
    let missing = lab.save_state(game.machine, Some(Boundary(7)), &control);
    assert!(matches!(missing, Err(LabError::NoBoundary { .. })));
}

#[test]
fn a_state_without_a_machine_is_saved_as_well() {
    let (lab, _) = toy::lab(None, |_| ());
    let (snapshot, bytes) = saved(&lab, 13, 50);
    let state = lab.state(snapshot.machine).unwrap();
    let control = Control::default();
    let of_state = lab.save_state_of(&state, &control).unwrap();
    assert_eq!(StateFile::read(&of_state).unwrap().state(), StateFile::read(&bytes).unwrap().state());
    assert_eq!(StateFile::read(&bytes).unwrap().engine_id(), lab.info().engine_id);
    assert_eq!(look(&lab.load_state(&of_state, false, &control).unwrap()), look(&snapshot));
    let (other, _) = toy::lab(None, |_| ());
    assert!(matches!(other.save_state_of(&state, &control), Err(LabError::ForeignState)));
}

#[test]
fn an_ended_game_leaves_its_movie() {
    let (lab, _) = toy::lab(None, |_| ());
    let game = lab.new_game(power_on(14), false).unwrap();
    run(&lab, game.machine, "abQ");
    let control = Control::default();
    let result = lab.save_state(game.machine, None, &control);
    assert!(matches!(result, Err(LabError::NoState(_))), "{result:?}");
    lab.load_state(&lab.save_state(game.machine, Some(Boundary(2)), &control).unwrap(), false, &control).unwrap();
}

#[test]
fn damage_is_refused_and_changes_nothing() {
    let (lab, _) = toy::lab(None, |_| ());
    let (_, bytes) = saved(&lab, 7, 40);
    let control = Control::default();
    let before = lab.info();
    let refused = |bytes: &[u8], what: &str| {
        let result = lab.load_state(bytes, false, &control);
        assert!(matches!(result, Err(LabError::BadState(_))), "{what}: {result:?}");
    };
    for bit in 0..bytes.len() * 8 {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        refused(&other, &format!("bit {bit}"));
    }
    for length in 0..bytes.len() {
        refused(&bytes[..length], &format!("{length} bytes"));
    }
    refused(&[&bytes[..], b"\n"].concat(), "a byte more");
    refused(&[&bytes[..], &bytes[..]].concat(), "twice");
    refused(&lab.movie(lab.machines()[0].machine).unwrap(), "a movie");
    assert_eq!(lab.info(), before);
}

#[test]
fn the_movie_is_rescued_from_a_damaged_file() {
    let (lab, _) = toy::lab(None, |_| ());
    let (snapshot, mut bytes) = saved(&lab, 8, 40);
    let movie = StateFile::read(&bytes).unwrap().movie().to_vec();
    let last = bytes.len() - 40;
    bytes[last] ^= 4;
    assert!(StateFile::read(&bytes).is_err());
    assert_eq!(StateFile::rescue_movie(&bytes).as_ref(), Some(&movie));
    bytes.truncate(last);
    assert_eq!(StateFile::rescue_movie(&bytes).as_ref(), Some(&movie));
    let again = lab.open_movie(&movie, false, &Control::default()).unwrap();
    assert_eq!(look(&again), look(&snapshot));
    // A movie that is itself damaged is not handed out.
    let start = bytes.windows(9).position(|window| window == b"{\"format\"").unwrap();
    bytes[start + 200] ^= 1;
    assert_eq!(StateFile::rescue_movie(&bytes), None);
}

#[test]
fn another_rom_or_engine_is_named_and_the_movie_still_rebuilds_the_state() {
    let (here, _) = toy::lab(None, |_| ());
    let (snapshot, bytes) = saved(&here, 9, 30);
    for (engine, rom) in [("toy", "another-rom"), ("another", "another-rom")] {
        let (there, _) = toy::lab_of(engine, rom, None, |_| ());
        let error = there.load_state(&bytes, false, &Control::default()).unwrap_err();
        let LabError::OtherRom(foreign) = &error else { panic!("{error}") };
        assert_eq!((foreign.rom_id.as_str(), foreign.running_rom_id.as_str()), ("toy-rom", rom));
        assert!(error.is_refusal() && error.to_string().contains("toy-rom"), "{error}");
        assert!(error.to_string().contains("another-rom") && error.to_string().contains("movie inside"), "{error}");
        assert_eq!((there.info().machines, there.info().store_states), (0, 0));
        let movie = StateFile::read(&bytes).unwrap().movie().to_vec();
        let rebuilt = there.open_movie(&movie, false, &Control::default());
        match engine {
            "toy" => assert_eq!(look(&rebuilt.unwrap()), look(&snapshot)),
            _ => assert!(rebuilt.is_err()),
        }
    }
}

#[test]
fn what_is_not_what_it_says_is_refused_by_digest() {
    let (lab, _) = toy::lab(None, |_| ());
    let (_, one) = saved(&lab, 10, 30);
    let (_, other) = saved(&lab, 11, 30);
    // The movie of one game with the state of another, sealed as if it were true.
    let (one, other) = (StateFile::read(&one).unwrap(), StateFile::read(&other).unwrap());
    let contents = |play, state, body| crate::state_file::Contents {
        play,
        state,
        image_bytes: one.image_bytes(),
        body,
        blobs: &one.blobs,
    };
    let header = |file: &StateFile| movie::read(file.movie()).unwrap().movie.header;
    let seal = |contents: &crate::state_file::Contents<'_>, boundary| {
        crate::state_file::write(&header(&one), boundary, one.movie(), contents).unwrap()
    };
    let control = Control::default();
    let load = |bytes: &[u8]| lab.load_state(bytes, false, &control).unwrap_err().to_string();
    let swapped = seal(&contents(one.play(), one.state(), &other.body), one.boundary());
    assert!(load(&swapped).contains("state digest"), "{}", load(&swapped));
    let restated = seal(&contents(other.play(), other.state(), &other.body), one.boundary());
    assert!(load(&restated).contains("does not lead to its digests"), "{}", load(&restated));
    let shifted = seal(&contents(one.play(), one.state(), &one.body), Boundary(29));
    assert!(load(&shifted).contains("another boundary"), "{}", load(&shifted));
    let others: [fn(&mut movie::Header); 4] = [
        |header| header.engine_id.push('0'),
        |header| header.rom_id.push('0'),
        |header| header.nethack_version.push('0'),
        |header| header.creator.push('0'),
    ];
    for (which, other) in others.into_iter().enumerate() {
        let mut theirs = header(&one);
        other(&mut theirs);
        let contents = contents(one.play(), one.state(), &one.body);
        let bytes = crate::state_file::write(&theirs, one.boundary(), one.movie(), &contents).unwrap();
        assert!(load(&bytes).contains("its movie is of another"), "{which}: {}", load(&bytes));
    }
    let mut longer = contents(one.play(), one.state(), &one.body);
    longer.image_bytes += 1;
    let longer = seal(&longer, one.boundary());
    assert!(load(&longer).contains("length of its image"), "{}", load(&longer));
    // A worker that dies of it costs nobody anything.
    let (lab, faults) = toy::lab(None, |_| ());
    faults.deaths.store(3, std::sync::atomic::Ordering::SeqCst);
    let good = seal(&contents(one.play(), one.state(), &one.body), one.boundary());
    let error = lab.load_state(&good, false, &control).unwrap_err();
    assert!(matches!(&error, LabError::BadState(_)) && error.to_string().contains("no worker can load it"), "{error}");
    assert_eq!((lab.info().machines, lab.info().store_states), (0, 0));
    assert!(lab.load_state(&good, false, &control).is_ok());
}

#[test]
fn a_journal_that_is_still_open_is_no_movie_of_a_state() {
    let folder = tempfile::tempdir().unwrap();
    let (lab, _) = toy::lab(Some(folder.path()), |_| ());
    let game = lab.new_game(power_on(1), true).unwrap();
    run(&lab, game.machine, "abc");
    let bytes = lab.save_state(game.machine, None, &Control::default()).unwrap();
    let file = StateFile::read(&bytes).unwrap();
    let journal = std::fs::read(game.journal.unwrap()).unwrap();
    let contents = crate::state_file::Contents {
        play: file.play(),
        state: file.state(),
        image_bytes: file.image_bytes(),
        body: &file.body,
        blobs: &file.blobs,
    };
    let header = movie::read(file.movie()).unwrap().movie.header;
    let sealed = |movie: &[u8]| crate::state_file::write(&header, file.boundary(), movie, &contents).unwrap();
    assert_eq!(StateFile::read(&sealed(file.movie())).unwrap(), file);
    let error = StateFile::read(&sealed(&journal)).unwrap_err();
    assert!(error.to_string().contains("not whole"), "{error}");
    // Whole, but of a game that has ended, which the state's has not.
    let mut ended = movie::read(file.movie()).unwrap().movie;
    let text = "quit".to_owned();
    ended.finish = movie::Finish::Ended(wire::Ended { kind: wire::EndKind::Quit, how: None, text, xlog: None });
    let ended = sealed(&movie::export(&ended).unwrap());
    let error = lab.load_state(&ended, false, &Control::default()).unwrap_err();
    assert!(error.to_string().contains("how its game ended"), "{error}");
}

#[test]
fn parts_are_as_long_as_the_file() {
    let (lab, _) = toy::lab(None, |_| ());
    let (_, bytes) = saved(&lab, 14, 10);
    let head_bytes = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let (head, parts) = bytes[24..bytes.len() - 32].split_at(head_bytes);
    let kind = Kind {
        magic: bytes[..8].try_into().unwrap(),
        version: crate::STATE_FILE_VERSION,
        head_bytes_max: 1 << 20,
        file_bytes_max: 1 << 30,
    };
    let sealed = |parts: &[u8]| {
        let mut sealer = Sealer::begin(&kind, head, parts.len() as u64, Vec::new()).unwrap();
        sealer.part(parts).unwrap();
        sealer.end().unwrap()
    };
    assert_eq!(sealed(parts), bytes);
    for parts in [[parts, b"x"].concat(), parts[..parts.len() - 1].to_vec()] {
        let error = StateFile::read(&sealed(&parts)).unwrap_err();
        assert!(error.to_string().contains("not as long as it is"), "{error}");
    }
}

#[test]
fn limits_refuse_before_anything_moves() {
    let (lab, _) = toy::lab(None, |options| options.limits.machines = 1);
    let (snapshot, bytes) = saved(&lab, 12, 30);
    let control = Control::default();
    let result = lab.load_state(&bytes, false, &control);
    assert!(matches!(result, Err(LabError::LimitExceeded { what: "machines", .. })), "{result:?}");
    lab.close(snapshot.machine, None).unwrap();
    lab.delete(snapshot.machine, None).unwrap();
    assert!(matches!(lab.load_state(&bytes, true, &control), Err(LabError::NoMovies)));
    let (small, _) = toy::lab(None, |options| options.limits.store_bytes = 0);
    assert!(matches!(small.load_state(&bytes, false, &control), Err(LabError::LimitExceeded { .. })));
    let (short, _) = toy::lab(None, |options| options.limits.inputs = 29);
    assert!(matches!(short.load_state(&bytes, false, &control), Err(LabError::LimitExceeded { .. })));
    let cancel = crate::Cancel::default();
    cancel.cancel();
    let control = Control { cancel: Some(&cancel), ..control };
    assert_eq!(lab.load_state(&bytes, false, &control).unwrap_err(), LabError::Cancelled);
    assert_eq!(lab.info().store_states, 0);
}
