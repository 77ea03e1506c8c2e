use std::sync::atomic::Ordering;

use wire::{Batch, Key, OnMore, Seed, StopReason};

use super::{power_on, run, text, toy};
use crate::{Boundary, Cancel, Control, Drive, Lab, LabError, LineStop, Luck, Progress, State, Tried, Try, Verdict};

fn all(lab: &Lab, tries: &[Try]) -> Vec<Tried> {
    lab.try_lines(tries, &Control::default()).unwrap()
}

/// What must be the same for two lines to be the same.
fn look(lab: &Lab, tried: &Tried) -> (Vec<Key>, LineStop, i64, wire::PlayDigest, Option<wire::StateDigest>) {
    let digest = tried.state.as_ref().and_then(|state| lab.digest(state).unwrap());
    (tried.inputs.clone(), tried.stop.clone(), tried.turn, tried.play, digest)
}

/// States along a line, each with its boundary's text, and lines from them.
fn family(lab: &Lab, seed: u64) -> Vec<Try> {
    let mut state = lab.begin(power_on(seed)).unwrap();
    let mut tries = Vec::new();
    for round in 0..12 {
        for line in 0..9 {
            let keys = text(seed ^ (round * 100 + line), (line * 3) as usize + 1);
            let luck = Luck::Reseed { core: Seed(line), display: Seed(round) };
            let luck = if line % 3 == 0 { luck } else { Luck::Same };
            tries.push(Try::keys(&state, keys.as_bytes()).kept().framed().with_messages().with_luck(luck));
        }
        state = all(lab, &tries[tries.len() - 1..]).remove(0).state.unwrap();
    }
    tries
}

fn verdict(lab: &Lab, state: &State) -> Verdict {
    lab.verify(&lab.movie_of(state).unwrap(), None, &Control::default()).unwrap().verdict
}

#[test]
fn lines_come_in_order_and_are_what_a_machine_does() {
    let (lab, _) = toy::lab(None, |options| options.workers = 3);
    let tries = family(&lab, 5);
    let together = all(&lab, &tries);
    for (index, (line, tried)) in tries.iter().zip(&together).enumerate() {
        let alone = all(&lab, std::slice::from_ref(line)).remove(0);
        assert_eq!(look(&lab, tried), look(&lab, &alone), "line {index}");
        assert_eq!(tried.frame(), alone.frame(), "line {index}");
        assert_eq!(tried.stop, LineStop::Line(StopReason::Done));
        let Drive::Keys(batch) = &line.drive else { panic!() };
        assert_eq!((&tried.inputs, tried.keys_used), (&batch.segments[0].keys, batch.len()));
        let state = tried.state.as_ref().unwrap();
        assert_eq!(state.boundary().0, line.from.boundary().0 + batch.len() as u64);
        // The same keys on a machine of its own.
        let twin = lab.fork_state(&line.from).unwrap();
        assert_eq!(twin.boundary, line.from.boundary());
        if line.luck == Luck::Same {
            let keys: String = batch.segments[0].keys.iter().map(|key| char::from(key.0)).collect();
            let done = run(&lab, twin.machine, &keys);
            assert_eq!(done.snapshot.play, tried.play, "line {index}");
            assert_eq!(done.messages, tried.messages, "line {index}");
        }
        lab.delete(twin.machine, None).unwrap();
        assert_eq!(verdict(&lab, state), Verdict::Exact, "line {index}");
    }
}

#[test]
fn workers_that_die_cost_time_and_nothing_else() {
    for every in [3, 17, 100, 311] {
        let (quiet, _) = toy::lab(None, |_| {});
        let expected: Vec<_> = all(&quiet, &family(&quiet, 8)).iter().map(|tried| look(&quiet, tried)).collect();
        // Deaths come by the keys of all workers together. Of one worker alone, no line can lose two to distant ones.
        let workers = if every < 50 { 3 } else { 1 };
        let (lab, faults) = toy::lab(None, |options| options.workers = workers);
        let tries = family(&lab, 8);
        faults.death_every.store(every, Ordering::SeqCst);
        let mut tried = all(&lab, &tries);
        faults.death_every.store(0, Ordering::SeqCst);
        assert!(lab.info().workers_lost > 0, "every {every}");
        for (line, tried) in tries.iter().zip(&mut tried) {
            if let LineStop::Lost { reason } = &tried.stop {
                assert!(every < 50 && tried.state.is_none() && !reason.is_empty(), "every {every}");
                *tried = all(&lab, std::slice::from_ref(line)).remove(0);
            }
        }
        let found: Vec<_> = tried.iter().map(|tried| look(&lab, tried)).collect();
        assert!(found == expected, "every {every}");
    }
}

