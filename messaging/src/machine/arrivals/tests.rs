use super::*;
use crate::format::PacketHeader;

type Arrivals = super::Arrivals<u8, u8>;

const FROM: Rank = Rank(3);
const PORT: u32 = 9;

fn body(number: u32, length: u64) -> MessageBody {
    MessageBody { from: FROM, number, length, port: PORT, slot: 0, flow: None }
}

fn packet(kind: PacketKind, number: u32, bytes: u64) -> PacketHeader {
    PacketHeader::of_message(PORT, kind, number, bytes)
}

/// A message of 10 bytes that was asked for.
fn asked() -> Arrivals {
    let mut arrivals = Arrivals::default();
    arrivals.begin(&body(1, 10), 0, PacketKind::Request);
    arrivals
}

#[test]
fn nothing_of_a_requested_message_is_taken_before_it_is_granted() {
    let mut arrivals = asked();
    let first = packet(PacketKind::Next, 1, 0);
    assert!(!arrivals.continues(FROM, &first, 4));
    assert!(matches!(arrivals.take_part(FROM, 1, None), TakenPart::Nothing { grant: true }));
    assert!(arrivals.continues(FROM, &first, 4));
    assert!(!arrivals.continues(Rank(4), &first, 4), "another's");
}

#[test]
fn a_request_is_granted_once() {
    let mut arrivals = asked();
    assert!(arrivals.grant(FROM, 1));
    assert!(!arrivals.grant(FROM, 1));
    assert!(matches!(arrivals.take_part(FROM, 1, None), TakenPart::Nothing { grant: false }));
    assert!(!arrivals.abandon(FROM, 1).answer, "it was answered");
    assert!(!arrivals.grant(FROM, 2), "there is no such message");
}

#[test]
#[should_panic(expected = "I12 granted first")]
fn bytes_that_nobody_granted_break_i12() {
    let _ = asked().arrived(FROM, 1, 4, 1);
}

#[test]
#[should_panic(expected = "I13 one answer")]
fn a_request_with_bytes_breaks_i13() {
    let mut arrivals = Arrivals::default();
    arrivals.begin(&body(1, 10), 4, PacketKind::Request);
    arrivals.grant(FROM, 1);
}

#[test]
fn an_unwanted_request_is_answered_and_forgotten() {
    let mut arrivals = asked();
    let ended = arrivals.abandon(FROM, 1);
    assert!(ended.answer && ended.parts.is_empty());
    assert!(arrivals.messages.is_empty());
    assert_eq!(arrivals.unfinished.of(FROM), 0);
    let cancel = packet(PacketKind::Cancel, 1, 0);
    let late = arrivals.cancel(FROM, &cancel, false);
    assert!(late.is_some_and(|ended| !ended.answer), "its sender gave it up before it heard");
}

#[test]
fn a_request_that_is_given_up_is_answered() {
    for queued in [true, false] {
        let mut arrivals = asked();
        let ended = arrivals.cancel(FROM, &packet(PacketKind::Cancel, 1, 0), queued);
        assert!(ended.is_some_and(|ended| ended.answer));
        assert_eq!(arrivals.messages.is_empty(), queued);
        assert_eq!(arrivals.unfinished.of(FROM), 0);
    }
}

#[test]
fn what_came_before_its_sender_gave_up_is_read_and_then_the_reader_is_told() {
    let mut arrivals = Arrivals::default();
    arrivals.begin(&body(1, 10), 2, PacketKind::First);
    let (unwanted, _) = arrivals.arrived(FROM, 1, 3, 1);
    assert!(unwanted.is_none());
    let ended = arrivals.cancel(FROM, &packet(PacketKind::Cancel, 1, 5), false);
    assert!(ended.is_some_and(|ended| !ended.answer && ended.parts.is_empty()));
    assert!(matches!(arrivals.take_part(FROM, 1, None), TakenPart::Part(_)));
    assert!(matches!(arrivals.take_part(FROM, 1, None), TakenPart::GivenUp(5)));
    assert!(!arrivals.continues(FROM, &packet(PacketKind::Next, 1, 5), 5), "it has ended");
    arrivals.abandon(FROM, 1);
    assert!(arrivals.messages.is_empty());
}

#[test]
fn what_nobody_has_taken_goes_with_its_sender() {
    let mut arrivals = Arrivals::default();
    arrivals.begin(&body(1, 10), 2, PacketKind::First);
    assert!(arrivals.arrived(FROM, 1, 3, 1).0.is_none());
    let ended = arrivals.cancel(FROM, &packet(PacketKind::Cancel, 1, 5), true);
    assert_eq!(ended.map(|ended| ended.parts.len()), Some(1));
    assert!(arrivals.messages.is_empty());
}

#[test]
fn what_its_reader_has_dropped_ends_with_its_sender() {
    let mut arrivals = Arrivals::default();
    arrivals.begin(&body(1, 10), 2, PacketKind::First);
    arrivals.abandon(FROM, 1);
    assert!(arrivals.cancel(FROM, &packet(PacketKind::Cancel, 1, 2), false).is_some());
    assert!(arrivals.messages.is_empty());
}

#[test]
fn nobody_gives_up_what_it_has_not_sent_so() {
    let mut arrivals = Arrivals::default();
    arrivals.begin(&body(1, 10), 2, PacketKind::First);
    let mut cancel = |kind, bytes| arrivals.cancel(FROM, &packet(kind, 1, bytes), false).is_some();
    assert!(!cancel(PacketKind::Cancel, 3), "it sent 2 bytes");
    assert!(cancel(PacketKind::Cancel, 2));
    assert!(!cancel(PacketKind::Cancel, 2), "once");
    let (_, _) = arrivals.arrived(FROM, 1, 8, 1);
    let complete = packet(PacketKind::Cancel, 5, 10);
    assert!(arrivals.cancel(FROM, &complete, true).is_none(), "all of it is here");
}
