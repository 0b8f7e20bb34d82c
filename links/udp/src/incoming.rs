//! Datagrams that arrived, and the frames that hold them.
//!
//! A frame is *spare*, or the kernel may write to it (*landing*), or it *arrived* and nobody has looked,
//! or it is *open*: somebody reads a packet in it. One is never lent to readers, so that something can
//! always land.

use crate::batch::{self, Landed, MOST};
use std::collections::VecDeque;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use weft_link::{Buffer, Payload, Received};
use weft_seal::{Kind, Seals};
use weft_wire::{Header, Tag, envelope, network};

/// Times that the kernel is asked in one look for packets. Strangers may send faster than they are
/// refused, and the node has other things to do: whoever finds nothing comes again.
const LOOKS: usize = 2;

/// Marks buffers that were received.
const RECEIVED: u64 = 1 << 63;

/// What became of datagrams on their way in.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// Datagrams that the kernel had.
    pub datagrams: u64,
    /// System calls, those that found nothing included.
    pub calls: u64,
    /// Packets that were dropped because readers held all frames.
    pub without_frame: u64,
}

pub(crate) struct Incoming {
    spare: Vec<Box<[u8]>>,
    landing: Vec<Box<[u8]>>,
    arrived: VecDeque<(Box<[u8]>, Landed)>,
    open: Vec<Open>,
    /// Places in `open` that are free.
    closed: Vec<u32>,
    /// The frame whose packets come next.
    current: Option<Current>,
    /// Where in it there are more packets after these.
    more: VecDeque<Range<usize>>,
    /// Whether the last look found nothing.
    idle: bool,
    pub counters: Arrived,
}

struct Open {
    bytes: Box<[u8]>,
    readers: u32,
}

/// A frame of which not all packets have been taken.
struct Current {
    frame: u32,
    packets: Range<usize>,
}

impl Incoming {
    /// With so many frames of so many bytes; one at least is added for what needs none.
    pub fn new(frames: usize, frame_bytes: usize) -> Self {
        let frames = frames + 1;
        let spare = (0..frames).map(|_| vec![0; frame_bytes].into_boxed_slice()).collect();
        Incoming {
            spare,
            landing: Vec::with_capacity(MOST),
            arrived: VecDeque::with_capacity(MOST),
            open: (0..frames).map(|_| Open { bytes: Box::default(), readers: 0 }).collect(),
            closed: (0..frames as u32).rev().collect(),
            current: None,
            more: VecDeque::with_capacity(MOST),
            idle: true,
            counters: Arrived::default(),
        }
    }

    /// The next packet, from frames that arrived or else from the kernel.
    #[inline]
    pub fn next(&mut self, socket: BorrowedFd<'_>, seals: &mut Seals) -> Option<Received> {
        while self.find(socket, seals) {
            if let Some(received) = self.take() {
                return Some(received);
            }
        }
        None
    }

    /// Looks for a packet, without taking it.
    #[inline]
    pub fn find(&mut self, socket: BorrowedFd<'_>, seals: &mut Seals) -> bool {
        let mut looks = 0..LOOKS;
        while self.current.is_none() {
            match self.arrived.pop_front() {
                Some((bytes, landed)) => self.open(bytes, landed, seals),
                None if looks.next().is_some() && self.look(socket) => {}
                None => return false,
            }
        }
        true
    }

    /// Opens all datagrams that landed in `bytes`, before anybody reads in it.
    #[inline]
    fn open(&mut self, mut bytes: Box<[u8]>, landed: Landed, seals: &mut Seals) {
        let mut start = 0;
        // An empty datagram is one too.
        while start < landed.bytes.max(1) {
            let end = landed.bytes.min(start + landed.datagram_bytes.max(1));
            self.counters.datagrams += 1;
            if let Ok(opened) = seals.open(&mut bytes[start..end])
                && opened.kind == Kind::PACKETS
            {
                let Range { start: from, end: to } = opened.contents;
                self.more.push_back(start + from..start + to);
            }
            start = end.max(start + 1);
        }
        match self.more.pop_front() {
            Some(packets) => self.enter(bytes, packets),
            None => self.spare.push(bytes),
        }
    }

