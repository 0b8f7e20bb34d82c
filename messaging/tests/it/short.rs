//! Short messages, which are copied where they are sorted.

use crate::common::{self, run, run_alone};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use weft_messaging::{Engine, Message, Port};
use weft_protocol::Preset;
use weft_threads::Job;

/// Lengths on both sides of what is short.
const LENGTHS: std::ops::Range<usize> = 0..120;

#[test]
fn all_lengths_arrive_as_they_were_sent() {
    run(Job::new(2), |member| {
        let mailbox = member.mailbox("lengths");
        member.barrier.wait().unwrap();
        let content =
            |length: usize| (0..length).map(|at| (3 * at + length) as u8).collect::<Vec<_>>();
        for length in LENGTHS {
            for headers in 0..10 {
                mailbox.send_with(member.other(), &content(headers), &content(length)).unwrap();
            }
        }
        for length in LENGTHS {
            for headers in 0..10 {
                let mut message = mailbox.receive().unwrap();
                assert_eq!((message.source(), message.len()), (member.other(), length));
                assert_eq!(message.headers().as_bytes(), content(headers));
                assert_eq!(message.read_to_vec().unwrap(), content(length));
                let left = if length == 0 { headers } else { 0 };
                assert_eq!(message.headers().as_bytes().len(), left, "they go with their packet");
            }
        }
    });
}

/// A receiver that does not look gives no credit back. Its sender has frames for what it sends, and
/// does not sleep for a credit before each of them.
#[test]
fn a_sender_without_credits_does_not_sleep_while_it_has_frames() {
    // More ranks than cores, which sleep soon.
    let job = common::small(3);
    let messages = u64::from(job.memory.window_packets) + u64::from(job.memory.frames) / 2;
    let is_sent = AtomicBool::new(false);
    run(job, |member| {
        let mailbox = member.mailbox("waits");
        member.barrier.wait().unwrap();
        let sleeps = || member.engine.statistics().packets.sleeps;
        if member.rank() == 2 {
            return;
        }
        if member.rank() == 1 {
            let before = sleeps();
            (0..messages).for_each(|n| mailbox.send(0, &n.to_le_bytes()).unwrap());
            assert_eq!(sleeps(), before);
            return is_sent.store(true, Ordering::Release);
        }
        while !is_sent.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        let mut bytes = [0; 8];
        for n in 0..messages {
            mailbox.receive_into(&mut bytes).unwrap();
            assert_eq!(u64::from_le_bytes(bytes), n);
        }
    });
}

/// A packet of credits brings no message, and is what a sender without credits looks for all the
/// same. Here it has no frame that it could use instead.
#[test]
fn a_credit_that_comes_back_is_taken_for_the_next_short_message() {
    let job = common::small(2);
    let frames = job.memory.frames;
    let (sent, is_read) = (AtomicUsize::new(0), AtomicBool::new(false));
    run(job, |member| {
        let mailbox = member.mailbox("credits");
        member.barrier.wait().unwrap();
        if member.rank() == 1 {
            while sent.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            let receive = || common::number(&mut mailbox.receive().unwrap());
            (0..sent.load(Ordering::Acquire)).for_each(|n| assert_eq!(receive(), n as u64));
            is_read.store(true, Ordering::Release);
            return assert_eq!(receive(), u64::MAX);
        }
        let packets = member.engine.packets();
        let _frames: Vec<_> = (0..frames).map(|_| packets.packet().unwrap()).collect();
        let mut messages = 0;
        while !packets.awaits_credit(member.other()) {
            mailbox.send(1, &(messages as u64).to_le_bytes()).unwrap();
            messages += 1;
        }
        sent.store(messages, Ordering::Release);
        while !is_read.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        mailbox.send(1, &u64::MAX.to_le_bytes()).unwrap();
    });
}

/// To another host no message is short, and so there is no credit that one could wait for: whoever
/// sends there takes no packets before its message leaves.
#[test]
fn a_message_to_another_host_waits_for_no_credit() {
    let Some(job) = Job::on_hosts(4, 2, Preset::RETRANSMITTING[0]) else { return };
    let is_sent = AtomicBool::new(false);
    run(job, |member| {
        let mailbox = member.mailbox("hosts");
        member.barrier.wait().unwrap();
        match member.rank() {
            0 => {
                while !is_sent.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                let processed = || member.engine.statistics().packets.packets_processed;
                let before = processed();
                mailbox.send(2, b"8 bytes.").unwrap();
                assert_eq!(processed(), before, "what its neighbour sent is still to be taken");
                assert_eq!(mailbox.receive().unwrap().source(), 1);
            }
            1 => {
                mailbox.send(0, b"a packet to take").unwrap();
                is_sent.store(true, Ordering::Release);
            }
            2 => assert_eq!(mailbox.receive().unwrap().read_to_vec().unwrap(), b"8 bytes."),
            _ => {}
        }
    });
}

