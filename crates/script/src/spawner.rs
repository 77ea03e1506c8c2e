//! Starting script processes.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use crate::ScriptError;

/// The executable that runs scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptProgram {
    /// Its absolute path. It must call [`script_main`](crate::script_main) when started with `arguments`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl ScriptProgram {
    /// This program with the argument `script`.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), arguments: vec!["script".into()] }
    }
}

/// A process that was started, and the host's end of its socket.
pub(crate) type Started = (Child, UnixStream);

type Order = mpsc::SyncSender<std::io::Result<Started>>;

/// Starts processes, all from one thread of its own: a process ends with the *thread* that started it.
#[derive(Debug)]
pub(crate) struct Spawner(mpsc::Sender<Order>);

impl Spawner {
    /// Starts the thread.
    pub(crate) fn new(program: ScriptProgram) -> Result<Self, ScriptError> {
        let (orders, inbox) = mpsc::channel::<Order>();
        std::thread::Builder::new()
            .name("scripts".to_owned())
            .spawn(move || {
                for order in inbox {
                    // Whoever asked may have gone.
                    let _ = order.send(start(&program));
                }
            })
            .map_err(|error| ScriptError::Spawn(error.to_string()))?;
        Ok(Self(orders))
    }

    /// Starts a process.
    pub(crate) fn start(&self) -> Result<Started, ScriptError> {
        let (order, started) = mpsc::sync_channel(1);
        let gone = || ScriptError::Spawn("the thread that starts them is gone".to_owned());
        self.0.send(order).map_err(|_| gone())?;
        started.recv().map_err(|_| gone())?.map_err(|error| ScriptError::Spawn(error.to_string()))
    }
}

fn start(program: &ScriptProgram) -> std::io::Result<Started> {
    let (ours, theirs) = UnixStream::pair()?;
    let child = Command::new(&program.program)
        .args(&program.arguments)
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // The terminal's interrupt is for the host, which decides what becomes of its processes.
        .process_group(0)
        .spawn()?;
    Ok((child, ours))
}
