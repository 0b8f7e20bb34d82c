//! Faults that cannot be, and those that happen.

use super::{FaultError, Faults, Injector, Partition};
use crate::frames::{Carried, Frame};
use std::time::Duration;
use weft_wire::{Header, Rank, Tag, TreeId};

fn refused(faults: Faults) -> String {
    faults.check(4).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_is_refused() {
    assert_eq!(Faults::default().check(4), Ok(()));
    let loss = refused(Faults { loss: -0.1, ..Faults::default() });
    assert_eq!(loss, "loss is a part of all frames, from 0 to 1, and cannot be -0.1");
    let nan = Faults { duplication: f64::NAN, ..Faults::default() };
    assert!(matches!(nan.check(4), Err(FaultError::Part { what: "duplication", .. })));
    let slow = refused(Faults { slow: vec![(Rank(4), 2.0)], ..Faults::default() });
    assert_eq!(slow, "a slow rank names rank 4; the job has ranks 0 to 3");
    let fast = Faults { slow: vec![(Rank(3), 0.5)], ..Faults::default() };
    assert_eq!(fast.check(4), Err(FaultError::Slowness(0.5)));
    let reordering = Faults { reordering: 0.1, ..Faults::default() };
    assert_eq!(reordering.check(4), Err(FaultError::HeldBack));
    let at = Duration::from_secs(1);
    let partition = Partition { ranks: vec![Rank(0)], from: at, until: at };
    let partition = Faults { partitions: vec![partition], ..Faults::default() };
    assert_eq!(partition.check(4), Err(FaultError::Time(at, at)));
}

#[test]
fn flipped_bits_are_noticed() {
    let mut injector = Injector::new(Faults::default(), 2, 3);
    let header = Header::new(Tag::FaReply, Rank(0), TreeId::unicast(Rank(0)), 0);
    let frame = Frame { header, carried: Carried::Words([1, 2, 0]) };
    // A few bits may be flipped twice and so not at all; then the frame is what it was.
    let survived = (0..2000).filter(|_| injector.survives_bit_flips(&frame)).count();
    assert!(survived < 20, "{survived} of 2000 corrupted frames were taken for good");
}

#[test]
fn a_partition_cuts_only_between_its_sides_and_only_in_its_time() {
    let ms = Duration::from_millis;
    let partition = Partition { ranks: vec![Rank(0), Rank(1)], from: ms(1), until: ms(2) };
    let faults = Faults { partitions: vec![partition], ..Faults::default() };
    let injector = Injector::new(faults, 4, 0);
    let cut = |from, to, time| injector.is_cut(Rank(from), Rank(to), time);
    assert!(cut(0, 2, 1_000_000) && cut(3, 1, 1_999_999));
    assert!(!cut(0, 1, 1_500_000) && !cut(2, 3, 1_500_000), "within a side");
    assert!(!cut(0, 2, 999_999) && !cut(0, 2, 2_000_000), "before and after");
}
