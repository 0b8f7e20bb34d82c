//! Upcalls of all models: what may wait, for what, and what goes on meanwhile (thesis 6.2.3).

use crate::common::{Member, interrupted, number, run, small};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex as Blocking};
use weft_endpoint::Rank;
use weft_messaging::sync::{Condition, Mutex, Semaphore};
use weft_messaging::{Message, Port};
use weft_threads::Job;

/// Ports of every model on which handlers may wait: `handle` gets the message.
const WAITING_MODELS: [&str; 3] = ["async", "concurrent", "popup"];

fn waiting_port<R>(
    member: &Member,
    model: &str,
    handle: impl Fn(Message) -> R + Send + Sync + 'static,
) -> Port
where
    R: Future<Output = ()> + Send + 'static,
{
    let engine = &member.engine;
    match model {
        "async" => Port::with_async(engine, model, handle),
        "concurrent" => Port::concurrent(engine, model, handle),
        _ => {
            let blocked = Arc::downgrade(engine);
            Port::popup(engine, model, move |message| {
                blocked.upgrade().unwrap().block_on(handle(message)).unwrap();
            })
        }
    }
    .unwrap()
}

/// The first classic deadlock: the handler needs a lock that the thread holds which it runs on.
fn locks_what_the_thread_holds(job: Job, polls: bool) {
    run(job, |member| {
        let log: Arc<Mutex<Vec<u64>>> = Arc::default();
        let handled = Arc::clone(&log);
        let port = Port::with_async(&member.engine, "log", move |mut message| {
            let log = Arc::clone(&handled);
            async move {
                let mut log = log.lock().await;
                log.push(number(&mut message));
            }
        })
        .unwrap();
        let held = log.try_lock().unwrap();
        member.barrier.wait().unwrap();
        for n in 0..50u64 {
            port.send(member.other(), &n.to_le_bytes()).unwrap();
        }
        let arrived = || member.engine.statistics().continuations > 0;
        while !arrived() {
            if polls {
                member.engine.progress().unwrap();
            }
            std::thread::yield_now();
        }
        assert!(held.is_empty());
        drop(held);
        let all = || log.try_lock().is_some_and(|log| log.len() == 50);
        member.until(all);
        assert_eq!(*log.try_lock().unwrap(), (0..50).collect::<Vec<_>>());
        member.barrier.wait().unwrap();
    });
}

#[test]
fn a_handler_waits_for_a_lock_of_the_thread_that_polls() {
    locks_what_the_thread_holds(Job::new(2), true);
}

#[test]
fn a_handler_waits_for_a_lock_of_the_thread_that_it_interrupts() {
    locks_what_the_thread_holds(interrupted(2), false);
}

/// The second classic deadlock: handlers of two ranks send to each other until their windows are
/// full.
#[test]
fn plain_handlers_that_send_do_not_wait_for_windows() {
    run(small(2), |member| {
        let answers = member.mailbox("answers");
        let reply = Arc::clone(&answers);
        let ask = Port::new(&member.engine, "ask", move |mut message| {
            let bytes = message.read_to_vec().unwrap();
            // Many times what came in, to a port that nobody reads yet.
            (0..30).for_each(|_| reply.send(message.source(), &bytes).unwrap());
        })
        .unwrap();
        for n in 0..200u64 {
            ask.send(member.other(), &n.to_le_bytes()).unwrap();
        }
        member.until(|| member.engine.statistics().overdrafts > 0);
        member.barrier.wait().unwrap();
        for n in 0..6000 {
            assert_eq!(number(&mut answers.receive().unwrap()), n / 30);
        }
        member.barrier.wait().unwrap();
    });
}

