//! The worker process itself.

use std::mem::ManuallyDrop;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use machine::Machine;

use crate::channel::{Channel, ChannelError};
use crate::policy::Policy;
use crate::protocol::{REPLY_BYTES_MAX, REQUEST_BYTES_MAX, Reply, Setup, Task};
use crate::sandbox;
use crate::session::Session;
use crate::silence::now;

/// How often a worker tells in a long task that it is alive.
pub(crate) const BUSY_EVERY: Duration = Duration::from_secs(1);

/// What a panic said, for the reply that tells the host of it.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// A worker's whole life: serves the host at the other end of standard input until that closes.
///
/// This must be the first and only thing that a worker process does: it closes all descriptors that it does not know,
/// and takes over the process for good. Nothing is ever written to standard output or error. `policies` are what tasks
/// may ask for by name.
#[must_use]
pub fn worker_main(policies: Vec<Box<dyn Policy>>) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut text) = PANIC.lock() {
            *text = panic.to_string();
        }
    }));
    let Ok(channel) = open_channel() else { return ExitCode::FAILURE };
    // What a worker holds goes with its process: to take it down piece by piece, the sandbox would have to allow more.
    let channel = ManuallyDrop::new(channel);
    if guarded(&channel, || serve(&channel, policies)) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn open_channel() -> Result<Channel, String> {
    sandbox::detach().map_err(text)?;
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map_err(text)?;
    Ok(Channel::new(socket, REPLY_BYTES_MAX, REQUEST_BYTES_MAX))
}

/// Runs the worker; what makes it end early is told to the host. True when it ended as it should.
fn guarded(channel: &Channel, serve: impl FnOnce() -> Result<(), String>) -> bool {
    let reason = match catch_unwind(AssertUnwindSafe(serve)) {
        Ok(Ok(())) => return true,
        Ok(Err(reason)) => reason,
        Err(_) => PANIC.lock().map_or_else(|_| "panic".to_owned(), |text| text.clone()),
    };
    // Where the host can't be told, it sees the end of the process.
    let _ = channel.send(&Reply::Failed(reason), &mut || true);
    false
}

fn serve(channel: &Channel, policies: Vec<Box<dyn Policy>>) -> Result<(), String> {
    let (setup, descriptors) = match channel.receive_with::<Setup>(&mut || true) {
        Err(ChannelError::Closed) => return Ok(()),
        received => received.map_err(text)?,
    };
    let (session, hello) = Session::prepare(&setup, descriptors, policies)?;
    let mut session = ManuallyDrop::new(session);
    // The first panic of a process lets the unwinder prepare itself with calls that the sandbox does not allow.
    let _ = catch_unwind(|| std::panic::resume_unwind(Box::new(())));
    let stores = [setup.store_bytes, setup.spill_bytes].into_iter().flatten();
    let shared_bytes = stores.fold(setup.output_bytes, u64::saturating_add);
    sandbox::enter(channel.socket(), shared_bytes).map_err(text)?;
    channel.send(&Reply::Hello(hello), &mut || true).map_err(text)?;
    loop {
        let tasks = match channel.receive::<Vec<Task>>(&mut || true) {
            Err(ChannelError::Closed) => return Ok(()),
            received => received.map_err(text)?,
        };
        let (mut said, mut ticks) = (now(), Machine::ticks());
        let mut pressed = || {
            // Between two ticks not much time can have passed that counts.
            let before = std::mem::replace(&mut ticks, Machine::ticks());
            if before == ticks {
                return;
            }
            if said.elapsed() >= BUSY_EVERY {
                // A host that is gone shows when the reply can't be sent.
                let _ = channel.send(&Reply::Busy, &mut || true);
                said = now();
            }
        };
        let reply = session.answer(&tasks, &mut pressed)?;
        channel.send(&reply, &mut || true).map_err(text)?;
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    fn told(serve: impl FnOnce() -> Result<(), String>) -> (bool, Result<Reply, ChannelError>) {
        let (host, worker) = UnixStream::pair().unwrap();
        let worker = Channel::new(worker.into(), REPLY_BYTES_MAX, REQUEST_BYTES_MAX);
        let well = guarded(&worker, serve);
        drop(worker);
        (well, Channel::new(host.into(), REQUEST_BYTES_MAX, REPLY_BYTES_MAX).receive(&mut || true))
    }

    #[test]
    fn the_host_is_told_why_a_worker_ends() {
        assert_eq!(told(|| Ok(())), (true, Err(ChannelError::Closed)));
        let (well, reply) = told(|| Err("no good".to_owned()));
        assert_eq!((well, reply), (false, Ok(Reply::Failed("no good".to_owned()))));
        std::panic::set_hook(Box::new(|panic| *PANIC.lock().unwrap() = panic.to_string()));
        let (well, reply) = told(|| panic!("broken here"));
        let _ = std::panic::take_hook();
        let Ok(Reply::Failed(reason)) = reply else { panic!("{reply:?}") };
        assert!(!well && reason.contains("broken here") && reason.contains("process.rs"), "{reason}");
    }
}
