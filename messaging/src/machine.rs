//! The machine of messaging: what packets mean, and what may be sent when. Sans-IO.
//!
//! Packets' headers and the calls of readers and senders go in; decisions come out, as return
//! values: what a packet is a part of, whether it stays in link memory, what a peer is to be told,
//! which waiter to wake. There are no bytes, threads, clocks or locks in here. `P` is what a packet
//! brought, `W` somebody who waits; both are the caller's own. So two machines and two queues are a
//! job, which `tests/it/exploration.rs` takes through all that can happen.
//!
//! ```text
//!             a sender                                        a receiver
//!   Sender ── claim ──► window of the flow            admit ──► keep, or copy out
//!     │         │ no room: stalled                      │
//!     │         └─ after 20 ms ─ Stalled ──►            ├─ all here: to its port
//!     ├─ Request ────────────────────────►              └─ begin: Arrivals, until the last packet
//!     │    waits; after 20 ms ─ Waiting ─►                      │ take_part, abandon
//!     │  ◄──────────── Grant or Unwanted ── request, take_part, abandon
//!     ├─ First, Next, Next … ────────────►                      │
//!     │  ◄──────────────────────── Window ── consumed: half a window
//!     └─ dropped before its end ─ Cancel ►  cancelled
//! ```
//!
//! | module | what |
//! |---|---|
//! | `arrivals` | messages that are not all here (thesis 6.3) |
//! | `body` | a message without its bytes |
//! | `dispatch` | which handler runs on which message when (6.2.3) |
//! | `invariants` | what holds whatever happens, by name |
//! | `owed` | control packets that found no frame |
//! | `planted` | mistakes for tests to find |
//! | `ports` | slots and windows of ports |
//! | `requests` | messages whose receivers are asked first (careful-protocols 3, 7) |
//! | `sender` | a message on its way out |
//! | `windows` | flow control of each port (6.1.1) |

mod arrivals;
mod body;
mod by_rank;
mod dispatch;
pub mod invariants;
mod owed;
mod planted;
mod ports;
mod requests;
mod sender;
mod windows;

pub use arrivals::{EndedMessage, TakenPart, UNFINISHED_LIMIT};
pub use body::MessageBody;
pub use by_rank::ByRank;
pub use dispatch::{Dispatch, Handling, PortRun, PortSlot, Queued, Removed, Usage};
pub use owed::{ANSWERS_LIMIT, Owed};
pub use planted::Planted;
pub use ports::{Ports, UNMADE_LIMIT};
pub use requests::RequestAnswer;
pub use sender::Sender;
pub use windows::{Flow, To, WINDOW_BYTES, window_packets};

use crate::error::Error;
use crate::format::{PacketHeader, PacketKind};
use arrivals::Arrivals;
use invariants::i16_kept_is_counted;
use requests::Requests;
use std::task::Waker;
use weft_endpoint::{Group, Rank};

/// A waiter, which is woken once its condition may hold.
pub trait Wakeable: Clone {
    /// True if both are the same one: it need not be told twice.
    fn is(&self, other: &Self) -> bool;
}

impl Wakeable for Waker {
    fn is(&self, other: &Self) -> bool {
        self.will_wake(other)
    }
}

/// Limits of a rank's memory for messages; the same window on all ranks.
#[derive(Clone, Copy, Hash, Debug)]
pub struct Limits {
    /// Packets of one flow to one port that nobody has consumed.
    pub window: u32,
    /// Bytes of messages that are copied out of link memory at most, to keep senders going.
    pub copied_bytes: usize,
}

/// Counters of the machine.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub struct Counters {
    /// Messages sent; a broadcast is one. The last is the number of the next.
    pub messages_sent: u64,
    /// Packets copied out of link memory because their port was slow.
    pub packets_copied_out: u64,
    /// Sends that waited because their receiver's port was full.
    pub stalls: u64,
    /// Packets that handlers sent to full ports all the same.
    pub overdrafts: u64,
    /// Messages whose receivers were asked first.
    pub requests: u64,
}

