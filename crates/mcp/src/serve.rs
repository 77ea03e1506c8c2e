use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use lab::{Control, Lab, LabError, ResumeFrom};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use script::{ScriptProgram, Scripts};
use tokio::sync::{mpsc, oneshot};

use crate::fair::Fair;
use crate::gate;
use crate::handler::Handler;
use crate::keeping::wake_forks;
use crate::options::{McpOptions, ServeError};
use crate::roster::Roster;
use crate::session::Session;

/// How long calls may go on once the client has closed its stream, before they are asked to stop.
const GRACE: Duration = Duration::from_secs(2);
/// How long the server waits for what is still to be written once it has ended.
const FLUSH: Duration = Duration::from_secs(2);
/// Bytes between the gate and the server behind it.
const PIPE_BYTES: usize = 64 << 10;

/// Serves one client on standard input and output until it closes its stream. Blocks.
///
/// Standard output carries the protocol and nothing else; logs go to `tracing`, whose subscriber the executable sets up.
/// A journalled game stays open: it can be resumed.
///
/// # Errors
/// The lab can't be set up, the journal can't be resumed, or the streams fail.
pub fn serve_stdio(options: McpOptions) -> Result<ExitCode, ServeError> {
    let viewer = options.viewer.clone();
    let session = Arc::new(set_up(options)?);
    wake_forks(&session)?;
    if let Some(viewer) = viewer {
        let address = (viewer.0)(Roster::new(&session))?;
        let _ = session.viewer.set(address);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve(Arc::clone(&session)));
    session.cancel_all();
    // A read of standard input can't be interrupted, and must not keep the process.
    runtime.shutdown_timeout(FLUSH);
    served.map(|()| ExitCode::SUCCESS)
}

fn set_up(options: McpOptions) -> Result<Session, ServeError> {
    let McpOptions { mut lab, out_dir, resume, power_on, fair, limits, viewer: _ } = options;
    // Room for the main machine and for the next one while the old is still there.
    lab.limits.machines = lab.limits.machines.max(limits.forks.saturating_add(2));
    if let Some(path) = &out_dir {
        make_directory(path)?;
    }
    let movies = lab.movies.clone();
    let scripts = Scripts::new(ScriptProgram::new(lab.program.clone()));
    if let Some(path) = &movies {
        make_directory(path)?;
    }
    let allow_debug = lab.allow_debug;
    let mut session = Session::new(Lab::new(lab)?, limits, out_dir, movies);
    session.allow_debug = allow_debug;
    session.scripts = scripts;
    session.fair = fair.then(Fair::default);
    session.defaults.clone_from(&power_on);
    if let Some(from) = &resume {
        resume_game(&mut session, from)?;
    }
    if let Some(record) = power_on
        && session.names().main().is_none()
    {
        let started = session.lab.new_game(record, session.journalled())?;
        session.set_main(started.machine, None)?;
    }
    Ok(session)
}

fn make_directory(path: &Path) -> Result<(), ServeError> {
    std::fs::create_dir_all(path)
        .map_err(|error| ServeError::OutDir { path: path.to_owned(), reason: error.to_string() })
}

fn resume_game(session: &mut Session, from: &ResumeFrom) -> Result<(), ServeError> {
    session.check_fair_resume(from)?;
    match session.lab.resume(from, &Control::default()) {
        Ok(resumed) => {
            tracing::info!(journal = %resumed.journal.display(), inputs = resumed.inputs, "resumed");
            session.take_over(&resumed)
        }
        // A client's configuration may always say `latest`, also before there is a game.
        Err(LabError::NoJournal(path)) if *from == ResumeFrom::Latest => {
            tracing::info!(movies = %path.display(), "there is no journal to resume");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

async fn serve(session: Arc<Session>) -> Result<(), ServeError> {
    let bytes_max = session.limits.message_bytes;
    let (to_server, server_input) = tokio::io::duplex(PIPE_BYTES);
    let (server_output, from_server) = tokio::io::duplex(PIPE_BYTES);
    let (refusals, refused) = mpsc::unbounded_channel();
    let (ended, has_ended) = oneshot::channel();
    let flow = Arc::new(gate::Flow::default());
    let taken = Arc::clone(&flow);
    let gate = tokio::spawn(async move {
        if let Err(error) = gate::admit(tokio::io::stdin(), to_server, refusals, bytes_max, flow).await {
            tracing::warn!(%error, "standard input failed");
        }
        let _ = ended.send(());
    });
    let writer = tokio::spawn(gate::emit(from_server, refused, tokio::io::stdout(), taken));
    let stopper = tokio::spawn(stop_after(Arc::clone(&session), has_ended));
    let result = match Handler::new(session).serve((server_input, server_output)).await {
        Ok(running) => {
            let quit = running.waiting().await;
            tracing::info!(?quit, "the client has ended");
            Ok(())
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(ServeError::Protocol(error.to_string())),
    };
    gate.abort();
    stopper.abort();
    // The server's end of the pipe is closed, so the writer ends once it has written all.
    match tokio::time::timeout(FLUSH, writer).await {
        Ok(Ok(Ok(()))) => {}
        other => tracing::warn!(?other, "not everything could be written to standard output"),
    }
    result
}

/// Once the client has closed its stream, calls under way get a while to end, then they are asked to stop.
async fn stop_after(session: Arc<Session>, has_ended: oneshot::Receiver<()>) {
    if has_ended.await.is_ok() {
        tokio::time::sleep(GRACE).await;
        session.cancel_all();
    }
}
