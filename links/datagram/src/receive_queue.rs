//! Datagrams that arrived, and the places that hold them.
//!
//! A place is *spare*, or the kernel may write to it, or it *arrived* and nobody has looked, or it
//! is *open*: somebody reads a packet in it. One is never lent to readers, so that something can
//! always land.

use crate::pieces::{Assembly, Run};
use crate::seal::{EVERYBODY, FrameKind, Opened, Seals};
use std::collections::VecDeque;
use std::ops::{DerefMut, Range};
use std::ptr::NonNull;
use weft_link::{Buffer, Payload, Received};
use weft_wire::path::{Probe, ProbeAnswer};
use weft_wire::{Header, Rank, Tag, atomic, envelope, network};

/// Times that the kernel is asked in one look for packets. Adversaries may send faster than they
/// are refused, and the node has other things to do: the next poll goes on.
const LOOKS: usize = 2;

/// Kind of the frames that a link sends from; others are those of [`ReceiveQueue`].
pub const OWN: u8 = 0;
/// Kind of frames that were received.
const RECEIVED: u8 = 1;

/// Counters of datagrams on their way in.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ArrivalCounters {
    /// Datagrams that the kernel had.
    pub datagrams: u64,
    /// Looks, those that found nothing included; each is a system call on UDP.
    pub looks: u64,
    /// Packets that were dropped because readers held all places.
    pub without_frame: u64,
    /// Packets that came in pieces.
    pub joined: u64,
}

/// Frames that arrived and want an answer, and answers, until the send queue takes them: of each
/// rank at most one of either kind.
#[derive(Debug, Default)]
pub struct PendingAnswers {
    /// Answers to be sent to those who probe the way to here; to a goodbye, one of our own.
    pub(crate) questions: Vec<(Rank, Option<ProbeAnswer>)>,
    /// Answers to the probes of this rank.
    pub(crate) answers: Vec<(Rank, ProbeAnswer)>,
}

impl PendingAnswers {
    /// True if nobody waits for an answer.
    #[inline]
    pub fn is_answered(&self) -> bool {
        self.questions.is_empty()
    }
}

/// Notes what `from` said last.
fn note<T>(of: &mut Vec<(Rank, T)>, from: Rank, answer: T) {
    of.retain(|(rank, _)| *rank != from);
    of.push((from, answer));
}

/// Bytes that landed in a buffer, from `start` to `end`: datagrams of one size, the last of them
/// perhaps shorter.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Landed {
    /// Offset of the first datagram.
    pub start: usize,
    /// Offset behind the last datagram.
    pub end: usize,
    /// The size of all but the last.
    pub datagram_bytes: usize,
}

/// Source of buffers with datagrams that arrived.
pub trait ArrivalSource<P> {
    /// Looks for datagrams that arrived and adds their places to `arrived`; takes of `spare` what
    /// others can land in. Says whether it found any.
    fn look(&mut self, spare: &mut Vec<P>, arrived: &mut VecDeque<(P, Landed)>) -> bool;

    /// End of the datagram that was found last, if that is not in its place but where it belongs: a
    /// source that has such finds one datagram at a time.
    #[inline]
    fn tail(&self) -> &[u8] {
        &[]
    }

    /// The datagram with this [end](Self::tail) was opened, and was authentic, or was not.
    fn has_opened_tail(&mut self, is_authentic: bool) {
        let _ = is_authentic;
    }

    /// A datagram that it found was refused: bytes that it has believed may be anybody's.
    fn was_refused(&mut self) {}
}

/// Frames that are there already, each in a buffer of its own: where no network brings them.
impl ArrivalSource<Box<[u8]>> for VecDeque<Box<[u8]>> {
    fn look(
        &mut self,
        _: &mut Vec<Box<[u8]>>,
        arrived: &mut VecDeque<(Box<[u8]>, Landed)>,
    ) -> bool {
        let found = !self.is_empty();
        arrived.extend(self.drain(..).map(|frame| {
            let end = frame.len();
            (frame, Landed { start: 0, end, datagram_bytes: end })
        }));
        found
    }
}

