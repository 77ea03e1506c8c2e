//! How fast all of this is, measured here and now.
#![expect(clippy::disallowed_methods, reason = "measures")]

use std::time::Instant;

use lab::{Lab, Luck, MachineId};
use machine::{Machine, SaveState, Stop};
use wire::Key;

use crate::demo::delete_all;
use crate::demo::stage::Stage;
use crate::setup::Setup;

/// Forks that are made to measure.
const FORKS: usize = 500;
/// Rounds of saving and loading.
const ROUNDS: u32 = 2_000;

/// Measures and tells.
pub(super) fn tell(setup: &Setup, lab: &Lab, stage: &Stage, main: MachineId) -> anyhow::Result<()> {
    stage.title("6. How fast");
    let started = Instant::now();
    let forks = lab.fork(main, None, Luck::Same, FORKS)?;
    let seconds = started.elapsed().as_secs_f64();
    stage.say(&format!(
        "{FORKS} forks in {:.2} ms: {:.0} a second. A fork costs no process and no copy until it plays.",
        seconds * 1e3,
        FORKS as f64 / seconds
    ));
    let started = Instant::now();
    let rounds = 200;
    for fork in forks.iter().take(rounds) {
        lab.press(fork.machine, fork.revision, Key(b's'))?;
    }
    let each = started.elapsed().as_secs_f64() / rounds as f64;
    stage.say(&format!("A key on a fork, through a sandboxed worker, with the new frame: {:.0} µs.", each * 1e6));
    delete_all(lab, forks.iter().map(|fork| fork.machine))?;
    if setup.is_built_in() {
        in_process(lab, stage, main)?;
    }
    Ok(())
}

/// The machine itself, in this process: what a driver in Rust gets.
fn in_process(lab: &Lab, stage: &Stage, main: MachineId) -> anyhow::Result<()> {
    let snapshot = lab.snapshot(main)?;
    let mut machine = Machine::open(rom::built_in())?;
    let keys: Vec<Key> = lab.history(main, lab::Boundary(0), usize::MAX)?.steps.iter().map(|step| step.key).collect();
    let mut stop = machine.power_on(&snapshot.power_on)?;
    let started = Instant::now();
    let mut pressed = 0_u32;
    for key in keys {
        if stop != Stop::Boundary {
            break;
        }
        stop = machine.press(key)?;
        pressed += 1;
    }
    let rate = f64::from(pressed) / started.elapsed().as_secs_f64();
    let mut state = SaveState::default();
    let started = Instant::now();
    for _ in 0..ROUNDS {
        machine.save_into(&mut state)?;
    }
    let save = started.elapsed().as_secs_f64() / f64::from(ROUNDS);
    let started = Instant::now();
    for _ in 0..ROUNDS {
        machine.load(&state)?;
    }
    let load = started.elapsed().as_secs_f64() / f64::from(ROUNDS);
    stage.say(&format!(
        "In one process, on one core: {rate:.0} keys a second; the whole game ({} KB) saved in {:.1} µs and loaded in {:.1} µs.",
        state.as_bytes().len() / 1_000,
        save * 1e6,
        load * 1e6
    ));
    Ok(())
}
