//! A member of the job that puts into landings where, when or what it may not: nothing changes, it
//! is told why, and it is counted.

use super::{forged, jobs};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_endpoint::fuzzing::send_placed;
use weft_endpoint::{
    Block, ClosedLanding, HeapName, Landing, LandingRefused, Packets, Rank, Refusal,
};
use weft_threads::Gate;
use weft_wire::place::PlaceKind;

/// Bytes of a landing.
const BYTES: usize = 128;
/// Landings: one that rank 1 was told of, one that is rank 2's, and one that was closed.
const OWN: u32 = 0;
const OTHERS: u32 = 1;
const CLOSED: u32 = 2;

/// A packet that is refused, and what its sender is told: nothing, of some that answer something.
type Attack = (Vec<u8>, Option<(u32, Refusal)>);

fn attacks() -> Vec<Attack> {
    let evil = [0xEE; 64];
    let of = |kind, landing, offset, length, bytes: &[u8], why| {
        (forged(kind, landing, offset, length, bytes), Some((landing, why)))
    };
    let put = |landing, offset, why| of(PlaceKind::Put, landing, offset, 0, &evil, why);
    let malformed = |bytes: Vec<u8>| (bytes, Some((u32::MAX, Refusal::Malformed)));
    vec![
        // At the end, past it, around the end of the address space, and more than there is.
        put(OWN, 65, Refusal::Bounds),
        put(OWN, 128, Refusal::Bounds),
        put(OWN, u64::MAX - 10, Refusal::Bounds),
        of(PlaceKind::Put, OWN, 0, 0, &[0xEE; BYTES + 1], Refusal::Bounds),
        // Another rank's, such as were closed, and such as there never were.
        put(OTHERS, 0, Refusal::NoConnection),
        put(OTHERS, 64, Refusal::NoConnection),
        put(CLOSED, 0, Refusal::Closed),
        put(77, 0, Refusal::NoConnection),
        put(OWN | 1 << 16, 0, Refusal::NoConnection),
        put(u32::MAX, 0, Refusal::NoConnection),
        // What is done to receive buffers, and not to landings.
        of(PlaceKind::PutNotify, OWN, 0, 64, &evil, Refusal::Rights),
        of(PlaceKind::Get, OWN, 0, 64, &[], Refusal::Rights),
        of(PlaceKind::Accept, OWN, 0, 0, &[], Refusal::NoConnection),
        (forged(PlaceKind::Close, OWN, 0, 0, &[]), None),
        // No placed packets at all.
        malformed(vec![]),
        malformed(vec![1; 23]),
        malformed([&[200; 8][..], &evil].concat()),
    ]
}

fn land(packets: &Packets) -> Landing {
    packets.puts().land(Block::zeros(BYTES).unwrap()).ok().unwrap()
}

#[test]
fn a_hostile_sender_changes_no_byte_of_a_landing_and_is_told_why() {
    for job in jobs() {
        let gate = Gate::default();
        job.packets(|packets| match packets.rank().0 {
            0 => victim(&packets, &gate),
            1 => hostile(&packets, &gate),
            _ => honest(&packets, &gate),
        });
    }
}

fn victim(packets: &Packets, gate: &Gate) {
    let heard = Arc::new(AtomicU64::new(0));
    let hears = Arc::clone(&heard);
    packets.on_packet(move |_| {
        hears.fetch_add(1, Ordering::SeqCst);
    });
    let hear = |count| packets.poll_until(|| heard.load(Ordering::SeqCst) >= count).unwrap();
    let [own, others, closed] = [(); 3].map(|()| land(packets));
    // What the attacks are written for.
    assert_eq!([own.number(), others.number(), closed.number()], [OWN, OTHERS, CLOSED]);
    drop(closed);
    gate.pass(packets);
    // What rank 2 has put is there.
    hear(1);
    gate.pass(packets);
    let refused = attacks().len() as u64;
    packets.poll_until(|| packets.puts().refused() >= refused).unwrap();
    gate.pass(packets);
    assert_eq!(packets.puts().refused(), refused);
    hear(3);
    let ClosedLanding { block, received, from } = own.close();
    // It has put the same twice, and the rank that closes the landing sees that.
    assert_eq!((received, from), (128, Some(Rank(1))));
    assert_eq!(block[..], [[7; 64], [0; 64]].concat());
    let ClosedLanding { block, received, from } = others.close();
    assert_eq!((received, from), (128, Some(Rank(2))));
    assert_eq!(block[..], [2; 128]);
    // These have the places of those, under other numbers.
    let [first, second] = [(); 2].map(|()| land(packets));
    gate.pass(packets);
    packets.poll_until(|| packets.puts().refused() >= refused + 3).unwrap();
    gate.pass(packets);
    for landing in [first, second] {
        let ClosedLanding { block, received, from } = landing.close();
        assert_eq!((&block[..], received, from), (&[0; BYTES][..], 0, None));
    }
    assert_eq!(packets.puts().refused(), refused + 3);
    assert_eq!(packets.puts().landing_refused(), None, "it has put nothing anywhere");
}

