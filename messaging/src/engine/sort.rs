//! From packets to messages: sorting what arrives, giving back what was read, and control packets.

use super::Engine;
use crate::announced::{Announced, Asker, Work};
use crate::arrived::{Arrived, Body, Content, Part, SHORT_BYTES};
use crate::error::Error;
use crate::format::{self, Kind, PacketHeader};
use crate::rendezvous::Answer;
use crate::send::{To, try_packet};
use crate::state::{State, UNMADE_LIMIT};
use std::sync::Arc;
use std::task::Waker;
use weft_endpoint::{Group, HeldPacket, Inspect, Rank};

/// Bytes of messages that are copied out of link memory at most, to keep senders going.
const COPY_LIMIT_BYTES: usize = 64 << 20;

/// A look at packets while the network is entered: messages that are short are sorted there.
pub(super) struct Sorter<'a, 'b> {
    pub engine: &'a Arc<Engine>,
    pub asker: Option<&'a Asker<'b>>,
    pub announced: &'a mut Announced,
}

impl Inspect for Sorter<'_, '_> {
    #[inline(always)]
    fn inspect(&mut self, from: Rank, bytes: &[u8]) -> bool {
        self.engine.sort_at_once(from, bytes, self.asker, self.announced)
    }
}

impl Engine {
    /// Sorts a packet into its message, or does what a control packet says.
    #[inline]
    pub(super) fn sort(self: &Arc<Self>, held: HeldPacket) -> Announced {
        let Some(from) = held.source() else { return Work::Handlers.into() };
        let Some((header, bytes)) = PacketHeader::parse(self.packets.read(&held)) else {
            return self.refuse(held, Error::Stray { from });
        };
        let bytes = bytes.len() as u64;
        match header.kind {
            Kind::First | Kind::Whole => self.first(held, from, &header, bytes),
            Kind::Next => self.next(held, from, &header, bytes),
            Kind::Request => self.request(held, from, &header),
            Kind::Grant => self.answered(held, from, &header, Answer::Granted),
            Kind::Unwanted => self.answered(held, from, &header, Answer::Unwanted),
            Kind::Cancel => self.cancelled(held, from, &header),
            Kind::Window | Kind::Probe | Kind::NoPort | Kind::Stalled | Kind::Waiting => {
                self.control(held, from, &header)
            }
        }
    }

    /// Sorts a packet, while the network is entered, if all of a message is in it and it is short;
    /// false for any other. It is copied, so that its sender has the credit back at once.
    #[inline(always)]
    pub(super) fn sort_at_once(
        self: &Arc<Self>,
        from: Rank,
        packet: &[u8],
        asker: Option<&Asker<'_>>,
        announced: &mut Announced,
    ) -> bool {
        let Some((header, rest)) = short_message(packet) else { return false };
        let asker = asker.filter(|asker| asker.wants(from, &header, rest, self.queued()));
        if let Some(asker) = asker {
            self.count_received();
            if asker.copy(self, from, &header, rest) {
                return true;
            }
        }
        let mut arrived = Arrived::blank(self);
        arrived.begin_short(from, &header, rest);
        match asker {
            Some(asker) => asker.give(arrived),
            None => return self.state.enter().sort_short(self, arrived, announced),
        }
        true
    }

    #[inline]
    fn first(
        self: &Arc<Self>,
        held: HeldPacket,
        from: Rank,
        header: &PacketHeader,
        bytes: u64,
    ) -> Announced {
        let mut arrived = Arrived::blank(self);
        let mut state = self.state.enter();
        let checked = state.arrivals.check_first(from, header, bytes);
        let slot = checked.and_then(|()| {
            let slot = state.ports.find(header.port, from);
            slot.ok_or(Error::UnmadePorts { from, limit: UNMADE_LIMIT })
        });
        let slot = match slot {
            Ok(slot) => slot,
            Err(error) => {
                drop(state);
                arrived.retire();
                return self.refuse(held, error);
            }
        };
        let body = Body::new(from, held.group(), header, slot);
        let at_most = match state.runs_now(slot) {
            // What a handler reads at once is kept by nobody.
            true => self.keep_at_most.max(1),
            false => self.keep_at_most,
        };
        let mut content = Content::Held(held);
        if is_crowded(&mut state, from, at_most) {
            drop(state);
            content = self.copy_out(content);
            state = self.state.enter();
        }
        arrived.body = body;
        arrived.begin(content, header.bytes_at(), header.header_bytes);
        if bytes < body.length {
            state.arrivals.begin(&body, bytes, header.kind);
        }
        let mut announced = Announced::default();
        if let Some(arrived) = state.offer(self, arrived, bytes == body.length, &mut announced) {
            announced.work = state.queue(self, arrived);
        }
        announced
    }

