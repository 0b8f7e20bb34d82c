//! Messages with tags: packets as bytes, and one rank that is told anything.

use crate::wires::{RANKS, Wires};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use weft_endpoint::Rank;
use weft_tagged::format::{TaggedPacket, Whole, parse};
use weft_tagged::peer::window_of;
use weft_tagged::{
    Address, Exchange, ExchangeEvent, MessageEnvelope, ReceivePattern, Receiver, Result,
    SendParameters, SendSource, Sending, Sink, Tagging,
};

/// Round trip of a packet: what was parsed encodes to the same bytes.
pub fn packet(data: &[u8]) {
    let Some(parsed) = parse(Rank(1), data) else { return };
    let head = parsed.head();
    let bytes = match parsed {
        TaggedPacket::Whole(Whole { bytes, .. })
        | TaggedPacket::First { bytes, .. }
        | TaggedPacket::More { bytes, .. }
        | TaggedPacket::Part { bytes, .. } => bytes,
        _ => &[],
    };
    assert_eq!([head.bytes(), bytes].concat(), data);
}

/// So many bytes of the program's, which are not there: only their number matters.
#[derive(Debug)]
struct Bytes {
    number: u32,
    length: usize,
    /// Number of bytes received.
    received: u64,
    /// Memory to which some of them may be fetched.
    room: Vec<u8>,
}

impl SendSource for Bytes {
    fn length(&self) -> u64 {
        self.length as u64
    }

    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        assert!(offset as usize + length <= self.length, "only what is there leaves");
        take(&vec![0; length]);
    }

    fn lies_at(&self) -> Option<u64> {
        Some(u64::from(self.number))
    }
}

impl Sink for Bytes {
    fn capacity(&self) -> u64 {
        self.length as u64
    }

    fn place(&mut self, offset: u64, bytes: &[u8]) {
        assert_eq!(offset, self.received, "bytes come in order");
        self.received += bytes.len() as u64;
    }

    fn room(&mut self, offset: u64, length: usize) -> Option<&mut [u8]> {
        assert!(offset as usize + length <= self.length, "only what there is room for is fetched");
        self.room.resize(length, 0);
        Some(&mut self.room)
    }
}

impl Receiver<Bytes> for BTreeSet<u32> {
    fn wants(&self, into: &Bytes, _length: u64) -> bool {
        into.number.is_multiple_of(2)
    }

    fn receive(&mut self, mut into: Bytes, _envelope: &MessageEnvelope, bytes: &[u8]) {
        into.place(0, bytes);
        assert!(self.remove(&into.number));
    }
}

/// The program of rank 0, which keeps its contract, and what it has been told.
struct Program {
    exchange: Exchange<Bytes, Bytes>,
    wires: Wires,
    begun: u32,
    sends: BTreeSet<u32>,
    receives: BTreeSet<u32>,
    /// Numbers of requests and grants, which peers answer.
    requests: Vec<u64>,
    grants: Vec<u64>,
    /// Bytes that have come of messages that were granted.
    parted: BTreeMap<u64, u64>,
    /// Bytes that have come of the message that each peer sends in several packets.
    come: [u64; RANKS as usize],
}

impl Program {
    fn bytes(&mut self, length: usize) -> Bytes {
        self.begun += 1;
        Bytes { number: self.begun, length, received: 0, room: Vec::new() }
    }

