use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn parse_undoes_emit(
        port in any::<u32>(), message in any::<u32>(), bytes in 0..=MAX_MESSAGE,
        header_bytes in any::<u8>(), first in any::<bool>(), aligned in any::<bool>(),
    ) {
        let (kind, header_bytes) = if first { (PacketKind::First, header_bytes) } else { (PacketKind::Next, 0) };
        let header = PacketHeader { port, message, bytes, header_bytes, kind, aligned };
        let mut packet = header.emit().to_vec();
        packet.extend(header.padding());
        packet.resize(packet.len() + usize::from(header_bytes), 9);
        prop_assert_eq!(packet.len(), header.bytes_at());
        prop_assert!(!aligned || packet.len().is_multiple_of(64));
        prop_assert_eq!(PacketHeader::parse(&packet), Some((header, &[][..])));
        if packet.len() > SIZE {
            packet.pop();
            prop_assert_eq!(PacketHeader::parse(&packet), None, "headers longer than the packet");
        }
    }

    /// The quick look sees what the other sees, and nothing else.
    #[test]
    fn whole_messages_are_seen_at_once(
        number in any::<u32>(), header_bytes in 0..4u8, length in 0..8u64, size in 0..12usize,
        kind in prop::sample::select(&[PacketKind::First, PacketKind::Whole][..]), aligned in any::<bool>(),
    ) {
        let header = PacketHeader { port: 3, message: number, bytes: length, header_bytes, kind, aligned };
        let packet = [&header.emit()[..], header.padding(), &vec![7; size]].concat();
        let begin = header.bytes_at() - usize::from(header_bytes);
        let is_whole = kind == PacketKind::Whole && size == usize::from(header_bytes) + length as usize;
        let parsed = PacketHeader::parse(&packet).filter(|(header, _)| header.kind == PacketKind::Whole);
        prop_assert_eq!(parsed.map(|(header, _)| header), is_whole.then_some(header));
        let at_once = (is_whole && !aligned).then_some((header, &packet[begin..]));
        prop_assert_eq!(PacketHeader::parse_whole(&packet), at_once);
    }

    #[test]
    fn any_bytes_parse_or_are_refused(packet in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Some((header, bytes)) = PacketHeader::parse(&packet) {
            prop_assert_eq!(bytes.len() + header.bytes_at(), packet.len());
        }
    }
}

/// A reader skips them in the first packet only: in another they would pass for the message.
#[test]
fn later_packets_have_no_headers() {
    let header = PacketHeader {
        port: 1,
        message: 1,
        bytes: 4,
        header_bytes: 1,
        kind: PacketKind::Next,
        aligned: false,
    };
    let packet = [&header.emit()[..], &[0; 4]].concat();
    assert_eq!(PacketHeader::parse(&packet), None);
}

#[test]
fn the_layout_is_frozen() {
    let header = PacketHeader {
        port: 0x0403_0201,
        message: 0x0807_0605,
        bytes: 0x0e0d_0c0b_0a09,
        header_bytes: 0x0f,
        kind: PacketKind::Next,
        aligned: false,
    };
    assert_eq!(header.emit(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 2]);
    let aligned = PacketHeader { aligned: true, ..header };
    assert_eq!(aligned.emit()[15], 0x82);
}
