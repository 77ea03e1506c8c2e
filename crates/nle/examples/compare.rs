//! Compares trajectories with our own play: `cargo run --release -p nle --example compare -- FILE…`.

use std::path::Path;

use machine::Machine;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut machine = Machine::open(rom::built_in())?;
    let mut same = true;
    for file in std::env::args().skip(1) {
        let report = nle::compare(Path::new(&file), &mut machine, &mut |_| {})?;
        let Some(difference) = report.difference else {
            println!("{file}: {} steps agree", report.agreed);
            continue;
        };
        same = false;
        println!(
            "{file}: {} steps agree; at step {} after key {:?} {}",
            report.agreed, difference.step, difference.key, difference.what
        );
        println!("ours\n{}", difference.ours.join("\n"));
        if let Some(theirs) = difference.theirs {
            println!("theirs\n{}", theirs.join("\n"));
        }
    }
    if same { Ok(()) } else { Err("not all agree".into()) }
}
