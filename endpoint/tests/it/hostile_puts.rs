//! A member of the job that puts where it may not (sender-based-protocols 2): nothing changes, and
//! it is told.

mod landings;

use weft_endpoint::fuzzing::send_placed;
use weft_endpoint::{Error, Packets, Rank, ReceiveBuffer, Refusal, Rights};
use weft_protocol::Preset;
use weft_threads::{Gate, Job};
use weft_wire::place::{PlaceHeader, PlaceKind};

/// Shared memory, UDP and, where it may be had, AF_XDP.
fn jobs() -> impl Iterator<Item = Job> {
    let xdp = Job::over_xdp(3, Preset::Pupa);
    [Job::new(3), Job::over_udp(3, Preset::Pupa)].into_iter().chain(xdp)
}

/// The bytes of a placed packet that says `connection`, or the landing of that number.
fn forged(kind: PlaceKind, connection: u32, offset: u64, length: u32, bytes: &[u8]) -> Vec<u8> {
    let header = PlaceHeader { kind, connection, offset, length, word: 0 };
    [&header.emit()[..], bytes].concat()
}

/// Packets of a hostile rank: each is refused.
fn attacks(own: u32, others: u32) -> Vec<Vec<u8>> {
    let evil = [0xEE; 64];
    let of_no_kind = |kind: u8| [&[kind], &forged(PlaceKind::Put, own, 0, 0, &evil)[1..]].concat();
    vec![
        // Past the end, at the end, around the end of the address space.
        forged(PlaceKind::Put, own, 128, 0, &evil),
        forged(PlaceKind::Put, own, 65, 0, &evil),
        forged(PlaceKind::Put, own, u64::MAX - 10, 0, &evil),
        forged(PlaceKind::PutNotify, own, 64, 200, &evil),
        forged(PlaceKind::PutNotify, own, 0, 1, &evil),
        // Another rank's buffer, and such as no rank has.
        forged(PlaceKind::Put, others, 0, 0, &evil),
        forged(PlaceKind::PutNotify, others, 0, 64, &evil),
        forged(PlaceKind::Get, others, 0, 64, &[]),
        forged(PlaceKind::Put, 77, 0, 0, &evil),
        forged(PlaceKind::Put, own | 1 << 16, 0, 0, &evil),
        forged(PlaceKind::Put, u32::MAX, 0, 0, &evil),
        // Not its right.
        forged(PlaceKind::Get, own, 0, 64, &[]),
        // No placed packets at all.
        of_no_kind(0),
        of_no_kind(200),
        vec![],
        vec![PlaceKind::Put as u8; 23],
    ]
}

fn contents(buffer: &ReceiveBuffer) -> Vec<u8> {
    let mut bytes = vec![0; buffer.len()];
    buffer.read(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn a_hostile_sender_changes_no_byte_and_is_told_why() {
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
    let mut notifications = packets.puts().notifications();
    let offer =
        |to| packets.puts().offer("buffer", Rank(to), 128, Rights::PUT, &notifications).unwrap();
    let (for_hostile, for_honest) = (offer(1), offer(2));
    // What the attacks are written for.
    assert_eq!((for_hostile.connection(), for_honest.connection()), (0, 1));
    packets.poll_until(|| for_hostile.is_open() && for_honest.is_open()).unwrap();
    for_hostile.write(0, &[1; 128]).unwrap();
    gate.pass(packets);
    let refused = attacks(0, 1).len() as u64;
    packets.poll_until(|| packets.puts().refused() >= refused).unwrap();
    gate.pass(packets);
    assert_eq!(packets.puts().refused(), refused);
    assert_eq!(contents(&for_hostile), [1; 128]);
    assert_eq!(contents(&for_honest), [[2; 64], [0; 64]].concat());
    let notification = notifications.wait().unwrap();
    assert_eq!((notification.from, notification.offset), (Rank(2), 0));
    assert_eq!(notifications.try_next(), None);
    drop(for_hostile);
    // It is late now: its memory may be another's.
    let another =
        packets.puts().offer("another", Rank(2), 128, Rights::PUT, &notifications).unwrap();
    gate.pass(packets);
    packets.poll_until(|| packets.puts().refused() > refused).unwrap();
    assert_eq!(contents(&another), [0; 128]);
    gate.pass(packets);
}

fn hostile(packets: &Packets, gate: &Gate) {
    let mut buffer = packets.puts().connect("buffer", Rank(0)).unwrap();
    gate.pass(packets);
    for attack in attacks(0, 1) {
        send_placed(packets, Rank(0), &attack).unwrap();
    }
    // An answer to no request is ignored.
    send_placed(packets, Rank(0), &forged(PlaceKind::Got, 0, 0, 0, &[0xEE; 8])).unwrap();
    packets.poll_until(|| buffer.put(0, &[]).is_err()).unwrap();
    let why = Refusal::Bounds;
    let told = Error::Refused { name: "buffer".into(), rank: Rank(0), why };
    assert_eq!(buffer.put(0, &[1]), Err(told));
    gate.pass(packets);
    gate.pass(packets);
    send_placed(packets, Rank(0), &forged(PlaceKind::Put, 0, 0, 0, &[0xEE; 64])).unwrap();
    gate.pass(packets);
}

fn honest(packets: &Packets, gate: &Gate) {
    let mut buffer = packets.puts().connect("buffer", Rank(0)).unwrap();
    gate.pass(packets);
    buffer.put_notify(0, &[2; 64], 0).unwrap();
    buffer.flush().unwrap();
    gate.pass(packets);
    gate.pass(packets);
    gate.pass(packets);
}
