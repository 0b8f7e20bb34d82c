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
    let number = call.begin(NOW, [0, 1], false);
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
    let first = call.begin(NOW, [0, 1], false);
    call.lost(1);
    assert!(call.is_open(NOW));
    assert!(!call.is_open(NOW + PATIENCE));
    let second = call.begin(NOW, [0], false);
    call.heard(0, first, vec![standing(0)]);
    assert!(call.is_open(NOW) && ranks(&call).is_empty());
    call.heard(0, second, vec![standing(0)]);
    assert!(!call.is_open(NOW));
}

#[test]
fn stacks_may_come_later() {
    let mut call = RollCall::default();
    let number = call.begin(NOW, [0, 1, 2], true);
    for host in 0..3 {
        call.heard(host, number, vec![standing(host)]);
    }
    assert!(call.is_open(NOW + PATIENCE));
    let stack = |rank| vec![(Rank(rank), format!("work_of_{rank}, main"))];
    call.heard_stacks(1, number, stack(1));
    // Of those that do the same one is enough, and what is late belongs to another call.
    call.heard_stacks(0, number, stack(0));
    call.heard_stacks(2, number.wrapping_sub(1), stack(2));
    assert!(call.is_open(NOW) && !call.is_open(NOW + STACKS_PATIENCE));
    call.lost(2);
    assert!(!call.is_open(NOW));
    let stacks: Vec<_> = call.standings().into_iter().map(|it| it.stack).collect();
    assert_eq!(stacks, [None, Some("work_of_1, main".into()), None]);
}
