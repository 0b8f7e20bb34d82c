use super::*;
use crate::memory::{Cursor, View};
use weft_wire::{Rank, Tag, TreeId};

#[cfg(not(loom))]
fn slots(count: usize) -> View<RingSlot> {
    use crate::memory;
    let bytes = count * SLOT_BYTES;
    let file = memory::create("ring", bytes).unwrap();
    View::new(&memory::Mapping::new(&file, 0..bytes, true).unwrap().into(), 0, count)
}

#[cfg(loom)]
fn slots(count: usize) -> View<RingSlot> {
    (0..count).map(|_| RingSlot::new()).collect()
}

fn first(slots: &View<RingSlot>) -> Cursor {
    Cursor::new(slots.clone())
}

/// Header with `number` as its size.
fn header(number: u16) -> Header {
    Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), number)
}

/// Size and words of a popped slot, which `push` wrote for a number.
fn popped((head, slot): ([u64; 2], &RingSlot)) -> (u16, [u64; INLINE_WORDS]) {
    let header = compact::parse(head, Rank(0)).unwrap();
    let kind = compact::payload_kind(head[0]);
    assert_eq!(kind, 3);
    (header.size, slot.payload())
}

fn words(number: u16) -> [u64; INLINE_WORDS] {
    std::array::from_fn(|i| u64::from(number) << 8 | i as u64)
}

#[cfg(not(loom))]
mod model {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// A ring does what a queue does, for any pushes and pops that do not overflow it.
        #[test]
        fn a_ring_is_a_queue(
            size in 0u32..5,
            steps in prop::collection::vec(any::<bool>(), 0..500),
        ) {
            let slots = slots(1 << size);
            let (mut producer, consumer) = (Producer::new(first(&slots)), Consumer::new(first(&slots)));
            let mut queue = VecDeque::new();
            let mut number = 0;
            for push in steps {
                if push && queue.len() < slots.len() {
                    number += 1;
                    producer.push(&header(number), 3, &words(number));
                    queue.push_back((number, words(number)));
                } else {
                    prop_assert_eq!(consumer.has_next(), !queue.is_empty());
                    prop_assert_eq!(consumer.pop().map(popped), queue.pop_front());
                }
            }
        }

        /// Reading ends in a slot or in none, with any bytes in the memory.
        #[test]
        fn any_memory_can_be_read(garbage in prop::collection::vec(any::<u64>(), SLOT_WORDS * 4)) {
            let slots = slots(4);
            for (word, value) in slots.iter().flat_map(|slot| &slot.words).zip(garbage) {
                word.store(value, Ordering::Relaxed);
            }
            let consumer = Consumer::new(first(&slots));
            for _ in 0..16 {
                let expected = consumer.has_next();
                prop_assert_eq!(consumer.pop().is_some(), expected);
            }
        }
    }

    #[test]
    fn flags_wrap_after_all_laps() {
        let slots = slots(2);
        let flag = u32::MAX - 1;
        let mut producer = Producer { cursor: first(&slots), flag };
        let consumer = Consumer { cursor: first(&slots), flag: flag.into() };
        for number in 0..12 {
            assert!(!consumer.has_next(), "a lap was taken for the next");
            producer.push(&header(number), 3, &words(number));
            assert_eq!(consumer.pop().map(popped), Some((number, words(number))));
        }
    }
}

#[cfg(loom)]
mod loom_checks {
    use super::*;
    use loom::thread;
    use weft_link::sync::model;

    #[test]
    fn a_slot_is_seen_whole_or_not_at_all() {
        model(|| {
            let slots = slots(2);
            let mut producer = Producer::new(first(&slots));
            let consumer = Consumer::new(first(&slots));
            let sender = thread::spawn(move || {
                producer.push(&header(1), 3, &words(1));
                producer.push(&header(2), 3, &words(2));
            });
            let mut next = 1;
            for _ in 0..3 {
                if let Some(slot) = consumer.pop() {
                    assert_eq!(popped(slot), (next, words(next)));
                    next += 1;
                }
                thread::yield_now();
            }
            sender.join().unwrap();
            while let Some(slot) = consumer.pop() {
                assert_eq!(popped(slot), (next, words(next)));
                next += 1;
            }
            assert_eq!(next, 3, "a slot was lost");
        });
    }

    /// Credits keep the sender from overtaking the receiver: here one credit, given back through
    /// a ring in the other direction, on a ring that is reused at once.
    #[test]
    fn a_slot_is_reused_after_its_credit_came_back() {
        model(|| {
            let (there, back) = (slots(1), slots(1));
            let (mut send, receive) = (Producer::new(first(&there)), Consumer::new(first(&there)));
            let (mut give, take) = (Producer::new(first(&back)), Consumer::new(first(&back)));
            let sender = thread::spawn(move || {
                send.push(&header(1), 3, &words(1));
                while take.pop().is_none() {
                    thread::yield_now();
                }
                send.push(&header(2), 3, &words(2));
            });
            for number in 1..=2 {
                let slot = loop {
                    match receive.pop() {
                        Some(slot) => break slot,
                        None => thread::yield_now(),
                    }
                };
                assert_eq!(popped(slot), (number, words(number)));
                if number == 1 {
                    give.push(&header(0), 3, &words(0));
                }
            }
            sender.join().unwrap();
        });
    }
}
