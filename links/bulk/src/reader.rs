//! A connection from one peer, and the record that is being read.
//!
//! One call reads the rest of a record and of the next what is there, each into the place where it
//! is read: only what follows a short record in the same call is moved. Where that was much, the
//! next call reads but the beginning ahead.

use crate::record::{Expected, RECORD_MAX};
use rustix::io::Errno;
use std::io::IoSliceMut;
use std::os::fd::OwnedFd;

/// Bytes of a record that are read with the end of the one before, where records may be short.
const AHEAD: usize = 4096;

pub(crate) struct Reader {
    pub socket: OwnedFd,
    expected: Expected,
    /// Place of the record that is being read, and the bytes of it that are there.
    place: Box<[u8]>,
    have: usize,
    /// Place of the next, and the bytes of it that are there.
    next: Box<[u8]>,
    ahead: usize,
    /// Bytes that are read ahead at most: all of a record while long ones follow one another.
    ahead_max: usize,
    /// Looks in a row that may find nothing before this connection is left to the set.
    pub looks: u8,
}

/// Result of a look at a connection.
pub(crate) enum Step {
    /// A record of so many bytes.
    Record(Box<[u8]>, usize),
    /// A record for which there was no place. It is lost.
    Dropped,
    /// No whole record is there.
    Nothing,
    /// The connection has ended, or brings what is no record.
    Closed,
}

/// Place for a record.
pub(crate) fn new_place() -> Box<[u8]> {
    vec![0; RECORD_MAX].into_boxed_slice()
}

impl Reader {
    pub fn new(socket: OwnedFd, expected: Expected, places: [Box<[u8]>; 2]) -> Self {
        let [place, next] = places;
        Reader { socket, expected, place, have: 0, next, ahead: 0, ahead_max: AHEAD, looks: 0 }
    }

    /// Reads on until a record is whole, or nothing is there. `spare` gives a place for the one
    /// after it; without one the record is lost.
    pub fn look(&mut self, spare: impl FnOnce() -> Option<Box<[u8]>>) -> Step {
        loop {
            let bytes = match self.expected.record_bytes(&self.place[..self.have]) {
                Ok(bytes) => bytes,
                Err(_) => return Step::Closed,
            };
            match bytes {
                Some(bytes) if self.have >= bytes => return self.take(bytes, spare),
                _ => {}
            }
            match self.read(bytes) {
                Ok(0) => return Step::Closed,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Step::Nothing,
                Err(_) => return Step::Closed,
            }
        }
    }

    /// Reads the rest of a record of so many bytes and the beginning of the next, or the beginning
    /// of one of which nothing is known.
    fn read(&mut self, bytes: Option<usize>) -> Result<usize, Errno> {
        let Reader { socket, place, have, next, ahead_max, .. } = self;
        let Some(bytes) = bytes else {
            let read = rustix::io::read(&*socket, &mut place[*have..*ahead_max])?;
            *have += read;
            return Ok(read);
        };
        let rest = &mut place[*have..bytes];
        let parts = &mut [IoSliceMut::new(rest), IoSliceMut::new(&mut next[..*ahead_max])];
        let read = rustix::io::readv(&*socket, parts)?;
        let own = read.min(bytes - *have);
        *have += own;
        self.ahead = read - own;
        Ok(read)
    }

    /// Takes the record of so many bytes.
    fn take(&mut self, bytes: usize, spare: impl FnOnce() -> Option<Box<[u8]>>) -> Step {
        if self.have > bytes {
            debug_assert!(self.ahead == 0, "what is ahead comes behind a whole record");
            self.ahead = self.have - bytes;
            self.next[..self.ahead].copy_from_slice(&self.place[bytes..self.have]);
        }
        let moved = self.have.saturating_sub(bytes);
        self.ahead_max = if bytes > AHEAD && moved <= AHEAD { RECORD_MAX } else { AHEAD };
        self.have = std::mem::take(&mut self.ahead);
        let whole = std::mem::replace(&mut self.place, std::mem::take(&mut self.next));
        match spare() {
            Some(next) => {
                self.next = next;
                Step::Record(whole, bytes)
            }
            None => {
                self.next = whole;
                Step::Dropped
            }
        }
    }
}

#[cfg(test)]
mod tests;