/// A handler that keeps what it gets, unread, has not made room: its port's window stays full.
#[test]
fn messages_that_a_handler_keeps_stay_in_the_window() {
    const MESSAGES: usize = 600;
    let sender = OnceLock::<Arc<Engine>>::new();
    let kept = Mutex::new(Vec::<Message>::new());
    let (kept, sender) = (Arc::new(kept), &sender);
    run(Job::new(2), |member| {
        if member.rank() == 1 {
            let _ = sender.set(Arc::clone(&member.engine));
            let port = Port::sender(&member.engine, "keeps").unwrap();
            member.barrier.wait().unwrap();
            (0..MESSAGES as u64).for_each(|n| port.send(0, &n.to_le_bytes()).unwrap());
            return member.barrier.wait().unwrap();
        }
        let count = Arc::new(AtomicUsize::new(0));
        let (keeping, counting) = (Arc::clone(&kept), Arc::clone(&count));
        let keep = move |message| {
            keeping.lock().unwrap().push(message);
            counting.fetch_add(1, Ordering::Relaxed);
        };
        let _port = Port::new(&member.engine, "keeps", keep).unwrap();
        member.barrier.wait().unwrap();
        let stalls = || sender.get().unwrap().statistics().stalls;
        member.until(|| stalls() > 0 || count.load(Ordering::Relaxed) == MESSAGES);
        assert_eq!(count.load(Ordering::Relaxed).max(512), 512, "a window of packets");
        let mut next = 0;
        let mut read = || {
            for mut message in std::mem::take(&mut *kept.lock().unwrap()) {
                assert_eq!(common::number(&mut message), next);
                next += 1;
            }
            next == MESSAGES as u64
        };
        member.until(&mut read);
        member.barrier.wait().unwrap();
    });
}

/// Messages that nobody has taken hold their engine no longer than its owner wants.
#[test]
fn a_closed_engine_is_not_held_by_what_waits_in_it() {
    let engines = run_alone(Job::new(2), |member| {
        let mailbox = member.mailbox("read");
        member.barrier.wait().unwrap();
        let nobody = Port::sender(&member.engine, "nobody's").unwrap();
        // The box of the first is used again for the second, which stays.
        mailbox.send(member.other(), "first").unwrap();
        drop(mailbox.receive().unwrap());
        nobody.send(member.other(), "second").unwrap();
        member.until(|| member.engine.check_unclaimed().is_err());
        member.barrier.leave().unwrap();
        member.engine.close();
        Arc::downgrade(&member.engine)
    });
    assert!(engines.iter().all(|engine| engine.upgrade().is_none()));
}

/// A message that is handed to who asks is not before those that wait, however they have come
/// there.
#[test]
fn who_asks_gets_messages_in_their_order() {
    const MESSAGES: u64 = 3000;
    for job in [Job::new(2), common::interrupted(2)] {
        run(job, |member| {
            let mailbox = member.mailbox("in order");
            member.barrier.wait().unwrap();
            if member.rank() == 1 {
                for number in 0..MESSAGES {
                    // Some are not short, and some of those take several packets.
                    let padding = [0, 0, 0, 200, 0, 0, 70_000][number as usize % 7];
                    let parts = [&number.to_le_bytes()[..], &vec![1; padding]];
                    mailbox.send(member.other(), &parts[..]).unwrap();
                }
                return;
            }
            for number in 0..MESSAGES {
                if number % 5 == 0 {
                    // Nobody asks now: what comes is queued.
                    member.engine.progress().unwrap();
                }
                let mut message = match number % 3 {
                    0 => mailbox.try_receive().unwrap(),
                    1 => mailbox.receive_within(Duration::ZERO).unwrap(),
                    _ => None,
                }
                .unwrap_or_else(|| mailbox.receive().unwrap());
                let mut bytes = [0; 8];
                message.read_exact(&mut bytes).unwrap();
                assert_eq!(u64::from_le_bytes(bytes), number);
            }
        });
    }
}

/// Several that ask get each message once, each of them in order.
#[test]
fn several_may_ask_at_one_mailbox() {
    const MESSAGES: u64 = 2000;
    run(Job::new(2), |member| {
        let mailbox = member.mailbox("for several");
        member.barrier.wait().unwrap();
        if member.rank() == 1 {
            return (0..MESSAGES).for_each(|n| mailbox.send(0, &n.to_le_bytes()).unwrap());
        }
        let left = AtomicUsize::new(MESSAGES as usize);
        let take = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        let receive = || {
            let mut got = Vec::new();
            while take().is_ok() {
                got.push(common::number(&mut mailbox.receive().unwrap()));
            }
            assert!(got.is_sorted());
            got
        };
        let mut all = std::thread::scope(|scope| {
            let others = [scope.spawn(receive), scope.spawn(receive)];
            let own = receive();
            let others = others.map(|other| other.join().unwrap());
            [&own[..], &others[0], &others[1]].concat()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..MESSAGES));
    });
}
