//! Totally-ordered broadcast: what it promises beside the order, and what it refuses.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::{
    Barrier, Completion, Disorder, Engine, Error, Mailbox, Order, OrderWindow, Orders, Port,
};
use weft_protocol::Preset;
use weft_threads::Job;

/// A rank with orders and a barrier.
struct Member {
    barrier: Barrier,
    orders: Orders,
    engine: Arc<Engine>,
}

impl Member {
    fn rank(&self) -> Rank {
        self.engine.packets().rank()
    }
}

const WINDOW: OrderWindow = OrderWindow { messages: 4, bytes: 1 << 16 };

/// Runs `program` on every rank; all of them leave together.
fn run<T: Send>(ranks: u16, program: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    run_job(Job::new(ranks), program)
}

/// Does what [`run`] does, as this job.
fn run_job<T: Send>(job: Job, program: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    job.packets(|packets| {
        let engine = Engine::new(packets);
        let barrier = Barrier::new(&engine).unwrap();
        let member = Member { barrier, orders: Orders::with_window(&engine, WINDOW), engine };
        let result = program(&member);
        member.barrier.leave().unwrap();
        result
    })
}

#[test]
fn a_mailbox_gives_the_same_messages_in_the_same_order_to_all() {
    let seen = run(3, |member| {
        let mailbox = member.orders.mailbox("asked for").unwrap();
        for n in 0..4u8 {
            mailbox.broadcast(&[member.rank().0 as u8, n]).unwrap();
        }
        let seen: Vec<_> = (0..12)
            .map(|number| {
                let mut message = mailbox.receive().unwrap();
                assert_eq!(message.number(), number);
                let bytes = message.read_to_vec().unwrap();
                assert_eq!(message.source(), Rank(bytes[0].into()));
                bytes
            })
            .collect();
        member.barrier.wait().unwrap();
        seen
    });
    assert!(seen.iter().all(|other| *other == seen[0]), "{seen:?}");
}

#[test]
fn whoever_waits_has_seen_its_own_message_and_all_before() {
    run(3, |member| {
        let sum = Arc::new(AtomicU64::new(0));
        let state = Arc::clone(&sum);
        let order = member.orders.order("sum", move |message| {
            state.fetch_add(message.len() as u64, Ordering::Relaxed);
        });
        let order = order.unwrap();
        for _ in 0..20 {
            let number = order.broadcast_and_wait(&[0; 3]).unwrap();
            assert!(sum.load(Ordering::Relaxed) >= 3 * (number + 1));
        }
        member.barrier.wait().unwrap();
        assert!(order.statistics().delivered >= 20);
    });
}

/// Nothing answers before the sender polls, and it does not while there is room in its window.
#[test]
fn what_is_begun_together_has_one_fetch_and_add() {
    let job = Job::over_udp(2, Preset::default());
    let served = run_job(job, |member| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let order = member.orders.order("begun", move |mut message| {
            log.lock().unwrap().push(message.read_to_vec().unwrap());
        });
        let order = order.unwrap();
        member.barrier.wait().unwrap();
        if member.rank() == Rank(1) {
            let begin = |letter: &[u8; 1]| order.begin(letter).unwrap();
            let begun: Vec<_> = [b"a", b"b", b"c"].into_iter().map(begin).collect();
            assert_eq!(order.broadcast(b"d").unwrap(), 3, "it comes after what was begun before");
            let numbers: Vec<_> = begun.into_iter().map(|begun| begun.wait().unwrap()).collect();
            assert_eq!(numbers, [0, 1, 2]);
        }
        member.engine.poll_until(|| seen.lock().unwrap().len() == 4).unwrap();
        assert_eq!(seen.lock().unwrap().concat(), b"abcd");
        member.barrier.wait().unwrap();
        member.engine.statistics().packets.protocol.atomics_served
    });
    assert_eq!(served, [3, 0], "one for the first, one for two, one for the broadcast");
}

