use super::crew;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_crew_meets_at_its_barrier_and_returns_in_order() {
    for threads in [1, 2, 7] {
        let arrived = AtomicUsize::new(0);
        let ranks = crew(threads, |mate| {
            assert_eq!(mate.size(), threads);
            for round in 1..=50 {
                arrived.fetch_add(1, Ordering::Relaxed);
                mate.barrier();
                assert!(arrived.load(Ordering::Relaxed) >= round * threads);
                mate.barrier();
            }
            mate.timed(|| mate.rank()).0
        });
        assert_eq!(ranks, (0..threads).collect::<Vec<_>>());
    }
}
