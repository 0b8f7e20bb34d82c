//! Theorem 1 of careful-protocols, and what becomes of the protocol without its rule.

use super::*;
use crate::explore::{Counterexample, explore};

const MOST_STATES: usize = 1_000_000;

/// The states of `model`, none of which is wrong.
fn states(model: &Windows) -> usize {
    let explored = explore(model, MOST_STATES);
    explored.unwrap_or_else(|found| panic!("{model:?}\n{found}")).states
}

fn found(model: &Windows) -> Counterexample<Step, Deadlock> {
    explore(model, MOST_STATES).expect_err("it cannot work")
}

/// Each node sends `frames` to the next one.
fn ring(nodes: usize, frames: usize) -> Vec<Vec<usize>> {
    (0..nodes).map(|node| vec![(node + 1) % nodes; frames]).collect()
}

/// Two nodes that send each other more than twice what a window holds.
#[test]
fn two_nodes_do_not_deadlock_by_the_rule() {
    for (window, floor) in [(2, 1_000), (3, 10_000), (4, 60_000)] {
        let model = Windows::new(Windows::everyone_to_everyone(2, 5), 2 * window);
        assert_eq!(model.window, window);
        let states = states(&model);
        assert!(states > floor, "window {window}: {states} states");
    }
}

#[test]
fn three_and_four_nodes_do_not_deadlock_by_the_rule() {
    for (programs, buffers, floor) in [
        (Windows::everyone_to_everyone(3, 1), 6, 50_000),
        (Windows::everyone_to_everyone(3, 1), 9, 100_000),
        (ring(3, 4), 6, 10_000),
        (ring(4, 2), 8, 20_000),
    ] {
        let states = states(&Windows::new(programs.clone(), buffers));
        assert!(states > floor, "{programs:?}: {states} states");
    }
}

/// Each fills the other's buffers, and then has no window left to say that they are empty again.
#[test]
fn without_the_rule_two_nodes_deadlock() {
    let model = Windows { rule: false, ..Windows::new(Windows::everyone_to_everyone(2, 3), 4) };
    let found = found(&model);
    let printed = "  \
  1. 0 sends data to 1
  2. 0 sends data to 1
  3. a frame of 0 arrives at 1
  4. a frame of 0 arrives at 1
  5. 1 sends data to 0
  6. 1 sends data to 0
  7. 1 consumes data of 0
  8. 1 consumes data of 0
  9. a frame of 1 arrives at 0
 10. a frame of 1 arrives at 0
 11. 0 consumes data of 1
 12. 0 consumes data of 1
deadlock
  0 has data for 1 and a window of 0 there
  1 has data for 0 and a window of 0 there";
    assert_eq!(found.to_string(), printed);
}

/// All frames of two windows are sent, arrive and are consumed, and there is no shorter way.
#[test]
fn larger_windows_only_need_more_data_to_deadlock_without_the_rule() {
    for window in 1..=4 {
        let programs = Windows::everyone_to_everyone(2, window + 1);
        let model = Windows { rule: false, ..Windows::new(programs, 2 * window) };
        let found = found(&model);
        assert_eq!((found.steps.len(), found.deadlock().is_some()), (6 * window, true), "{found}");
    }
}

/// In a larger cluster too: all windows that somebody waits for are closed.
#[test]
fn without_the_rule_three_nodes_deadlock() {
    let programs = Windows::everyone_to_everyone(3, 2);
    let found = found(&Windows { rule: false, ..Windows::new(programs, 3) });
    let waits = found.deadlock().cloned().expect("a deadlock").waits;
    assert!(waits.iter().all(|&(_, _, window)| window == 0), "{found}");
    assert_eq!((found.steps.len(), waits.len()), (18, 3), "{found}");
}

/// Fewer buffers than nodes are no window, and nothing is ever sent.
#[test]
fn without_a_window_nothing_is_sent() {
    for rule in [false, true] {
        let model = Windows { rule, ..Windows::new(Windows::everyone_to_everyone(2, 1), 1) };
        let found = found(&model);
        assert_eq!((found.steps.len(), found.deadlock().is_some()), (0, true), "{found}");
    }
}

/// "Clearly, R must be at least 2P": theorem 1 asks for `R >= P` only, but then its rule lets no
/// data through, and there is never anything to update.
#[test]
fn a_window_of_one_keeps_the_rule_and_sends_nothing() {
    let found = found(&Windows::new(Windows::everyone_to_everyone(2, 1), 2));
    let waits = found.deadlock().cloned().expect("a deadlock").waits;
    assert_eq!((found.steps.len(), waits), (0, vec![(0, 1, 1), (1, 0, 1)]));
}

/// A rule that the theorem leaves unsaid: as the last frame of a window is not for data, updates
/// must not wait until the whole window is free again.
#[test]
fn updates_must_come_before_the_whole_window_is_used() {
    for window in 2..=4 {
        let lazy = |update_after| {
            let programs = vec![vec![1; window + 1], vec![]];
            Windows { update_after, ..Windows::new(programs, 2 * window) }
        };
        let found = found(&lazy(window));
        let waits = found.deadlock().cloned().expect("a deadlock").waits;
        assert_eq!(waits, [(0, 1, 1)], "{found}");
        for update_after in 1..window {
            assert!(states(&lazy(update_after)) > 10, "window {window}, {update_after}");
        }
    }
}