#[test]
fn asynchronous_handlers_wait_for_windows_and_stop_nobody() {
    for job in [small(2), interrupted(2)] {
        run(job, |member| {
            let answers = member.mailbox("answers");
            let reply = Arc::clone(&answers);
            let ask = Port::with_async(&member.engine, "ask", move |mut message| {
                let reply = Arc::clone(&reply);
                async move {
                    let bytes = message.bytes().await.unwrap();
                    for _ in 0..90 {
                        reply.send_async(message.source(), &bytes).await.unwrap();
                    }
                }
            })
            .unwrap();
            let quick: Arc<AtomicU64> = Arc::default();
            let count = Arc::clone(&quick);
            let other = Port::new(&member.engine, "other", move |_| {
                count.fetch_add(1, Ordering::SeqCst);
            })
            .unwrap();
            for n in 0..100u64 {
                ask.send(member.other(), &n.to_le_bytes()).unwrap();
                other.send(member.other(), "").unwrap();
            }
            // All handlers but those of the full port have run.
            member.until(|| quick.load(Ordering::SeqCst) == 100);
            member.until(|| member.engine.statistics().stalls > 0);
            member.barrier.wait().unwrap();
            for n in 0..9000 {
                assert_eq!(number(&mut answers.receive().unwrap()), n / 90);
            }
            assert_eq!(member.engine.statistics().overdrafts, 0);
            member.barrier.wait().unwrap();
        });
    }
}

