//! Link over pipes: the example of how little a link is (`docs/internals/first-change.md`). Jobs
//! use shared memory, which is quicker.
//!
//! Of each other rank a rank has two descriptors, one to write to and one to read from. A pipe in
//! packet mode keeps what was written at once apart from what was written next: two words of header
//! and the user bytes. What a full pipe does not take waits here, in order, bounded by the credits
//! of its sender (I9).

#![forbid(unsafe_code)]

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::pipe::{PIPE_BUF, PipeFlags, fcntl_setpipe_size, pipe_with};
use slab::Slab;
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use weft_datagram::DatagramBells;
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::clock::SystemClock;
use weft_link::{
    BadFrame, Buffer, Capabilities, Link, LinkViolation, Payload, Received, only_frames,
};
use weft_wire::{Header, Rank, Tag, compact};

/// Kinds of frames: those to send, and those that came.
const OWN: u8 = 0;
const CAME: u8 = 1;
/// User bytes of a packet, which fills one page of a pipe with its header.
const PAYLOAD: usize = PIPE_BUF - compact::SIZE;
/// Frames to send from.
const FRAMES: usize = 64;
/// Bytes that the kernel is asked to hold: a page for each of 64 packets.
const PIPE_BYTES: usize = FRAMES * PIPE_BUF;

/// Ends of the two pipes between a rank and another. They are in packet mode, and do not block
/// (`O_DIRECT`, `O_NONBLOCK`).
pub struct Ends {
    /// To write to.
    pub out: OwnedFd,
    /// To read from.
    pub into: OwnedFd,
}

/// Makes the pipes between all ranks of a job: for each rank its ends, in the order of the other
/// ends' ranks.
///
/// # Errors
/// The process has no descriptors left, or its user no pages for pipes.
pub fn connect(ranks: usize) -> io::Result<Vec<Vec<Ends>>> {
    let flags = PipeFlags::DIRECT | PipeFlags::NONBLOCK | PipeFlags::CLOEXEC;
    let mut jobs: Vec<Vec<Ends>> = (0..ranks).map(|_| Vec::new()).collect();
    for (own, other) in (0..ranks).flat_map(|own| (0..=own).map(move |other| (own, other))) {
        let ((near, out), (into, far)) = (pipe_with(flags)?, pipe_with(flags)?);
        if own == other {
            jobs[own].push(Ends { out, into: near });
        } else {
            jobs[own].push(Ends { out, into });
            jobs[other].push(Ends { out: far, into: near });
        }
    }
    Ok(jobs)
}

/// Attachment of one rank to its pipes.
pub struct Pipe {
    ends: Vec<Ends>,
    capabilities: Capabilities,
    bells: Arc<DatagramBells>,
    /// Frames to send from, and numbers of those that are free.
    frames: Vec<Box<[Cell<u8>]>>,
    free: Vec<u32>,
    /// Packets that came and are in use.
    came: Slab<Box<[u8]>>,
    /// Packets that a full pipe did not take, for all that come after them as well.
    waiting: VecDeque<(Rank, Vec<u8>)>,
    /// Packet that a look has found.
    found: Option<Result<Received, LinkViolation>>,
    /// Rank that is looked at next.
    turn: usize,
}

impl Pipe {
    /// Attaches a rank to its ends of all pipes ([`connect`]).
    ///
    /// # Errors
    /// The process has no descriptors left.
    pub fn attach(ends: Vec<Ends>) -> io::Result<Self> {
        let any = epoll::create(CreateFlags::CLOEXEC)?;
        for Ends { out, into } in &ends {
            epoll::add(&any, into, EventData::new_u64(0), EventFlags::IN)?;
            // With less, more waits here.
            let _ = fcntl_setpipe_size(out, PIPE_BYTES);
        }
        Ok(Pipe {
            capabilities: Capabilities {
                max_payload: PAYLOAD,
                multicast_payload: PAYLOAD,
                inline_payload: 0,
                lossless: true,
                ordered: true,
                multicast: false,
                frames: FRAMES,
                receive_frames: 0,
                host_frames: 0,
                threads: true,
            },
            bells: Arc::new(DatagramBells::new(Arc::new(any))?),
            frames: (0..FRAMES).map(|_| vec![Cell::new(0); PAYLOAD].into()).collect(),
            free: (0..FRAMES as u32).collect(),
            came: Slab::new(),
            waiting: VecDeque::new(),
            found: None,
            turn: 0,
            ends,
        })
    }