/// Sends what is refused, and waits until it is told so.
fn attack(packets: &Packets, (bytes, told): Attack) {
    send_placed(packets, Rank(0), &bytes).unwrap();
    let Some((number, why)) = told else { return };
    let mut refused = None;
    packets
        .poll_until(|| {
            refused = packets.puts().landing_refused();
            refused.is_some()
        })
        .unwrap();
    assert_eq!(refused, Some(LandingRefused { rank: Rank(0), number, why }), "{bytes:?}");
}

fn hostile(packets: &Packets, gate: &Gate) {
    gate.pass(packets);
    gate.pass(packets);
    attacks().into_iter().for_each(|what| attack(packets, what));
    gate.pass(packets);
    for _ in 0..2 {
        packets.packet().unwrap().land(Rank(0), OWN, 0, &[7; 64]).unwrap();
    }
    packets.packet().unwrap().unicast(Rank(0)).unwrap();
    gate.pass(packets);
    for landing in [OWN, OTHERS, CLOSED] {
        let late = forged(PlaceKind::Put, landing, 0, 0, &[0xEE; 64]);
        attack(packets, (late, Some((landing, Refusal::Closed))));
    }
    gate.pass(packets);
}

fn honest(packets: &Packets, gate: &Gate) {
    let put_half = |offset| {
        packets.packet().unwrap().land(Rank(0), OTHERS, offset, &[2; 64]).unwrap();
        packets.packet().unwrap().unicast(Rank(0)).unwrap();
    };
    gate.pass(packets);
    put_half(0);
    gate.pass(packets);
    gate.pass(packets);
    put_half(64);
    gate.pass(packets);
    gate.pass(packets);
}

/// A heap is reached by what its rank says that it is called, on its host, and where it is.
#[test]
fn nobody_reaches_a_heap_by_another_name() {
    for job in jobs() {
        let gate = Gate::default();
        let name = std::sync::OnceLock::new();
        job.packets(|packets| {
            if packets.rank() == 0 {
                let heap = packets.puts().heap(1 << 16);
                let blocks = heap.as_ref().map(|heap| [(); 2].map(|()| heap.block(1000).unwrap()));
                name.set(heap.as_ref().map(|heap| heap.name())).unwrap();
                gate.pass(&packets);
                gate.pass(&packets);
                let untouched = |block: &Block| block[..] == [0; 1000];
                assert!(blocks.is_none_or(|blocks| blocks.iter().all(untouched)));
                return;
            }
            gate.pass(&packets);
            let guess = HeapName { bytes: 1 << 16, name: *b"/proc/self/mem  " };
            assert!(packets.puts().remote_heap(Rank(0), &guess).is_none());
            if let Some(name) = *name.get().unwrap() {
                assert!(packets.puts().remote_heap(Rank(1), &name).is_none(), "it is not rank 1's");
                for bytes in [(1 << 16) + 1, 1 << 40, u64::MAX] {
                    let larger = HeapName { bytes, ..name };
                    assert!(
                        packets.puts().remote_heap(Rank(0), &larger).is_none(),
                        "{bytes} bytes"
                    );
                }
                let mut heap = packets.puts().remote_heap(Rank(0), &name).unwrap();
                for (offset, bytes) in [(1 << 16, 1), ((1 << 16) - 7, 8), (usize::MAX, 2)] {
                    assert!(!heap.write(offset, &vec![0xEE; bytes]), "{bytes} at {offset}");
                }
            }
            gate.pass(&packets);
        });
    }
}