    fn next(&self, held: HeldPacket, from: Rank, header: &PacketHeader, bytes: u64) -> Announced {
        let mut state = self.state.enter();
        let continues = state.arrivals.continues(from, header, bytes);
        let Some(slot) = state.ports.find(header.port, from).filter(|_| continues) else {
            drop(state);
            return self.refuse(held, Error::Stray { from });
        };
        let body = Body::new(from, held.group(), header, slot);
        let mut part = Part { content: Content::Held(held), start: header.bytes_at() };
        // What nobody wants counts as kept until it is given back.
        if is_crowded(&mut state, from, self.keep_at_most) {
            drop(state);
            part.content = self.copy_out(part.content);
            state = self.state.enter();
        }
        let (unwanted, reader) = state.arrivals.arrived(from, header.message, bytes, part);
        let resumes = state.resume_deferred();
        drop(state);
        if let Some(mut part) = unwanted {
            self.give_back(&body, &mut part.content);
        }
        // A reader that left no waker polls by itself.
        let needs_no_run = reader.is_none() && !resumes;
        reader.into_iter().for_each(Waker::wake);
        if needs_no_run { Work::None.into() } else { Work::Handlers.into() }
    }

    fn control(&self, mut held: HeldPacket, from: Rank, header: &PacketHeader) -> Announced {
        let flow = header.group().map(Group::numbered);
        let complains_of = flow.filter(|_| header.kind == Kind::Stalled);
        let is_members = complains_of.is_none_or(|group| self.is_member(group, from));
        let mut state = self.state.enter();
        let Some(slot) = state.ports.known(header.port) else {
            drop(state);
            return self.about_no_port(held, from, header);
        };
        let nobody_reads = state.stalled > 0 && state.copied_bytes < COPY_LIMIT_BYTES;
        let asks = state.asking > 0;
        let port = state.ports.at(slot);
        let (mut wakers, mut answer, mut legal) = (Vec::new(), None, true);
        match header.kind {
            Kind::Window => {
                legal = port.outgoing.reported(from, flow, header.message);
                wakers = std::mem::take(&mut port.senders);
            }
            Kind::Stalled if nobody_reads && port.is_unread() && is_members => {
                let report = port.incoming.advance(from, flow, header.message);
                answer =
                    report.map(|report| PacketHeader::window(header.port, header.group(), report));
            }
            Kind::Waiting if nobody_reads && (asks || port.is_unread()) => {
                let number = header.message;
                let grant = state.arrivals.grant(from, number);
                answer = grant.then(|| Answer::Granted.header(header.port, number));
            }
            Kind::Probe if port.name.is_none() => {
                answer = Some(PacketHeader::about(header.port, Kind::NoPort));
            }
            Kind::NoPort => {
                port.refused.insert(from);
                wakers = std::mem::take(&mut port.senders);
            }
            _ => {}
        }
        drop(state);
        self.packets.release(&mut held);
        if !legal {
            self.fail(Error::Stray { from });
        }
        answer.into_iter().for_each(|answer| self.tell(To::Rank(from), answer));
        wakers.into_iter().for_each(Waker::wake);
        Work::Handlers.into()
    }

    /// A control packet for a port that this rank has neither created nor sent to, and that no
    /// message has come for. Nothing is kept for it, whatever its number: it is answered or passed
    /// over, or nobody sends it.
    #[cold]
    fn about_no_port(&self, held: HeldPacket, from: Rank, header: &PacketHeader) -> Announced {
        match header.kind {
            Kind::Window | Kind::NoPort => return self.refuse(held, Error::Stray { from }),
            Kind::Probe => {
                self.tell(To::Rank(from), PacketHeader::about(header.port, Kind::NoPort));
            }
            // The multicasts that they are about may be on another way.
            _ => {}
        }
        let mut held = held;
        self.packets.release(&mut held);
        Work::Handlers.into()
    }