    /// Writes a packet; false if the pipe is full. A rank that has ended gets nothing, and the job
    /// hears of its end otherwise.
    fn write(&self, to: Rank, packet: &[u8]) -> bool {
        rustix::io::write(&self.ends[to.index()].out, packet) != Err(rustix::io::Errno::AGAIN)
    }

    /// Writes what waits, as far as there is room.
    fn write_waiting(&mut self) {
        while let Some((to, packet)) = self.waiting.pop_front() {
            if !self.write(to, &packet) {
                return self.waiting.push_front((to, packet));
            }
        }
    }

    /// Looks at each rank once, beginning behind the one whose packet came last.
    fn find(&mut self) -> bool {
        self.write_waiting();
        let mut packet = [0; PIPE_BUF];
        for _ in 0..if self.found.is_some() { 0 } else { self.ends.len() } {
            let from = self.turn;
            self.turn = (self.turn + 1) % self.ends.len();
            if let Ok(size @ 1..) = rustix::io::read(&self.ends[from].into, &mut packet) {
                let from = Rank(from as u16);
                let parsed = self.parse(from, &packet[..size]);
                self.found = Some(parsed.map_err(|what| LinkViolation { from, what }));
                break;
            }
        }
        self.found.is_some()
    }

    /// Checks all of a packet, because `from` wrote all of it.
    fn parse(&mut self, from: Rank, packet: &[u8]) -> Result<Received, BadFrame> {
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let (words, rest) = packet.as_chunks::<8>();
        let [first, second, user @ ..] = words else {
            return Err(BadFrame::Size(packet.len() as u16));
        };
        let header = compact::parse([word(first), word(second)], from).map_err(BadFrame::Header)?;
        let bytes = &packet[compact::SIZE..];
        let payload = match (header.tag, user) {
            (Tag::Ucast | Tag::Mcast, _) if bytes.len() == usize::from(header.size) => {
                Payload::Buffer(Buffer::new(CAME, self.came.insert(bytes.into()) as u64))
            }
            (Tag::FaRequest | Tag::FaReply, [one, two, three]) if rest.is_empty() => {
                Payload::Words([one, two, three].map(word))
            }
            (tag, []) if !tag.is_data() && rest.is_empty() => Payload::Empty,
            _ => return Err(BadFrame::Size(header.size)),
        };
        Ok(Received { header, payload })
    }
}

impl Link for Pipe {
    only_frames!();

    type Clock = SystemClock;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn clock(&self) -> SystemClock {
        SystemClock
    }

    fn alloc(&mut self, _: Option<Rank>) -> Option<Buffer> {
        self.free.pop().map(|frame| Buffer::new(OWN, frame.into()))
    }

    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        let number = buffer.number() as usize;
        match buffer.kind() {
            OWN => NonNull::from(&*self.frames[number]).cast(),
            _ => NonNull::from(&*self.came[number]).cast(),
        }
    }

    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        let mut packet: Vec<u8> =
            compact::emit(header, 0, 0).into_iter().flat_map(u64::to_le_bytes).collect();
        match payload {
            Payload::Empty => {}
            Payload::Words(words) => packet.extend(words.into_iter().flat_map(u64::to_le_bytes)),
            Payload::Buffer(buffer) => {
                packet.resize(compact::SIZE + usize::from(header.size), 0);
                self.copy_out(buffer, &mut packet[compact::SIZE..]);
            }
        }
        self.write_waiting();
        if !self.waiting.is_empty() || !self.write(to, &packet) {
            self.waiting.push_back((to, packet));
        }
    }

    fn flush(&mut self) {
        self.write_waiting();
    }

    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        self.find();
        self.found.take().transpose()
    }

    fn has_arrivals(&mut self) -> bool {
        self.find()
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        let number = buffer.number() as usize;
        match buffer.kind() {
            OWN => {
                into.iter_mut().zip(&self.frames[number]).for_each(|(to, from)| *to = from.get())
            }
            _ => into.copy_from_slice(&self.came[number][..into.len()]),
        }
    }

    fn free(&mut self, buffer: Buffer) {
        match buffer.kind() {
            OWN => self.free.push(buffer.number() as u32),
            _ => drop(self.came.remove(buffer.number() as usize)),
        }
    }

    fn bells(&self) -> Arc<dyn Bells> {
        Arc::clone(&self.bells) as _
    }

    fn arm(&mut self, waiter: Waiter) -> Option<Ticket> {
        let bells = Arc::clone(&self.bells);
        // Nothing rings when a pipe has room again.
        bells.arm_unless(waiter, || self.find() || !self.waiting.is_empty())
    }

    fn disarm(&mut self, waiter: Waiter) {
        self.bells.arm(waiter, false);
    }
}
