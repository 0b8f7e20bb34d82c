//! Datagrams as a line, on which nothing is ever sent again: a message is as many datagrams as it
//! takes, and in a stream, or a message of more than that, a window of them is under way, which any
//! buffer holds.

use super::Line;
use anyhow::Result;

/// Datagrams under way in a stream; an answer comes for every half of them.
pub const WINDOW: u64 = 64;

/// A way for datagrams to one other process.
pub trait Datagrams {
    /// Bytes of the largest.
    fn datagram_bytes(&self) -> usize;

    /// Sends one, at the next [`Self::flush`] at the latest.
    ///
    /// # Errors
    /// What the system says.
    fn send_one(&mut self, bytes: &[u8]) -> Result<()>;

    /// Has what was sent leave.
    fn flush(&mut self) {}

    /// Waits for one, reads it and says how long it was.
    ///
    /// # Errors
    /// It was lost, or what the system says.
    fn receive_one(&mut self) -> Result<usize>;

    /// Number of datagrams of a message of `size` bytes.
    fn datagrams(&self, size: usize) -> u64 {
        size.div_ceil(self.datagram_bytes()).max(1) as u64
    }
}

impl<D: Datagrams> Line for D {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if self.datagrams(bytes.len()) > WINDOW {
            return self.stream_out(bytes, 1);
        }
        bytes.chunks(self.datagram_bytes()).try_for_each(|datagram| self.send_one(datagram))?;
        self.flush();
        Ok(())
    }

    fn receive(&mut self, size: usize) -> Result<()> {
        if self.datagrams(size) > WINDOW {
            return self.stream_in(size, 1);
        }
        (0..self.datagrams(size)).try_for_each(|_| self.receive_one().map(drop))
    }

    fn stream_out(&mut self, bytes: &[u8], messages: u64) -> Result<()> {
        let (mut sent, mut acknowledged) = (0, 0);
        for _ in 0..messages {
            for datagram in bytes.chunks(self.datagram_bytes()) {
                if sent - acknowledged == WINDOW {
                    self.flush();
                    self.receive_one()?;
                    acknowledged += WINDOW / 2;
                }
                self.send_one(datagram)?;
                sent += 1;
            }
        }
        self.flush();
        while sent - acknowledged >= WINDOW / 2 {
            self.receive_one()?;
            acknowledged += WINDOW / 2;
        }
        Ok(())
    }

    fn stream_in(&mut self, size: usize, messages: u64) -> Result<()> {
        for received in 1..=messages * self.datagrams(size) {
            self.receive_one()?;
            if received.is_multiple_of(WINDOW / 2) {
                self.send_one(&[1])?;
                self.flush();
            }
        }
        Ok(())
    }
}
