//! The sender's end of a connection.
#![allow(unsafe_code)]

use super::Puts;
use super::memory::{GetBuffer, RemoteMemory};
use super::state::{Offer, Outcome, Owed, PendingGet, Sending};
use super::table::Rights;
use crate::handle::Handle;
use crate::presence::coalescing::FlushHint;
use crate::send::SendPacket;
use crate::{Awaited, Error, Rank, Result, Upcalls, Whom};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use weft_link::clock::Work;
use weft_wire::place::{self, PlaceHeader, PlaceKind, Refusal};

/// Smallest put, in bytes, that is copied straight into mapped memory: a packet takes two copies,
/// but carries short puts with their notification.
const DIRECT_FROM: usize = 1024;
/// Smallest such put, in bytes, that waits for packets to the same range; shorter ones go after
/// them.
const WAIT_FROM: usize = 64 << 10;

/// The right to put into, or to get from, a receive buffer of another rank. Dropping it closes the
/// connection.
pub struct Connection {
    handle: Handle,
    name: Box<str>,
    to: Rank,
    connection: u32,
    bytes: usize,
    rights: Rights,
    shared: Arc<Sending>,
    /// Its memory, where that is mapped.
    remote: Option<RemoteMemory>,
    /// Range into which packets may still be about to put something: a direct copy there would
    /// overtake them.
    under_way: Range<usize>,
}

impl Puts<'_> {
    /// Takes the receive buffer that `from` offers to this rank under `name`. Waits until it is
    /// offered; of several with that name, takes the one offered first.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::RankLost`].
    pub fn connect(self, name: &str, from: Rank) -> Result<Connection> {
        self.0.check_rank(from)?;
        let mut found = None;
        let what =
            || Awaited::new(format!("rank {from} to offer its buffer '{name}'"), Whom::One(from));
        self.0.progress_until(&what, || {
            found = self.0.puts.connections.enter().take_offer(from, name);
            Ok(found.is_some())
        })?;
        match found {
            Some(offer) => self.accept(name, from, offer),
            None => unreachable!("the wait ends with an offer"),
        }
    }

    /// Does what [`Self::connect`] does, without waiting: `None` if there is no such offer.
    ///
    /// # Errors
    /// Those of [`Self::connect`].
    pub fn try_connect(self, name: &str, from: Rank) -> Result<Option<Connection>> {
        let offer = self.0.puts.connections.enter().take_offer(from, name);
        offer.map(|offer| self.accept(name, from, offer)).transpose()
    }

    fn accept(self, name: &str, to: Rank, offer: Offer) -> Result<Connection> {
        let Offer { connection, bytes, rights, memory } = offer;
        // Memory of this machine's, so that the sum of an offset and a length does not overflow.
        let bytes =
            usize::try_from(bytes).map_or(usize::MAX / 2, |bytes| bytes.min(usize::MAX / 2));
        // If the memory cannot be mapped, there are packets.
        let attach = |named| self.0.shared_memory()?.attach(to, &named, bytes).ok();
        let remote = memory.and_then(attach).map(|memory| RemoteMemory::new(memory, bytes));
        let shared = Arc::new(Sending { refused: AtomicU32::new(0) });
        self.0.puts.connections.enter().sends.insert((to, connection), Arc::clone(&shared));
        self.0.owe(to, Owed::Header(PlaceHeader::new(PlaceKind::Accept, connection)));
        let (handle, name) = (self.0.clone(), name.into());
        let under_way = 0..0;
        Ok(Connection { handle, name, to, connection, bytes, rights, shared, remote, under_way })
    }
}

impl Connection {
    /// The name under which the buffer was offered.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rank that has it.
    pub fn to(&self) -> Rank {
        self.to
    }

    /// Its size in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a size, not a number of things inside")]
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Puts `bytes` at `offset`. Returns when they are in packets; blocks, making upcalls, while
    /// all are on their way. The receiver is not notified: a later [`Self::put_notify`] says that
    /// these are there as well.
    ///
    /// # Errors
    /// [`Error::Outside`]; [`Error::Refused`] if the receiver has closed, has not given the right
    /// to put, or has refused an earlier put; [`Error::RankLost`].
    #[inline]
    pub fn put(&mut self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.check(offset, bytes.len(), self.rights.put)?;
        self.send(offset, bytes, None)
    }

