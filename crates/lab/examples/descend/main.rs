//! Greedy descent: tries a handful of lines from where it stands, goes where the best of them leads, and again.
//!
//! `cargo run --release -p lab --example descend -- --seed 7 --out descend.movie`
//!
//! The same seed gives the same movie, however many workers there are.

#[path = "../driver/arguments.rs"]
mod arguments;
#[path = "../driver/chance.rs"]
mod chance;
#[path = "../driver/map.rs"]
mod map;
mod search;

use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(code) = lab::serve_if_worker(Vec::new) {
        return Ok(code);
    }
    let arguments = arguments::Arguments::read(4_000)?;
    let lab = arguments.lab()?;
    let descent = search::descend(&lab, arguments.seed, arguments.lines)?;
    println!("{:>6} {:>6} {:>6} {:>6} {:>8} {:>6}", "level", "turn", "inputs", "HP", "lines", "deaths");
    for stage in &descent.stages {
        let search::Stage { depth, turn, inputs, hp, lines, deaths } = stage;
        println!("{depth:>6} {turn:>6} {inputs:>6} {hp:>6} {lines:>8} {deaths:>6}");
    }
    arguments.conclude(&lab, &descent.best)?;
    Ok(ExitCode::SUCCESS)
}
