//! Connections from other ranks, and those that have not shown whose they are.

use crate::posted::{Aim, PostedMemory};
use crate::questions::Connections;
use crate::reader::{Reader, Step, new_place};
use crate::record::{Expected, HELLO_MAX};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};
use std::collections::{BTreeMap, VecDeque};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use weft_datagram::seal::{FrameKind, Seals};
use weft_datagram::{ArrivalSource, Landed};
use weft_link::clock::Nanoseconds;
use weft_link::memory::{Posted, PostedHead};
use weft_wire::Rank;

/// Marks events of the listener, of connections from ranks, and of others.
pub(crate) const LISTENER: u64 = 0;
pub(crate) const READER: u64 = 1 << 32;
pub(crate) const UNKNOWN: u64 = 3 << 32;

/// Connections without a hello at most; the oldest makes room for a new one.
const UNKNOWN_MAX: usize = 32;
/// Time in which a hello has to come.
const HELLO_WITHIN: Nanoseconds = 5_000_000_000;
/// Connections accepted in one look at most: adversaries may connect faster than they are refused.
const ACCEPTED_AT_ONCE: usize = 64;

/// Connections to this rank.
pub(crate) struct Arrivals {
    epoll: Arc<OwnedFd>,
    listener: TcpListener,
    /// True while nobody is accepted, because no descriptor was left.
    rests: bool,
    expected: Expected,
    /// By a number that is never used again.
    unknown: BTreeMap<u32, Unknown>,
    next_unknown: u32,
    /// By rank.
    readers: Vec<Option<Box<Reader>>>,
    posted: PostedMemory,
    /// Body of the record that was found last, and whose it is, if it is in posted memory and
    /// nobody has opened it.
    tail: Option<(Rank, Aim)>,
    /// Ranks whose connections had something when they were looked at, or the set was asked.
    busy: VecDeque<Rank>,
    /// True once a rank was let in.
    any_let_in: bool,
    /// Places made so far, and how many there may be beside those of connections.
    places: usize,
    places_max: usize,
    now: Nanoseconds,
    /// Records that were lost for want of a place, and connections refused.
    pub dropped: u64,
    pub refused: u64,
}

/// Connection whose hello has not come.
struct Unknown {
    socket: OwnedFd,
    since: Nanoseconds,
    hello: [u8; HELLO_MAX],
    have: usize,
}

