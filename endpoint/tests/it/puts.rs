//! Puts and gets between real ranks (sender-based-protocols 2).

use std::sync::{Arc, Mutex};
use weft_endpoint::{Block, Error, Landing, NotificationKind, Rank, Refusal, Rights};
use weft_protocol::Preset;
use weft_threads::{Between, FaultPlan, Gate, Job, Weather};

/// Memory, UDP and, where it may be had, AF_XDP; without faults and with them.
fn jobs(ranks: u16) -> Vec<Job> {
    let mut jobs = vec![Job::new(ranks)];
    for preset in [Preset::Pupa, Preset::IrxImc] {
        let fair = Job::over_udp(ranks, preset);
        jobs.extend([fair, Job { between: Between::Udp(Weather::bad(1, 0.01)), ..fair }]);
        let faults = FaultPlan { seed: 2, loss: 0.01, duplication: 0.01 };
        let xdp = Job::over_xdp(ranks, preset);
        jobs.extend(xdp.map(|fair| Job { between: Between::Xdp(faults), ..fair }));
    }
    jobs
}

/// Bytes that differ from place to place.
fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 + at / 251 + seed) as u8).collect()
}

#[test]
fn bytes_are_where_the_sender_put_them_before_the_receiver_hears_of_them() {
    for job in jobs(2) {
        let gate = Gate::default();
        job.packets(|packets| {
            const BYTES: usize = 300_000;
            if packets.rank() == 0 {
                let mut notifications = packets.puts().notifications();
                let buffer = packets
                    .puts()
                    .offer("rows", Rank(1), BYTES, Rights::PUT, &notifications)
                    .unwrap();
                for (round, (offset, length)) in
                    [(0, 8), (17, 1), (5, BYTES - 5), (BYTES, 0), (64, 70_000)]
                        .into_iter()
                        .enumerate()
                {
                    let notification = notifications.wait().unwrap();
                    assert_eq!(notification.from, Rank(1));
                    assert_eq!(notification.connection, buffer.connection());
                    assert_eq!(notification.offset, offset);
                    assert_eq!(
                        notification.kind,
                        NotificationKind::Put { length, word: round as u32 }
                    );
                    let mut bytes = vec![0; length];
                    buffer.read(offset, &mut bytes).unwrap();
                    assert_eq!(bytes, pattern(length, round));
                }
                assert!(buffer.is_open());
                assert_eq!(notifications.wait().unwrap().kind, NotificationKind::Closed);
                assert!(!buffer.is_open());
            } else {
                let mut rows = packets.puts().connect("rows", Rank(0)).unwrap();
                assert_eq!((rows.len(), rows.to(), rows.name()), (BYTES, Rank(0), "rows"));
                for (round, (offset, length)) in
                    [(0, 8), (17, 1), (5, BYTES - 5), (BYTES, 0), (64, 70_000)]
                        .into_iter()
                        .enumerate()
                {
                    let bytes = pattern(length, round);
                    // The first bytes unannounced: the notice of the rest says that they are there.
                    let (first, rest) = bytes.split_at(length / 3);
                    if round % 2 == 1 {
                        rows.put(offset, first).unwrap();
                        rows.put(offset + first.len(), rest).unwrap();
                    }
                    rows.put_notify(offset, &bytes, round as u32).unwrap();
                    rows.flush().unwrap();
                }
            }
            gate.pass(&packets);
        });
    }
}

#[test]
fn gets_see_what_was_put_and_written_before() {
    for job in jobs(2) {
        let gate = Gate::default();
        job.packets(|packets| {
            const BYTES: usize = 200_000;
            if packets.rank() == 0 {
                let mut notifications = packets.puts().notifications();
                let buffer = packets
                    .puts()
                    .offer("both", Rank(1), BYTES, Rights::BOTH, &notifications)
                    .unwrap();
                buffer.write(0, &pattern(BYTES, 1)).unwrap();
                assert_eq!(
                    notifications.wait().unwrap().kind,
                    NotificationKind::Put { length: 0, word: 7 }
                );
                gate.pass(&packets);
                assert_eq!(notifications.wait().unwrap().kind, NotificationKind::Closed);
            } else {
                let mut both = packets.puts().connect("both", Rank(0)).unwrap();
                both.put_notify(0, &[], 7).unwrap();
                gate.pass(&packets);
                let mut expected = pattern(BYTES, 1);
                let mut bytes = vec![0; BYTES];
                both.get(0, &mut bytes).unwrap();
                assert!(bytes == expected);
                for round in 0..20 {
                    let (offset, put) = (round * 9_000, pattern(10_000, round));
                    both.put(offset, &put).unwrap();
                    expected[offset..][..put.len()].copy_from_slice(&put);
                    both.get(0, &mut bytes[..offset + put.len()]).unwrap();
                    assert!(bytes[..offset + put.len()] == expected[..offset + put.len()]);
                }
                let mut one = [0];
                both.get(BYTES - 1, &mut one).unwrap();
                assert_eq!(one[0], expected[BYTES - 1]);
            }
            gate.pass(&packets);
        });
    }
}