#[test]
fn a_line_that_kills_workers_is_named_and_harms_no_other() {
    let (lab, _) = toy::lab(None, |_| {});
    let start = lab.begin(power_on(1)).unwrap();
    let tries: Vec<Try> = (0..200).map(|n| Try::keys(&start, if n % 50 == 7 { b"abX" } else { b"abc" })).collect();
    for (index, tried) in all(&lab, &tries).iter().enumerate() {
        let killer = index % 50 == 7;
        assert_eq!(matches!(tried.stop, LineStop::Lost { .. }), killer, "line {index}: {:?}", tried.stop);
        assert_eq!((tried.inputs.len(), tried.is_done()), (if killer { 0 } else { 3 }, !killer));
    }
    // One for the lines around each of the four, and two for each tried alone.
    let lost = lab.info().workers_lost;
    assert!((9..=12).contains(&lost), "{lost} workers lost");
    let movie = lab.movie_of(&start).unwrap();
    assert_eq!(movie, lab.movie_of(&start).unwrap());
    assert_eq!(movie::read(&movie).unwrap().movie.account.lines, 196, "only what was tried counts");
}

#[test]
fn the_newest_messages_are_told() {
    let told = |limit| {
        let (lab, _) = toy::lab(None, |options| options.limits.messages = limit);
        let start = lab.begin(power_on(1)).unwrap();
        let tried = all(&lab, &[Try::keys(&start, text(1, 60)).with_messages()]).remove(0);
        (tried.messages, tried.messages_truncated)
    };
    let (whole, truncated) = told(1_000);
    assert!(whole.len() > 3 && !truncated, "{} messages", whole.len());
    assert_eq!(told(3), (whole[whole.len() - 3..].to_vec(), true));
}

#[test]
fn luck_is_drawn_for_each_line() {
    let (lab, _) = toy::lab(None, |_| {});
    let start = all(&lab, &[Try::keys(&lab.begin(power_on(1)).unwrap(), b"abc").kept()]).remove(0).state.unwrap();
    let luck = |seed| Luck::Reseed { core: Seed(seed), display: Seed(seed) };
    let line = |luck| Try::keys(&start, b"defgh").kept().with_luck(luck);
    let tries: Vec<Try> = [luck(1), luck(2), luck(1), Luck::Same, Luck::Same].map(line).into();
    let plays: Vec<_> = all(&lab, &tries).iter().map(|tried| look(&lab, tried)).collect();
    assert!(plays[0] == plays[2] && plays[3] == plays[4] && plays[0] != plays[1] && plays[0] != plays[3]);
    // A reseed without keys is a state of its own; nothing at all is the same state.
    let tried = all(&lab, &[Try::keys(&start, b"").kept().with_luck(luck(1)), Try::keys(&start, b"").kept().framed()]);
    let (lucky, same) = (tried[0].state.clone().unwrap(), tried[1].state.clone().unwrap());
    assert_eq!((lucky.boundary(), same.boundary(), same.id()), (Boundary(3), Boundary(3), start.id()));
    assert_ne!(lab.digest(&lucky).unwrap(), lab.digest(&start).unwrap());
    assert!(tried[1].frame().is_some() && tried[1].inputs.is_empty());
    let on = all(&lab, &[Try::keys(&lucky, b"defgh").kept()]).remove(0);
    assert_eq!((on.play, verdict(&lab, &on.state.unwrap())), (plays[0].3, Verdict::Exact));
}

#[test]
fn a_game_that_ends_ends_its_line_and_goes_no_further() {
    let (lab, _) = toy::lab(None, |_| {});
    let start = lab.begin(power_on(1)).unwrap();
    let tried = all(&lab, &[Try::keys(&start, b"abQcd").kept().framed(), Try::keys(&start, b"abcd")]);
    assert_eq!(tried[0].stop, LineStop::Line(StopReason::Ended));
    assert_eq!((tried[0].inputs.len(), tried[0].pending.clone()), (3, None));
    assert!(tried[0].ended.is_some() && tried[1].ended.is_none());
    let more = Batch { on_more: OnMore::Dismiss, force: false, ..super::keys("aMb") };
    let stopped = Batch { on_more: OnMore::Stop, force: false, ..super::keys("aMb") };
    let tried = all(&lab, &[Try::batch(&start, more).kept(), Try::batch(&start, stopped).kept()]);
    assert_eq!((tried[0].inputs.len(), tried[0].keys_used), (4, 3));
    assert_eq!(tried[1].stop, LineStop::Line(StopReason::NotAccepted));
    assert_eq!(tried[1].state.as_ref().unwrap().boundary(), Boundary(2));
}

