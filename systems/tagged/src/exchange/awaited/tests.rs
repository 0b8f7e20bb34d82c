//! Waits in words.

use super::*;
use crate::Address;

fn pattern(source: Option<u16>, tag: u64, ignore: u64) -> ReceivePattern {
    let source = source.map(|rank| Address { rank: Rank(rank), endpoint: 0 });
    ReceivePattern { source, tag, ignore }
}

#[test]
fn a_receive_is_said_with_its_source_and_its_tag() {
    assert_eq!(receive_of(&pattern(Some(1), 7, 0)), "a message of rank 1 with tag 7");
    let on_another = pattern(None, 3 << 31 | 7, 0);
    assert_eq!(receive_of(&on_another), "a message of any rank with tag 7 (context 0x3)");
    assert_eq!(receive_of(&pattern(None, 0, TAG_BITS)), "a message of any rank with any tag");
    let own = pattern(Some(1), 5 << 32 | u64::from((-16_i32).cast_unsigned()), 0);
    let said = "a message of rank 1 with the library's tag -16 (context 0xa)";
    assert_eq!(receive_of(&own), said);
}

#[test]
fn whoever_may_end_a_wait_is_one_or_some_or_anyone() {
    let of = |ranks: &[Option<u16>]| whom(ranks.iter().map(|rank| rank.map(Rank)));
    assert_eq!(of(&[Some(2), Some(2)]), Whom::One(Rank(2)));
    assert_eq!(of(&[Some(2), Some(1)]), Whom::OneOf(vec![Rank(1), Rank(2)]));
    assert_eq!(of(&[Some(2), None]), Whom::Anyone);
}