/// The arrivals of one rank.
pub struct ReceiveQueue<P> {
    spare: Vec<P>,
    arrived: VecDeque<(P, Landed)>,
    open: Vec<Open<P>>,
    /// Indices in `open` that are free.
    closed: Vec<u32>,
    /// The place whose packets come next.
    current: Option<Current>,
    /// Ranges of the current buffer that hold more packets.
    more: VecDeque<Range<usize>>,
    /// Packets that came in pieces, and that nobody has taken.
    whole: VecDeque<Box<[u8]>>,
    /// By rank, as far as any was heard of.
    senders: Vec<Sender>,
    /// Probes that arrived.
    pub pending_answers: PendingAnswers,
    /// Ranks whose last frame has arrived.
    pub gone: Vec<Rank>,
    /// Counters of datagrams so far.
    pub counters: ArrivalCounters,
}

struct Open<P> {
    place: Option<OpenPlace<P>>,
    readers: u32,
}

/// Place that is open.
enum OpenPlace<P> {
    /// One of the link's.
    Link(P),
    /// Memory of one packet that came in pieces.
    Whole(Box<[u8]>),
}

impl<P: DerefMut<Target = [u8]>> OpenPlace<P> {
    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            OpenPlace::Link(place) => place,
            OpenPlace::Whole(packet) => packet,
        }
    }
}

/// State of a rank that was heard of.
#[derive(Default)]
struct Sender {
    /// Bytes of its longest frame since it was answered.
    longest: u32,
    assembly: Assembly,
}

/// A place of which not all packets have been taken.
struct Current {
    frame: u32,
    packets: Range<usize>,
    first: First,
}

/// The first packet of a place.
enum First {
    /// One of several, or of as many as there are.
    Unread,
    /// The only one, with this header.
    Alone(Header),
    /// The only one, of which the end is elsewhere.
    Cut,
}

/// Places that [`ArrivalSource::look`] finds at once, as a rule.
const MOST: usize = 32;

impl<P: DerefMut<Target = [u8]>> ReceiveQueue<P> {
    /// With these places; others may come from the source. Readers hold so many at most.
    pub fn new(readers: usize, spare: Vec<P>) -> Self {
        let places = readers + 1;
        ReceiveQueue {
            spare,
            arrived: VecDeque::with_capacity(MOST),
            open: (0..places).map(|_| Open { place: None, readers: 0 }).collect(),
            closed: (0..places as u32).rev().collect(),
            current: None,
            more: VecDeque::with_capacity(MOST),
            whole: VecDeque::new(),
            senders: Vec::new(),
            pending_answers: PendingAnswers::default(),
            gone: Vec::new(),
            counters: ArrivalCounters::default(),
        }
    }

    /// The next packet, from places that arrived or else from the source.
    #[inline]
    pub fn next(
        &mut self,
        source: &mut impl ArrivalSource<P>,
        seals: &mut Seals,
    ) -> Option<Received> {
        while self.find(source, seals) {
            if let Some(received) = self.take() {
                return Some(received);
            }
        }
        None
    }

    /// Looks for a packet, without taking it.
    #[inline]
    pub fn find(&mut self, source: &mut impl ArrivalSource<P>, seals: &mut Seals) -> bool {
        let mut looks = 0..LOOKS;
        while self.current.is_none() {
            if let Some(packet) = self.whole.pop_front() {
                let packets = 0..packet.len();
                self.enter(OpenPlace::Whole(packet), packets, First::Unread);
                break;
            }
            match self.arrived.pop_front() {
                Some((place, landed)) if source.tail().is_empty() => {
                    self.open(place, landed, source, seals);
                }
                Some((place, landed)) => self.open_cut(place, landed, source, seals),
                None if looks.next().is_some() && self.look(source) => {}
                None => return false,
            }
        }
        true
    }

