use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A connection that gives up on a peer which takes no byte for too long.
pub(crate) struct Patient<S> {
    stream: S,
    limit: Duration,
    until: Pin<Box<Sleep>>,
    waits: bool,
    tell: Tell,
}

/// Told when the peer stops taking what it is sent, and when it goes on.
type Tell = Box<dyn Fn(bool) + Send + Sync>;

impl<S> Patient<S> {
    pub(crate) fn new(stream: S, limit: Duration, tell: impl Fn(bool) + Send + Sync + 'static) -> Self {
        Self { stream, limit, until: Box::pin(tokio::time::sleep(limit)), waits: false, tell: Box::new(tell) }
    }

    fn timed<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if std::mem::take(&mut self.waits) {
                (self.tell)(false);
            }
            return written;
        }
        if !self.waits {
            self.waits = true;
            (self.tell)(true);
            let until = self.until.deadline().max(deadline(self.limit));
            self.until.as_mut().reset(until);
        }
        match self.until.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a viewer is waited for reaches no machine")]
fn deadline(limit: Duration) -> Instant {
    Instant::from_std(std::time::Instant::now()) + limit
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, buf);
        self.timed(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bufs);
        self.timed(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
    }

    #[test]
    fn a_peer_that_takes_nothing_is_given_up_on() {
        block_on(async {
            let (ours, _theirs) = tokio::io::duplex(16);
            let tells = Arc::new(Mutex::new(Vec::new()));
            let told = Arc::clone(&tells);
            let mut patient =
                Patient::new(ours, Duration::from_millis(20), move |waits| told.lock().unwrap().push(waits));
            let error = patient.write_all(&[0; 64]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert_eq!(*tells.lock().unwrap(), [true]);
        });
    }

    #[test]
    fn a_peer_that_takes_a_little_is_waited_for() {
        block_on(async {
            let (ours, mut theirs) = tokio::io::duplex(1);
            let mut patient = Patient::new(ours, Duration::from_secs(60), |_| {});
            let reader = async {
                let mut taken = [0; 64];
                theirs.read_exact(&mut taken).await
            };
            let (written, read) = tokio::join!(patient.write_all(&[7; 64]), reader);
            assert!(written.is_ok() && read.is_ok());
        });
    }
}
