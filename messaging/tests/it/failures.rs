//! Faults are named at the right place, once; nothing hangs, and nothing else breaks.

use crate::common::{self, Member, number, run, small};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use weft_endpoint::{Protocol, Rank};
use weft_messaging::sync::{Mutex, Semaphore};
use weft_messaging::{Engine, Error, Mailbox, Port};
use weft_threads::{Interrupt, Job, interrupted_with_loss, with_loss};

const MODELS: [&str; 5] = ["plain", "async", "waited", "concurrent", "popup"];

/// A port whose handler panics on the first message. It comes as soon as this rank polls: whoever
/// expects it waits for nothing else before, in particular not at a barrier, which would hear of
/// it.
fn panicking(member: &Member, model: &str, gate: &Arc<Semaphore>) -> Port {
    let (engine, gate) = (&member.engine, Arc::clone(gate));
    let waits = model != "async";
    let panics = move |_: weft_messaging::Message| {
        let gate = Arc::clone(&gate);
        async move {
            if waits {
                gate.acquire().await.forget();
            }
            panic!("enough");
        }
    };
    match model {
        "plain" => Port::new(engine, model, |_| panic!("enough")),
        "popup" => Port::popup(engine, model, |_| panic!("enough")),
        "concurrent" => Port::concurrent(engine, model, panics),
        _ => Port::with_async(engine, model, panics),
    }
    .unwrap()
}

/// Error of a handler as `member` gets it, while it waits for a message that never comes.
fn incident(member: &Member) -> Error {
    let nothing = member.mailbox("nothing").receive();
    nothing.err().unwrap()
}

#[test]
fn a_handler_that_panics_takes_its_port_along_and_nothing_else() {
    for model in MODELS {
        run(small(2), |member| {
            let gate = Arc::new(Semaphore::new(0));
            let port = panicking(member, model, &gate);
            let echo = member.mailbox("echo");
            if member.rank() == 0 {
                port.send(1, "").unwrap();
                drop(echo.receive().unwrap());
                // Many windows' worth of it: they are thrown away, and none stalls for ever.
                for n in 0..15_000u64 {
                    port.send(1, &n.to_le_bytes()).unwrap();
                }
                echo.send(1, "").unwrap();
            } else {
                gate.release();
                let expected =
                    Error::Panicked { port: model.into(), from: Rank(0), what: "enough".into() };
                assert_eq!(incident(member), expected, "{model}");
                echo.send(0, "").unwrap();
                // Once; then everything goes on.
                drop(echo.receive().unwrap());
            }
            member.barrier.wait().unwrap();
        });
    }
}

#[test]
fn a_task_that_panics_is_named_once() {
    run(Job::new(1), |member| {
        member.engine.spawn(async { panic!("a task has had enough") });
        assert_eq!(incident(member), Error::TaskPanicked("a task has had enough".into()));
        member.engine.progress().unwrap();
    });
}

/// A handler that waits must not get the blame for another one.
#[test]
fn panics_are_for_the_program_to_hear() {
    run(Job::new(2), |member| {
        let read: Arc<AtomicU64> = Arc::default();
        let count = Arc::clone(&read);
        let long = Port::new(&member.engine, "long", move |mut message| {
            assert_eq!(message.read_to_vec().unwrap().len(), 3_000_000);
            count.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
        let bad = Port::new(&member.engine, "bad", |_| panic!("enough")).unwrap();
        if member.rank() == 0 {
            std::thread::scope(|scope| {
                scope.spawn(|| long.send(1, &vec![1; 3_000_000]).unwrap());
                scope.spawn(|| bad.send(1, "").unwrap());
            });
        } else {
            let error = incident(member);
            assert!(matches!(error, Error::Panicked { .. }), "{error}");
            member.until(|| read.load(Ordering::SeqCst) == 1);
        }
        member.barrier.wait().unwrap();
    });
}

/// The upcall thread cannot hear of a panic, and goes on.
#[test]
fn interrupts_go_on_after_a_panic() {
    run(common::interrupted(2), |member| {
        let handled: Arc<AtomicU64> = Arc::default();
        let count = Arc::clone(&handled);
        let bad = Port::new(&member.engine, "bad", |_| panic!("enough")).unwrap();
        let good = Port::new(&member.engine, "good", move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
        bad.send(member.other(), "").unwrap();
        for _ in 0..10 {
            good.send(member.other(), "").unwrap();
        }
        while handled.load(Ordering::SeqCst) < 10 {
            std::thread::yield_now();
        }
        assert!(matches!(incident(member), Error::Panicked { .. }));
        member.barrier.wait().unwrap();
    });
}

#[test]
fn a_port_that_nobody_creates_is_an_error_when_its_window_is_full() {
    run(small(2), |member| {
        if member.rank() == 0 {
            let port = Arc::new(member.mailbox("nowhere"));
            let expected = Error::NoPort { rank: Rank(1), port: "nowhere".into() };
            let error = (0..10_000).find_map(|_| port.send(1, "").err());
            assert_eq!(error, Some(expected.clone()));
            let error = member.engine.block_on(async {
                let mut outcome = Ok(());
                while outcome.is_ok() {
                    outcome = port.send_async(1, "").await;
                }
                outcome
            });
            assert_eq!(error.unwrap(), Err(expected));
            let all = (0..10_000).find_map(|_| port.broadcast("").err());
            assert!(matches!(all, Some(Error::NoPort { rank: Rank(1), .. })), "{all:?}");
        }
        member.barrier.wait().unwrap();
        let unclaimed = member.engine.check_unclaimed();
        match member.rank() {
            0 => assert_eq!(unclaimed, Ok(())),
            _ => assert!(matches!(unclaimed, Err(Error::Unclaimed { from: Rank(0), .. }))),
        }
    });
}

#[test]
fn messages_for_a_port_that_is_gone_are_nobodys_mistake() {
    run(Job::new(2), |member| {
        drop(member.mailbox("gone"));
        member.barrier.wait().unwrap();
        if member.rank() == 0 {
            member.mailbox("gone").send(1, "").unwrap();
        }
        member.barrier.wait().unwrap();
        member.engine.progress().unwrap();
        assert_eq!(member.engine.check_unclaimed(), Ok(()));
    });
}

/// Every kind of wait of a rank ends when another is lost.
#[test]
fn a_lost_rank_ends_all_waits() {
    use weft_link::bell::{Cause, Loss};
    let loss = Loss { rank: Rank(0), cause: Cause::Exited(1) };
    with_loss(loss, |packets, lose| {
        let engine = Engine::new(packets);
        let mailbox = Arc::new(Mailbox::new(&engine, "nothing").unwrap());
        let told: Arc<AtomicU64> = Arc::default();
        let (waits, tells) = (Arc::clone(&mailbox), Arc::clone(&told));
        engine.spawn(async move {
            let lost = waits.receive_async().await.err();
            assert_eq!(lost.unwrap().to_string(), LOST);
            tells.fetch_add(1, Ordering::SeqCst);
        });
        let lock = Mutex::new(());
        let held = lock.try_lock().unwrap();
        let is_lost = |error: Error| assert_eq!(error.to_string(), LOST);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| is_lost(mailbox.receive().err().unwrap()));
            }
            scope.spawn(|| {
                let never = Duration::from_secs(1000);
                is_lost(mailbox.receive_within(never).err().unwrap());
            });
            scope.spawn(|| is_lost(engine.block_on(lock.lock()).err().unwrap()));
            scope.spawn(|| is_lost(engine.block_on(std::future::pending::<()>()).unwrap_err()));
            scope.spawn(|| {
                is_lost(loop {
                    if let Err(error) = mailbox.send(0, &[0; 1000]) {
                        break error;
                    }
                });
            });
            while engine.statistics().packets.sleeps < 1 {
                std::thread::yield_now();
            }
            lose();
        });
        drop(held);
        assert_eq!(told.load(Ordering::SeqCst), 1);
        engine.close();
    });
}

