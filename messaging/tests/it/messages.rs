//! Messages between real ranks, over shared memory and over the packet protocols alone.

use std::io::IoSlice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::{Barrier, Engine, Error, HeaderStack, Mailbox, Message, Port};
use weft_protocol::Preset;
use weft_protocol::tree::Shape;
use weft_threads::{Between, Interrupt, Job};

/// A rank with messages and a barrier.
struct Member {
    barrier: Barrier,
    engine: Arc<Engine>,
}

impl Member {
    fn rank(&self) -> Rank {
        self.engine.packets().rank()
    }

    fn mailbox(&self, name: &str) -> Mailbox {
        Mailbox::new(&self.engine, name).unwrap()
    }

    fn port(&self, name: &str, handler: impl FnMut(Message) + Send + 'static) -> Port {
        Port::new(&self.engine, name, handler).unwrap()
    }
}

/// Runs `program` on every rank of `job`; all of them leave together.
fn run<T: Send>(job: Job, program: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    job.run(
        |packets| {
            let engine = Engine::new(packets);
            let interrupted = Arc::clone(&engine);
            let interrupt = move || {
                let _ = interrupted.progress();
            };
            let barrier = Barrier::new(&engine).unwrap();
            (Member { barrier, engine }, Box::new(interrupt) as Interrupt)
        },
        |member| {
            let result = program(&member);
            member.barrier.leave().unwrap();
            result
        },
    )
}

fn kinds_of_job(ranks: u16) -> Vec<Job> {
    let small = |mut job: Job| {
        job.memory.window_packets = 4;
        job.memory.frames = 8;
        job.memory.frame_bytes = 256;
        job
    };
    let xdp = Job::over_xdp(ranks, Preset::HrxHmc);
    let interrupt_delay = Some(Duration::from_micros(50));
    let mut kinds = vec![
        Job::new(ranks),
        small(Job::new(ranks)),
        small(Job { between: Between::Plain, shape: Shape::Binary, ..Job::new(ranks) }),
        small(Job {
            between: Between::Plain,
            shape: Shape::Binomial,
            preset: Preset::NrxHmc,
            interrupt_delay,
            ..Job::new(ranks)
        }),
        small(Job::over_udp(ranks, Preset::IrxImc)),
        Job { interrupt_delay, ..Job::over_udp(ranks, Preset::HrxHmc) },
    ];
    kinds.extend(xdp.map(|job| Job { interrupt_delay, ..job }));
    kinds
}

fn pattern(seed: usize, size: usize) -> Vec<u8> {
    (0..size).map(|i| (seed * 131 + i * 7 + i / 256) as u8).collect()
}

const SIZES: [usize; 9] = [0, 1, 31, 32, 33, 239, 240, 241, 20_000];

#[test]
fn messages_of_any_size_arrive_whole_and_in_order() {
    for job in kinds_of_job(3) {
        run(job, |member| {
            let me = member.rank();
            let mailbox = member.mailbox("sizes");
            for (seed, size) in SIZES.into_iter().enumerate() {
                for to in (0..3).map(Rank) {
                    mailbox.send(to, &pattern(seed, size)).unwrap();
                }
                mailbox.broadcast(&pattern(100 + seed, size)).unwrap();
            }
            // Per sender: unicast and multicast messages, each in order. A rank sends itself
            // unicast messages only.
            let mut next = [[0usize; 2]; 3];
            for _ in 0..SIZES.len() * 5 {
                let mut message = mailbox.receive().unwrap();
                let bytes = message.read_to_vec().unwrap();
                let next = &mut next[message.source().index()];
                let kind =
                    usize::from(bytes != pattern(next[0], SIZES[next[0].min(8)]) || next[0] > 8);
                let seed = next[kind];
                assert_eq!(bytes, pattern(100 * kind + seed, SIZES[seed]), "to {me:?}, {job:?}");
                next[kind] += 1;
            }
        });
    }
}

#[test]
fn messages_are_received_into_memory_whether_they_have_waited_or_not() {
    for job in kinds_of_job(2) {
        run(job, |member| {
            let (into, marks) = (member.mailbox("into"), member.mailbox("marks"));
            for has_waited in [false, true] {
                let sizes = SIZES.into_iter().enumerate();
                if member.rank() == 0 {
                    sizes.for_each(|(seed, size)| into.send(1, &pattern(seed, size)).unwrap());
                    marks.send(1, "all are there").unwrap();
                    continue;
                }
                if has_waited {
                    marks.receive().unwrap();
                }
                let mut room = vec![0; 20_000];
                for (seed, size) in sizes {
                    assert_eq!(into.receive_into(&mut room).unwrap(), (Rank(0), size), "{job:?}");
                    assert_eq!(room[..size], pattern(seed, size), "{job:?}");
                }
                if !has_waited {
                    marks.receive().unwrap();
                }
            }
        });
    }
}

