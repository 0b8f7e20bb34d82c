//! Operations of all members of a team: packets as bytes, and one rank that is told anything.

use crate::wires::{RANKS, Wires};
use weft_packet::Rank;
use weft_tagged::together::format::{Says, Signature, parse};
use weft_tagged::together::{AHEAD, EAGER_BYTES, Movement, Operation, Shares, TeamId};
use weft_tagged::{Sink, Source, Together};

/// Teams that rank 0 opens, and their members.
const TEAMS: [(TeamId, &[Rank]); 2] = [
    (TeamId { leader: Rank(0), count: 0 }, &[Rank(0), Rank(1), Rank(2), Rank(3)]),
    (TeamId { leader: Rank(2), count: 0 }, &[Rank(2), Rank(0)]),
];

/// Round trip of a packet: what was parsed encodes to the same bytes.
pub fn packet(data: &[u8]) {
    let Some(says) = parse(data) else { return };
    assert_eq!([says.head().bytes(), says.piece.unwrap_or_default()].concat(), data);
}

/// So many bytes of the program's, which are not there: only their number matters.
#[derive(Debug)]
struct Bytes(u64);

impl Source for Bytes {
    fn length(&self) -> u64 {
        self.0
    }

    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        assert!(offset + length as u64 <= self.0, "only what is there leaves");
        take(&vec![0; length]);
    }
}

impl Sink for Bytes {
    fn capacity(&self) -> u64 {
        self.0
    }

    fn place(&mut self, offset: u64, bytes: &[u8]) {
        assert!(offset + bytes.len() as u64 <= self.0, "only what there is room for is placed");
    }
}

/// The movement that a step is about, in a team of so many.
fn movement(which: u8, root: u8, length: u64, members: usize) -> Movement {
    let root = usize::from(root) % members;
    let shares = Shares { elements: length, size: 1 + u64::from(which / 4 % 8) };
    match which % 4 {
        0 => Movement::Broadcast { root, bytes: length },
        1 => Movement::Gather { root, shares },
        2 => Movement::Spread { shares },
        _ => Movement::Swap { shares },
    }
}

/// Most bytes that it uses: those of all members.
fn most(movement: Movement, members: usize) -> u64 {
    match movement {
        Movement::Broadcast { bytes, .. } => bytes,
        Movement::Gather { shares, .. } | Movement::Spread { shares } => {
            shares.elements * shares.size
        }
        Movement::Swap { shares } => (shares.elements + members as u64) * shares.size * 2,
    }
}

/// A script of eight bytes a step: rank 0 begins movements of its teams, when it may; peers say
/// what is nearly right, or anything. A peer that breaks the protocol ends the job, and the script.
pub fn movements(data: &[u8]) {
    let mut together: Together<Bytes, Bytes, Vec<u8>> = Together::new(Rank(0), RANKS.into(), 2);
    let mut begun = [0_u64; 2];
    let mut wires = Wires::new(4096);
    for step in data.chunks_exact(8) {
        let &[what, which, root, peer, low, high, number, odd] = step else { continue };
        let team = usize::from(odd % 2);
        let (id, members) = TEAMS[team];
        let length = u64::from(low) | u64::from(high) << 8;
        wires.room += usize::from(odd / 16);
        match what % 6 {
            0 => {
                // What came before may be nothing of this team.
                if together.open(id, members).is_err() {
                    return;
                }
            }
            1 if together.must_meet(id) => return,
            1 => {
                let movement = movement(which, root, length, members.len());
                let (source, into) = (most(movement, 1), most(movement, members.len()));
                match together.begin(&mut wires, id, movement, Bytes(source), Bytes(into)) {
                    Ok(any) => begun[team] += u64::from(any),
                    Err(_) => return,
                }
            }
            2 => {
                together.take(id);
                assert!(together.leave(&mut wires).is_ok());
            }
            _ => {
                let from = Rank(1 + u16::from(peer) % (RANKS - 1));
                let packet = said(step, id, begun[team], members.len(), number);
                if together.arrive(from, &packet[..]).is_err() {
                    return;
                }
            }
        }
        for packet in wires.said.drain(..) {
            assert!(parse(&packet).is_some(), "{packet:?} is no packet");
        }
        let most = (1 + AHEAD as usize + 2) * EAGER_BYTES as usize * usize::from(RANKS) * 64;
        assert!(together.stored() <= most);
    }
}

/// Packet of a peer that may well be right, or the step itself.
fn said(step: &[u8], team: TeamId, begun: u64, members: usize, number: u8) -> Vec<u8> {
    let &[what, which, root, _, low, high, _, odd] = step else { return Vec::new() };
    if odd == 255 {
        return step.to_vec();
    }
    let length = u64::from(low) | u64::from(high) << 8;
    let root = (usize::from(root) % members) as u16;
    let (operation, detail, bytes) = match which % 4 {
        0 => (Operation::Broadcast, root, length),
        1 => (Operation::Gather, root, length * (1 + u64::from(which / 4 % 8))),
        2 => (
            Operation::Spread,
            1 + u16::from(which / 4 % 8),
            length * (1 + u64::from(which / 4 % 8)),
        ),
        _ => {
            (Operation::Swap, 1 + u16::from(which / 4 % 8), length * (1 + u64::from(which / 4 % 8)))
        }
    };
    let number = (begun + u64::from(number % 8)).saturating_sub(1);
    let piece = vec![0; (length as usize / members).min(usize::from(odd) * 64)];
    let signature = Signature { operation, detail, bytes };
    let piece = (what % 6 > 3).then_some(&piece[..]);
    let team = if odd == 254 { TeamId { count: team.count + 1, ..team } } else { team };
    let says = Says { team, number, signature, piece };
    [says.head().bytes(), says.piece.unwrap_or_default()].concat()
}
