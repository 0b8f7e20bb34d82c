//! Operations of all members of a team: packets as bytes, and one rank that is told anything.

use crate::wires::{RANKS, Wires};
use std::ops::Range;
use weft_collective::format::{Header, TransferKind};
use weft_collective::schedule::Area;
use weft_collective::{
    AHEAD, EAGER_BYTES, Operation, OperationCall, OperationMemory, Signature, Stage, TeamId, Teams,
    Tuning,
};
use weft_endpoint::Rank;
use weft_tagged::collectives::{CollectivePackets, Collectives, TUNING, arrive, open};

/// Teams that rank 0 opens, and their members.
const TEAMS: [(TeamId, &[Rank]); 2] = [
    (TeamId { leader: Rank(0), count: 0 }, &[Rank(0), Rank(1), Rank(2), Rank(3)]),
    (TeamId { leader: Rank(2), count: 0 }, &[Rank(2), Rank(0)]),
];

/// Asserts that a packet, if it can be parsed, encodes to the same bytes.
pub fn packet(data: &[u8]) {
    let Some((header, rest)) = Header::parse(data) else { return };
    assert_eq!([&header.emit()[..], rest].concat(), data);
}

/// So many bytes of the program's, which are not there: only their number matters.
#[derive(Debug)]
struct Bytes {
    mine: usize,
    result: usize,
}

impl OperationMemory for Bytes {
    fn read(&self, area: Area, at: usize, length: usize, take: &mut dyn FnMut(&[u8])) {
        let all = if area == Area::Mine { self.mine } else { self.result };
        assert!(at + length <= all, "only what is there leaves");
        take(&vec![0; length]);
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.result, "only what there is room for is placed");
    }

    fn copy(&mut self, from: usize, length: usize, at: usize) {
        assert!(from + length <= self.mine && at + length <= self.result);
    }

    /// A quarter of all: what members get need not be all there is.
    fn part(&self, member: usize) -> Range<usize> {
        let start = member % 4 * (self.mine / 4);
        start..start + self.mine / 4
    }

    /// That of every other one.
    fn room(&self, member: usize) -> Option<Range<usize>> {
        (member % 2 == 1).then(|| self.part(member))
    }
}

/// The call that a step is about, in a team of `members`.
fn call(which: u8, root: u8, length: usize, members: usize) -> OperationCall {
    let operation = Operation::ALL[usize::from(which) % Operation::ALL.len()];
    let root = usize::from(root) % members;
    match operation {
        Operation::Barrier => OperationCall { operation, root: 0, count: 0, size: 0 },
        _ => OperationCall {
            operation,
            root,
            count: length * members,
            size: 1 + usize::from(which / 64),
        },
    }
}

/// A script of eight bytes a step: rank 0 begins operations of its teams, when it may; peers say
/// what is nearly right, or anything. A peer that breaks the protocol ends the job, and the script.
pub fn operations(data: &[u8]) {
    // Bytes behind the last step: broadcasts wait for all, as those of regions do.
    let synchronous_broadcasts = !data.len().is_multiple_of(8);
    let tuning = Tuning { synchronous_broadcasts, ..TUNING };
    let mut collectives: Collectives<Bytes, Vec<u8>> = Teams::new(Rank(0), tuning, 2);
    let mut begun = [0_u32; 2];
    let mut wires = Wires::new(4096);
    for step in data.chunks_exact(8) {
        let &[what, which, root, peer, low, high, number, odd] = step else { continue };
        let team = usize::from(odd % 2);
        let (id, members) = TEAMS[team];
        let length = usize::from(low) | usize::from(high) << 8;
        wires.room += usize::from(odd / 16);
        match what % 6 {
            0 => {
                // Packets that came before may be none of this team's.
                if open(&mut collectives, id, members, (Rank(0), RANKS.into())).is_err() {
                    return;
                }
            }
            1 if collectives.needs_fence(id) => return,
            1 => {
                let call = call(which, root, length, members.len());
                let all = call.bytes() * members.len();
                match collectives.begin(id, &call, Bytes { mine: all, result: all }) {
                    Ok(number) => begun[team] = number + 1,
                    Err(weft_collective::Refused::Missing) => {}
                    Err(_) => return,
                }
            }
            2 => {
                for number in collectives.numbers(id) {
                    if !drive(&mut collectives, &mut wires, id, number) {
                        return;
                    }
                }
            }
            _ => {
                let from = Rank(1 + u16::from(peer) % (RANKS - 1));
                let packet = said(step, id, begun[team], members.len(), number);
                if arrive(&mut collectives, from, &packet[..]).is_err() {
                    return;
                }
            }
        }
        for packet in wires.said.drain(..) {
            assert!(Header::parse(&packet).is_some(), "{packet:?} is no packet");
        }
        let steps = 16;
        let most = (2 + AHEAD as usize + 2) * EAGER_BYTES * usize::from(RANKS) * 64 * steps;
        assert!(collectives.stored() <= most);
    }
}

/// Goes on with an operation. False if a peer has broken the protocol.
fn drive(
    collectives: &mut Collectives<Bytes, Vec<u8>>,
    wires: &mut Wires,
    id: TeamId,
    number: u32,
) -> bool {
    loop {
        match collectives.drive(id, number, &mut CollectivePackets(wires)) {
            Err(_) => return false,
            Ok(Stage::Waiting) => {
                return collectives.transmit(&mut CollectivePackets(wires)).is_ok();
            }
            Ok(stage) => {
                let Some(mut job) = collectives.take(id, number) else { return true };
                if stage == Stage::Done {
                    collectives.end(id, number);
                    return true;
                }
                job.run.combine(&job.memory, |before, after| {
                    assert_eq!(before.len(), after.len(), "blocks are as long as each other");
                });
                collectives.put(id, number, job);
            }
        }
    }
}

/// Packet of a peer: one that may well be right, or the step itself.
fn said(step: &[u8], team: TeamId, begun: u32, members: usize, number: u8) -> Vec<u8> {
    let &[what, which, root, _, low, high, _, odd] = step else { return Vec::new() };
    if odd == 255 {
        return step.to_vec();
    }
    let length = usize::from(low) | usize::from(high) << 8;
    let call = call(which, root, length, members);
    let number = (begun + u32::from(number % 8)).saturating_sub(1);
    let piece = vec![0; (call.bytes() / members).min(usize::from(odd) * 64)];
    let signature: Signature = call.signature();
    let kind = if what % 6 > 3 { TransferKind::Piece } else { TransferKind::Ready };
    let team = if odd == 254 { TeamId { count: team.count + 1, ..team } } else { team };
    let header = Header { kind, team, number, step: number as u8 % 3, signature };
    let piece = if kind == TransferKind::Piece { &piece[..] } else { &[] };
    [&header.emit()[..], piece].concat()
}
