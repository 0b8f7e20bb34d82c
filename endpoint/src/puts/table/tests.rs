use super::*;

fn header(kind: PlaceKind, connection: u32, offset: u64, length: u32) -> PlaceHeader {
    PlaceHeader { offset, length, ..PlaceHeader::new(kind, connection) }
}

fn put(connection: u32, offset: u64) -> PlaceHeader {
    header(PlaceKind::Put, connection, offset, 0)
}

/// A table with an open buffer of 100 bytes for rank 1, and its number.
fn one(rights: Rights) -> (Table<&'static str>, u32) {
    let mut table = Table::default();
    let connection = table.offer(Rank(1), 100, rights, "buffer").unwrap();
    table.find(Rank(1), connection).unwrap().open = true;
    (table, connection)
}

fn admit(
    table: &mut Table<&'static str>,
    from: u16,
    header: PlaceHeader,
    size: usize,
) -> Result<usize, Refusal> {
    table.admit(Rank(from), &header, size).map(|(_, at)| at)
}

#[test]
fn what_is_inside_is_admitted_and_nothing_else() {
    let (mut table, connection) = one(Rights::PUT);
    for (offset, size, outcome) in [
        (0, 100, Ok(0)),
        (99, 1, Ok(99)),
        (100, 0, Ok(100)),
        (99, 2, Err(Refusal::Bounds)),
        (101, 0, Err(Refusal::Bounds)),
        (u64::MAX, 1, Err(Refusal::Bounds)),
        (u64::MAX - 50, 100, Err(Refusal::Bounds)),
    ] {
        assert_eq!(admit(&mut table, 1, put(connection, offset), size), outcome, "{offset} {size}");
    }
}

#[test]
fn only_the_peer_gets_in_and_only_where_it_was_let_in() {
    let (mut table, connection) = one(Rights::PUT);
    assert_eq!(admit(&mut table, 2, put(connection, 0), 1), Err(Refusal::NoConnection));
    for unknown in [connection + 1, connection | 1 << 16, u32::MAX] {
        assert_eq!(admit(&mut table, 1, put(unknown, 0), 1), Err(Refusal::NoConnection));
    }
    let get = header(PlaceKind::Get, connection, 0, 1);
    assert_eq!(admit(&mut table, 1, get, 0), Err(Refusal::Rights));
    assert_eq!(admit(&mut table, 1, header(PlaceKind::Get, connection, 0, 0), 0), Ok(0));
    let (mut table, connection) = one(Rights::GET);
    assert_eq!(admit(&mut table, 1, put(connection, 0), 1), Err(Refusal::Rights));
    assert_eq!(admit(&mut table, 1, header(PlaceKind::Get, connection, 60, 40), 0), Ok(60));
    assert_eq!(
        admit(&mut table, 1, header(PlaceKind::Get, connection, 60, 41), 0),
        Err(Refusal::Bounds)
    );
}

#[test]
fn offers_that_were_not_taken_admit_nothing() {
    let mut table = Table::default();
    let connection = table.offer(Rank(1), 100, Rights::BOTH, "buffer").unwrap();
    assert_eq!(admit(&mut table, 1, put(connection, 0), 1), Err(Refusal::NoConnection));
}

#[test]
fn a_notification_names_bytes_that_were_put() {
    let (mut table, connection) = one(Rights::PUT);
    for (offset, length, size, outcome) in [
        (90, 10, 10, Ok(90)),
        (90, 100, 10, Ok(90)),
        (90, 101, 10, Err(Refusal::Malformed)),
        (90, 9, 10, Err(Refusal::Malformed)),
        (0, 0, 0, Ok(0)),
        (u64::MAX, 1, 1, Err(Refusal::Bounds)),
    ] {
        let notify = header(PlaceKind::PutNotify, connection, offset, length);
        assert_eq!(admit(&mut table, 1, notify, size), outcome, "{offset} {length} {size}");
    }
}

#[test]
fn a_late_packet_finds_no_later_buffer_in_the_same_slot() {
    let (mut table, first) = one(Rights::PUT);
    assert_eq!(table.withdraw(first).unwrap().buffer, "buffer");
    assert!(table.withdraw(first).is_none());
    assert_eq!(admit(&mut table, 1, put(first, 0), 1), Err(Refusal::Closed));
    let second = table.offer(Rank(1), 100, Rights::PUT, "another").unwrap();
    assert_eq!(second as u16, first as u16);
    table.find(Rank(1), second).unwrap().open = true;
    assert_eq!(admit(&mut table, 1, put(first, 0), 1), Err(Refusal::Closed));
    assert_eq!(admit(&mut table, 1, put(second, 0), 1), Ok(0));
}

#[test]
fn a_place_whose_numbers_are_used_up_stays_empty() {
    let mut table = Table::default();
    for _ in 0..=u16::MAX {
        let connection = table.offer(Rank(1), 1, Rights::PUT, "buffer").unwrap();
        assert_eq!(connection as u16, 0);
        assert!(table.withdraw(connection).is_some());
    }
    let next = table.offer(Rank(1), 1, Rights::PUT, "buffer").unwrap();
    assert_eq!(next, 1);
    assert_eq!(admit(&mut table, 1, put(u32::from(u16::MAX) << 16, 0), 1), Err(Refusal::Closed));
}
