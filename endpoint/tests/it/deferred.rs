//! Frames that a system sends by itself: in order, by one thread at a time, once there are packets.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use weft_endpoint::{DeferredSends, Error, Packets, Progress, Protocol, Rank, Result};
use weft_threads::{Gate, Job};

type Sent = Mutex<Vec<u32>>;

/// A queue of the only rank of a job.
fn with_queue(test: impl Fn(&Packets, &Arc<DeferredSends<u32>>) + Sync) {
    Job::new(1).packets(|packets| test(&packets, &Arc::new(packets.system().deferred())));
}

/// Function that sends frames, until as many have left as there are packets.
fn within(packets: usize, sent: &Sent) -> impl FnMut(&mut u32) -> Result<bool> {
    move |frame| {
        let mut sent = sent.lock().unwrap();
        let has_room = sent.len() < packets;
        if has_room {
            sent.push(*frame);
        }
        Ok(has_room)
    }
}

fn sent(sent: &Sent) -> Vec<u32> {
    sent.lock().unwrap().clone()
}

#[test]
fn frames_leave_in_order_as_far_as_there_are_packets() {
    with_queue(|_, queue| {
        let log = Sent::default();
        let mut batch = queue.batch();
        [1, 2, 3, 4].into_iter().for_each(|frame| batch.add(frame));
        assert!(!queue.is_empty());
        queue.push(5);
        assert_eq!(queue.flush(within(9, &log)), Ok(()), "another has the turn");
        assert!(sent(&log).is_empty());
        assert_eq!(batch.send(within(2, &log)), Ok(()));
        let mut batch = queue.batch();
        batch.add(6);
        assert_eq!(batch.send(within(3, &log)), Ok(()), "others are before it");
        assert_eq!(sent(&log), [1, 2, 3]);
        assert!(!queue.is_empty());
        assert_eq!(queue.flush(within(6, &log)), Ok(()));
        assert_eq!(sent(&log), [1, 2, 3, 4, 5, 6]);
        assert!(queue.is_empty());
    });
}

#[test]
fn what_waits_leaves_with_a_poll_of_another_system() {
    with_queue(|packets, queue| {
        let (log, looks) = (Arc::new(Sent::default()), Arc::new(AtomicUsize::new(0)));
        let (owing, later, counted) = (Arc::clone(queue), Arc::clone(&log), Arc::clone(&looks));
        let progress: Arc<Progress> = Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            owing.pay(within(2, &later))
        });
        packets.system().progress_by(&progress);
        let other = packets.of(Protocol::FIRST_OF_USERS);
        queue.push(1);
        queue.push(2);
        assert_eq!(queue.flush(within(1, &log)), Ok(()));
        assert_eq!(sent(&log), [1]);
        other.poll().unwrap();
        assert_eq!(sent(&log), [1, 2]);
        other.poll().unwrap();
        assert_eq!(looks.load(Ordering::Relaxed), 1, "nothing is owed any more");
    });
}

