//! Copies that agree, and what each rank may see.

use crate::common::*;
use weft_object::Placement;

#[test]
fn all_copies_have_all_writes_in_one_order_and_each_rank_sees_its_own() {
    const EACH: u8 = 60;
    let seen = run(4, |member| {
        let log = member.object("log", &Log(vec![], 0), Placement::Replicated);
        let mut before = 0;
        for n in 0..EACH {
            let entry = member.rank() as u8 * EACH + n;
            log.add(&[entry]).unwrap();
            let all = log.all().unwrap();
            assert!(all.contains(&entry), "a write is there when it has returned");
            assert!(all.len() > before, "nothing is taken back");
            before = all.len();
        }
        member.barrier.wait().unwrap();
        // Nobody writes any more; those of others come when they come.
        loop {
            let all = log.all().unwrap();
            if all.len() == 4 * usize::from(EACH) {
                return all;
            }
            member.engine.progress().unwrap();
        }
    });
    assert!(seen.iter().all(|all| *all == seen[0]));
    for rank in 0..4 {
        let own = seen[0].iter().filter(|entry| **entry / EACH == rank);
        assert!(own.is_sorted(), "a rank's own writes are in its order");
    }
}

#[test]
fn reads_of_a_replica_send_nothing() {
    run(3, |member| {
        let counter = member.object("counter", &Int(5), Placement::Replicated);
        member.barrier.wait().unwrap();
        let before = counter.statistics().unwrap();
        for _ in 0..100 {
            assert_eq!(counter.value().unwrap(), 5);
        }
        let after = counter.statistics().unwrap();
        assert_eq!((after.reads - before.reads, after.writes), (100, 0));
        member.barrier.wait().unwrap();
        assert_eq!(counter.statistics().unwrap().reads, 100, "each rank has read its own copy");
    });
}

#[test]
fn long_arguments_and_results_arrive_whole() {
    let long: Vec<u8> = (0..200_000_u32).map(|i| (i / 7) as u8).collect();
    for placement in placements(3) {
        run(3, |member| {
            let log = member.object("log", &Log(vec![], 0), placement);
            if member.rank() == 1 {
                log.add(&long).unwrap();
                assert!(log.all().unwrap() == long);
            }
            member.barrier.wait().unwrap();
        });
    }
}
