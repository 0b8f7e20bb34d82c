use super::*;

const RING: Medium = Medium { station_ns: 10, multicast: true };

fn send(token: &mut Token, from: u16, to: u16, ready: u64) -> (u64, u64, u64) {
    let Carriage { start, end, way, .. } =
        token.carry(RING, 4, (Rank(from), Rank(to)), (ready, 100), None);
    (start, end, way)
}

#[test]
fn a_station_waits_for_the_token() {
    let mut token = Token::default();
    // It is at station 0, and passes 2 after 20, 60, 100.
    assert_eq!(send(&mut token, 2, 3, 25), (60, 160, 10));
    // From 2 at 160 it comes to 1 after three hops.
    assert_eq!(send(&mut token, 1, 0, 0), (190, 290, 30));
    // Who has it and has more to send keeps it.
    assert_eq!(send(&mut token, 1, 2, 200), (290, 390, 10));
    // Who asks for it later waits for it to come round.
    assert_eq!(send(&mut token, 1, 2, 391), (430, 530, 10));
}

#[test]
fn a_multicast_is_carried_once() {
    let mut token = Token::default();
    let mut carry = |to, ready, buffer| {
        let multicast = Some(Buffer::new(0, buffer));
        token.carry(RING, 4, (Rank(0), Rank(to)), (ready, 100), multicast)
    };
    assert_eq!(carry(1, 0, 7), Carriage { start: 0, end: 100, way: 10, again: false });
    assert_eq!(carry(3, 0, 7), Carriage { start: 0, end: 100, way: 30, again: true });
    assert_eq!(carry(1, 0, 8).start, 100, "another frame");
    assert_eq!(carry(1, 200, 8).start, 200, "the same buffer with another frame");
}

#[test]
fn a_segment_is_free_as_soon_as_the_last_frame_has_passed() {
    let mut token = Token::default();
    let mut carry = |from, ready, buffer| {
        let segment = Medium { station_ns: 0, multicast: false };
        let of = (Rank(from), Rank(3));
        token.carry(segment, 4, of, (ready, 100), Some(Buffer::new(0, buffer)))
    };
    assert_eq!(carry(2, 25, 7), Carriage { start: 25, end: 125, way: 0, again: false });
    assert_eq!(carry(1, 30, 8), Carriage { start: 125, end: 225, way: 0, again: false });
    assert_eq!(carry(1, 30, 8).start, 225, "a multicast is as many frames as receivers");
    assert_eq!(carry(0, 400, 9).start, 400);
}

#[test]
fn a_multicast_that_is_lost_is_lost_for_all() {
    let mut token = Token::default();
    let mut lost = |ready, happens: bool| {
        let multicast = Some(Buffer::new(0, 7));
        let of = (Rank(0), Rank(1));
        let Carriage { again, .. } = token.carry(RING, 4, of, (ready, 100), multicast);
        token.lose(again, || happens)
    };
    assert!(lost(0, true));
    assert!(lost(0, false), "it is the same frame");
    assert!(!lost(100, false), "it is another");
    assert!(!lost(100, true));
}
