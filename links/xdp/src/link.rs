//! One rank's attachment.

use crate::interface::MacAddress;
use crate::memory::{Address, Chunk};
use crate::multicast::{of_place, places_of};
use crate::port::{
    BODY_START, ENVELOPE_START, Mode, PortPlan, SEND_START, SharedPlan, WAITING, XdpPort,
};
use crate::rings::Rings;
use rustix::net::sockopt;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use weft_datagram::seal::{Keys, Refusals, Seals};
use weft_datagram::{
    Arrived, Batches, Batching, DatagramBells, Frames, Incoming, OWN, Outgoing, Sent, WayChange,
};
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::clock::{Nanoseconds, SystemClock};
use weft_link::ni::NoNi;
use weft_link::{
    Buffer, Capabilities, Link, LinkViolation, NoShort, Part, PathMtu, Paths, Payload, Received,
    Services, SharedFrames, no_program_memory,
};
use weft_wire::{Header, Rank, Tag, envelope, network};

/// Settings with which a rank attaches.
#[derive(Debug)]
pub struct XdpSettings {
    /// Its way to the interface, of [`crate::XdpHost::open`].
    pub port: XdpPort,
    /// The Ethernet address of every rank's interface, by rank.
    pub peers: Vec<MacAddress>,
    /// Keys of the job, and this rank's number.
    pub keys: Keys,
    /// The narrowest MTU of the ranks' interfaces, in bytes.
    pub mtu: usize,
    /// If the network copies frames to the hosts of all ranks, and these [have
    /// joined](crate::XdpHost::join), the [group](crate::group_of): multicasts to ranks with the
    /// same place on their hosts leave as one frame. Not if packets are encrypted.
    pub group: Option<MacAddress>,
}

/// Counters of a link since it was attached.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counters {
    /// On the way out.
    pub sent: Sent,
    /// Packets that left from where the program had filled them.
    pub in_place: u64,
    /// On the way in.
    pub arrived: Arrived,
    /// Frames that the kernel dropped because this rank did not look, or gave none to land in.
    pub overrun: u64,
    /// Frames that arrived and were not from whom they said, or came before.
    pub refused: Refusals,
    /// Descriptors in the rings that named no frame.
    pub bad_descriptors: u64,
}

type EthernetHeader = [u8; ENVELOPE_START - SEND_START];

/// A link over AF_XDP.
pub struct Xdp {
    rings: Rings,
    frames: Frames<Chunk, Address>,
    /// Number of the first frame's chunk; those of the others follow.
    first_chunk: u32,
    /// Chunks for datagrams that packets are copied to.
    places: Vec<Chunk>,
    /// For a packet that is copied out of the queue that it is copied to.
    scratch: Box<[u8]>,
    outgoing: Outgoing<Chunk>,
    incoming: Incoming<Chunk>,
    seals: Seals,
    capabilities: Capabilities,
    /// Bytes of a frame at most, without the Ethernet header.
    mtu: usize,
    /// Ethernet header of frames to each rank.
    ethernet: Vec<EthernetHeader>,
    /// By rank: the same of one for several, of which that rank is one; empty where the network
    /// copies none.
    groups: Vec<EthernetHeader>,
    mode: Mode,
    /// True if the last allocation found no frame.
    starved: bool,
    in_place: u64,
    bells: Arc<DatagramBells>,
}

/// Ethernet header of frames to `to`.
fn ethernet_header(plan: &SharedPlan, to: MacAddress) -> EthernetHeader {
    let mut bytes = [0; ENVELOPE_START - SEND_START];
    bytes[..6].copy_from_slice(&to.0);
    bytes[6..12].copy_from_slice(&plan.mac.0);
    bytes[12..].copy_from_slice(&plan.ethertype.to_be_bytes());
    bytes
}