#[test]
fn a_receive_into_a_buffer_ends_when_its_time_is_over_and_a_later_one_gets_the_message() {
    run(Job::new(2), |member| {
        let (mailbox, mut room) = (member.mailbox("late"), [7; 8]);
        if member.rank() == 1 {
            let none = mailbox.receive_into_within(&mut room, Duration::from_micros(50));
            assert_eq!((none.unwrap(), room), (None, [7; 8]));
        }
        member.barrier.wait().unwrap();
        if member.rank() == 0 {
            mailbox.send(1, b"late").unwrap();
        } else {
            let some = mailbox.receive_into_within(&mut room, Duration::from_secs(60));
            assert_eq!(some.unwrap(), Some((Rank(0), 4)));
            assert_eq!(room, *b"late\x07\x07\x07\x07");
        }
    });
}

#[test]
fn a_message_that_does_not_fit_is_an_error_and_the_next_one_is_not() {
    run(Job::new(2), |member| {
        let (mailbox, mut room) = (member.mailbox("narrow"), [0; 40]);
        for (length, next) in [(41, "short"), (5_000, "after a long one")] {
            if member.rank() == 0 {
                mailbox.send(1, &pattern(1, length)).unwrap();
                mailbox.send_with(1, b"headers", next).unwrap();
                continue;
            }
            let error = mailbox.receive_into(&mut room).unwrap_err();
            let wanted = Error::NoRoom { from: Rank(0), length: length as u64, room: 40 };
            assert_eq!(error, wanted);
            assert_eq!(mailbox.receive_into(&mut room).unwrap(), (Rank(0), next.len()));
            assert_eq!(&room[..next.len()], next.as_bytes());
        }
    });
}

#[test]
fn a_message_is_gathered_from_its_parts() {
    run(Job::new(2), |member| {
        let mailbox = member.mailbox("parts");
        if member.rank() == 0 {
            let long = vec![3; 10_000];
            let parts =
                [IoSlice::new(b"one"), IoSlice::new(b""), IoSlice::new(&long), IoSlice::new(b"!")];
            mailbox.send(1, &parts).unwrap();
            mailbox.send(1, "text").unwrap();
        } else {
            let mut message = mailbox.receive().unwrap();
            assert_eq!((message.len(), message.source(), message.to()), (10_004, Rank(0), Rank(1)));
            let mut start = [0; 3];
            message.read_exact(&mut start).unwrap();
            assert_eq!(&start, b"one");
            message.skip(9_999).unwrap();
            assert_eq!(message.remaining(), 2);
            let too_much = message.read_exact(&mut [0; 3]).unwrap_err();
            assert_eq!(too_much, Error::Short { from: Rank(0), left: 2, wanted: 3 });
            assert_eq!(message.read_to_vec().unwrap(), [3, b'!']);
            assert_eq!(mailbox.receive().unwrap().text().unwrap(), "text");
        }
    });
}

/// The second packet begins in a piece, or with one, or in the middle of the one after it.
#[test]
fn pieces_may_end_where_packets_do() {
    const HEADER: usize = 16;
    for job in kinds_of_job(2) {
        run(job, |member| {
            let room = member.engine.packets().max_payload() - HEADER;
            let mailbox = member.mailbox("pieces");
            for length in room - 70..room + 10 {
                let pieces = [pattern(1, length), pattern(2, 3), pattern(3, 2 * room)];
                if member.rank() == 0 {
                    let slices: Vec<&[u8]> = pieces.iter().map(|piece| &piece[..]).collect();
                    mailbox.send(1, &slices[..]).unwrap();
                } else {
                    let message = mailbox.receive().unwrap().read_to_vec().unwrap();
                    assert_eq!(message, pieces.concat(), "{length}");
                }
            }
        });
    }
}

/// The reader has the first bytes before the sender has sent the last ones.
#[test]
fn a_message_is_read_while_it_arrives() {
    let mut job = Job::new(2);
    job.memory.frames = 4;
    job.memory.frame_bytes = 128;
    let started = AtomicU64::new(0);
    run(job, |member| {
        let mailbox = member.mailbox("stream");
        if member.rank() == 0 {
            // Far more than link memory holds: this ends only if the other side reads meanwhile.
            mailbox.send(1, &pattern(5, 100_000)).unwrap();
        } else {
            let mut message = mailbox.receive().unwrap();
            let first = message.chunk().unwrap()[0];
            assert_eq!(first, pattern(5, 1)[0]);
            started.store(1, Ordering::SeqCst);
            assert_eq!(message.read_to_vec().unwrap(), pattern(5, 100_000));
            assert!(message.chunk().unwrap().is_empty());
        }
    });
    assert_eq!(started.load(Ordering::SeqCst), 1);
}

