//! Packets that come back as they were, and those that no peer sends.

#![allow(clippy::unwrap_used)]

use super::*;

fn span(length: u64) -> Span {
    Span { to: 3, from: 4, key: 0x1122_3344_5566_7788, offset: 100, end: 100 + length }
}

fn all(bytes: &[u8]) -> Vec<Says<'_>> {
    let length = bytes.len() as u64;
    let atomic = |operation| Atomic { operation, element: Element::U16 };
    let half = span(length / 2);
    vec![
        Says::Write { span: span(length), number: 77, data: None, bytes },
        Says::Write { span: span(length + 1000), number: 77, data: Some(5), bytes },
        Says::Offer {
            span: span(1),
            number: 77,
            lies_at: NonZero::new(u64::MAX - 1).unwrap(),
            data: None,
        },
        Says::Offer {
            span: span(u64::MAX - 100),
            number: 77,
            lies_at: NonZero::new(u64::MAX - OFFERED).unwrap(),
            data: Some(5),
        },
        Says::Read { span: span(0), number: u64::MAX, fetches: false },
        Says::Read { span: Span { end: u64::MAX, ..span(0) }, number: 1, fetches: true },
        Says::Atomic {
            span: span(length),
            number: 7,
            atomic: atomic(Operation::Sum),
            fetches: false,
            operands: bytes,
        },
        Says::Atomic {
            span: half,
            number: 7,
            atomic: atomic(Operation::Swap),
            fetches: true,
            operands: bytes,
        },
        Says::Part { number: 77, bytes },
        Says::Ended { number: 77, outcome: Ok(()) },
        Says::Ended { number: 77, outcome: Err(Refused::NoRegion) },
        Says::Ended { number: 77, outcome: Err(Refused::NoRight) },
        Says::Ended { number: 77, outcome: Err(Refused::Beyond) },
        Says::Ended { number: 77, outcome: Err(Refused::OutOfReach) },
        Says::Fetched { number: 77, all: true },
        Says::Fetched { number: 77, all: false },
        Says::Lies { number: 77, lies_at: NonZero::<u64>::MAX },
    ]
}

fn packet(says: &Says<'_>) -> Vec<u8> {
    [says.head().bytes(), says.bytes()].concat()
}

#[test]
fn packets_come_back_as_they_were() {
    for says in all(b"some words") {
        let says = match says {
            // Half of the operands are what is compared with: two elements and two elements.
            Says::Atomic { span, number, atomic, fetches: true, .. } => Says::Atomic {
                span: Span { end: span.offset + 4, ..span },
                number,
                atomic,
                fetches: true,
                operands: b"12345678",
            },
            other => other,
        };
        assert_eq!(parse(&packet(&says)), Some(says));
        assert!(is_access(&packet(&says)));
    }
}

#[test]
fn heads_have_the_lengths_that_are_written_down() {
    let lengths: Vec<usize> = all(&[]).iter().map(|says| says.head().bytes().len()).collect();
    let accesses = [ACCESS, 48, 48, 56, ACCESS, ACCESS, ACCESS, ACCESS];
    assert_eq!(lengths, [&accesses[..], &[PART], &[16; 7], &[24]].concat());
}

#[test]
fn what_is_cut_off_or_has_no_meaning_is_no_packet() {
    for says in all(&[0; 8]) {
        let packet = packet(&says);
        for length in 0..packet.len() - says.bytes().len() {
            assert_eq!(parse(&packet[..length]), None, "{says:?} cut to {length}");
        }
        for (place, value) in [(0, 0), (0, 15), (0, 24), (1, 0x80), (6, 1), (7, 1)] {
            let mut broken = packet.clone();
            broken[place] = value;
            assert_eq!(parse(&broken), None, "{says:?} with {value} at {place}");
        }
    }
}

#[test]
fn what_does_not_fit_together_is_no_packet() {
    let sum = Atomic { operation: Operation::Sum, element: Element::U64 };
    let swap = Atomic { operation: Operation::Swap, ..sum };
    let bits = Atomic { operation: Operation::BitOr, element: Element::F32 };
    let of = |span, atomic, fetches, operands| Says::Atomic {
        span,
        number: 1,
        atomic,
        fetches,
        operands,
    };
    let wrong = [
        Says::Write { span: span(3), number: 1, data: None, bytes: b"four" },
        Says::Write { span: span(3), number: 1, data: None, bytes: b"" },
        Says::Offer { span: span(0), number: 1, lies_at: NonZero::<u64>::MIN, data: None },
        Says::Offer { span: span(2), number: 1, lies_at: NonZero::<u64>::MAX, data: None },
        Says::Read { span: Span { end: 99, ..span(0) }, number: 1, fetches: false },
        of(span(8), sum, false, b"1234567".as_slice()),
        of(span(7), sum, false, b"1234567".as_slice()),
        of(span(8), swap, true, b"12345678".as_slice()),
        of(span(4), bits, false, b"1234".as_slice()),
        of(span(8), Atomic { operation: Operation::Read, ..sum }, false, &[]),
        of(span(u64::MAX - 100), swap, true, &[]),
    ];
    for says in wrong {
        assert_eq!(parse(&packet(&says)), None, "{says:?}");
    }
}
