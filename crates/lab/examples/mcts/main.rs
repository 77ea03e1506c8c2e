//! A small Monte Carlo tree search (UCT) over forks with other luck: it plans against what may happen, and then plays
//! its choice on the one game whose luck it has not looked at.
//!
//! `cargo run --release -p lab --example mcts -- --seed 7 --out planned.movie`
//!
//! The same seed gives the same movie, however many workers there are.

#[path = "../driver/arguments.rs"]
mod arguments;
#[path = "../driver/chance.rs"]
mod chance;
#[path = "../driver/map.rs"]
mod map;
#[path = "../driver/scout.rs"]
mod scout;
mod search;
mod tree;
#[path = "../driver/walker.rs"]
mod walker;

use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(code) = lab::serve_if_worker(|| vec![Box::new(scout::Scout::new()), Box::new(walker::Walker::new())]) {
        return Ok(code);
    }
    let arguments = arguments::Arguments::read(24_000)?;
    let lab = arguments.lab()?;
    let plan = search::plan(&lab, arguments.seed, arguments.lines)?;
    println!(
        "{:>4} {:>6} {:>6} {:>4} {:>5}  choice (visits, value of all that were tried)",
        "", "level", "turn", "HP", "known"
    );
    for (number, decision) in plan.decisions.iter().enumerate() {
        let search::Decision { report, turn, choice, values } = decision;
        let values: Vec<String> =
            values.iter().map(|(name, visits, value)| format!("{name} {visits} {value}")).collect();
        let (depth, hp, known) = (report.depth, report.hp, report.known);
        println!("{number:>4} {depth:>6} {turn:>6} {hp:>4} {known:>5}  {choice} ({})", values.join(", "));
    }
    arguments.conclude(&lab, &plan.end)?;
    Ok(ExitCode::SUCCESS)
}
