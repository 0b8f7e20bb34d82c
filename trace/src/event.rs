//! Events of a rank, and the words that they are in a ring and in a file.
//!
//! ```text
//! word 0   time in nanoseconds, by the clock of the rank's host
//! word 1   kind (8) | tag (8) | protocol (8) | part (8) | peer (16) | size (16)
//! word 2   packet: sequence (32) | tree (32)      else: number (64)
//! word 3   packet: user bytes 0 to 7              text: bytes 0 to 7      else: a count
//! word 4   packet: user bytes 8 to 15             text: bytes 8 to 15
//! ```

use weft_wire::{GroupId, Protocol, Rank, Tag, TreeId};

/// Words of an event.
pub const WORDS: usize = 5;
/// Bytes of a text that one event holds. A longer one is several events in a row.
pub const TEXT_BYTES: usize = 16;
/// Longest text of a trace, in bytes: [`TEXT_BYTES`] for each value of `part`.
pub const LONGEST_TEXT: usize = TEXT_BYTES * 255;

/// Number of unexpected messages from which on they are written down.
pub const MANY_UNEXPECTED: u32 = 64;

/// Counters of a rank that recordings by samples have, by their places: those of whole data packets
/// and their user bytes, and of what threads of the rank did.
pub const COUNTERS: [&str; 8] = [
    "packets_sent",
    "packets_received",
    "bytes_sent",
    "bytes_received",
    "blocked_sends",
    "retransmissions",
    "interrupts",
    "sleeps",
];

/// Words of an event, as a ring has them.
pub type EventWords = [u64; WORDS];

/// Something that happened at a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Time in nanoseconds, by the clock of the rank's host.
    pub time: u64,
    /// Kind of the event.
    pub what: What,
}

/// Kind of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A packet was handed to the link.
    Sent(PacketEvent),
    /// A packet was taken from the link.
    Received(PacketEvent),
    /// The rank waits, from its first empty poll on.
    WaitBegins,
    /// The wait is over.
    WaitEnds,
    /// The wait sleeps from here on. Texts of [`NamedThing::Wait`] may follow.
    SleepBegins,
    /// The sleep is over.
    SleepEnds,
    /// A span of the program or of a system begins, the name of which has this number.
    SpanBegins(u32),
    /// The span ends that began last with this name.
    SpanEnds(u32),
    /// A handler of this port, or of this system if it has none, begins.
    HandlerBegins(u32),
    /// One of this port that has waited goes on.
    HandlerGoesOn(u32),
    /// It ends, or waits without a thread of its own.
    HandlerEnds(u32),
    /// A handler begins that has a thread to itself, beside all else that the rank does.
    PopupBegins {
        /// Number of its port.
        port: u32,
        /// Number of the run, of which a rank has each once.
        run: u64,
    },
    /// It ends.
    PopupEnds {
        /// Number of its port.
        port: u32,
        /// Number of the run.
        run: u64,
    },
    /// The rank has sent an ordered broadcast.
    Submitted {
        /// Number of the order.
        order: u32,
        /// Sequence number of the message in it.
        number: u64,
    },
    /// A message of an order was handed over to the rank's handler, or to its program.
    Delivered {
        /// Number of the order.
        order: u32,
        /// Sequence number of the message in it.
        number: u64,
        /// Rank that sent it, which may be this one.
        from: Rank,
    },
    /// The rank has copied bytes into memory of another one, without a packet.
    Put {
        /// Rank that has the memory.
        to: Rank,
        /// Number of bytes.
        bytes: u64,
    },
    /// The rank has copied bytes out of memory of another one, without a packet.
    Got {
        /// Rank that has the memory.
        from: Rank,
        /// Number of bytes.
        bytes: u64,
    },
    /// The rank was interrupted to take packets while it computed.
    Interrupted,
    /// The rank has come to a meeting of this number, as all others of it do, through memory that
    /// they share. The last rank to come ends the waits of the others.
    Meets(u32),
    /// So many messages have come to the rank that no receive wants yet. Written down when that is
    /// a power of two, from [`MANY_UNEXPECTED`] on.
    Unexpected(u32),
    /// Time for which the rank's first thread had a core, and for which it was ready to run without
    /// one, since the last of these events; the first one is about the time before it.
    Scheduled {
        /// Time on a core, in nanoseconds.
        on_core_ns: u64,
        /// Time in the queue of one, in nanoseconds: its run delay.
        run_delay_ns: u64,
    },
    /// The wait under way is for this rank, as far as a recording by samples knows.
    WaitsFor(Rank),
    /// A counter of the rank has grown, in a recording by samples, since its last such event.
    Counted {
        /// Place of the counter among those of a rank.
        counter: u8,
        /// Number by which it has grown.
        more: u64,
    },
    /// The rank was looked at so often since the last of these events, in a recording by samples.
    Looked {
        /// Number of looks.
        times: u64,
        /// Longest time from one look to the next, in nanoseconds.
        longest_ns: u64,
    },
    /// A part of a text.
    Text {
        /// Thing that the text names.
        named: NamedThing,
        /// Number of that thing.
        number: u32,
        /// Number of the part, from 0.
        part: u8,
        /// Bytes, zeros behind the last one.
        bytes: [u8; TEXT_BYTES],
    },
}