/// One at a time and in order, however often a handler waits in between.
#[test]
fn a_port_keeps_its_order_while_its_handlers_wait() {
    for job in [Job::new(3), small(3), interrupted(3)] {
        run(job, |member| {
            let (inside, seen) = (Arc::new(AtomicU64::new(0)), Arc::new(Blocking::new([0; 3])));
            let (engine, count) = (Arc::downgrade(&member.engine), Arc::clone(&seen));
            let random = Arc::new(Semaphore::new(1));
            let port = Port::with_async(&member.engine, "ordered", move |mut message| {
                let (inside, count) = (Arc::clone(&inside), Arc::clone(&count));
                let (engine, random) = (engine.upgrade().unwrap(), Arc::clone(&random));
                async move {
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                    let n = number(&mut message);
                    if n.is_multiple_of(3) {
                        engine.sleep(std::time::Duration::from_micros(n % 50)).await;
                    }
                    if n.is_multiple_of(5) {
                        let permit = random.try_acquire().unwrap();
                        let released = Arc::clone(&random);
                        permit.forget();
                        engine.spawn(async move {
                            released.release();
                        });
                        random.acquire().await.forget();
                        random.release();
                    }
                    let next = &mut count.lock().unwrap()[message.source().index()];
                    assert_eq!(*next, n);
                    *next += 1;
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            })
            .unwrap();
            for n in 0..300u64 {
                for to in (0..3).map(Rank) {
                    port.send(to, &n.to_le_bytes()).unwrap();
                }
            }
            member.until(|| *seen.lock().unwrap() == [300; 3]);
            member.barrier.wait().unwrap();
        });
    }
}

#[test]
fn ports_go_on_while_one_waits() {
    run(Job::new(2), |member| {
        let gate = Arc::new(Semaphore::new(0));
        let done = Arc::new(AtomicU64::new(0));
        let (waits, count) = (Arc::clone(&gate), Arc::clone(&done));
        let slow = Port::with_async(&member.engine, "slow", move |_| {
            let (waits, count) = (Arc::clone(&waits), Arc::clone(&count));
            async move {
                waits.acquire().await.forget();
                count.fetch_add(1, Ordering::SeqCst);
            }
        })
        .unwrap();
        let opens = Arc::clone(&gate);
        // What the slow port waits for comes at another one.
        let quick = Port::new(&member.engine, "quick", move |_| {
            opens.release();
        })
        .unwrap();
        for _ in 0..20 {
            slow.send(member.other(), "").unwrap();
        }
        for _ in 0..20 {
            quick.send(member.other(), "").unwrap();
        }
        member.until(|| done.load(Ordering::SeqCst) == 20);
        member.barrier.wait().unwrap();
    });
}

#[test]
fn concurrent_handlers_overlap_and_end_in_any_order() {
    run(Job::new(2), |member| {
        let (next, order) = (Arc::new(Mutex::new(u64::MAX)), Arc::new(Blocking::new(vec![])));
        let changed = Arc::new(Condition::new());
        let (turn, ended, wakes) = (Arc::clone(&next), Arc::clone(&order), Arc::clone(&changed));
        let port = Port::concurrent(&member.engine, "many", move |mut message| {
            let (turn, ended) = (Arc::clone(&turn), Arc::clone(&ended));
            let wakes = Arc::clone(&wakes);
            async move {
                let n = number(&mut message);
                let mut next = turn.lock().await;
                while *next != n {
                    next = wakes.wait(next).await;
                }
                *next = n.wrapping_sub(1);
                ended.lock().unwrap().push(n);
                wakes.notify_all();
            }
        })
        .unwrap();
        for n in 0..100u64 {
            port.send(member.other(), &n.to_le_bytes()).unwrap();
        }
        member.until(|| member.engine.statistics().continuations == 100);
        // All wait for the last one, and each for the next.
        *member.engine.block_on(next.lock()).unwrap() = 99;
        changed.notify_all();
        member.until(|| order.lock().unwrap().len() == 100);
        assert_eq!(*order.lock().unwrap(), (0..100).rev().collect::<Vec<_>>());
        member.barrier.wait().unwrap();
    });
}

#[test]
fn popup_threads_block_and_overlap() {
    run(Job::new(2), |member| {
        let shared = Arc::new((Blocking::new(0), Condvar::new()));
        let threads = Arc::clone(&shared);
        let port = Port::popup(&member.engine, "threads", move |_| {
            let (inside, changed) = &*threads;
            let mut inside = inside.lock().unwrap();
            *inside += 1;
            changed.notify_all();
            // Goes on once all eight are blocked here.
            while *inside < 8 {
                inside = changed.wait(inside).unwrap();
            }
        })
        .unwrap();
        for _ in 0..8 {
            port.send(member.other(), "").unwrap();
        }
        member.until(|| *shared.0.lock().unwrap() == 8);
        member.barrier.wait().unwrap();
    });
}

/// A handler that waits for another message, which a handler of the thesis could not.
#[test]
fn handlers_wait_for_answers_from_elsewhere() {
    for job in [Job::new(3), small(3), interrupted(3)] {
        run(job, |member| {
            for model in WAITING_MODELS {
                let answers = member.mailbox(&format!("answers to {model}"));
                let done = member.mailbox(&format!("done {model}"));
                let (received, ended) = (Arc::clone(&answers), Arc::clone(&done));
                let reply = Arc::clone(&answers);
                let double = Port::new(&member.engine, "double", move |mut message| {
                    let twice = 2 * number(&mut message);
                    reply.send(message.source(), &twice.to_le_bytes()).unwrap();
                });
                let double = Arc::new(double.unwrap());
                let asked = Arc::clone(&double);
                let one_by_one = Arc::new(Mutex::new(()));
                let port = waiting_port(member, model, move |mut message| {
                    let (received, ended) = (Arc::clone(&received), Arc::clone(&ended));
                    let (asked, turn) = (Arc::clone(&asked), Arc::clone(&one_by_one));
                    async move {
                        // The answers carry no names, so one asks at a time.
                        let _turn = turn.lock().await;
                        let n = number(&mut message);
                        let third = Rank((message.to().0 + 1) % 3);
                        asked.send_async(third, &n.to_le_bytes()).await.unwrap();
                        let twice = number(&mut received.receive_async().await.unwrap());
                        assert_eq!(twice, 2 * n);
                        ended.send_async(message.source(), &n.to_le_bytes()).await.unwrap();
                    }
                });
                member.barrier.wait().unwrap();
                let next = Rank((member.rank() as u16 + 1) % 3);
                for n in 0..40u64 {
                    port.send(next, &n.to_le_bytes()).unwrap();
                }
                let mut ends: Vec<_> =
                    (0..40).map(|_| number(&mut done.receive().unwrap())).collect();
                if model != "async" {
                    ends.sort_unstable();
                }
                assert_eq!(ends, (0..40).collect::<Vec<_>>(), "{model}");
                member.barrier.wait().unwrap();
            }
        });
    }
}

/// A future may wake itself for ever; it is one entry in a queue all the time.
#[test]
fn a_task_that_wakes_itself_is_ready_once() {
    run(Job::new(1), |member| {
        let polls = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&polls);
        member.engine.spawn(std::future::poll_fn(move |context| {
            context.waker().wake_by_ref();
            match count.fetch_add(1, Ordering::SeqCst) {
                1000.. => std::task::Poll::Ready(()),
                _ => std::task::Poll::Pending,
            }
        }));
        member.engine.progress().unwrap();
        // At most so many as one look at the tasks runs, for each step.
        assert!(polls.load(Ordering::SeqCst) <= 64 * 64);
        member.until(|| polls.load(Ordering::SeqCst) == 1001);
        member.engine.progress().unwrap();
        assert!(!member.engine.progress().unwrap(), "something is ready still");
    });
}

