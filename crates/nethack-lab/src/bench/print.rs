//! The figures as a table for people.

use super::peers::{Ale, Nle};
use super::{Figures, ROUNDS};
use crate::out::outln;

/// A row: what, how much, in which unit.
type Row = (&'static str, f64, &'static str);

fn table(rows: &[Row]) {
    for (what, value, unit) in rows {
        let counted = matches!(*unit, "" | "bytes" | "inputs" | "steps" | "states");
        let digits = if *value < 1_000.0 && !counted { 1 } else { 0 };
        outln!("  {what:<52} {value:>12.digits$} {unit}");
    }
}

pub(super) fn print(figures: &Figures) {
    outln!("ROM {}", figures.rom_id);
    outln!("load average at the start: {}; {} cores; medians of {ROUNDS} rounds", figures.load_average, figures.cores);
    in_process(figures);
    through_workers(figures);
    states(figures);
    peers(figures);
}

fn in_process(figures: &Figures) {
    let alone = &figures.in_process;
    outln!("\nThe machine alone, one core");
    outln!("M0: random keys, mostly moves. M1: a fighter that runs, rests and fights, many turns a key.");
    table(&[
        ("M0", alone.keys_per_s.batch, "keys/s"),
        ("M0 with a frame each", alone.keys_per_s.batch_frames, "keys/s"),
        ("M0 with a play digest each", alone.keys_per_s.batch_digests, "keys/s"),
        ("M1", alone.keys_per_s.batch_m1, "keys/s"),
        ("M1", alone.turns_per_s_m1, "turns/s"),
        ("save, early game", alone.save_us, "µs"),
        ("load, early game", alone.load_us, "µs"),
        ("load and a key", alone.load_key_us, "µs"),
        ("the key alone", alone.key_us, "µs"),
        ("save, deep game", alone.save_deep_us, "µs"),
        ("load, deep game", alone.load_deep_us, "µs"),
        ("frame", alone.frame_us, "µs"),
        ("play digest", alone.play_digest_us, "µs"),
        ("state digest", alone.state_digest_us, "µs"),
        ("new game", alone.new_game_us, "µs"),
        ("power-on with options not seen before", alone.power_on_cold_us, "µs"),
        ("image, early", alone.image_bytes.early as f64, "bytes"),
        ("image, deep", alone.image_bytes.deep as f64, "bytes"),
    ]);
}

fn through_workers(figures: &Figures) {
    let pool = &figures.pool;
    outln!("\nThrough worker processes; a line is: load a state, ten keys of M0, the frame");
    table(&[
        ("fork, key, frame, one at a time", figures.fork_key_frame_us, "µs"),
        ("lines, one worker", pool.lines_per_s_1, "lines/s"),
        ("lines, all workers", pool.lines_per_s_all, "lines/s"),
        ("the same in independent processes side by side", pool.lines_per_s_alone, "lines/s"),
        ("workers", pool.workers as f64, ""),
        ("what a line costs a worker beyond that", pool.overhead_us_per_line, "µs"),
        ("CPU time of a line, host and workers together", pool.cpu_us_per_line, "µs"),
        ("CPU time of a line in such a process", pool.cpu_us_per_line_alone, "µs"),
        ("loads, all workers", pool.restores_per_s, "loads/s"),
        ("loads with one key, all workers", pool.restore_keys_per_s, "loads/s"),
        ("seek, median", figures.seek.median_ms, "ms"),
        ("seek, 99th of 100", figures.seek.p99_ms, "ms"),
        ("  in a line of", figures.seek.inputs as f64, "inputs"),
    ]);
}

fn states(figures: &Figures) {
    let states = &figures.states;
    outln!("\nStates; the exploration forks 1 to 20 keys apart in several games, every fifth a deep one");
    table(&[
        ("held", states.count as f64, "states"),
        ("in the store, each", states.bytes_mean, "bytes"),
        ("in the host's process, each", states.host_bytes_mean, "bytes"),
        ("lines whose state is kept", states.kept_per_s, "lines/s"),
        ("loaded, in another order", states.loaded_per_s, "states/s"),
        ("replayed from power-on and found equal", states.proved as f64, "states"),
        ("1 key from the last, early", states.bytes_mean_1key, "bytes"),
        ("10 keys from the last, early", states.bytes_mean_10key, "bytes"),
        ("100 keys from the last, early", states.bytes_mean_100key, "bytes"),
        ("1 key from the last, deep", states.deep_bytes_mean_1key, "bytes"),
        ("10 keys from the last, deep", states.deep_bytes_mean_10key, "bytes"),
        ("100 keys from the last, deep", states.deep_bytes_mean_100key, "bytes"),
        ("in the spill file", states.spill_bytes as f64, "bytes"),
    ]);
}

fn peers(figures: &Figures) {
    outln!("\nPeers, in the same run");
    match &figures.peers.ale {
        Some(ale) => print_ale(ale),
        None => outln!("  ALE is not installed (ale-py)"),
    }
    match &figures.peers.nle {
        Some(nle) => print_nle(nle, figures),
        None => outln!("  NLE is not installed (nle)"),
    }
}

fn print_ale(ale: &Ale) {
    outln!("  ALE {} (Breakout)", ale.version);
    table(&[
        ("clone", ale.clone_us, "µs"),
        ("restore", ale.restore_us, "µs"),
        ("restore and a frame's play", ale.restore_act_us, "µs"),
        ("a state, pickled", ale.state_bytes as f64, "bytes"),
    ]);
}

fn print_nle(nle: &Nle, figures: &Figures) {
    outln!("  NLE {}, which has no states: it plays again from the start", nle.version);
    table(&[
        ("back to a point by replay", nle.replay_us, "µs"),
        ("  that is so many steps into the game", nle.depth as f64, "steps"),
        ("reset", nle.reset_us, "µs"),
        ("steps with the Challenge arrays", nle.steps_per_s, "steps/s"),
        ("its way back, over our load", nle.replay_us / figures.in_process.load_us, "times"),
    ]);
}
