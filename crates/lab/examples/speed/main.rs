//! What the pool costs: lines through `try_lines` against as many processes that each have a machine to themselves,
//! side by side in one run, with the same states and keys.
//!
//! `cargo run --release -p lab --example speed -- [WORKERS [LINES [ROUNDS]]]`

mod measure;

use std::error::Error;
use std::process::ExitCode;

use lab::{Lab, LabOptions};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(code) = lab::serve_if_worker(Vec::new) {
        return Ok(code);
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, lines] = words.as_slice()
        && word == measure::ALONE
    {
        measure::alone(lines.parse()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let number = |index: usize, or: usize| words.get(index).map_or(Ok(or), |word| word.parse());
    let cores = std::thread::available_parallelism()?.get();
    let (workers, lines, rounds) = (number(0, cores)?, number(1, 20_000)?, number(2, 5)?);
    let options = LabOptions { workers, ..LabOptions::this_program() };
    let lab = Lab::new(options)?;
    let figures = measure::lines(&lab, workers, lines, rounds)?;
    println!("{} workers, lines of 10 keys with a frame each", figures.workers);
    println!("{:>10.0} lines/s through try_lines", figures.lines_per_s);
    println!("{:>10.0} lines/s in as many processes without it", figures.alone_lines_per_s);
    println!("{:>10.3} the one over the other", figures.ratio);
    println!("{:>10.1} us of a core that the pool adds to a line", figures.overhead_us);
    println!("{:>10.0} lines/s with every state kept", figures.kept_lines_per_s);
    println!("{:>10.1} us of a core that keeping adds to a line", figures.keep_us);
    let shares = measure::shares(&lab, lines)?;
    println!("{:>10.2} ms for a key while a batch runs, median", shares.press_ms_median);
    println!("{:>10.2} ms for a key while a batch runs, 99 of 100", shares.press_ms_p99);
    println!("{:>10.3} the time of one of two equal batches over the other's", shares.evenness);
    Ok(ExitCode::SUCCESS)
}
