//! Weft as a line: packets, messages, calls.

use super::side::Side;
use super::{End, Line};
use crate::micro::bandwidth::xor_up;
use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weft::{Call, Client, Mailbox, Packets, Rank, Service, Weft};
use weft::{Connection, NotificationKind, Notifications, ReceiveBuffer, Rights};

/// The rank at the other end of this one's line.
fn other(own: Rank) -> Rank {
    Rank(1 - own.0)
}

/// End that a rank is.
pub fn end_of(rank: Rank) -> End {
    if rank == 0 { End::First } else { End::Second }
}

/// Meets the other end, polling, once all packets have left here; so that neither has anything to
/// do for this line afterwards.
fn settle(packets: &Packets, side: &mut Side, mut poll: impl FnMut() -> Result<()>) -> Result<()> {
    while !packets.is_flushed() {
        poll()?;
    }
    side.meet(poll)
}

/// Packets, counted in upcalls.
pub struct PacketLine {
    packets: Packets,
    arrived: Arc<AtomicU64>,
    taken: u64,
}

impl PacketLine {
    /// A line of packets between the two ranks of a job. It takes the upcall.
    pub fn new(packets: &Packets) -> Self {
        let arrived = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&arrived);
        packets.on_packet(move |packet| {
            std::hint::black_box(xor_up(&packet));
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        });
        PacketLine { packets: packets.clone(), arrived, taken: 0 }
    }
}

impl Line for PacketLine {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let mut packet = self.packets.packet()?;
        packet.put(bytes)?;
        Ok(packet.unicast(other(self.packets.rank()))?)
    }

    fn receive(&mut self, _size: usize) -> Result<()> {
        self.packets.poll_until(|| self.arrived.load(Ordering::Relaxed) > self.taken)?;
        self.taken += 1;
        Ok(())
    }

    fn stream_out(&mut self, bytes: &[u8], messages: u64) -> Result<()> {
        for message in 1..=messages {
            // Packets travel together as long as more follow.
            self.packets.hold(message < messages);
            self.send(bytes)?;
        }
        Ok(())
    }

    fn rest(&mut self, side: &mut Side) -> Result<()> {
        settle(&self.packets, side, || Ok(self.packets.poll().map(drop)?))
    }
}

/// Messages to a mailbox.
pub struct MessageLine<'a> {
    weft: &'a Weft,
    mailbox: Mailbox,
    /// Memory that messages are received into before they are read; longer ones are read in place.
    into: Vec<u8>,
}

/// Bytes up to which a message is received into memory, unless it is to be read in place: a copy of
/// so few costs less than a message that lies somewhere.
const FEW: usize = 1024;

impl<'a> MessageLine<'a> {
    /// A line of messages between the two ranks of a job.
    ///
    /// # Errors
    /// Another rank was lost.
    pub fn new(weft: &'a Weft) -> Result<Self> {
        Ok(MessageLine { weft, mailbox: weft.mailbox("pair")?, into: vec![0; FEW] })
    }

    /// Opens lines on which each message asks its receiver first.
    ///
    /// # Errors
    /// Another rank was lost.
    pub fn asking_first(weft: &'a Weft) -> Result<Self> {
        let mailbox = weft.mailbox("asking")?;
        mailbox.rendezvous_from(Some(1));
        Ok(MessageLine { weft, mailbox, into: Vec::new() })
    }

    /// Opens lines for messages of up to `bytes` bytes, which end in memory of the receiver's
    /// choice.
    ///
    /// # Errors
    /// Another rank was lost.
    pub fn into_memory(weft: &'a Weft, bytes: usize) -> Result<Self> {
        Ok(MessageLine { weft, mailbox: weft.mailbox("memory")?, into: vec![0; bytes] })
    }
}

impl Line for MessageLine<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.mailbox.send(other(self.weft.rank()), bytes)?)
    }

    fn receive(&mut self, size: usize) -> Result<()> {
        if size <= self.into.len() {
            let (_, length) = self.mailbox.receive_into(&mut self.into)?;
            std::hint::black_box(xor_up(&self.into[..length]));
            return Ok(());
        }
        let mut message = self.mailbox.receive()?;
        while message.remaining() > 0 {
            let chunk = message.chunk()?;
            std::hint::black_box(xor_up(chunk));
            let length = chunk.len();
            message.consume(length);
        }
        Ok(())
    }

    fn rest(&mut self, side: &mut Side) -> Result<()> {
        settle(self.weft.packets(), side, || Ok(self.weft.poll().map(drop)?))
    }
}

