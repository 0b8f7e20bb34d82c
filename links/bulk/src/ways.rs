//! Connections to other ranks: begun when a long packet is to go there, given up when they break or
//! stand still, and begun again, less often each time.

use crate::connection::Connection;
use crate::frames::Frames;
use rustix::event::epoll::{self, EventData, EventFlags};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use weft_datagram::seal::Seals;
use weft_link::clock::Nanoseconds;
use weft_wire::{Header, Rank};

/// Marks events of these connections; the rank is in the lower half.
pub(crate) const WAY: u64 = 2 << 32;

/// Time without an acknowledgement of anything after which a connection is taken for cut: a
/// firewall or an idle address translation says nothing. A stopped process loses one, too, and gets
/// another.
const STALLED_AFTER: Nanoseconds = 300_000_000;
/// Time until a connection is begun again, doubled each time that none came about.
const AGAIN_AFTER: Nanoseconds = 50_000_000;
const MOST_DOUBLINGS: u8 = 7;

/// Way to one rank.
pub(crate) struct Way {
    /// User bytes of a packet that goes by datagram at most; less than 0 while all data follows
    /// what went over the connection.
    pub datagram_most: i32,
    /// Number of the last packet that went over the connection.
    last: u32,
    connection: Option<Connection>,
    /// Number of the packet after the last that came from there, by either way.
    next: u32,
    /// Number that the peer acknowledged last, and the time at which that was news.
    acknowledged: u32,
    news_at: Nanoseconds,
    failures: u8,
    again_at: Nanoseconds,
    runs: RunHistory,
}

/// Lost runs to a rank after which long packets go by connection for a while: a network that loses
/// datagrams loses many of six, and what lets one kind of them pass may stop another, ...
const MOST_LOST_RUNS: u32 = 3;
/// ... if no more than so many went meanwhile; and the number of packets of that while, which is
/// doubled each time.
const FEW_RUNS: u32 = 1000;
const MOST_RUN_DOUBLINGS: u32 = 10;

/// Runs to one rank.
#[derive(Clone, Copy, Default)]
struct RunHistory {
    /// Number of the last packet that went as one.
    last: Option<u32>,
    /// Those that were to be sent again, of so many: both are forgotten at [`FEW_RUNS`].
    lost: u32,
    went: u32,
    /// Packets that go by connection yet, and how often that was so.
    rest: u32,
    rests: u32,
}

impl RunHistory {
    /// True if the packet with this number may go as a run: it was not sent before, and those that
    /// went arrive.
    fn may_go(&mut self, number: u32) -> bool {
        if self.rest > 0 {
            self.rest -= 1;
            return false;
        }
        if self.last.is_some_and(|last| (number.wrapping_sub(last) as i32) <= 0) {
            self.lost += 1;
            if self.lost >= MOST_LOST_RUNS {
                self.rest = FEW_RUNS << self.rests.min(MOST_RUN_DOUBLINGS);
                (self.rests, self.lost, self.went) = (self.rests + 1, 0, 0);
            }
            return false;
        }
        self.last = Some(number);
        self.went += 1;
        if self.went >= FEW_RUNS {
            (self.rests, self.lost, self.went) = (0, 0, 0);
        }
        true
    }
}

/// Ways to all ranks.
pub(crate) struct Ways {
    ways: Vec<Way>,
    addresses: Vec<SocketAddr>,
    own: Rank,
    far_most: i32,
    /// Ranks whose connection has records that the kernel has not taken.
    waiting: Vec<Rank>,
    now: Nanoseconds,
    /// Connections begun, and those that were given up.
    pub begun: u64,
    pub broken: u64,
}

impl Ways {
    /// To ranks with these addresses, from `own`; packets up to `far_most` user bytes go by
    /// datagram.
    pub fn new(addresses: Vec<SocketAddr>, own: Rank, far_most: usize) -> Self {
        let far_most = far_most as i32;
        let way = |_: &SocketAddr| Way {
            datagram_most: far_most,
            last: 0,
            connection: None,
            next: 0,
            acknowledged: 0,
            news_at: 0,
            failures: 0,
            again_at: 0,
            runs: RunHistory::default(),
        };
        let ways = addresses.iter().map(way).collect();
        Ways { ways, addresses, own, far_most, waiting: Vec::new(), now: 0, begun: 0, broken: 0 }
    }