#[test]
fn a_sender_hears_why_it_may_not() {
    for job in jobs(2) {
        let gate = Gate::default();
        job.packets(|packets| {
            if packets.rank() == 0 {
                let notifications = packets.puts().notifications();
                let puts = packets
                    .puts()
                    .offer("puts", Rank(1), 100, Rights::PUT, &notifications)
                    .unwrap();
                let gets = packets
                    .puts()
                    .offer("gets", Rank(1), 100, Rights::GET, &notifications)
                    .unwrap();
                packets.poll_until(|| puts.is_open() && gets.is_open()).unwrap();
                gate.pass(&packets);
                drop(puts);
                gate.pass(&packets);
                packets.poll_until(|| !gets.is_open()).unwrap();
                gate.pass(&packets);
                return;
            }
            let mut puts = packets.puts().connect("puts", Rank(0)).unwrap();
            let mut gets = packets.puts().connect("gets", Rank(0)).unwrap();
            let refused =
                |name: &str, why| Err(Error::Refused { name: name.into(), rank: Rank(0), why });
            let outside = |offset, length| {
                Err(Error::Outside { name: "puts".into(), offset, length, bytes: 100 })
            };
            assert_eq!(puts.put(99, &[1, 2]), outside(99, 2));
            assert_eq!(puts.put(usize::MAX, &[1]), outside(usize::MAX, 1));
            assert_eq!(puts.get(0, &mut [0; 4]), refused("puts", Refusal::Rights));
            assert_eq!(gets.put(0, &[1]), refused("gets", Refusal::Rights));
            puts.put(98, &[1, 2]).unwrap();
            puts.flush().unwrap();
            gate.pass(&packets);
            gate.pass(&packets);
            // It has closed. That may still be on its way; the answer to a question comes after it.
            assert_eq!(puts.flush(), refused("puts", Refusal::Closed));
            assert_eq!(puts.put(0, &[1]), refused("puts", Refusal::Closed));
            gets.get(0, &mut [0; 100]).unwrap();
            drop((puts, gets));
            gate.pass(&packets);
        });
    }
}

#[test]
fn a_reader_that_falls_behind_gets_all_notifications_in_order() {
    const MANY: u32 = 20_000;
    for job in [Job::new(2), Job::over_udp(2, Preset::Pupa)] {
        let gate = Gate::default();
        job.packets(|packets| {
            if packets.rank() == 0 {
                let mut notifications = packets.puts().notifications();
                let buffer = packets
                    .puts()
                    .offer("counts", Rank(1), 8, Rights::PUT, &notifications)
                    .unwrap();
                for word in 0..MANY {
                    if word % 5_000 == 0 {
                        // It looks at nothing for as long as anything comes.
                        let mut idle = 0;
                        while idle < 1_000 {
                            idle = if packets.poll().unwrap() { 0 } else { idle + 1 };
                        }
                    }
                    assert_eq!(
                        notifications.wait().unwrap().kind,
                        NotificationKind::Put { length: 8, word }
                    );
                }
                drop(buffer);
            } else {
                let mut counts = packets.puts().connect("counts", Rank(0)).unwrap();
                for word in 0..MANY {
                    counts.put_notify(0, &u64::from(word).to_le_bytes(), word).unwrap();
                }
            }
            gate.pass(&packets);
        });
    }
}

#[test]
fn a_rank_may_be_at_both_ends() {
    Job::new(1).packets(|packets| {
        let mut notifications = packets.puts().notifications();
        let buffer =
            packets.puts().offer("own", Rank(0), 64, Rights::BOTH, &notifications).unwrap();
        let mut own = packets.puts().connect("own", Rank(0)).unwrap();
        for word in 0..5_000u32 {
            own.put_notify(word as usize % 60, &word.to_le_bytes(), word).unwrap();
        }
        let mut bytes = [0; 4];
        own.get(4_999 % 60, &mut bytes).unwrap();
        assert_eq!(u32::from_le_bytes(bytes), 4_999);
        for word in 0..5_000 {
            assert_eq!(
                notifications.wait().unwrap().kind,
                NotificationKind::Put { length: 4, word }
            );
        }
        assert_eq!(
            buffer.read(62, &mut [0; 3]),
            Err(Error::Outside { name: "own".into(), offset: 62, length: 3, bytes: 64 })
        );
    });
}

#[test]
fn buffers_and_connections_that_cannot_be_are_refused() {
    Job::new(1).packets(|packets| {
        let notifications = packets.puts().notifications();
        let offer = |name: &str, to, bytes| {
            packets.puts().offer(name, Rank(to), bytes, Rights::PUT, &notifications).map(|_| ())
        };
        let buffer =
            |name: &str, bytes, what| Err(Error::Buffer { name: name.into(), bytes, what });
        assert_eq!(offer("far", 1, 8), Err(Error::NoSuchRank { rank: Rank(1), ranks: 1 }));
        let long = "n".repeat(129);
        assert_eq!(offer(&long, 0, 8), buffer(&long, 8, "its name is longer than 128 bytes"));
        assert_eq!(
            offer("huge", 0, usize::MAX),
            buffer("huge", usize::MAX, "there is not so much memory")
        );
        let nobody = packets.puts().connect("far", Rank(1)).map(|_| ());
        assert_eq!(nobody, Err(Error::NoSuchRank { rank: Rank(1), ranks: 1 }));
        assert!(packets.puts().try_connect("unheard of", Rank(0)).unwrap().is_none());
    });
}