/// Places in a receive buffer: the next put is under way while the last one is read.
const PLACES: usize = 2;

/// Puts into a receive buffer of the other end, with notice.
pub struct PutLine {
    packets: Packets,
    to: Connection,
    buffer: ReceiveBuffer,
    notifications: Notifications,
}

impl PutLine {
    /// A line of puts of up to `bytes` bytes between the two ranks of a job.
    ///
    /// # Errors
    /// Another rank was lost.
    pub fn new(packets: &Packets, bytes: usize) -> Result<Self> {
        let (own, notifications) = (packets.rank(), packets.puts().notifications());
        let bytes = PLACES * bytes.next_multiple_of(64);
        let buffer =
            packets.puts().offer("pair", other(own), bytes, Rights::PUT, &notifications)?;
        let to = packets.puts().connect("pair", other(own))?;
        Ok(PutLine { packets: packets.clone(), to, buffer, notifications })
    }
}

impl Line for PutLine {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.to.put_notify(0, bytes, 1)?)
    }

    fn receive(&mut self, _size: usize) -> Result<()> {
        let notification = self.notifications.wait()?;
        if let NotificationKind::Put { length, .. } = notification.kind {
            self.buffer
                .look(notification.offset, length, |bytes| std::hint::black_box(xor_up(bytes)))?;
        }
        Ok(())
    }

    fn stream_out(&mut self, bytes: &[u8], messages: u64) -> Result<()> {
        for message in 0..messages as usize {
            if message >= PLACES {
                // All that was there was read.
                self.notifications.wait()?;
            }
            let place = message % PLACES * (self.to.len() / PLACES);
            self.to.put_notify(place, bytes, 1)?;
        }
        Ok(())
    }

    fn stream_in(&mut self, size: usize, messages: u64) -> Result<()> {
        for message in 0..messages as usize {
            self.receive(size)?;
            if message + PLACES < messages as usize {
                self.to.put_notify(0, &[], 1)?;
            }
        }
        Ok(())
    }

    fn rest(&mut self, side: &mut Side) -> Result<()> {
        settle(&self.packets, side, || Ok(self.packets.progress().map(drop)?))
    }
}

/// Calls of the second end by the first: a message there and its answer.
pub struct CallLine<'a> {
    weft: &'a Weft,
    client: Client,
    call: Option<Call>,
    served: Arc<AtomicU64>,
    taken: u64,
    _service: Option<Service>,
}

impl<'a> CallLine<'a> {
    /// A line of calls between the two ranks of a job.
    ///
    /// # Errors
    /// Another rank was lost.
    pub fn new(weft: &'a Weft) -> Result<Self> {
        let served = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&served);
        let serve = |weft: &Weft| {
            weft.service("pair", move |request| {
                // A lost rank shows at the next poll.
                let _ = request.reply("");
                count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            })
        };
        let service = (end_of(weft.rank()) == End::Second).then(|| serve(weft)).transpose()?;
        let client = weft.client("pair")?;
        Ok(CallLine { weft, client, call: None, served, taken: 0, _service: service })
    }
}

impl Line for CallLine<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        // The second end has answered in its service.
        if end_of(self.weft.rank()) == End::First {
            self.call = Some(self.client.call(Rank(1), bytes)?);
        }
        Ok(())
    }

    fn receive(&mut self, _size: usize) -> Result<()> {
        if end_of(self.weft.rank()) == End::First {
            self.call.take().context("no call is under way")?.wait()?;
            return Ok(());
        }
        self.weft.poll_until(|| self.served.load(Ordering::Relaxed) > self.taken)?;
        self.taken += 1;
        Ok(())
    }

    fn rest(&mut self, side: &mut Side) -> Result<()> {
        settle(self.weft.packets(), side, || Ok(self.weft.poll().map(drop)?))
    }
}
