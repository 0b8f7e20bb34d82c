//! Models of a rank that sleeps, and of others that write what it sleeps for.

mod loom_checks {
    use super::super::*;
    use crate::control::groups_of;
    use crate::memory::{Cursor, MappedWord};
    use crate::ring::{Consumer, Producer, RingSlot};
    use loom::thread::{self, JoinHandle};
    use weft_link::sync::{AtomicU64, model};
    use weft_wire::{Header, Tag, TreeId};

    const OWN: Rank = Rank(0);

    /// Memory that a receiver shares with its peers.
    struct Memory {
        control: Control,
        slots: Vec<View<RingSlot>>,
    }

    impl Memory {
        /// Memory as it is made.
        fn of(ranks: usize) -> Self {
            let (groups, cold) = (groups_of(ranks), if all_are_hot(ranks) { 0 } else { u64::MAX });
            let words =
                |count, value| (0..count).map(move |_| MappedWord::new(AtomicU64::new(value)));
            let control = Control {
                bells: (0..2).map(|_| AtomicU32::new(0)).collect(),
                armed: MappedWord::new(AtomicU32::new(0)),
                cold: words(groups, cold).collect(),
                attention: MappedWord::new(AtomicU64::new(0)),
                announcements: words(if groups > 1 { groups } else { 0 }, 0).collect(),
                loss: MappedWord::new(AtomicU64::new(0)),
                losses: [AtomicU64::new(0)].into_iter().collect(),
                wanted: MappedWord::new(AtomicU64::new(0)),
            };
            let slots = (0..ranks).map(|_| [RingSlot::new()].into_iter().collect()).collect();
            Memory { control, slots }
        }

        fn receiver(&self) -> Receiver {
            let cursors = self.slots.iter().map(|slots| Cursor::new(slots.clone()));
            let incoming = cursors.map(Consumer::new).collect();
            let (control, ranks) = (self.control.clone(), self.slots.len());
            let rings = Arc::new(Rings::new(incoming, control.clone()));
            let listener = Listener::new(control.clone(), OWN, ranks, Arc::clone(&rings));
            Receiver { bells: OwnBells::new(control), listener, rings }
        }

        /// Has `rank` send one packet, in a thread of its own.
        fn send(&self, rank: usize) -> JoinHandle<()> {
            let mut ring = Producer::new(Cursor::new(self.slots[rank].clone()));
            let rank = Rank(rank as u16);
            let doorbell = Doorbell::new(&self.control, rank);
            thread::spawn(move || {
                let header = Header::new(Tag::Ucast, rank, TreeId::unicast(rank), 0);
                ring.push(&header, 0, &[]);
                doorbell.press();
            })
        }
    }

    struct Receiver {
        bells: OwnBells,
        listener: Listener,
        rings: Arc<Rings>,
    }

    impl Receiver {
        /// Takes a packet, and sleeps until there is one: the number of its sender. The model fails
        /// if nobody rings.
        fn take(&mut self) -> usize {
            loop {
                if let Some(sender) = self.listener.next() {
                    assert!(self.rings.of(sender).pop().is_some());
                    return sender;
                }
                if let Some(ticket) = self.listener.arm(Waiter::Host, false) {
                    self.bells.wait(Waiter::Host, ticket, Duration::MAX);
                    self.listener.disarm(Waiter::Host);
                }
            }
        }
    }

    #[test]
    fn a_sleeper_is_woken_for_a_packet_in_a_hot_ring() {
        model(|| {
            let memory = Memory::of(2);
            let mut receiver = memory.receiver();
            let sender = memory.send(1);
            assert_eq!(receiver.take(), 1);
            sender.join().unwrap();
        });
    }

    #[test]
    fn a_sleeper_is_woken_for_packets_of_two_senders() {
        model(|| {
            let memory = Memory::of(3);
            let mut receiver = memory.receiver();
            let senders = [1, 2].map(|rank| memory.send(rank));
            assert_eq!(receiver.take() + receiver.take(), 3);
            senders.into_iter().for_each(|sender| sender.join().unwrap());
        });
    }

    #[test]
    fn a_packet_is_found_that_is_sent_while_its_receiver_begins_to_listen() {
        model(|| {
            let memory = Memory::of(HOT + 2);
            let sender = memory.send(5);
            assert_eq!(memory.receiver().take(), 5);
            sender.join().unwrap();
        });
    }

    #[test]
    fn a_packet_in_a_cold_ring_is_announced() {
        model(|| {
            let memory = Memory::of(HOT + 2);
            let mut receiver = memory.receiver();
            assert_eq!(receiver.listener.next(), None);
            let sender = memory.send(5);
            assert_eq!(receiver.take(), 5);
            sender.join().unwrap();
        });
    }

    #[test]
    fn a_packet_of_a_sender_of_another_group_is_announced() {
        model(|| {
            let memory = Memory::of(GROUP + 2);
            let mut receiver = memory.receiver();
            assert_eq!(receiver.listener.next(), None);
            let sender = memory.send(GROUP + 1);
            assert_eq!(receiver.take(), GROUP + 1);
            sender.join().unwrap();
        });
    }

    #[test]
    fn a_packet_is_found_in_a_ring_that_gives_way_to_another() {
        model(|| {
            let memory = Memory::of(HOT + 2);
            let mut receiver = memory.receiver();
            (1..=HOT).for_each(|peer| receiver.listener.promote(peer));
            receiver.listener.arrivals = QUIET_ARRIVALS + 1;
            assert_eq!(receiver.listener.next(), None);
            let victim = receiver.rings.hot().next().unwrap();
            let sender = memory.send(victim);
            receiver.listener.promote(HOT + 1);
            assert!(receiver.rings.hot().all(|hot| hot != victim), "it gave way");
            assert_eq!(receiver.take(), victim);
            sender.join().unwrap();
        });
    }

    #[test]
    fn a_rank_without_frames_is_woken_when_one_is_released() {
        model(|| {
            let memory = Memory::of(2);
            let mut receiver = memory.receiver();
            let released = Arc::new(AtomicU64::new(0));
            let reader = {
                let released = Arc::clone(&released);
                let doorbell = Doorbell::new(&memory.control, Rank(1));
                thread::spawn(move || {
                    released.store(1, Ordering::Release);
                    doorbell.wake_for_frame();
                })
            };
            let ticket = receiver.listener.arm(Waiter::Host, true).unwrap();
            if released.load(Ordering::Acquire) == 0 {
                receiver.bells.wait(Waiter::Host, ticket, Duration::MAX);
                assert_eq!(released.load(Ordering::Acquire), 1);
            }
            reader.join().unwrap();
        });
    }
}
