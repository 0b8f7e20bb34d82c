//! What is written is read again, and nothing else.

#![allow(clippy::unwrap_used)]

use super::*;

const TEAM: TeamId = TeamId { leader: Rank(0xFEDC), count: 0x1234_5678 };
const OPERATIONS: [Operation; 4] =
    [Operation::Broadcast, Operation::Gather, Operation::Spread, Operation::Swap];

#[test]
fn what_is_said_is_heard() {
    for operation in OPERATIONS {
        for piece in [None, Some(&[][..]), Some(&[1, 2, 3][..])] {
            let signature = Signature { operation, detail: 0xABCD, bytes: 1 << 40 };
            let says = Says { team: TEAM, number: 1 << 33, signature, piece };
            let mut packet = says.head().bytes().to_vec();
            packet.extend_from_slice(piece.unwrap_or_default());
            assert!(is_together(&packet));
            assert_eq!(parse(&packet), Some(says));
        }
    }
}

#[test]
fn nothing_else_is_heard() {
    let signature = Signature { operation: Operation::Swap, detail: 1, bytes: 8 };
    let ready = Says { team: TEAM, number: 2, signature, piece: None };
    let ready = ready.head().bytes().to_vec();
    for length in 0..ready.len() {
        assert_eq!(parse(&ready[..length]), None, "{length} bytes");
    }
    let with = |at: usize, octet: u8| {
        let mut packet = ready.clone();
        packet[at] = octet;
        packet
    };
    assert_eq!(parse(&with(0, 23)), None);
    assert!(!is_together(&with(0, 23)));
    assert_eq!(parse(&with(1, 0)), None);
    assert_eq!(parse(&with(1, 5)), None);
    assert_eq!(parse(&[&ready[..], &[0]].concat()), None, "bytes behind what has none");
}
