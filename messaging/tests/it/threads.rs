//! Many threads of one rank, and executors of others, that send and receive (thesis 6.2.1, 6.2.2).

use crate::common::{self, Member, interrupted, number, run};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::{Completion, Error, Port};
use weft_protocol::Preset;
use weft_threads::{Between, Job, Weather};

/// Four threads of each rank play ping-pong with their likes.
fn threads_play(member: &Member, rounds: u64) {
    let mailboxes: Vec<_> = (0..4).map(|n| member.mailbox(&format!("thread {n}"))).collect();
    member.barrier.wait().unwrap();
    std::thread::scope(|scope| {
        for mailbox in &mailboxes {
            scope.spawn(move || {
                for round in 0..rounds {
                    mailbox.send(member.other(), &round.to_le_bytes()).unwrap();
                    assert_eq!(number(&mut mailbox.receive().unwrap()), round);
                }
            });
        }
        // And the main thread waits for something that nothing but the others' progress brings.
        for _ in 0..20 {
            member.barrier.wait().unwrap();
        }
    });
    member.barrier.wait().unwrap();
}

#[test]
fn any_thread_may_send_and_receive() {
    for job in [Job::new(2), interrupted(2)] {
        run(job, |member| threads_play(member, 100));
        run(job, |member| {
            member.engine.share();
            threads_play(member, 100);
        });
    }
}

/// Nobody polls for a thread any more once the one that led has what it wanted.
#[test]
fn whoever_has_what_it_wanted_has_another_lead() {
    run(Job::new(2), |member| {
        let boxes = [member.mailbox("first"), member.mailbox("second"), member.mailbox("third")];
        member.barrier.wait().unwrap();
        for round in 0..50u64 {
            if member.rank() == 0 {
                // Each is sent only when the one before has ended the wait of its thread.
                for mailbox in &boxes {
                    mailbox.send(1, &round.to_le_bytes()).unwrap();
                    drop(mailbox.receive().unwrap());
                }
                continue;
            }
            std::thread::scope(|scope| {
                for mailbox in &boxes {
                    scope.spawn(move || {
                        assert_eq!(number(&mut mailbox.receive().unwrap()), round);
                        mailbox.send(0, "").unwrap();
                    });
                }
            });
        }
        member.barrier.wait().unwrap();
    });
}

#[test]
fn a_thread_wakes_the_one_that_waits_for_it() {
    run(Job::new(1), |member| {
        let never = member.mailbox("never");
        for leads in [true, false] {
            for _ in 0..20 {
                let (completer, completion) = Completion::new(&member.engine);
                let stop = AtomicBool::new(false);
                std::thread::scope(|scope| {
                    // Takes the lead, unless the other one has it.
                    let other = || {
                        while !leads && !stop.load(Ordering::SeqCst) {
                            let nothing = never.receive_within(Duration::from_millis(1)).unwrap();
                            assert!(nothing.is_none());
                        }
                    };
                    scope.spawn(other);
                    let waiting = scope.spawn(|| {
                        let value = completion.wait().unwrap();
                        stop.store(true, Ordering::SeqCst);
                        value
                    });
                    // Long enough to be asleep, mostly; correct if it is not.
                    (0..200).for_each(|_| std::thread::yield_now());
                    completer.complete(Ok(7));
                    assert_eq!(waiting.join().unwrap(), 7);
                });
            }
        }
    });
}

#[test]
fn interrupts_serve_a_rank_whose_threads_all_compute() {
    run(interrupted(2), |member| {
        let handled: Arc<AtomicU64> = Arc::default();
        let count = Arc::clone(&handled);
        let engine = Arc::downgrade(&member.engine);
        let port = Port::with_async(&member.engine, "served", move |_| {
            let (count, engine) = (Arc::clone(&count), engine.upgrade().unwrap());
            async move {
                // Its continuation is the upcall thread's as well.
                engine.sleep(Duration::from_micros(100)).await;
                count.fetch_add(1, Ordering::SeqCst);
            }
        })
        .unwrap();
        member.barrier.wait().unwrap();
        for _ in 0..10 {
            port.send(member.other(), "").unwrap();
        }
        while handled.load(Ordering::SeqCst) < 10 {
            std::thread::yield_now();
        }
        assert!(member.engine.statistics().packets.interrupts > 0);
        member.barrier.wait().unwrap();
    });
}

/// The upcall thread would take five seconds for each; the one that waits polls for all.
#[test]
fn a_thread_that_waits_polls_for_one_that_computes() {
    let job = Job { interrupt_delay: Some(Duration::from_secs(5)), ..Job::new(2) };
    run(job, |member| {
        let handled: Arc<AtomicU64> = Arc::default();
        let count = Arc::clone(&handled);
        let port = Port::new(&member.engine, "served", move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .unwrap();
        let end = member.mailbox("end");
        member.barrier.wait().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| drop(end.receive().unwrap()));
            for round in 1..=20 {
                port.send(member.other(), "").unwrap();
                while handled.load(Ordering::SeqCst) < round {
                    std::thread::yield_now();
                }
            }
            end.send(member.other(), "").unwrap();
            waiting.join().unwrap();
        });
        assert_eq!(member.engine.statistics().packets.interrupts, 0);
        member.barrier.wait().unwrap();
    });
}

fn runtime(threads: usize) -> tokio::runtime::Runtime {
    match threads {
        0 => tokio::runtime::Builder::new_current_thread().build().unwrap(),
        threads => {
            tokio::runtime::Builder::new_multi_thread().worker_threads(threads).build().unwrap()
        }
    }
}

