//! Policies beside the machine.

use lab::{Cancel, Control, LineStop, Policy, Sight, Try};
use wire::{Key, StopReason};

use crate::scout::Scout;
use crate::support::{self, begin, lab, look};
use crate::walker::{Report, Walker};

/// What the workers of these tests have.
pub(crate) fn all() -> Vec<Box<dyn Policy>> {
    vec![Box::new(Walker::new()), Box::new(Scout::new()), Box::new(Fickle::default())]
}

/// Panics or loops for ever when it is told to, and refuses what it does not know.
#[derive(Default)]
struct Fickle {
    loops: bool,
}

impl Policy for Fickle {
    fn name(&self) -> &str {
        "fickle"
    }

    fn begin(&mut self, arguments: &[u8]) -> Result<(), String> {
        self.loops = arguments == b"loop";
        match arguments {
            b"panic" => panic!("as it was told"),
            b"" | b"loop" => Ok(()),
            _ => Err("not understood".to_owned()),
        }
    }

    fn next(&mut self, sight: &Sight<'_>) -> Option<Key> {
        while self.loops && sight.keys() == 2 {
            std::hint::spin_loop();
        }
        (sight.turn() < 5).then_some(Key(b's'))
    }

    fn outcome(&mut self, sight: &Sight<'_>) -> Vec<u8> {
        sight.turn().to_le_bytes().to_vec()
    }
}

pub(crate) fn a_rollout_is_its_keys() {
    let lab = lab(|_| {});
    let names = ["walk", "scout"];
    for seed in 0..3_u64 {
        let start = begin(&lab, seed);
        let tries: Vec<Try> = (0..20_u64)
            .map(|n| Try::policy(&start, names[n as usize % 2], n.to_le_bytes(), 200).kept().framed())
            .collect();
        let walked = support::all(&lab, &tries);
        let again = support::all(&lab, &tries);
        for (n, (walk, again)) in walked.iter().zip(&again).enumerate() {
            assert_eq!(look(walk), look(again), "seed {seed}, walk {n}");
            let keys: Vec<u8> = walk.inputs.iter().map(|key| key.0).collect();
            let pressed = support::all(&lab, &[Try::keys(&start, &keys).framed()]).remove(0);
            assert_eq!((pressed.play, pressed.frame()), (walk.play, walk.frame()), "seed {seed}, walk {n}");
            let report = Report::from_bytes(&walk.outcome).unwrap();
            assert_eq!(report, Report::of(&walk.frame().unwrap()), "seed {seed}, walk {n}");
        }
    }
}

pub(crate) fn what_a_policy_refuses_is_told() {
    let lab = lab(|_| {});
    let start = begin(&lab, 1);
    let error = lab.try_lines(&[Try::policy(&start, "nobody", [], 9)], &lab::Control::default()).unwrap_err();
    assert_eq!(error.to_string(), "there is no policy `nobody` in the workers; they have walk, scout, fickle");
    let tried = support::all(
        &lab,
        &[
            Try::policy(&start, "fickle", *b"what?", 9),
            Try::policy(&start, "fickle", [], 9),
            Try::policy(&start, "walk", *b"short", 9),
            Try::policy(&start, "fickle", [], 2).kept(),
        ],
    );
    for (index, reason) in [(0, "not understood"), (2, "8 bytes of seed")] {
        let LineStop::Refused { reason: told } = &tried[index].stop else { panic!("{:?}", tried[index].stop) };
        assert!(told.contains(reason), "{told}");
        assert!(tried[index].inputs.is_empty());
    }
    assert_eq!(tried[1].stop, LineStop::Line(StopReason::Policy));
    assert_eq!((tried[1].turn, tried[1].outcome.clone()), (5, 5_i64.to_le_bytes().to_vec()));
    assert_eq!((tried[3].stop.clone(), tried[3].keys_used), (LineStop::Line(StopReason::Done), 2));
}

pub(crate) fn a_policy_that_panics_costs_its_own_line() {
    let lab = lab(|_| {});
    let start = begin(&lab, 1);
    let tries: Vec<Try> = (0..60)
        .map(|n| if n == 30 { Try::policy(&start, "fickle", *b"panic", 9) } else { Try::keys(&start, b"ss") })
        .collect();
    for (n, tried) in support::all(&lab, &tries).iter().enumerate() {
        match &tried.stop {
            LineStop::Lost { reason } => assert!(n == 30 && reason.contains("as it was told"), "line {n}: {reason}"),
            stop => assert!(n != 30 && tried.inputs.len() == 2, "line {n}: {stop:?}"),
        }
    }
}

pub(crate) fn a_policy_that_loops_costs_its_own_line() {
    let lab = lab(|options| options.key_cpu_ms = 300);
    let start = begin(&lab, 1);
    let good = Try::keys(&start, b"ss").framed();
    let peace = support::all(&lab, std::slice::from_ref(&good)).remove(0);
    let mut tries = vec![good; 9];
    tries[4] = Try::policy(&start, "fickle", *b"loop", 9);
    for (n, tried) in support::all(&lab, &tries).iter().enumerate() {
        match &tried.stop {
            LineStop::Lost { reason } => assert!(n == 4 && reason.contains("took more CPU time"), "line {n}: {reason}"),
            _ => assert!(n != 4 && look(tried) == look(&peace), "line {n}: {:?}", tried.stop),
        }
    }
    // In its group, and alone; never again.
    assert!((1..=2).contains(&lab.info().workers_lost));
    let alone = support::all(&lab, &tries[4..5]).remove(0);
    assert!(matches!(alone.stop, LineStop::Lost { .. }) && lab.info().workers_lost <= 3);
}

pub(crate) fn a_cancel_ends_a_line_that_is_under_way() {
    let lab = lab(|_| {});
    let start = begin(&lab, 1);
    let endless = [Try::policy(&start, "fickle", *b"loop", 9)];
    let good: Vec<Try> = (0..40).map(|_| Try::keys(&start, b"20s").framed()).collect();
    let peace = support::all(&lab, &good).remove(0);
    let cancel = Cancel::default();
    let call = || {
        let control = Control { cancel: Some(&cancel), ..Control::default() };
        lab.try_lines(&endless, &control).unwrap().remove(0)
    };
    std::thread::scope(|scope| {
        // Both workers are taken; the third and the neighbour wait for one.
        let calls = [0; 3].map(|_| scope.spawn(call));
        let neighbour = scope.spawn(|| support::all(&lab, &good));
        // A look takes a reserved worker, so time passes and nobody is waited for.
        for _ in 0..200 {
            lab.look(&start).unwrap();
        }
        cancel.cancel();
        for call in calls {
            assert_eq!(call.join().unwrap().stop, LineStop::Cancelled);
        }
        assert!(neighbour.join().unwrap().iter().all(|tried| look(tried) == look(&peace)));
    });
    assert_eq!(lab.info().workers_lost, 0);
    assert_eq!(look(&support::all(&lab, &good)[39]), look(&peace));
}