/// One sender and a window of four: each receiver tells it after every second message, and nobody
/// tells itself.
#[test]
fn acknowledgements_are_few() {
    let statistics = run(3, |member| {
        let seen = Arc::new(AtomicU64::new(0));
        let (counted, (completer, done)) = (Arc::clone(&seen), Completion::new(&member.engine));
        let mut completer = Some(completer);
        let handler = move |_| {
            if counted.fetch_add(1, Ordering::Relaxed) == 39 {
                completer.take().unwrap().complete(Ok(()));
            }
        };
        let order = member.orders.order("one sender", handler).unwrap();
        if member.rank() == 0 {
            (0..40).for_each(|_| assert!(order.broadcast("a message").is_ok()));
        }
        done.wait().unwrap();
        member.barrier.wait().unwrap();
        order.statistics()
    });
    assert_eq!(
        statistics.iter().map(|rank| rank.acknowledgements).collect::<Vec<_>>(),
        [0, 20, 20]
    );
    assert_eq!(statistics[0].bytes_copied, 40 * 9);
}

/// The handler's messages can only be consumed once it has returned, so it must not wait for that.
#[test]
fn a_handler_that_broadcasts_more_than_a_window_does_not_wait() {
    let outcomes = run(1, |member| {
        let outcome = Arc::new(Mutex::new((0, None)));
        let own = Arc::new(OnceLock::<Order>::new());
        let (told, this) = (Arc::clone(&outcome), Arc::downgrade(&own));
        let handler = move |message: weft_messaging::OrderedMessage| {
            let own = this.upgrade().unwrap();
            let order = own.get().unwrap();
            if message.number() > 0 {
                return;
            }
            let waited = order.broadcast_and_wait("");
            assert_eq!(waited, Err(Error::WaitsForItself("replies".into())));
            let sent = (0..).map_while(|_| {
                order.broadcast("").err().map_or(Some(()), |error| {
                    told.lock().unwrap().1 = Some(error);
                    None
                })
            });
            let sent = sent.count();
            told.lock().unwrap().0 = sent;
        };
        let order = member.orders.order("replies", handler).unwrap();
        own.set(order).ok().unwrap();
        own.get().unwrap().broadcast_and_wait("begin").unwrap();
        let delivered = own.get().unwrap().statistics().delivered;
        let (sent, error) = outcome.lock().unwrap().clone();
        (sent as u64, delivered, error)
    });
    let overdrawn = Error::Overdrawn { order: "replies".into(), limit: 4100 };
    assert_eq!(outcomes, [(4099, 4100, Some(overdrawn))]);
}

#[test]
fn orders_of_some_ranks_refuse_the_others() {
    run(3, |member| {
        let members = [Rank(2), Rank(0)];
        let order = member.orders.mailbox_in("two of three", &members).unwrap();
        match member.rank().0 {
            1 => {
                let refused = weft_endpoint::Error::NotAMember.into();
                assert_eq!(order.broadcast("no"), Err(refused));
            }
            _ => {
                order.broadcast("yes").unwrap();
                (0..2).for_each(|_| assert_eq!(order.receive().unwrap().text().unwrap(), "yes"));
            }
        }
        member.barrier.wait().unwrap();
    });
}

#[test]
fn there_are_eight_orders_a_rank_and_names_are_taken_once() {
    run(2, |member| {
        let mut orders: Vec<_> =
            (0..15).map(|n| member.orders.mailbox(&format!("order {n}")).unwrap()).collect();
        let taken = member.orders.mailbox("order 3").err().unwrap();
        assert_eq!(taken, Error::PortTaken("weft.order.order 3".into()));
        let full = member.orders.mailbox("one more").err().unwrap();
        assert_eq!(full.to_string(), "this job has 16 orders already: there are 8 for each rank");
        let last = orders.pop().unwrap();
        last.broadcast(member.rank().0.to_string().as_str()).unwrap();
        (0..2).for_each(|_| drop(last.receive().unwrap()));
        member.barrier.wait().unwrap();
    });
}

