//! A connection from one peer, and the record that is being read.
//!
//! One call reads the rest of a record and of the next what is there, each into the place where it
//! is read: only what follows a short record in the same call is moved. Where that was much, the
//! next call reads but the beginning ahead. The body of a record that belongs in posted memory is
//! read there; of the one behind it as much is read ahead as says where it belongs.

use crate::posted::{Aim, CUT_AT, Entry, aim};
use crate::record::{Expected, RECORD_MAX};
use rustix::io::Errno;
use std::io::IoSliceMut;
use std::os::fd::OwnedFd;
use weft_link::memory::PostedHead;

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
    /// Posted memory that the record's body is read into.
    aim: Option<Aim>,
    /// True if it is looked at without asking the set, because the last look found something.
    pub is_busy: bool,
}

/// Result of a look at a connection.
pub(crate) enum Step {
    /// A record, and its number of bytes, or of those of it that came where the others are in
    /// posted memory.
    Record(Box<[u8]>, usize, Option<Aim>),
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
        let ahead_max = AHEAD;
        Reader {
            socket,
            expected,
            place,
            have: 0,
            next,
            ahead: 0,
            ahead_max,
            aim: None,
            is_busy: false,
        }
    }

    /// Reads on until a record is whole, or nothing is there. Bodies of records that belong in
    /// `posted` memory are read into that. `spare` gives a place for the record after it; without
    /// one the record is lost.
    pub fn look(&mut self, posted: &[Entry], spare: impl FnOnce() -> Option<Box<[u8]>>) -> Step {
        loop {
            let bytes = match self.expected.record_bytes(&self.place[..self.have]) {
                Ok(bytes) => bytes,
                Err(_) => return Step::Closed,
            };
            let may_aim = !posted.is_empty() && self.aim.is_none();
            let read = match bytes {
                None => self.read_start(self.ahead_max),
                Some(bytes) if may_aim && bytes > CUT_AT && self.have < CUT_AT => {
                    self.read_start(CUT_AT)
                }
                Some(bytes) => {
                    if may_aim {
                        self.aim_at(posted, bytes);
                    }
                    if self.have >= bytes {
                        return self.take(bytes, spare);
                    }
                    self.read(bytes)
                }
            };
            match read {
                Ok(0) => return Step::Closed,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Step::Nothing,
                Err(_) => return Step::Closed,
            }
        }
    }

    /// Has the rest of a record of so many bytes read into posted memory, if it belongs there, and
    /// moves there what has come of it.
    fn aim_at(&mut self, posted: &[Entry], bytes: usize) {
        let start = self.place[..self.have].first_chunk::<CUT_AT>();
        self.aim = start.and_then(|start| aim(posted, start, bytes));
        if let Some(aim) = &mut self.aim {
            let come = &self.place[CUT_AT..self.have.min(bytes)];
            aim.bytes_mut()[..come.len()].copy_from_slice(come);
        }
    }

    /// Has the record that is being read go on in its place, if it is aimed at this memory.
    pub fn call_off(&mut self, head: &PostedHead) {
        if self.aim.as_ref().is_some_and(|aim| aim.head == *head)
            && let Some(aim) = self.aim.take()
        {
            let come = &aim.bytes()[..self.have - CUT_AT];
            self.place[CUT_AT..self.have].copy_from_slice(come);
        }
    }

    /// Reads the beginning of a record, up to so many bytes, which may be more than it has.
    fn read_start(&mut self, most: usize) -> Result<usize, Errno> {
        let read = rustix::io::read(&self.socket, &mut self.place[self.have..most])?;
        self.have += read;
        Ok(read)
    }

    /// Reads the rest of a record of so many bytes and the beginning of the next.
    fn read(&mut self, bytes: usize) -> Result<usize, Errno> {
        let Reader { socket, place, have, next, ahead_max, aim, .. } = self;
        let (rest, ahead_max) = match aim {
            Some(aim) => (&mut aim.bytes_mut()[*have - CUT_AT..], CUT_AT),
            None => (&mut place[*have..bytes], *ahead_max),
        };
        let parts = &mut [IoSliceMut::new(rest), IoSliceMut::new(&mut next[..ahead_max])];
        let read = rustix::io::readv(&*socket, parts)?;
        let own = read.min(bytes - *have);
        *have += own;
        self.ahead = read - own;
        Ok(read)
    }

    /// Takes the record, which has `bytes`.
    fn take(&mut self, bytes: usize, spare: impl FnOnce() -> Option<Box<[u8]>>) -> Step {
        if self.have > bytes {
            debug_assert!(self.ahead == 0, "what is ahead comes behind a whole record");
            self.ahead = self.have - bytes;
            self.next[..self.ahead].copy_from_slice(&self.place[bytes..self.have]);
        }
        let (moved, aim) = (self.have.saturating_sub(bytes), self.aim.take());
        self.ahead_max = match &aim {
            Some(_) => CUT_AT,
            None if bytes > AHEAD && moved <= AHEAD => RECORD_MAX,
            None => AHEAD,
        };
        self.have = std::mem::take(&mut self.ahead);
        let whole = std::mem::replace(&mut self.place, std::mem::take(&mut self.next));
        match spare() {
            Some(next) => {
                self.next = next;
                Step::Record(whole, if aim.is_some() { CUT_AT } else { bytes }, aim)
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