#[test]
fn a_rank_sends_itself_more_than_any_window() {
    run(small(1), |member| {
        let mailbox = member.mailbox("own");
        for n in 0..5000u64 {
            mailbox.send(0, &n.to_le_bytes()).unwrap();
        }
        for n in 0..5000u64 {
            assert_eq!(number(&mut mailbox.receive().unwrap()), n);
        }
        member.engine.progress().unwrap();
    });
}

/// Values that a handler holds are dropped outside of all locks, or none of them could be a port.
#[test]
fn a_handler_may_drop_its_port_and_hold_another() {
    run(Job::new(1), |member| {
        let own: Arc<Blocking<Option<Port>>> = Arc::default();
        let (inner, held) = (Arc::clone(&own), member.mailbox("held"));
        let port = Port::new(&member.engine, "own", move |_| {
            let _held = &held;
            drop(inner.lock().unwrap().take());
        });
        let port = own.lock().unwrap().insert(port.unwrap()).name().to_string();
        let sender = Arc::clone(&own);
        sender.lock().unwrap().as_ref().unwrap().send(0, "").unwrap();
        member.until(|| own.lock().unwrap().is_none());
        // Both names are free again.
        drop(member.mailbox(&port));
        drop(member.mailbox("held"));
    });
}

/// Each is blocked in a send of many windows, and its handler reads what the other sends. A handler
/// that read above the send, on its stack, would wait for a send that is below the other's handler.
#[test]
fn handlers_that_read_long_messages_do_not_wait_for_each_other() {
    run(Job::new(2), |member| {
        let read = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&read);
        let port = Port::new(&member.engine, "long", move |mut message| {
            count.fetch_add(message.read_to_vec().unwrap().len(), Ordering::SeqCst);
        })
        .unwrap();
        member.barrier.wait().unwrap();
        // In two pieces: what is in one may leave from where it is, in packets of any length.
        let piece = vec![7; 1000 * member.engine.packets().max_payload()];
        let size = 2 * piece.len();
        port.send(member.other(), &[&piece[..], &piece[..]]).unwrap();
        member.until(|| read.load(Ordering::SeqCst) == size);
        member.barrier.wait().unwrap();
    });
}

/// A message that is asked for, and one behind it that fills the window: who reads the first waits
/// for packets that have no room, because nobody reads the second.
#[test]
fn a_message_is_read_whose_window_another_one_has_filled() {
    run(Job::new(2), |member| {
        let length = 1000 * member.engine.packets().max_payload();
        if member.rank() == 1 {
            let mailbox = member.mailbox("both");
            member.barrier.wait().unwrap();
            for _ in 0..2 {
                assert_eq!(mailbox.receive().unwrap().read_to_vec().unwrap().len(), length);
            }
            return;
        }
        let sent = Arc::new(AtomicUsize::new(0));
        for rendezvous_from in [Some(1), None] {
            let port = Port::sender(&member.engine, "both").unwrap();
            port.rendezvous_from(rendezvous_from);
            let (sent, to) = (Arc::clone(&sent), member.other());
            member.engine.spawn(async move {
                port.send_async(to, &vec![7; length]).await.unwrap();
                sent.fetch_add(1, Ordering::SeqCst);
            });
        }
        member.until(|| member.engine.statistics().stalls > 0);
        member.barrier.wait().unwrap();
        member.until(|| sent.load(Ordering::SeqCst) == 2);
    });
}
