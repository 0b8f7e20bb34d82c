//! Messages whose receivers are asked first: their bytes come when they are read, in their place,
//! once; and whatever either side does, the other does not wait for ever.

use crate::common::{self, Member, run, small};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::{Engine, Error, Mailbox, Port};
use weft_protocol::Preset;
use weft_threads::{Between, Job, Weather, with_loss};

/// Messages of so many bytes are asked for.
const FROM_BYTES: u64 = 1000;

fn asking(member: &Member, name: &str) -> Arc<Mailbox> {
    let mailbox = member.mailbox(name);
    mailbox.rendezvous_from(Some(FROM_BYTES));
    mailbox
}

fn pattern(seed: usize, size: usize) -> Vec<u8> {
    (0..size).map(|i| (seed * 131 + i * 7 + i / 256) as u8).collect()
}

fn requests(member: &Member) -> u64 {
    member.engine.statistics().requests
}

fn jobs(ranks: u16) -> Vec<Job> {
    let interrupt_delay = Some(Duration::from_micros(50));
    let bad = Between::Udp(Weather::bad(11, 0.02));
    vec![
        Job::new(ranks),
        small(ranks),
        common::interrupted(ranks),
        Job { between: Between::Plain, preset: Preset::NrxHmc, ..small(ranks) },
        Job { between: bad, interrupt_delay, ..Job::over_udp(ranks, Preset::IrxImc) },
        Job { between: bad, interrupt_delay, ..Job::over_udp(ranks, Preset::Pupa) },
    ]
}

#[test]
fn a_large_message_comes_when_it_is_read() {
    for job in jobs(2) {
        run(job, |member| {
            let mailbox = asking(member, "large");
            let long = pattern(1, 50_000);
            if member.rank() == 0 {
                mailbox.send_with(1, b"head", &long).unwrap();
                assert_eq!(requests(member), 1);
            } else {
                let mut message = mailbox.receive().unwrap();
                for _ in 0..1000 {
                    member.engine.progress().unwrap();
                }
                assert_eq!((message.len(), message.at_hand()), (50_000, &[][..]));
                assert_eq!(message.headers().pop(), Some(*b"head"));
                let mut start = vec![0; 100];
                message.read_exact(&mut start).unwrap();
                assert_eq!(start, long[..100]);
                assert_eq!(message.read_to_vec().unwrap(), long[100..]);
            }
        });
    }
}

/// The flow of a port stays in order, whoever waits.
#[test]
fn a_message_that_is_asked_for_keeps_its_place() {
    for job in jobs(2) {
        run(job, |member| {
            let mailbox = asking(member, "place");
            if member.rank() == 0 {
                std::thread::scope(|scope| {
                    scope.spawn(|| mailbox.send(1, &pattern(1, 5000)).unwrap());
                    member.until(|| requests(member) == 1);
                    for number in 0..20 {
                        mailbox.send(1, &pattern(number, 10)).unwrap();
                    }
                });
            } else {
                let mut large = mailbox.receive().unwrap();
                assert_eq!(large.len(), 5000);
                // What came after it can be read before it.
                for number in 0..20 {
                    let bytes = mailbox.receive().unwrap().read_to_vec().unwrap();
                    assert_eq!(bytes, pattern(number, 10));
                }
                assert_eq!(large.read_to_vec().unwrap(), pattern(1, 5000));
            }
        });
    }
}

