//! Processes: how many there are, how they end, and what becomes of a script whose process does.

use std::path::Path;
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;
use script::{LimitKind, ScriptError, ScriptLimits, ScriptProgram, Scripts, Seen};
use wire::Boundary;

use crate::support::{Game, eval_on, frame, scripts, trial};

/// The script processes among this process's children.
fn processes() -> Vec<i32> {
    let own = std::process::id().to_string();
    let stat = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields: Vec<String> = stat.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect();
        (fields[0] != "Z" && fields[1] == own).then_some(pid)
    };
    let entries = std::fs::read_dir("/proc").expect("processes");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(stat).collect()
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![trial("processes_are_few_are_replaced_and_end", || {
        // All in one test: the processes of tests that run at once can't be told apart.
        let others = processes();
        let own = || -> Vec<i32> { processes().into_iter().filter(|pid| !others.contains(pid)).collect() };
        let _ = (&own, own().len());
        let scripts = scripts();
        let eval = |source: &str| eval_on(&scripts, source, &mut Game::default());
        assert!(eval("1").is_ok());
        // A script that no step stops is killed with its process; the next has another.
        let stuck = eval("return (('a'):rep(8000000)):find(('a'):rep(4000000) .. 'b', 1, true)");
        assert!(matches!(stuck, Err(ScriptError::Limit { kind: LimitKind::Time, max: 1_500, .. })), "{stuck:?}");
        assert!(eval("1").is_ok());
        // Many at once.
        let results: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| eval("for i = 1, 100000 do end return 1"))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
        });
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        // One process serves many scripts, and not for ever.
        assert!((0..150).all(|_| eval("nh.turn").is_ok()));
        let frame = frame(1);
        let seen = Seen { boundary: Boundary(1), frame: &frame, ended: None };
        let limits = ScriptLimits { wall: Duration::from_millis(1), ..ScriptLimits::default() };
        let hasty = scripts.eval("while true do end", &seen, &limits, &mut Game::default());
        assert!(matches!(hasty, Err(ScriptError::Limit { .. })), "{hasty:?}");
        assert!(eval("1").is_ok());
        let long = eval(&"x".repeat(script::SOURCE_BYTES_MAX + 1));
        assert!(matches!(long, Err(ScriptError::TooLong { given: 65_537, max: 65_536 })));
        for program in ["/no/such/program", "/bin/true", "/bin/cat"] {
            if program.starts_with("/bin") && !Path::new(program).exists() {
                continue;
            }
            let broken = Scripts::new(ScriptProgram { program: program.into(), arguments: vec![] });
            let outcome = eval_on(&broken, "1", &mut Game::default());
            if program == "/bin/cat" {
                continue;
            }
            assert!(matches!(outcome, Err(ScriptError::Spawn(_))), "{program}: {outcome:?}");
        }
    })]
}
