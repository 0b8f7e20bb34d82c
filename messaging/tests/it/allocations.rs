//! An inline upcall is a procedure call: it allocates nothing (thesis 6.2.3).

use crate::common;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll::{Pending, Ready};
use weft_messaging::{Message, Port};
use weft_threads::Job;

/// Bytes allocated by a thousand messages to a rank's own port, sent and handled.
fn allocated(create: impl Fn(&common::Member, Arc<AtomicU64>) -> Port + Sync) -> u64 {
    let counts = common::run(Job::new(1), |member| {
        let handled: Arc<AtomicU64> = Arc::default();
        let port = create(member, Arc::clone(&handled));
        let thousand = |rounds: u64| {
            for round in 0..1000u64 {
                port.send(0, &round.to_le_bytes()).unwrap();
                while handled.load(Ordering::Relaxed) < 1000 * rounds + round + 1 {
                    member.engine.progress().unwrap();
                }
            }
        };
        // The first ones make room in queues.
        thousand(0);
        allocation_counter::measure(|| thousand(1)).count_total
    });
    counts[0]
}

fn handle(mut message: Message, handled: &AtomicU64) {
    assert!(common::number(&mut message) < 1000);
    handled.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn inline_handlers_allocate_nothing() {
    let plain = allocated(|member, handled| {
        Port::new(&member.engine, "plain", move |message| handle(message, &handled)).unwrap()
    });
    assert_eq!(plain, 0);
    let inline = allocated(|member, handled| {
        Port::with_async(&member.engine, "async", move |message| {
            let handled = Arc::clone(&handled);
            async move { handle(message, &handled) }
        })
        .unwrap()
    });
    assert_eq!(inline, 0);
}

/// Checks that the counter of the other tests would see allocations.
#[test]
fn a_handler_that_waits_allocates() {
    let waiting = allocated(|member, handled| {
        Port::with_async(&member.engine, "waits", move |message| {
            let handled = Arc::clone(&handled);
            async move {
                let mut waited = false;
                std::future::poll_fn(|context| {
                    context.waker().wake_by_ref();
                    if std::mem::replace(&mut waited, true) { Ready(()) } else { Pending }
                })
                .await;
                handle(message, &handled);
            }
        })
        .unwrap()
    });
    assert!(waiting >= 1000, "{waiting}");
}
