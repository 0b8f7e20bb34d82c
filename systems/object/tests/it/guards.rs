//! Operations that wait for their guards.

use crate::common::*;
use weft_endpoint::Rank;
use weft_object::Placement;

/// The program of figs. 7.1 and 7.2.
#[test]
fn who_awaits_goes_on_when_all_have_counted() {
    for ranks in [1, 2, 4] {
        for (number_of, placement) in placements(ranks).into_iter().enumerate() {
            let values = run(ranks, |member| {
                let counter = member.object(&format!("counter {number_of}"), &Int(0), placement);
                counter.inc().unwrap();
                counter.await_value(ranks.into()).unwrap();
                counter.value().unwrap()
            });
            assert_eq!(values, vec![u64::from(ranks); usize::from(ranks)], "{placement:?}");
        }
    }
}

#[test]
fn what_is_taken_out_is_taken_once_though_takers_come_first() {
    for placement in placements(4) {
        let taken = run(4, |member| {
            let log = member.object("log", &Log(vec![], 0), placement);
            match member.rank() {
                3 => {
                    (0..90).for_each(|entry| log.add(&[entry]).unwrap());
                    vec![]
                }
                _ => (0..30).map(|_| log.take().unwrap()).collect(),
            }
        });
        // Of one taker they come in their order, and each goes to one of them.
        assert!(taken.iter().all(|taken| taken.is_sorted()), "{taken:?}");
        let mut all = taken.concat();
        all.sort_unstable();
        assert_eq!(all, (0..90).collect::<Vec<u8>>(), "{placement:?}");
    }
}

#[test]
fn no_operation_waits_for_one_that_is_blocked() {
    run(2, |member| {
        let log = member.object("log", &Log(vec![], 0), Placement::Single(Rank(0)));
        if member.rank() == 1 {
            assert_eq!(log.take().unwrap(), 7);
        } else {
            while log.statistics().unwrap().blocked == 0 {
                member.engine.progress().unwrap();
                std::thread::yield_now();
            }
            log.add(&[7]).unwrap();
        }
        member.barrier.wait().unwrap();
    });
}
