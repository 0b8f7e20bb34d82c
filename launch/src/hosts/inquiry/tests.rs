//! Hosts that answer, late ones, and those that do not.

use super::*;

const NOW: Duration = Duration::from_secs(5);
const UNTIL: Duration = Duration::from_secs(6);

#[test]
fn it_is_over_when_all_have_answered() {
    let mut asked = Inquiry::default();
    assert!(!asked.is_open(NOW));
    let number = asked.begin([0, 1], UNTIL);
    asked.answered(1, number, vec![2, 3]);
    assert!(asked.is_open(NOW));
    // Once is enough.
    asked.answered(1, number, vec![7]);
    asked.answered(0, number, vec![0]);
    assert!(!asked.is_open(NOW));
    assert_eq!(asked.answers(), [2, 3, 0]);
}

#[test]
fn nobody_is_waited_for_who_is_lost_or_late() {
    let mut asked = Inquiry::default();
    let first = asked.begin([0, 1], UNTIL);
    asked.lost(1);
    assert!(asked.is_open(NOW));
    assert!(!asked.is_open(UNTIL));
    let second = asked.begin([0], UNTIL);
    asked.answered(0, first, vec![0]);
    assert!(asked.is_open(NOW) && asked.answers().is_empty());
    asked.answered(0, second, vec![0]);
    assert!(!asked.is_open(NOW));
}
