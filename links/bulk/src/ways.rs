//! Connections to other ranks: begun when a long packet is to go there, given up when they break or
//! stand still, and begun again, less often each time; and the order of packets that go by several
//! ways to one rank.
//!
//! ```text
//!             a long packet, by record                the protocol says that all was taken,
//!             ┌────────────────────▶ by record ───┐   or the other end's kernel has all
//!   by datagram ◀─────────────────────────────────┘
//! ```
//! From the first packet to a rank on that goes by another way than datagrams, packets there that
//! [follow](Follows) others have serial numbers. A packet without one follows at once.

use crate::connection::{Connection, Progress};
use crate::frames::Frames;
use rustix::event::epoll::{self, EventData, EventFlags};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use weft_datagram::seal::Seals;
use weft_link::clock::Nanoseconds;
use weft_wire::{Follows, Header, Rank, Serial};

/// Marks events of these connections; the rank is in the lower half.
pub(crate) const WAY: u64 = 2 << 32;

/// Time without progress after which a connection is taken for cut: a firewall or an idle address
/// translation says nothing.
const STALLED_AFTER: Nanoseconds = 300_000_000;
/// Time until a connection is begun again, doubled each time that none came about.
const AGAIN_AFTER: Nanoseconds = 50_000_000;
const MOST_DOUBLINGS: u8 = 7;

/// Way to one rank, and from there.
pub(crate) struct Way {
    /// User bytes of a packet that goes by datagram without a serial number at most; less than 0
    /// once packets there have such numbers.
    pub datagram_most: i32,
    /// Number of the last packet there that has one.
    last: Serial,
    /// True while packets are under way by connection: all others follow them there.
    by_record: bool,
    connection: Option<Connection>,
    /// Number of the packet after the last that came from there.
    next: Serial,
    /// Time at which the connection was last known to move.
    news_at: Nanoseconds,
    /// Time since which nothing was transmitted there but what was taken for lost.
    lost_since: Option<Nanoseconds>,
    failures: u8,
    again_at: Nanoseconds,
    runs: RunHistory,
}

/// Lost runs to a rank after which long packets go by connection for a while: a network that loses
/// datagrams loses many of six, and what lets one kind of them pass may stop another, ...
const MOST_LOST_RUNS: u32 = 3;
/// ... if no more than this number went meanwhile; and the number of packets of that while, which
/// is doubled each time.
const FEW_RUNS: u32 = 1000;
const MOST_RUN_DOUBLINGS: u32 = 10;

/// Runs to one rank.
#[derive(Clone, Copy, Default)]
struct RunHistory {
    /// Runs that were lost, of those that were sent: both numbers are forgotten at [`FEW_RUNS`].
    lost: u32,
    went: u32,
    /// Packets that go by connection yet, and how often that was so.
    rest: u32,
    rests: u32,
}

impl RunHistory {
    /// True if a packet may go as a run: no copy of it was lost, and those that went arrive.
    fn may_go(&mut self, is_again: bool) -> bool {
        if self.rest > 0 {
            self.rest -= 1;
            return false;
        }
        if is_again {
            self.lost += 1;
            if self.lost >= MOST_LOST_RUNS {
                self.rest = FEW_RUNS << self.rests.min(MOST_RUN_DOUBLINGS);
                (self.rests, self.lost, self.went) = (self.rests + 1, 0, 0);
            }
            return false;
        }
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
        let way = |_: &SocketAddr| Way {
            datagram_most: far_most as i32,
            last: Serial::NONE,
            by_record: false,
            connection: None,
            next: Serial::FIRST,
            news_at: 0,
            lost_since: None,
            failures: 0,
            again_at: 0,
            runs: RunHistory::default(),
        };
        let ways = addresses.iter().map(way).collect();
        Ways { ways, addresses, own, waiting: Vec::new(), now: 0, begun: 0, broken: 0 }
    }

    /// Longest packet to `to` that goes by datagram as it is.
    #[inline]
    pub fn datagram_most(&self, to: Rank) -> i32 {
        self.ways[to.index()].datagram_most
    }

    /// Takes in what the protocol says of a packet to `to`, before its way is chosen. True if the
    /// connection there does not bring what it takes.
    pub fn hear(&mut self, to: Rank, follows: Follows) -> bool {
        let way = &mut self.ways[to.index()];
        match follows {
            Follows::Nothing => {}
            Follows::Earlier => way.lost_since = None,
            Follows::Taken => {
                way.lost_since = None;
                if std::mem::take(&mut way.by_record) {
                    way.failures = 0;
                }
            }
            Follows::Lost => {
                let since = *way.lost_since.get_or_insert(self.now);
                return way.by_record && self.now.saturating_sub(since) >= STALLED_AFTER;
            }
        }
        false
    }

