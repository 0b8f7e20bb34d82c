//! The reference agrees with a packet layer that is right, and with none that is wrong.

use super::*;

const MOST: usize = 1024;

fn reference() -> Reference {
    let mut reference = Reference::new(4, MOST);
    assert_eq!(reference.create_group(&[Rank(3), Rank(1)]), GroupId(1));
    reference
}

fn name(origin: u16, stream: Stream, number: u64) -> Name {
    Name { origin: Rank(origin), stream, number }
}

const ALL: Stream = Stream::Group(GroupId::ALL);
const PAIR: Stream = Stream::Group(GroupId(1));
const TO_1: Stream = Stream::To(Rank(1));

#[test]
fn each_reader_is_shown_each_packet_once_and_in_order() {
    let mut reference = reference();
    let sent = [ALL, ALL, TO_1, PAIR].map(|stream| reference.sends(Rank(3), stream));
    assert_eq!(sent, [name(3, ALL, 0), name(3, ALL, 1), name(3, TO_1, 0), name(3, PAIR, 0)]);
    // Streams have nothing to do with one another.
    for packet in [sent[3], sent[0], sent[2], sent[1]] {
        assert_eq!(reference.shows(Rank(1), packet), Ok(()));
    }
    assert_eq!(reference.shows(Rank(0), sent[0]), Ok(()));
    let missing: Vec<Missing> = reference.missing().collect();
    let packets =
        |at, numbers| Missing::Packets { at: Rank(at), origin: Rank(3), stream: ALL, numbers };
    assert_eq!(missing, [packets(0, 1..2), packets(2, 0..2)]);
    assert_eq!(
        missing[1].to_string(),
        "rank 2 was never shown packet 0 of 3 to group 0 and 1 after it"
    );
    assert!(!reference.is_done());
    for (at, packet) in [(2, sent[0]), (0, sent[1]), (2, sent[1])] {
        assert_eq!(reference.shows(Rank(at), packet), Ok(()));
    }
    assert!(reference.is_done() && reference.missing().next().is_none());
    assert_eq!(reference.packets_shown(), 8);
}

#[test]
fn a_rank_may_send_to_itself() {
    let mut reference = reference();
    let packet = reference.sends(Rank(1), TO_1);
    assert_eq!(reference.shows(Rank(1), packet), Ok(()));
    assert!(reference.is_done());
}

#[test]
fn every_wrong_packet_is_named() {
    let mut reference = reference();
    let at = Rank(1);
    for _ in 0..3 {
        reference.sends(Rank(3), ALL);
    }
    assert_eq!(reference.shows(at, name(3, ALL, 0)), Ok(()));
    let wrong = [
        (at, name(3, ALL, 0), Disagreement::Twice { at, name: name(3, ALL, 0) }),
        (at, name(3, ALL, 2), Disagreement::Overtook { at, name: name(3, ALL, 2), next: 1 }),
        (at, name(3, ALL, 3), Disagreement::Invented { at, name: name(3, ALL, 3) }),
        (at, name(2, ALL, 0), Disagreement::Invented { at, name: name(2, ALL, 0) }),
    ];
    for (at, packet, disagreement) in wrong {
        assert_eq!(reference.shows(at, packet), Err(disagreement));
    }
    for (at, packet) in [(3, name(3, ALL, 0)), (0, name(3, PAIR, 0)), (2, name(3, TO_1, 0))] {
        let refused = Disagreement::Misdelivered { at: Rank(at), name: packet };
        assert_eq!(reference.shows(Rank(at), packet), Err(refused));
    }
    assert_eq!(reference.next(at, Rank(3), ALL), name(3, ALL, 1), "errors change nothing");
}

#[test]
#[should_panic(expected = "from a member")]
fn who_is_no_member_cannot_send() {
    reference().sends(Rank(0), PAIR);
}

#[test]
fn bytes_tell_packets_apart() {
    let mut reference = reference();
    let sent: Vec<Name> = (0..20).map(|_| reference.sends(Rank(0), TO_1)).collect();
    let bytes: Vec<Vec<u8>> = sent.iter().map(|&packet| reference.bytes(packet)).collect();
    assert!(bytes.iter().all(|bytes| bytes.len() <= MOST));
    let long = (2..19).find(|&n| bytes[n].len() > 48 && bytes[n + 1].len() > 8).expect("some are");
    let at = Rank(1);
    let mut shows = |bytes: &[u8]| reference.shows_bytes(at, Rank(0), TO_1, bytes);
    for n in 0..long {
        assert_eq!(shows(&bytes[n]), Ok(sent[n]));
    }
    let overtook = Disagreement::Overtook { at, name: sent[long + 1], next: sent[long].number };
    assert_eq!(shows(&bytes[long + 1]), Err(overtook));
    let mut flipped = bytes[long].clone();
    flipped[40] ^= 4;
    let altered = |length| Err(Disagreement::Altered { at, name: sent[long], length });
    assert_eq!(shows(&flipped), altered(flipped.len()));
}

#[test]
fn short_packets_are_short() {
    let mut reference = reference();
    let packet = reference.sends(Rank(0), TO_1);
    let bytes = reference.bytes(packet);
    let cut = &bytes[..bytes.len() - 1];
    let altered = Disagreement::Altered { at: Rank(1), name: packet, length: cut.len() };
    assert_eq!(reference.shows_bytes(Rank(1), Rank(0), TO_1, cut), Err(altered));
}

