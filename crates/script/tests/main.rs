//! Scripts in real processes. This binary is its own script process.

mod cases;
mod hostile;
mod pool;
mod support;
mod values;

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == "script") {
        return script::script_main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == pool::ALONE) {
        pool::alone();
        return ExitCode::SUCCESS;
    }
    let arguments = libtest_mimic::Arguments::from_args();
    let tests = [cases::tests(), values::tests(), hostile::tests(), pool::tests()];
    libtest_mimic::run(&arguments, tests.into_iter().flatten().collect()).exit_code()
}
