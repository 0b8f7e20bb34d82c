//! The agreements of threads without a lock, in all orders in which cores may see their writes.

use super::{PendingWork, Sleepers};
use crate::biased::Fences;
use loom::thread;
use std::sync::Arc;
use weft_link::sync::{AtomicBool, AtomicU32, Ordering, model};

fn sleepers() -> Arc<Sleepers> {
    Arc::new(Sleepers::new(Some(Fences::new())))
}

/// P3: a thread that is about to sleep, and one that has something for it.
#[test]
fn who_has_something_sees_the_sleeper_or_is_seen_by_it() {
    model(|| {
        let (sleepers, something) = (sleepers(), Arc::new(AtomicBool::new(false)));
        let sleeper = {
            let (sleepers, something) = (Arc::clone(&sleepers), Arc::clone(&something));
            thread::spawn(move || {
                sleepers.announce();
                something.load(Ordering::Relaxed)
            })
        };
        something.store(true, Ordering::Relaxed);
        let rings = sleepers.are_any();
        assert!(sleeper.join().unwrap() || rings, "nobody wakes the sleeper");
    });
}

/// P3: a poll has skipped a packet that another thread's upcall keeps where it is. Either the end
/// of the upcall rings, or the thread does not sleep.
#[test]
fn a_packet_that_was_skipped_is_taken_after_the_upcall() {
    model(|| {
        let sleepers = sleepers();
        sleepers.begin_upcall();
        let sleeper = {
            let sleepers = Arc::clone(&sleepers);
            thread::spawn(move || {
                sleepers.announce();
                let before = sleepers.skipped();
                // Its last look.
                let skips = sleepers.is_in_upcall();
                if skips {
                    sleepers.skip();
                }
                skips && !sleepers.may_have_missed(before)
            })
        };
        let rings = sleepers.end_upcall_outside();
        let sleeps = sleeper.join().unwrap();
        assert!(rings || !sleeps, "it sleeps beside a packet");
    });
}

/// P3: of threads that are woken and leave all but the last ring for the others.
#[test]
fn who_leaves_rings_for_those_who_sleep_still() {
    model(|| {
        let sleepers = sleepers();
        let leave = |sleepers: &Sleepers| {
            sleepers.announce();
            u32::from(sleepers.leave())
        };
        sleepers.announce();
        let other = {
            let sleepers = Arc::clone(&sleepers);
            thread::spawn(move || leave(&sleepers))
        };
        let rings = u32::from(sleepers.leave());
        let others = other.join().unwrap();
        assert!(rings + others <= 1, "nobody is left for the second ring");
        assert!(!sleepers.are_any());
    });
}

/// The upcall thread draws its ticket before it looks for work.
#[test]
fn work_is_seen_or_rings_after_the_ticket() {
    model(|| {
        let (work, rings) = (Arc::new(PendingWork::default()), Arc::new(AtomicU32::new(0)));
        let other = {
            let (work, rings) = (Arc::clone(&work), Arc::clone(&rings));
            thread::spawn(move || {
                let is_new = work.change(1, true);
                let is_earlier = work.set_alarm(5);
                assert!(is_new && is_earlier);
                rings.fetch_add(1, Ordering::SeqCst);
            })
        };
        let ticket = rings.load(Ordering::SeqCst);
        let is_there = work.is_there(|| 0);
        other.join().unwrap();
        assert!(is_there || ticket < rings.load(Ordering::SeqCst), "it sleeps beside work");
    });
}
