//! Ports and mailboxes: where messages are delivered (thesis 6.1.3, service access points).

use crate::engine::{Engine, Handler};
use crate::format::{self, Kind, MAX_MESSAGE, PacketHeader};
use crate::headers::HeaderStack;
use crate::message::Message;
use crate::parts::Parts;
use crate::{Error, Result};
use std::sync::Arc;
use weft_packet::{Group, Packets, Rank, SendPacket, Upcalls};

/// A port: messages for it are given to its handler, one at a time and in order. Every rank that
/// receives on a port creates it under the same name; messages that come before that wait.
pub struct Port {
    engine: Arc<Engine>,
    number: u32,
}

/// A port whose messages are asked for.
pub struct Mailbox(Port);

#[derive(Clone, Copy)]
enum To {
    Rank(Rank),
    Group(Group),
}

impl Port {
    /// Creates the port `name` with `handler` for its messages.
    ///
    /// Handlers run whenever this rank waits, polls, or is interrupted: on whatever thread that
    /// happens, one at a time for each port.
    ///
    /// # Errors
    /// [`Error::PortTaken`], [`Error::PortCollision`].
    pub fn new(
        engine: &Arc<Engine>,
        name: &str,
        handler: impl FnMut(Message) + Send + 'static,
    ) -> Result<Self> {
        Self::create(engine, name, Some(Box::new(handler)))
    }

    fn create(engine: &Arc<Engine>, name: &str, handler: Option<Handler>) -> Result<Self> {
        let number = engine.create_port(name, handler)?;
        Ok(Port { engine: Arc::clone(engine), number })
    }

    /// Sends a message to `to`. Returns when all of it is in packets; the receiver may already be
    /// reading then. Blocks, draining the network, while all packets are on their way.
    ///
    /// # Errors
    /// A rank that does not exist, or was lost.
    pub fn send(&self, to: impl Into<Rank>, parts: &(impl Parts + ?Sized)) -> Result<()> {
        self.transmit(To::Rank(to.into()), &HeaderStack::new(), parts)
    }

    /// Sends a message with headers of the layers above in front of it.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn send_with(
        &self,
        to: impl Into<Rank>,
        headers: &HeaderStack,
        parts: &(impl Parts + ?Sized),
    ) -> Result<()> {
        self.transmit(To::Rank(to.into()), headers, parts)
    }

    /// Sends a message to all ranks but this one, on a multicast tree, packet by packet.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn broadcast(&self, parts: &(impl Parts + ?Sized)) -> Result<()> {
        self.transmit(To::Group(Group::ALL), &HeaderStack::new(), parts)
    }

    /// Sends a message to all members of `group` but this rank.
    ///
    /// # Errors
    /// As [`Self::send`], or this rank is not a member.
    pub fn multicast(&self, group: Group, parts: &(impl Parts + ?Sized)) -> Result<()> {
        self.transmit(To::Group(group), &HeaderStack::new(), parts)
    }

    fn transmit(&self, to: To, headers: &HeaderStack, parts: &(impl Parts + ?Sized)) -> Result<()> {
        let packets = self.engine.packets();
        if packets.size() == 1 && matches!(to, To::Group(_)) {
            return Ok(());
        }
        let total = parts.total() as u64;
        assert!(total <= MAX_MESSAGE, "a message of {total} bytes is too long");
        let headers = headers.as_bytes();
        let max = packets.max_payload() - format::SIZE;
        if headers.len() > max {
            return Err(Error::Headers { size: headers.len(), max });
        }
        let mut gather = Gather {
            packets,
            to,
            packet: None,
            sent: 0,
            header: PacketHeader {
                port: self.number,
                message: self.engine.next_message_number(),
                bytes: total,
                header_bytes: headers.len() as u8,
                kind: Kind::First,
            },
        };
        gather.begin(headers)?;
        let mut outcome = Ok(());
        parts.for_each(&mut |part| {
            if outcome.is_ok() {
                outcome = gather.put(part);
            }
        });
        outcome?;
        gather.launch()
    }
}

/// Fills packets with a message.
struct Gather<'a> {
    packets: &'a Packets,
    to: To,
    packet: Option<SendPacket<'a>>,
    sent: u64,
    header: PacketHeader,
}

impl Gather<'_> {
    fn begin(&mut self, headers: &[u8]) -> Result<()> {
        // Handlers must not start in the middle of a send, so upcalls only sort packets: see
        // `Engine::progress` for when handlers run.
        let mut packet = self.packets.packet_with(Upcalls::Allowed)?;
        packet.put(&self.header.emit())?.put(headers)?;
        self.packet = Some(packet);
        Ok(())
    }

    fn put(&mut self, mut part: &[u8]) -> Result<()> {
        while !part.is_empty() {
            if self.packet.as_ref().is_none_or(|packet| packet.room() == 0) {
                self.launch()?;
                self.header.kind = Kind::Next;
                self.header.header_bytes = 0;
                self.header.bytes = self.sent;
                self.begin(&[])?;
            }
            let Some(packet) = &mut self.packet else { continue };
            let (now, later) = part.split_at(part.len().min(packet.room()));
            packet.put(now)?;
            self.sent += now.len() as u64;
            part = later;
        }
        Ok(())
    }

    fn launch(&mut self) -> Result<()> {
        match (self.packet.take(), self.to) {
            (None, _) => {}
            (Some(packet), To::Rank(rank)) => packet.unicast(rank)?,
            (Some(packet), To::Group(group)) => packet.multicast(group)?,
        }
        Ok(())
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.engine.remove_port(self.number);
    }
}

impl Mailbox {
    /// Creates the port `name` without a handler: its messages wait to be asked for.
    ///
    /// # Errors
    /// [`Error::PortTaken`], [`Error::PortCollision`].
    pub fn new(engine: &Arc<Engine>, name: &str) -> Result<Self> {
        Port::create(engine, name, None).map(Mailbox)
    }

    /// The message that has waited longest; blocks until the first packet of one is there.
    /// Other ports' handlers run meanwhile.
    ///
    /// # Errors
    /// A lost rank.
    pub fn receive(&self) -> Result<Message> {
        self.0.engine.wait(|engine, _| engine.take_message(self.0.number))
    }

    /// The message that has waited longest, if there is one. Polls once, never blocks.
    ///
    /// # Errors
    /// A lost rank.
    pub fn try_receive(&self) -> Result<Option<Message>> {
        let engine = &self.0.engine;
        if let Some(message) = engine.take_message(self.0.number)? {
            return Ok(Some(message));
        }
        engine.progress()?;
        engine.take_message(self.0.number)
    }
}

impl std::ops::Deref for Mailbox {
    type Target = Port;

    fn deref(&self) -> &Port {
        &self.0
    }
}
