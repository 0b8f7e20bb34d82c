use super::*;
use weft_wire::{Tag, TreeId};

const MOST: usize = 1400;

fn header(from: u16, serial: Serial) -> Header {
    let from = Rank(from);
    Header { serial, ..Header::new(Tag::Ucast, from, TreeId::unicast(from), 8) }
}

fn serial(number: u32) -> Serial {
    (0..number).fold(Serial::FIRST, |serial, _| serial.next())
}

fn ways(ranks: u16) -> Ways {
    let address = |rank| SocketAddr::from(([127, 0, 0, 1], 1000 + rank));
    Ways::new((0..ranks).map(address).collect(), Rank(0), MOST)
}

#[test]
fn a_record_is_next_if_no_number_is_missing_in_between() {
    let mut ways = ways(3);
    assert!(ways.is_next(&header(1, serial(0))), "nothing was sent before it");
    assert!(!ways.is_next(&header(1, serial(1))), "a datagram was");
    ways.came(&header(1, serial(4)));
    assert!(ways.is_next(&header(1, serial(5))));
    assert!(!ways.is_next(&header(1, serial(7))), "two datagrams came between");
    assert!(!ways.is_next(&header(1, serial(4))), "it comes again");
    assert!(!ways.is_next(&header(2, serial(5))), "from somebody else");
    for number in [12_000, 24_000, 32_766] {
        ways.came(&header(1, serial(number)));
    }
    assert!(ways.is_next(&header(1, serial(0))), "numbers begin again");
}

#[test]
fn what_has_no_number_is_never_early_and_moves_nothing() {
    let mut ways = ways(2);
    assert!(!ways.comes_early(&header(1, Serial::NONE)));
    assert!(ways.is_next(&header(1, Serial::FIRST)));
    assert!(ways.comes_early(&header(1, serial(1))), "the first has not come");
    assert!(ways.is_next(&header(1, Serial::FIRST)), "it was not handed over");
}

#[test]
fn the_first_number_says_whether_anything_without_one_may_be_under_way() {
    let of = |follows| Header { follows, ..header(0, Serial::NONE) };
    for (follows, first) in [(Follows::Taken, 0), (Follows::Earlier, 1), (Follows::Lost, 1)]
        .map(|(a, b)| (a, serial(b)))
    {
        let mut ways = ways(2);
        let numbered = ways.number_among(Rank(1), &of(follows));
        assert_eq!(numbered.serial, Serial::NONE, "nothing goes another way");
        assert_eq!(ways.datagram_most(Rank(1)), MOST as i32);
        assert_eq!(ways.number(Rank(1), &of(follows)).serial, first);
        assert!(ways.datagram_most(Rank(1)) < 0);
        let numbered = ways.number_among(Rank(1), &of(Follows::Taken));
        assert_eq!(numbered.serial, first.next());
    }
}

#[test]
fn records_are_followed_until_all_was_taken() {
    let mut ways = ways(2);
    ways.went(Rank(1));
    for (follows, by_record) in [(Follows::Earlier, true), (Follows::Taken, false)] {
        assert!(!ways.hear(Rank(1), follows));
        assert_eq!(ways.is_by_record(Rank(1)), by_record);
    }
}

#[test]
fn a_connection_brings_nothing_if_all_is_lost_for_long() {
    let mut ways = ways(2);
    ways.went(Rank(1));
    assert!(!ways.hear(Rank(1), Follows::Lost));
    ways.now = STALLED_AFTER - 1;
    assert!(!ways.hear(Rank(1), Follows::Lost));
    ways.now += 1;
    assert!(ways.hear(Rank(1), Follows::Lost));
    assert!(!ways.hear(Rank(1), Follows::Earlier));
    assert!(!ways.hear(Rank(1), Follows::Lost), "something new went meanwhile");
}
