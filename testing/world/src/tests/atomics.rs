//! Atomic operations of all kinds on the same variables: every interleaving of small worlds is one
//! in which they took place one after the other.

use super::explore::explored;
use super::*;
use crate::{Runs, explore};
use std::sync::Arc;
use weft_model::explore::Wrong;
use weft_model::packets::FIRST_MIXED;
use weft_protocol::Bug;

/// The last variable, which systems have elsewhere, and one that programs have.
const VARIABLES: [u16; 2] = [u16::MAX, FIRST_MIXED];

fn asks(from: u16, home: u16, operation: Atomic) -> Step {
    Step::Atomic { from: Rank(from), home: Rank(home), variable: VARIABLES[0], operation }
}

fn swaps(expected: u64, new: u64) -> Atomic {
    Atomic::CompareSwap { expected, new }
}

/// Two ranks take turns and a third one adds, as in a program that counts without a lock.
fn operations() -> Vec<Step> {
    vec![
        asks(0, 0, swaps(0, 1)),
        asks(1, 0, swaps(0, 2)),
        asks(2, 0, Atomic::Add(1)),
        asks(1, 0, swaps(1, 3)),
        asks(0, 0, Atomic::Swap(6)),
        asks(2, 0, Atomic::Max(5)),
        asks(1, 0, Atomic::Xor(3)),
    ]
}

#[test]
fn mixed_operations_take_place_one_after_the_other() {
    for (window, floor) in [(1, 1_000), (2, 1_000)] {
        let options = options(3, window, Preset::NrxImc, Shape::Binary);
        let explored = explored(options, &operations(), Runs::All);
        let (states, ends) = (explored.states, explored.quiescent_ends);
        assert!(states > floor && ends > 1, "window {window}: {states} states, {ends} ends");
    }
}

#[test]
fn operations_wait_for_credits_among_data() {
    let other = |from, home, operation| Step::Atomic {
        from: Rank(from),
        home: Rank(home),
        variable: VARIABLES[1],
        operation,
    };
    let sends = [
        unicast(0, 1),
        asks(0, 1, swaps(0, 7)),
        other(1, 0, Atomic::Or(6)),
        unicast(1, 0),
        asks(1, 1, Atomic::Min(3)),
        other(0, 0, Atomic::And(5)),
        unicast(0, 1),
        asks(0, 1, Atomic::Add(1)),
    ];
    let options = options(2, 1, Preset::NrxImc, Shape::Binary);
    let states = explored(options, &sends, Runs::All).states;
    assert!(states > 400, "{states}");
}

/// A compare-and-swap that does not compare is found by what the others fetch.
#[test]
fn a_swap_that_does_not_compare_is_found() {
    let options = options(3, 2, Preset::NrxImc, Shape::Binary);
    let mut world = World::new(options);
    Arc::make_mut(&mut world.nis[0]).plant(Bug::SwapUncompared, 0);
    let found = explore(world, &operations(), Runs::All, 1_000_000).expect_err("a mistake");
    assert!(matches!(found.wrong, Wrong::Broken(_)), "{found}");
    assert!(found.to_string().contains("which it cannot have been"), "{found}");
}
