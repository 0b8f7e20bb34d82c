//! Remote accesses: packets as bytes, and one rank with memory that others access, which is told
//! anything.

use crate::wires::{RANKS, Wires};
use std::collections::BTreeSet;
use std::num::NonZero;
use weft_endpoint::Rank;
use weft_tagged::remote::atomic::{AtomicAccess, AtomicOperation, Element};
use weft_tagged::remote::format::{AccessSpan, RemotePacket, parse};
use weft_tagged::remote::{
    Access, AccessEvent, AccessRefused, AccessRights, MOST, OwedAnswer, Remote, Submission,
};
use weft_tagged::{Address, SendSource, Sink};

/// Round trip of a packet: what was parsed encodes to the same bytes.
pub fn packet(data: &[u8]) {
    let Some(parsed) = parse(data) else { return };
    assert_eq!([parsed.head().bytes(), parsed.bytes()].concat(), data);
}

/// Memory of the program's: an access's, which has a number, or a region's.
#[derive(Debug)]
struct Memory {
    number: u32,
    bytes: Vec<u8>,
}

impl SendSource for Memory {
    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        let offset = offset as usize;
        // Only what is there leaves, or this panics.
        take(&self.bytes[offset..offset + length]);
    }

    fn lies_at(&self) -> Option<u64> {
        (!self.number.is_multiple_of(2)).then(|| u64::from(self.number) << 32)
    }
}