/// The messages of one rank.
#[derive(Clone, Hash)]
pub struct Machine<P, W> {
    limits: Limits,
    /// This rank, which sends to itself without a window.
    own: Rank,
    /// The ports.
    pub ports: Ports<W>,
    /// Messages whose last packet has not arrived, or was not read.
    arrivals: Arrivals<P, W>,
    /// Messages whose receivers were asked.
    requests: Requests<W>,
    /// Packets kept in link memory, by sender.
    kept: ByRank<u32>,
    /// Cost of packets that were copied out, and of messages that wait in their boxes.
    copied_bytes: usize,
    /// Sends that wait for room at some port, and are not done with anything else meanwhile.
    stalled: u32,
    /// Sends among them that block a thread. Handlers that the thread runs meanwhile are above the
    /// send in its stack.
    blocked: u32,
    /// Control packets that found no frame to leave in.
    pub owed: Owed,
    /// Counters.
    pub counters: Counters,
    #[cfg(feature = "planted")]
    planted: Option<Planted>,
}

/// Consequences of a packet without bytes.
#[must_use = "a peer waits for the answer, and somebody here to be woken"]
pub struct Told<W> {
    /// The packet that answers it.
    pub answer: Option<PacketHeader>,
    /// Those who waited for it.
    pub wakes: Vec<W>,
}

/// Consequences of the next packet of a message.
#[must_use = "what nobody wants is given back, and its reader woken"]
pub struct Continued<P, W> {
    /// The packet, if nobody wants it (any more).
    pub unwanted: Option<P>,
    /// The reader that waits for it.
    pub reader: Option<W>,
}

impl<P, W: Wakeable> Machine<P, W> {
    /// Nothing yet, at rank `own`.
    pub fn new(own: Rank, limits: Limits) -> Self {
        Machine {
            limits,
            own,
            ports: Ports::default(),
            arrivals: Arrivals::default(),
            requests: Requests::default(),
            kept: ByRank::default(),
            copied_bytes: 0,
            stalled: 0,
            blocked: 0,
            owed: Owed::default(),
            counters: Counters::default(),
            #[cfg(feature = "planted")]
            planted: None,
        }
    }

    /// Admits a packet with `bytes` bytes of a message: the slot of its port.
    ///
    /// # Errors
    /// No rank sends that: the message is none that begins or goes on so, or its sender has too
    /// many that have not ended, or to too many ports that nobody has created.
    #[inline]
    pub fn admit(&mut self, from: Rank, header: &PacketHeader, bytes: u64) -> Result<usize, Error> {
        if header.kind != PacketKind::Next {
            self.arrivals.check_first(from, header, bytes)?;
        } else if !self.arrivals.continues(from, header, bytes) {
            return Err(Error::Stray { from });
        }
        let slot = self.ports.find(header.port, from);
        slot.ok_or(Error::UnmadePorts { from, limit: UNMADE_LIMIT })
    }

    /// True if a packet of `from` stays in link memory, where `at_most` of its packets may be; it
    /// is counted then. False if it has to be copied out, because as many are kept.
    #[inline]
    pub fn keeps(&mut self, from: Rank, at_most: u32) -> bool {
        let kept = self.kept.entry(from);
        let is_crowded = *kept >= at_most && self.copied_bytes < self.limits.copied_bytes;
        *kept += u32::from(!is_crowded);
        !is_crowded
    }

    /// Counts a packet that was copied out, at such a cost.
    pub fn copied_out(&mut self, cost: usize) {
        self.copied_bytes += cost;
        self.counters.packets_copied_out += 1;
    }

    /// Counts a message that waits at its port in memory of such a cost.
    #[inline]
    pub fn waits(&mut self, cost: usize) {
        self.copied_bytes += cost;
    }

    /// True if a message may wait at its port in memory of this rank.
    #[inline]
    pub fn has_memory(&self) -> bool {
        self.copied_bytes < self.limits.copied_bytes
    }

    /// Begins a message that was admitted and of which these bytes are here. If that is not all, it
    /// arrives from here on.
    #[inline]
    pub fn begin(&mut self, body: &MessageBody, bytes: u64, kind: PacketKind) {
        if bytes < body.length {
            self.arrivals.begin(body, bytes, kind);
        }
    }

