use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use tokio::sync::watch::Receiver;

use crate::crowd::Viewing;
use crate::watch::Shown;

/// Nothing new for so long: a line that says nothing, so that a connection which is gone is found out.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// What a browser is told first: how long it waits before it connects anew, and to show what it has.
const HELLO: &[u8] = b"retry: 1000\n\n";
const GONE: &[u8] = b"event: gone\ndata: {}\n\n";

/// One viewer's events: the newest state of a machine and the newest list, each time the connection takes more. What
/// came between is passed over.
pub(crate) struct Events {
    pub(crate) machine: Receiver<Shown>,
    pub(crate) list: Receiver<Shown>,
    pub(crate) stage: Stage,
    pub(crate) _viewing: Viewing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Begins,
    Goes,
    Over,
}

impl Events {
    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
        futures_util::stream::unfold(self, async |mut events| {
            let bytes = events.next().await?;
            Some((Ok(bytes), events))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        match self.stage {
            Stage::Begins => {
                self.stage = Stage::Goes;
                return Some(Bytes::from_static(HELLO));
            }
            Stage::Goes => {}
            Stage::Over => return None,
        }
        loop {
            let shown = tokio::select! {
                changed = self.machine.changed() => {
                    changed.ok()?;
                    self.machine.borrow_and_update().clone()
                }
                changed = self.list.changed() => {
                    changed.ok()?;
                    self.list.borrow_and_update().clone()
                }
                () = tokio::time::sleep(HEARTBEAT) => return Some(Bytes::from_static(b":\n\n")),
            };
            match shown {
                Shown::Nothing => {}
                Shown::Here(encoded) => return Some(encoded.event.clone()),
                Shown::Gone => {
                    self.stage = Stage::Over;
                    return Some(Bytes::from_static(GONE));
                }
            }
        }
    }
}
