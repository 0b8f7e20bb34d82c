//! Addresses as bytes.

use super::*;

#[test]
fn an_address_comes_back_as_it_was() {
    let address = Address { rank: Rank(513), endpoint: 7 };
    assert_eq!(parse(&emit(address, 1000), 1000), Some(address));
}

#[test]
fn what_is_no_address_of_this_job_is_refused() {
    let address = Address { rank: Rank(2), endpoint: 0 };
    let bytes = emit(address, 4);
    assert_eq!(parse(&bytes, 8), None, "a job of another size");
    assert_eq!(parse(&emit(Address { rank: Rank(4), ..address }, 4), 4), None, "no such rank");
    assert_eq!(parse(&[0; ADDRESS_BYTES], 4), None);
    for place in [0, 4, 12, 15] {
        let mut broken = bytes;
        broken[place] ^= 1;
        assert_eq!(parse(&broken, 4), None, "another byte at {place}");
    }
}