    /// The next packet of a message that was admitted is here.
    pub fn continued(&mut self, from: Rank, number: u32, bytes: u64, part: P) -> Continued<P, W> {
        let (unwanted, reader) = self.arrivals.arrived(from, number, bytes, part);
        Continued { unwanted, reader }
    }

    /// A packet without bytes that tells something. `port` is the slot of its port, if this rank
    /// has one, and what it is used for here; `is_members` says whether it is about multicasts to a
    /// group that its sender is no member of (false), or not.
    ///
    /// A control packet makes no port. For one that this rank has neither created nor sent to, and
    /// that no message has come for, nothing is kept, whatever its number: it is answered or passed
    /// over, or nobody sends it.
    ///
    /// # Errors
    /// [`Error::Stray`]: no rank sends that.
    pub fn told(
        &mut self,
        from: Rank,
        header: &PacketHeader,
        port: Option<(usize, Usage)>,
        is_members: bool,
    ) -> Result<Told<W>, Error> {
        let (mut wakes, mut answer) = (Vec::new(), None);
        match (header.kind, port) {
            (PacketKind::Grant, _) => {
                wakes = self.answered(from, header.message, RequestAnswer::Granted)?
            }
            (PacketKind::Unwanted, _) => {
                wakes = self.answered(from, header.message, RequestAnswer::Unwanted)?
            }
            (PacketKind::Probe, port) if port.is_none_or(|(_, usage)| !usage.is_created) => {
                answer = Some(PacketHeader::about(header.port, PacketKind::NoPort));
            }
            (PacketKind::Window | PacketKind::NoPort, None) => return Err(Error::Stray { from }),
            // The multicasts that it is about may be on another way.
            (_, None) => {}
            (PacketKind::Window, Some((slot, _))) => {
                let port = self.ports.at(slot);
                if !port.outgoing.reported(from, flow_of(header), header.message) {
                    return Err(Error::Stray { from });
                }
                wakes = std::mem::take(&mut port.senders);
            }
            (PacketKind::NoPort, Some((slot, _))) => {
                let port = self.ports.at(slot);
                port.refused.insert(from);
                wakes = std::mem::take(&mut port.senders);
            }
            (PacketKind::Stalled, Some((slot, usage))) if is_members => {
                answer = self.relieve(from, header, slot, usage);
            }
            (PacketKind::Waiting, Some((_, usage))) => {
                let grants = self.nobody_reads(usage)
                    && self.has_memory()
                    && self.arrivals.grant(from, header.message);
                answer = grants.then(|| RequestAnswer::Granted.header(header.port, header.message));
            }
            _ => {}
        }
        Ok(Told { answer, wakes })
    }

    /// Memory takes the place of a window: the report that has `from`, which is stalled, go on. So
    /// it does where nobody can read, and where a reader waits for a packet that has no room, since
    /// what came after the message that it reads has filled the window.
    fn relieve(
        &mut self,
        from: Rank,
        header: &PacketHeader,
        slot: usize,
        usage: Usage,
    ) -> Option<PacketHeader> {
        let is_stuck = self.nobody_reads(usage) || self.arrivals.starve(from, header.port);
        if !is_stuck || !self.has_memory() || self.has(Planted::IgnoreStalled) {
            return None;
        }
        let incoming = &mut self.ports.at(slot).incoming;
        let report = incoming.advance(from, flow_of(header), header.message)?;
        Some(PacketHeader::window(header.port, header.group(), report))
    }

    /// True if this rank is in a send, and reads nothing of a port that is used so meanwhile. A
    /// handler that may have to be put off reads as little as there is none.
    fn nobody_reads(&self, usage: Usage) -> bool {
        self.stalled > 0 && (usage.is_unread || self.blocked > 0)
    }

    /// A receiver has answered a request of this rank: who waited for that.
    fn answered(
        &mut self,
        from: Rank,
        number: u32,
        answer: RequestAnswer,
    ) -> Result<Vec<W>, Error> {
        let waits = self.requests.answered(from, number, answer);
        waits.map(Vec::from_iter).ok_or(Error::Stray { from })
    }