#[test]
fn what_does_not_wait_for_anybody_is_sent_at_once() {
    run(Job::new(2), |member| {
        let mailbox = asking(member, "eager");
        let (other, me) = (member.other(), member.rank() as u16);
        mailbox.send(other, &pattern(1, FROM_BYTES as usize - 1)).unwrap();
        mailbox.send(me, &pattern(2, 2000)).unwrap();
        mailbox.broadcast(&pattern(3, 3000)).unwrap();
        let mut lengths: Vec<usize> =
            (0..3).map(|_| mailbox.receive().unwrap().read_to_vec().unwrap().len()).collect();
        lengths.sort_unstable();
        assert_eq!(lengths, [999, 2000, 3000]);
        member.barrier.wait().unwrap();
        mailbox.rendezvous_from(None);
        mailbox.send(other, &pattern(4, 5000)).unwrap();
        assert_eq!(mailbox.receive().unwrap().read_to_vec().unwrap(), pattern(4, 5000));
        // A handler that is to answer waits for nobody.
        let answers = asking(member, "answers");
        let answer = Arc::clone(&answers);
        let questions = Port::new(&member.engine, "questions", move |message| {
            answer.send(message.source(), &pattern(5, 5000)).unwrap();
        })
        .unwrap();
        questions.send(other, "?").unwrap();
        assert_eq!(answers.receive().unwrap().read_to_vec().unwrap(), pattern(5, 5000));
        assert_eq!(requests(member), 0);
        member.barrier.wait().unwrap();
    });
}

/// Each asks the other, and nobody reads before its own message is sent: also where that is many
/// windows.
#[test]
fn crossing_messages_do_not_wait_for_each_other() {
    for job in jobs(2) {
        run(job, |member| {
            let mailbox = asking(member, "crossing");
            for round in 0..10 {
                let size = [1500, 200_000][round % 2];
                mailbox.send(member.other(), &pattern(round, size)).unwrap();
                let mut message = mailbox.receive().unwrap();
                assert_eq!(message.read_to_vec().unwrap(), pattern(round, size));
            }
            assert_eq!(requests(member), 10);
        });
    }
}

/// Nobody is asked by whom it asks.
#[test]
fn messages_in_a_ring_do_not_wait_for_each_other() {
    for job in jobs(3) {
        run(job, |member| {
            let mailbox = asking(member, "ring");
            let next = Rank((member.rank() as u16 + 1) % 3);
            for round in 0..3 {
                mailbox.send(next, &pattern(round, 5000)).unwrap();
                let mut message = mailbox.receive().unwrap();
                assert_eq!(message.read_to_vec().unwrap(), pattern(round, 5000));
            }
        });
    }
}

/// A handler that waits reads nothing meanwhile: its port is as good as a mailbox.
#[test]
fn handlers_that_send_to_each_other_do_not_wait_for_each_other() {
    for job in jobs(2) {
        run(job, |member| {
            let echoed = Arc::new(AtomicU64::new(0));
            let out = Arc::new(Port::sender(&member.engine, "talk").unwrap());
            out.rendezvous_from(Some(FROM_BYTES));
            let (count, reply) = (Arc::clone(&echoed), Arc::clone(&out));
            let talk = Port::with_async(&member.engine, "talk", move |mut message| {
                let (count, reply) = (Arc::clone(&count), Arc::clone(&reply));
                async move {
                    let bytes = message.bytes().await.unwrap();
                    count.fetch_add(1, Ordering::SeqCst);
                    if let [7, rest @ ..] = &bytes[..] {
                        reply.send_async(message.source(), rest).await.unwrap();
                    }
                }
            })
            .unwrap();
            let question = [&[7][..], &[8; 5000]].concat();
            for _ in 0..3 {
                talk.send(member.other(), &question).unwrap();
            }
            member.until(|| echoed.load(Ordering::SeqCst) == 6);
            member.barrier.wait().unwrap();
        });
    }
}

#[test]
fn what_nobody_wants_is_never_sent() {
    run(Job::new(2), |member| {
        let mailbox = asking(member, "unwanted");
        let sent = || member.engine.statistics().packets.protocol.bytes_sent;
        let (before, long) = (sent(), pattern(1, 500_000));
        if member.rank() == 0 {
            for _ in 0..3 {
                mailbox.send(1, &long).unwrap();
            }
            assert!(sent() - before < 1000, "{} bytes", sent() - before);
            assert_eq!(mailbox.receive().unwrap().text().unwrap(), "on");
        } else {
            drop(mailbox.receive().unwrap());
            // Those that wait at a port go with it.
            member.until(|| member.engine.statistics().messages_received >= 2);
            drop(mailbox);
            let mailbox = asking(member, "unwanted");
            drop(mailbox.receive().unwrap());
            mailbox.send(0, "on").unwrap();
        }
        member.barrier.wait().unwrap();
    });
}

