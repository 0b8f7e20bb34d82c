//! The header stack: headers of several layers in one small buffer (thesis 6.1.3, fig. 6.3).

use crate::{Error, Result};

/// The most bytes of headers that a message carries; they travel in its first packet.
const CAPACITY: usize = 255;

/// Headers of the layers above, each pushed in front of those before it, popped in reverse order
/// at the other end. A layer adds its header without touching its client's I/O vector.
#[derive(Clone)]
pub struct HeaderStack {
    bytes: [u8; CAPACITY],
    start: usize,
}

impl HeaderStack {
    /// An empty stack.
    pub fn new() -> Self {
        HeaderStack { bytes: [0; CAPACITY], start: CAPACITY }
    }

    /// Pushes a header.
    ///
    /// # Errors
    /// [`Error::Headers`] if the stack would outgrow a packet.
    pub fn push(&mut self, header: &[u8]) -> Result<()> {
        if header.len() > self.start {
            let size = CAPACITY - self.start + header.len();
            return Err(Error::Headers { size, max: CAPACITY });
        }
        self.start -= header.len();
        self.bytes[self.start..][..header.len()].copy_from_slice(header);
        Ok(())
    }

    /// Pops the `N` bytes that were pushed last, if there are as many.
    pub fn pop<const N: usize>(&mut self) -> Option<[u8; N]> {
        let header = *self.as_bytes().first_chunk::<N>()?;
        self.start += N;
        Some(header)
    }

    /// The bytes of the stack, the last pushed first.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

impl AsRef<[u8]> for HeaderStack {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Default for HeaderStack {
    fn default() -> Self {
        Self::new()
    }
}