    /// True if `from` may send to a group that this rank has created.
    fn is_member(&self, group: Group, from: Rank) -> bool {
        let is_in = |members: Vec<Rank>| members.contains(&from);
        group == Group::ALL || self.packets.members(group).is_some_and(is_in)
    }

    /// A message begins whose sender asks first. It has its place as any has. If this rank waits
    /// for the sender's own answer, neither would ever read: then it is granted at once. So is what
    /// a handler would read that cannot run before all of it is here, because the thread that would
    /// run it asks somebody.
    #[cold]
    fn request(self: &Arc<Self>, held: HeldPacket, from: Rank, header: &PacketHeader) -> Announced {
        let announcement = self.first(held, from, header, 0);
        let mut state = self.state.enter();
        let Some(slot) = state.ports.known(header.port) else { return announcement };
        let is_unread = state.ports.at(slot).is_unread();
        let crosses = if is_unread { state.requests.wait_for(from) } else { state.asking > 0 };
        let grants = crosses && state.copied_bytes < COPY_LIMIT_BYTES;
        if grants && state.arrivals.grant(from, header.message) {
            drop(state);
            self.answer(from, header.port, header.message, Answer::Granted);
        }
        announcement
    }

    /// A receiver has answered a request of this rank.
    #[cold]
    fn answered(
        &self,
        mut held: HeldPacket,
        from: Rank,
        header: &PacketHeader,
        answer: Answer,
    ) -> Announced {
        let waits = self.state.enter().requests.answered(from, header.message, answer);
        let Some(waits) = waits else { return self.refuse(held, Error::Stray { from }) };
        self.packets.release(&mut held);
        waits.into_iter().for_each(Waker::wake);
        Work::Handlers.into()
    }

    /// The sender of a message has given it up: if nobody has taken it yet, it was never there.
    #[cold]
    fn cancelled(
        self: &Arc<Self>,
        mut held: HeldPacket,
        from: Rank,
        header: &PacketHeader,
    ) -> Announced {
        let mut state = self.state.enter();
        let Some(slot) = state.ports.known(header.port) else {
            drop(state);
            return self.refuse(held, Error::Stray { from });
        };
        let arrived = state.ports.at(slot).unqueue(from, header.message);
        let ended = state.arrivals.cancel(from, header, arrived.is_some());
        drop(state);
        let Some(ended) = ended else { return self.refuse(held, Error::Stray { from }) };
        let body = Body::new(from, held.group(), header, slot);
        self.packets.release(&mut held);
        ended.parts.into_iter().for_each(|mut part| self.give_back(&body, &mut part.content));
        arrived.into_iter().for_each(|arrived| drop(self.open(arrived)));
        if ended.answer {
            self.answer(from, header.port, header.message, Answer::Unwanted);
        }
        ended.reader.into_iter().for_each(Waker::wake);
        Work::Handlers.into()
    }

    /// Answers the request of message `number`.
    pub(super) fn answer(&self, to: Rank, port: u32, number: u32, answer: Answer) {
        self.tell(To::Rank(to), answer.header(port, number));
    }

    /// Takes a packet out of link memory: its sender has spent much of its window on packets that
    /// nobody reads. It must be able to go on, or two ranks that send much to each other before
    /// they read would stop for ever (careful-protocols 5.3).
    #[cold]
    fn copy_out(&self, content: Content) -> Content {
        let Content::Held(mut held) = content else { return content };
        let copy: Box<[u8]> = self.packets.read(&held).into();
        self.packets.copied(copy.len());
        self.packets.release(&mut held);
        let copied = Content::Copied(copy);
        let mut state = self.state.enter();
        state.copied_bytes += copied.cost();
        state.statistics.packets_copied_out += 1;
        copied
    }

    #[cold]
    pub(super) fn refuse(&self, mut held: HeldPacket, error: Error) -> Announced {
        self.packets.release(&mut held);
        self.fail(error);
        Work::Handlers.into()
    }