impl Xdp {
    /// Attaches to a job.
    ///
    /// # Errors
    /// What the kernel says about the port, or that the settings leave no room for packets.
    pub fn attach(settings: XdpSettings) -> io::Result<Self> {
        let XdpSettings { port, peers, keys, mtu, group } = settings;
        let PortPlan { shared: plan, index } = port.plan;
        let invalid = |text: &str| io::Error::new(io::ErrorKind::InvalidInput, text);
        let ranks = u16::try_from(peers.len()).map_err(|_| invalid("too many ranks"))?;
        let own = keys.own();
        let seals = Seals::new(keys, ranks);
        let trailer_bytes = seals.protection().trailer_bytes();
        let around = envelope::SIZE + network::SIZE + trailer_bytes;
        let mtu = mtu.min(port.mtu());
        let max_payload = mtu.saturating_sub(around) / envelope::ALIGNMENT * envelope::ALIGNMENT;
        if max_payload < envelope::WORDS_BYTES {
            return Err(invalid("frames of that MTU cannot carry packets"));
        }
        let sizes = plan.layout.sizes_of(index);
        let (frames, readers) = (sizes.frames as usize, sizes.receive_frames as usize);
        let ethernet = peers.iter().map(|peer| ethernet_header(&plan, *peer)).collect();
        let mode = port.mode();
        let (rings, mut chunks) = Rings::new(port)?;
        let places = chunks.split_off(frames);
        let with_body = |chunk: Chunk| {
            let body = chunk.at(BODY_START, max_payload);
            (chunk, body)
        };
        let room = ENVELOPE_START..ENVELOPE_START + mtu;
        let mut outgoing = Outgoing::new(peers.len(), WAITING, room, trailer_bytes);
        let (mut groups, mut multicast_payload) = (Vec::new(), max_payload);
        if let Some(group) = group.filter(|_| trailer_bytes == 0) {
            let numbers = places_of(own, &peers);
            let to = |number: &Option<u16>| of_place(group, number.unwrap_or_default());
            groups = numbers.iter().map(|number| ethernet_header(&plan, to(number))).collect();
            multicast_payload = outgoing.share(numbers).min(max_payload);
        }
        Ok(Xdp {
            bells: Arc::new(DatagramBells::new(Arc::clone(&rings.socket) as _)?),
            rings,
            first_chunk: chunks.first().map_or(0, Chunk::index),
            frames: Frames::new(chunks.into_iter().map(with_body)),
            places,
            scratch: vec![0; max_payload].into_boxed_slice(),
            outgoing,
            // Places for arrivals come from the kernel.
            incoming: Incoming::new(readers, Vec::new()),
            seals,
            capabilities: Capabilities {
                max_payload,
                multicast_payload,
                inline_payload: 0,
                lossless: false,
                ordered: false,
                multicast: false,
                frames,
                receive_frames: readers,
                host_frames: 0,
                threads: true,
            },
            mtu,
            ethernet,
            groups,
            mode,
            starved: false,
            in_place: 0,
        })
    }

    /// Mode in which the interface is used.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Counters of this link so far.
    pub fn counters(&self) -> Counters {
        // A kernel that does not count has dropped nothing that we know of.
        let kernel = sockopt::xdp_statistics(&*self.rings.socket).ok();
        let overrun = kernel.map_or(0, |kernel| {
            let sum = kernel.rx_dropped + kernel.rx_ring_full.unwrap_or(0);
            sum + kernel.rx_fill_ring_empty_descs.unwrap_or(0)
        });
        Counters {
            sent: Sent { calls: self.rings.calls, ..self.outgoing.sent },
            in_place: self.in_place,
            arrived: self.incoming.counters,
            overrun,
            refused: *self.seals.refusals(),
            bad_descriptors: self.rings.bad_descriptors,
        }
    }

