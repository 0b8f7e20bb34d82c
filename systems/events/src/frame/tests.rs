use super::*;

#[test]
fn a_header_is_read_as_it_was_written() {
    for kind in [Kind::Fragment, Kind::Update, Kind::Acknowledge, Kind::Request] {
        for bits in 0..16_u32 {
            let bit = |bit: u32| bits & bit != 0;
            let flags = Flags { last: bit(1), crowd: bit(2), large: bit(4) };
            let header = Header {
                flags,
                asks: bit(8),
                frames: 515,
                done: 7,
                ..Header::new(kind, 70_000, u32::MAX - 1)
            };
            let mut bytes = header.encode().to_vec();
            bytes.extend([1, 2, 3]);
            assert_eq!(Header::decode(&bytes), Some((header, &[1, 2, 3][..])));
        }
    }
}

#[test]
fn what_no_node_writes_is_no_header() {
    assert_eq!(Header::decode(&[0; SIZE - 1]), None);
    let mut bytes = Header::new(Kind::Fragment, 0, 0).encode();
    bytes[0] = 4;
    assert_eq!(Header::decode(&bytes), None);
    bytes[0] = 0;
    bytes[1] = 16;
    assert_eq!(Header::decode(&bytes), None);
    let last = Header::new(Kind::Fragment, 0, u32::MAX);
    assert_eq!(Header::decode(&last.encode()), None, "there are no more numbers after it");
}