/// Thing that a text names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NamedThing {
    /// Name of a span.
    Span,
    /// Name of a port.
    Port,
    /// Name of an order.
    Order,
    /// Object of the wait that is under way, for a person.
    Wait,
}

/// A packet that went out or came in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketEvent {
    /// Rank at the other end.
    pub peer: Rank,
    /// Kind of the packet.
    pub tag: Tag,
    /// System that it belongs to.
    pub protocol: Protocol,
    /// Number of user bytes.
    pub size: u16,
    /// Sequence number, where packets have one.
    pub sequence: u32,
    /// Root of the tree on which it travels: the rank that sent it first.
    pub root: Rank,
    /// Group that it is for; `None` if it is for one rank.
    pub group: Option<GroupId>,
    /// First user bytes, zeros behind the last one.
    pub head: [u8; TEXT_BYTES],
}

/// Writes down what happens at a rank.
pub trait Recorder: Send + Sync {
    /// Writes this down, at the time that it is now.
    fn record(&self, what: &What);

    /// Notes that the program, which polls, has found nothing, and polls again.
    fn looked_in_vain(&self) {}
}

/// Writes down a text. Of one that is longer than [`LONGEST_TEXT`] the beginning is kept.
pub fn record_text(recorder: &dyn Recorder, named: NamedThing, number: u32, text: &str) {
    text_parts(named, number, text).for_each(|part| recorder.record(&part));
}

/// The parts of a text. Of one that is longer than [`LONGEST_TEXT`] the beginning is kept.
pub fn text_parts(named: NamedThing, number: u32, text: &str) -> impl Iterator<Item = What> {
    (0..u8::MAX).zip(text.as_bytes().chunks(TEXT_BYTES)).map(move |(part, chunk)| {
        let mut bytes = [0; TEXT_BYTES];
        bytes[..chunk.len()].copy_from_slice(chunk);
        What::Text { named, number, part, bytes }
    })
}

impl Event {
    /// The words of this event.
    #[inline]
    pub fn to_words(&self) -> EventWords {
        let kind = |kind: u8| u64::from(kind);
        let short = |code: u8, number: u32| [self.time, kind(code), number.into(), 0, 0];
        let counted = |code: u8, peer: Rank, number: u32, count: u64| {
            [self.time, kind(code) | u64::from(peer.0) << 32, number.into(), count, 0]
        };
        match &self.what {
            What::Sent(packet) => packet.words(self.time, 1),
            What::Received(packet) => packet.words(self.time, 2),
            What::WaitBegins => short(3, 0),
            What::WaitEnds => short(4, 0),
            What::SleepBegins => short(5, 0),
            What::SleepEnds => short(6, 0),
            What::SpanBegins(name) => short(7, *name),
            What::SpanEnds(name) => short(8, *name),
            What::HandlerBegins(port) => short(9, *port),
            What::HandlerEnds(port) => short(10, *port),
            What::Interrupted => short(11, 0),
            What::Meets(number) => short(13, *number),
            What::Unexpected(messages) => short(14, *messages),
            What::Scheduled { on_core_ns, run_delay_ns } => {
                [self.time, 15, 0, *on_core_ns, *run_delay_ns]
            }
            What::HandlerGoesOn(port) => short(16, *port),
            What::PopupBegins { port, run } => counted(17, Rank(0), *port, *run),
            What::PopupEnds { port, run } => counted(18, Rank(0), *port, *run),
            What::Submitted { order, number } => counted(19, Rank(0), *order, *number),
            What::Delivered { order, number, from } => counted(20, *from, *order, *number),
            What::Put { to, bytes } => counted(21, *to, 0, *bytes),
            What::Got { from, bytes } => counted(22, *from, 0, *bytes),
            What::WaitsFor(rank) => counted(23, *rank, 0, 0),
            What::Counted { counter, more } => counted(24, Rank(0), (*counter).into(), *more),
            What::Looked { times, longest_ns } => [self.time, 25, 0, *times, *longest_ns],
            What::Text { named, number, part, bytes } => {
                let [low, high] = words_of(bytes);
                let first = 12 | named.to_bits() << 8 | u64::from(*part) << 24;
                [self.time, first, (*number).into(), low, high]
            }
        }
    }