    /// Longest packet to `to` that goes by datagram now.
    #[inline]
    pub fn datagram_most(&self, to: Rank) -> i32 {
        self.ways[to.index()].datagram_most
    }

    /// True if the packet with this number may wait for the connection to `to` already.
    pub fn repeats(&self, to: Rank, number: u32) -> bool {
        let way = &self.ways[to.index()];
        way.datagram_most < 0 && (number.wrapping_sub(way.last) as i32) <= 0
    }

    /// A packet has come from `from`, which says what it has acknowledged.
    #[inline]
    pub fn heard(&mut self, from: Rank, acknowledgement: u32) {
        if let Some(way) = self.ways.get_mut(from.index())
            && way.datagram_most < 0
        {
            way.acknowledge(acknowledgement, self.far_most, self.now);
        }
    }

    /// A packet has come by datagram. True if it has a number, and packets before it have not come,
    /// or not yet; else it is handed over.
    #[inline]
    pub fn came_by_datagram(&mut self, header: &Header, is_numbered: bool) -> bool {
        self.heard(header.source, header.acknowledgement);
        let waits = is_numbered && self.has_gap_before(header);
        if is_numbered && !waits {
            self.came(header);
        }
        waits
    }

    /// A packet with a number is handed over.
    #[inline]
    pub fn came(&mut self, header: &Header) {
        if let Some(way) = self.ways.get_mut(header.source.index())
            && (header.sequence.wrapping_sub(way.next) as i32) >= 0
        {
            way.next = header.sequence.wrapping_add(1);
        }
    }

    /// A packet has come by record.
    #[inline]
    pub fn came_by_record(&mut self, header: &Header) {
        self.heard(header.source, header.acknowledgement);
        self.came(header);
    }

    /// True if the packet with this header was sent next after the last that came: none is missing
    /// in between.
    #[inline]
    pub fn is_next(&self, header: &Header) -> bool {
        self.ways.get(header.source.index()).is_some_and(|way| way.next == header.sequence)
    }

    /// True if packets before this one have not come, or not yet.
    #[inline]
    pub fn has_gap_before(&self, header: &Header) -> bool {
        let way = self.ways.get(header.source.index());
        way.is_some_and(|way| (header.sequence.wrapping_sub(way.next) as i32) > 0)
    }

    /// True if the packet with this number may go to `to` as a run: none of its data is under way
    /// by connection, and runs arrive.
    pub fn may_run(&mut self, to: Rank, number: u32) -> bool {
        let follows = self.datagram_most(to) < 0 && !self.has_arrived(to);
        !follows && self.ways[to.index()].runs.may_go(number)
    }

    /// True if the other end's kernel has all that went over the connection to `to`: short packets
    /// go by datagram again.
    pub fn has_arrived(&mut self, to: Rank) -> bool {
        let Some(way) = self.ways.get_mut(to.index()) else { return false };
        let has_arrived = way.connection.as_ref().is_some_and(Connection::has_arrived);
        if has_arrived {
            way.datagram_most = self.far_most;
        }
        has_arrived
    }

    /// The connection to `to`, begun if there is none and it is time; `None` if there is none.
    pub fn connection(
        &mut self,
        to: Rank,
        epoll: BorrowedFd<'_>,
        seals: &mut Seals,
    ) -> Option<&mut Connection> {
        let way = &mut self.ways[to.index()];
        if way.connection.is_none() && self.now >= way.again_at {
            let from = self.addresses.get(self.own.index())?.ip();
            let Ok(mut connection) = Connection::begin(from, self.addresses[to.index()]) else {
                way.fail(self.now);
                return None;
            };
            self.begun += 1;
            let trailer_bytes = seals.protection().trailer_bytes();
            connection.push_hello(seals.sealer(to), trailer_bytes);
            way.news_at = self.now;
            // Without it, what is written says how the connection is.
            let data = EventData::new_u64(WAY | u64::from(to.0));
            let _ = epoll::add(epoll, &connection.socket, data, EventFlags::RDHUP);
            way.connection = Some(connection);
        }
        way.connection.as_mut()
    }