impl Arrivals {
    /// Arrivals at a rank of a job of `ranks` ranks.
    pub fn new(
        epoll: Arc<OwnedFd>,
        listener: TcpListener,
        expected: Expected,
        ranks: usize,
        places_max: usize,
    ) -> std::io::Result<Self> {
        listener.set_nonblocking(true)?;
        epoll::add(&*epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        Ok(Arrivals {
            epoll,
            listener,
            rests: false,
            expected,
            unknown: BTreeMap::new(),
            next_unknown: 0,
            readers: (0..ranks).map(|_| None).collect(),
            posted: PostedMemory::new(ranks),
            tail: None,
            busy: VecDeque::new(),
            any_let_in: false,
            places: 0,
            places_max,
            now: 0,
            dropped: 0,
            refused: 0,
        })
    }

    /// True if connections may have something.
    #[inline]
    pub fn is_busy(&self) -> bool {
        !self.busy.is_empty()
    }

    /// Knowledge of the connections, without a question.
    #[inline]
    pub fn connections(&self) -> Connections {
        match (self.is_busy(), self.any_let_in) {
            (true, _) => Connections::Busy,
            (false, true) => Connections::Idle,
            (false, false) => Connections::None,
        }
    }

    /// Posts memory for records of `from`; false if it is not for any.
    pub fn post(&mut self, from: Rank, posted: Posted) -> bool {
        // What is encrypted is decrypted where it landed.
        self.expected.trailer_bytes == 0 && self.posted.post(from, posted)
    }

    /// Bytes of posted memory that are there.
    pub fn posted(&self, from: Rank, head: &PostedHead) -> usize {
        self.posted.there(from, head)
    }

    /// Has no record read into posted memory any more; returns the number of bytes that are there.
    pub fn unpost(&mut self, from: Rank, head: &PostedHead) -> usize {
        debug_assert!(self.tail.is_none(), "what is found is opened at once");
        if let Some(Some(reader)) = self.readers.get_mut(from.index()) {
            reader.call_off(head);
        }
        self.posted.unpost(from, head)
    }

    /// Takes in new connections.
    pub fn accept(&mut self, seals: &mut Seals) {
        for _ in 0..ACCEPTED_AT_ONCE {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = match accept_with(&self.listener, flags) {
                Ok(socket) => socket,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(Errno::AGAIN) => return,
                Err(_) => return self.rest(true),
            };
            if self.unknown.len() >= UNKNOWN_MAX {
                self.unknown.pop_first();
                self.refused += 1;
            }
            let number = self.next_unknown;
            self.next_unknown = number.wrapping_add(1);
            let data = EventData::new_u64(UNKNOWN | u64::from(number));
            if epoll::add(&*self.epoll, &socket, data, EventFlags::IN).is_err() {
                self.refused += 1;
                continue;
            }
            let unknown = Unknown { socket, since: self.now, hello: [0; HELLO_MAX], have: 0 };
            self.unknown.insert(number, unknown);
            self.greet(number, seals);
        }
    }

    /// Listens no more, or again. Whoever connects when no descriptor is left cannot be accepted,
    /// and would wake this rank again and again: he waits until the next look after paths.
    fn rest(&mut self, rests: bool) {
        let flags = if rests { EventFlags::empty() } else { EventFlags::IN };
        let data = EventData::new_u64(LISTENER);
        if epoll::modify(&*self.epoll, &self.listener, data, flags).is_ok() {
            self.rests = rests;
        }
    }

    /// Reads on in the hello of a connection.
    pub fn greet(&mut self, number: u32, seals: &mut Seals) {
        let Some(unknown) = self.unknown.get_mut(&number) else { return };
        let bytes = self.expected.hello_bytes();
        match rustix::io::read(&unknown.socket, &mut unknown.hello[unknown.have..bytes]) {
            Ok(read @ 1..) => unknown.have += read,
            Err(Errno::AGAIN | Errno::INTR) => return,
            Ok(0) | Err(_) => return drop(self.unknown.remove(&number)),
        }
        let have = unknown.have;
        let source = match self.expected.record_bytes(&unknown.hello[..have]) {
            Ok(_) if have < bytes => return,
            Ok(_) => match seals.open(&mut unknown.hello[..bytes]) {
                Ok(opened) if opened.kind == FrameKind::HELLO => Some(opened.source),
                _ => None,
            },
            Err(_) => None,
        };
        let Some(Unknown { socket, .. }) = self.unknown.remove(&number) else { return };
        match source {
            Some(source) => self.let_in(source, socket),
            None => self.refused += 1,
        }
    }

    /// The connection is that of `source`, in place of an earlier one.
    fn let_in(&mut self, source: Rank, socket: OwnedFd) {
        let data = EventData::new_u64(READER | u64::from(source.0));
        if epoll::modify(&*self.epoll, &socket, data, EventFlags::IN).is_err() {
            return;
        }
        self.close(source);
        self.any_let_in = true;
        let places = [new_place(), new_place()];
        let expected = Expected { source: Some(source), ..self.expected };
        self.readers[source.index()] = Some(Box::new(Reader::new(socket, expected, places)));
        self.wake(source);
    }

    /// True if a connection from `source` was let in.
    pub fn has(&self, source: Rank) -> bool {
        self.readers.get(source.index()).is_some_and(Option::is_some)
    }

    /// The connection from `source` has something.
    pub fn wake(&mut self, source: Rank) {
        let Some(Some(reader)) = self.readers.get_mut(source.index()) else { return };
        if !std::mem::replace(&mut reader.is_busy, true) {
            self.busy.push_back(source);
        }
    }

    fn close(&mut self, source: Rank) {
        self.readers[source.index()] = None;
        self.busy.retain(|busy| *busy != source);
    }

    /// Refuses those that have not shown whose they are in time, and listens again if it rested.
    pub fn tend(&mut self, now: Nanoseconds) {
        self.now = now;
        if self.rests {
            self.rest(false);
        }
        let before = self.unknown.len();
        self.unknown.retain(|_, unknown| now.saturating_sub(unknown.since) < HELLO_WITHIN);
        self.refused += (before - self.unknown.len()) as u64;
    }
}

impl ArrivalSource<Box<[u8]>> for Arrivals {
    fn look(
        &mut self,
        spare: &mut Vec<Box<[u8]>>,
        arrived: &mut VecDeque<(Box<[u8]>, Landed)>,
    ) -> bool {
        self.tail = None;
        for _ in 0..self.busy.len() {
            let Some(source) = self.busy.pop_front() else { return false };
            let Some(reader) = &mut self.readers[source.index()] else { continue };
            let Arrivals { posted, places, places_max, .. } = self;
            let step = reader.look(posted.of(source), || {
                spare.pop().or_else(|| {
                    let more = *places < *places_max;
                    *places += usize::from(more);
                    more.then(new_place)
                })
            });
            match step {
                Step::Record(place, bytes, aim) => {
                    self.tail = aim.map(|aim| (source, aim));
                    self.busy.push_back(source);
                    let landed = Landed { start: 0, end: bytes, datagram_bytes: bytes };
                    arrived.push_back((place, landed));
                    return true;
                }
                Step::Dropped => {
                    self.dropped += 1;
                    self.busy.push_back(source);
                }
                Step::Nothing => reader.is_busy = false,
                Step::Closed => self.close(source),
            }
        }
        false
    }

    #[inline]
    fn tail(&self) -> &[u8] {
        self.tail.as_ref().map_or(&[], |(_, aim)| aim.bytes())
    }

    fn has_opened_tail(&mut self, is_authentic: bool) {
        if let Some((source, aim)) = self.tail.take().filter(|_| is_authentic) {
            self.posted.has_opened(source, &aim);
        }
    }
}

#[cfg(test)]
mod tests;