/// Error of rank 0's order when rank 1 writes these envelopes: numbers, and the counts of those
/// that it has consumed. Everything else at rank 0 fails afterwards with the same error.
fn hostile(envelopes: &[[u64; 2]]) -> Error {
    let done = std::sync::Barrier::new(2);
    let outcomes = Job::new(2).packets(|packets| {
        let engine = Engine::new(packets);
        if engine.packets().rank() == 1 {
            // The port that an order has, with nothing behind it.
            let port = Port::new(&engine, "weft.order.of two", |_| {}).unwrap();
            for envelope in envelopes {
                let [number, consumed] = envelope.map(u64::to_le_bytes);
                port.send(Rank(0), &[&number[..], &consumed[..]][..]).unwrap();
            }
            engine.flush().unwrap();
            done.wait();
            return None;
        }
        let orders = Orders::with_window(&engine, WINDOW);
        let order = orders.mailbox("of two").unwrap();
        let other = orders.mailbox("another").unwrap();
        let pending = other.begin("never there").unwrap();
        let error = loop {
            match order.receive() {
                Ok(message) => assert_eq!(message.number(), 0),
                Err(error) => break error,
            }
        };
        assert_eq!(order.broadcast(""), Err(error.clone()), "it stays broken");
        assert_eq!(other.broadcast(""), Err(error.clone()));
        assert_eq!(pending.wait(), Err(error.clone()));
        assert_eq!(Barrier::new(&engine).unwrap().wait(), Err(error.clone()));
        done.wait();
        Some(error)
    });
    outcomes.into_iter().flatten().next().unwrap()
}

#[test]
fn a_peer_that_breaks_the_order_is_named() {
    let disorder =
        |number, what| Error::Disorder { order: "of two".into(), from: Rank(1), number, what };
    let limit = 2 * (WINDOW.messages + 4096);
    assert_eq!(hostile(&[[limit, 0]]), disorder(limit, Disorder::TooFar));
    assert_eq!(hostile(&[[1 << 60, 0]]), disorder(1 << 60, Disorder::TooFar));
    assert_eq!(hostile(&[[0, limit + 1]]), disorder(limit + 1, Disorder::Foreign));
    assert_eq!(hostile(&[[5, 0], [5, 0]]), disorder(5, Disorder::Taken));
    let said = hostile(&[[1 << 60, 0]]).to_string();
    assert!(said.starts_with("rank 1 broadcast number 1152921504606846976 of"), "{said}");
}

/// A handler that waits makes all others of its order wait, and nothing else.
#[test]
fn handlers_that_wait_run_one_at_a_time() {
    let seen = run(3, |member| {
        let running = Arc::new(AtomicU64::new(0));
        let seen: Arc<Mutex<Vec<u64>>> = Arc::default();
        let (engine, saw) = (Arc::clone(&member.engine), Arc::clone(&seen));
        let handler = move |mut message: weft_messaging::OrderedMessage| {
            let (running, saw) = (Arc::clone(&running), Arc::clone(&saw));
            let engine = Arc::clone(&engine);
            async move {
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "another runs");
                let bytes = message.bytes().await.unwrap();
                if bytes[0] % 2 == 0 {
                    engine.sleep(Duration::from_micros(50)).await;
                }
                saw.lock().unwrap().push(message.number());
                running.fetch_sub(1, Ordering::SeqCst);
            }
        };
        let order = member.orders.order_async("slow", handler).unwrap();
        for n in 0..30 {
            order.broadcast(&vec![n; if n == 7 { 100_000 } else { 10 }]).unwrap();
        }
        member.engine.poll_until(|| seen.lock().unwrap().len() == 90).unwrap();
        member.barrier.wait().unwrap();
        assert_eq!(order.statistics().delivered, 90);
        let seen = seen.lock().unwrap();
        seen.clone()
    });
    assert_eq!(seen, vec![(0..90).collect::<Vec<_>>(); 3]);
}

