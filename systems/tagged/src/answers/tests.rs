//! Answers to several ranks, over a network with little room.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::network::wires::Net;

fn head(kind: u8) -> Head {
    Head::new(kind)
}

#[test]
fn requests_are_counted_until_they_are_answered() {
    let mut requests = Outstanding::<2>::default();
    assert!(requests.ask() && requests.ask());
    assert!(!requests.ask() && !requests.has_room(), "and nothing has changed");
    requests.answered();
    assert!(requests.has_room() && requests.ask() && !requests.has_room());
}

#[test]
fn answers_give_what_they_give_once_they_have_left() {
    let mut net = Net::new(3, 100, 1);
    let mut answers = Answers::default();
    answers.push(Rank(1), head(1), 'a');
    answers.push_with(Rank(1), head(2), vec![7, 8], 'b');
    answers.push(Rank(2), head(3), 'c');
    let mut left = Vec::new();
    let mut send = |answers: &mut Answers<char>, net: &mut Net| {
        answers.send(&mut net.of(0), |to, gives| left.push((to.0, gives))).unwrap()
    };
    assert!(send(&mut answers, &mut net), "there is room for one to each");
    assert!(!send(&mut answers, &mut net), "none overtakes another");
    assert_eq!(net.take(0, 1).unwrap(), head(1).bytes());
    assert!(net.take(0, 2).is_none());
    assert!(send(&mut answers, &mut net));
    assert_eq!(net.take(0, 1).unwrap(), [head(2).bytes(), &[7, 8]].concat());
    assert_eq!(net.take(0, 2).unwrap(), head(3).bytes());
    assert_eq!(left, [(1, 'a'), (1, 'b'), (2, 'c')]);
    assert!(answers.is_empty());
}

#[test]
fn who_has_left_is_answered_nothing() {
    let mut answers = Answers::default();
    answers.push(Rank(1), head(1), ());
    answers.push(Rank(2), head(2), ());
    answers.push(Rank(1), head(3), ());
    answers.forget(Rank(1));
    assert_eq!(answers.len(), 1);
    let mut net = Net::new(3, 100, 1);
    answers.send(&mut net.of(0), |to, ()| assert_eq!(to, Rank(2))).unwrap();
    assert!(net.take(0, 1).is_none() && net.take(0, 2).is_some());
}
