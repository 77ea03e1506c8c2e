use std::process::ExitCode;

use worker::Policy;

use crate::LabOptions;

/// The word that makes an executable a worker.
const WORKER: &str = "worker";

/// Serves a lab as its worker, with these policies, where this process was started for that; gives the exit code then.
///
/// A driver's own executable is its worker too, so that its policies live beside the machine. This must be the first
/// thing that `main` does: a worker takes the process over, closes all descriptors but its own and shuts itself in.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use lab::{Lab, LabOptions, Policy, Sight};
/// use wire::Key;
///
/// /// Searches until the turn counter says 100.
/// struct Patient;
///
/// impl Policy for Patient {
///     fn name(&self) -> &str {
///         "patient"
///     }
///     fn begin(&mut self, _arguments: &[u8]) -> Result<(), String> {
///         Ok(())
///     }
///     fn next(&mut self, sight: &Sight<'_>) -> Option<Key> {
///         (sight.turn() < 100).then_some(Key(b's'))
///     }
///     fn outcome(&mut self, sight: &Sight<'_>) -> Vec<u8> {
///         sight.turn().to_le_bytes().to_vec()
///     }
/// }
///
/// fn main() -> ExitCode {
///     if let Some(code) = lab::serve_if_worker(|| vec![Box::new(Patient)]) {
///         return code;
///     }
///     let lab = Lab::new(LabOptions::this_program()).unwrap();
///     // …
///     ExitCode::SUCCESS
/// }
/// ```
pub fn serve_if_worker(policies: impl FnOnce() -> Vec<Box<dyn Policy>>) -> Option<ExitCode> {
    let asked = std::env::args_os().nth(1).is_some_and(|word| word == WORKER);
    asked.then(|| worker::worker_main(policies()))
}

impl LabOptions {
    /// The defaults, with the running executable as the worker. Its `main` must begin with [`serve_if_worker`].
    #[must_use]
    pub fn this_program() -> Self {
        Self { arguments: vec![WORKER.into()], ..Self::new("/proc/self/exe") }
    }
}
