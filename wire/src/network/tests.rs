use super::*;
use proptest::prelude::*;

pub(crate) fn any_header() -> impl Strategy<Value = Header> {
    (1u8..=6, 0u8..16, any::<[u16; 3]>(), any::<u32>(), any::<u16>(), any::<(u32, u32, u16)>())
        .prop_map(
            |(
                tag,
                protocol,
                [source, size, credits],
                tree,
                channel,
                (sequence, acknowledgement, flags),
            )| Header {
                tag: Tag::try_from(tag).unwrap(),
                source: Rank(source),
                size,
                credits,
                tree: TreeId::from_bits(tree).of(Protocol::numbered(protocol).unwrap()),
                channel: Channel::from_bits(channel),
                sequence,
                acknowledgement,
                asks: split_flags(flags).0,
                follows: Follows::Nothing,
                serial: split_flags(flags).1,
            },
        )
}

proptest! {
    #[test]
    fn parse_undoes_emit(header in any_header()) {
        let mut packet = emit(&header).to_vec();
        packet.resize(SIZE + usize::from(header.size) + 3, 7);
        let (parsed, payload) = parse(&packet).unwrap();
        prop_assert_eq!(parsed, header);
        prop_assert_eq!(payload.len(), usize::from(header.size));
    }

    #[test]
    fn any_bytes_parse_or_are_refused(mut packet in prop::collection::vec(any::<u8>(), 0..80), fix in any::<bool>()) {
        if fix && packet.len() > 1 {
            packet[field::VERSION] = VERSION;
            packet[field::TAG] %= 8;
        }
        if let Ok((header, payload)) = parse(&packet) {
            prop_assert_eq!(payload.len(), usize::from(header.size));
            prop_assert!(payload.len() + SIZE <= packet.len());
        }
    }
}

#[test]
fn the_layout_is_frozen() {
    let header = Header {
        tag: Tag::Mcast,
        source: Rank(0x0102),
        size: 0x0304,
        credits: 0x0506,
        tree: TreeId::from_bits(0x0708_090a),
        channel: Channel(Some(Rank(0x0b0c))),
        sequence: 0x0d0e_0f10,
        acknowledgement: 0x1112_1314,
        asks: true,
        follows: Follows::Nothing,
        serial: Serial::from_bits(0x7b5c),
    };
    let expected = [
        1, 2, 2, 1, 4, 3, 6, 5, 0x0a, 9, 8, 7, 0x0c, 0x0b, 0xb9, 0xf6, 0x10, 0x0f, 0x0e, 0x0d,
        0x14, 0x13, 0x12, 0x11,
    ];
    assert_eq!(emit(&header), expected);
}

#[test]
fn refusals_say_what_is_wrong() {
    let good = emit(&Header::new(Tag::Ucast, Rank(1), TreeId::unicast(Rank(1)), 9));
    assert_eq!(parse(&good[..23]), Err(Malformed::Short(23)));
    assert_eq!(parse(&good), Err(Malformed::Size { announced: 9, present: 0 }));
    let mut other = good;
    other[0] = 2;
    assert_eq!(parse(&other), Err(Malformed::Version(2)));
    other[..2].copy_from_slice(&[1, 0]);
    assert_eq!(parse(&other), Err(Malformed::Tag(0)));
}