    /// A descriptor that is readable while frames wait, for who sleeps beside this link's own
    /// bells.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn arrivals(&self) -> io::Result<OwnedFd> {
        self.rings.socket.try_clone()
    }

    /// Seals what waits and has the kernel send it.
    #[inline]
    fn send_waiting(&mut self) {
        if !self.incoming.asking.is_answered() {
            self.outgoing.answer(&mut self.incoming.asking, || self.places.pop());
        }
        self.outgoing.seal(&mut self.seals);
        while let Some(mut first) = self.outgoing.pop() {
            self.outgoing.sent.datagrams += 1;
            let end = first.end();
            let headers = if first.is_for_several() { &self.groups } else { &self.ethernet };
            first.place[SEND_START..ENVELOPE_START].copy_from_slice(&headers[first.to.index()]);
            self.rings.submit(first.place, SEND_START, end);
        }
        let congested = self.rings.kick();
        self.reclaim();
        self.bells.set_congested(congested);
    }

    #[inline]
    fn reclaim(&mut self) {
        while let Some(chunk) = self.rings.reclaim() {
            let frame = chunk.index() - self.first_chunk;
            self.places.extend(self.frames.put_back(frame, chunk).err());
        }
    }

    #[inline]
    fn put(&mut self, to: Rank, header: &Header, body: &[u8]) {
        self.outgoing.put(to, header, body, || self.places.pop());
    }

    /// A packet whose user bytes are in a frame of the program's: sent from there, unless others
    /// can share its datagram, be it packets or receivers, or the frame is on its way to somebody
    /// else, or encryption would change the bytes.
    #[inline]
    fn transmit_frame(&mut self, to: Rank, header: &Header, frame: u32) {
        let size = usize::from(header.size);
        let plain = !self.seals.protection().encrypts();
        let alone = header.tag != Tag::Mcast || !self.outgoing.is_shared(to);
        if plain
            && alone
            && self.outgoing.fills_one(to, size)
            && !self.outgoing.is_full()
            && let Some(chunk) = self.frames.take(frame)
        {
            self.in_place += 1;
            self.outgoing.put_whole(to, header, chunk);
            return;
        }
        let index = self.first_chunk + frame;
        let body = BODY_START..BODY_START + size;
        let Xdp { outgoing, frames, rings, places, .. } = self;
        if let Some(chunk) = frames.peek(frame).or_else(|| rings.sending(index)) {
            outgoing.put(to, header, &chunk[body], || places.pop());
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch[..size].copy_from_slice(self.body(frame, size));
        self.put(to, header, &scratch[..size]);
        self.scratch = scratch;
    }

    /// Body of a frame of the program, wherever it is.
    fn body(&self, frame: u32, size: usize) -> &[u8] {
        let index = self.first_chunk + frame;
        let here = self.frames.peek(frame).or_else(|| self.rings.sending(index));
        let mut waiting = self.outgoing.waiting().iter().map(|waits| &waits.place);
        let chunk = here.or_else(|| waiting.find(|place| place.index() == index));
        let Some(chunk) = chunk else { unreachable!("a frame is here, or on its way") };
        &chunk[BODY_START..BODY_START + size]
    }
}

impl Batching for Xdp {
    #[inline]
    fn has_unflushed(&self) -> bool {
        !self.outgoing.is_empty()
    }

    #[inline]
    fn has_buffered(&self) -> bool {
        self.incoming.has_buffered()
    }

    fn own_bells(&self) -> &DatagramBells {
        &self.bells
    }
}

impl Link for Xdp {
    type Clock = SystemClock;
    type Short = NoShort;
    type Network = Batches;
    type Ni = NoNi;

    const SHORT: Option<NoShort> = None;
    const NETWORK: Option<Batches> = Some(Batches);
    const NI: Option<NoNi> = None;

    fn clock(&self) -> SystemClock {
        SystemClock
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    #[inline]
    fn alloc(&mut self, _: Option<Rank>) -> Option<Buffer> {
        let mut frame = self.frames.alloc();
        if frame.is_none() {
            self.send_waiting();
            frame = self.frames.alloc();
        }
        self.starved = frame.is_none();
        frame.map(|frame| Buffer::new(OWN, frame.into()))
    }

    #[inline]
    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        match self.incoming.bytes(buffer) {
            Some(bytes) => bytes,
            None => self.frames.body(buffer.number() as u32).0,
        }
    }