/// It is one message: what waits for its end has room for a window, and whoever sends more waits.
#[test]
fn senders_wait_for_a_handler_that_waits() {
    run(1, |member| {
        let (completer, gate) = Completion::<()>::new(&member.engine);
        let mut gate = Some(gate);
        let handler = move |_| {
            let gate = gate.take();
            async move {
                if let Some(gate) = gate {
                    gate.await.unwrap();
                }
            }
        };
        let order = member.orders.order_async("gated", handler).unwrap();
        let mut calls: Vec<_> = (0..4).map(|_| order.begin("").unwrap()).collect();
        member.engine.progress().unwrap();
        assert!(calls.iter_mut().all(|call| call.try_take().unwrap().is_none()));
        assert_eq!(order.statistics().delivered, 0);
        let opener = member.engine.sleep(Duration::from_millis(1));
        member.engine.spawn(async move {
            opener.await;
            completer.complete(Ok(()));
        });
        // The fifth has no room until the gate is open.
        assert_eq!(order.broadcast_and_wait(""), Ok(4));
        assert_eq!(order.statistics().stalled, 1);
        let numbers: Vec<_> = calls.into_iter().map(|call| call.wait().unwrap()).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
    });
}

#[test]
fn a_handler_that_waits_and_panics_fails_its_order() {
    run(1, |member| {
        let engine = Arc::clone(&member.engine);
        let handler = move |_| {
            let nap = engine.sleep(Duration::from_micros(50));
            async move {
                nap.await;
                std::panic::resume_unwind(Box::new("oh"));
            }
        };
        let bad = member.orders.order_async("bad", handler).unwrap();
        let first = bad.begin("go").unwrap();
        let second = bad.begin("never").unwrap();
        // The program hears of the panic once, and whoever waits for the order of its end: either
        // first.
        let panicked = Error::TaskPanicked("oh".into());
        match first.wait() {
            Err(heard) if heard == panicked => {}
            ended => {
                assert_eq!(ended, Err(Error::OrderPanicked("bad".into())));
                assert_eq!(member.engine.progress(), Err(panicked));
            }
        }
        assert_eq!(second.wait(), Err(Error::OrderPanicked("bad".into())));
        assert_eq!(bad.broadcast("again"), Err(Error::OrderPanicked("bad".into())));
    });
}

#[test]
fn a_handler_that_panics_fails_its_order_and_no_other() {
    run(1, |member| {
        let bad =
            member.orders.order("bad", |_| std::panic::resume_unwind(Box::new("oh"))).unwrap();
        let good = member.orders.order("good", |_| {}).unwrap();
        let panicked = std::panic::AssertUnwindSafe(|| bad.broadcast("go"));
        assert!(std::panic::catch_unwind(panicked).is_err());
        assert_eq!(bad.broadcast("again"), Err(Error::OrderPanicked("bad".into())));
        assert_eq!(good.broadcast_and_wait("fine"), Ok(0));
    });
}

/// A message longer than memory for packets is read while it arrives, and its reader does not keep
/// other ports from running.
#[test]
fn long_messages_are_streams() {
    run(2, |member| {
        let mailbox = Mailbox::new(&member.engine, "aside").unwrap();
        let order = member.orders.mailbox("long").unwrap();
        let bytes: Vec<u8> = (0..8_000_000u32).map(|n| n as u8).collect();
        if member.rank() == 0 {
            order.broadcast(&bytes).unwrap();
            mailbox.send(Rank(1), "aside").unwrap();
        }
        let mut message = order.receive().unwrap();
        assert_eq!(message.len(), bytes.len());
        let mut first = [0; 1000];
        message.read_exact(&mut first).unwrap();
        assert_eq!(first, bytes[..1000]);
        assert_eq!(message.read_to_vec().unwrap(), bytes[1000..]);
        let short = Error::Short { from: Rank(0), left: 0, wanted: 1 };
        assert_eq!(message.read_exact(&mut [0]), Err(short));
        member.barrier.wait().unwrap();
    });
}
