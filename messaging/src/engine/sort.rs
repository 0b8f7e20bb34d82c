//! From packets to messages: sorting what arrives, giving back what was read, and control packets.
//! The [machine](crate::machine) says what a packet means; here it is done.

use super::Engine;
use crate::announced::{Announced, Asker, Work};
use crate::arrived::{Arrived, Content, Part, SHORT_BYTES};
use crate::error::Error;
use crate::format::{self, Kind, PacketHeader};
use crate::machine::{Answer, Body, Ended, To};
use crate::send::try_packet;
use crate::state::State;
use std::sync::Arc;
use std::task::Waker;
use weft_endpoint::{Group, HeldPacket, Inspect, Rank};

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
            Kind::Cancel => self.cancelled(held, from, &header),
            _ => self.told(held, from, &header),
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
        let slot = match state.machine.admit(from, header, bytes) {
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
        if !state.machine.keeps(from, at_most) {
            drop(state);
            content = self.copy_out(content);
            state = self.state.enter();
        }
        arrived.body = body;
        arrived.begin(content, header.bytes_at(), header.header_bytes);
        state.machine.begin(&body, bytes, header.kind);
        let mut announced = Announced::default();
        if let Some(arrived) = state.offer(self, arrived, bytes == body.length, &mut announced) {
            announced.work = state.queue(self, arrived);
        }
        announced
    }

    fn next(&self, held: HeldPacket, from: Rank, header: &PacketHeader, bytes: u64) -> Announced {
        let mut state = self.state.enter();
        let slot = match state.machine.admit(from, header, bytes) {
            Ok(slot) => slot,
            Err(error) => {
                drop(state);
                return self.refuse(held, error);
            }
        };
        let body = Body::new(from, held.group(), header, slot);
        let mut part = Part { content: Content::Held(held), start: header.bytes_at() };
        // What nobody wants counts as kept until it is given back.
        if !state.machine.keeps(from, self.keep_at_most) {
            drop(state);
            part.content = self.copy_out(part.content);
            state = self.state.enter();
        }
        let continued = state.machine.continued(from, header.message, bytes, part);
        let resumes = state.dispatch.resume_deferred();
        drop(state);
        if let Some(mut part) = continued.unwanted {
            self.give_back(&body, &mut part.content);
        }
        // A reader that left no waker polls by itself.
        let needs_no_run = continued.reader.is_none() && !resumes;
        continued.reader.into_iter().for_each(Waker::wake);
        if needs_no_run { Work::None.into() } else { Work::Handlers.into() }
    }

    /// Takes what a packet without bytes tells.
    #[cold]
    fn told(&self, mut held: HeldPacket, from: Rank, header: &PacketHeader) -> Announced {
        let flow = header.group().map(Group::numbered);
        let complains_of = flow.filter(|_| header.kind == Kind::Stalled);
        let is_members = complains_of.is_none_or(|group| self.is_member(group, from));
        let mut state = self.state.enter();
        let port = state.usage(header.port);
        let told = state.machine.told(from, header, port, is_members);
        drop(state);
        match told {
            Ok(told) => {
                self.packets.release(&mut held);
                told.answer.into_iter().for_each(|answer| self.tell(To::Rank(from), answer));
                told.wakes.into_iter().for_each(Waker::wake);
                Work::Handlers.into()
            }
            Err(error) => self.refuse(held, error),
        }
    }

    /// True if `from` may send to a group that this rank has created.
    fn is_member(&self, group: Group, from: Rank) -> bool {
        let is_in = |members: Vec<Rank>| members.contains(&from);
        group == Group::ALL || self.packets.members(group).is_some_and(is_in)
    }

    /// A message begins whose sender asks first. It has its place as any has.
    #[cold]
    fn request(self: &Arc<Self>, held: HeldPacket, from: Rank, header: &PacketHeader) -> Announced {
        let announcement = self.first(held, from, header, 0);
        let mut state = self.state.enter();
        let usage = state.usage(header.port);
        let grant = usage.and_then(|(_, usage)| state.machine.requested(from, header, usage));
        drop(state);
        grant.into_iter().for_each(|grant| self.tell(To::Rank(from), grant));
        announcement
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
        let Some(slot) = state.machine.ports.known(header.port) else {
            drop(state);
            return self.refuse(held, Error::Stray { from });
        };
        let is_it = |body: &Body| body.from == from && body.number == header.message;
        let arrived = state.dispatch.take_queued(slot, |arrived| is_it(&arrived.body));
        let ended = state.machine.cancelled(from, header, arrived.is_some());
        drop(state);
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => return self.refuse(held, error),
        };
        let body = Body::new(from, held.group(), header, slot);
        self.packets.release(&mut held);
        arrived.into_iter().for_each(|arrived| drop(self.open(arrived)));
        self.end(&body, ended);
        Work::Handlers.into()
    }

    /// Does what is left to do for a message that its sender or its reader wants no more of.
    fn end(&self, body: &Body, ended: Ended<Part, Waker>) {
        ended.parts.into_iter().for_each(|mut part| self.give_back(body, &mut part.content));
        if ended.answer {
            self.answer(body.from, body.port, body.number, Answer::Unwanted);
        }
        ended.reader.into_iter().for_each(Waker::wake);
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
        self.state.enter().machine.copied_out(copied.cost());
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
            state.machine.gave_back(body.from);
        }
        let report = state.machine.consumed(body, body.flow, content.cost());
        drop(state);
        *content = Content::Nothing;
        if let Some(consumed) = report {
            self.report(body, consumed);
        }
    }

    /// The reader is done with a short packet, which is no multicast, and had cost so much memory.
    #[inline(always)]
    pub(crate) fn consumed(&self, body: &Body, cost: usize) {
        let report = self.state.enter().machine.consumed(body, None, cost);
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
        let ended = self.state.enter().machine.abandon(body);
        self.end(body, ended);
    }

    /// Tells a sender of a window, of which it has half left. It may leave with an answer.
    pub(crate) fn tell_window(&self, to: Rank, header: PacketHeader) {
        self.packets.aside(|| self.tell(To::Rank(to), header));
    }

    /// Sends a control packet, or leaves it for later if there is no frame.
    pub(crate) fn tell(&self, to: To, header: PacketHeader) {
        if !self.try_tell(to, header) {
            let kept = self.state.enter().machine.owed.push(to, header);
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
            state.machine.owed.pop()
        } {
            if !self.try_tell(to, header) {
                self.state.enter().machine.owed.put_back(to, header);
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
        let Some(slot) = self.machine.ports.find(arrived.body.port, arrived.body.from) else {
            return false;
        };
        arrived.body.slot = slot;
        if let Some(arrived) = self.offer(engine, arrived, true, announced) {
            if !self.machine.has_memory() {
                return false;
            }
            announced.work = self.queue(engine, arrived);
        }
        true
    }
}
