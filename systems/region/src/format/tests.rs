//! Round trips: all that is written is read again, and nothing else is.

use super::*;

fn header(kind: MessageKind) -> Header {
    let party = if kind.names_party() { Rank(5) } else { Rank(2) };
    let region = RegionId { home: Rank(2), index: 0x0102_0304 };
    let offset = if kind.carries_data() { 1 << 40 } else { 0 };
    Header {
        region,
        message: Message { kind, version: Version(0xa0b0_c0d0), party },
        lands: false,
        lent: false,
        offset,
    }
}

#[test]
fn headers_survive() {
    for (code, kind) in MessageKind::ALL.into_iter().enumerate() {
        let header = header(kind);
        let mut bytes = header.emit()[..header.size()].to_vec();
        let data: &[u8] = if kind.carries_data() { b"data" } else { b"" };
        bytes.extend(data);
        assert_eq!(Header::parse(&bytes, 6), Some((header, data)));
        assert_eq!((usize::from(bytes[0]), &bytes[2..8]), (code, &[2, 0, 4, 3, 2, 1][..]));
        assert_eq!(
            (&bytes[8..12], bytes[12]),
            (&[0xd0, 0xc0, 0xb0, 0xa0][..], header.message.party.0 as u8)
        );
    }
}

#[test]
fn headers_say_where_answers_are_wanted_and_that_they_have_landed() {
    let destinations = [
        Destination::new(7, Some(64 << 20)),
        Destination::new(u32::MAX, None),
        Destination::new(0, Some(0)),
    ];
    assert_eq!(
        destinations.map(|destination| destination.offset()),
        [Some(64 << 20), None, Some(0)]
    );
    for kind in MessageKind::ALL {
        for destination in destinations {
            let asks = header(kind).with_destination(destination);
            let bytes = asks.emit();
            assert_eq!(
                Header::parse(&bytes, 6),
                kind.may_land().then_some((asks, &[][..])),
                "{kind:?}"
            );
            assert_eq!(asks.destination(), (!kind.carries_data()).then_some(destination));
        }
        let landed = header(kind).landed(1000);
        let bytes = [&landed.emit()[..], b"last"].concat();
        let parsed = (kind.carries_data() && kind.may_land()).then_some((landed, &b"last"[..]));
        assert_eq!(Header::parse(&bytes, 6), parsed, "{kind:?}");
    }
}

/// Only readers borrow, and only copies to read are lent.
#[test]
fn headers_say_what_may_be_lent_and_what_is() {
    for kind in MessageKind::ALL {
        let asks = header(kind).with_destination(Destination::new(7, None)).with_loan();
        let parsed = (kind == MessageKind::Read).then_some((asks, &[][..]));
        assert_eq!(Header::parse(&asks.emit(), 6), parsed, "{kind:?}");
        let lent = header(kind).lent(64);
        let parsed = (kind == MessageKind::DataShared).then_some((lent, &[][..]));
        assert_eq!(Header::parse(&lent.emit()[..lent.size()], 6), parsed, "{kind:?}");
        assert_eq!(Header::parse(&[&lent.emit()[..], b"data"].concat(), 6), None);
    }
}

#[test]
fn receivers_are_who_was_meant() {
    let to = [0, 7, 8, 11].map(Rank).into_iter().collect();
    let bytes = [&receivers::emit(&to, 12)[..], b"rest"].concat();
    for rank in (0..12).map(Rank) {
        assert_eq!(receivers::split(&bytes, 12, rank), Some((to.contains(&rank), &b"rest"[..])));
    }
    assert_eq!(receivers::split(&bytes[..2], 12, Rank(0)), None);
    assert_eq!(receivers::split(&[&[1], &bytes[1..]].concat(), 12, Rank(0)), None);
}

#[test]
fn what_no_node_writes_is_no_header() {
    let read = header(MessageKind::Read).emit();
    let parse = |bytes: &[u8], ranks| Header::parse(bytes, ranks).is_some();
    assert!(parse(&read[..SIZE], 6) && !parse(&read[..SIZE - 1], 6));
    assert!(!parse(&read[..SIZE + 1], 6), "a request carries no data");
    assert!(!parse(&read[..SIZE], 2), "a home that the job does not have");
    let fetch = header(MessageKind::FetchShared).emit();
    assert!(parse(&fetch[..SIZE], 6) && !parse(&fetch[..SIZE], 5), "a party that it does not have");
    for (at, value) in [(0, 17), (1, 1), (12, 3), (14, 1), (15, 1)] {
        let mut bytes = read;
        bytes[at] = value;
        assert!(!parse(&bytes[..SIZE], 6), "{value} at {at}");
    }
    let mut data = header(MessageKind::Update).emit();
    assert!(parse(&data, 6) && !parse(&data[..DATA_SIZE - 1], 6));
    data[16..].fill(0xff);
    assert!(parse(&data, 6) && !parse(&[&data[..], &[0]].concat(), 6), "beyond all memory");
}

#[test]
fn notices_survive_and_are_no_headers() {
    let region = RegionId { home: Rank(3), index: 9 };
    let mapped = Notice::Mapped { version: Version(7), bytes: 1 << 40 };
    let heap = Notice::Heap(HeapName { bytes: 1 << 28, name: *b"0123456789abcdef" });
    for notice in [Notice::Map, mapped, Notice::Unknown, heap] {
        let bytes = notice.emit(region);
        assert_eq!(Notice::parse(&bytes, 4), Some((region, notice)));
        assert_eq!(Notice::parse(&bytes, 3), None, "a home that the job does not have");
        assert_eq!((Notice::parse(&bytes[1..], 4), Header::parse(&bytes, 4)), (None, None));
        let mut more = bytes;
        more[20] = 1;
        assert_eq!(Notice::parse(&more, 4).is_some(), [mapped, heap].contains(&notice));
    }
}

/// Packets of collective operations are told from all others by their first byte.
#[test]
fn collective_packets_are_nothing_else() {
    use weft_collective::format::{Header as Part, TransferKind};
    use weft_collective::{BARRIER, TeamId};
    let team = TeamId { leader: Rank(0), count: 0 };
    for kind in [TransferKind::Piece, TransferKind::Ready, TransferKind::Abort] {
        let part = Part { kind, team, number: 0, step: 0, signature: BARRIER.signature() };
        let bytes = [&part.emit()[..], &[0; 4]].concat();
        for length in [SIZE, DATA_SIZE] {
            assert_eq!(
                (Header::parse(&bytes[..length], 4), Notice::parse(&bytes, 4)),
                (None, None)
            );
        }
        assert_eq!(receivers::split(&bytes, 4, Rank(0)), None);
    }
}