/// The upcall thread sorts packets into the very messages that the program reads.
#[test]
fn reading_and_sorting_share_a_message() {
    let job = Job { interrupt_delay: Some(Duration::from_nanos(1)), ..Job::new(4) };
    run(job, |member| {
        let mailbox = member.mailbox("shared");
        // Two packets each: the second is the last, and may arrive between any two steps.
        for number in 0..300 {
            mailbox.broadcast(&pattern(number, 12_000)).unwrap();
            for _ in 1..4 {
                let mut message = mailbox.receive().unwrap();
                assert_eq!(message.len(), 12_000);
                message.skip(11_999).unwrap();
                message.read_exact(&mut [0]).unwrap();
            }
        }
    });
}

#[test]
fn messages_can_be_stored_dropped_and_half_read() {
    for job in kinds_of_job(2) {
        run(job, |member| {
            let kept: Arc<Mutex<Vec<Message>>> = Arc::default();
            let store = Arc::clone(&kept);
            let port = member.port("kept", move |mut message| match message.len() % 3 {
                0 => store.lock().unwrap().push(message),
                1 => drop(message),
                _ => message.skip(message.len() / 2).unwrap(),
            });
            if member.rank() == 0 {
                for size in 0..30 {
                    port.send(1, &pattern(size, size * 60)).unwrap();
                    port.send(1, &pattern(size, size * 60 + 1)).unwrap();
                    port.send(1, &pattern(size, size * 60 + 2)).unwrap();
                }
            } else {
                while kept.lock().unwrap().len() < 30 {
                    member.engine.progress().unwrap();
                }
                for (size, mut message) in kept.lock().unwrap().drain(..).enumerate() {
                    assert_eq!(message.read_to_vec().unwrap(), pattern(size, size * 60));
                }
            }
        });
    }
}

/// Two ranks that send much to each other before they read must not stop each other.
#[test]
fn crossing_floods_do_not_deadlock() {
    for job in kinds_of_job(2) {
        let copied_out = AtomicU64::new(0);
        run(job, |member| {
            let mailbox = member.mailbox("flood");
            let other = Rank(1 - member.rank().0);
            for number in 0..200 {
                mailbox.send(other, &pattern(number, 1000)).unwrap();
            }
            for number in 0..200 {
                assert_eq!(
                    mailbox.receive().unwrap().read_to_vec().unwrap(),
                    pattern(number, 1000)
                );
            }
            let own = member.engine.statistics().packets_copied_out;
            copied_out.fetch_add(own, Ordering::Relaxed);
        });
        // One rank may have begun when the other had sent all that it could.
        assert!(copied_out.into_inner() > 0, "neither had to make room for the other");
    }
}

#[test]
fn a_port_runs_one_handler_at_a_time_and_others_go_on() {
    let job = Job { interrupt_delay: Some(Duration::from_micros(50)), ..Job::new(2) };
    run(job, |member| {
        let done = Arc::new(AtomicU64::new(0));
        let (busy, count) = (Arc::new(AtomicU64::new(0)), Arc::clone(&done));
        let slow = member.port("slow", move |mut message| {
            assert_eq!(busy.fetch_add(1, Ordering::SeqCst), 0, "a handler ran inside itself");
            // Reads on while the rest of a long message arrives, and other ports' handlers run.
            assert_eq!(message.read_to_vec().unwrap(), pattern(1, 30_000));
            busy.fetch_sub(1, Ordering::SeqCst);
            count.fetch_add(1, Ordering::SeqCst);
        });
        let count = Arc::clone(&done);
        let quick = member.port("quick", move |message| {
            assert_eq!(message.len(), 1);
            count.fetch_add(1, Ordering::SeqCst);
        });
        let other = Rank(1 - member.rank().0);
        for _ in 0..20 {
            slow.send(other, &pattern(1, 30_000)).unwrap();
            quick.send(other, &[1]).unwrap();
        }
        while done.load(Ordering::SeqCst) < 40 {
            member.engine.progress().unwrap();
        }
    });
}

#[test]
fn handlers_may_send_and_reply() {
    for job in kinds_of_job(3) {
        run(job, |member| {
            let replies = Arc::new(member.mailbox("replies"));
            let reply = Arc::clone(&replies);
            let echo = member.port("echo", move |mut message| {
                let bytes = message.read_to_vec().unwrap();
                reply.send(message.source(), &bytes).unwrap();
            });
            for round in 0..20 {
                for to in (0..3).map(Rank) {
                    echo.send(to, &pattern(round, 700)).unwrap();
                }
                for _ in 0..3 {
                    let mut message = replies.receive().unwrap();
                    assert_eq!(message.read_to_vec().unwrap(), pattern(round, 700));
                }
            }
            member.barrier.wait().unwrap();
        });
    }
}

