//! How fast recorded games replay with arrays filled at each step: `speed [challenge|none] FILE…` prints steps and
//! seconds for each file.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use machine::{Arrays, Machine, Observation, Stop};

#[expect(clippy::disallowed_methods, reason = "measuring is the host's business")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let arrays = match arguments.next().as_deref() {
        Some("challenge") => Some(Arrays::CHALLENGE),
        Some("none") => None,
        _ => return Err("speed [challenge|none] FILE…".into()),
    };
    let mut machine = Machine::open(rom::built_in())?;
    let mut seen = Observation::default();
    for file in arguments {
        let import = nle::import(Path::new(&file))?;
        let mut stop = machine.power_on(&import.power_on)?;
        let begun = Instant::now();
        let mut steps = 0;
        for key in &import.keys {
            if stop != Stop::Boundary {
                break;
            }
            stop = machine.press(*key)?;
            steps += 1;
            if let Some(arrays) = arrays {
                machine.observe_nle(&mut seen, arrays);
                black_box(&seen);
            }
        }
        println!("{steps} {}", begun.elapsed().as_secs_f64());
    }
    Ok(())
}