    /// The reader is done with what was in a packet, if there is any.
    #[inline(never)]
    pub(crate) fn give_back(&self, body: &Body, content: &mut Content) {
        if let Content::Nothing = content {
            return;
        }
        if let Content::Held(held) = content {
            self.packets.release(held);
        }
        let mut state = self.state.enter();
        if let Content::Held(_) = content {
            *state.kept.entry(body.from) -= 1;
        }
        let report = state.consumed(body, body.flow, content.cost());
        drop(state);
        *content = Content::Nothing;
        if let Some(consumed) = report {
            self.report(body, consumed);
        }
    }

    /// The reader is done with a short packet, which is no multicast, and had cost so much memory.
    #[inline(always)]
    pub(crate) fn consumed(&self, body: &Body, cost: usize) {
        let report = self.state.enter().consumed(body, None, cost);
        if let Some(consumed) = report {
            self.report(body, consumed);
        }
    }

    #[cold]
    #[inline(never)]
    fn report(&self, body: &Body, consumed: u32) {
        let group = body.flow.map(|group| group.number());
        self.tell_window(body.from, PacketHeader::window(body.port, group, consumed));
    }

    /// The reader of an arriving message wants no more of it.
    pub(crate) fn abandon(&self, body: &Body) {
        let ended = self.state.enter().arrivals.abandon(body.from, body.number);
        ended.parts.into_iter().for_each(|mut part| self.give_back(body, &mut part.content));
        if ended.answer {
            self.answer(body.from, body.port, body.number, Answer::Unwanted);
        }
    }

    /// Tells a sender of a window, of which it has half left. It may leave with an answer.
    pub(crate) fn tell_window(&self, to: Rank, header: PacketHeader) {
        self.packets.aside(|| self.tell(To::Rank(to), header));
    }

    /// Sends a control packet, or leaves it for later if there is no frame.
    pub(crate) fn tell(&self, to: To, header: PacketHeader) {
        if !self.try_tell(to, header) {
            let kept = self.state.enter().owed.push(to, header);
            self.note_pending();
            if let Err(violation) = kept {
                self.fail(violation);
            }
        }
    }

    pub(super) fn try_tell(&self, to: To, header: PacketHeader) -> bool {
        if let To::Rank(rank) = to
            && self.packets.short_payload(rank) >= format::SIZE
            && self.packets.send_short(rank, &[&header.emit()[..]])
        {
            return true;
        }
        // That the pool is exhausted, or the receiver gone, shows where the program sends.
        let Ok(Some(mut packet)) = try_packet(self, to) else { return false };
        let filled = packet.put(&header.emit()).is_ok();
        filled
            && match to {
                To::Rank(rank) => packet.unicast(rank).is_ok(),
                To::Group(group) => packet.multicast(group).is_ok(),
            }
    }

    #[cold]
    pub(super) fn pay_owed(&self) {
        while let Some((to, header)) = {
            let mut state = self.state.enter();
            state.owed.pop()
        } {
            if !self.try_tell(to, header) {
                self.state.enter().owed.put_back(to, header);
                return self.note_pending();
            }
        }
    }
}

/// The header of a short message, and what follows it; `None` if the packet is anything else.
#[inline(always)]
fn short_message(packet: &[u8]) -> Option<(PacketHeader, &[u8])> {
    match PacketHeader::parse_whole(packet) {
        Some((header, rest)) if rest.len() <= SHORT_BYTES => Some((header, rest)),
        _ => None,
    }
}

impl State {
    /// Brings a short message to its port; false if it would have to wait there, and too much does.
    #[inline(always)]
    fn sort_short(
        &mut self,
        engine: &Engine,
        mut arrived: Box<Arrived>,
        announced: &mut Announced,
    ) -> bool {
        // Who has sent to too many ports is told so where errors are.
        let Some(slot) = self.ports.find(arrived.body.port, arrived.body.from) else {
            return false;
        };
        arrived.body.slot = slot;
        if let Some(arrived) = self.offer(engine, arrived, true, announced) {
            if self.copied_bytes >= COPY_LIMIT_BYTES {
                return false;
            }
            announced.work = self.queue(engine, arrived);
        }
        true
    }
}

/// True if a packet of `from` has to be copied out, because so many are kept; if not, it is
/// counted.
#[inline]
fn is_crowded(state: &mut State, from: Rank, at_most: u32) -> bool {
    let kept = state.kept.entry(from);
    if *kept >= at_most && state.copied_bytes < COPY_LIMIT_BYTES {
        return true;
    }
    *kept += 1;
    false
}
