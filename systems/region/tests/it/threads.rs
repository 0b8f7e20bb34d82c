//! Threads of a rank that use its regions, and a rank that serves others when it likes.

use std::sync::atomic::{AtomicBool, Ordering};
use weft_endpoint::{Packets, Rank};
use weft_region::coherence::Policy;
use weft_region::{RegionId, Regions};
use weft_threads::Job;

/// Threads of each rank.
const THREADS: u32 = 3;
/// Amount that each adds to its region.
const TIMES: u64 = 200;

fn of_rank_0(index: u32) -> RegionId {
    RegionId { home: Rank(0), index }
}

/// Regions of a rank, of which rank 0 is the home of `count`. `share` says when, if at all, threads
/// are made equal: it is called before they are created and after.
fn open(packets: &Packets, count: u32, share: impl Fn(&Regions, bool)) -> Regions {
    let regions = Regions::open(packets);
    share(&regions, true);
    if packets.rank() == Rank(0) {
        for _ in 0..count {
            regions.create(8, Policy::default()).unwrap();
        }
    }
    regions.barrier().unwrap();
    share(&regions, false);
    regions
}

/// A thread of each rank adds to the same region; `share` as in [`open`].
fn add_up(share: impl Fn(&Regions, bool) + Sync) {
    Job::new(2).packets(|packets: Packets| {
        let regions = open(&packets, THREADS, &share);
        std::thread::scope(|scope| {
            for index in 0..THREADS {
                let regions = regions.clone();
                scope.spawn(move || {
                    let region = regions.map::<u64>(of_rank_0(index)).unwrap();
                    (0..TIMES).for_each(|_| region.write().unwrap()[0] += 1);
                });
            }
        });
        regions.barrier().unwrap();
        for index in 0..THREADS {
            let region = regions.map::<u64>(of_rank_0(index)).unwrap();
            assert_eq!(*region.read().unwrap(), [2 * TIMES]);
        }
        regions.close().unwrap();
    });
}

#[test]
fn threads_may_use_regions_that_nobody_has_shared() {
    add_up(|_, _| {});
}

#[test]
fn regions_may_be_shared_among_threads_before_they_are_created_and_after() {
    for when in [true, false] {
        add_up(|regions, before| {
            if before == when {
                regions.share();
            }
        });
    }
}

/// A rank that finds what it needs here sends nothing, and yet hears of those that wait for it.
#[test]
fn who_uses_its_region_again_and_again_lets_others_have_it() {
    const MOST: u32 = 1_000_000;
    let done = AtomicBool::new(false);
    Job::new(2).packets(|packets: Packets| {
        let regions = open(&packets, 1, |_, _| {});
        let region = regions.map::<u64>(of_rank_0(0)).unwrap();
        if packets.rank() == Rank(0) {
            let writes = (0..MOST).take_while(|_| {
                region.write().unwrap()[0] += 1;
                std::thread::yield_now();
                !done.load(Ordering::Acquire)
            });
            assert!(writes.count() < MOST as usize, "rank 1 gets it meanwhile");
        } else {
            region.write().unwrap()[0] += 1;
            done.store(true, Ordering::Release);
        }
        drop(region);
        regions.close().unwrap();
    });
}

#[test]
fn who_polls_serves_others() {
    let done = AtomicBool::new(false);
    Job::new(2).packets(|packets: Packets| {
        let regions = open(&packets, 1, |_, _| {});
        if packets.rank() == Rank(0) {
            let mut served = 0;
            while !done.load(Ordering::Acquire) {
                served += u32::from(regions.poll().unwrap());
                std::thread::yield_now();
            }
            assert!(served >= 2, "it is asked for the region's size, and for a copy");
        } else {
            let region = regions.map::<u64>(of_rank_0(0)).unwrap();
            assert_eq!(*region.read().unwrap(), [0]);
            done.store(true, Ordering::Release);
        }
        regions.close().unwrap();
    });
}