    #[inline]
    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        if self.outgoing.is_full() {
            self.send_waiting();
        }
        match payload {
            Payload::Buffer(buffer) => match self.incoming.read(buffer, usize::from(header.size)) {
                Some(bytes) => self.outgoing.put(to, header, bytes, || self.places.pop()),
                None => self.transmit_frame(to, header, buffer.number() as u32),
            },
            Payload::Words([first, second]) => {
                let mut bytes = [0; envelope::WORDS_BYTES];
                bytes[..8].copy_from_slice(&first.to_le_bytes());
                bytes[8..].copy_from_slice(&second.to_le_bytes());
                self.put(to, header, &bytes);
            }
            Payload::Empty => self.put(to, header, &[]),
        }
    }

    #[inline]
    fn flush(&mut self) {
        let asked = !self.incoming.asking.is_answered();
        if !self.outgoing.is_empty() || self.rings.has_in_flight() || asked {
            self.send_waiting();
        }
    }

    #[inline(always)]
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        Ok(self.incoming.next(&mut self.rings, &mut self.seals))
    }

    fn has_arrivals(&mut self) -> bool {
        self.incoming.find(&mut self.rings, &mut self.seals)
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        let bytes = match self.incoming.read(buffer, into.len()) {
            Some(bytes) => bytes,
            None => self.body(buffer.number() as u32, into.len()),
        };
        into.copy_from_slice(bytes);
    }

    #[inline]
    fn free(&mut self, buffer: Buffer) {
        if !self.incoming.free(buffer) {
            self.frames.free(buffer.number() as u32);
        }
    }

    fn bells(&self) -> Arc<dyn Bells> {
        Arc::clone(&self.bells) as Arc<dyn Bells>
    }

    fn arm(&mut self, waiter: Waiter) -> Option<Ticket> {
        // Who sleeps sends nothing.
        self.flush();
        self.bells.set_congested(self.wants_room());
        let bells = Arc::clone(&self.bells);
        bells.arm_unless(waiter, || {
            let any = self.has_arrivals();
            // What came may have been a probe.
            self.flush();
            any
        })
    }

    fn disarm(&mut self, waiter: Waiter) {
        self.bells.arm(waiter, false);
    }

    fn services(&self) -> Services {
        Services::default()
    }

    fn shared_frames(&mut self) -> Option<&mut dyn SharedFrames> {
        None
    }

    no_program_memory!();

    fn paths(&mut self) -> Option<&mut dyn Paths> {
        Some(self)
    }
}

impl Paths for Xdp {
    fn payload_to(&self, _: Rank) -> Option<usize> {
        None
    }

    fn is_under_way(&mut self, _: Rank) -> bool {
        false
    }

    fn tend(&mut self, now: Nanoseconds) -> Option<PathMtu> {
        let asking = &mut self.incoming.asking;
        let change = self.outgoing.tend(asking, now, || self.places.pop());
        self.send_waiting();
        change.map(|change| match change {
            WayChange::Narrow { to, most } => PathMtu { to, mtu: most, job: self.mtu },
            WayChange::Wide { to } => PathMtu { to, mtu: self.mtu, job: self.mtu },
        })
    }
}

impl Part for Xdp {
    fn is_own(&self, _: Buffer) -> bool {
        true
    }

    fn transmit_copy(&mut self, to: Rank, header: &Header, bytes: &[u8]) -> bool {
        if self.outgoing.is_full() {
            self.send_waiting();
        }
        self.put(to, header, bytes);
        true
    }

    /// Nothing rings when the kernel has sent a frame: a ring that has room says so all the time,
    /// so that whoever needs a frame looks again and again.
    fn wants_room(&self) -> bool {
        self.bells.is_congested() || self.starved && self.rings.has_in_flight()
    }
}