    /// A message has begun whose sender asks first, at a port that is used so. If this rank waits
    /// for the sender's own answer, and nobody can read there meanwhile, neither would ever read:
    /// then it is granted at once.
    #[cold]
    pub fn requested(
        &mut self,
        from: Rank,
        header: &PacketHeader,
        usage: Usage,
    ) -> Option<PacketHeader> {
        let grants = usage.is_unread
            && self.requests.wait_for(from)
            && self.has_memory()
            && !self.has(Planted::IgnoreWaiting)
            && self.arrivals.grant(from, header.message);
        grants.then(|| RequestAnswer::Granted.header(header.port, header.message))
    }

    /// The sender of a message has given it up; it was taken out of the queue of its port, or was
    /// not there. What is left of it.
    ///
    /// # Errors
    /// [`Error::Stray`]: no rank sends that.
    #[cold]
    pub fn cancelled(
        &mut self,
        from: Rank,
        header: &PacketHeader,
        was_queued: bool,
    ) -> Result<EndedMessage<P, W>, Error> {
        self.arrivals.cancel(from, header, was_queued).ok_or(Error::Stray { from })
    }

    /// The next part of an arriving message; else leaves `waiter` for it, and may grant what its
    /// sender asks.
    pub fn take_part(&mut self, body: &MessageBody, waiter: Option<&W>) -> TakenPart<P> {
        let taken = self.arrivals.take_part(body.from, body.number, waiter);
        match taken {
            TakenPart::Nothing { .. } if self.has(Planted::GrantAgain) => {
                TakenPart::Nothing { grant: true }
            }
            taken => taken,
        }
    }

    /// The reader of an arriving message wants no more of it.
    pub fn abandon(&mut self, body: &MessageBody) -> EndedMessage<P, W> {
        self.arrivals.abandon(body.from, body.number)
    }

    /// True if a message is all here, or never will be.
    pub fn is_complete(&self, body: &MessageBody) -> bool {
        self.arrivals.is_complete(body)
    }

    /// A packet that was kept in link memory is there no more.
    pub fn gave_back(&mut self, from: Rank) {
        let kept = self.kept.entry(from);
        i16_kept_is_counted(*kept > 0);
        *kept -= 1;
    }

    /// A packet of a message that had cost so much memory was consumed: how many of its flow in
    /// all, if its sender is to be told.
    #[inline(always)]
    pub fn consumed(&mut self, body: &MessageBody, flow: Flow, cost: usize) -> Option<u32> {
        self.copied_bytes -= cost;
        let window = self.report_window();
        let incoming = &mut self.ports.at(body.slot).incoming;
        let report = incoming.consumed(body.from, flow, window);
        report.filter(|_| body.from != self.own)
    }

    /// Packets of a window; half as many are reported at once.
    #[inline(always)]
    fn report_window(&self) -> u32 {
        let window = self.limits.window;
        if self.has(Planted::ReportLate) { 2 * window + 2 } else { window }
    }

    /// Takes room for one packet to `to` in the window of the port in `slot`; false if there is
    /// none.
    #[inline]
    pub fn claim(&mut self, slot: usize, to: Rank) -> bool {
        to == self.own || self.ports.at(slot).outgoing.claim(to, self.limits.window)
    }

    /// Does what [`Self::claim`] does, for a short packet with all of a message, whose number this
    /// is. None leaves for this rank itself.
    #[inline(always)]
    pub fn claim_short(&mut self, slot: usize, to: Rank) -> Option<u32> {
        if to == self.own || !self.claim(slot, to) {
            return None;
        }
        Some(self.next_message_number())
    }

    #[inline]
    fn next_message_number(&mut self) -> u32 {
        self.counters.messages_sent += 1;
        self.counters.messages_sent as u32
    }

    /// True if a multicast to `group` may leave before anybody's window is looked at.
    pub fn has_slack(&mut self, slot: usize, group: Group) -> bool {
        self.ports.at(slot).outgoing.has_slack(group)
    }

