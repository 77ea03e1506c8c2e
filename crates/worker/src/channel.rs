//! Frames over a stream socket: a length (4 bytes, little-endian, of what follows), the protocol's version (1 byte),
//! a value in postcard's form. Both sides bound both directions, before anything is allocated.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv,
    recvmsg, send, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::protocol::PROTOCOL_VERSION;

const HEADER_BYTES: usize = 5;
/// Output slot, store, spill and ROM.
const DESCRIPTORS_MAX: usize = 4;

/// One end of the socket between host and worker.
#[derive(Debug)]
pub(crate) struct Channel {
    socket: OwnedFd,
    sent_bytes_max: usize,
    received_bytes_max: usize,
}

/// Why nothing could be sent or received.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChannelError {
    /// The other side has closed its end.
    #[error("the other side is gone")]
    Closed,
    /// The other side speaks another version.
    #[error("the other side speaks version {0} of the protocol, not {PROTOCOL_VERSION}")]
    Version(u8),
    /// A frame over the limit. Nothing of it was sent, or read beyond its header.
    #[error("a frame of {bytes} bytes is over the limit of {max}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// A frame that holds something else than it should.
    #[error("a frame does not hold what it should: {0}")]
    Content(String),
    /// The caller did not want to wait longer.
    #[error("nothing came or went for too long")]
    GaveUp,
    /// The system's word.
    #[error("{0}")]
    System(Errno),
}

/// Asked whenever the socket's timeout passes in silence: wait on?
pub(crate) type WaitOn<'a> = &'a mut dyn FnMut() -> bool;

impl Channel {
    /// A channel over a connected stream socket, with the most bytes of a frame either way.
    pub(crate) fn new(socket: OwnedFd, sent_bytes_max: usize, received_bytes_max: usize) -> Self {
        Self { socket, sent_bytes_max, received_bytes_max }
    }

    /// The socket.
    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends a value.
    pub(crate) fn send<T: Serialize>(&self, value: &T, wait_on: WaitOn<'_>) -> Result<(), ChannelError> {
        self.send_bytes(&self.frame(value)?, wait_on)
    }

    /// Sends a value, and descriptors with its first bytes.
    pub(crate) fn send_with<T: Serialize>(
        &self,
        value: &T,
        descriptors: &[BorrowedFd<'_>],
        wait_on: WaitOn<'_>,
    ) -> Result<(), ChannelError> {
        let frame = self.frame(value)?;
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(ChannelError::System(Errno::INVAL));
        }
        let sent = sendmsg(&self.socket, &[IoSlice::new(&frame)], &mut ancillary, SendFlags::NOSIGNAL)
            .map_err(ChannelError::from)?;
        self.send_bytes(frame.get(sent..).unwrap_or_default(), wait_on)
    }

    /// Receives a value.
    pub(crate) fn receive<T: DeserializeOwned>(&self, wait_on: WaitOn<'_>) -> Result<T, ChannelError> {
        let mut header = [0; HEADER_BYTES];
        self.receive_bytes(&mut header, wait_on)?;
        self.receive_body(header, wait_on)
    }

    /// Receives a value and the descriptors that came with its first bytes.
    pub(crate) fn receive_with<T: DeserializeOwned>(
        &self,
        wait_on: WaitOn<'_>,
    ) -> Result<(T, Vec<OwnedFd>), ChannelError> {
        let mut header = [0; HEADER_BYTES];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received =
            recvmsg(&self.socket, &mut [IoSliceMut::new(&mut header)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
        if received.bytes == 0 {
            return Err(ChannelError::Closed);
        }
        let descriptors = ancillary
            .drain()
            .filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
                _ => None,
            })
            .flatten()
            .collect();
        self.receive_bytes(header.get_mut(received.bytes..).unwrap_or_default(), wait_on)?;
        Ok((self.receive_body(header, wait_on)?, descriptors))
    }

    fn frame<T: Serialize>(&self, value: &T) -> Result<Vec<u8>, ChannelError> {
        let mut frame = postcard::to_extend(value, vec![0; HEADER_BYTES])
            .map_err(|error| ChannelError::Content(error.to_string()))?;
        let bytes = frame.len() - HEADER_BYTES;
        let too_large = ChannelError::TooLarge { bytes, max: self.sent_bytes_max };
        if bytes > self.sent_bytes_max {
            return Err(too_large);
        }
        let [a, b, c, d] = u32::try_from(bytes + 1).map_err(|_| too_large)?.to_le_bytes();
        frame[..HEADER_BYTES].copy_from_slice(&[a, b, c, d, PROTOCOL_VERSION]);
        Ok(frame)
    }

    fn receive_body<T: DeserializeOwned>(
        &self,
        [a, b, c, d, version]: [u8; HEADER_BYTES],
        wait_on: WaitOn<'_>,
    ) -> Result<T, ChannelError> {
        if version != PROTOCOL_VERSION {
            return Err(ChannelError::Version(version));
        }
        let bytes = (u32::from_le_bytes([a, b, c, d]) as usize)
            .checked_sub(1)
            .ok_or_else(|| ChannelError::Content("it is empty".to_owned()))?;
        if bytes > self.received_bytes_max {
            return Err(ChannelError::TooLarge { bytes, max: self.received_bytes_max });
        }
        let mut body = vec![0; bytes];
        self.receive_bytes(&mut body, wait_on)?;
        match postcard::take_from_bytes(&body) {
            Ok((value, [])) => Ok(value),
            Ok((_, rest)) => Err(ChannelError::Content(format!("{} bytes too many", rest.len()))),
            Err(error) => Err(ChannelError::Content(error.to_string())),
        }
    }

