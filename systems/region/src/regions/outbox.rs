//! What is to be sent, in order.

use super::Settings;
use super::lock;
use super::slot::Memory;
use crate::RegionId;
use crate::coherence::Message;
use crate::format::{DATA_SIZE, Header, Notice, receivers};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use weft_packet::{Packets, Rank};

/// Frames that wait for packets. One thread sends at a time, so that the order stays; others leave theirs
/// to it.
pub(super) struct Outbox {
    ranks: usize,
    multicast: bool,
    queue: Mutex<Queue>,
    /// Whether there may be something in the queue; written inside its lock.
    any: AtomicBool,
}

#[derive(Default)]
struct Queue {
    frames: VecDeque<Outgoing>,
    sending: bool,
}

struct Outgoing {
    to: To,
    what: What,
}

enum To {
    One(Rank),
    /// All ranks, of which those are meant that have a bit here.
    Several(Box<[u8]>),
}

enum What {
    Message(Header),
    /// A message with as many bytes of a region, of which those before the header's offset have left.
    Data(Header, Memory, usize),
    Notice([u8; DATA_SIZE]),
}

impl Outbox {
    pub(super) fn new(packets: &Packets, settings: Settings) -> Self {
        let ranks = packets.size();
        let room = receivers::size(ranks) + DATA_SIZE < packets.multicast_payload();
        let (queue, any) = (Mutex::default(), AtomicBool::new(false));
        Outbox { ranks, multicast: settings.multicast && room, queue, any }
    }

    /// Whether what is for so many nodes is better broadcast.
    pub(super) fn multicasts_to(&self, nodes: usize) -> bool {
        self.multicast && nodes >= 2 && 2 * nodes >= self.ranks - 1
    }

    /// A message to several nodes, with its data if it carries any.
    pub(super) fn multicast(
        &self,
        to: &BTreeSet<Rank>,
        region: RegionId,
        message: Message,
        data: Option<(Memory, usize)>,
    ) {
        let header = Header::new(region, message);
        let what = match data {
            Some((memory, bytes)) => What::Data(header, memory, bytes),
            None => What::Message(header),
        };
        self.push(To::Several(receivers::emit(to, self.ranks)), what);
    }

    pub(super) fn message(&self, to: Rank, region: RegionId, message: Message) {
        self.push(To::One(to), What::Message(Header::new(region, message)));
    }

    /// A message with the first `bytes` bytes of `memory`, which nobody writes any more: who does, writes
    /// another.
    pub(super) fn data(
        &self,
        to: Rank,
        region: RegionId,
        message: Message,
        (memory, bytes): (Memory, usize),
    ) {
        self.push(To::One(to), What::Data(Header::new(region, message), memory, bytes));
    }

    pub(super) fn notice(&self, to: Rank, region: RegionId, notice: Notice) {
        self.push(To::One(to), What::Notice(notice.emit(region)));
    }

    pub(super) fn is_empty(&self) -> bool {
        let queue = lock(&self.queue);
        queue.frames.is_empty() && !queue.sending
    }

    fn push(&self, to: To, what: What) {
        let mut queue = lock(&self.queue);
        queue.frames.push_back(Outgoing { to, what });
        self.any.store(true, Ordering::Relaxed);
    }

    /// Sends what there are packets for. Never blocks. Who has put something in itself does not miss it.
    #[inline]
    pub(super) fn flush(&self, packets: &Packets) -> weft_packet::Result<()> {
        if self.any.load(Ordering::Relaxed) { self.send(packets) } else { Ok(()) }
    }

    #[cold]
    fn send(&self, packets: &Packets) -> weft_packet::Result<()> {
        let mut queue = lock(&self.queue);
        if queue.sending {
            return Ok(());
        }
        while let Some(next) = queue.frames.pop_front() {
            queue.sending = true;
            drop(queue);
            let sent = next.send(packets);
            queue = lock(&self.queue);
            queue.sending = false;
            match sent {
                Ok(None) => {}
                Ok(Some(rest)) => {
                    queue.frames.push_front(rest);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        self.any.store(false, Ordering::Relaxed);
        Ok(())
    }
}

impl Outgoing {
    /// Sends it, or returns what there was no packet for.
    fn send(mut self, packets: &Packets) -> weft_packet::Result<Option<Self>> {
        loop {
            let Some(mut packet) = packets.try_packet()? else { return Ok(Some(self)) };
            if let To::Several(receivers) = &self.to {
                packet.leave_room_for_receivers();
                packet.put(receivers)?;
            }
            let mut more = false;
            match &mut self.what {
                What::Message(header) => {
                    packet.put(&header.emit()[..header.size()])?;
                }
                What::Notice(bytes) => {
                    packet.put(bytes)?;
                }
                What::Data(header, memory, size) => {
                    packet.put(&header.emit())?;
                    let from = header.offset as usize;
                    let to = (*size).min(from + packet.room());
                    packet.put(&bytemuck::cast_slice(memory)[from..to])?;
                    header.offset = to as u64;
                    more = to < *size;
                }
            }
            match self.to {
                To::One(to) => packet.unicast(to)?,
                To::Several(_) => packet.broadcast()?,
            }
            if !more {
                return Ok(None);
            }
        }
    }
}