    /// Does what [`Self::put`] does; the receiver is notified, with `word`, when all bytes are in
    /// its buffer. There may be none.
    ///
    /// # Errors
    /// Those of [`Self::put`], and [`Error::Outside`] for 4 GiB or more.
    #[inline]
    pub fn put_notify(&mut self, offset: usize, bytes: &[u8], word: u32) -> Result<()> {
        self.check(offset, bytes.len(), self.rights.put)?;
        // One packet, which no direct copy can overtake.
        if self.remote.is_none() && bytes.len() <= self.handle.max_payload_to(self.to) - place::SIZE
        {
            return self.launch(PlaceKind::PutNotify, offset, bytes, (bytes.len() as u32, word));
        }
        let length = u32::try_from(bytes.len()).map_err(|_| self.outside(offset, bytes.len()))?;
        self.send(offset, bytes, Some((length, word)))
    }

    /// Gets the bytes at `offset`, after all earlier puts through this connection. Waits for them,
    /// making upcalls; the receiver's program takes no part.
    ///
    /// # Errors
    /// Those of [`Self::put`], of the right to get.
    pub fn get(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.check(offset, into.len(), self.rights.get)?;
        let clear = self.is_clear(offset, into.len());
        if let Some(remote) = self.remote.as_mut().filter(|_| clear) {
            remote.read(offset, into);
            self.handle.trace.record_got(self.to, into.len());
            return Ok(());
        }
        self.ask(offset, into)?;
        self.under_way = 0..0;
        Ok(())
    }

    /// Checks that the connection is open, the range inside, and the right given.
    #[inline]
    fn check(&self, offset: usize, length: usize, right: bool) -> Result<()> {
        let refused = self.shared.refused.load(Ordering::Acquire);
        let inside = offset.checked_add(length).is_some_and(|end| end <= self.bytes);
        if refused == 0 && inside && right {
            return Ok(());
        }
        Err(match Refusal::from_number(refused) {
            Some(why) => self.refused(why),
            None if !inside => self.outside(offset, length),
            None => self.refused(Refusal::Rights),
        })
    }

    #[cold]
    fn refused(&self, why: Refusal) -> Error {
        Error::Refused { name: self.name.to_string(), rank: self.to, why }
    }

    #[cold]
    fn outside(&self, offset: usize, length: usize) -> Error {
        Error::Outside { name: self.name.to_string(), offset, length, bytes: self.bytes }
    }

    /// Sends `bytes` in packets; the last one carries `notice`: the length of the whole put, and a
    /// word.
    #[inline(never)]
    fn send(&mut self, offset: usize, bytes: &[u8], notice: Option<(u32, u32)>) -> Result<()> {
        if self.remote.is_some() && !bytes.is_empty() {
            if bytes.len() >= DIRECT_FROM && self.write(offset, bytes)? {
                let end = offset + bytes.len();
                return notice.map_or(Ok(()), |it| self.launch(PlaceKind::PutNotify, end, &[], it));
            }
            self.packets_are_under_way(offset, bytes.len());
        }
        let most = self.handle.max_payload_to(self.to) - place::SIZE;
        let mut at = offset;
        let mut rest = bytes;
        // Packets travel together as long as more follow.
        while rest.len() > most {
            let (now, later) = rest.split_at(most);
            self.handle.node.attendance().hint.set(FlushHint::More);
            self.launch(PlaceKind::Put, at, now, (0, 0))?;
            (at, rest) = (at + most, later);
        }
        if at > offset {
            self.handle.node.attendance().hint.set(FlushHint::Last);
        }
        match notice {
            Some(notice) => self.launch(PlaceKind::PutNotify, at, rest, notice),
            None if rest.is_empty() => Ok(()),
            None => self.launch(PlaceKind::Put, at, rest, (0, 0)),
        }
    }

    /// Copies `bytes` into mapped memory; false if they have to go in packets, because earlier
    /// packets to the same range are not there yet.
    fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<bool> {
        if !self.is_clear(offset, bytes.len()) {
            if bytes.len() < WAIT_FROM {
                return Ok(false);
            }
            self.flush()?;
        }
        let Some(remote) = &mut self.remote else { return Ok(false) };
        remote.write(offset, bytes);
        self.handle.trace.record_put(self.to, bytes.len());
        self.handle.node.charge(Work::Copy { bytes: bytes.len() });
        Ok(true)
    }

    /// True if no packet is about to put anything there.
    fn is_clear(&self, offset: usize, length: usize) -> bool {
        offset >= self.under_way.end || offset + length <= self.under_way.start
    }

