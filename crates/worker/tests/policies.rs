//! Policies beside the machine.

use std::cell::Cell;
use std::time::{Duration, Instant};

use wire::{Key, StopReason};
use worker::{
    Drive, LostReason, POLICY_BYTES_MAX, Policy, ROLLOUT_KEYS_MAX, Sight, Start, Task, TaskError, WorkerOptions,
};

use crate::support::{options, power_on, task, worker, worker_with};

/// What the test's workers know.
pub(crate) fn all() -> Vec<Box<dyn Policy>> {
    vec![Box::new(Searcher::default()), Box::new(Talker), Box::new(Loiterer::default())]
}

/// Searches until so many turns have passed, and looks at everything.
#[derive(Default)]
struct Searcher {
    turns: i64,
    from: Option<i64>,
    seen: Vec<u8>,
}

impl Policy for Searcher {
    fn name(&self) -> &'static str {
        "search"
    }

    fn begin(&mut self, arguments: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(arguments).map_err(|error| error.to_string())?;
        *self = Self { turns: text.parse().map_err(|_| format!("{text:?} is no number"))?, ..Self::default() };
        Ok(())
    }

    fn next(&mut self, sight: &Sight<'_>) -> Option<Key> {
        let from = *self.from.get_or_insert(sight.turn());
        assert_eq!(sight.frame().turn, sight.turn());
        assert_eq!(sight.pending().map(|pending| pending.kind), sight.pending_kind());
        self.seen.push(sight.keys() as u8);
        (sight.turn() - from < self.turns).then_some(Key(b's'))
    }

    fn outcome(&mut self, sight: &Sight<'_>) -> Vec<u8> {
        assert!(sight.ended().is_none());
        std::mem::take(&mut self.seen)
    }
}

/// Presses the key that it is given, and has much to say of it.
struct Talker;

impl Policy for Talker {
    fn name(&self) -> &'static str {
        "talk"
    }

    fn begin(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn next(&mut self, sight: &Sight<'_>) -> Option<Key> {
        assert!(sight.keys() < 10, "I have pressed enough");
        Some(Key(b's'))
    }

    fn outcome(&mut self, sight: &Sight<'_>) -> Vec<u8> {
        vec![1; if sight.keys() == 1 { POLICY_BYTES_MAX + 1 } else { POLICY_BYTES_MAX }]
    }
}

/// Takes its time where it is told to: for ever; for 10 ms before each key; by some milliseconds of work before each.
#[derive(Default)]
struct Loiterer(String);

impl Loiterer {
    fn loiter(&self, here: &str) {
        if self.0 == here {
            loop {
                std::hint::spin_loop();
            }
        }
    }
}

impl Policy for Loiterer {
    fn name(&self) -> &'static str {
        "loiter"
    }

    fn begin(&mut self, arguments: &[u8]) -> Result<(), String> {
        self.0 = String::from_utf8_lossy(arguments).into_owned();
        self.loiter("begin");
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "the time is all that it is about")]
    fn next(&mut self, sight: &Sight<'_>) -> Option<Key> {
        if sight.keys() == 3 {
            self.loiter("next");
        }
        let since = Instant::now();
        while self.0 == "often" && since.elapsed() < Duration::from_millis(10) {
            std::hint::spin_loop();
        }
        if self.0 == "toil" {
            std::hint::black_box((0..5_000_000_u64).fold(1, |sum, n| std::hint::black_box(sum * 3 % 1_000_003 + n)));
        }
        Some(Key(b's'))
    }

    fn outcome(&mut self, _: &Sight<'_>) -> Vec<u8> {
        self.loiter("outcome");
        Vec::new()
    }
}

fn rollout(name: &str, arguments: &str, keys_max: u32) -> Task {
    let arguments = arguments.as_bytes().to_vec();
    let drive = Drive::Policy { name: name.to_owned(), arguments, keys_max, turns_max: None };
    Task { drive, ..task(power_on(4), "") }
}

pub(crate) fn a_policy_plays() {
    let mut worker = worker();
    assert_eq!(worker.hello().policies, ["search", "talk", "loiter"]);
    let mut played = rollout("search", "5", 1_000);
    played.want = crate::store::everything();
    let report = worker.run(&played).unwrap();
    assert_eq!((report.stop, report.keys_used, report.turns), (StopReason::Policy, 5, 5));
    assert_eq!(report.outcome, [0, 1, 2, 3, 4, 5]);
    assert_eq!((report.inputs.len(), report.checks.len()), (5, 5));
    let mut pressed = task(power_on(4), "sssss");
    pressed.want = crate::store::everything();
    let by_hand = worker.run(&pressed).unwrap();
    assert_eq!((report.play, report.state_digest, &report.frame), (by_hand.play, by_hand.state_digest, &by_hand.frame));
    assert_eq!((&report.checks, &report.messages), (&by_hand.checks, &by_hand.messages));
    // Thousands of keys in many lines.
    let lines = vec![rollout("search", "300", 1_000); 20];
    let lines = worker.run_lines(&lines).unwrap();
    assert_eq!(lines.len(), 20);
    assert!(lines.iter().all(|line| line == &lines[0]));
}

