use std::hash::{BuildHasher, RandomState};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, Rlimit};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

use crate::crowd::{Crowd, Guest, Limits};
use crate::guard::Hosts;
use crate::patience::Patient;
use crate::routes::router;
use crate::source::Source;
use crate::watch::WATCHED_MAX;

/// Connections at once; of one peer three quarters. Viewers that are sent events have seven eighths, of one peer five.
pub const CONNECTIONS_MAX: usize = 1_024;
/// Bytes of a request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// Header lines of a request.
const HEADERS_MAX: usize = 64;
/// How long a request's head may take, and how long a connection may be idle.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// How long a viewer may take no byte of what it is sent.
const WRITE_TIME: Duration = Duration::from_secs(10);
/// Bytes that wait for a slow viewer in the system.
const SEND_BYTES: usize = 64 << 10;
/// Files that the process may have open, where the system lets it choose: a connection is one.
const FILES: u64 = 4_096;
/// Threads for what may block: one for each machine that is watched, and some for single questions.
const BLOCKING_THREADS: usize = WATCHED_MAX + 16;
const STACK_BYTES: usize = 512 << 10;
/// How far the viewer's threads stand back behind all others.
const NICENESS: i32 = 10;

/// Why an address can't be served on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Others could look on.
    #[error(
        "{0} can be reached from other machines: give an address of this one, such as 127.0.0.1, or say with --viewer-public (--public for `watch`) that it is meant"
    )]
    NotLoopback(SocketAddr),
    /// Somebody else has it.
    #[error("{0} is in use: name another port, or port 0 for one that is free")]
    InUse(SocketAddr),
    /// The system refuses.
    #[error("{address} can't be served on: {reason}")]
    System {
        /// The address.
        address: SocketAddr,
        /// The system's word for it.
        reason: std::io::Error,
    },
}

/// An address that is taken and not served on yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    public: bool,
}

/// Takes an address; port 0 takes a free one. One that other machines can reach is taken only where `public` says so.
///
/// # Errors
/// See [`BindError`].
pub fn bind(address: SocketAddr, public: bool) -> Result<Bound, BindError> {
    if !public && !address.ip().is_loopback() {
        return Err(BindError::NotLoopback(address));
    }
    let failed = |reason: std::io::Error| match reason.kind() {
        std::io::ErrorKind::AddrInUse => BindError::InUse(address),
        _ => BindError::System { address, reason },
    };
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok(Bound { listener, address, public })
}

impl Bound {
    /// Where the page is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

/// A page that is served. Dropping it ends it; connections are cut.
#[derive(Debug)]
pub struct Viewer {
    url: String,
    runtime: Option<Runtime>,
}

impl Viewer {
    /// Serves what a source publishes.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn start(bound: Bound, source: Arc<dyn Source>) -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_stack_size(STACK_BYTES)
            .thread_name("viewer")
            .on_thread_start(step_back)
            .enable_all()
            .build()?;
        make_room();
        let url = bound.url();
        let hosts = Hosts { public: bound.public };
        // Only so that a page can tell two runs of a server apart.
        let server = format!("{:016x}", RandomState::new().hash_one(&url));
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(bound.listener)?
        };
        runtime.spawn(accept(listener, router(source, server, hosts)));
        Ok(Self { url, runtime: Some(runtime) })
    }

    /// Where the page is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Lets the process have as many files open as viewers and machines need together.
fn make_room() {
    let now = rustix::process::getrlimit(Resource::Nofile);
    let most = now.maximum.unwrap_or(u64::MAX).min(FILES);
    if now.current.is_some_and(|current| current < most) {
        let wanted = Rlimit { current: Some(most), maximum: now.maximum };
        if let Err(error) = rustix::process::setrlimit(Resource::Nofile, wanted) {
            tracing::debug!(%error, "no more files may be open than before");
        }
    }
}

/// How many connections there may be, so that files are left for everything else.
fn places() -> usize {
    let files = rustix::process::getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files / 2).unwrap_or(usize::MAX).clamp(8, CONNECTIONS_MAX)
}

/// Gives the calling thread a lower priority. Whoever plays comes first.
fn step_back() {
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "the viewer's threads keep their priority");
    }
}

async fn accept(listener: tokio::net::TcpListener, router: Router) {
    let crowd = Crowd::new(Limits::of(places()));
    loop {
        match listener.accept().await {
            Ok((stream, from)) => {
                let guest = crowd.enter(from.ip());
                tokio::spawn(serve(stream, router.clone(), guest));
            }
            Err(error) => {
                // Out of descriptors, mostly: those that end give theirs back.
                tracing::warn!(%error, "a viewer's connection was not taken");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn serve(stream: TcpStream, router: Router, guest: Guest) {
    let _ = stream.set_nodelay(true);
    let _ = rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BYTES);
    let stalls = guest.clone();
    let io = TokioIo::new(Patient::new(stream, WRITE_TIME, move |waits| stalls.stalls(waits)));
    let service = router.layer(axum::Extension(guest.clone()));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // A client that has said all it has to say still gets its answer.
        .half_close(true)
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(io, TowerToHyperService::new(service));
    tokio::select! {
        ended = connection => if let Err(error) = ended {
            tracing::debug!(%error, "a viewer's connection has ended");
        },
        () = guest.is_cut() => tracing::debug!("a viewer's connection has made way for another"),
    }
}