    /// Header of the packet that a look has [found](Self::find), which comes next.
    pub fn header(&self) -> Option<Header> {
        let Current { frame, packets, first } = self.current.as_ref()?;
        match first {
            First::Alone(header) => Some(*header),
            _ => {
                network::split(&self.place(*frame)[packets.clone()]).ok().map(|(header, _)| header)
            }
        }
    }

    /// True if a packet can be had without a look at the source; datagrams of outsiders may be
    /// taken for one.
    #[inline]
    pub fn has_buffered(&self) -> bool {
        self.current.is_some() || !self.arrived.is_empty() || !self.whole.is_empty()
    }

    #[inline]
    fn look(&mut self, source: &mut impl ArrivalSource<P>) -> bool {
        self.counters.looks += 1;
        source.look(&mut self.spare, &mut self.arrived)
    }

    /// Opens what landed in `place`, before anybody reads in it.
    #[inline]
    fn open(
        &mut self,
        mut place: P,
        landed: Landed,
        source: &mut impl ArrivalSource<P>,
        seals: &mut Seals,
    ) {
        let Landed { start, end, datagram_bytes } = landed;
        if end - start > datagram_bytes {
            return self.open_joined(place, landed, source, seals);
        }
        self.counters.datagrams += 1;
        let Ok(opened) = seals.open(&mut place[start..end]) else {
            source.was_refused();
            return self.spare.push(place);
        };
        let contents = start + opened.contents.start..start + opened.contents.end;
        if opened.kind == FrameKind::PROBE || opened.destination != EVERYBODY {
            self.came(opened.source, end - start);
        }
        if opened.kind == FrameKind::PACKETS {
            let first = opened.alone.map_or(First::Unread, First::Alone);
            return self.enter(OpenPlace::Link(place), contents, first);
        }
        self.take_other(&opened, &place[contents]);
        self.spare.push(place);
    }

    /// Opens all datagrams that landed in `place`.
    #[inline(never)]
    fn open_joined(
        &mut self,
        mut place: P,
        landed: Landed,
        source: &mut impl ArrivalSource<P>,
        seals: &mut Seals,
    ) {
        let (mut start, mut run) = (landed.start, None);
        while start < landed.end {
            let end = landed.end.min(start + landed.datagram_bytes.max(1));
            self.counters.datagrams += 1;
            match seals.open(&mut place[start..end]) {
                Ok(opened) => {
                    let contents = start + opened.contents.start..start + opened.contents.end;
                    // Where systems hand on what is joined, interfaces let pass what is too long
                    // alone.
                    if opened.kind == FrameKind::PROBE {
                        self.came(opened.source, end - start);
                    }
                    match opened.kind {
                        FrameKind::PACKETS => self.more.push_back(contents),
                        FrameKind::PIECE => {
                            self.take_piece(&mut run, opened.source, &mut place, contents);
                        }
                        _ => self.take_other(&opened, &place[contents]),
                    }
                }
                Err(_) => source.was_refused(),
            }
            start = end;
        }
        self.leave(run, &place);
        match self.more.pop_front() {
            Some(packets) => self.enter(OpenPlace::Link(place), packets, First::Unread),
            None => self.spare.push(place),
        }
    }

    /// Takes a piece that `source` sent, in a place with others.
    fn take_piece(
        &mut self,
        run: &mut Option<Run>,
        source: Rank,
        place: &mut [u8],
        piece: Range<usize>,
    ) {
        let goes_on = run.as_mut().is_some_and(|run| run.goes_on(source, place, piece.clone()));
        if !goes_on {
            self.leave(run.take(), place);
            *run = Run::begin(source, place, piece.clone());
            if run.is_none() {
                return self.assemble(source, &place[piece]);
            }
        }
        if let Some(whole) = run.take_if(|run| run.is_whole())
            && let Some(packet) = whole.packet(place)
        {
            self.counters.joined += 1;
            self.more.push_back(packet);
        }
    }

