//! A link whose arrivals are put there by the script, and that notices what is done to its frames.

use std::collections::{BTreeMap, VecDeque};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_link::bell::{Bells, Cause, Loss, Ticket, Waiter};
use weft_link::clock::SystemClock;
use weft_link::ni::NoSeparateNi;
use weft_link::{
    Buffer, Capabilities, Link, LinkViolation, NoNetwork, NoShort, Paths, Payload, Received,
    Services, SharedFrames, no_program_memory,
};
use weft_wire::atomic::Words;
use weft_wire::{Header, Rank};

/// User bytes of a frame.
pub const FRAME_BYTES: usize = 64;
/// Frames to send from.
const FRAMES: usize = 6;

/// Frame or ring of a peer.
pub enum Arrival {
    /// A frame with user bytes, as many as its header says.
    Bytes(Header, Box<[u8]>),
    /// A frame with words, or with nothing.
    Words(Header, Option<Words>),
    /// No frame.
    Bad(LinkViolation),
}

/// Network as the link's rank, and the script, see it.
#[derive(Default)]
pub struct Wire {
    pub arrivals: VecDeque<Arrival>,
    /// Data packets that were transmitted, by receiver: so many credits it may return.
    pub sent: BTreeMap<Rank, u16>,
    frames: BTreeMap<u64, Frame>,
    next_frame: u64,
    /// Number of running calls that would wait for ever once nothing more is received.
    ended: usize,
}

struct Frame {
    bytes: Box<[u8]>,
    received: bool,
}

impl Wire {
    /// Frames that were received and not given back.
    pub fn received_in_use(&self) -> usize {
        self.frames.values().filter(|frame| frame.received).count()
    }

    /// Until the guard is dropped, a rank that finds nothing more arriving is told that the job has
    /// lost one: nothing else would ever end its wait.
    pub fn end_when_empty(wire: &Arc<Mutex<Wire>>) -> Ended {
        lock(wire).ended += 1;
        Ended(Arc::clone(wire))
    }

    fn insert(&mut self, bytes: Box<[u8]>, received: bool) -> Buffer {
        self.next_frame += 1;
        self.frames.insert(self.next_frame, Frame { bytes, received });
        Buffer::new(0, self.next_frame)
    }
}

/// See [`Wire::end_when_empty`].
pub struct Ended(Arc<Mutex<Wire>>);

impl Drop for Ended {
    fn drop(&mut self) {
        lock(&self.0).ended -= 1;
    }
}

/// The link.
pub struct Scripted {
    wire: Arc<Mutex<Wire>>,
    capabilities: Capabilities,
}

impl Scripted {
    pub fn new(wire: &Arc<Mutex<Wire>>) -> Self {
        let capabilities = Capabilities {
            max_payload: FRAME_BYTES,
            multicast_payload: FRAME_BYTES,
            inline_payload: 0,
            lossless: true,
            ordered: true,
            multicast: false,
            frames: FRAMES,
            receive_frames: 0,
            host_frames: FRAMES,
            threads: true,
        };
        Scripted { wire: Arc::clone(wire), capabilities }
    }
}

/// Enters the wire, even while a panic about something else unwinds.
pub fn lock(wire: &Mutex<Wire>) -> MutexGuard<'_, Wire> {
    wire.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link for Scripted {
    type Clock = SystemClock;
    type Short = NoShort;
    type Network = NoNetwork;
    type SeparateNi = NoSeparateNi;

    const SHORT: Option<NoShort> = None;
    const NETWORK: Option<NoNetwork> = None;
    const NI: Option<NoSeparateNi> = None;

    fn clock(&self) -> SystemClock {
        SystemClock
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn alloc(&mut self, _: Option<Rank>) -> Option<Buffer> {
        let mut wire = lock(&self.wire);
        let own = wire.frames.values().filter(|frame| !frame.received).count();
        (own < FRAMES).then(|| wire.insert([0; FRAME_BYTES].into(), false))
    }

    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        let mut wire = lock(&self.wire);
        let frame =
            wire.frames.get_mut(&buffer.number()).expect("a frame was used after it was freed");
        NonNull::from(&mut *frame.bytes).cast()
    }

    fn flush(&mut self) {}

    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        let mut wire = lock(&self.wire);
        if let Payload::Buffer(buffer) = payload {
            let frame =
                wire.frames.get(&buffer.number()).expect("a frame was sent after it was freed");
            assert!(usize::from(header.size) <= frame.bytes.len());
        }
        if header.tag.is_data() {
            *wire.sent.entry(to).or_default() += 1;
        }
    }

    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let mut wire = lock(&self.wire);
        Ok(Some(match wire.arrivals.pop_front() {
            None => return Ok(None),
            Some(Arrival::Bad(violation)) => return Err(violation),
            Some(Arrival::Bytes(header, bytes)) => {
                assert_eq!(bytes.len(), usize::from(header.size));
                Received { header, payload: Payload::Buffer(wire.insert(bytes, true)) }
            }
            Some(Arrival::Words(header, words)) => {
                Received { header, payload: words.map_or(Payload::Empty, Payload::Words) }
            }
        }))
    }

    fn has_arrivals(&mut self) -> bool {
        !lock(&self.wire).arrivals.is_empty()
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        let wire = lock(&self.wire);
        let frame = wire.frames.get(&buffer.number()).expect("I4 one owner: it was freed before");
        into.copy_from_slice(&frame.bytes[..into.len()]);
    }

    fn free(&mut self, buffer: Buffer) {
        let freed = lock(&self.wire).frames.remove(&buffer.number());
        assert!(freed.is_some(), "I4 one owner: a frame was freed twice");
    }

    fn bells(&self) -> Arc<dyn Bells> {
        Arc::new(Silent(Arc::clone(&self.wire)))
    }

    fn arm(&mut self, _: Waiter) -> Option<Ticket> {
        (!self.has_arrivals()).then_some(Ticket(0))
    }

    fn disarm(&mut self, _: Waiter) {}

    fn services(&self) -> Services {
        Services::default()
    }

    fn shared_frames(&mut self) -> Option<&mut dyn SharedFrames> {
        Some(self)
    }

    no_program_memory!();

    fn paths(&mut self) -> Option<&mut dyn Paths> {
        None
    }
}

impl SharedFrames for Scripted {
    fn share(&mut self, buffer: Buffer, _: u16, _: &[Rank]) {
        assert!(lock(&self.wire).frames.contains_key(&buffer.number()));
    }

    fn detach(&mut self, buffer: Buffer, _: u16) -> Buffer {
        buffer
    }

    fn forget_reader(&mut self, _: Rank) {}
}

/// Bells that nobody rings.
struct Silent(Arc<Mutex<Wire>>);

impl Bells for Silent {
    fn wait(&self, _: Waiter, _: Ticket, _: Duration) {
        panic!("a rank sleeps, and nothing is to come");
    }

    fn ticket(&self, _: Waiter) -> Ticket {
        Ticket(0)
    }

    fn ring(&self, _: Waiter) {}

    fn loss(&self) -> Option<Loss> {
        let wire = lock(&self.0);
        let ended = wire.ended > 0 && wire.arrivals.is_empty();
        ended.then_some(Loss { rank: Rank(1), cause: Cause::Misbehaved })
    }

    fn announce(&self, _: Loss) {}

    fn take_losses(&self) -> Vec<Loss> {
        Vec::new()
    }
}
