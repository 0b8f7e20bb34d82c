//! A host that turns interrupts off, and a thread that interrupts it as often as it can.

use super::Interrupts;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

const ROUNDS: u64 = 2_000;

#[test]
fn none_runs_or_begins_once_they_are_off() {
    let interrupts = Interrupts::default();
    let (quiet, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let (inside, behind) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(SeqCst) {
                interrupts.run(|| {
                    inside.fetch_add(1, SeqCst);
                    behind.fetch_add(quiet.load(SeqCst).into(), SeqCst);
                    // A handler may turn them off for itself, and is not waited for by itself.
                    interrupts.off();
                    interrupts.on();
                    behind.fetch_add(quiet.load(SeqCst).into(), SeqCst);
                });
            }
        });
        for round in 0..ROUNDS {
            // Now and then let one in, so that there is something to exclude.
            while round % 20 == 0 && inside.load(SeqCst) <= round / 20 {
                std::thread::yield_now();
            }
            interrupts.off();
            quiet.store(true, SeqCst);
            (0..50).for_each(|_| std::hint::spin_loop());
            quiet.store(false, SeqCst);
            interrupts.on();
        }
        over.store(true, SeqCst);
    });
    assert_eq!(behind.load(SeqCst), 0);
    assert_eq!(interrupts.taken(), inside.load(SeqCst));
    assert!(!interrupts.are_off());
}

#[test]
fn guards_nest() {
    let interrupts = Interrupts::default();
    interrupts.off();
    interrupts.off();
    interrupts.on();
    interrupts.run(|| unreachable!("one guard is left"));
    interrupts.on();
    interrupts.run(|| {});
    assert_eq!(interrupts.taken(), 1);
}
