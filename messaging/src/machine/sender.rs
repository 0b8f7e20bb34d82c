//! A message on its way out: what its next packet is, and when that may leave.

use super::invariants::i12_granted_first;
use super::planted::Planted;
use super::requests::RequestAnswer;
use super::windows::To;
use super::{Machine, Wakeable};
use crate::format::{self, PacketHeader, PacketKind};
use weft_endpoint::Rank;

/// A message that was sent up to some byte. Each of its packets takes room first
/// ([`Self::claim`]), then is [headed](Self::head) and [launched](Self::launched).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sender {
    to: To,
    /// Slot of the port that it is for.
    slot: usize,
    header: PacketHeader,
    sent: u64,
    total: u64,
    /// Room at the receivers for one packet was taken.
    claimed: bool,
    /// Its receiver was asked, and has not answered.
    asking: bool,
}

impl Sender {
    /// A message of `total` bytes to the port `number`, which is in `slot`; nothing of it has left.
    /// Its first packet is of this kind: [`PacketKind::First`], or [`PacketKind::Request`].
    #[inline]
    pub fn new(to: To, (number, slot): (u32, usize), total: u64, kind: PacketKind) -> Self {
        let header = PacketHeader::of_message(number, kind, 0, total);
        Sender { to, slot, header, sent: 0, total, claimed: false, asking: false }
    }

    /// Does what [`Self::new`] does, with so many bytes of headers of the layers above.
    #[inline]
    pub fn with_headers(mut self, header_bytes: u8) -> Self {
        self.header.header_bytes = header_bytes;
        self
    }

    /// Notes that the message has a number, and room for one packet, if it has.
    #[inline]
    pub fn set_room(&mut self, number: Option<u32>) {
        self.header.message = number.unwrap_or(0);
        self.claimed = number.is_some();
    }

    /// Its receivers.
    #[inline]
    pub fn to(&self) -> To {
        self.to
    }

    /// The slot of its port.
    #[inline]
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// Bytes of it that have left.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes that have not left.
    #[inline]
    pub fn left(&self) -> u64 {
        self.total - self.sent
    }

    /// True if its next packet asks for what follows it.
    #[inline]
    pub fn is_to_ask(&self) -> bool {
        self.header.kind == PacketKind::Request
    }

    /// True if its receiver was asked, and has not answered.
    #[inline]
    pub fn is_asking(&self) -> bool {
        self.asking
    }