const LOST: &str = "rank 0 exited with status 1 before the job was over";

/// A peer may announce anything. What it costs is what has come.
#[test]
fn a_message_larger_than_memory_is_read_as_it_comes() {
    use weft_messaging::format::{MAX_MESSAGE, PacketHeader, PacketKind, port_number};
    Job::new(2).packets(|packets| {
        if packets.rank() == 1 {
            let port = port_number("box");
            let (message, bytes, kind) = (1, MAX_MESSAGE, PacketKind::First);
            let header =
                PacketHeader { port, message, bytes, header_bytes: 0, kind, aligned: false };
            let packets = packets.of(Protocol::MESSAGES);
            let mut packet = packets.packet().unwrap();
            packet.put(&header.emit()).unwrap().put(&[7; 8]).unwrap();
            packet.unicast(Rank(0)).unwrap();
            return packets.flush().unwrap();
        }
        let engine = Engine::new(packets);
        let mailbox = Mailbox::new(&engine, "box").unwrap();
        let mut message = mailbox.receive().unwrap();
        assert_eq!(message.len() as u64, MAX_MESSAGE);
        assert_eq!(number(&mut message), u64::from_le_bytes([7; 8]));
        let time = Duration::from_millis(1);
        let all = engine.block_on(engine.within(time, message.bytes())).unwrap();
        assert_eq!(all.err(), Some(Error::TimedOut(time)));
    });
}

/// Tells a thread that is no thread of Weft's.
struct Tells(std::sync::Mutex<Sender<()>>);

impl Wake for Tells {
    fn wake(self: Arc<Self>) {
        let _ = self.0.lock().unwrap().send(());
    }
}

/// Nobody waits in Weft: what polls the future is somebody else's executor.
#[test]
fn a_lost_rank_wakes_the_tasks_of_other_executors() {
    use weft_link::bell::{Cause, Loss};
    let loss = Loss { rank: Rank(0), cause: Cause::Exited(1) };
    let connect = |packets| {
        let engine = Engine::new(packets);
        let interrupted = Arc::clone(&engine);
        let interrupt = move || interrupted.interrupted();
        (engine, Box::new(interrupt) as Interrupt)
    };
    interrupted_with_loss(loss, connect, |engine, lose| {
        let mailbox = Mailbox::new(&engine, "nothing").unwrap();
        let (tells, told) = channel();
        let waker = Waker::from(Arc::new(Tells(std::sync::Mutex::new(tells))));
        let mut context = Context::from_waker(&waker);
        let mut received = std::pin::pin!(mailbox.receive_async());
        assert!(received.as_mut().poll(&mut context).is_pending());
        lose();
        told.recv_timeout(Duration::from_secs(60)).expect("nobody was woken");
        let Poll::Ready(Err(lost)) = received.as_mut().poll(&mut context) else {
            panic!("the future goes on");
        };
        assert_eq!(lost.to_string(), LOST);
        engine.close();
    });
}