impl Sink for Memory {
    fn capacity(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn place(&mut self, offset: u64, bytes: &[u8]) {
        let offset = offset as usize;
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    fn room(&mut self, offset: u64, length: usize) -> Option<&mut [u8]> {
        let room = &mut self.bytes[offset as usize..][..length];
        // Some memory is in several pieces.
        (!self.number.is_multiple_of(2)).then_some(room)
    }
}

/// The program of rank 0, which keeps its contract, and what it has been told.
struct Program {
    remote: Remote<Memory, Memory>,
    wires: Wires,
    begun: u32,
    accesses: BTreeSet<u32>,
    owed: Vec<OwedAnswer>,
    /// Numbers of accesses, which peers answer.
    asked: Vec<u64>,
}

impl Program {
    fn memory(&mut self, length: usize) -> Memory {
        self.begun += 1;
        Memory { number: self.begun, bytes: vec![0; length] }
    }

    fn expose(&mut self, key: u64, length: usize, odd: u8) {
        let memory = self.memory(length);
        let rights = AccessRights { read: odd & 1 == 0, write: odd & 2 == 0 };
        let base = if odd & 4 == 0 { 0 } else { u64::MAX - length as u64 };
        // There may be one with this key.
        let _ = self.remote.expose(key, base, rights, memory);
    }

    fn access(&mut self, access: &Access, kind: u8, length: usize, odd: u8) {
        let (atomic, fetches) = atomic_of(odd, kind);
        let elements = 8.min(length / atomic.element.size());
        let length = if kind < 2 { length } else { elements * atomic.element.size() };
        let operands = vec![0; length * atomic.operation.operands()];
        let room = if kind < 2 || fetches { length } else { 0 };
        if kind >= 2 && operands.len() > 64 {
            return;
        }
        let op = self.memory(room);
        let number = op.number;
        let Program { remote, wires, .. } = self;
        let asking = match kind {
            0 => remote.write(wires, access, (odd & 1 == 0).then_some(odd.into()), op),
            1 => remote.read(wires, access, op),
            _ => remote.atomic(wires, access, (atomic, fetches), length as u64, &operands, op),
        };
        match asking {
            Ok(Submission::Kept) => assert!(self.accesses.insert(number)),
            Ok(Submission::Again(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Everything ends once, and what is owed is bounded.
    fn check(&mut self) {
        while let Some(event) = self.remote.event() {
            match event {
                AccessEvent::Ended { op, .. } => assert!(self.accesses.remove(&op.number)),
                AccessEvent::Accessed(accessed) => {
                    self.owed.extend(accessed.data.map(|(_, owed)| owed))
                }
            }
        }
        for packet in self.wires.said.drain(..) {
            match parse(&packet) {
                Some(
                    RemotePacket::Write { number, .. }
                    | RemotePacket::Offer { number, .. }
                    | RemotePacket::Read { number, .. }
                    | RemotePacket::Atomic { number, .. },
                ) => self.asked.push(number),
                Some(
                    RemotePacket::Part { .. }
                    | RemotePacket::Ended { .. }
                    | RemotePacket::Address { .. }
                    | RemotePacket::Fetched { .. },
                ) => {}
                None => panic!("{packet:?} is no packet"),
            }
        }
        assert!(self.remote.owed() <= usize::from(RANKS) * MOST as usize);
        assert!(self.accesses.len() <= usize::from(RANKS) * MOST as usize);
    }
}

/// Some operation that there is.
fn atomic_of(odd: u8, kind: u8) -> (AtomicAccess, bool) {
    let operation = AtomicOperation::ALL[usize::from(odd) % AtomicOperation::ALL.len()];
    let element = Element::ALL[usize::from(kind) % Element::ALL.len()];
    let atomic = AtomicAccess { operation, element };
    let any = AtomicAccess { operation: AtomicOperation::Sum, element };
    let atomic = if atomic.is_valid(true) { atomic } else { any };
    (atomic, !atomic.is_valid(false) || odd & 0x80 != 0)
}

/// A script of eight bytes a step: the program exposes memory, conceals it, accesses that of others
/// and answers; peers say what is nearly right, or anything. A peer that breaks the protocol ends
/// the job, and the script.
pub fn accesses(data: &[u8]) {
    let mut program = Program {
        remote: Remote::new(Rank(0), RANKS.into()),
        wires: Wires::new(128),
        begun: 0,
        accesses: BTreeSet::new(),
        owed: Vec::new(),
        asked: Vec::new(),
    };
    program.remote.set_single_copy(true);
    for step in data.chunks_exact(8) {
        let &[what, peer, key, offset, low, high, which, odd] = step else { continue };
        let length = usize::from(low) | usize::from(high % 4) << 8;
        let (key, offset) = (u64::from(key % 4), u64::from(offset));
        program.wires.room += usize::from(odd % 8);
        match what % 10 {
            0 => program.expose(key, length, odd),
            1 => drop(program.remote.conceal(key)),
            2 | 3 => {
                let to = Address { rank: Rank(u16::from(peer) % RANKS), endpoint: 0 };
                program.access(
                    &Access { to, from: which % 2, key, offset },
                    which % 14,
                    length,
                    odd,
                );
            }
            4 => {
                if let Some(owed) = program.owed.pop() {
                    program.remote.answer(owed);
                }
            }
            5 => {
                let Program { remote, wires, .. } = &mut program;
                assert!(remote.transmit(wires).is_ok());
            }
            _ => {
                let from = Rank(1 + u16::from(peer) % (RANKS - 1));
                let packet = said(&program.asked, step, length);
                if program.remote.arrive(&mut program.wires, from, &packet).is_err() {
                    return program.check();
                }
            }
        }
        program.check();
    }
}

/// Packet of a peer that may well be right, or the step itself.
fn said(asked: &[u64], step: &[u8], length: usize) -> Vec<u8> {
    let &[what, _, key, offset, low, _, which, odd] = step else { return Vec::new() };
    if odd == 255 {
        return step.to_vec();
    }
    let number = match asked.len() {
        0 => 1 << 32 | u64::from(low),
        many => asked[usize::from(low) % many],
    };
    let offset = u64::from(offset);
    let span = |length: usize| {
        let end = offset + length as u64;
        AccessSpan { to: odd % 2, from: 0, key: u64::from(key % 4), offset, end }
    };
    let bytes = vec![what; length % 64];
    let parsed = match which % 5 {
        0 => {
            let more = if odd > 100 && !bytes.is_empty() { usize::from(odd) } else { 0 };
            let data = (odd % 3 == 0).then_some(odd.into());
            if let Some(lies_at) = NonZero::new(u64::from(what)).filter(|_| odd > 200 && length > 0)
            {
                let parsed = RemotePacket::Offer { span: span(length), number, lies_at, data };
                return parsed.head().bytes().to_vec();
            }
            RemotePacket::Write { span: span(bytes.len() + more), number, data, bytes: &bytes }
        }
        1 if odd > 200 => RemotePacket::Fetched { number, all: odd % 2 == 0 },
        1 => RemotePacket::Read { span: span(length), number, fetches: odd % 2 == 0 },
        2 => {
            let (atomic, fetches) = atomic_of(odd, what);
            // One without operands may be of any length.
            let is_long = atomic.operation == AtomicOperation::Read && low > 200;
            let elements = if is_long { length } else { 1 + usize::from(low % 2) };
            let length = elements * atomic.element.size();
            let operands = vec![what; length * atomic.operation.operands()];
            let parsed = RemotePacket::Atomic {
                span: span(length),
                number,
                atomic,
                fetches,
                operands: &operands,
            };
            return [parsed.head().bytes(), parsed.bytes()].concat();
        }
        3 => match NonZero::new(u64::from(what)).filter(|_| odd > 200) {
            Some(lies_at) => RemotePacket::Address { number, lies_at },
            None => RemotePacket::Part { number, bytes: &bytes },
        },
        _ if odd > 200 => RemotePacket::Ended { number, outcome: Err(AccessRefused::Unfetchable) },
        _ => RemotePacket::Ended { number, outcome: Ok(()) },
    };
    [parsed.head().bytes(), parsed.bytes()].concat()
}
