//! Lines and states.

use lab::{Control, Luck, State, Try, Verdict};
use wire::{Batch, Key, OnMore, Seed};

use crate::support::{all, begin, keys, lab, look, verdict};

pub(crate) fn lines_are_what_machines_do() {
    let lab = lab(|_| {});
    for seed in 0..4 {
        let start = begin(&lab, seed);
        let somewhere = all(&lab, &[Try::keys(&start, keys(seed, 300)).kept()]).remove(0).state.unwrap();
        let tries: Vec<Try> = (0..40)
            .map(|n| {
                let from = if n % 2 == 0 { &start } else { &somewhere };
                let keys = keys(seed * 1_000 + n, 1 + n as usize * 2).into_iter().map(Key).collect();
                let batch = Batch { on_more: OnMore::Dismiss, force: n % 3 == 0, ..Batch::forced(keys) };
                let luck = Luck::Reseed { core: Seed(n), display: Seed(n + 1) };
                let line = Try::batch(from, batch).kept().framed().with_messages();
                if n % 5 == 0 { line.with_luck(luck) } else { line }
            })
            .collect();
        for (n, (line, tried)) in tries.iter().zip(all(&lab, &tries)).enumerate() {
            let at = format!("seed {seed}, line {n}");
            let lab::Drive::Keys(batch) = &line.drive else { panic!() };
            let state = tried.state.clone().unwrap();
            let twin = lab.fork_state(&line.from).unwrap();
            let twin = match line.luck {
                Luck::Same => twin,
                _ if twin.ended.is_some() => continue,
                luck @ Luck::Reseed { .. } => lab.fork(twin.machine, None, luck, 1).unwrap().remove(0),
            };
            if twin.ended.is_some() {
                assert!(tried.inputs.is_empty() && tried.ended.is_some(), "{at}");
                continue;
            }
            let done = lab.run(twin.machine, twin.revision, batch, &Control::default()).unwrap();
            assert_eq!(
                (&done.inputs, done.keys_used, done.turns),
                (&tried.inputs, tried.keys_used, tried.turns),
                "{at}"
            );
            assert_eq!(
                (Some(done.snapshot.frame.as_ref()), done.snapshot.play),
                (tried.frame().as_ref(), tried.play),
                "{at}"
            );
            assert_eq!(done.messages, tried.messages, "{at}");
            assert_eq!(lab.look(&state).unwrap(), tried.frame().unwrap(), "{at}");
            if n % 8 == 0 {
                assert_eq!(verdict(&lab, &state), Verdict::Exact, "{at}");
            }
        }
    }
}

/// Presses the keys from the root of it all, to compare.
fn anew(lab: &lab::Lab, root: &State, keys: &[u8]) -> State {
    all(lab, &[Try::keys(root, keys).kept()]).remove(0).state.unwrap()
}

pub(crate) fn a_chain_and_a_fan_load_and_go() {
    let lab = lab(|_| {});
    let root = begin(&lab, 3);
    let line = keys(3, 300);
    let mut chain = vec![root.clone()];
    for key in &line {
        let next = all(&lab, &[Try::keys(&chain[chain.len() - 1], [*key]).kept()]).remove(0);
        chain.push(next.state.unwrap());
    }
    for at in [1, 8, 9, 64, 150, 299] {
        let (state, twin) = (&chain[at], anew(&lab, &root, &line[..at]));
        assert_eq!(lab.digest(state).unwrap(), lab.digest(&twin).unwrap(), "boundary {at}");
        let rest = [state, &twin].map(|from| all(&lab, &[Try::keys(from, &line[at..]).framed()]).remove(0));
        assert_eq!(look(&rest[0]), look(&rest[1]), "boundary {at}");
    }
    let fan: Vec<Try> = (0..1_000).map(|n| Try::keys(&chain[200], keys(n, 1 + n as usize % 12)).kept()).collect();
    let fan = all(&lab, &fan);
    for tried in fan.iter().step_by(97) {
        let state = tried.state.as_ref().unwrap();
        let keys: Vec<u8> = line[..200].iter().copied().chain(tried.inputs.iter().map(|key| key.0)).collect();
        assert_eq!(lab.digest(state).unwrap(), lab.digest(&anew(&lab, &root, &keys)).unwrap());
    }
    assert!(lab.info().store_bytes / lab.info().store_states as u64 <= 12_000, "{:?}", lab.info());
}

pub(crate) fn everything_is_given_back() {
    let lab = lab(|_| {});
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let root = begin(&lab, 4);
    let round = |count: u64| {
        let tries: Vec<Try> = (0..count).map(|n| Try::keys(&root, keys(n, 20)).kept().framed()).collect();
        all(&lab, &tries).len()
    };
    round(64);
    let (before, open) = (lab.info(), descriptors());
    for _ in 0..5 {
        assert_eq!(round(400), 400);
        let now = lab.info();
        assert_eq!((now.store_bytes, now.store_states), (before.store_bytes, before.store_states));
    }
    // Other tests of this process open files too.
    assert!(descriptors() < open + 200);
    drop(root);
    assert_eq!((lab.info().store_bytes, lab.info().store_states), (0, 0));
}