#[test]
fn what_can_not_be_is_refused_before_anything_is_tried() {
    let (lab, faults) = toy::lab(None, |options| {
        options.limits.lines = 3;
        options.limits.keys = 5;
        options.limits.inputs = 9;
    });
    let (other, _) = toy::lab(None, |_| {});
    let start = lab.begin(power_on(1)).unwrap();
    let later = all(&lab, &[Try::keys(&start, b"abcde").kept()]).remove(0).state.unwrap();
    let foreign = other.begin(power_on(1)).unwrap();
    let arrived = faults.arrived.load(Ordering::SeqCst);
    let good = Try::keys(&start, b"abc");
    let rows: [(&str, Vec<Try>); 6] = [
        ("lines", vec![good.clone(); 4]),
        ("keys", vec![good.clone(), Try::keys(&start, b"abcdef")]),
        ("inputs", vec![good.clone(), Try::keys(&later, b"abcde")]),
        ("another lab", vec![good.clone(), Try::keys(&foreign, b"a")]),
        ("no policy `nobody`", vec![good.clone(), Try::policy(&start, "nobody", [], 3)]),
        ("keys of a policy", vec![good.clone(), Try::policy(&start, "toy-walk", [], u32::MAX)]),
    ];
    for (word, tries) in rows {
        let error = lab.try_lines(&tries, &Control::default()).unwrap_err();
        assert!(error.is_refusal() && error.to_string().contains(word), "{word}: {error}");
    }
    assert!(matches!(lab.look(&foreign), Err(LabError::ForeignState)));
    assert_eq!(faults.arrived.load(Ordering::SeqCst), arrived, "no worker was asked");
    assert!(all(&lab, &[]).is_empty());
    assert_eq!(all(&lab, &[Try::keys(&later, b"abcd")])[0].inputs.len(), 4);
}

#[test]
fn progress_counts_lines_and_cancelling_keeps_what_is_done() {
    let (lab, _) = toy::lab(None, |options| options.workers = 1);
    let start = lab.begin(power_on(1)).unwrap();
    let tries: Vec<Try> = (0..500).map(|n| Try::keys(&start, text(n, 10).as_bytes())).collect();
    let seen = std::cell::RefCell::new(Vec::new());
    let progress = |progress: Progress| seen.borrow_mut().push(progress);
    let whole = lab.try_lines(&tries, &Control { progress: Some(&progress), ..Control::default() }).unwrap();
    let seen = seen.into_inner();
    assert!(seen.len() > 3 && seen.windows(2).all(|pair| pair[0].done <= pair[1].done));
    assert_eq!(seen.last(), Some(&Progress { done: 500, total: 500 }));
    let cancel = Cancel::default();
    let progress = |progress: Progress| {
        if progress.done >= 100 {
            cancel.cancel();
        }
    };
    let control = Control { progress: Some(&progress), cancel: Some(&cancel), ..Control::default() };
    let cut = lab.try_lines(&tries, &control).unwrap();
    let done = cut.iter().filter(|tried| tried.is_done()).count();
    assert!((100..500).contains(&done), "{done}");
    for (tried, whole) in cut.iter().zip(&whole) {
        assert!(tried.stop == LineStop::Cancelled || tried.play == whole.play);
    }
    let none = lab.try_lines(&tries, &control).unwrap();
    assert!(none.iter().all(|tried| tried.stop == LineStop::Cancelled));
}

#[test]
fn movies_tell_how_many_lines_were_tried() {
    let (lab, _) = toy::lab(None, |_| {});
    let account = |bytes: &[u8]| movie::read(bytes).unwrap().movie.account;
    let start = lab.begin(power_on(1)).unwrap();
    let tries: Vec<Try> = (0..70).map(|_| Try::keys(&start, b"abc").kept()).collect();
    let state = all(&lab, &tries).remove(5).state.unwrap();
    all(&lab, &[Try::keys(&state, b"d"), Try::keys(&state, b"")]);
    let told = account(&lab.movie_of(&state).unwrap());
    assert_eq!((told.inputs, told.peeks, told.lines, told.forks), (3, 1, 71, 0));
    let machine = lab.fork_state(&state).unwrap();
    assert_eq!((machine.boundary, machine.lineage.clone()), (Boundary(3), None));
    let told = account(&lab.movie(machine.machine).unwrap());
    assert_eq!((told.peeks, told.lines), (1, 71));
    // A machine whose future was looked at tells it too, from its next key on.
    let game = lab.new_game(power_on(2), false).unwrap();
    run(&lab, game.machine, "abc");
    let root = lab.state(game.machine).unwrap();
    let tries: Vec<Try> = (0..9).map(|_| Try::keys(&root, b"xyz").kept()).collect();
    let ahead = all(&lab, &tries).remove(0).state.unwrap();
    let fork = lab.fork_state(&ahead).unwrap();
    assert_eq!(fork.lineage.as_ref().map(|lineage| (lineage.parent, lineage.base.0)), Some((game.machine, 3)));
    let told = account(&lab.movie(game.machine).unwrap());
    assert_eq!((told.peeks, told.lines, told.forks), (1, 9, 1));
    let told = account(&lab.movie_of(&ahead).unwrap());
    assert_eq!((told.inputs, told.lines), (6, 9));
    assert_eq!(verdict(&lab, &ahead), Verdict::Exact);
}

