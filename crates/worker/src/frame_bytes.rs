use machine::FrameError;
use wire::Frame;

/// A frame as a worker's ROM wrote it, to be read on demand.
#[derive(Clone, PartialEq, Eq)]
pub struct FrameBytes(pub(crate) Vec<u8>);

impl FrameBytes {
    /// Reads the frame.
    ///
    /// # Errors
    /// Bytes that are no frame, which a worker sends only when its engine or its ROM is broken.
    pub fn decode(&self) -> Result<Frame, FrameError> {
        machine::decode_frame(&self.0)
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for FrameBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FrameBytes({} bytes)", self.0.len())
    }
}
