//! Wrapper that writes down every packet.

use super::{delegate, wrapper};
use crate::{
    Buffer, Gather, Link, LinkViolation, Payload, Plain, Received, ReceivedPlain, Services,
    ShortPackets, ShortWords,
};
use std::sync::Arc;
use weft_trace::{PacketEvent, PollRecorder, Recorder, TEXT_BYTES, What};
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
        Traced { inner, recorder: Arc::new(PollRecorder::new(recorder)) }
    }

    fn received_plain(&self, plain: &Plain, bytes: Buffer) {
        let tree = TreeId::unicast(plain.source).of(plain.protocol);
        let header = Header::new(Tag::Ucast, plain.source, tree, plain.size);
        let head = head_of(&self.inner, &header, Payload::Buffer(bytes));
        self.recorder.record(&What::Received(PacketEvent::new(plain.source, &header, head)));
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

wrapper!(Traced);

/// Short packets of a traced link.
#[derive(Clone, Copy, Debug)]
pub struct TracedShort<T>(T);

impl<L: Link> ShortPackets<Traced<L>> for TracedShort<L::Short> {
    type Glance = <L::Short as ShortPackets<L>>::Glance;

    fn glance(link: &Traced<L>) -> Arc<Self::Glance> {
        L::Short::glance(&link.inner)
    }

    fn are_taken_by(self, link: &Traced<L>, to: Rank) -> bool {
        self.0.are_taken_by(&link.inner, to)
    }

    fn transmit(self, link: &mut Traced<L>, to: Rank, header: &Header, bytes: &impl Gather) {
        link.recorder.record(&What::Sent(PacketEvent::new(to, header, gathered_head(bytes))));
        self.0.transmit(&mut link.inner, to, header, bytes);
    }

    fn peek(self, link: &Traced<L>) -> Option<Plain> {
        self.0.peek(&link.inner)
    }

    fn take(self, link: &mut Traced<L>, short: &Plain) {
        self.0.take(&mut link.inner, short);
        self.received(link, short);
    }

    fn receive(self, link: &mut Traced<L>) -> ReceivedPlain {
        let received = self.0.receive(&mut link.inner);
        match &received {
            ReceivedPlain::Short(plain) => self.received(link, plain),
            ReceivedPlain::Framed(plain, frame) => link.received_plain(plain, *frame),
            ReceivedPlain::Nothing | ReceivedPlain::Other => {}
        }
        received
    }

    fn store(self, link: &mut Traced<L>, short: &Plain) -> Buffer {
        self.0.store(&mut link.inner, short)
    }
}

impl<T> TracedShort<T> {
    /// Writes down a short packet, which was taken last.
    fn received<L: Link<Short = T>>(self, link: &mut Traced<L>, short: &Plain)
    where
        T: ShortPackets<L>,
    {
        let copy = self.0.store(&mut link.inner, short);
        link.received_plain(short, copy);
        link.inner.free(copy);
    }
}

/// The first user bytes of a short packet.
pub fn gathered_head(bytes: &impl Gather) -> [u8; TEXT_BYTES] {
    let mut room = [0; size_of::<ShortWords>()];
    bytes.gather(&mut room[..bytes.size()]);
    std::array::from_fn(|byte| room[byte])
}

impl<L: Link> Link for Traced<L> {
    delegate!(network, host, capabilities, frames, memory);

    type Short = TracedShort<L::Short>;

    const SHORT: Option<Self::Short> = match L::SHORT {
        Some(short) => Some(TracedShort(short)),
        None => None,
    };

    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        let head = head_of(&self.inner, header, payload);
        self.recorder.record(&What::Sent(PacketEvent::new(to, header, head)));
        self.inner.transmit(to, header, payload);
    }

    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let received = self.inner.receive()?;
        if let Some(Received { header, payload }) = &received {
            let head = head_of(&self.inner, header, *payload);
            self.recorder.record(&What::Received(PacketEvent::new(header.source, header, head)));
        }
        Ok(received)
    }

    fn services(&self) -> Services {
        Services { recorder: Some(Arc::clone(&self.recorder)), ..self.inner.services() }
    }
}
