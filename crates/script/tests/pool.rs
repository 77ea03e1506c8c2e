//! Processes: how many there are, how they end, and what becomes of a script whose process does.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use script::{LimitKind, Past, ScriptError, ScriptLimits, ScriptProgram, Scripts, Seen};
use wire::{Boundary, Frame, GlyphNames, Message};

use crate::support::{Game, eval_on, frame, scripts, trial};

/// The word by which this program counts its own processes, undisturbed by other tests.
pub(crate) const ALONE: &str = "alone";

const HANG: &str = "return (('a'):rep(8000000)):find(('a'):rep(4000000) .. 'b', 1, true)";

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        trial("processes_are_few_are_closed_in_and_end", || {
            let own = std::env::current_exe().expect("this program");
            let output = Command::new(own).arg(ALONE).output().expect("it starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }),
        trial("what_is_no_script_process_is_found_out", || {
            for (program, arguments) in [("/no/such/program", vec![]), ("/bin/sh", vec!["-c", "exit 0"])] {
                let arguments = arguments.into_iter().map(Into::into).collect();
                let broken = Scripts::new(ScriptProgram { program: program.into(), arguments });
                let outcome = eval_on(&broken, "1", &mut Game::default());
                assert!(matches!(outcome, Err(ScriptError::Spawn(_))), "{program}: {outcome:?}");
            }
        }),
        trial("a_text_that_is_too_long_is_refused", || {
            let longest = format!("return '{}'", "x".repeat(script::SOURCE_BYTES_MAX - 9));
            assert!(eval_on(&scripts(), &longest, &mut Game::default()).is_ok());
            let long = eval_on(&scripts(), &format!("{longest} "), &mut Game::default());
            assert_eq!(long, Err(ScriptError::TooLong { given: 65_537, max: 65_536 }));
        }),
    ]
}

/// The children of this process.
fn processes() -> Vec<i32> {
    let own = std::process::id().to_string();
    let is_own = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)).map(str::to_owned);
        parent.as_ref() == Some(&own)
    };
    let entries = std::fs::read_dir("/proc").expect("processes");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(is_own).collect()
}

#[expect(clippy::disallowed_methods, reason = "that processes end in time is what is tested")]
fn within_10_s(holds: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        if holds() {
            return true;
        }
        thread::yield_now();
    }
    holds()
}

fn signal(pid: i32, name: &str) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().expect("kill").success());
}

/// A process that somebody has stopped is given up, and the script done by another; its own limits are not blamed.
fn stopped(scripts: &Scripts) {
    let limits = ScriptLimits { wall: Duration::from_millis(700), ..ScriptLimits::default() };
    let frame = frame(1);
    let seen = Seen { boundary: Boundary(1), frame: &frame, ended: None };
    assert!(scripts.eval("1", &seen, &limits, &mut Game::default(), &|| false).is_ok());
    let waiting = processes();
    assert!(!waiting.is_empty());
    waiting.iter().for_each(|pid| signal(*pid, "-STOP"));
    let done = scripts.eval("nh.turn", &seen, &limits, &mut Game::default(), &|| false);
    assert_eq!(done.map(|done| done.value), Ok(Some(1.into())));
    let many = vec![seen; 100];
    processes().iter().for_each(|pid| signal(*pid, "-STOP"));
    assert_eq!(scripts.score("nh.turn", &many, &limits, &mut || None, &|| false), Ok(vec![Ok(1.0); 100]));
    // In the middle of a script, whose past then takes long: that is no time of its own.
    let mut stops = Stops;
    let lost = scripts.eval("nh.frames(2)", &seen, &limits, &mut stops, &|| false);
    assert!(matches!(lost, Err(ScriptError::Lost(_))), "{lost:?}");
    assert!(within_10_s(|| processes().len() <= 2));
}

/// Stops every process that asks for frames.
struct Stops;

impl Past for Stops {
    fn frames(&mut self, _: Boundary, _: usize) -> Result<Vec<(Boundary, Frame)>, String> {
        processes().iter().for_each(|pid| signal(*pid, "-STOP"));
        Ok(vec![(Boundary(0), frame(0))])
    }

    fn messages(&mut self, _: usize) -> Result<Vec<Message>, String> {
        Ok(Vec::new())
    }

    fn names(&mut self) -> Option<GlyphNames> {
        None
    }
}

/// What is tested in a process of its own.
pub(crate) fn alone() {
    let scripts = scripts();
    let eval = |source: &str| eval_on(&scripts, source, &mut Game::default());
    assert!(processes().is_empty(), "none is started before the first script");
    assert!(eval("1").is_ok());
    let first = processes();
    assert_eq!(first.len(), 1);
    let status = std::fs::read_to_string(format!("/proc/{}/status", first[0])).expect("its status");
    for line in ["Seccomp:\t2", "NoNewPrivs:\t1", "Threads:\t1"] {
        assert!(status.contains(line), "{line}: {status}");
    }
    // One serves many, and not for ever.
    assert!((0..60).all(|_| eval("nh.turn").is_ok()));
    assert_eq!(processes(), first);
    assert!((0..60).all(|_| eval("nh.turn").is_ok()));
    assert_ne!(processes(), first);
    // One that no step stops is killed; the next script has another.
    let before = processes();
    let stuck = eval(HANG);
    assert!(matches!(stuck, Err(ScriptError::Limit { kind: LimitKind::Time, max: 1_500, .. })), "{stuck:?}");
    assert!(eval("1").is_ok());
    assert!(processes().len() == 1 && processes() != before);
    // Many at once are all answered; few are kept.
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..12).map(|_| scope.spawn(|| eval("for i = 1, 100000 do end return 1"))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert!(within_10_s(|| processes().len() <= 2), "{:?}", processes());
    // Whoever's process dies between two scripts has another.
    let kept = processes();
    for pid in &kept {
        assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().expect("kill").success());
    }
    assert!((0..4).all(|_| eval("1").is_ok()));
    assert!(within_10_s(|| !processes().iter().any(|pid| kept.contains(pid))));
    let (frame, limits) = (frame(1), ScriptLimits { cpu: Duration::from_millis(1), ..ScriptLimits::default() });
    let seen = Seen { boundary: Boundary(1), frame: &frame, ended: None };
    let hasty = scripts.eval("while true do end", &seen, &limits, &mut Game::default(), &|| false);
    assert!(matches!(hasty, Err(ScriptError::Limit { kind: LimitKind::Time, max: 1, .. })), "{hasty:?}");
    stopped(&scripts);
    drop(scripts);
    assert!(within_10_s(|| processes().is_empty()), "{:?}", processes());
}
