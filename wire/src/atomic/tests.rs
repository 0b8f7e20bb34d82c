use super::*;
use crate::{Header, Rank, Tag, TreeId, envelope};

const ALL: [Atomic; 8] = [
    Atomic::Add(9),
    Atomic::Swap(9),
    Atomic::CompareSwap { expected: 12, new: 9 },
    Atomic::Min(9),
    Atomic::Max(9),
    Atomic::And(9),
    Atomic::Or(9),
    Atomic::Xor(9),
];

#[test]
fn each_operation_makes_of_a_value_what_its_name_says() {
    assert_eq!(ALL.map(|operation| operation.apply(12)), [21, 9, 9, 9, 12, 8, 13, 5]);
    assert_eq!(ALL.map(|operation| operation.apply(3)), [12, 9, 3, 3, 9, 1, 11, 10]);
    assert_eq!(Atomic::Add(2).apply(u64::MAX), 1, "it goes round");
    assert_eq!(Atomic::Max(u64::MAX).apply(1), u64::MAX, "there is no sign");
}

#[test]
fn the_words_of_a_request_are_frozen() {
    let first_words = ALL.map(|operation| operation.to_words(7)[0]);
    let numbers: [u64; 8] = std::array::from_fn(|number| number as u64);
    assert_eq!(first_words, numbers.map(|number| number << 16 | 7));
    assert_eq!(ALL[0].to_words(7), [7, 9, 0], "a fetch-and-add begins with its variable");
    assert_eq!(ALL[2].to_words(u16::MAX), [0x2_ffff, 9, 12]);
}

#[test]
fn a_request_is_found_again_in_its_packet() {
    for operation in ALL {
        let tree = TreeId::unicast(Rank(1));
        let header = Header::new(Tag::FaRequest, Rank(1), tree, operation.size());
        let is_long = matches!(operation, Atomic::CompareSwap { .. });
        assert_eq!(envelope::body_bytes(&header), if is_long { 24 } else { 16 });
        let bytes = to_bytes(operation.to_words(u16::MAX));
        let body = &bytes[..envelope::body_bytes(&header)];
        assert_eq!(Atomic::parse(from_bytes(body)), Ok((u16::MAX, operation)));
    }
}

#[test]
fn what_asks_for_no_operation_says_so() {
    for first in [8 << 16, 1 << 24, 1 << 63, u64::MAX] {
        assert_eq!(Atomic::parse([first, 1, 2]), Err(first));
    }
}
