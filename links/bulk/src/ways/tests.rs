use super::*;
use weft_wire::{Tag, TreeId};

const MOST: usize = 1400;

fn header(from: u16, sequence: u32) -> Header {
    let from = Rank(from);
    Header { sequence, ..Header::new(Tag::Ucast, from, TreeId::unicast(from), 8) }
}

fn ways(ranks: u16) -> Ways {
    let address = |rank| SocketAddr::from(([127, 0, 0, 1], 1000 + rank));
    Ways::new((0..ranks).map(address).collect(), Rank(0), MOST)
}

#[test]
fn a_record_is_next_if_no_number_is_missing_in_between() {
    let mut ways = ways(3);
    assert!(ways.is_next(&header(1, 0)), "nothing was sent before it");
    assert!(!ways.is_next(&header(1, 1)), "a datagram was");
    ways.came_by_record(&header(1, 4));
    assert!(ways.is_next(&header(1, 5)));
    assert!(!ways.is_next(&header(1, 7)), "two datagrams came between");
    assert!(!ways.is_next(&header(1, 4)), "it is sent again");
    assert!(!ways.is_next(&header(2, 5)), "from somebody else");
    for number in [u32::MAX / 2, u32::MAX] {
        ways.came_by_record(&header(1, number));
    }
    assert!(ways.is_next(&header(1, 0)), "numbers begin again");
}
