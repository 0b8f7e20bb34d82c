use super::*;
use crate::machine::invariants::{i12_granted_first, i13_one_answer};

type Requests = super::Requests<u8>;

const TO: Rank = Rank(3);

#[test]
fn an_answer_reaches_who_asked_and_nobody_else() {
    let mut requests = Requests::default();
    requests.ask(TO, 7);
    requests.ask(TO, 8);
    assert_eq!(requests.take(TO, 7, Some(&1)), None);
    assert!(
        requests.answered(Rank(4), 7, RequestAnswer::Granted).is_none(),
        "rank 4 was not asked"
    );
    assert!(requests.answered(TO, 9, RequestAnswer::Granted).is_none(), "9 was not asked");
    assert_eq!(requests.answered(TO, 7, RequestAnswer::Granted), Some(Some(1)));
    assert_eq!(requests.take(TO, 8, None), None);
    assert_eq!(requests.take(TO, 7, None), Some(RequestAnswer::Granted));
    assert_eq!(requests.take(TO, 7, None), None, "an answer is taken once");
}

#[test]
fn a_second_answer_is_none() {
    let mut requests = Requests::default();
    requests.ask(TO, 7);
    assert!(requests.answered(TO, 7, RequestAnswer::Granted).is_some());
    assert!(requests.answered(TO, 7, RequestAnswer::Granted).is_none());
    assert_eq!(requests.take(TO, 7, None), Some(RequestAnswer::Granted));
    assert!(requests.answered(TO, 7, RequestAnswer::Unwanted).is_none());
}

#[test]
fn what_is_withdrawn_is_answered_all_the_same_and_forgotten_then() {
    for answer in [RequestAnswer::Granted, RequestAnswer::Unwanted] {
        let mut requests = Requests::default();
        requests.ask(TO, 7);
        assert!(requests.wait_for(TO));
        assert!(requests.withdraw(TO, 7), "its receiver has it");
        assert!(!requests.wait_for(TO), "nobody waits any more");
        assert!(requests.answered(TO, 7, answer).is_some());
        assert!(requests.asked.is_empty());
    }
}

#[test]
fn what_was_answered_before_it_was_withdrawn_has_its_answer() {
    for (answer, known) in [(RequestAnswer::Granted, true), (RequestAnswer::Unwanted, false)] {
        let mut requests = Requests::default();
        requests.ask(TO, 7);
        assert!(requests.answered(TO, 7, answer).is_some());
        assert_eq!(requests.withdraw(TO, 7), known, "{answer:?}");
        assert!(requests.asked.is_empty());
    }
}

#[test]
fn a_rank_waits_for_those_that_have_not_answered() {
    let mut requests = Requests::default();
    requests.ask(TO, 0);
    requests.ask(TO, u32::MAX);
    assert!(requests.wait_for(TO) && !requests.wait_for(Rank(2)) && !requests.wait_for(Rank(4)));
    assert!(requests.answered(TO, 0, RequestAnswer::Granted).is_some());
    assert!(requests.wait_for(TO));
    assert!(requests.answered(TO, u32::MAX, RequestAnswer::Unwanted).is_some());
    assert!(!requests.wait_for(TO));
}

#[test]
#[should_panic(expected = "I12 granted first")]
fn i12_is_broken_on_purpose() {
    i12_granted_first(false);
}

#[test]
#[should_panic(expected = "I13 one answer")]
fn i13_is_broken_on_purpose() {
    i13_one_answer(false);
}