    /// The header of a packet to `to` that is to be in turn there.
    pub fn number(&mut self, to: Rank, header: &Header) -> Header {
        let way = &mut self.ways[to.index()];
        way.last = match (way.last, header.follows) {
            // Packets that were sent before have no number.
            (Serial::NONE, Follows::Earlier | Follows::Lost) => Serial::FIRST.next(),
            (last, _) => last.next(),
        };
        way.datagram_most = -1;
        Header { serial: way.last, ..*header }
    }

    /// The header of a packet to `to` by datagram, which has a number only if others have.
    pub fn number_among(&mut self, to: Rank, header: &Header) -> Header {
        if self.datagram_most(to) < 0 { self.number(to, header) } else { *header }
    }

    /// True if the packet with this header has a number, and packets before it have not come, or
    /// not yet; else it is handed over.
    #[inline]
    pub fn comes_early(&mut self, header: &Header) -> bool {
        let is_early = self.has_gap_before(header);
        if !is_early {
            self.came(header);
        }
        is_early
    }

    /// A packet is handed over.
    #[inline]
    pub fn came(&mut self, header: &Header) {
        if header.serial.is_some()
            && let Some(way) = self.ways.get_mut(header.source.index())
            && !way.next.is_after(header.serial)
        {
            way.next = header.serial.next();
        }
    }

    /// True if the packet with this header was sent next after the last that came: none is missing
    /// in between.
    #[inline]
    pub fn is_next(&self, header: &Header) -> bool {
        self.ways.get(header.source.index()).is_some_and(|way| way.next == header.serial)
    }

    /// True if packets before this one have not come, or not yet.
    #[inline]
    pub fn has_gap_before(&self, header: &Header) -> bool {
        let way = self.ways.get(header.source.index());
        header.serial.is_some() && way.is_some_and(|way| header.serial.is_after(way.next))
    }

    /// True if a packet may go to `to` as a run: nothing is under way there by connection, and runs
    /// arrive.
    pub fn may_run(&mut self, to: Rank, follows: Follows) -> bool {
        !self.has_records(to) && self.ways[to.index()].runs.may_go(follows == Follows::Lost)
    }

    /// True if packets may be under way by connection to `to`, because the other end's kernel has
    /// not all: others follow them there.
    pub fn has_records(&mut self, to: Rank) -> bool {
        let way = &mut self.ways[to.index()];
        if way.by_record && way.connection.as_ref().is_none_or(Connection::has_arrived) {
            way.by_record = false;
        }
        way.by_record
    }

    /// True while packets go by connection to `to` as far as is known without a question.
    pub fn is_by_record(&self, to: Rank) -> bool {
        self.ways[to.index()].by_record
    }

    /// True if something is under way by connection to `to`.
    pub fn is_under_way(&self, to: Rank) -> bool {
        let connection = self.ways[to.index()].connection.as_ref();
        connection.is_some_and(|connection| !connection.has_arrived())
    }

    /// True if there is a connection to `to`, which is begun if there is none and it is time.
    pub fn connect(&mut self, to: Rank, epoll: BorrowedFd<'_>, seals: &mut Seals) -> bool {
        let way = &mut self.ways[to.index()];
        if way.connection.is_none() && self.now >= way.again_at {
            let from = self.addresses[self.own.index()].ip();
            let Ok(mut connection) = Connection::begin(from, self.addresses[to.index()]) else {
                way.fail(self.now);
                return false;
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
        way.connection.is_some()
    }

    /// The connection to `to`, if there is one.
    pub fn connection(&mut self, to: Rank) -> Option<&mut Connection> {
        self.ways[to.index()].connection.as_mut()
    }

    /// A packet went to the connection to `to`: all others follow it.
    pub fn went(&mut self, to: Rank) {
        let way = &mut self.ways[to.index()];
        if !std::mem::replace(&mut way.by_record, true) {
            way.news_at = self.now;
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
            let Some(connection) = way.connection.as_mut().filter(|_| way.by_record) else {
                continue;
            };
            if connection.progress() != Progress::Still {
                way.news_at = now;
            } else if now.saturating_sub(way.news_at) >= STALLED_AFTER {
                self.give_up(to, frames);
            }
        }
    }

    /// Ends the connection to `to`; the records that it has are lost.
    pub fn give_up(&mut self, to: Rank, frames: &mut Frames) {
        let way = &mut self.ways[to.index()];
        if let Some(mut connection) = way.connection.take() {
            connection.drop_all(frames);
            self.broken += 1;
        }
        way.fail(self.now);
        (way.by_record, way.lost_since) = (false, None);
    }
}

impl Way {
    fn fail(&mut self, now: Nanoseconds) {
        self.again_at = now + (AGAIN_AFTER << self.failures.min(MOST_DOUBLINGS));
        self.failures = self.failures.saturating_add(1);
    }
}

#[cfg(test)]
mod tests;