    /// True if room for the next packet was taken.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.claimed
    }

    /// Takes room for the next packet, if it is not taken yet; false if there is none: its sender
    /// waits, or [overdraws](Self::overdraw). `members` are those
    /// of the group that it is for; nobody asks for them where there is
    /// [slack](Machine::has_slack). `waits` says whether its sender may wait: who handles a message
    /// waits for nobody, and asks nobody; nor is a rank asked about any number of messages at once.
    #[inline]
    pub fn claim<P, W: Wakeable>(
        &mut self,
        machine: &mut Machine<P, W>,
        members: &[Rank],
        waits: bool,
    ) -> bool {
        if self.claimed {
            return true;
        }
        if self.header.kind != PacketKind::Next && self.header.message == 0 {
            self.header.message = machine.next_message_number();
            if self.header.kind == PacketKind::Request && !(waits && self.may_ask(machine)) {
                self.header.kind = PacketKind::First;
            }
        }
        self.claimed = match self.to {
            To::Rank(rank) => machine.claim(self.slot, rank),
            To::Group(group) => {
                let window = machine.limits.window;
                machine.ports.at(self.slot).outgoing.claim_multicast(group, window, members)
            }
        };
        self.claimed
    }

    fn may_ask<P, W: Wakeable>(&self, machine: &Machine<P, W>) -> bool {
        matches!(self.to, To::Rank(rank) if machine.requests.may_ask(rank))
    }

    /// Takes room for the next packet though there is none.
    #[cold]
    pub fn overdraw<P, W: Wakeable>(&mut self, machine: &mut Machine<P, W>) {
        let port = machine.ports.at(self.slot);
        match self.to {
            To::Rank(rank) => port.outgoing.overdraw(rank),
            To::Group(group) => port.outgoing.overdraw_multicast(group),
        }
        machine.counters.overdrafts += 1;
        self.claimed = true;
    }

    /// The header of the next packet in a frame with room for so many bytes. Its length may be that
    /// of all of the message.
    #[inline]
    pub fn head(&mut self, room: usize) -> PacketHeader {
        i12_granted_first(!self.asking);
        let left = self.left() as usize;
        self.header.aligned = format::is_aligned(room, left);
        if self.header.kind == PacketKind::First
            && matches!(self.to, To::Rank(_))
            && self.header.bytes_at() + left <= room
        {
            self.header.kind = PacketKind::Whole;
        }
        self.header
    }

    /// The header of the request that is the next packet, which is about to leave.
    #[cold]
    pub fn ask<P, W: Wakeable>(&mut self, machine: &mut Machine<P, W>) -> PacketHeader {
        if let To::Rank(rank) = self.to {
            machine.requests.ask(rank, self.header.message);
        }
        self.header
    }

    /// The request has left, or has not.
    #[cold]
    pub fn asked<P, W: Wakeable>(&mut self, machine: &mut Machine<P, W>, has_left: bool) {
        match self.to {
            To::Rank(rank) if !has_left => machine.requests.forget(rank, self.header.message),
            _ => {
                machine.counters.requests += 1;
                self.asking = true;
                self.launched(0);
            }
        }
    }

    /// A packet with `bytes` of the message has left.
    #[inline]
    pub fn launched(&mut self, bytes: u64) {
        self.sent += bytes;
        self.claimed = false;
        self.header.kind = PacketKind::Next;
        self.header.header_bytes = 0;
        self.header.bytes = self.sent;
    }

    /// The answer of its receiver, if it has come: true if it wants the message, false if all of it
    /// is done with. Else leaves `waiter` for it.
    pub fn take_answer<P, W: Wakeable>(
        &mut self,
        machine: &mut Machine<P, W>,
        waiter: Option<&W>,
    ) -> Option<bool> {
        let To::Rank(rank) = self.to else { unreachable!("only single receivers are asked") };
        let answer = machine.requests.take(rank, self.header.message, waiter)?;
        self.asking = false;
        if answer == RequestAnswer::Unwanted {
            self.sent = self.total;
        }
        Some(answer == RequestAnswer::Granted)
    }

    /// Complaint to `rank` of a sender that has waited for long: perhaps nobody can read there now.
    #[cold]
    pub fn complaint<P, W: Wakeable>(
        &self,
        machine: &mut Machine<P, W>,
        rank: Rank,
    ) -> PacketHeader {
        let PacketHeader { port, message, .. } = self.header;
        if self.asking {
            return PacketHeader::of_message(port, PacketKind::Waiting, message, 0);
        }
        let flow = match self.to {
            To::Rank(_) => None,
            To::Group(group) => Some(group),
        };
        let sent = machine.ports.at(self.slot).outgoing.sent(rank, flow);
        PacketHeader::stalled(port, flow.map(|group| group.number()), sent)
    }

    /// True if it has begun, and would end before all of it was sent.
    #[inline]
    pub fn is_unfinished(&self) -> bool {
        self.header.kind == PacketKind::Next && self.sent < self.total
    }

    /// It ends here, before all of it was sent: what its receivers are told, so that they do not
    /// wait for the rest; nothing if none of them knows of it.
    #[cold]
    pub fn give_up<P, W: Wakeable>(&mut self, machine: &mut Machine<P, W>) -> Option<PacketHeader> {
        let PacketHeader { port, message, .. } = self.header;
        let is_known = match self.to {
            To::Rank(rank) if self.asking && machine.has(Planted::ForgetWithdrawn) => {
                machine.requests.forget(rank, message);
                true
            }
            To::Rank(rank) if self.asking => machine.requests.withdraw(rank, message),
            _ => true,
        };
        is_known.then(|| PacketHeader::of_message(port, PacketKind::Cancel, message, self.sent))
    }
}