/// The queue says nothing of what else its system owes, where nothing has waited.
#[test]
fn a_system_may_owe_something_besides() {
    with_queue(|packets, queue| {
        let looks = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&looks);
        let progress: Arc<Progress> = Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(false)
        });
        packets.system().progress_by(&progress);
        packets.system().note_owing(true);
        queue.push(1);
        assert_eq!(queue.flush(within(1, &Sent::default())), Ok(()));
        packets.of(Protocol::FIRST_OF_USERS).poll().unwrap();
        assert_eq!(looks.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn of_frames_alike_so_many_wait() {
    with_queue(|_, queue| {
        let is_even = |frame: &u32| frame.is_multiple_of(2);
        assert!(queue.push_within(2, is_even, 2) && queue.push_within(2, is_even, 4));
        queue.push(5);
        assert!(!queue.push_within(2, is_even, 6));
        let log = Sent::default();
        assert_eq!(queue.flush(within(1, &log)), Ok(()));
        assert!(queue.push_within(2, is_even, 8));
        assert_eq!(queue.flush(within(9, &log)), Ok(()));
        assert_eq!(sent(&log), [2, 4, 5, 8]);
    });
}

/// While a frame is sent, an upcall may have some more.
#[test]
fn what_is_pushed_while_a_frame_is_sent_leaves_after_it() {
    with_queue(|_, queue| {
        let log = Sent::default();
        let mut batch = queue.batch();
        batch.add(1);
        let all = batch.send(|frame| {
            if *frame == 1 {
                queue.push(2);
                assert_eq!(queue.flush(within(9, &log)), Ok(()));
                assert!(sent(&log).is_empty(), "the turn is another's");
            }
            within(9, &log)(frame)
        });
        assert_eq!(all, Ok(()));
        assert_eq!(sent(&log), [1, 2]);
    });
}

#[test]
fn a_program_that_holds_all_packets_is_told_and_loses_nothing() {
    let mut job = Job::new(2);
    job.memory.frames = 8;
    let gate = Gate::default();
    job.packets(|packets| {
        let log = Arc::new(Sent::default());
        let arrived = Arc::clone(&log);
        packets.on_packet(move |packet| arrived.lock().unwrap().push(u32::from(packet[0])));
        gate.pass(&packets);
        if packets.rank() == 0 {
            let queue = packets.system().deferred();
            let send = |frame: &mut u8| {
                let Some(mut packet) = packets.try_packet_to(Rank(1))? else { return Ok(false) };
                packet.put(&[*frame])?;
                packet.unicast(Rank(1))?;
                Ok(true)
            };
            let held: Vec<_> = (0..8).map(|_| packets.packet().unwrap()).collect();
            let mut batch = queue.batch();
            [7, 8].into_iter().for_each(|frame| batch.add(frame));
            assert_eq!(batch.send(send), Err(Error::PoolExhausted { frames: 8 }));
            assert_eq!(queue.pay(send), Ok(false), "others need not hear of it");
            drop(held);
            let what = || weft_endpoint::Awaited::of_unknown("frames to leave");
            let left = packets.presence().wait_to_find(&what, None, || {
                queue.flush(send)?;
                Ok(queue.is_empty().then_some(()))
            });
            assert_eq!(left, Ok(Some(())));
        } else {
            packets.poll_until(|| sent(&log).len() == 2).unwrap();
            assert_eq!(sent(&log), [7, 8]);
        }
        gate.pass(&packets);
    });
}

#[test]
fn a_wait_ends_at_its_deadline() {
    Job::new(1).packets(|packets| {
        let what = || weft_endpoint::Awaited::of_unknown("nothing");
        let found = packets.presence().wait_to_find(&what, Some(packets.now()), || Ok(None::<()>));
        assert_eq!(found, Ok(None));
    });
}

#[test]
fn a_frame_that_cannot_leave_is_gone_and_those_behind_it_wait() {
    with_queue(|_, queue| {
        let log = Sent::default();
        [1, 2].into_iter().for_each(|frame| queue.push(frame));
        assert_eq!(queue.flush(|_| Err(Error::NotAMember)), Err(Error::NotAMember));
        assert_eq!(queue.pay(|_| Ok(false)), Ok(false));
        assert_eq!(queue.flush(within(9, &log)), Ok(()));
        assert_eq!(sent(&log), [2]);
        queue.push(3);
        assert_eq!(queue.pay(|_| Err(Error::NotAMember)), Err(Error::NotAMember));
        assert!(queue.is_empty());
    });
}

#[test]
fn threads_that_send_at_once_lose_nothing_and_keep_their_order() {
    const EACH: u32 = 200;
    with_queue(|_, queue| {
        let log = Sent::default();
        queue.share();
        thread::scope(|scope| {
            for of_thread in 0..4 {
                let log = &log;
                scope.spawn(move || {
                    for number in 0..EACH {
                        queue.push(of_thread * EACH + number);
                        queue.flush(within(usize::MAX, log)).unwrap();
                    }
                });
            }
        });
        assert!(queue.is_empty());
        let sent = sent(&log);
        assert_eq!(sent.len(), 4 * EACH as usize);
        for of_thread in 0..4 {
            let its: Vec<u32> = sent.iter().copied().filter(|it| it / EACH == of_thread).collect();
            assert!(its.is_sorted(), "{its:?}");
        }
    });
}
