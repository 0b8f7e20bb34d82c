//! Fetch-and-add at home, away, and blocked (thesis 3.8).

use super::recorder::*;
use crate::{Body, VARIABLES};
use Did::{Fetched, Free, Transmit};
use weft_wire::Rank;

fn asks(variable: u16, amount: u64) -> Body<u64> {
    Body::FetchAdd { variable, amount }
}

#[test]
fn a_variable_of_ones_own_is_added_to_at_once() {
    let mut bench = Bench::new(0, 2, 1);
    assert_eq!(bench.fetch_and_add(0, 3, 5), [Fetched(0)]);
    assert_eq!(bench.fetch_and_add(0, 3, 2), [Fetched(5)]);
    assert_eq!(bench.fetch_and_add(0, 4, 1), [Fetched(0)], "variables are separate");
    assert!(!bench.ni.observe().is_fetching());
}

#[test]
fn a_remote_variable_is_asked_for_and_answered() {
    let mut bench = Bench::new(0, 2, 1);
    let asked = [Transmit(Rank(1), fa_request(0, 0), asks(7, 9))];
    assert_eq!(bench.fetch_and_add(1, 7, 9), asked);
    assert!(bench.ni.observe().is_fetching());
    assert_eq!(bench.ni.observe().outgoing(1.into()), (0, 0), "a request is a data packet");
    let credit_came_along = fa_reply(1, 1);
    assert_eq!(bench.receive(credit_came_along, Body::Fetched(41)), [Fetched(41)]);
    assert!(!bench.ni.observe().is_fetching());
    assert_eq!(bench.ni.observe().outgoing(1.into()), (1, 0));
}

#[test]
fn a_request_is_served_without_the_host_and_frees_its_buffer_at_once() {
    let mut bench = Bench::new(0, 3, 4);
    for (before, from) in [(0, 1), (5, 2), (10, 1)] {
        let did = bench.receive(fa_request(from, 0), asks(63, 5));
        let answer = Transmit(Rank(from), fa_reply(0, 1), Body::Fetched(before));
        assert_eq!(did, [answer]);
    }
    assert_eq!(bench.ni.observe().incoming(1.into()), (0, 0));
    assert_eq!(bench.ni.counters().fetch_adds_served, 3);
    assert_eq!(bench.fetch_and_add(0, 63, 0), [Fetched(15)]);
}

#[test]
fn additions_wrap() {
    let mut bench = Bench::new(0, 1, 1);
    bench.fetch_and_add(0, 0, u64::MAX);
    assert_eq!(bench.fetch_and_add(0, 0, 2), [Fetched(u64::MAX)]);
    assert_eq!(bench.fetch_and_add(0, 0, 0), [Fetched(1)]);
}

#[test]
fn without_a_credit_a_request_waits_in_order_with_the_data() {
    let mut bench = Bench::new(0, 2, 1);
    bench.unicast(1, 100);
    bench.unicast(1, 101);
    assert_eq!(bench.fetch_and_add(1, 0, 1), []);
    assert_eq!(bench.unicast(1, 102), []);
    assert!(bench.ni.observe().is_fetching());
    assert_eq!(bench.receive_credits(1, 1), [sent(1, ucast(0, 0), 101), Free(101)]);
    let asked = [Transmit(Rank(1), fa_request(0, 0), asks(0, 1))];
    assert_eq!(bench.receive_credits(1, 1), asked);
    assert_eq!(bench.receive_credits(1, 1), [sent(1, ucast(0, 0), 102), Free(102)]);
}

#[test]
#[should_panic(expected = "one fetch-and-add outstanding at a time")]
fn a_second_request_before_the_answer_is_a_programmers_error() {
    let mut bench = Bench::new(0, 2, 4);
    bench.fetch_and_add(1, 0, 1);
    bench.fetch_and_add(1, 1, 1);
}

#[test]
#[should_panic(expected = "there are 64 fetch-and-add variables")]
fn a_variable_that_does_not_exist_is_a_programmers_error() {
    Bench::new(0, 2, 4).fetch_and_add(1, VARIABLES, 1);
}
