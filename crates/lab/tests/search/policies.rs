//! Policies beside the machine.

use lab::{LineStop, Policy, Sight, Try};
use wire::{Key, StopReason};

use crate::scout::Scout;
use crate::support::{self, begin, lab, look};
use crate::walker::{Report, Walker};

/// What the workers of these tests have.
pub(crate) fn all() -> Vec<Box<dyn Policy>> {
    vec![Box::new(Walker::new()), Box::new(Scout::new()), Box::new(Fickle)]
}

/// Panics when it is told to, and refuses what it does not know.
struct Fickle;

impl Policy for Fickle {
    fn name(&self) -> &str {
        "fickle"
    }

    fn begin(&mut self, arguments: &[u8]) -> Result<(), String> {
        match arguments {
            b"panic" => panic!("as it was told"),
            b"" => Ok(()),
            _ => Err("not understood".to_owned()),
        }
    }

    fn next(&mut self, sight: &Sight<'_>) -> Option<Key> {
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
