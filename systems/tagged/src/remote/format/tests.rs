//! Packets that come back as they were, and those that no peer sends.

#![allow(clippy::unwrap_used)]

use super::*;

fn span(length: u64) -> AccessSpan {
    AccessSpan { to: 3, from: 4, key: 0x1122_3344_5566_7788, offset: 100, end: 100 + length }
}

fn all(bytes: &[u8]) -> Vec<RemotePacket<'_>> {
    let length = bytes.len() as u64;
    let atomic = |operation| AtomicAccess { operation, element: Element::U16 };
    let half = span(length / 2);
    vec![
        RemotePacket::Write { span: span(length), number: 77, data: None, bytes },
        RemotePacket::Write { span: span(length + 1000), number: 77, data: Some(5), bytes },
        RemotePacket::Offer {
            span: span(1),
            number: 77,
            lies_at: NonZero::new(u64::MAX - 1).unwrap(),
            data: None,
        },
        RemotePacket::Offer {
            span: span(u64::MAX - 100),
            number: 77,
            lies_at: NonZero::new(u64::MAX - OFFERED).unwrap(),
            data: Some(5),
        },
        RemotePacket::Read { span: span(0), number: u64::MAX, fetches: false },
        RemotePacket::Read {
            span: AccessSpan { end: u64::MAX, ..span(0) },
            number: 1,
            fetches: true,
        },
        RemotePacket::Atomic {
            span: span(length),
            number: 7,
            atomic: atomic(AtomicOperation::Sum),
            fetches: false,
            operands: bytes,
        },
        RemotePacket::Atomic {
            span: half,
            number: 7,
            atomic: atomic(AtomicOperation::Swap),
            fetches: true,
            operands: bytes,
        },
        RemotePacket::Part { number: 77, bytes },
        RemotePacket::Ended { number: 77, outcome: Ok(()) },
        RemotePacket::Ended { number: 77, outcome: Err(AccessRefused::NoRegion) },
        RemotePacket::Ended { number: 77, outcome: Err(AccessRefused::NoRight) },
        RemotePacket::Ended { number: 77, outcome: Err(AccessRefused::Beyond) },
        RemotePacket::Ended { number: 77, outcome: Err(AccessRefused::Unfetchable) },
        RemotePacket::Fetched { number: 77, all: true },
        RemotePacket::Fetched { number: 77, all: false },
        RemotePacket::Address { number: 77, lies_at: NonZero::<u64>::MAX },
    ]
}

fn packet(parsed: &RemotePacket<'_>) -> Vec<u8> {
    [parsed.head().bytes(), parsed.bytes()].concat()
}

#[test]
fn packets_come_back_as_they_were() {
    for parsed in all(b"some words") {
        let parsed = match parsed {
            // Half of the operands are what is compared with: two elements and two elements.
            RemotePacket::Atomic { span, number, atomic, fetches: true, .. } => {
                RemotePacket::Atomic {
                    span: AccessSpan { end: span.offset + 4, ..span },
                    number,
                    atomic,
                    fetches: true,
                    operands: b"12345678",
                }
            }
            other => other,
        };
        assert_eq!(parse(&packet(&parsed)), Some(parsed));
        assert!(is_access(&packet(&parsed)));
    }
}

#[test]
fn heads_have_the_lengths_that_are_written_down() {
    let lengths: Vec<usize> = all(&[]).iter().map(|parsed| parsed.head().bytes().len()).collect();
    let accesses = [ACCESS, 48, 48, 56, ACCESS, ACCESS, ACCESS, ACCESS];
    assert_eq!(lengths, [&accesses[..], &[PART], &[16; 7], &[24]].concat());
}

#[test]
fn what_is_cut_off_or_has_no_meaning_is_no_packet() {
    for parsed in all(&[0; 8]) {
        let packet = packet(&parsed);
        for length in 0..packet.len() - parsed.bytes().len() {
            assert_eq!(parse(&packet[..length]), None, "{parsed:?} cut to {length}");
        }
        for (offset, value) in [(0, 0), (0, 15), (0, 24), (1, 0x80), (6, 1), (7, 1)] {
            let mut broken = packet.clone();
            broken[offset] = value;
            assert_eq!(parse(&broken), None, "{parsed:?} with {value} at {offset}");
        }
    }
}

#[test]
fn what_does_not_fit_together_is_no_packet() {
    let sum = AtomicAccess { operation: AtomicOperation::Sum, element: Element::U64 };
    let swap = AtomicAccess { operation: AtomicOperation::Swap, ..sum };
    let bits = AtomicAccess { operation: AtomicOperation::BitOr, element: Element::F32 };
    let of = |span, atomic, fetches, operands| RemotePacket::Atomic {
        span,
        number: 1,
        atomic,
        fetches,
        operands,
    };
    let wrong = [
        RemotePacket::Write { span: span(3), number: 1, data: None, bytes: b"four" },
        RemotePacket::Write { span: span(3), number: 1, data: None, bytes: b"" },
        RemotePacket::Offer { span: span(0), number: 1, lies_at: NonZero::<u64>::MIN, data: None },
        RemotePacket::Offer { span: span(2), number: 1, lies_at: NonZero::<u64>::MAX, data: None },
        RemotePacket::Read { span: AccessSpan { end: 99, ..span(0) }, number: 1, fetches: false },
        of(span(8), sum, false, b"1234567".as_slice()),
        of(span(7), sum, false, b"1234567".as_slice()),
        of(span(8), swap, true, b"12345678".as_slice()),
        of(span(4), bits, false, b"1234".as_slice()),
        of(span(8), AtomicAccess { operation: AtomicOperation::Read, ..sum }, false, &[]),
        of(span(u64::MAX - 100), swap, true, &[]),
    ];
    for parsed in wrong {
        assert_eq!(parse(&packet(&parsed)), None, "{parsed:?}");
    }
}
