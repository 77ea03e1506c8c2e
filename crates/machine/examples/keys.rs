//! Plays keys on a fresh machine and shows the last frame: `cargo run -p machine --example keys -- SEED [TEXT]`.

use machine::{Machine, Stop};
use wire::{Key, PowerOn, Seed};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seed: Seed = arguments.next().unwrap_or_else(|| "1".to_owned()).parse()?;
    let keys = arguments.next().unwrap_or_default();
    let mut machine = Machine::open(rom::built_in())?;
    let mut stop = machine.power_on(&PowerOn::from_seed(seed))?;
    for byte in keys.bytes() {
        if stop != Stop::Boundary {
            break;
        }
        stop = machine.press(Key(byte))?;
    }
    let frame = machine.frame();
    println!("{}\n{stop:?}\n{:#?}", frame.screen.text(), frame.pending);
    println!("{:#?}\n{:#?}", frame.status, frame.messages);
    println!("{:#?}\n{:#?}", frame.menu, frame.window);
    println!("{} items, image {} bytes", frame.inventory.len(), machine.image_bytes());
    Ok(())
}
