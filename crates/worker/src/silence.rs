//! Telling a worker that is stuck from one that a busy machine does not let run.

use std::time::{Duration, Instant};

use rustix::process::Pid;

/// The socket's timeout: how often a host that waits asks whether it is still to wait.
pub(crate) const ASK_EVERY: Duration = Duration::from_millis(50);
/// How often it looks at a silent worker.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How many looks in a row find a worker stopped before it is given up: ten seconds. Looks are counted, not time, so that
/// one which was stopped together with its host, and goes on with it, is not.
const STOPPED_LOOKS_MAX: u32 = 20;

/// The patience of a host with one worker that should say something.
///
/// The watchdog in the worker decides whether a key or a policy hangs. This only catches a worker in which not even
/// that works: it has used far more CPU time than either may without a word; or it has been silent for long and
/// sleeps, which means that it waits for its host while the host waits for it; or somebody has stopped it by a signal and
/// does not let it go on. One that waits for a processor or for memory is waited for as long as it takes: load never
/// changes a result.
#[derive(Debug)]
pub(crate) struct Patience {
    pid: Pid,
    silence_max: Duration,
    cpu_max: Duration,
    since: Instant,
    looked: Instant,
    cpu_before: Option<Duration>,
    /// It has a task, and so says something at least between two keys. Before that it starts, which may take a while.
    at_work: bool,
    overspent: bool,
    /// Looks in a row that found it stopped.
    stopped: u32,
}

/// Now, by the host's clock. It decides when to look or to give a sign of life, never what a machine does.
#[expect(clippy::disallowed_methods, reason = "silence is a matter of the processes, not of the machine")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A look at a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    state: u8,
    cpu: Duration,
}

impl Patience {
    /// Patience that begins now.
    pub(crate) fn new(pid: Pid, silence_max: Duration, cpu_max: Duration) -> Self {
        let since = now();
        Self {
            pid,
            silence_max,
            cpu_max,
            since,
            looked: since,
            cpu_before: None,
            at_work: false,
            overspent: false,
            stopped: 0,
        }
    }

    /// The worker is given a task, or has said something in it.
    pub(crate) fn heard(&mut self) {
        self.since = now();
        self.looked = self.since;
        self.cpu_before = None;
        self.stopped = 0;
        self.at_work = true;
    }

    /// Whether it was given up for the CPU time that it used.
    pub(crate) fn is_overspent(&self) -> bool {
        self.overspent
    }

    /// Whether to wait on. To be asked every [`ASK_EVERY`].
    pub(crate) fn wait_on(&mut self) -> bool {
        if self.looked.elapsed() < LOOK_EVERY {
            return true;
        }
        self.looked = now();
        // A process that can't be looked at has gone; its socket tells so.
        let Some(look) = look(self.pid) else { return true };
        // The first look of a silence, not its beginning, which would cost every short task a look.
        let before = *self.cpu_before.get_or_insert(look.cpu);
        let silent = self.since.elapsed() >= self.silence_max;
        self.overspent = look.cpu.saturating_sub(before) >= self.cpu_max && (self.at_work || silent);
        self.stopped = if look.is_stopped() { self.stopped + 1 } else { 0 };
        !(self.overspent || silent && look.state == b'S' || self.stopped >= STOPPED_LOOKS_MAX)
    }
}

impl Look {
    /// By a signal, or by one who traces it.
    fn is_stopped(self) -> bool {
        matches!(self.state, b'T' | b't')
    }
}

fn look(pid: Pid) -> Option<Look> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    parse(&stat, rustix::param::clock_ticks_per_second())
}

/// Reads `/proc/PID/stat`: state, and CPU time in user and kernel mode.
fn parse(stat: &str, ticks_per_second: u64) -> Option<Look> {
    // The second field is the program's name, which may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let mut ticks = fields.skip(10).map(str::parse::<u64>);
    let used = ticks.next()?.ok()?.checked_add(ticks.next()?.ok()?)?;
    let cpu = Duration::from_millis(used.checked_mul(1_000)? / ticks_per_second.max(1));
    Some(Look { state, cpu })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_from_its_stat() {
        let stat = "123 (a) S b) R 1 2 3 4 5 6 7 8 9 10 150 30 0 0 20 0 1";
        let look = Look { state: b'R', cpu: Duration::from_millis(1_800) };
        assert_eq!(parse(stat, 100), Some(look));
        for (state, is_stopped) in [('R', false), ('S', false), ('D', false), ('T', true), ('t', true), ('Z', false)] {
            let stat = stat.replace(" R ", &format!(" {state} "));
            assert_eq!(parse(&stat, 100).map(Look::is_stopped), Some(is_stopped), "{state}");
        }
        for bad in ["", "1 (a)", "1 (a) S 1 2 3", "1 (a) S 1 2 3 4 5 6 7 8 9 10 x y"] {
            assert_eq!(parse(bad, 100), None, "{bad}");
        }
        let pid = rustix::process::getpid();
        assert!(super::look(pid).is_some());
    }
}
