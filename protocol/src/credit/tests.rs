use super::*;

#[test]
fn credits_are_spent_until_none_is_held() {
    let mut outgoing = SendCredits::<u8>::new(2);
    assert_eq!([outgoing.spend(), outgoing.spend(), outgoing.spend()], [true, true, false]);
    assert_eq!(outgoing.held(), 0);
}

#[test]
fn what_waits_leaves_in_order_one_credit_each() {
    let mut outgoing = SendCredits::new(2);
    while outgoing.spend() {}
    for packet in 1..=3 {
        outgoing.block(packet);
    }
    assert_eq!(outgoing.unblock(), None, "no credit");
    outgoing.accept(2).unwrap();
    assert_eq!(
        [outgoing.unblock(), outgoing.unblock(), outgoing.unblock()],
        [Some(1), Some(2), None]
    );
    assert_eq!((outgoing.held(), outgoing.blocked()), (0, 1));
    outgoing.accept(2).unwrap();
    assert_eq!([outgoing.unblock(), outgoing.unblock()], [Some(3), None]);
    assert_eq!(outgoing.held(), 1);
}

#[test]
fn no_more_credits_come_back_than_were_handed_out() {
    let mut outgoing = SendCredits::<u8>::new(u16::MAX);
    assert_eq!(outgoing.accept(1), Err(TooManyCredits), "the sum does not overflow");
    assert!(outgoing.spend());
    assert_eq!(outgoing.accept(2), Err(TooManyCredits));
    assert_eq!(outgoing.accept(1), Ok(()));
    assert_eq!(outgoing.held(), u16::MAX);
}

#[test]
fn refused_credits_are_as_if_they_had_never_come() {
    let mut outgoing = SendCredits::new(2);
    while outgoing.spend() {}
    outgoing.block('a');
    outgoing.accept(1).unwrap();
    outgoing.refuse(1);
    assert_eq!((outgoing.held(), outgoing.blocked()), (0, 1));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "waits beside an unspent credit")]
fn nothing_waits_while_there_is_a_credit() {
    SendCredits::new(1).block('a');
}

#[test]
fn a_window_is_full_when_all_its_credits_are_buffered_or_owed() {
    let mut incoming = ReceiveCredits::new(4);
    for _ in 0..4 {
        assert_eq!(incoming.fill(), Ok(()));
    }
    assert_eq!(incoming.fill(), Err(WindowExceeded));
    assert_eq!(incoming.release(), None);
    assert_eq!(incoming.fill(), Err(WindowExceeded), "the credit is not back yet");
    assert_eq!(incoming.collect(), 1);
    assert_eq!(incoming.fill(), Ok(()));
    assert_eq!((incoming.buffered(), incoming.owed()), (4, 0));
}

#[test]
fn half_a_window_rounds_up() {
    for (window, half) in [(1, 1), (2, 1), (3, 2), (4, 2), (7, 4), (8, 4)] {
        let mut incoming = ReceiveCredits::new(window);
        for _ in 0..half {
            incoming.fill().unwrap();
        }
        for released in 1..half {
            assert_eq!(incoming.release(), None, "{released} of {window}");
        }
        assert_eq!(incoming.release(), Some(half), "of {window}");
        assert_eq!(incoming.owed(), 0);
    }
}

#[test]
fn a_vacated_buffer_waits_to_be_collected_however_many_there_are() {
    let mut incoming = ReceiveCredits::new(4);
    for _ in 0..4 {
        incoming.fill().unwrap();
    }
    for _ in 0..4 {
        incoming.vacate();
    }
    assert_eq!((incoming.collect(), incoming.collect()), (4, 0));
}
