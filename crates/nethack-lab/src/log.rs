//! The log on standard error, which no client can fill a disk with.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Lines that may come at once, as at a start.
const BURST: u32 = 100;
/// How long it takes until one more may.
const REFILL: Duration = Duration::from_secs(10);
/// Bytes of one line.
const LINE_BYTES_MAX: usize = 2_000;

/// Logs to standard error: standard output may belong to a protocol. Warnings and worse, few and short where there are
/// many; whoever names a level in `NETHACK_LAB_LOG` gets all of it.
#[expect(clippy::disallowed_methods, reason = "what is logged reaches no machine")]
pub(crate) fn to_stderr() {
    let level: Option<LevelFilter> = std::env::var("NETHACK_LAB_LOG").ok().and_then(|text| text.parse().ok());
    let log = tracing_subscriber::fmt().with_ansi(false);
    let _ = match level {
        Some(level) => log.with_max_level(level).with_writer(std::io::stderr).try_init(),
        None => log.with_max_level(LevelFilter::WARN).with_writer(Few::new()).try_init(),
    };
}

/// Standard error for a line now and then.
struct Few {
    start: Instant,
    allowance: Mutex<Allowance>,
}

impl Few {
    fn new() -> Self {
        Self { start: now(), allowance: Mutex::new(Allowance { left: BURST, refilled: Duration::ZERO, omitted: 0 }) }
    }
}

#[expect(clippy::disallowed_methods, reason = "how often is logged reaches no machine")]
fn now() -> Instant {
    Instant::now()
}

impl MakeWriter<'_> for Few {
    type Writer = Line;

    fn make_writer(&self) -> Line {
        let time = now().saturating_duration_since(self.start);
        Line(self.allowance.lock().unwrap_or_else(PoisonError::into_inner).take(time))
    }
}

/// How many lines may come.
#[derive(Debug)]
struct Allowance {
    left: u32,
    /// Until when `left` is reckoned.
    refilled: Duration,
    omitted: u64,
}

impl Allowance {
    /// Takes a line where there is one, with how many were left out before it.
    fn take(&mut self, time: Duration) -> Option<u64> {
        let waited = time.saturating_sub(self.refilled).as_secs();
        let more = waited / REFILL.as_secs();
        if more > 0 {
            self.refilled += Duration::from_secs(more * REFILL.as_secs());
            self.left = self.left.saturating_add(u32::try_from(more).unwrap_or(u32::MAX)).min(BURST);
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Some(std::mem::take(&mut self.omitted))
            }
            None => {
                self.omitted += 1;
                None
            }
        }
    }
}

/// One line of the log, or none where there is no room for it.
struct Line(Option<u64>);

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if let Some(omitted) = self.0 {
            let mut stderr = std::io::stderr().lock();
            if omitted > 0 {
                writeln!(stderr, "({omitted} lines of the log were left out)")?;
                self.0 = Some(0);
            }
            match line.get(..LINE_BYTES_MAX) {
                Some(beginning) => stderr.write_all(beginning).and_then(|()| stderr.write_all("…\n".as_bytes()))?,
                None => stderr.write_all(line)?,
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lines_are_few_and_none_is_forgotten() {
        let mut allowance = Allowance { left: BURST, refilled: Duration::ZERO, omitted: 0 };
        let at = Duration::from_secs;
        assert!((0..BURST).all(|_| allowance.take(at(1)) == Some(0)));
        assert!((0..5_000).all(|_| allowance.take(at(9)).is_none()));
        assert_eq!(allowance.take(at(10)), Some(5_000));
        assert_eq!(allowance.take(at(19)), None);
        assert_eq!(allowance.take(at(20)), Some(1));
        // A long silence gives no more than there was at the start.
        assert!((0..BURST).all(|_| allowance.take(at(1 << 40)) == Some(0)));
        assert_eq!(allowance.take(at(1 << 40)), None);
    }
}