#[test]
fn tasks_of_another_executor_wait_for_messages() {
    for threads in [0, 2] {
        run(interrupted(2), |member| {
            let mailbox = member.mailbox("tasks");
            let echo = member.mailbox("echo");
            let other = member.other();
            member.barrier.wait().unwrap();
            runtime(threads).block_on(async {
                let echoed = Arc::clone(&echo);
                let server = tokio::spawn(async move {
                    for _ in 0..100 {
                        let mut message = echoed.receive_async().await.unwrap();
                        let bytes = message.bytes().await.unwrap();
                        mailbox.send_async(message.source(), &bytes).await.unwrap();
                        if bytes.is_empty() {
                            break;
                        }
                        drop(mailbox.receive_async().await.unwrap());
                    }
                });
                for round in 0..100 {
                    echo.send_async(other, &vec![round; 3000 * usize::from(round)]).await.unwrap();
                    tokio::task::yield_now().await;
                    if round == 0 {
                        break;
                    }
                }
                server.await.unwrap();
            });
            member.barrier.wait().unwrap();
        });
    }
}

#[test]
fn timers_and_completions_work_in_tasks_of_another_executor() {
    for threads in [0, 2] {
        run(interrupted(1), |member| {
            let engine = Arc::clone(&member.engine);
            let mailbox = member.mailbox("nothing");
            runtime(threads).block_on(async {
                let before = engine.packets().now();
                engine.sleep(Duration::from_millis(2)).await;
                assert!(engine.packets().now() >= before + Duration::from_millis(2));
                let time = Duration::from_millis(1);
                let nothing = engine.within(time, mailbox.receive_async()).await;
                assert_eq!(nothing.err(), Some(Error::TimedOut(time)));
                let (completer, completion) = Completion::new(&engine);
                let slept = engine.sleep(time);
                engine.spawn(async move {
                    slept.await;
                    completer.complete(Ok(5));
                });
                assert_eq!(completion.await, Ok(5));
            });
        });
    }
}

#[test]
fn futures_of_followers_ask_nobody_to_interrupt() {
    let job = Job { interrupt_delay: Some(Duration::from_secs(5)), ..Job::new(2) };
    run(job, |member| {
        let boxes = [member.mailbox("leads"), member.mailbox("follows")];
        member.barrier.wait().unwrap();
        std::thread::scope(|scope| {
            for mailbox in &boxes {
                scope.spawn(move || {
                    for round in 0..50u64 {
                        mailbox.send(member.other(), &round.to_le_bytes()).unwrap();
                        let received = member.engine.block_on(mailbox.receive_async());
                        assert_eq!(number(&mut received.unwrap().unwrap()), round);
                    }
                });
            }
        });
        assert_eq!(member.engine.statistics().packets.interrupts, 0);
        member.barrier.wait().unwrap();
    });
}

/// Several senders, one of which is slow: it alone waits.
#[test]
fn a_full_port_stalls_its_sender_there_and_nowhere_else() {
    run(common::small(3), |member| {
        let gate = Arc::new(weft_messaging::sync::Semaphore::new(0));
        let waits = Arc::clone(&gate);
        let received: Arc<[AtomicU64; 3]> = Arc::default();
        let count = Arc::clone(&received);
        let full = Port::with_async(&member.engine, "full", move |message| {
            let (waits, count) = (Arc::clone(&waits), Arc::clone(&count));
            async move {
                if message.source() == Rank(1) && count[1].load(Ordering::SeqCst) == 0 {
                    waits.acquire().await.forget();
                }
                count[message.source().index()].fetch_add(1, Ordering::SeqCst);
            }
        })
        .unwrap();
        let open = member.mailbox("open");
        member.barrier.wait().unwrap();
        match member.rank() {
            0 => {
                // From the stalled rank and from the other one, to another port.
                for _ in 0..2 {
                    drop(open.receive().unwrap());
                }
                gate.release();
                member.until(|| received[1].load(Ordering::SeqCst) == 10_000);
            }
            1 => {
                let stalled = |member: &Member| member.engine.statistics().stalls > 0;
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        for n in 0..10_000u64 {
                            full.send(0, &n.to_le_bytes()).unwrap();
                        }
                    });
                    while !stalled(member) {
                        std::thread::yield_now();
                    }
                    open.send(0, "").unwrap();
                });
            }
            _ => {
                full.send(1, "").unwrap();
                open.send(0, "").unwrap();
            }
        }
        assert_eq!(member.engine.statistics().stalls, u64::from(member.rank() == 1));
        member.barrier.wait().unwrap();
    });
}

/// Whoever is in the middle of a send reads nothing, and neither does the other: what is sent
/// beyond the window goes to memory, and both come through.
#[test]
fn two_that_send_much_before_they_read_come_through() {
    const BYTES: usize = 3 << 20;
    let udp =
        Job { between: Between::Udp(Weather::default()), preset: Preset::Pupa, ..Job::new(2) };
    let watched = Job { memory: common::small(2).memory, ..interrupted(2) };
    for job in [common::small(2), watched, udp] {
        let stalls = run(job, |member| {
            let (mailbox, all) = (member.mailbox("one"), member.mailbox("all"));
            member.barrier.wait().unwrap();
            let (mine, theirs) = (member.rank() as u8, member.other().0 as u8);
            for (round, mailbox) in [&mailbox, &all, &mailbox].into_iter().enumerate() {
                match round {
                    1 => mailbox.broadcast(&vec![mine; BYTES]).unwrap(),
                    _ => mailbox.send(member.other(), &vec![mine; BYTES]).unwrap(),
                }
                let message = mailbox.receive().unwrap().read_to_vec().unwrap();
                assert_eq!(message, vec![theirs; BYTES]);
            }
            member.engine.statistics().stalls
        });
        assert!(stalls.iter().sum::<u64>() > 0, "they were in no danger: {stalls:?} {job:?}");
    }
}
