//! Hosts that answer, late ones, and those that do not.

use super::*;
use crate::roll::Doing;

const NOW: Duration = Duration::from_secs(5);

fn standing(rank: u16) -> Standing {
    Standing::outside(Rank(rank), Doing::Computes)
}

fn ranks(call: &RollCall) -> Vec<u16> {
    call.standings().iter().map(|standing| standing.rank.0).collect()
}

#[test]
fn it_is_over_when_all_have_answered() {
    let mut call = RollCall::default();
    assert!(!call.is_open(NOW));
    let number = call.begin(NOW, [0, 1]);
    call.heard(1, number, vec![standing(2), standing(3)]);
    assert!(call.is_open(NOW));
    // Once is enough.
    call.heard(1, number, vec![standing(7)]);
    call.heard(0, number, vec![standing(0)]);
    assert!(!call.is_open(NOW));
    assert_eq!(ranks(&call), [0, 2, 3]);
}

#[test]
fn nobody_is_waited_for_who_is_lost_or_late() {
    let mut call = RollCall::default();
    let first = call.begin(NOW, [0, 1]);
    call.lost(1);
    assert!(call.is_open(NOW));
    assert!(!call.is_open(NOW + PATIENCE));
    let second = call.begin(NOW, [0]);
    call.heard(0, first, vec![standing(0)]);
    assert!(call.is_open(NOW) && ranks(&call).is_empty());
    call.heard(0, second, vec![standing(0)]);
    assert!(!call.is_open(NOW));
}
