//! Receives that take messages of one sender, or with one key.

use crate::common::*;
use std::sync::Mutex;
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::{Message, Selection};
use weft_threads::Job;

fn text(message: &mut Message) -> String {
    String::from_utf8(message.read_to_vec().unwrap()).unwrap()
}

#[test]
fn a_receive_takes_the_first_message_of_one_sender_and_leaves_the_others() {
    run(Job::new(3), |member| {
        let mailbox = member.mailbox("selective");
        let rank = member.rank();
        if rank != 0 {
            (0..3).for_each(|i| mailbox.send(0, &format!("{rank}.{i}")).unwrap());
        } else {
            let from = |rank: u16| Selection::from(Rank(rank));
            for expected in ["2.0", "2.1"] {
                let mut message = mailbox.receive_selected(from(2)).unwrap();
                assert_eq!((message.key(), text(&mut message)), (None, expected.to_owned()));
            }
            for expected in ["1.0", "1.1"] {
                assert_eq!(text(&mut mailbox.receive_selected(from(1)).unwrap()), expected);
            }
            let mut rest = [(); 2].map(|()| text(&mut mailbox.receive().unwrap()));
            rest.sort();
            assert_eq!(rest, ["1.2", "2.2"]);
            assert!(mailbox.try_receive_selected(from(1)).unwrap().is_none());
            let nothing = mailbox.receive_selected_within(from(2), Duration::from_millis(1));
            assert!(nothing.unwrap().is_none());
            let nobody = mailbox.receive_selected(from(3)).map(drop);
            assert_eq!(nobody.unwrap_err().to_string(), "there is no rank 3 in a job of 3");
        }
        member.barrier.wait().unwrap();
    });
}

#[test]
fn keys_choose_among_the_messages_of_all_senders() {
    let long = |key: u64| format!("{key}").repeat(9_000);
    run(Job::new(3), |member| {
        let mailbox = member.mailbox("keys");
        let rank = member.rank();
        if rank != 0 {
            mailbox.send(0, "without").unwrap();
            for key in [u64::MAX, 5, 0] {
                mailbox.send_keyed(0, key, &format!("{rank}")).unwrap();
            }
            mailbox.send_keyed(0, 7, &long(7)).unwrap();
            mailbox.send_with(0, b"nine long", "no key").unwrap();
        } else {
            for (key, sender) in [(0, 2), (0, 1), (u64::MAX, 1)] {
                let selection = Selection { source: Some(Rank(sender)), key: Some(key) };
                let mut message = mailbox.receive_selected(selection).unwrap();
                assert_eq!((message.source(), message.key()), (Rank(sender), Some(key)));
                assert_eq!(text(&mut message), sender.to_string());
            }
            for _ in 0..2 {
                let mut message = mailbox.receive_selected(Selection::with_key(7)).unwrap();
                assert_eq!((message.len(), text(&mut message)), (9_000, long(7)));
            }
            // Messages with a key, and those without, are there for a receive that wants neither.
            let any = |_| mailbox.receive_selected(Selection::default()).unwrap().key();
            let rest: Vec<_> = (0..7).map(any).collect();
            let of = |key: Option<u64>| rest.iter().filter(|it| **it == key).count();
            assert_eq!((of(None), of(Some(5)), of(Some(u64::MAX))), (4, 2, 1));
            assert!(mailbox.try_receive().unwrap().is_none());
        }
        member.barrier.wait().unwrap();
    });
}

/// Threads wait at one mailbox for one sender each, and one for whatever is left.
#[test]
fn threads_wait_for_their_senders_side_by_side() {
    const EACH: usize = 50;
    run(Job::new(3), |member| {
        let mailbox = member.mailbox("threads");
        let rank = member.rank();
        member.engine.share();
        if rank != 0 {
            for i in 0..EACH {
                mailbox.send_keyed(0, (i % 2) as u64, &format!("{i}")).unwrap();
            }
        } else {
            let odd = Mutex::new(0);
            std::thread::scope(|scope| {
                for source in [Rank(1), Rank(2)] {
                    let (mailbox, odd) = (&mailbox, &odd);
                    scope.spawn(move || {
                        for i in (0..EACH).step_by(2) {
                            let even = Selection { source: Some(source), key: Some(0) };
                            let mut message = mailbox.receive_selected(even).unwrap();
                            assert_eq!(text(&mut message), i.to_string());
                        }
                        for _ in (1..EACH).step_by(2) {
                            let selection = Selection::with_key(1);
                            drop(mailbox.receive_selected(selection).unwrap());
                            *odd.lock().unwrap() += 1;
                        }
                    });
                }
            });
            assert_eq!(*odd.lock().unwrap(), EACH);
        }
        member.barrier.wait().unwrap();
    });
}