    #[inline]
    fn packets_are_under_way(&mut self, offset: usize, length: usize) {
        self.under_way = match self.under_way.is_empty() {
            true => offset..offset + length,
            false => self.under_way.start.min(offset)..self.under_way.end.max(offset + length),
        };
    }

    #[inline(always)]
    fn launch(
        &self,
        kind: PlaceKind,
        offset: usize,
        bytes: &[u8],
        notice: (u32, u32),
    ) -> Result<()> {
        let (length, word) = notice;
        let connection = self.connection;
        let header = PlaceHeader { kind, connection, offset: offset as u64, length, word };
        let mut packet = SendPacket::alloc(&self.handle, Some(self.to), Upcalls::Allowed)?;
        packet.put(&header.emit())?.put(bytes)?;
        packet.unicast_put(self.to)
    }

    /// Gets a range by requests of a packet each, several of which are under way at a time.
    fn ask(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        let most = self.handle.max_payload_to(self.to) - place::SIZE;
        let at_once = (self.handle.in_flight() / 2).max(1);
        let mut gets = Gets { connection: self, numbers: VecDeque::new() };
        if into.is_empty() {
            gets.ask(offset, into)?;
        }
        let mut at = offset;
        for part in into.chunks_mut(most) {
            let length = part.len();
            gets.wait_for_all_but(at_once - 1)?;
            gets.ask(at, part)?;
            at += length;
        }
        gets.wait_for_all_but(0)
    }

    /// Waits until all that was put through this connection is in the buffer, or was refused.
    ///
    /// # Errors
    /// Those of [`Self::put`].
    pub fn flush(&mut self) -> Result<()> {
        self.check(0, 0, true)?;
        self.ask(0, &mut [])?;
        self.under_way = 0..0;
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.handle.puts.connections.enter().sends.remove(&(self.to, self.connection));
        if self.shared.refused.load(Ordering::Acquire) == 0 {
            self.handle
                .owe(self.to, Owed::Header(PlaceHeader::new(PlaceKind::Close, self.connection)));
        }
    }
}

/// Gets under way, oldest first. Dropping it drops the buffers for their answers.
struct Gets<'a> {
    connection: &'a Connection,
    numbers: VecDeque<u32>,
}

impl Gets<'_> {
    /// Asks for the bytes at `offset`. `into` is the buffer for the answer as long as `self` lives.
    fn ask(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        let Connection { handle, to, connection, .. } = self.connection;
        let mut packet = SendPacket::alloc(handle, Some(*to), Upcalls::Allowed)?;
        let length = into.len() as u32;
        // SAFETY: the buffer is in the state until the answer arrives, or `self` is dropped: while
        // the caller of `Connection::get`, who has `into`, waits.
        let outcome = Outcome::Pending(unsafe { GetBuffer::new(into) });
        let mut state = handle.puts.connections.enter();
        state.last_get = state.last_get.wrapping_add(1);
        let word = state.last_get;
        state.gets.insert(word, PendingGet { to: *to, connection: *connection, outcome });
        drop(state);
        self.numbers.push_back(word);
        let (connection, offset) = (*connection, offset as u64);
        let header = PlaceHeader { kind: PlaceKind::Get, connection, offset, length, word };
        packet.put(&header.emit())?;
        packet.unicast_put(*to)
    }

    /// Waits until no more than `under_way` gets are unanswered.
    fn wait_for_all_but(&mut self, under_way: usize) -> Result<()> {
        let (handle, to) = (&self.connection.handle, self.connection.to);
        let what = || Awaited::new(format!("rank {to} to answer gets"), Whom::One(to));
        handle.progress_until(&what, || {
            while self.numbers.len() > under_way && self.oldest_is_answered()? {
                self.numbers.pop_front();
            }
            Ok(self.numbers.len() <= under_way)
        })
    }

    fn oldest_is_answered(&self) -> Result<bool> {
        let Some(number) = self.numbers.front() else { return Ok(true) };
        let mut state = self.connection.handle.puts.connections.enter();
        let why = match state.gets.get(number).map(|get| &get.outcome) {
            Some(Outcome::Pending(_)) => return Ok(false),
            Some(Outcome::Refused(why)) => *why,
            Some(Outcome::Done) | None => {
                state.gets.remove(number);
                return Ok(true);
            }
        };
        drop(state);
        Err(self.connection.refused(why))
    }
}

impl Drop for Gets<'_> {
    fn drop(&mut self) {
        if self.numbers.is_empty() {
            return;
        }
        let mut state = self.connection.handle.puts.connections.enter();
        for number in &self.numbers {
            state.gets.remove(number);
        }
    }
}
