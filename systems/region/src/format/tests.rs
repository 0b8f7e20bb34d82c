//! Round trips: all that is written is read again, and nothing else is.

use super::*;

fn header(kind: Kind) -> Header {
    let party = if kind.is_fetch() { Rank(5) } else { Rank(2) };
    let region = RegionId { home: Rank(2), index: 0x0102_0304 };
    let offset = if kind.carries_data() { 1 << 40 } else { 0 };
    Header {
        region,
        message: Message { kind, version: Version(0xa0b0_c0d0), party },
        lands: false,
        offset,
    }
}

#[test]
fn headers_survive() {
    for (code, kind) in Kind::ALL.into_iter().enumerate() {
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
    for kind in Kind::ALL {
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
    let read = header(Kind::Read).emit();
    let parse = |bytes: &[u8], ranks| Header::parse(bytes, ranks).is_some();
    assert!(parse(&read[..SIZE], 6) && !parse(&read[..SIZE - 1], 6));
    assert!(!parse(&read[..SIZE + 1], 6), "a request carries no data");
    assert!(!parse(&read[..SIZE], 2), "a home that the job does not have");
    let fetch = header(Kind::FetchShared).emit();
    assert!(parse(&fetch[..SIZE], 6) && !parse(&fetch[..SIZE], 5), "a party that it does not have");
    for (at, value) in [(0, 17), (1, 1), (12, 3), (14, 1), (15, 1)] {
        let mut bytes = read;
        bytes[at] = value;
        assert!(!parse(&bytes[..SIZE], 6), "{value} at {at}");
    }
    let mut data = header(Kind::Update).emit();
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

#[test]
fn parts_survive_and_are_nothing_else() {
    use collectives::{Collective, Operation, Part, SIZE, Step};
    let collective = [
        Collective::Barrier,
        Collective::Broadcast { root: Rank(3) },
        Collective::Reduce { element: 8 },
    ];
    let steps = [Step::Up, Step::Down, Step::Go, Step::Disagree(Rank(3))];
    for (collective, step) in
        collective.into_iter().flat_map(|collective| steps.map(|step| (collective, step)))
    {
        let carries = matches!(step, Step::Up | Step::Down);
        let (offset, data): (u64, &[u8]) = if carries { (1 << 40, b"data") } else { (0, b"") };
        let operation =
            Operation { collective, number: 0x0102_0304, bytes: offset + data.len() as u64 };
        let part = Part { step, operation, offset };
        let mut bytes = part.emit().to_vec();
        bytes.extend(data);
        assert_eq!(Part::parse(&bytes, 4), Some((part, data)));
        assert_eq!((Header::parse(&bytes, 4), Notice::parse(&bytes[..SIZE], 4)), (None, None));
        let names =
            matches!(collective, Collective::Broadcast { .. }) || matches!(step, Step::Disagree(_));
        assert_eq!(Part::parse(&bytes, 3).is_none(), names, "a rank that the job does not have");
        assert_eq!(Part::parse(&bytes[..SIZE - 1], 4), None);
        bytes.push(0);
        assert_eq!(Part::parse(&bytes, 4), None, "beyond the values");
        bytes.pop();
        for (at, value) in [(0, 63), (0, 68), (1, 3)] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            assert_eq!(Part::parse(&bytes, 4), None, "{value} at {at}");
        }
    }
}