#[test]
fn a_full_store_keeps_what_it_can_and_says_so() {
    let (lab, _) = toy::lab(None, |options| options.limits.store_bytes = 64 << 10);
    let start = lab.begin(power_on(1)).unwrap();
    let empty = lab.info().store_bytes;
    let tries: Vec<Try> = (0..2_000).map(|n| Try::keys(&start, text(n, 6).as_bytes()).kept()).collect();
    let tried = all(&lab, &tries);
    let kept = tried.iter().filter(|tried| tried.state.is_some()).count();
    assert!((1..2_000).contains(&kept), "{kept}");
    assert!(tried.iter().all(|tried| tried.is_done() && tried.no_room == tried.state.is_none()));
    assert!(lab.begin(power_on(2)).is_err());
    drop(tried);
    assert_eq!(lab.info().store_bytes, empty);
    assert!(!all(&lab, &tries[..1])[0].no_room);
}

#[test]
fn a_full_disk_under_the_spill_is_no_room() {
    let (lab, faults) = toy::lab(None, |options| {
        options.limits.store_bytes = 4 << 10;
        options.limits.spill_bytes = 1 << 20;
        options.spill = Some("spill".into());
    });
    let start = lab.begin(power_on(1)).unwrap();
    let game = lab.new_game(power_on(2), false).unwrap();
    let tries: Vec<Try> = (0..2_000).map(|n| Try::keys(&start, text(n, 6).as_bytes()).kept()).collect();
    faults.spill_writes.store(30, Ordering::SeqCst);
    let tried = all(&lab, &tries);
    let kept = tried.iter().filter(|tried| tried.state.is_some()).count();
    assert!((31..2_000).contains(&kept), "{kept}");
    assert!(tried.iter().all(|tried| tried.is_done() && tried.no_room == tried.state.is_none()));
    for state in tried.iter().filter_map(|tried| tried.state.as_ref()) {
        assert!(lab.digest(state).is_ok());
    }
    let error = lab.begin(power_on(3)).unwrap_err();
    assert!(matches!(error, LabError::LimitExceeded { .. }) && error.to_string().contains("disk"), "{error}");
    let revision = game.revision;
    let report = lab.run(game.machine, revision, &super::keys(&text(4, 700)), &Control::default()).unwrap();
    assert!(matches!(report.stop, crate::Stop::NoRoom), "{:?}", report.stop);
    drop(tried);
    // What was written in vain has given its room back.
    assert!(!all(&lab, &tries[..1])[0].no_room);
}

#[test]
fn what_workers_say_is_bounded_and_plain() {
    let (lab, faults) = toy::lab(None, |_| ());
    let start = lab.begin(power_on(1)).unwrap();
    let line = [Try::keys(&start, b"abc")];
    let text = "\x1b[2J\n".repeat(100_000);
    let lost = |reason| worker::TaskError::Lost { reason };
    let errors = [
        worker::TaskError::Refused(text.clone()),
        worker::TaskError::Displaced(text.clone()),
        lost(worker::LostReason::Failed(text.clone())),
        lost(worker::LostReason::Protocol(text.clone())),
    ];
    for error in errors {
        *faults.error.lock().unwrap() = Some(error);
        let (LineStop::Lost { reason } | LineStop::Refused { reason }) = all(&lab, &line).remove(0).stop else {
            panic!("the line was done")
        };
        let engine = lab.new_game(power_on(2), false).unwrap_err().to_string();
        for told in [reason, engine] {
            assert!(told.contains("[2J") && !told.contains(char::is_control), "{told}");
            assert!(told.chars().count() <= 500, "{}", told.chars().count());
        }
    }
}
