use super::*;
use crate::TreeId;
use crate::network::tests::any_header;
use proptest::prelude::*;

fn any_envelope() -> impl Strategy<Value = Envelope> {
    any::<(u8, u32, u16, u16, u32, u64, u64)>().prop_map(
        |(kind, job, source, destination, length, sequence, tag)| Envelope {
            kind: FrameKind(kind),
            job,
            source: Rank(source),
            destination: Rank(destination),
            length,
            sequence,
            tag,
        },
    )
}

proptest! {
    #[test]
    fn parse_undoes_emit(envelope in any_envelope(), more in prop::collection::vec(any::<u8>(), 0..9)) {
        let frame = [&emit(&envelope)[..], &more].concat();
        prop_assert_eq!(parse(&frame), Ok(envelope));
        prop_assert_eq!(parse(&frame[..SIZE - 1]), Err(Foreign::Short));
    }

    #[test]
    fn packets_that_were_put_are_found(headers in prop::collection::vec(any_header(), 1..5)) {
        let mut frame = vec![0xff; headers.iter().map(|header| packet_bytes(body_bytes(header))).sum()];
        let mut at = 0;
        for header in &headers {
            at += put(&mut frame[at..], header, &vec![7; body_bytes(header)]);
        }
        prop_assert_eq!(at, frame.len());
        let mut rest = &frame[..];
        for header in &headers {
            let (found, body, bytes) = first(rest).unwrap();
            prop_assert_eq!(&found, header);
            prop_assert_eq!(body, vec![7; body_bytes(header)]);
            prop_assert!(rest[network::SIZE + body.len()..bytes].iter().all(|&byte| byte == 0));
            rest = &rest[bytes..];
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn any_bytes_are_a_packet_or_refused(mut packet in prop::collection::vec(any::<u8>(), 0..80), fix in any::<bool>()) {
        if fix && packet.len() > 5 {
            packet[0] = network::VERSION;
            packet[1] %= 10;
            packet[5] = 0;
        }
        if let Ok((header, body, bytes)) = first(&packet) {
            prop_assert_eq!(body.len(), body_bytes(&header));
            prop_assert!(bytes <= packet.len() && bytes >= network::SIZE + body.len());
        }
    }
}

#[test]
fn the_layout_is_frozen() {
    let envelope = Envelope {
        kind: FrameKind(3),
        job: 0x0405_0607,
        source: Rank(0x0809),
        destination: Rank(0x0a0b),
        length: 0x0c0d_0e0f,
        sequence: 0x1011_1213_1415_1617,
        tag: 0x1819_1a1b_1c1d_1e1f,
    };
    let expected = [
        b'W', b'F', 2, 3, 7, 6, 5, 4, 9, 8, 0x0b, 0x0a, 0x0f, 0x0e, 0x0d, 0x0c, 0x17, 0x16, 0x15,
        0x14, 0x13, 0x12, 0x11, 0x10, 0x1f, 0x1e, 0x1d, 0x1c, 0x1b, 0x1a, 0x19, 0x18,
    ];
    assert_eq!(emit(&envelope), expected);
}

#[test]
fn foreigners_are_told_apart() {
    let mut frame = [0; SIZE];
    assert_eq!(parse(&frame), Err(Foreign::Magic));
    frame[..2].copy_from_slice(&MAGIC);
    assert_eq!(parse(&frame), Err(Foreign::Version));
}

#[test]
fn a_packet_without_its_padding_is_refused() {
    let header = Header::new(Tag::Ucast, Rank(1), TreeId::unicast(Rank(1)), 3);
    let mut place = [9; 32];
    assert_eq!(put(&mut place, &header, b"abc"), 32);
    assert_eq!(&place[24..], b"abc\0\0\0\0\0");
    assert_eq!(first(&place[..31]), Err(Malformed::Size { announced: 3, present: 7 }));
}