    fn send(&mut self, to: u16, tag: u64, length: usize, wants_done: bool) {
        let to = Address { rank: Rank(to % RANKS), endpoint: 0 };
        let message =
            SendParameters { to, from: 0, kind: Tagging::Tagged, tag, data: Some(tag), wants_done };
        let source = self.bytes(length);
        let number = source.number;
        match self.exchange.send(&mut self.wires, &message, source) {
            Ok(Sending::Kept) => assert!(self.sends.insert(number)),
            Ok(Sending::Sent(_) | Sending::Again(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }

    fn receive(&mut self, pattern: ReceivePattern, length: usize) {
        let into = self.bytes(length);
        self.receives.insert(into.number);
        self.exchange.receive(0, Tagging::Tagged, pattern, into);
    }

    fn arrive(&mut self, from: Rank, packet: &[u8]) -> Result<()> {
        let Program { exchange, wires, receives, parted, .. } = self;
        if exchange.arrive_expected(from, packet, receives) {
            return Ok(());
        }
        // Both ways lead to the same end.
        if packet.len().is_multiple_of(2) || !exchange.arrive_inside(from, packet)? {
            exchange.arrive(wires, from, packet)?;
        }
        match parse(from, packet) {
            Some(TaggedPacket::First { bytes, .. }) => self.come[from.index()] = bytes.len() as u64,
            Some(TaggedPacket::More { bytes, .. }) => self.come[from.index()] += bytes.len() as u64,
            Some(TaggedPacket::Part { own, bytes, .. }) => {
                *parted.entry(own).or_default() += bytes.len() as u64;
            }
            _ => {}
        }
        Ok(())
    }

    /// Everything ends once, and what is stored is bounded.
    fn check(&mut self) {
        while let Some(event) = self.exchange.event() {
            match event {
                ExchangeEvent::Sent(source) => assert!(self.sends.remove(&source.number)),
                ExchangeEvent::Received { into, .. } => assert!(self.receives.remove(&into.number)),
            }
        }
        for packet in self.wires.said.drain(..) {
            match parse(Rank(0), &packet) {
                Some(TaggedPacket::Request { number, .. }) => self.requests.push(number),
                Some(TaggedPacket::Whole(Whole { registered: Some(number), .. })) => {
                    self.requests.push(number.get());
                }
                Some(TaggedPacket::Grant { own, .. }) => self.grants.push(own),
                Some(_) => {}
                None => panic!("{packet:?} is no packet"),
            }
        }
        assert!(self.wires.posted.len() <= self.receives.len(), "what has ended is given up");
        let stored = self.exchange.unexpected_bytes();
        assert!(stored as u64 <= u64::from(RANKS) * window_of(RANKS.into()));
    }
}

/// A script of eight bytes a step: the program sends, receives, looks and claims; peers say what is
/// nearly right, or anything. A peer that breaks the protocol ends the job, and the script.
pub fn messages(data: &[u8]) {
    let mut program = Program {
        exchange: Exchange::new(Rank(0), RANKS.into()),
        wires: Wires::new(256),
        begun: 0,
        sends: BTreeSet::new(),
        receives: BTreeSet::new(),
        requests: Vec::new(),
        grants: Vec::new(),
        parted: BTreeMap::new(),
        come: [0; RANKS as usize],
    };
    program.exchange.set_single_copy(|_| true);
    program.exchange.set_in_place(|rank| rank.0.is_multiple_of(2));
    for step in data.chunks_exact(8) {
        let &[what, peer, tag, ignore, low, high, which, odd] = step else { continue };
        let length = usize::from(low) | usize::from(high) << 8;
        let peer = u16::from(peer);
        let address = Address { rank: Rank(peer % RANKS), endpoint: 0 };
        let source = (odd % 3 > 0).then_some(address);
        let pattern = ReceivePattern { source, tag: tag.into(), ignore: ignore.into() };
        program.wires.room += usize::from(odd % 8);
        match what % 12 {
            0 => program.send(peer, tag.into(), length, odd > 200),
            1 => program.receive(pattern, length),
            2 => {
                program.exchange.peek(0, Tagging::Tagged, &pattern);
            }
            3 => {
                program.exchange.discard(0, Tagging::Tagged, &pattern);
            }
            4 if !program.exchange.has_claimed(0, which.into()) => {
                program.exchange.claim(0, Tagging::Tagged, &pattern, which.into());
            }
            5 if program.exchange.has_claimed(0, which.into()) => {
                let into = program.bytes(length);
                program.receives.insert(into.number);
                assert!(program.exchange.receive_claimed(0, which.into(), into).is_ok());
            }
            6 => {
                if let Some(into) = program.exchange.cancel(0, |_| true) {
                    assert!(program.receives.remove(&into.number));
                }
            }
            7 => {
                let Program { exchange, wires, .. } = &mut program;
                assert!(exchange.transmit(wires).is_ok());
            }
            _ => {
                let from = Rank(1 + peer % (RANKS - 1));
                let packet = said(&program, from, step, length);
                if program.arrive(from, &packet).is_err() {
                    return program.check();
                }
            }
        }
        program.check();
    }
}

/// Packet of a peer that may well be right, or the step itself.
fn said(program: &Program, from: Rank, step: &[u8], length: usize) -> Vec<u8> {
    let &[what, _, tag, ignore, _, _, which, odd] = step else { return Vec::new() };
    if odd == 255 {
        return step.to_vec();
    }
    let one_of = |numbers: &[u64]| match numbers.len() {
        0 => 1 << 32 | u64::from(which),
        many => numbers[usize::from(which) % many],
    };
    let source = Address { rank: from, endpoint: 0 };
    let envelope = |length| MessageEnvelope {
        kind: Tagging::Tagged,
        source,
        tag: tag.into(),
        data: None,
        length,
    };
    let bytes = vec![0; usize::from(ignore)];
    let parsed = match which % 8 {
        0 => TaggedPacket::Whole(Whole {
            to: 0,
            envelope: envelope(bytes.len() as u64),
            registered: NonZero::new(odd.into()).filter(|_| what > 200),
            bytes: &bytes,
        }),
        // Of four numbers, so that most are the right ones.
        1 => TaggedPacket::First {
            to: 0,
            envelope: envelope(length as u64),
            number: u64::from(odd >> 6),
            bytes: &bytes,
        },
        2 => {
            let offset = program.come[from.index()] + u64::from(odd % 16 == 15);
            TaggedPacket::More { number: u64::from(odd >> 6), offset, bytes: &bytes }
        }
        3 => TaggedPacket::Request {
            to: 0,
            envelope: envelope(length as u64),
            number: odd.into(),
            lies_at: NonZero::new(u64::from(ignore)).filter(|_| length > 0),
            wants_done: what > 200,
        },
        4 => TaggedPacket::Grant {
            number: one_of(&program.requests),
            own: odd.into(),
            length: length as u64,
            zero_copy: what % 2 == 1,
        },
        5 => {
            let own = one_of(&program.grants);
            let offset = program.parted.get(&own).copied().unwrap_or_default();
            TaggedPacket::Part { own, offset: offset + u64::from(odd % 16 == 15), bytes: &bytes }
        }
        6 => TaggedPacket::Done { number: one_of(&program.requests) },
        _ => TaggedPacket::Consumed { amount: length as u64 },
    };
    let mut packet = parsed.head().bytes().to_vec();
    if let 0 | 1 | 2 | 5 = which % 8 {
        packet.extend(bytes);
    }
    packet
}
