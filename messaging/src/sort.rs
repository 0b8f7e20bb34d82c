//! From packets to messages: sorting what arrives.
//! The [machine](crate::machine) says what a packet means; here it is done.

use crate::announced::Work;
use crate::arrived::{Arrived, Content, Message, Part, SHORT_BYTES};
use crate::error::Error;
use crate::format::{PacketHeader, PacketKind};
use crate::machine::{MessageBody, To};
use crate::messages::Messages;
use crate::posted_receive::PostedReceive;
use crate::state::Announced;
use std::sync::Arc;
use std::task::Waker;
use weft_endpoint::{Group, HeldPacket, Inspect, Rank};

/// A look at packets while the network is entered: messages that are short are sorted there.
pub(crate) struct AtOnce<'a, 'b> {
    pub messages: &'a Arc<Messages>,
    pub posted: Option<&'a PostedReceive<'b>>,
    pub announced: &'a mut Announced,
}

/// Sorting of packets that are held.
pub(crate) struct Sorter<'a> {
    pub messages: &'a Arc<Messages>,
}

impl Inspect for AtOnce<'_, '_> {
    /// Sorts a packet if all of a message is in it and it is short; false for any other. It is
    /// copied, so that its sender has the credit back at once.
    #[inline(always)]
    fn inspect(&mut self, from: Rank, packet: &[u8]) -> bool {
        let Some((header, rest)) = short_message(packet) else { return false };
        let Messages { packets, state, counts, .. } = &**self.messages;
        let posted =
            self.posted.filter(|posted| posted.wants(from, &header, rest, counts.queued()));
        if let Some(posted) = posted {
            counts.count_received();
            if posted.copy(self.messages, from, &header, rest) {
                return true;
            }
        }
        let mut arrived = Arrived::blank(self.messages);
        arrived.begin_short(from, &header, rest);
        match posted {
            Some(posted) => posted.give(arrived),
            None => return state.enter().sort_short(packets, counts, arrived, self.announced),
        }
        true
    }
}

