//! Bytes of what members say to one another, which ranks of other builds read:
//! `collective/golden.txt` has them.

use crate::counting::{Brought, NewHome};
use crate::format::{self, Header, TransferKind};
use crate::{Abort, Disagreement, Operation, Signature, TeamId, agreement};
use std::path::Path;
use weft_endpoint::{Rank, Variable};
use weft_golden::{BETWEEN_RANKS, Entries, add, hold, variant};

const TEAM: TeamId = TeamId { leader: Rank(0x0102), count: 0x1112_1314 };

const SIGNATURE: Signature =
    Signature { operation: Operation::Broadcast, root: 0x2122, bytes: 0x3132_3334_3536 };

/// A header whose every field can be told from all others.
fn header(kind: TransferKind) -> Header {
    Header { kind, team: TEAM, number: 0x4142_4344, step: 14, signature: SIGNATURE }
}

/// Kinds of packets, all that are read.
fn kinds() -> Vec<TransferKind> {
    let mut packet = [0; format::SIZE];
    let kind = |byte| {
        packet[0] = byte;
        Header::parse(&packet).map(|(header, _)| header.kind)
    };
    (0..=u8::MAX).filter_map(kind).collect()
}

fn add_packets(entries: &mut Entries) {
    for kind in kinds() {
        add(entries, format!("packet {kind:?}"), header(kind).emit());
    }
    for operation in (0..=u8::MAX).filter_map(Signature::operation) {
        add(entries, format!("operation {operation:?}"), [operation as u8]);
    }
    add(entries, "step of a declaration", [format::DECLARATION]);
    add(entries, "team", TEAM.emit());
    // Members on one host compare it in shared memory.
    add(entries, "hash of a signature", SIGNATURE.hash().to_le_bytes());
}

/// An abort of each form, by its name. **One more has its name here and its bytes in the list.**
fn aborts() -> [(&'static str, Abort); 5] {
    let other = Signature { operation: Operation::Gather, root: 0x5152, bytes: 0x6162_6364_6566 };
    let (one, other) = ((Rank(0x0304), SIGNATURE), (Rank(0x0506), other));
    let disagreement = Disagreement { number: 0x7172_7374, one, other };
    let aborts = [
        Abort::Disagreement(disagreement),
        Abort::Panicked(Rank(0x0102)),
        Abort::Violation(Rank(0x0102)),
        Abort::Broken(Some(Rank(0x0102))),
        Abort::Broken(None),
    ];
    aborts.map(|abort| match abort {
        Abort::Disagreement(_) => ("disagreement", abort),
        Abort::Panicked(_) => ("panicked", abort),
        Abort::Violation(_) => ("violation", abort),
        Abort::Broken(Some(_)) => ("broken by a loss", abort),
        Abort::Broken(None) => ("broken", abort),
    })
}

/// Words of a counter, as an operation brings them.
fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn add_counters(entries: &mut Entries) {
    let variable = Variable { home: Rank(0x0102), index: 0x1112 };
    for brought in (0..=u64::from(u8::MAX)).filter_map(|kind| Brought::parse([kind, 0, 0, 0])) {
        let brought = match brought {
            Brought::Nothing | Brought::Joins => brought,
            Brought::Counter { .. } => {
                let (seen, holders) = (0x2122_2324_2526_2728, 0x3132_3334_3536_3738);
                Brought::Counter { variable, seen, holders }
            }
            Brought::LeavesOut(_) => Brought::LeavesOut(Rank(0x0102)),
        };
        assert_eq!(Brought::parse(brought.emit()), Some(brought));
        add(entries, format!("counter {}", variant(&brought)), words(&brought.emit()));
    }
    for home in [NewHome::At(variable, 0x2122_2324_2526_2728), NewHome::Full] {
        assert_eq!(NewHome::parse(home.emit(), variable.home), Some(home));
        let name = match home {
            NewHome::At(..) => "counter at a new home",
            NewHome::Full => "counter without a new home",
        };
        add(entries, name, words(&home.emit()));
    }
}

#[test]
fn all_is_written_as_other_builds_read_it() {
    let mut entries = Entries::new();
    add_packets(&mut entries);
    for (name, abort) in aborts() {
        add(&mut entries, format!("abort {name}"), abort.emit());
    }
    add(&mut entries, "packet of an abort", format::abort_packet(TEAM, &aborts()[1].1));
    agreement::format::tests::add_to(&mut entries);
    add_counters(&mut entries);
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden.txt");
    hold(&list, &entries, BETWEEN_RANKS);
}
