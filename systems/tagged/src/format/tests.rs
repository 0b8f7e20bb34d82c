//! Packets that come back as they were, and those that no peer sends.

#![allow(clippy::unwrap_used)]

use super::*;

const FROM: Rank = Rank(3);

fn envelope(kind: Tagging, data: Option<u64>, length: u64) -> MessageEnvelope {
    let source = Address { rank: FROM, endpoint: 9 };
    let tag = if kind == Tagging::Tagged { 0x1122_3344_5566_7788 } else { 0 };
    MessageEnvelope { kind, source, tag, data, length }
}

fn whole(
    to: u8,
    envelope: MessageEnvelope,
    registered: Option<u64>,
    bytes: &[u8],
) -> TaggedPacket<'_> {
    let registered = registered.and_then(NonZero::new);
    TaggedPacket::Whole(Whole { to, envelope, registered, bytes })
}

fn all<'a>(bytes: &'a [u8]) -> Vec<TaggedPacket<'a>> {
    let length = bytes.len() as u64;
    vec![
        whole(7, envelope(Tagging::Tagged, Some(5), length), None, bytes),
        whole(0, envelope(Tagging::Untagged, None, length), None, bytes),
        TaggedPacket::First {
            to: 1,
            envelope: envelope(Tagging::Tagged, None, 9999),
            number: 3,
            bytes,
        },
        TaggedPacket::More { number: 3, offset: 1 << 33, bytes },
        TaggedPacket::Request {
            to: 2,
            envelope: envelope(Tagging::Untagged, Some(u64::MAX), u64::MAX),
            number: 77,
            lies_at: None,
            wants_done: true,
        },
        TaggedPacket::Request {
            to: 2,
            envelope: envelope(Tagging::Tagged, None, 100),
            number: 77,
            lies_at: NonZero::new(u64::MAX - 100),
            wants_done: false,
        },
        TaggedPacket::Grant { number: 77, own: 78, length: 79, zero_copy: false },
        TaggedPacket::Grant { number: 77, own: 78, length: 79, zero_copy: true },
        TaggedPacket::Part { own: 78, offset: 1 << 40, bytes },
        TaggedPacket::Done { number: 77 },
        TaggedPacket::Consumed { amount: 4096 },
        whole(7, envelope(Tagging::Tagged, Some(5), length), Some(77), bytes),
        TaggedPacket::Left,
    ]
}

/// The whole packet.
fn packet(parsed: &TaggedPacket<'_>) -> Vec<u8> {
    let mut packet = parsed.head().bytes().to_vec();
    if let TaggedPacket::Whole(Whole { bytes, .. })
    | TaggedPacket::First { bytes, .. }
    | TaggedPacket::More { bytes, .. }
    | TaggedPacket::Part { bytes, .. } = parsed
    {
        packet.extend_from_slice(bytes);
    }
    packet
}

#[test]
fn packets_come_back_as_they_were() {
    for parsed in all(b"some bytes") {
        assert_eq!(parse(FROM, &packet(&parsed)), Some(parsed));
    }
}

#[test]
fn heads_have_the_lengths_that_are_written_down() {
    let lengths: Vec<usize> = all(&[]).iter().map(|parsed| parsed.head().bytes().len()).collect();
    assert_eq!(
        lengths,
        [EAGER, EAGER, FIRST, MORE, REQUEST, REQUEST, 32, 32, PART, 16, 16, REGISTERED, 8]
    );
}

#[test]
fn what_is_cut_off_is_no_packet() {
    for parsed in all(&[]) {
        let packet = packet(&parsed);
        for length in 0..packet.len() {
            assert_eq!(parse(FROM, &packet[..length]), None, "{parsed:?} cut to {length}");
        }
    }
}

#[test]
fn what_has_no_meaning_is_no_packet() {
    for parsed in all(b"some bytes") {
        let packet = packet(&parsed);
        for (offset, value) in [(0, 0), (0, 11), (1, 0x80), (4, 1), (7, 1)] {
            let mut broken = packet.clone();
            broken[offset] = value;
            assert_eq!(parse(FROM, &broken), None, "{parsed:?} with {value} at {offset}");
        }
    }
    // An untagged message has no tag.
    let mut broken = packet(&all(&[])[1]);
    broken[8] = 1;
    assert_eq!(parse(FROM, &broken), None);
    // Nor has one without data any.
    let mut broken = packet(&all(&[])[1]);
    broken[16] = 1;
    assert_eq!(parse(FROM, &broken), None);
    // Nothing lies where no bytes are, nor beyond the last address.
    for (length, address) in [(0, 5), (101, u64::MAX - 100)] {
        let envelope = envelope(Tagging::Tagged, None, length);
        let lies_at = NonZero::new(address);
        let parsed =
            TaggedPacket::Request { to: 2, envelope, number: 77, lies_at, wants_done: false };
        assert_eq!(parse(FROM, &packet(&parsed)), None);
    }
}

#[test]
fn a_message_is_registered_by_a_number() {
    let source = Address { rank: Rank(1), endpoint: 0 };
    let envelope = MessageEnvelope { kind: Tagging::Tagged, source, tag: 5, data: None, length: 0 };
    let mut packet = whole(0, envelope, Some(7), b"").head().bytes().to_vec();
    assert!(parse_whole(Rank(1), &packet).is_some_and(|it| it.registered == NonZero::new(7)));
    packet[EAGER..REGISTERED].fill(0);
    assert_eq!(parse_whole(Rank(1), &packet), None);
}

#[test]
fn packets_of_a_message_begin_alike_up_to_where_they_belong() {
    let end = [&[2, 1, 0, 0, 0, 0, 0, 0][..], b"some bytes"].concat();
    let (offset, bytes) = (0x0102, &b"some bytes"[..]);
    let part = packet(&TaggedPacket::Part { own: 78, offset, bytes });
    let more = packet(&TaggedPacket::More { number: 78, offset, bytes });
    assert_eq!(part, [&part_head(78)[..], &end].concat());
    assert_eq!(more, [&more_head(78)[..], &end].concat());
    assert!(part_head(78) != part_head(79) && part_head(78) != more_head(78));
    assert!([part, more].iter().all(|packet| is_one_of_several(packet)));
    assert!(
        !is_one_of_several(&packet(&TaggedPacket::Done { number: 1 })) && !is_one_of_several(&[])
    );
}
