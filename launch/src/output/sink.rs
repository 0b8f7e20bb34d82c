//! Sink of pieces of output: a queue of bounded length before a descriptor that may be slow.

use std::collections::VecDeque;
use std::fs::File;
use std::io::IsTerminal;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{Errno, retry_on_intr, write};

/// Bytes in the queue from which on no more is read from the ranks.
pub(crate) const QUEUE_BYTES_FULL: usize = 64 * 1024;

/// Bytes that a pipe takes without blocking once it is ready (PIPE_BUF).
const WRITE_BYTES_MAX: usize = 4096;

/// One destination, shared by the streams that go there.
#[derive(Debug)]
pub(crate) struct Sink {
    /// `None` once it could not be written to: what is pushed from then on is lost.
    target: Option<OwnedFd>,
    queue: VecDeque<u8>,
    /// The stream that has begun a line and not ended it.
    unfinished: Option<usize>,
    /// The stream whose piece ended in a carriage return, which a line feed may follow.
    returned: Option<usize>,
}

impl Sink {
    /// A sink into a file of its own.
    pub fn file(file: File) -> Self {
        Self::new(file.into())
    }

    /// A sink into one of this process's own streams.
    ///
    /// # Errors
    /// What the system says when no descriptor is left.
    pub fn stream(stream: BorrowedFd<'_>) -> std::io::Result<Self> {
        Ok(Self::new(match reopen_nonblocking(stream)? {
            Some(reopened) => reopened,
            None => stream.try_clone_to_owned()?,
        }))
    }

    fn new(target: OwnedFd) -> Self {
        Sink { target: Some(target), queue: VecDeque::new(), unfinished: None, returned: None }
    }

    /// True if more may be read from the ranks.
    pub fn has_room(&self) -> bool {
        self.queue.len() < QUEUE_BYTES_FULL
    }

    /// The descriptor to wait for, if there is something to write to it.
    pub fn waits_for(&self) -> Option<&OwnedFd> {
        self.target.as_ref().filter(|_| !self.queue.is_empty())
    }

    /// Queues a piece of a stream; `label` goes before it if it begins a line.
    ///
    /// If another stream has left a line without its end, the line is ended first.
    pub fn push(&mut self, stream: usize, label: &str, piece: &[u8]) {
        if self.target.is_none() {
            return;
        }
        let ends_own_return = self.returned == Some(stream) && piece == b"\n";
        if self.unfinished.is_some_and(|begun| begun != stream) {
            self.queue.push_back(b'\n');
        }
        if self.unfinished != Some(stream) && !ends_own_return {
            self.queue.extend(label.as_bytes());
        }
        self.queue.extend(piece);
        let last = piece.last();
        self.unfinished = (!matches!(last, Some(b'\n' | b'\r'))).then_some(stream);
        self.returned = (last == Some(&b'\r')).then_some(stream);
    }

    /// Ends the last line, if it has no end.
    pub fn end_line(&mut self) {
        if self.unfinished.take().is_some() && self.target.is_some() {
            self.queue.push_back(b'\n');
        }
    }

    /// Writes what fits, once [`waits_for`](Self::waits_for) is ready.
    ///
    /// # Errors
    /// The first error of the system, once; `PIPE` if nobody reads any more. The rest of the output
    /// is lost.
    pub fn write_some(&mut self) -> Result<(), Errno> {
        let Some(target) = &self.target else { return Ok(()) };
        let (front, _) = self.queue.as_slices();
        let part = &front[..front.len().min(WRITE_BYTES_MAX)];
        match retry_on_intr(|| write(target, part)) {
            Ok(written) => drop(self.queue.drain(..written)),
            Err(Errno::AGAIN) => {}
            Err(error) => {
                self.target = None;
                self.queue.clear();
                return Err(error);
            }
        }
        Ok(())
    }
}

/// A terminal or pipe opened once more, so that writing to it cannot block the launcher.
///
/// The flag must not be set on the stream itself: it would hold for every process that shares it.
/// Opening a file again would lose its position, and a socket cannot be opened; writing to
/// those in small parts when they are ready has to do.
fn reopen_nonblocking(stream: BorrowedFd<'_>) -> std::io::Result<Option<OwnedFd>> {
    let kind = FileType::from_raw_mode(fstat(stream)?.st_mode);
    if kind != FileType::Fifo && !stream.is_terminal() {
        return Ok(None);
    }
    let path = format!("/proc/self/fd/{}", stream.as_raw_fd());
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty()).ok())
}

#[cfg(test)]
mod tests;
