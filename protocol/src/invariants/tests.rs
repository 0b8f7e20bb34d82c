//! Each invariant holds where it should and names itself where it does not. That the protocols
//! keep them, and that breaking them is noticed, is shown in `testing/world`.

use super::*;
use weft_wire::GroupId;

const PAIR: PairCredits = PairCredits {
    window: 9,
    held: 3,
    in_flight: 2,
    buffered: 1,
    owed: 1,
    returning: 1,
    handed_back: 1,
};

#[test]
fn i1_holds_wherever_the_credits_are() {
    i1_credit_conservation(&PAIR);
    i1_credit_conservation(&PairCredits { held: 0, returning: 4, ..PAIR });
}

#[test]
#[should_panic(expected = "I1 credit conservation")]
fn i1_a_lost_credit() {
    i1_credit_conservation(&PairCredits { returning: 0, ..PAIR });
}

#[test]
#[should_panic(expected = "I1 credit conservation")]
fn i1_an_invented_credit_even_if_the_sum_overflows() {
    i1_credit_conservation(&PairCredits { held: u16::MAX, in_flight: 5, ..PAIR });
}

#[test]
#[should_panic(expected = "I2 careful: 9 buffers are promised, of 8")]
fn i2_a_promise_without_a_buffer() {
    i2_promised(8, 8);
    i2_promised(9, 8);
}

#[test]
#[should_panic(expected = "I2 careful: 3 packets for 2 credits")]
fn i2_a_packet_without_a_credit() {
    i2_careful(2, 2, 0);
    i2_careful(3, 2, 0);
}

#[test]
#[should_panic(expected = "I2 careful: 1 accepted packets were dropped")]
fn i2_a_dropped_packet() {
    i2_careful(0, 2, 1);
}

#[test]
fn i3_counts_from_zero() {
    i3_order(None, 0);
    i3_order(Some(0), 1);
}

#[test]
#[should_panic(expected = "I3 order: 2 arrived after Some(0)")]
fn i3_an_overtaken_packet() {
    i3_order(Some(0), 2);
}

#[test]
#[should_panic(expected = "I3 order: 1 arrived after Some(1)")]
fn i3_a_packet_twice() {
    i3_order(Some(1), 1);
}

#[test]
#[should_panic(expected = "I3 order: 1 arrived after None")]
fn i3_a_lost_first_packet() {
    i3_order(None, 1);
}

#[test]
fn i4_a_buffer_may_be_lent_again_once_it_is_back() {
    let mut ownership = Ownership::default();
    ownership.lend(5);
    ownership.lend(6);
    ownership.give_back(5);
    ownership.lend(5);
    assert!(ownership.is_lent(5));
    ownership.give_back(5);
    ownership.give_back(6);
    assert!(ownership.is_empty() && !ownership.is_lent(5));
    assert_eq!(ownership.len(), 0);
}

#[test]
#[should_panic(expected = "I4 one owner: buffer 5 was lent twice")]
fn i4_two_owners() {
    let mut ownership = Ownership::default();
    ownership.lend(5);
    ownership.lend(5);
}

#[test]
#[should_panic(expected = "I4 one owner: buffer 5 was released twice")]
fn i4_a_double_release() {
    let mut ownership = Ownership::default();
    ownership.lend(5);
    ownership.give_back(5);
    ownership.give_back(5);
}

#[test]
fn i5_data_may_wait() {
    for tag in [Tag::Ucast, Tag::Mcast, Tag::FaRequest] {
        i5_control_never_blocks(tag);
    }
}

#[test]
fn i5_control_may_not() {
    for tag in [Tag::Credit, Tag::ChannelClear, Tag::FaReply] {
        let refusal = std::panic::catch_unwind(|| i5_control_never_blocks(tag)).unwrap_err();
        let message = refusal.downcast_ref::<String>().expect("a panic with a message");
        assert_eq!(*message, format!("I5 control never blocks: a {tag:?} packet waits"));
    }
}

const NEVER: UpcallConditions =
    UpcallConditions { interrupts_enabled: false, polling: false, upcalls_allowed: false };

#[test]
fn i6_any_condition_is_enough() {
    i6_upcalls_only_when_allowed(UpcallConditions { interrupts_enabled: true, ..NEVER }, false);
    i6_upcalls_only_when_allowed(UpcallConditions { polling: true, ..NEVER }, false);
    i6_upcalls_only_when_allowed(UpcallConditions { upcalls_allowed: true, ..NEVER }, false);
}

#[test]
#[should_panic(expected = "I6 upcalls only when allowed: none of the three conditions")]
fn i6_an_unwanted_upcall() {
    i6_upcalls_only_when_allowed(NEVER, false);
}

#[test]
#[should_panic(expected = "I6 upcalls only when allowed: an upcall ran inside another")]
fn i6_a_nested_upcall() {
    i6_upcalls_only_when_allowed(UpcallConditions { polling: true, ..NEVER }, true);
}

#[test]
#[should_panic(expected = "I9 bounded: a queue has 4 entries, its bound is 3")]
fn i9_an_overlong_queue() {
    i9_bounded("a queue", 3, 3);
    i9_bounded("a queue", 4, 3);
}

#[test]
fn i7_a_channel_is_one_tree_and_one_buffer_an_ni() {
    let trees = [0, 1].map(|root| TreeId::multicast(GroupId::ALL, Rank(root)));
    let holds = |uses: &[(u16, TreeId)]| {
        let uses: Vec<_> = uses.iter().map(|&(at, tree)| (Rank(at), tree)).collect();
        std::panic::catch_unwind(|| i7_recovery(Rank(3), &uses)).is_ok()
    };
    assert!(holds(&[]) && holds(&[(1, trees[0]), (2, trees[0])]));
    assert!(!holds(&[(1, trees[0]), (3, trees[0])]), "back to its owner");
    assert!(!holds(&[(1, trees[0]), (1, trees[0])]), "two buffers at an NI");
    assert!(!holds(&[(1, trees[0]), (2, trees[1])]), "two trees");
}