pub(crate) fn policies_stop_where_they_should() {
    let mut worker = worker();
    let stop = |worker: &mut worker::Worker, task: &Task| {
        let report = worker.run(task).unwrap();
        (report.stop, report.keys_used)
    };
    assert_eq!(stop(&mut worker, &rollout("search", "100", 7)), (StopReason::Done, 7));
    assert_eq!(stop(&mut worker, &rollout("search", "100", 0)), (StopReason::Done, 0));
    let mut bounded = rollout("search", "100", 50);
    let Drive::Policy { turns_max, .. } = &mut bounded.drive else { unreachable!() };
    *turns_max = Some(3);
    assert_eq!(stop(&mut worker, &bounded), (StopReason::Turns, 3));
    assert_eq!(stop(&mut worker, &rollout("search", "0", 50)), (StopReason::Policy, 0));
}

pub(crate) fn a_policy_that_is_refused_costs_nothing() {
    let mut worker = worker();
    let before = worker.run(&task(power_on(1), "ss")).unwrap();
    for (name, arguments, keys_max) in [("none", "", 1), ("search", "many", 1), ("search", "1", ROLLOUT_KEYS_MAX + 1)] {
        let mut asked = rollout(name, arguments, keys_max);
        asked.start = Start::Resident;
        assert!(matches!(worker.run(&asked), Err(TaskError::Refused(_))), "{name} {arguments}");
        assert_eq!(worker.run(&task(Start::Resident, "")).unwrap().play, before.play);
    }
    let mut long = rollout("search", &"1".repeat(POLICY_BYTES_MAX + 1), 1);
    assert!(matches!(worker.run(&long), Err(TaskError::Refused(_))));
    // What a policy brings back is bounded too; by then the machine has moved.
    assert!(matches!(worker.run(&rollout("talk", "", 1)), Err(TaskError::Displaced(_))));
    long = rollout("talk", "", 2);
    assert_eq!(worker.run(&long).unwrap().outcome.len(), POLICY_BYTES_MAX);
}

pub(crate) fn a_panic_in_a_policy_ends_its_worker() {
    let mut worker = worker();
    let lines = [rollout("search", "1", 10), rollout("talk", "", 100)];
    match worker.run_lines(&lines) {
        Err(TaskError::Lost { reason: LostReason::Failed(reason) }) => assert!(reason.contains("pressed enough")),
        other => panic!("{other:?}"),
    }
    assert!(!worker.is_running());
}

pub(crate) fn a_policy_that_loops_for_ever_hangs() {
    for place in ["begin", "next", "outcome"] {
        let mut worker = worker_with(WorkerOptions { key_cpu_limit_ms: 300, ..options() });
        let lines = [rollout("search", "1", 10), rollout("loiter", place, 5), rollout("search", "1", 10)];
        let hung = worker.run_lines(&lines).unwrap_err();
        assert_eq!(hung, TaskError::Hung { inputs: Vec::new() }, "{place}");
        assert_eq!(hung.to_string(), "a function of a policy took more CPU time than a key may");
        assert!(!worker.is_running(), "{place}");
        assert_eq!(worker.run_lines(&lines), Err(TaskError::Lost { reason: LostReason::Hung }), "{place}");
    }
}

pub(crate) fn each_call_of_a_policy_has_the_whole_limit() {
    let mut worker = worker_with(WorkerOptions { key_cpu_limit_ms: 100, ..options() });
    let report = worker.run(&rollout("loiter", "often", 50)).unwrap();
    assert_eq!((report.stop, report.keys_used), (StopReason::Done, 50));
}

pub(crate) fn a_long_rollout_gives_signs_of_life() {
    // More CPU time than a worker may use without a word: twice a key's, and two seconds.
    let mut worker = worker_with(WorkerOptions { key_cpu_limit_ms: 400, ..options() });
    let report = worker.run(&rollout("loiter", "toil", 400)).unwrap();
    assert_eq!((report.stop, report.keys_used), (StopReason::Done, 400));
}

pub(crate) fn a_line_that_nobody_wants_any_more_is_stopped() {
    let mut worker = worker();
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 5
    };
    let stopped = worker.run_lines_unless(&[rollout("loiter", "next", 10)], &stop);
    assert_eq!(stopped, Err(TaskError::Lost { reason: LostReason::Killed }));
    assert!(!worker.is_running());
}