/// Packets have all lengths, and short ones are not rare.
#[test]
fn lengths_are_spread() {
    let reference = reference();
    let lengths: Vec<usize> =
        (0..10_000).map(|number| reference.length(name(2, ALL, number))).collect();
    let short = lengths.iter().filter(|length| **length <= 48).count();
    assert!((5_000..5_600).contains(&short), "{short} of 10,000 are short");
    assert!(lengths.contains(&0) && lengths.contains(&MOST));
}

#[test]
fn additions_take_place_one_at_a_time() {
    let mut reference = reference();
    let (home, mut answers) = (Rank(2), vec![]);
    for (by, amount) in [(0, 5), (1, 2), (3, 1)] {
        reference.asks(Rank(by), home, 7, Atomic::Add(amount));
    }
    // In the order 1, 3, 0; and answered the other way round.
    for (by, value) in [(0, 3), (3, 2), (1, 0)] {
        assert!(!reference.is_done());
        answers.push(reference.answers(Rank(by), value));
    }
    assert_eq!(answers, [Ok(()); 3]);
    assert!(reference.is_done());
}

/// After a first addition of 3 was answered, 3 asks to add 4 and 0 to add 2.
fn two_asked() -> Reference {
    let mut reference = reference();
    reference.asks(Rank(1), Rank(2), 7, Atomic::Add(3));
    assert_eq!(reference.answers(Rank(1), 0), Ok(()));
    reference.asks(Rank(3), Rank(2), 7, Atomic::Add(4));
    reference.asks(Rank(0), Rank(2), 7, Atomic::Add(2));
    reference
}

#[test]
fn every_wrong_answer_is_named() {
    let fetched =
        |by, value| Err(Disagreement::Fetched { by: Rank(by), home: Rank(2), variable: 7, value });
    for (value, right) in [(0, false), (2, false), (3, true), (7, true), (8, false)] {
        let expected = if right { Ok(()) } else { fetched(0, value) };
        assert_eq!(two_asked().answers(Rank(0), value), expected, "{value}");
    }
    // Each might be right, and both together are not.
    for (value, other) in [(4, 3), (4, 5), (3, 3), (3, 4), (7, 5), (7, 4)] {
        let mut reference = two_asked();
        assert_eq!(reference.answers(Rank(0), value), Ok(()));
        assert_eq!(reference.answers(Rank(3), other), fetched(3, other), "{value} and {other}");
    }
    let unasked = Disagreement::Unasked { by: Rank(1), value: 0 };
    assert_eq!(two_asked().answers(Rank(1), 0), Err(unasked));
}

/// Whoever asks after an answer was given adds to what that left behind or more.
#[test]
fn an_addition_takes_place_after_it_was_asked_for() {
    let mut reference = reference();
    reference.asks(Rank(0), Rank(2), 7, Atomic::Add(1));
    reference.asks(Rank(1), Rank(2), 7, Atomic::Add(1));
    assert_eq!(reference.answers(Rank(1), 1), Ok(()), "0's addition took place first");
    reference.asks(Rank(1), Rank(2), 7, Atomic::Add(1));
    let (by, home) = (Rank(1), Rank(2));
    let fetched = Disagreement::Fetched { by, home, variable: 7, value: 0 };
    assert_eq!(reference.answers(by, 0), Err(fetched));
}

#[test]
fn an_answer_may_be_missing() {
    let mut reference = reference();
    reference.asks(Rank(0), Rank(2), 7, Atomic::Add(1));
    let missing: Vec<String> = reference.missing().map(|missing| missing.to_string()).collect();
    assert_eq!(missing, ["rank 0 never got an answer from variable 7 of rank 2"]);
}

/// Each answer that can be true is, and no other.
#[test]
fn mixed_operations_took_place_one_after_the_other() {
    let swap = Atomic::CompareSwap { expected: 0, new: 5 };
    let asked = || {
        let mut reference = Reference::new(4, 100);
        for (by, operation) in [(0, swap), (1, Atomic::Add(2)), (2, swap)] {
            reference.asks(Rank(by), Rank(3), FIRST_MIXED, operation);
        }
        reference
    };
    let true_answers: Vec<[u64; 3]> = (0..8 * 8 * 8)
        .map(|n| [n / 64, n / 8 % 8, n % 8])
        .filter(|answers| {
            let mut reference = asked();
            let mut by = (0..3).map(Rank).zip(answers);
            by.all(|(by, &value)| reference.answers(by, value).is_ok()) && reference.is_done()
        })
        .collect();
    let expected = [[0, 5, 5], [0, 5, 7], [2, 0, 2], [5, 5, 0], [7, 5, 0]];
    assert_eq!(true_answers, expected, "either swaps first, or the addition does");
}

/// An operation that was asked for after another's answer took place after that.
#[test]
fn an_operation_does_not_take_place_before_it_is_asked_for() {
    let mut reference = Reference::new(2, 100);
    reference.asks(Rank(0), Rank(1), u16::MAX, Atomic::Swap(4));
    assert_eq!(reference.answers(Rank(0), 0), Ok(()));
    reference.asks(Rank(0), Rank(1), u16::MAX, Atomic::Max(1));
    assert_eq!(reference.missing().count(), 1);
    let (by, home, variable, value) = (Rank(0), Rank(1), u16::MAX, 0);
    let fetched = Disagreement::Fetched { by, home, variable, value };
    assert_eq!(reference.answers(Rank(0), 0), Err(fetched));
}

#[test]
#[should_panic(expected = "variable 7 is a counter")]
fn a_counter_is_only_added_to() {
    Reference::new(2, 100).asks(Rank(0), Rank(1), 7, Atomic::Xor(1));
}
