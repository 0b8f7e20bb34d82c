//! A connection that carries messages, each behind its length: nothing on it ever blocks.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::{Errno, read, retry_on_intr, write};

use crate::messages::{BadMessage, HOST_MESSAGE_BYTES_MAX};
use crate::wait::{is_ready, make_nonblocking};

/// Bytes read at once.
const READ_BYTES: usize = 64 * 1024;

/// Cuts what arrives into messages.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    begun: Vec<u8>,
}

impl Frames {
    /// Takes in bytes, and passes on every message that they complete, without its length.
    ///
    /// # Errors
    /// [`BadMessage::Long`] for a length that no message has: nothing after it can be trusted.
    pub fn take_in(
        &mut self,
        bytes: &[u8],
        mut pass_on: impl FnMut(&[u8]),
    ) -> Result<(), BadMessage> {
        self.begun.extend(bytes);
        let mut rest = self.begun.as_slice();
        while let Some((length, behind)) = rest.split_first_chunk() {
            let length = u32::from_le_bytes(*length) as usize;
            if length > HOST_MESSAGE_BYTES_MAX {
                return Err(BadMessage::Long);
            }
            let Some((message, behind)) = behind.split_at_checked(length) else { break };
            pass_on(message);
            rest = behind;
        }
        let used = self.begun.len() - rest.len();
        self.begun.drain(..used);
        Ok(())
    }
}

/// Both directions of a connection, and what is under way in them.
#[derive(Debug)]
pub(crate) struct Stream {
    /// `None` once the other side has closed it.
    from: Option<OwnedFd>,
    /// `None` once the other side reads no more.
    to: Option<OwnedFd>,
    frames: Frames,
    arrived: VecDeque<Vec<u8>>,
    queue: VecDeque<u8>,
}

impl Stream {
    /// A connection that reads from one descriptor and writes to the other.
    pub fn new(from: OwnedFd, to: OwnedFd) -> io::Result<Self> {
        make_nonblocking(&from)?;
        make_nonblocking(&to)?;
        Ok(Stream {
            from: Some(from),
            to: Some(to),
            frames: Frames::default(),
            arrived: VecDeque::new(),
            queue: VecDeque::new(),
        })
    }

    /// Descriptor that becomes readable when something is received; `None` once nothing can be.
    pub fn readable(&self) -> Option<&OwnedFd> {
        self.from.as_ref()
    }

    /// Descriptor that becomes writable, if something waits for that.
    pub fn writable(&self) -> Option<&OwnedFd> {
        self.to.as_ref().filter(|_| !self.queue.is_empty())
    }

    /// True if nothing is waiting to be written.
    pub fn is_flushed(&self) -> bool {
        self.writable().is_none()
    }

    /// Bytes that wait to be written.
    pub fn queued_bytes(&self) -> usize {
        self.queue.len()
    }

    /// Takes in what has arrived, for [`take`](Self::take).
    ///
    /// # Errors
    /// [`BadMessage`] if it is no message; the connection is of no use then.
    pub fn read_some(&mut self) -> Result<(), BadMessage> {
        let Some(from) = &self.from else { return Ok(()) };
        let mut bytes = vec![0; READ_BYTES];
        match retry_on_intr(|| read(from, &mut bytes)) {
            Err(Errno::AGAIN) => Ok(()),
            Ok(0) | Err(_) => {
                self.from = None;
                Ok(())
            }
            Ok(count) => {
                let arrived = &mut self.arrived;
                self.frames.take_in(&bytes[..count], |message| arrived.push_back(message.to_vec()))
            }
        }
    }

    /// The next message that has arrived.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        self.arrived.pop_front()
    }

    /// True if a message has arrived that was not taken.
    pub fn has_message(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Sends a message: now as far as there is room, the rest later.
    pub fn send(&mut self, message: &[u8]) {
        if self.to.is_some() {
            self.queue.extend((message.len() as u32).to_le_bytes());
            self.queue.extend(message);
            self.write_some();
        }
    }

    /// Writes as much as the connection takes.
    pub fn write_some(&mut self) {
        while let Some(to) = &self.to
            && !self.queue.is_empty()
        {
            let (front, _) = self.queue.as_slices();
            match retry_on_intr(|| write(to, front)) {
                Ok(written) => drop(self.queue.drain(..written)),
                Err(Errno::AGAIN) => return,
                // The other side is gone, as reading will tell.
                Err(_) => self.to = None,
            }
        }
    }

    /// Writes all that is queued, or as much as there is time for.
    pub fn flush(&mut self, limit: Duration) -> io::Result<()> {
        while let Some(to) = self.writable() {
            if !is_ready(to, PollFlags::OUT, limit)? {
                break;
            }
            self.write_some();
        }
        Ok(())
    }

    /// Tells the other side that nothing more comes.
    pub fn close(&mut self) {
        self.to = None;
        self.from = None;
        self.queue.clear();
    }
}

#[cfg(test)]
mod tests;