    /// Leaves a run whose rest has yet to come.
    fn leave(&mut self, run: Option<Run>, place: &[u8]) {
        if let Some(run) = run {
            self.assemble(run.source(), run.contents(place));
        }
    }

    /// Puts a piece of `source` to those that came before.
    fn assemble(&mut self, source: Rank, piece: &[u8]) {
        let packet = self.sender(source).assembly.add(source, piece);
        self.counters.joined += u64::from(packet.is_some());
        self.whole.extend(packet);
    }

    /// Opens a datagram whose end is elsewhere.
    fn open_cut(
        &mut self,
        mut place: P,
        landed: Landed,
        source: &mut impl ArrivalSource<P>,
        seals: &mut Seals,
    ) {
        let Landed { start, end, .. } = landed;
        self.counters.datagrams += 1;
        let bytes = end - start + source.tail().len();
        let opened = seals.open_parts(&mut place[start..end], source.tail());
        source.has_opened_tail(opened.is_ok());
        let Ok(opened) = opened else { return self.spare.push(place) };
        self.came(opened.source, bytes);
        let Range { start: from, end: to } = opened.contents;
        self.enter(OpenPlace::Link(place), start + from..start + to, First::Cut);
    }

    /// A frame of this length has come from `source` for this rank alone.
    #[inline]
    fn came(&mut self, source: Rank, bytes: usize) {
        let longest = &mut self.sender(source).longest;
        *longest = (*longest).max(bytes as u32);
    }

    /// True if a frame has come from `source` since this was asked the last time. Not for links
    /// that answer probes.
    pub fn has_come(&mut self, source: Rank) -> bool {
        std::mem::take(&mut self.sender(source).longest) > 0
    }

    #[inline]
    fn sender(&mut self, source: Rank) -> &mut Sender {
        if source.index() >= self.senders.len() {
            self.senders.resize_with(source.index() + 1, Sender::default);
        }
        &mut self.senders[source.index()]
    }

    /// A frame whose contents are no packets.
    #[cold]
    fn take_other(&mut self, opened: &Opened, contents: &[u8]) {
        let source = opened.source;
        match opened.kind {
            FrameKind::PIECE => self.assemble(source, contents),
            FrameKind::PROBE => {
                if let Some(Probe { round: round @ 1.. }) = Probe::parse(contents) {
                    let longest = std::mem::take(&mut self.sender(source).longest);
                    note(
                        &mut self.pending_answers.questions,
                        source,
                        Some(ProbeAnswer { round, longest }),
                    );
                }
            }
            FrameKind::ANSWER => {
                if let Some(answer) = ProbeAnswer::parse(contents) {
                    note(&mut self.pending_answers.answers, source, answer);
                }
            }
            FrameKind::GOODBYE => self.note_gone(source),
            _ => {}
        }
    }

    /// Notes that a rank has said goodbye, here or elsewhere; it is answered once.
    pub fn note_gone(&mut self, rank: Rank) {
        if !self.gone.contains(&rank) {
            self.gone.push(rank);
            note(&mut self.pending_answers.questions, rank, None);
        }
    }

    /// Address of the packets in the received frame that `buffer` names.
    pub fn bytes(&self, buffer: Buffer) -> Option<NonNull<u8>> {
        let (frame, at) = split(buffer)?;
        let bytes = &self.place(frame)[at..];
        Some(NonNull::from(bytes).cast())
    }

    /// The `size` bytes that `buffer` names, if it was received.
    #[inline]
    pub fn read(&self, buffer: Buffer, size: usize) -> Option<&[u8]> {
        let (frame, at) = split(buffer)?;
        Some(&self.place(frame)[at..at + size])
    }

    /// A reader is done; false if the buffer was not received.
    #[inline]
    pub fn free(&mut self, buffer: Buffer) -> bool {
        let Some((frame, _)) = split(buffer) else { return false };
        self.release(frame);
        true
    }