    fn send_bytes(&self, mut bytes: &[u8], wait_on: WaitOn<'_>) -> Result<(), ChannelError> {
        while !bytes.is_empty() {
            match send(&self.socket, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => bytes = bytes.get(sent..).unwrap_or_default(),
                Err(error) => wait_or_fail(error, wait_on)?,
            }
        }
        Ok(())
    }

    fn receive_bytes(&self, mut bytes: &mut [u8], wait_on: WaitOn<'_>) -> Result<(), ChannelError> {
        while !bytes.is_empty() {
            match recv(&self.socket, &mut *bytes, RecvFlags::empty()) {
                Ok((0, _)) => return Err(ChannelError::Closed),
                Ok((received, _)) => bytes = bytes.get_mut(received..).unwrap_or_default(),
                Err(error) => wait_or_fail(error, wait_on)?,
            }
        }
        Ok(())
    }
}

fn wait_or_fail(error: Errno, wait_on: WaitOn<'_>) -> Result<(), ChannelError> {
    match error {
        Errno::INTR => Ok(()),
        Errno::AGAIN if wait_on() => Ok(()),
        Errno::AGAIN => Err(ChannelError::GaveUp),
        error => Err(error.into()),
    }
}

impl From<Errno> for ChannelError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::PIPE | Errno::CONNRESET => Self::Closed,
            error => Self::System(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair(max: usize) -> (Channel, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Channel::new(ours.into(), max, max), theirs)
    }

    fn received(bytes: &[u8]) -> Result<Vec<u8>, ChannelError> {
        let (channel, mut other) = pair(8);
        other.write_all(bytes).unwrap();
        drop(other);
        channel.receive(&mut || true)
    }

    #[test]
    fn what_is_sent_arrives() {
        let (channel, other) = pair(1_000);
        let other = Channel::new(other.into(), 1_000, 1_000);
        let memory = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&memory, 77).unwrap();
        channel.send_with(&vec![1u8, 2, 3], &[memory.as_fd(), memory.as_fd()], &mut || true).unwrap();
        channel.send(&"next".to_owned(), &mut || true).unwrap();
        let (value, descriptors) = other.receive_with::<Vec<u8>>(&mut || true).unwrap();
        assert_eq!((value, descriptors.len()), (vec![1, 2, 3], 2));
        assert_eq!(rustix::fs::fstat(&descriptors[0]).unwrap().st_size, 77);
        assert_eq!(other.receive::<String>(&mut || true).unwrap(), "next");
        drop(channel);
        assert_eq!(other.receive::<String>(&mut || true), Err(ChannelError::Closed));
        assert_eq!(other.send(&1u8, &mut || true), Err(ChannelError::Closed));
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let version = PROTOCOL_VERSION;
        for (bytes, error) in [
            (vec![], ChannelError::Closed),
            (vec![3, 0, 0, 0], ChannelError::Closed),
            (vec![3, 0, 0, 0, version, 1], ChannelError::Closed),
            (vec![3, 0, 0, 0, version + 1, 1, 9], ChannelError::Version(version + 1)),
            (b"GET / HTTP/1.1\r\n".to_vec(), ChannelError::Version(b'/')),
            (vec![255, 255, 255, 255, version], ChannelError::TooLarge { bytes: 0xffff_fffe, max: 8 }),
            (vec![10, 0, 0, 0, version], ChannelError::TooLarge { bytes: 9, max: 8 }),
            (vec![0, 0, 0, 0, version], ChannelError::Content("it is empty".to_owned())),
            (vec![4, 0, 0, 0, version, 1, 9, 9], ChannelError::Content("1 bytes too many".to_owned())),
        ] {
            assert_eq!(received(&bytes), Err(error), "{bytes:?}");
        }
        assert_eq!(received(&[3, 0, 0, 0, version, 1, 9]), Ok(vec![9]));
        assert!(matches!(received(&[3, 0, 0, 0, version, 200, 1]), Err(ChannelError::Content(_))));
    }

    #[test]
    fn too_much_is_not_sent() {
        let (channel, other) = pair(8);
        assert_eq!(channel.send(&vec![0u8; 7], &mut || true), Ok(()));
        assert_eq!(channel.send(&vec![0u8; 8], &mut || true), Err(ChannelError::TooLarge { bytes: 9, max: 8 }));
        drop(channel);
        let other = Channel::new(other.into(), 8, 8);
        assert_eq!(other.receive::<Vec<u8>>(&mut || true), Ok(vec![0; 7]));
        assert_eq!(other.receive::<Vec<u8>>(&mut || true), Err(ChannelError::Closed));
    }

    #[test]
    fn silence_ends_when_the_caller_says() {
        let (channel, _other) = pair(8);
        let timeout = Some(std::time::Duration::from_millis(1));
        rustix::net::sockopt::set_socket_timeout(channel.socket(), rustix::net::sockopt::Timeout::Recv, timeout)
            .unwrap();
        let mut asked = 0;
        let mut wait_on = || {
            asked += 1;
            asked < 3
        };
        assert_eq!(channel.receive::<u8>(&mut wait_on), Err(ChannelError::GaveUp));
        assert_eq!(asked, 3);
    }
}