    /// Leaves `waiter` to be told when a port elsewhere has room, or is known not to be there.
    pub fn wait_at(&mut self, slot: usize, waiter: Option<&W>) {
        register(&mut self.ports.at(slot).senders, waiter);
    }

    /// The rank among the receivers that has answered that it has no such port. It is forgotten,
    /// and so is, of a group, who else has: what is left would be taken for an answer to the next
    /// one's question.
    pub fn take_refusal(&mut self, slot: usize, to: To) -> Option<Rank> {
        let refused = &mut self.ports.at(slot).refused;
        match to {
            To::Rank(rank) => refused.remove(&rank).then_some(rank),
            To::Group(_) => std::mem::take(refused).pop_first(),
        }
    }

    /// The member of a group that has consumed least of what was sent to it.
    pub fn slowest(&mut self, slot: usize, group: Group, members: &[Rank]) -> Option<Rank> {
        self.ports.at(slot).outgoing.slowest(group, members)
    }

    /// A send begins to wait for its receivers. `blocks` says that its thread waits with it.
    pub fn stall(&mut self, blocks: bool) {
        self.stalled += 1;
        self.blocked += u32::from(blocks);
    }

    /// A send that [waited](Self::stall) goes on, or is given up.
    pub fn go_on(&mut self, blocks: bool) {
        self.stalled -= 1;
        self.blocked -= u32::from(blocks);
    }

    /// True if a handler may wait for the rest of a message of `from`: I17, nobody waits in a ring.
    ///
    /// A handler runs on the stack of whoever polls, which may be a thread that is blocked in a
    /// send. What the handler waits for may in turn be a send that is below a handler in the stack
    /// of `from`, and so on. So above a blocked send it waits for ranks below its own only: the
    /// handlers of no ring of ranks can do that. What else has come is put off until all of it is
    /// here, or the send has ended; who complains meanwhile is [relieved](Self::told), as long as
    /// there is memory for it.
    #[inline]
    pub fn may_wait_for(&self, from: Rank) -> bool {
        self.blocked == 0 || from < self.own || !self.has_memory() || self.has(Planted::RunAbove)
    }

    /// Packets in link memory that nobody has read.
    pub fn unread(&self) -> u64 {
        self.kept.iter().map(|kept| u64::from(*kept)).sum()
    }

    /// Bytes that were copied out and that nobody has read.
    pub fn copied_bytes(&self) -> usize {
        self.copied_bytes
    }

    /// All waiters: for a message, for room, or for an answer.
    pub fn drain_waiters(&mut self) -> Vec<W> {
        let mut waiters = Vec::new();
        self.ports.iter_mut().for_each(|port| waiters.append(&mut port.senders));
        waiters.extend(self.arrivals.drain_waiters());
        waiters.extend(self.requests.drain_waiters());
        waiters
    }

    /// True if no message is under way, and nobody is to be told anything.
    pub fn is_quiet(&self) -> bool {
        self.arrivals.is_empty() && self.requests.is_empty() && self.owed.is_empty()
    }

    /// Makes a mistake from here on.
    #[cfg(feature = "planted")]
    pub fn plant(&mut self, bug: Option<Planted>) {
        self.planted = bug;
    }

    /// True if it makes this mistake.
    #[cfg(feature = "planted")]
    pub fn has(&self, bug: Planted) -> bool {
        self.planted == Some(bug)
    }

    #[cfg(not(feature = "planted"))]
    #[inline(always)]
    pub(crate) fn has(&self, _: Planted) -> bool {
        false
    }
}

/// The flow that a control packet is about.
fn flow_of(header: &PacketHeader) -> Flow {
    header.group().map(Group::numbered)
}

/// Adds `waiter` to others, once.
pub(crate) fn register<W: Wakeable>(waiters: &mut Vec<W>, waiter: Option<&W>) {
    if let Some(waiter) = waiter
        && !waiters.iter().any(|other| other.is(waiter))
    {
        waiters.push(waiter.clone());
    }
}