    /// Where the packets of the received frame `buffer` names are.
    pub fn bytes(&self, buffer: Buffer) -> Option<NonNull<u8>> {
        let (frame, at) = split(buffer)?;
        let bytes = &self.open[frame as usize].bytes[at..];
        Some(NonNull::from(bytes).cast())
    }

    /// The `size` bytes that `buffer` names, if it was received.
    #[inline]
    pub fn read(&self, buffer: Buffer, size: usize) -> Option<&[u8]> {
        let (frame, at) = split(buffer)?;
        Some(&self.open[frame as usize].bytes[at..at + size])
    }

    /// A reader is done; false if the buffer was not received.
    #[inline]
    pub fn free(&mut self, buffer: Buffer) -> bool {
        let Some((frame, _)) = split(buffer) else { return false };
        self.leave(frame);
        true
    }

    /// Asks the kernel. Says whether it had something.
    fn look(&mut self, socket: BorrowedFd<'_>) -> bool {
        let most = if self.idle { 1 } else { MOST };
        while self.landing.len() < most
            && let Some(bytes) = self.spare.pop()
        {
            self.landing.push(bytes);
        }
        self.counters.calls += 1;
        let mut landed = [Landed::default(); MOST];
        let ready = self.landing.len().min(most);
        let places = &mut self.landing[..ready];
        // What the kernel reports here is about datagrams that left: they are sent again.
        let count = batch::receive(socket, places, &mut landed).unwrap_or(0);
        self.idle = count == 0;
        self.arrived.extend(self.landing.drain(..count).zip(landed));
        count > 0
    }

    /// Begins to take packets from a frame, which counts as its reader meanwhile.
    fn enter(&mut self, bytes: Box<[u8]>, packets: Range<usize>) {
        let Some(frame) = self.closed.pop() else {
            unreachable!("there is a place for every frame");
        };
        self.open[frame as usize] = Open { bytes, readers: 1 };
        self.current = Some(Current { frame, packets });
    }

    /// The next packet of the current frame; `None` if it had to be dropped.
    #[inline]
    fn take(&mut self) -> Option<Received> {
        let Current { frame, packets } = self.current.as_mut()?;
        let frame = *frame;
        let bytes = &self.open[frame as usize].bytes;
        let Ok((header, body, length)) = envelope::first(&bytes[packets.clone()]) else {
            unreachable!("an opened frame holds packets to its end");
        };
        let payload = match header.tag {
            Tag::Ucast | Tag::Mcast => {
                let at = packets.start + network::SIZE;
                Payload::Buffer(Buffer(RECEIVED | u64::from(frame) << 32 | at as u64))
            }
            _ => words(&header, body),
        };
        packets.start += length;
        let is_last = packets.start == packets.end;
        let lent = matches!(payload, Payload::Buffer(_));
        // This frame may be the one that must not be lent.
        let dropped =
            lent && self.spare.is_empty() && self.landing.is_empty() && self.arrived.is_empty();
        if dropped {
            self.counters.without_frame += 1;
        } else if lent {
            self.open[frame as usize].readers += 1;
        }
        if is_last && let Some(next) = self.more.pop_front() {
            *packets = next;
        } else if is_last {
            self.current = None;
            self.leave(frame);
        }
        (!dropped).then_some(Received { header, payload })
    }

    #[inline]
    fn leave(&mut self, frame: u32) {
        let open = &mut self.open[frame as usize];
        debug_assert!(open.readers > 0, "a frame was freed twice");
        open.readers -= 1;
        if open.readers == 0 {
            self.spare.push(std::mem::take(&mut open.bytes));
            self.closed.push(frame);
        }
    }
}

/// What a packet without user bytes carries.
fn words(header: &Header, body: &[u8]) -> Payload {
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| body[at + i]));
    match header.tag {
        Tag::FaRequest | Tag::FaReply => Payload::Words([word(0), word(8)]),
        _ => Payload::Empty,
    }
}

/// The frame that a received buffer is in, and where.
#[inline]
fn split(buffer: Buffer) -> Option<(u32, usize)> {
    let received = buffer.0 & RECEIVED != 0;
    received.then_some((((buffer.0 & !RECEIVED) >> 32) as u32, buffer.0 as u32 as usize))
}