/// A rank that knows its number puts into a landing, until it is closed; later puts change nothing.
#[test]
fn a_landing_takes_what_comes_until_it_is_closed() {
    for job in jobs(3) {
        let gate = Gate::default();
        let refused = job.packets(|packets| {
            let numbers = Arc::new(Mutex::new(Vec::new()));
            let heard = Arc::clone(&numbers);
            packets.on_packet(move |packet| {
                let word = |at| u32::from_le_bytes(packet[at..at + 4].try_into().unwrap());
                heard.lock().unwrap().push((packet.source(), word(0)));
            });
            let say = |to, number: u32| {
                let mut packet = packets.packet().unwrap();
                packet.put(&number.to_le_bytes()).unwrap();
                packet.unicast(to).unwrap();
            };
            let hear = |count| {
                packets.poll_until(|| numbers.lock().unwrap().len() >= count).unwrap();
                numbers.lock().unwrap().clone()
            };
            let put = |number, mut at: usize, bytes: &[u8]| {
                let end = at + bytes.len();
                while at < end {
                    let rest = &bytes[bytes.len() - (end - at)..];
                    at += packets.packet().unwrap().land(Rank(0), number, at, rest).unwrap();
                }
            };
            if packets.rank() == Rank(0) {
                let landing = || packets.puts().land(Block::zeros(100_000).unwrap()).ok().unwrap();
                let landings = [landing(), landing()];
                let numbers = landings.each_ref().map(Landing::number);
                [1, 2].into_iter().for_each(|to| say(Rank(to), numbers[usize::from(to) - 1]));
                // What a rank put is there when its packet comes.
                hear(2);
                let [first, second] = landings.map(Landing::close);
                assert_eq!((first.received, first.from), (100_000, Some(Rank(1))));
                assert_eq!((second.received, second.from), (100_000, Some(Rank(2))));
                assert_eq!(&second.block[..], pattern(100_000, 2));
                say(Rank(1), 0);
                hear(3);
                assert_eq!(&first.block[..], pattern(100_000, 1), "closed is closed");
                gate.pass(&packets);
                return packets.puts().refused();
            }
            let me = packets.rank();
            let number = hear(1)[0].1;
            put(number, 0, &pattern(100_000, me.index()));
            if me == Rank(2) {
                put(number, 100_000, &[1]);
                put(number, usize::MAX - 1, &[1]);
                put(number + 1, 0, &[1]);
            }
            say(Rank(0), 1);
            if me == Rank(1) {
                hear(2);
                put(number, 0, &[1, 2, 3]);
                say(Rank(0), 2);
            }
            gate.pass(&packets);
            packets.puts().refused()
        });
        assert_eq!(refused, [4, 0, 0], "{job:?}");
    }
}

/// Bytes that ranks of one host put into a heap are written directly.
#[test]
fn a_heap_is_reached_by_who_knows_its_name() {
    let gate = Gate::default();
    let name = Mutex::new(None);
    Job::new(2).packets(|packets| {
        if packets.rank() == Rank(0) {
            let heap = packets.puts().heap(1 << 20).unwrap();
            let mut first = heap.block(1000).unwrap();
            first.fill(9);
            let second = heap.block(1000).unwrap();
            assert_eq!((first.offset_in_heap(), second.offset_in_heap()), (Some(0), Some(1024)));
            assert!(heap.block(1 << 20).is_none());
            *name.lock().unwrap() = Some(heap.name());
            gate.pass(&packets);
            assert_eq!(second[..], pattern(1000, 3));
            assert_eq!(first[..], [9; 1000], "nothing else is touched");
            drop((first, second));
            assert_eq!(heap.block(1 << 20).unwrap()[..], vec![0; 1 << 20]);
        } else {
            packets.poll_until(|| name.lock().unwrap().is_some()).unwrap();
            let name = name.lock().unwrap().unwrap();
            assert!(
                packets.puts().remote_heap(Rank(1), &name).is_none(),
                "another rank's name for it"
            );
            let mut heap = packets.puts().remote_heap(Rank(0), &name).unwrap();
            assert!(!heap.write((1 << 20) - 1, &[1, 1]) && !heap.write(usize::MAX, &[1]));
            assert!(heap.write(1024, &pattern(1000, 3)));
            assert_eq!(heap.lent(1024, 1000).unwrap()[..], pattern(1000, 3));
            let lent = [(1 << 20, 1), (64, usize::MAX), (4, 64)];
            assert!(lent.iter().all(|&(offset, bytes)| heap.lent(offset, bytes).is_none()));
            gate.pass(&packets);
            // It stays mapped for who has borrowed from it.
            let mut lent = heap.lent(0, 1000).unwrap();
            drop(heap);
            assert!(lent.len() == 1000 && lent.take().is_none() && lent.offset_in_heap().is_none());
        }
    });
}
