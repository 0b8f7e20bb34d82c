#![allow(clippy::unwrap_used)]

use super::*;
use crate::Operation;

#[test]
fn headers_come_back_as_they_went() {
    for number in 0..60_u32 {
        let signature = Signature {
            operation: Signature::operation(number as u8 % 15).unwrap(),
            root: (number * 7919) as u16,
            bytes: u64::from(number) << 41 | 3,
        };
        let kind =
            [TransferKind::Piece, TransferKind::Ready, TransferKind::Abort][number as usize % 3];
        let leader = Rank(number as u16 * 1000);
        let team = TeamId { leader, count: number * 70_000_001 };
        let number = number * 71_000_000;
        let header = Header { kind, team, number, step: number as u8 % 16, signature };
        let data: &[u8] = if kind == TransferKind::Ready { &[] } else { &[1, 2, 3] };
        let packet = [&header.emit()[..], data].concat();
        assert_eq!(Header::parse(&packet), Some((header, data)));
        assert_eq!(is_collective(&packet), kind != TransferKind::Abort);
    }
}

#[test]
fn what_nobody_writes_is_no_packet() {
    let signature = Signature { operation: Operation::Barrier, root: 0, bytes: 0 };
    let team = TeamId { leader: Rank(1), count: 2 };
    let packet = Header { kind: TransferKind::Ready, team, number: 3, step: 1, signature }.emit();
    assert!(Header::parse(&packet).is_some());
    assert_eq!(Header::parse(&packet[..SIZE - 1]), None, "too short");
    assert_eq!(Header::parse(&[&packet[..], &[1]].concat()), None, "ready with data");
    for (at, value) in [(0, 23), (0, 27)] {
        let mut packet = packet;
        packet[at] = value;
        assert_eq!(Header::parse(&packet), None, "{at}: {value}");
    }
}
