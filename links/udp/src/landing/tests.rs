use super::*;
use crate::batch::Run;

/// A landing, spare places for it, and a socket that sends to it.
fn pair() -> (Landing, Vec<DatagramPlace>, UdpSocket) {
    let (to, from) = (socket(), socket());
    from.connect(to.local_addr().unwrap()).unwrap();
    let spare = places(2 * MOST);
    (Landing::new(Arc::new(to)), spare, from)
}

fn places(count: usize) -> Vec<DatagramPlace> {
    weft_datagram::memory::places(count, batch::MOST_JOINED, 0).unwrap()
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

/// Looks until `count` datagrams of 100 bytes have come, and returns the first byte of each.
fn take(landing: &mut Landing, spare: &mut Vec<DatagramPlace>, count: usize) -> Vec<u8> {
    let (mut arrived, mut bytes) = (VecDeque::new(), Vec::new());
    while bytes.len() < count {
        landing.look(spare, &mut arrived);
        for (place, landed) in arrived.drain(..) {
            assert_eq!(landed.datagram_bytes, 100);
            let datagrams = place[landed.start..landed.end].chunks(landed.datagram_bytes);
            bytes.extend(datagrams.map(|datagram| datagram[0]));
            spare.push(place);
        }
    }
    bytes
}

fn send_singly(from: &UdpSocket, bytes: impl Iterator<Item = u8>) {
    for byte in bytes {
        assert_eq!(from.send(&[byte; 100]).unwrap(), 100);
    }
}

/// Sends what the kernel carries in one piece, and hands over joined where it may.
fn send_joined(from: &UdpSocket, bytes: impl Iterator<Item = u8>) {
    let datagrams: Vec<[u8; 100]> = bytes.map(|byte| [byte; 100]).collect();
    let datagrams: Vec<&[u8]> = datagrams.iter().map(|datagram| &datagram[..]).collect();
    let run = Run::of(None, &datagrams);
    assert_eq!(batch::send(from.as_fd(), &[run]).unwrap(), 1);
}

#[test]
fn a_datagram_now_and_then_is_received_by_itself() {
    let (mut landing, mut spare, from) = pair();
    for byte in 0..20 {
        send_singly(&from, byte..byte + 1);
        assert_eq!(take(&mut landing, &mut spare, 1), [byte]);
        assert!(!landing.look(&mut spare, &mut VecDeque::new()));
    }
    assert_eq!(landing.joining, Joining::Separate);
}

#[test]
fn many_are_joined_from_then_on() {
    let (mut landing, mut spare, from) = pair();
    // Until then the kernel parts what was sent in one piece.
    send_joined(&from, 0..30);
    assert_eq!(take(&mut landing, &mut spare, 30), (0..30).collect::<Vec<_>>());
    assert_eq!(landing.joining, Joining::Believed);
    send_joined(&from, 30..60);
    send_singly(&from, 60..61);
    send_joined(&from, 61..90);
    assert_eq!(take(&mut landing, &mut spare, 60), (30..90).collect::<Vec<_>>());
}

#[test]
fn two_in_a_row_have_the_next_look_ask_for_more() {
    let (mut landing, mut spare, from) = pair();
    send_singly(&from, 0..7);
    let mut arrived = VecDeque::new();
    let mut found = Vec::new();
    while landing.look(&mut spare, &mut arrived) {
        found.push(arrived.drain(..).count());
    }
    assert_eq!(found, [1, 1, 5]);
    assert_eq!(landing.joining, Joining::Separate);
}

/// A piece of 100 bytes whose envelope says that it has `says`.
fn piece(says: u32) -> [u8; 100] {
    let envelope = envelope::emit(&Envelope {
        kind: FrameKind::PIECE,
        job: 1,
        source: weft_wire::Rank(0),
        destination: weft_wire::Rank(1),
        length: says - envelope::SIZE as u32,
        sequence: 1,
        tag: 0,
    });
    let mut frame = [0; 100];
    frame[..envelope::SIZE].copy_from_slice(&envelope);
    frame
}

/// Bytes in all and of each that a look finds of so many pieces, which were sent in one run.
fn look_at(landing: &mut Landing, from: &UdpSocket, says: u32, pieces: usize) -> (usize, usize) {
    let (frame, mut arrived) = (piece(says), VecDeque::new());
    let mut spare = places(1);
    let frames = vec![&frame[..]; pieces];
    assert_eq!(batch::send(from.as_fd(), &[Run::of(None, &frames)]).unwrap(), 1);
    while !landing.look(&mut spare, &mut arrived) {}
    let (_, landed) = arrived.pop_front().unwrap();
    (landed.end - landed.start, landed.datagram_bytes)
}

#[test]
fn pieces_are_joined_and_say_how_long_they_are_until_one_is_refused() {
    let (mut landing, mut spare, from) = pair();
    assert_eq!(look_at(&mut landing, &from, 100, 1), (100, 100));
    assert_eq!(landing.joining, Joining::Believed);
    assert!(!landing.look(&mut spare, &mut VecDeque::new()));
    assert_eq!(look_at(&mut landing, &from, 100, 5), (500, 100));
    assert!(!landing.look(&mut spare, &mut VecDeque::new()));
    assert_eq!(look_at(&mut landing, &from, 60, 5), (500, 60), "it is believed");
    assert!(!landing.look(&mut spare, &mut VecDeque::new()));
    landing.was_refused();
    assert_eq!(look_at(&mut landing, &from, 60, 5), (500, 100), "the kernel is asked");
}
