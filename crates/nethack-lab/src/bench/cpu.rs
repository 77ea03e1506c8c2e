//! CPU time of processes. Unlike time on a clock, it hardly depends on what else a machine does.

use std::path::Path;

/// How many of the ticks that `/proc` counts in make a second, on every Linux.
const TICKS_PER_S: f64 = 100.0;

/// What a process's `stat` says behind its name, which may hold anything; nothing when it has gone.
fn fields(process: &Path) -> Vec<String> {
    let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_ascii_whitespace().map(str::to_owned).collect()
}

fn time_us(fields: &[String]) -> f64 {
    let ticks = |field: &String| field.parse::<f64>().unwrap_or(0.0);
    fields.iter().skip(11).take(2).map(ticks).sum::<f64>() * 1e6 / TICKS_PER_S
}

/// What this process has used so far, in microseconds.
pub(super) fn own_us() -> f64 {
    time_us(&fields(Path::new("/proc/self")))
}

/// What this process and those that it has started and that still run have used so far, in microseconds.
pub(super) fn family_us() -> f64 {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = entries.map(|entry| fields(&entry.path()));
    own_us() + all.filter(|fields| fields.get(1) == Some(&own)).map(|fields| time_us(&fields)).sum::<f64>()
}