    /// The event that these words are; `None` if they are none. They may come from anywhere.
    pub fn of_words(words: &EventWords) -> Option<Self> {
        let [time, first, number, low, high] = *words;
        let name = u32::try_from(number);
        let peer = Rank((first >> 32) as u16);
        let what = match first as u8 {
            1 => What::Sent(PacketEvent::of_words(words)?),
            2 => What::Received(PacketEvent::of_words(words)?),
            3 => What::WaitBegins,
            4 => What::WaitEnds,
            5 => What::SleepBegins,
            6 => What::SleepEnds,
            7 => What::SpanBegins(name.ok()?),
            8 => What::SpanEnds(name.ok()?),
            9 => What::HandlerBegins(name.ok()?),
            10 => What::HandlerEnds(name.ok()?),
            11 => What::Interrupted,
            13 => What::Meets(name.ok()?),
            14 => What::Unexpected(name.ok()?),
            15 => What::Scheduled { on_core_ns: low, run_delay_ns: high },
            16 => What::HandlerGoesOn(name.ok()?),
            17 => What::PopupBegins { port: name.ok()?, run: low },
            18 => What::PopupEnds { port: name.ok()?, run: low },
            19 => What::Submitted { order: name.ok()?, number: low },
            20 => What::Delivered { order: name.ok()?, number: low, from: peer },
            21 => What::Put { to: peer, bytes: low },
            22 => What::Got { from: peer, bytes: low },
            23 => What::WaitsFor(peer),
            24 => What::Counted { counter: u8::try_from(number).ok()?, more: low },
            25 => What::Looked { times: low, longest_ns: high },
            12 => What::Text {
                named: NamedThing::from_bits((first >> 8) as u8)?,
                number: name.ok()?,
                part: (first >> 24) as u8,
                bytes: bytes_of([low, high]),
            },
            _ => return None,
        };
        Some(Event { time, what })
    }
}

impl NamedThing {
    fn to_bits(self) -> u64 {
        match self {
            NamedThing::Span => 0,
            NamedThing::Port => 1,
            NamedThing::Wait => 2,
            NamedThing::Order => 3,
        }
    }

    fn from_bits(bits: u8) -> Option<Self> {
        [NamedThing::Span, NamedThing::Port, NamedThing::Wait, NamedThing::Order]
            .get(usize::from(bits))
            .copied()
    }
}

/// Tree of a packet that is for one rank.
const NO_GROUP: u16 = u16::MAX;

impl PacketEvent {
    #[inline]
    fn words(self, time: u64, kind: u64) -> EventWords {
        let PacketEvent { peer, tag, protocol, size, sequence, root, group, head } = self;
        let first = kind
            | (tag as u64) << 8
            | (protocol.index() as u64) << 16
            | u64::from(peer.0) << 32
            | u64::from(size) << 48;
        let group = group.map_or(NO_GROUP, |group| group.0);
        let second = u64::from(sequence) | u64::from(root.0) << 32 | u64::from(group) << 48;
        let [low, high] = words_of(&head);
        [time, first, second, low, high]
    }

    fn of_words(words: &EventWords) -> Option<Self> {
        let [_, first, second, low, high] = *words;
        let group = (second >> 48) as u16;
        Some(PacketEvent {
            peer: Rank((first >> 32) as u16),
            tag: Tag::try_from((first >> 8) as u8).ok()?,
            protocol: Protocol::numbered((first >> 16) as u8)?,
            size: (first >> 48) as u16,
            sequence: second as u32,
            root: Rank((second >> 32) as u16),
            group: (group != NO_GROUP).then_some(GroupId(group)),
            head: bytes_of([low, high]),
        })
    }

    /// The event of a packet with this header, of which `head` are the first user bytes, from or to
    /// `peer`.
    #[inline]
    pub fn new(peer: Rank, header: &weft_wire::Header, head: [u8; TEXT_BYTES]) -> Self {
        let TreeId { root, protocol, .. } = header.tree;
        PacketEvent {
            peer,
            tag: header.tag,
            protocol,
            size: header.size,
            sequence: header.sequence,
            root,
            group: header.tree.group(),
            head,
        }
    }
}

#[inline]
fn words_of(bytes: &[u8; TEXT_BYTES]) -> [u64; 2] {
    std::array::from_fn(|word| {
        u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 * word + byte]))
    })
}

fn bytes_of(words: [u64; 2]) -> [u8; TEXT_BYTES] {
    std::array::from_fn(|byte| words[byte / 8].to_le_bytes()[byte % 8])
}

#[cfg(test)]
mod tests;
