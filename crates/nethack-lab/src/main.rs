//! NetHack Lab's one executable: its command line, and the workers that it starts again as itself.

mod bench;
mod client_config;
mod command_line;
mod demo;
mod explorer;
mod log;
mod movies;
mod nle_games;
mod out;
mod outcome;
mod paint;
mod play;
mod power;
mod record;
mod rom_command;
mod server;
mod setup;
mod states;
mod trees;
mod viewer;
mod watch;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use signal_hook::consts::SIGXFSZ;

use command_line::{Arguments, Command};
use outcome::Outcome;

fn main() -> ExitCode {
    // A worker or a script's process closes all descriptors and takes the process over, so nothing may come before it.
    if std::env::args_os().nth(1).is_some_and(|word| word == "worker") {
        return worker::worker_main(mcp::policies());
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == "script") {
        return script::script_main();
    }
    // A file that grows beyond the shell's limit is then an error of the write that we tell of, not our end.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(status) => status,
        Err(error) => {
            out::complain(&outcome::told(&error));
            outcome::of_error(&error).into()
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let setup = setup::Setup::new(arguments.rom);
    let outcome = match arguments.command {
        Command::Demo(options) => demo::run(&setup, &options),
        Command::Mcp(options) => return server::run(&setup, *options),
        Command::Play(options) => play::run(&setup, &options),
        Command::Watch(options) => watch::run(&setup, &options),
        Command::Movie(command) => movies::run(&setup, command),
        Command::State(command) => states::run(&setup, command),
        Command::Tree(command) => trees::run(&setup, command),
        Command::Nle(command) => nle_games::run(&setup, command),
        Command::Rom(options) => rom_command::run(&setup, &options),
        Command::Bench(options) => measure(&setup, &options),
        Command::Worker | Command::Script => Ok(Outcome::Failure),
    };
    outcome.map(ExitCode::from)
}

fn measure(setup: &setup::Setup, options: &command_line::BenchOptions) -> anyhow::Result<Outcome> {
    if !setup.is_built_in() {
        let hint = "bench measures in this process, and so the built-in ROM only: leave --rom out";
        return Err(outcome::Usage(hint.to_owned()).into());
    }
    bench::run(options)?;
    Ok(Outcome::Good)
}