    /// Begins to take packets from a frame, which counts as its reader meanwhile.
    #[inline]
    fn enter(&mut self, place: OpenPlace<P>, packets: Range<usize>, first: First) {
        let Some(frame) = self.closed.pop() else {
            unreachable!("one is never lent, and the current place was left");
        };
        self.open[frame as usize] = Open { place: Some(place), readers: 1 };
        self.current = Some(Current { frame, packets, first });
    }

    /// The next packet of the current frame; `None` if it had to be dropped.
    #[inline]
    fn take(&mut self) -> Option<Received> {
        let Current { frame, packets, first } = self.current.as_mut()?;
        let frame = *frame;
        if let First::Alone(header) = first
            && matches!(header.tag, Tag::Ucast | Tag::Mcast)
        {
            let (header, at) = (*header, packets.start + network::SIZE);
            self.current = None;
            return self.lend_alone(frame, header, at);
        }
        let Some(place) = &self.open[frame as usize].place else {
            unreachable!("the current place is open");
        };
        let bytes = &place.bytes()[packets.clone()];
        let read = match first {
            First::Cut => network::split(bytes).map(|(header, body)| (header, body, bytes.len())),
            _ => envelope::first(bytes),
        };
        let Ok((header, body, length)) = read else {
            unreachable!("an opened frame holds packets to its end");
        };
        let payload = match header.tag {
            Tag::Ucast | Tag::Mcast => {
                let at = packets.start + network::SIZE;
                Payload::Buffer(buffer(frame, at))
            }
            _ => words(&header, body),
        };
        packets.start += length;
        let is_last = packets.start == packets.end;
        let lent = matches!(payload, Payload::Buffer(_));
        // This place may be the one that must not be lent.
        let dropped = lent && self.closed.is_empty();
        if dropped {
            self.counters.without_frame += 1;
        } else if lent {
            self.open[frame as usize].readers += 1;
        }
        if is_last && let Some(next) = self.more.pop_front() {
            *packets = next;
        } else if is_last {
            self.current = None;
            self.release(frame);
        }
        (!dropped).then_some(Received { header, payload })
    }

    /// The only packet of a frame, which its reader has from here on; `None` if the place must not
    /// be lent.
    #[inline]
    fn lend_alone(&mut self, frame: u32, header: Header, at: usize) -> Option<Received> {
        if self.closed.is_empty() {
            self.counters.without_frame += 1;
            self.release(frame);
            return None;
        }
        let payload = Payload::Buffer(buffer(frame, at));
        Some(Received { header, payload })
    }

    #[inline]
    fn place(&self, frame: u32) -> &[u8] {
        match &self.open[frame as usize].place {
            Some(place) => place.bytes(),
            None => unreachable!("a buffer names an open place until it is freed"),
        }
    }

    /// Ends one use of a frame; after the last its buffer is spare.
    #[inline]
    fn release(&mut self, frame: u32) {
        let open = &mut self.open[frame as usize];
        debug_assert!(open.readers > 0, "a frame was freed twice");
        open.readers -= 1;
        if open.readers == 0 {
            if let Some(OpenPlace::Link(place)) = open.place.take() {
                self.spare.push(place);
            }
            self.closed.push(frame);
        }
    }
}

/// Payload of a packet without user bytes.
fn words(header: &Header, body: &[u8]) -> Payload {
    match header.tag {
        Tag::FaRequest | Tag::FaReply => Payload::Words(atomic::from_bytes(body)),
        _ => Payload::Empty,
    }
}

/// The received buffer that is there in a frame.
#[inline]
fn buffer(frame: u32, at: usize) -> Buffer {
    Buffer::new(RECEIVED, u64::from(frame) << 32 | at as u64)
}

/// The frame that a received buffer is in, and where.
#[inline]
fn split(buffer: Buffer) -> Option<(u32, usize)> {
    let number = buffer.number();
    (buffer.kind() == RECEIVED).then_some(((number >> 32) as u32, number as u32 as usize))
}
