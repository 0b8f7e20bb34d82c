//! The stack: last in, first out, and bounded.

use super::*;

#[test]
fn what_was_made_last_comes_first() {
    let mut stack = Stack::new(2, 0, 1);
    for number in 1..=3 {
        assert_eq!(stack.is_high(), number > 2);
        stack.push(Job([number; 32]));
    }
    assert_eq!([stack.pop(), stack.pop()], [Some(Job([3; 32])), Some(Job([2; 32]))]);
    stack.clear();
    assert_eq!(stack.pop(), None);
}

#[test]
#[should_panic(expected = "I9: 266 jobs on a stack, 265 at most")]
fn a_job_beyond_the_bound_is_the_end() {
    let mut stack = Stack::new(2, 4, 3);
    (0..266).for_each(|_| stack.push(Job([0; 32])));
}
