//! Go-Explore: an archive of places, each with the best state that was found there. It chooses some of them, lets a
//! random policy loose from each in the workers, and keeps what is new or better.
//!
//! `cargo run --release -p lab --example go_explore -- --seed 7 --out explored.movie`
//!
//! The same seed gives the same movie, however many workers there are.

#[path = "../driver/arguments.rs"]
mod arguments;
#[path = "../driver/chance.rs"]
mod chance;
mod search;
#[path = "../driver/walker.rs"]
mod walker;

use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(code) = lab::serve_if_worker(|| vec![Box::new(walker::Walker::new())]) {
        return Ok(code);
    }
    let arguments = arguments::Arguments::read(20_000)?;
    let lab = arguments.lab()?;
    let archive = search::explore(&lab, arguments.seed, arguments.lines)?;
    println!("{} lines, {} keys, {} deaths", archive.lines, archive.keys, archive.deaths);
    println!("{:>6} {:>6} {:>12}", "level", "places", "best HP");
    for (depth, places, hp) in archive.table() {
        println!("{depth:>6} {places:>6} {hp:>12}");
    }
    let best = archive.best();
    println!("\nlevel {}, the places that were reached:\n{}", best.report.depth, archive.coverage(best.report.depth));
    arguments.conclude(&lab, &best.state)?;
    Ok(ExitCode::SUCCESS)
}
