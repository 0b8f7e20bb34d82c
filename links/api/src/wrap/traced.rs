//! Wrapper that writes down every packet.

use super::delegate;
use crate::{
    Buffer, Gather, Link, LinkViolation, Payload, Plain, Received, ReceivedPlain, ShortWords,
    memory,
};
use std::sync::Arc;
use weft_trace::{PacketEvent, Polls, Recorder, TEXT_BYTES, What};
use weft_wire::{Header, Rank, Tag, TreeId};

/// Inner link, with every packet written down. A run that is not traced has no such wrapper, and
/// so pays nothing for it.
pub struct Traced<L> {
    inner: L,
    recorder: Arc<dyn Recorder>,
}

impl<L: Link> Traced<L> {
    /// Writes down what passes through `inner`.
    pub fn new(inner: L, recorder: Arc<dyn Recorder>) -> Self {
        Traced { inner, recorder: Arc::new(Polls::new(recorder)) }
    }

    fn received_plain(&self, plain: &Plain, bytes: Buffer) {
        let tree = TreeId::unicast(plain.source).of(plain.protocol);
        let header = Header::new(Tag::Ucast, plain.source, tree, plain.size);
        let head = head_of(&self.inner, &header, Payload::Buffer(bytes));
        self.recorder.record(&What::Received(PacketEvent::new(plain.source, &header, head)));
    }

    /// A short packet, which was taken last, was received.
    fn received_short(&mut self, short: &Plain) {
        let copy = self.inner.store_short(short);
        self.received_plain(short, copy);
        self.inner.free(copy);
    }
}

/// The first user bytes of a packet with this header and payload, which are the same at both ends.
pub fn head_of(link: &impl Link, header: &Header, payload: Payload) -> [u8; TEXT_BYTES] {
    let mut head = [0; TEXT_BYTES];
    match payload {
        Payload::Empty => {}
        Payload::Buffer(buffer) => {
            let size = usize::from(header.size).min(TEXT_BYTES);
            link.copy_out(buffer, &mut head[..size]);
        }
        Payload::Words(words) => {
            for (bytes, word) in head.chunks_exact_mut(8).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
    }
    head
}

impl<L: Link> Link for Traced<L> {
    delegate!(surroundings, lossy, capabilities, words);

    const SHORT: bool = L::SHORT;

    fn takes_short(&self, to: Rank) -> bool {
        self.inner.takes_short(to)
    }

    fn lend(&mut self, buffer: Buffer, head: usize, lent: memory::Lent) -> bool {
        self.inner.lend(buffer, head, lent)
    }

    fn has_lent(&self, lent: memory::Lent) -> bool {
        self.inner.has_lent(lent)
    }

    fn take_back(&mut self, lent: memory::Lent) {
        self.inner.take_back(lent);
    }

    fn post(&mut self, from: Rank, posted: memory::Posted) -> bool {
        self.inner.post(from, posted)
    }

    fn sends_zero_copy(&self, to: Rank) -> bool {
        self.inner.sends_zero_copy(to)
    }

    fn post_zero_copy(&mut self, from: Rank, posted: memory::Posted) -> bool {
        self.inner.post_zero_copy(from, posted)
    }

    fn send_zero_copy(&mut self, to: Rank, head: &memory::PostedHead, lent: memory::Lent) -> bool {
        self.inner.send_zero_copy(to, head, lent)
    }

    fn carries(&self) -> bool {
        self.inner.carries()
    }

    fn posted(&self, from: Rank, head: &memory::PostedHead) -> usize {
        self.inner.posted(from, head)
    }

    fn unpost(&mut self, from: Rank, head: &memory::PostedHead) -> usize {
        self.inner.unpost(from, head)
    }

    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        let head = head_of(&self.inner, header, payload);
        self.recorder.record(&What::Sent(PacketEvent::new(to, header, head)));
        self.inner.transmit(to, header, payload);
    }

    fn transmit_short(&mut self, to: Rank, header: &Header, bytes: &impl Gather) {
        let mut room = [0; size_of::<ShortWords>()];
        bytes.gather(&mut room[..bytes.size()]);
        let head = std::array::from_fn(|byte| room[byte]);
        self.recorder.record(&What::Sent(PacketEvent::new(to, header, head)));
        self.inner.transmit_short(to, header, bytes);
    }

    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let received = self.inner.receive()?;
        if let Some(Received { header, payload }) = &received {
            let head = head_of(&self.inner, header, *payload);
            self.recorder.record(&What::Received(PacketEvent::new(header.source, header, head)));
        }
        Ok(received)
    }

    fn peek_short(&self) -> Option<Plain> {
        self.inner.peek_short()
    }

    fn take_short(&mut self, short: &Plain) {
        self.inner.take_short(short);
        self.received_short(short);
    }

    fn receive_plain(&mut self) -> ReceivedPlain {
        let received = self.inner.receive_plain();
        match &received {
            ReceivedPlain::Short(plain) => self.received_short(plain),
            ReceivedPlain::Framed(plain, frame) => self.received_plain(plain, *frame),
            ReceivedPlain::Nothing | ReceivedPlain::Other => {}
        }
        received
    }

    fn store_short(&mut self, short: &Plain) -> Buffer {
        self.inner.store_short(short)
    }

    fn has_unflushed(&self) -> bool {
        self.inner.has_unflushed()
    }

    fn has_buffered(&self) -> bool {
        self.inner.has_buffered()
    }

    fn shared_memory(&self) -> Option<Arc<dyn memory::SharedMemory>> {
        self.inner.shared_memory()
    }

    fn notice(&self) -> Option<Arc<dyn crate::status::Notice>> {
        self.inner.notice()
    }

    fn gauge(&self) -> Option<Arc<dyn crate::gauge::Gauge>> {
        self.inner.gauge()
    }

    fn cross_memory(&self) -> Option<Arc<dyn memory::CrossMemory>> {
        self.inner.cross_memory()
    }

    fn threads(&self) -> Arc<dyn crate::threads::Threads> {
        self.inner.threads()
    }

    fn recorder(&self) -> Option<Arc<dyn Recorder>> {
        Some(Arc::clone(&self.recorder))
    }
}