impl Sorter<'_> {
    /// Sorts a packet into its message, or does what a control packet says.
    #[inline]
    pub fn sort(&self, held: HeldPacket) -> Announced {
        let Some(from) = held.source() else { return Work::Handlers.into() };
        let Some((header, bytes)) = PacketHeader::parse(self.messages.packets.read(&held)) else {
            return self.refuse(held, Error::Stray { from });
        };
        let bytes = bytes.len() as u64;
        match header.kind {
            PacketKind::First | PacketKind::Whole => self.first(held, from, &header, bytes),
            PacketKind::Next => self.next(held, from, &header, bytes),
            PacketKind::Request => self.request(held, from, &header),
            PacketKind::Cancel => self.cancelled(held, from, &header),
            _ => self.told(held, from, &header),
        }
    }

    #[inline]
    fn first(&self, held: HeldPacket, from: Rank, header: &PacketHeader, bytes: u64) -> Announced {
        let mut arrived = Arrived::blank(self.messages);
        let mut state = self.messages.state.enter();
        let slot = match state.machine.admit(from, header, bytes) {
            Ok(slot) => slot,
            Err(error) => {
                drop(state);
                arrived.retire();
                return self.refuse(held, error);
            }
        };
        let body = MessageBody::new(from, held.group(), header, slot);
        let at_most = match state.runs_now(slot) {
            // What a handler reads at once is kept by nobody.
            true => self.messages.keep_at_most.max(1),
            false => self.messages.keep_at_most,
        };
        let mut content = Content::Held(held);
        if !state.machine.keeps(from, at_most) {
            drop(state);
            content = self.copy_out(content);
            state = self.messages.state.enter();
        }
        arrived.body = body;
        arrived.begin(content, header.bytes_at(), header.header_bytes);
        state.machine.begin(&body, bytes, header.kind);
        let mut announced = Announced::default();
        let Messages { packets, counts, .. } = &**self.messages;
        let is_whole = bytes == body.length;
        if let Some(arrived) = state.offer(packets, counts, arrived, is_whole, &mut announced) {
            announced.work = state.queue(counts, arrived);
        }
        announced
    }

    fn next(&self, held: HeldPacket, from: Rank, header: &PacketHeader, bytes: u64) -> Announced {
        let mut state = self.messages.state.enter();
        let slot = match state.machine.admit(from, header, bytes) {
            Ok(slot) => slot,
            Err(error) => {
                drop(state);
                return self.refuse(held, error);
            }
        };
        let body = MessageBody::new(from, held.group(), header, slot);
        let mut part = Part { content: Content::Held(held), start: header.bytes_at() };
        // A message that nobody wants counts as kept until it is given back.
        if !state.machine.keeps(from, self.messages.keep_at_most) {
            drop(state);
            part.content = self.copy_out(part.content);
            state = self.messages.state.enter();
        }
        let continued = state.machine.continued(from, header.message, bytes, part);
        let resumes = state.dispatch.resume_deferred();
        drop(state);
        if let Some(mut part) = continued.unwanted {
            self.messages.give_back(&body, &mut part.content);
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
        let complains_of = flow.filter(|_| header.kind == PacketKind::Stalled);
        let is_members = complains_of.is_none_or(|group| self.is_member(group, from));
        let mut state = self.messages.state.enter();
        let port = state.usage(header.port);
        let told = state.machine.told(from, header, port, is_members);
        drop(state);
        match told {
            Ok(told) => {
                self.messages.packets.release(&mut held);
                if let Some(answer) = told.answer {
                    self.messages.tell(To::Rank(from), answer);
                }
                told.wakes.into_iter().for_each(Waker::wake);
                Work::Handlers.into()
            }
            Err(error) => self.refuse(held, error),
        }
    }

    /// True if `from` may send to a group that this rank has created.
    fn is_member(&self, group: Group, from: Rank) -> bool {
        let packets = &self.messages.packets;
        let is_in = |members: Vec<Rank>| members.contains(&from);
        match group {
            Group::ALL => from.index() < packets.size(),
            _ => packets.members(group).is_some_and(is_in),
        }
    }

    /// A message begins whose sender asks first. It has its place as any has.
    #[cold]
    fn request(&self, held: HeldPacket, from: Rank, header: &PacketHeader) -> Announced {
        let announcement = self.first(held, from, header, 0);
        let mut state = self.messages.state.enter();
        let usage = state.usage(header.port);
        let grant = usage.and_then(|(_, usage)| state.machine.requested(from, header, usage));
        drop(state);
        grant.into_iter().for_each(|grant| self.messages.tell(To::Rank(from), grant));
        announcement
    }

    /// The sender of a message has given it up: if nobody has taken it yet, it was never there.
    #[cold]
    fn cancelled(&self, mut held: HeldPacket, from: Rank, header: &PacketHeader) -> Announced {
        let mut state = self.messages.state.enter();
        let Some(slot) = state.machine.ports.known(header.port) else {
            drop(state);
            return self.refuse(held, Error::Stray { from });
        };
        let is_it = |body: &MessageBody| body.from == from && body.number == header.message;
        let arrived = state.dispatch.take_queued(slot, |arrived| is_it(&arrived.body));
        let ended = state.machine.cancelled(from, header, arrived.is_some());
        drop(state);
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => return self.refuse(held, error),
        };
        let body = MessageBody::new(from, held.group(), header, slot);
        self.messages.packets.release(&mut held);
        arrived.into_iter().for_each(|arrived| drop(Message::new(self.messages, arrived)));
        self.messages.end(&body, ended);
        Work::Handlers.into()
    }

    /// Takes a packet out of link memory: its sender has spent much of its window on packets that
    /// nobody reads. It must be able to go on, or two ranks that send much to each other before
    /// they read would stop for ever (careful-protocols 5.3).
    #[cold]
    fn copy_out(&self, content: Content) -> Content {
        let Content::Held(mut held) = content else { return content };
        let copy: Box<[u8]> = self.messages.packets.read(&held).into();
        self.messages.packets.copied(copy.len());
        self.messages.packets.release(&mut held);
        let copied = Content::Copied(copy);
        self.messages.state.enter().machine.copied_out(copied.cost());
        copied
    }

    #[cold]
    fn refuse(&self, mut held: HeldPacket, error: Error) -> Announced {
        self.messages.packets.release(&mut held);
        self.messages.fail(error);
        Work::Handlers.into()
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
