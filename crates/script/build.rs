//! Says what is missing where Luau, which is C++, can't be built: this runs before it is tried.

use std::process::{Command, ExitCode, Stdio};

#[expect(clippy::disallowed_methods, reason = "which compiler there is reaches no machine")]
fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CXX");
    // As the crate `cc` looks for it.
    let target = std::env::var("TARGET").unwrap_or_default();
    let names = [format!("CXX_{target}"), format!("CXX_{}", target.replace('-', "_")), "CXX".to_owned()];
    let given = names.iter().find_map(|name| std::env::var(name).ok());
    let compiler = given.unwrap_or_else(|| "c++".to_owned());
    let mut words = compiler.split_whitespace();
    let program = words.next().unwrap_or("c++");
    let ran = Command::new(program).args(words).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if ran.is_ok_and(|status| status.success()) {
        return ExitCode::SUCCESS;
    }
    println!("cargo::error=scripts need a C++ compiler, and `{compiler}` does not run: apt-get install g++");
    ExitCode::FAILURE
}