/// Packets that wait for credits when their sender is done must still get there.
#[test]
fn nothing_is_lost_when_its_sender_is_done_first() {
    for job in kinds_of_job(2) {
        let job = Job { interrupt_delay: None, ..job };
        let gone = AtomicU64::new(0);
        run(job, |member| {
            let mailbox = member.mailbox("parting");
            if member.rank() == 0 {
                for number in 0..100 {
                    mailbox.send(1, &pattern(number, 300)).unwrap();
                }
                member.engine.flush().unwrap();
                gone.store(1, Ordering::SeqCst);
            } else {
                for number in 0..100 {
                    let mut message = mailbox.receive().unwrap();
                    assert_eq!(message.read_to_vec().unwrap(), pattern(number, 300));
                }
                // Everything was here, so everything had left.
                while gone.load(Ordering::SeqCst) == 0 {
                    member.engine.progress().unwrap();
                }
            }
        });
    }
}

#[test]
fn messages_wait_for_a_port_that_is_created_late() {
    run(Job::new(2), |member| {
        if member.rank() == 0 {
            let early = member.mailbox("late");
            early.send(1, "before").unwrap();
            member.barrier.wait().unwrap();
        } else {
            member.barrier.wait().unwrap();
            let late = member.mailbox("late");
            assert_eq!(late.receive().unwrap().text().unwrap(), "before");
        }
    });
}

#[test]
fn headers_are_popped_in_reverse_order() {
    run(Job::new(2), |member| {
        let mailbox = member.mailbox("headers");
        if member.rank() == 0 {
            let mut headers = HeaderStack::new();
            headers.push(b"inner").unwrap();
            headers.push(&7u32.to_le_bytes()).unwrap();
            mailbox.send_with(1, &headers, &pattern(0, 9_000)).unwrap();
            assert!(matches!(headers.push(&[0; 255]), Err(Error::Headers { .. })));
        } else {
            let mut message = mailbox.receive().unwrap();
            assert_eq!(message.len(), 9_000);
            assert_eq!(message.headers().pop::<4>(), Some(7u32.to_le_bytes()));
            assert_eq!(message.headers().pop::<5>(), Some(*b"inner"));
            assert_eq!(message.headers().pop::<1>(), None);
            assert_eq!(message.read_to_vec().unwrap(), pattern(0, 9_000));
        }
    });
}

#[test]
fn a_port_name_is_taken_until_its_port_is_dropped() {
    run(Job::new(1), |member| {
        let port = member.mailbox("name");
        let again = Mailbox::new(&member.engine, "name");
        assert_eq!(again.err(), Some(Error::PortTaken("name".into())));
        drop(port);
        drop(member.mailbox("name"));
    });
}

#[test]
fn nobody_leaves_a_barrier_before_all_have_come() {
    for job in kinds_of_job(5) {
        let arrived = AtomicU64::new(0);
        run(job, |member| {
            for round in 1..=50 {
                arrived.fetch_add(1, Ordering::SeqCst);
                member.barrier.wait().unwrap();
                assert!(arrived.load(Ordering::SeqCst) >= 5 * round, "{job:?}");
            }
        });
    }
}

#[test]
fn text_that_is_none_is_an_error() {
    run(Job::new(1), |member| {
        let mailbox = member.mailbox("text");
        mailbox.send(0, &[0xff, 0xfe]).unwrap();
        let error = mailbox.receive().unwrap().text().unwrap_err();
        assert!(matches!(error, Error::NotText { from: Rank(0), .. }), "{error}");
        assert!(mailbox.try_receive().unwrap().is_none());
    });
}

/// Engines follow one another in programs that measure something again and again. They see to it
/// that no packet is taken for another engine than it was sent to.
#[test]
fn engines_may_follow_each_other_on_the_same_packets() {
    let met = AtomicU64::new(0);
    let meet = |engine: &Arc<Engine>, times| {
        met.fetch_add(1, Ordering::SeqCst);
        while met.load(Ordering::SeqCst) < 2 * times {
            engine.progress().unwrap();
            std::thread::yield_now();
        }
    };
    Job::new(2).packets(|packets| {
        for round in 0..3u64 {
            let engine = Engine::new(packets.clone());
            let port = Mailbox::new(&engine, "port").unwrap();
            meet(&engine, 2 * round + 1);
            port.send(Rank(1 - packets.rank().0), &round.to_le_bytes()).unwrap();
            assert_eq!(port.receive().unwrap().read_to_vec().unwrap(), round.to_le_bytes());
            engine.flush().unwrap();
            meet(&engine, 2 * round + 2);
            while engine.progress().unwrap() {}
            engine.close();
        }
    });
}