/// Sends to rank 1 and drops the future that does so once `begun`.
fn begin_and_drop(member: &Member, mailbox: &Arc<Mailbox>, bytes: &[u8], begun: impl Fn() -> bool) {
    let sending = mailbox.send_async(1, bytes);
    let mut sending = Box::pin(sending);
    let engine = &member.engine;
    let dropped = engine.block_on(std::future::poll_fn(|context| {
        assert!(sending.as_mut().poll(context).is_pending(), "it was sent");
        context.waker().wake_by_ref();
        if begun() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    }));
    dropped.unwrap();
    drop(sending);
}

/// Nobody has seen it: it was never there. Its window is free again, many times over.
#[test]
fn a_message_that_is_given_up_before_it_is_taken_was_never_there() {
    run(small(2), |member| {
        let (mailbox, go) = (asking(member, "given up"), member.mailbox("go"));
        if member.rank() == 0 {
            for round in 1..=600 {
                begin_and_drop(member, &mailbox, &pattern(1, 5000), || requests(member) == round);
            }
            mailbox.send(1, "end").unwrap();
            go.send(1, "").unwrap();
        } else {
            drop(go.receive().unwrap());
            let mut message = mailbox.try_receive().unwrap().unwrap();
            assert_eq!(message.text().unwrap(), "end");
            assert!(mailbox.try_receive().unwrap().is_none());
        }
        member.barrier.wait().unwrap();
    });
}

/// Also one that was not asked for, and is stuck because the window is full.
#[test]
fn the_reader_of_a_message_that_is_given_up_is_told() {
    for rendezvous in [true, false] {
        run(small(2), |member| {
            let (mailbox, go) = (member.mailbox("told"), member.mailbox("go"));
            mailbox.rendezvous_from(rendezvous.then_some(FROM_BYTES));
            if member.rank() == 0 {
                begin_and_drop(member, &mailbox, &pattern(1, 1_000_000), || {
                    go.try_receive().unwrap().is_some()
                });
                go.send(1, "").unwrap();
                mailbox.send(1, "next").unwrap();
            } else {
                let mut message = mailbox.receive().unwrap();
                go.send(0, "").unwrap();
                drop(go.receive().unwrap());
                let told = message.read_to_vec().unwrap_err();
                let Error::GivenUp { from: Rank(0), length: 1_000_000, sent } = told else {
                    panic!("{told:?}");
                };
                assert_eq!(sent == 0, rendezvous);
                drop(message);
                assert_eq!(mailbox.receive().unwrap().text().unwrap(), "next");
            }
        });
    }
}

#[test]
fn a_port_that_nobody_creates_is_an_error() {
    run(Job::new(2), |member| {
        let go = member.mailbox("go");
        if member.rank() == 0 {
            let error = asking(member, "nowhere").send(1, &[1; 5000]).err();
            assert_eq!(error, Some(Error::NoPort { rank: Rank(1), port: "nowhere".into() }));
            go.send(1, "").unwrap();
        } else {
            drop(go.receive().unwrap());
            // What was given up waits for no port.
            assert_eq!(member.engine.check_unclaimed(), Ok(()));
        }
        member.barrier.wait().unwrap();
    });
}

/// Between request and grant either side may be lost: who waits hears of it.
#[test]
fn a_lost_rank_ends_the_wait_for_its_answer() {
    use weft_link::bell::{Cause, Loss};
    let lost = "rank 0 exited with status 1 before the job was over";
    with_loss(Loss { rank: Rank(0), cause: Cause::Exited(1) }, |packets, lose| {
        let engine = Engine::new(packets);
        let mailbox = Mailbox::new(&engine, "lost").unwrap();
        mailbox.rendezvous_from(Some(1));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(mailbox.send(0, "one").unwrap_err().to_string(), lost);
            });
            scope.spawn(|| {
                let sent = engine.block_on(mailbox.send_async(0, "two"));
                let told = sent.and_then(|sent| sent);
                assert_eq!(told.unwrap_err().to_string(), lost);
            });
            while engine.statistics().requests < 2 {
                std::thread::yield_now();
            }
            lose();
        });
        engine.close();
    });
}
