#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

fn taken(sequence: &mut Sequence<u64>) -> Vec<u64> {
    std::iter::from_fn(|| sequence.take()).map(|(number, _)| number).collect()
}

#[test]
fn what_is_due_passes_and_what_is_early_waits() {
    let mut sequence = Sequence::new(2, 8);
    assert_eq!(sequence.arrive(0, 1, 1, true), Ok(None));
    assert_eq!(sequence.take(), None);
    assert_eq!(sequence.arrive(1, 0, 0, true), Ok(Some(0)), "it is due");
    assert_eq!(sequence.take(), Some((1, 1)));
    assert_eq!(sequence.arrive(1, 2, 2, false), Ok(None), "due, but the handler is busy");
    assert_eq!(sequence.take(), Some((2, 2)));
    assert_eq!(sequence.next(), 3);
}

#[test]
fn numbers_that_cannot_be_are_refused() {
    let mut sequence = Sequence::new(2, 2);
    assert_eq!(sequence.arrive(0, 0, 7, true), Ok(Some(7)));
    let refused = |result: Result<Option<u64>, (Disorder, u64)>| result.unwrap_err().0;
    assert_eq!(refused(sequence.arrive(0, 0, 7, true)), Disorder::Late);
    assert_eq!(sequence.arrive(0, 2, 7, true), Ok(None));
    assert_eq!(refused(sequence.arrive(1, 2, 7, true)), Disorder::Taken);
    assert_eq!(refused(sequence.arrive(1, 5, 7, true)), Disorder::TooFar);
    assert_eq!(refused(sequence.arrive(1, 1 << 60, 7, true)), Disorder::TooFar);
    assert_eq!(refused(sequence.arrive(1, u64::MAX, 7, true)), Disorder::TooFar);
    assert_eq!(sequence.arrive(0, 4, 7, true), Ok(None));
    assert_eq!(refused(sequence.arrive(0, 3, 7, true)), Disorder::TooMany);
    assert_eq!(sequence.arrive(1, 1, 7, true), Ok(Some(7)));
    assert_eq!(taken(&mut sequence), [2]);
    assert_eq!(sequence.arrive(0, 3, 7, false), Ok(None), "it has room again");
    assert_eq!(taken(&mut sequence), [3, 4]);
}

#[test]
fn a_number_that_waits_is_not_passed_by_another_message_that_has_it() {
    let mut sequence = Sequence::new(2, 8);
    assert_eq!(sequence.arrive(0, 0, 7, false), Ok(None), "due, but the handler is busy");
    assert_eq!(sequence.arrive(1, 0, 8, true), Err((Disorder::Taken, 8)));
    assert_eq!(sequence.take(), Some((0, 7)));
    assert_eq!(sequence.arrive(1, 1, 9, true), Ok(Some(9)));
}

#[test]
fn what_is_abandoned_is_given_up_in_order() {
    let mut sequence = Sequence::new(1, 8);
    for number in [5, 3, 1] {
        sequence.arrive(0, number, number, true).unwrap();
    }
    assert_eq!(sequence.abandon().collect::<Vec<_>>(), [1, 3, 5]);
    assert_eq!(sequence.take(), None);
}

#[test]
#[should_panic(expected = "I10 one order: 4 was handed over in place of 3")]
fn i10_is_broken_by_a_hole() {
    i10_one_order(3, 4);
}

#[test]
#[should_panic(expected = "I11 early messages: 9 of one member, who may have 8")]
fn i11_is_broken_by_one_too_many() {
    i11_early_bounded(9, 8);
}

proptest! {
    /// Whatever the order of arrival, and whenever the handler is busy, numbers come out
    /// consecutive.
    #[test]
    fn any_order_of_arrival_gives_one_order(
        arrivals in Just((0..40u64).collect::<Vec<_>>()).prop_shuffle(),
        busy in proptest::collection::vec(any::<bool>(), 40),
    ) {
        let mut sequence = Sequence::new(4, 10);
        let mut out = Vec::new();
        for (number, busy) in arrivals.into_iter().zip(busy) {
            let passed = sequence.arrive((number % 4) as usize, number, number, !busy).unwrap();
            out.extend(passed);
            if !busy {
                out.extend(taken(&mut sequence));
            }
        }
        out.extend(taken(&mut sequence));
        prop_assert_eq!(out, (0..40).collect::<Vec<_>>());
    }
}
