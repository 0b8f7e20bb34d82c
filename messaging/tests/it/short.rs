//! Short messages, which are copied where they are sorted.

use crate::common::{self, run, run_alone};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use weft_messaging::{Engine, Message, Port};
use weft_threads::Job;

/// Lengths on both sides of what is short.
const LENGTHS: std::ops::Range<usize> = 0..50;

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

/// A handler that keeps what it gets, unread, has not made room: its port's window stays full.
#[test]
fn messages_that_a_handler_keeps_stay_in_the_window() {
    const MESSAGES: usize = 300;
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
        assert_eq!(count.load(Ordering::Relaxed).max(256), 256, "a window of packets");
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

/// What nobody has taken holds its engine no longer than its owner wants.
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
