//! What is to be sent, in order.

use super::lock;
use super::slot::Memory;
use crate::RegionId;
use crate::coherence::Message;
use crate::format::{DATA_SIZE, Header, Notice};
use std::collections::VecDeque;
use std::sync::Mutex;
use weft_packet::{Packets, Rank};

/// Frames that wait for packets. One thread sends at a time, so that the order stays; others leave theirs
/// to it.
#[derive(Default)]
pub(super) struct Outbox {
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    frames: VecDeque<Outgoing>,
    sending: bool,
}

struct Outgoing {
    to: Rank,
    what: What,
}

enum What {
    Message(Header),
    /// A message with as many bytes of a region, of which those before the header's offset have left.
    Data(Header, Memory, usize),
    Notice([u8; DATA_SIZE]),
}

impl Outbox {
    pub(super) fn message(&self, to: Rank, region: RegionId, message: Message) {
        self.push(to, What::Message(Header::new(region, message)));
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
        self.push(to, What::Data(Header::new(region, message), memory, bytes));
    }

    pub(super) fn notice(&self, to: Rank, region: RegionId, notice: Notice) {
        self.push(to, What::Notice(notice.emit(region)));
    }

    pub(super) fn is_empty(&self) -> bool {
        let queue = lock(&self.queue);
        queue.frames.is_empty() && !queue.sending
    }

    fn push(&self, to: Rank, what: What) {
        lock(&self.queue).frames.push_back(Outgoing { to, what });
    }

    /// Sends what there are packets for. Never blocks.
    pub(super) fn flush(&self, packets: &Packets) -> weft_packet::Result<()> {
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
        Ok(())
    }
}

impl Outgoing {
    /// Sends it, or returns what there was no packet for.
    fn send(mut self, packets: &Packets) -> weft_packet::Result<Option<Self>> {
        loop {
            let Some(mut packet) = packets.try_packet()? else { return Ok(Some(self)) };
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
            packet.unicast(self.to)?;
            if !more {
                return Ok(None);
            }
        }
    }
}
