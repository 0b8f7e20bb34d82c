//! Waits as bytes.

use super::*;

fn meeting(members: impl IntoIterator<Item = u16>) -> Whom {
    let members = members.into_iter().map(Rank).collect();
    Whom::Meeting(TeamMeeting { team: u64::MAX - 1, number: 17, call: 0xdead_beef, members })
}

#[test]
fn a_wait_is_read_as_it_was_written() {
    let some = Whom::OneOf(vec![Rank(3), Rank(4), Rank(65_535)]);
    let meeting = meeting([0, 1, 2, 7, 9, 10]);
    for whom in [Whom::Unknown, Whom::Anyone, Whom::One(Rank(65_535)), some, meeting] {
        let awaited = Awaited::new("a message on 'rows'", whom);
        assert_eq!(Awaited::parse(&awaited.emit()), Some(awaited));
    }
}

#[test]
fn a_long_text_is_cut_between_letters() {
    let emitted = Awaited::of_unknown(format!("a{}", "ö".repeat(TEXT_BYTES))).emit();
    let what = format!("a{}", "ö".repeat((TEXT_BYTES - 1) / 2));
    assert_eq!(Awaited::parse(&emitted), Some(Awaited::of_unknown(what)));
}

#[test]
fn the_longest_wait_has_its_bounds() {
    let text = "x".repeat(2 * TEXT_BYTES);
    let most = meeting((0..RUNS as u16).map(|number| 2 * number));
    let emitted = Awaited::new(&*text, most.clone()).emit();
    assert!(emitted.len() <= RECORD_BYTES, "{}", emitted.len());
    assert_eq!(Awaited::parse(&emitted).map(|awaited| awaited.whom), Some(most));
    let too_many = meeting((0..=RUNS as u16).map(|number| 2 * number));
    let emitted = Awaited::new(&*text, too_many).emit();
    assert_eq!(Awaited::parse(&emitted).map(|awaited| awaited.whom), Some(Whom::Unknown));
}

#[test]
fn bytes_of_strangers_are_refused_or_harmless() {
    let whole = Awaited::new("what", meeting([3, 4])).emit();
    for length in 0..HEAD_BYTES + 4 {
        assert_eq!(Awaited::parse(&whole[..length]), None, "{length}");
    }
    for (at, byte) in [(0, 5), (0, 255), (HEAD_BYTES - 1, 255), (HEAD_BYTES, 5)] {
        let mut bent = whole.clone();
        bent[at] = byte;
        assert_eq!(Awaited::parse(&bent), None, "{at}: {byte}");
    }
    let mut bent = whole;
    *bent.last_mut().unwrap() = 0xff;
    assert_eq!(Awaited::parse(&bent).map(|awaited| awaited.what), Some("wha\u{fffd}".into()));
}

#[test]
fn messages_that_nobody_wants_are_no_part_of_what_a_rank_waits_for() {
    let wait = Awaited::of_unknown("a message of rank 1");
    let beside = wait.clone().beside_unexpected("a message of rank 2");
    assert_eq!(beside.what, "a message of rank 1; unexpected: a message of rank 2");
    assert_eq!((wait.subject(), beside.subject()), ("a message of rank 1", "a message of rank 1"));
}