    /// A packet with this header went to the connection to `to`: all data follows it.
    pub fn went(&mut self, to: Rank, header: &Header) {
        let way = &mut self.ways[to.index()];
        if way.datagram_most >= 0 {
            (way.last, way.news_at) = (header.sequence, self.now);
            way.datagram_most = -1;
        } else if (header.sequence.wrapping_sub(way.last) as i32) > 0 {
            way.last = header.sequence;
        }
        if !self.waiting.contains(&to) {
            self.waiting.push(to);
        }
    }

    /// True if something waits for a flush, or for the kernel.
    #[inline]
    pub fn has_unflushed(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Hands to the kernel what it takes, for all ranks. If `more` follows soon, it may wait for
    /// that.
    #[inline]
    pub fn flush(
        &mut self,
        more: bool,
        epoll: BorrowedFd<'_>,
        frames: &mut Frames,
        seals: &mut Seals,
    ) {
        if !self.waiting.is_empty() {
            self.flush_waiting(more, epoll, frames, seals);
        }
    }

    fn flush_waiting(
        &mut self,
        more: bool,
        epoll: BorrowedFd<'_>,
        frames: &mut Frames,
        seals: &mut Seals,
    ) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain(|to| self.flush_one(*to, more, epoll, frames, seals));
        self.waiting = waiting;
    }

    /// True if something still waits.
    fn flush_one(
        &mut self,
        to: Rank,
        more: bool,
        epoll: BorrowedFd<'_>,
        frames: &mut Frames,
        seals: &mut Seals,
    ) -> bool {
        let way = &mut self.ways[to.index()];
        let Some(connection) = &mut way.connection else { return false };
        if connection.is_blocked() {
            return true;
        }
        let trailer_bytes = seals.protection().trailer_bytes();
        if connection.flush(more, frames, seals.sealer(to), trailer_bytes).is_err() {
            self.give_up(to, frames);
            return false;
        }
        if connection.is_blocked() {
            let data = EventData::new_u64(WAY | u64::from(to.0));
            let room = EventFlags::RDHUP | EventFlags::OUT;
            let _ = epoll::modify(epoll, &connection.socket, data, room);
        }
        !connection.is_flushed()
    }

    /// The set says something of the connection to `to`.
    pub fn event(
        &mut self,
        to: Rank,
        flags: EventFlags,
        epoll: BorrowedFd<'_>,
        frames: &mut Frames,
        seals: &mut Seals,
    ) {
        let ended = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
        let Some(way) = self.ways.get_mut(to.index()) else { return };
        let Some(connection) = &mut way.connection else { return };
        if flags.intersects(ended) {
            return self.give_up(to, frames);
        }
        if connection.is_blocked() {
            connection.unblock();
            let data = EventData::new_u64(WAY | u64::from(to.0));
            let _ = epoll::modify(epoll, &connection.socket, data, EventFlags::RDHUP);
            self.flush_one(to, false, epoll, frames, seals);
        }
    }

    /// Gives up connections that stand still.
    pub fn tend(&mut self, now: Nanoseconds, frames: &mut Frames) {
        self.now = now;
        for to in (0..self.ways.len() as u16).map(Rank) {
            let way = &mut self.ways[to.index()];
            if way.datagram_most >= 0 || way.connection.is_none() {
                continue;
            }
            if now.saturating_sub(way.news_at) >= STALLED_AFTER {
                self.give_up(to, frames);
            }
        }
    }

    /// Ends the connection to `to`; the records that it has are lost.
    fn give_up(&mut self, to: Rank, frames: &mut Frames) {
        let way = &mut self.ways[to.index()];
        if let Some(mut connection) = way.connection.take() {
            connection.drop_all(frames);
            self.broken += 1;
        }
        way.fail(self.now);
        way.datagram_most = self.far_most;
    }
}

impl Way {
    fn acknowledge(&mut self, next: u32, far_most: i32, now: Nanoseconds) {
        if next != self.acknowledged {
            (self.acknowledged, self.news_at, self.failures) = (next, now, 0);
        }
        if (next.wrapping_sub(self.last) as i32) > 0 {
            self.datagram_most = far_most;
        }
    }

    fn fail(&mut self, now: Nanoseconds) {
        self.again_at = now + (AGAIN_AFTER << self.failures.min(MOST_DOUBLINGS));
        self.failures = self.failures.saturating_add(1);
    }
}

#[cfg(test)]
mod tests;
